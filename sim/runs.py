"""The standard runs: an algorithm file on a task, with the learning rate and batch that suit the task. Settings as in the lessons, 2026.

`python -m sim.algorithms.ppo` ends up in `run`. What a paper would call the algorithm's settings stays in the file's HP.
"""
from importlib import import_module

from sim import modsum
from sim.framework.algorithm import Algorithm
from sim.framework.controller import Controller
from sim.optimizer import SGD


def modsum_run(file, *, seed=0, learning_rate=2.0, groups=8, K=8, c=modsum.DEFAULT, critic_rate=0.5, hyper=None, hooks=None,
               optimizer=None, sync=None, minibatches=1, exact_every=1):
    """An algorithm file on MODSUM: plain SGD, every metric exact. `critic_rate` 0 leaves the critic at 0."""
    algorithm = Algorithm(file, hyper, hooks)
    critic = modsum.Critic(critic_rate) if "lam" in algorithm.HP else None
    return Controller(algorithm, modsum.Task(), modsum.Policy(c), optimizer or SGD(learning_rate), groups=groups, K=K, critic=critic, seed=seed,
                      minibatches=minibatches, sync=sync, exact_every=exact_every)


TASKS = {"modsum": modsum_run}


def run(file):
    """The command line of an algorithm file: trains it on each task and prints how the pass rate went."""
    import argparse  # here, not above: a page in the browser has no command line
    from pathlib import Path

    module = import_module(f"sim.algorithms.{Path(file).stem}")
    parser = argparse.ArgumentParser(prog=f"python -m {module.__name__}", description=module.__doc__.splitlines()[0])
    parser.add_argument("--task", choices=TASKS, help="one task only; default: all, one after the other")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    chosen = parser.parse_args()
    if chosen.steps < 1:
        parser.error(f"--steps must be at least 1, not {chosen.steps}")
    if chosen.seed < 0:
        parser.error(f"--seed must be at least 0, not {chosen.seed}")
    for task in [chosen.task] if chosen.task else TASKS:
        report(task, TASKS[task](module, seed=chosen.seed), chosen.steps)


def report(task, controller, steps):
    """A line every ten steps and one at the end."""
    print(f"{task}\n step  completions  pass rate  entropy  clipped  gradient")
    start = now = controller.task.exact(controller.start)["pass_rate"].mean()
    for frame in controller.frames(steps):
        now = frame.exact["pass_rate"].mean() if frame.exact else now           # exact, and perhaps not computed in every step
        if frame.step % 10 == 9 or frame.step == steps - 1:
            print(f"{frame.step + 1:5}  {frame.rollouts:11,}  {now:9.3f}  {frame.token_entropy:7.3f}  {frame.clip_fraction:7.1%}  {frame.grad_norm:8.4f}")
    print(f"{task}: pass rate {start:.3f} at the start, {now:.3f} after {steps} steps\n")
