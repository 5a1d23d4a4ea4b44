"""`python -m sim.framework --task add --algorithm grpo --steps 100`: the seven stages of the first iteration, then the
training curve.
"""

import argparse
import sys

import numpy as np

from sim.experiments.runs import add_run, lookup_run, modsum_run
from sim.run import ALGORITHMS, NO_RANKING, refuse_the_impossible

TASKS = {"add": add_run, "lookup": lookup_run, "modsum": modsum_run}
ROWS, BAR = 10, 40  # lines of the curve, characters of a full bar


def shown(value):
    if hasattr(value, "__dataclass_fields__"):
        return ", ".join(
            f"{name} {shown(getattr(value, name))}"
            for name in value.__dataclass_fields__
            if getattr(value, name) is not None
        )
    if isinstance(value, np.ndarray):
        return f"{value.shape}"
    if isinstance(value, list | dict):
        return f"{len(value)} entries"
    return f"{value:.4g}" if isinstance(value, float) else f"{value}"


def settings():
    parser = argparse.ArgumentParser(
        prog="python -m sim.framework", description="Train a policy through the six roles, and watch the seven stages."
    )
    parser.add_argument("--task", choices=TASKS, default="add")
    parser.add_argument("--algorithm", choices=ALGORITHMS, default="grpo")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    refuse_the_impossible(parser, chosen)
    return chosen


def train(task, algorithm, steps, seed):
    """Prints as it goes; the curve is the share of right completions among those sampled, a mean over each tenth of the
    run.
    """
    controller = TASKS[task](ALGORITHMS[algorithm], seed=seed)
    print(f"{algorithm} on {task}: the seven stages of the first iteration")
    accuracy = []
    for event in controller.iterate(steps):
        if event.iteration == 0:
            print(
                f"  {event.stage} {event.role:11}",
                " · ".join(f"{name}: {shown(value)}" for name, value in event.summary.items()),
            )
        if event.stage == 7:
            accuracy.append(event.summary["frame"].accuracy)
            if sys.stderr.isatty():
                done = BAR * len(accuracy) // steps
                print(
                    f"\r[{'#' * done}{'.' * (BAR - done)}] {len(accuracy)} of {steps}",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(" step  right")
    for part in np.array_split(np.arange(steps), min(ROWS, steps)):
        share = float(np.mean([accuracy[i] for i in part]))
        print(f"{part[-1] + 1:5}  {share:5.3f}  {'#' * round(BAR * share)}")
    print(
        f"{algorithm} on {task}: {accuracy[0]:.3f} of the first batch right, {np.mean(accuracy[-10:]):.3f} of the "
        f"last {min(10, steps)}"
    )
    print(NO_RANKING)


if __name__ == "__main__":
    chosen = settings()
    train(chosen.task, chosen.algorithm, chosen.steps, chosen.seed)
