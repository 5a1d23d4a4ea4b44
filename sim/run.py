"""`python -m sim.run grpo --task add --seed 0`: trains an algorithm file and prints the exact pass rate."""

import argparse

from sim.algorithms.names import FILES
from sim.experiments.runs import add_run, modsum_run

ALGORITHMS = {file.__name__.rpartition(".")[2]: file for file in FILES.values()}
TASKS = {"modsum": modsum_run, "add": add_run}
NO_RANKING = "Learning rates are the task's and not tuned for each file: two such runs do not rank two algorithms."


def settings():
    parser = argparse.ArgumentParser(
        prog="python -m sim.run",
        description="Train an algorithm file of sim/algorithms.",
        epilog="\n".join(f"{name:10} {file.__doc__.split('. ')[0]}" for name, file in ALGORITHMS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("algorithm", choices=ALGORITHMS)
    parser.add_argument("--task", choices=TASKS, help="one task only; default: all, one after the other")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    chosen = parser.parse_args()
    refuse_the_impossible(parser, chosen)
    return chosen


def refuse_the_impossible(parser, chosen):
    """One sentence, and status 2."""
    if chosen.steps < 1:
        parser.error(f"--steps must be at least 1, not {chosen.steps}")
    if chosen.seed < 0:
        parser.error(f"--seed must be at least 0, not {chosen.seed}")


def train(algorithm, task, steps, seed):
    """A line every ten steps and one at the end."""
    controller = TASKS[task](ALGORITHMS[algorithm], seed=seed, exact_every=1)
    print(f"{algorithm} on {task}; entropy in nats a token, clipped as a share of the tokens of the last pass")
    print(" step  completions  pass rate  entropy  clipped  gradient")
    start = now = controller.task.exact(controller.start)["pass_rate"].mean()
    for frame in controller.frames(steps):
        now = frame.exact["pass_rate"].mean()
        if frame.step % 10 == 9 or frame.step == steps - 1:
            print(
                f"{frame.step + 1:5}  {frame.completions:11,}  {now:9.3f}  {frame.token_entropy:7.3f}  "
                f"{frame.clip_fraction:7.1%}  {frame.grad_norm:8.4f}"
            )
    print(f"{algorithm} on {task}: pass rate {start:.3f} at the start, {now:.3f} after {steps} steps\n")


if __name__ == "__main__":
    chosen = settings()
    for task in [chosen.task] if chosen.task else TASKS:
        train(chosen.algorithm, task, chosen.steps, chosen.seed)
    print(NO_RANKING)
