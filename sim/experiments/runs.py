"""The standard runs: an algorithm file on a task, with the learning rate and batch that suit the task. Settings as in
the lessons, 2026.

`python -m sim.algorithms.ppo` ends up in `run`. What a paper would call the algorithm's settings stays in the file's
HP.
"""

from importlib import import_module

from sim.framework.algorithm import Algorithm
from sim.framework.controller import Controller
from sim.worlds import modsum, tasks, tinylm
from sim.worlds.optimizer import SGD, AdamW


def modsum_run(
    file,
    *,
    seed=0,
    learning_rate=2.0,
    groups=8,
    K=8,
    c=modsum.DEFAULT,
    critic_rate=0.5,
    hyper=None,
    hooks=None,
    optimizer=None,
    sync=None,
    minibatches=1,
    exact_every=1,
):
    """An algorithm file on MODSUM: plain SGD, every metric exact. `critic_rate` 0 leaves the critic at 0."""
    algorithm = Algorithm(file, hyper, hooks)
    critic = modsum.Critic(critic_rate) if "lam" in algorithm.HP else None
    return Controller(
        algorithm,
        modsum.Task(),
        modsum.Policy(c),
        optimizer or SGD(learning_rate),
        groups=groups,
        K=K,
        critic=critic,
        seed=seed,
        minibatches=minibatches,
        sync=sync,
        exact_every=exact_every,
    )


def add_run(
    file,
    *,
    seed=0,
    learning_rate=0.02,
    groups=16,
    K=8,
    task=None,
    policy=None,
    critic_rate=0.02,
    hyper=None,
    hooks=None,
    optimizer=None,
    sync=None,
    minibatches=1,
    temperature=1.0,
    trainer_temperature=None,
    exact_every=4,
):
    """An algorithm file on sums of two digits, from the supervised policy: AdamW, gradient norm clipped at 1, exact
    pass rate now and then.

    `task` is another task of the tiny language model, `policy` another start; the start is copied and stays as it is.
    """
    algorithm = Algorithm(file, hyper, hooks)
    critic = tinylm.Critic(critic_rate) if "lam" in algorithm.HP else None
    start = tasks.checkpoint("add") if policy is None else policy.copy()
    return Controller(
        algorithm,
        task or tasks.Add(),
        start,
        optimizer or AdamW(learning_rate, clip=1.0),
        groups=groups,
        K=K,
        critic=critic,
        seed=seed,
        minibatches=minibatches,
        temperature=temperature,
        trainer_temperature=trainer_temperature,
        sync=sync,
        exact_every=exact_every,
    )


def lookup_run(file, *, seed=0, learning_rate=0.02, groups=16, K=8, length=8, hyper=None, hooks=None):
    """An algorithm file on the table behind a tool, whose replies have this length; every metric is a sampled one."""
    return add_run(
        file,
        seed=seed,
        learning_rate=learning_rate,
        groups=groups,
        K=K,
        task=tasks.Lookup(length),
        policy=tasks.checkpoint("lookup"),
        hyper=hyper,
        hooks=hooks,
    )


TASKS = {"modsum": modsum_run, "add": add_run}


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
        report(task, TASKS[task](module, seed=chosen.seed, exact_every=1), chosen.steps)


def report(task, controller, steps):
    """A line every ten steps and one at the end."""
    print(f"{task}\n step  completions  pass rate  entropy  clipped  gradient")
    start = now = controller.task.exact(controller.start)["pass_rate"].mean()
    for frame in controller.frames(steps):
        now = frame.exact["pass_rate"].mean()
        if frame.step % 10 == 9 or frame.step == steps - 1:
            print(
                f"{frame.step + 1:5}  {frame.rollouts:11,}  {now:9.3f}  {frame.token_entropy:7.3f}  "
                f"{frame.clip_fraction:7.1%}  {frame.grad_norm:8.4f}"
            )
    print(f"{task}: pass rate {start:.3f} at the start, {now:.3f} after {steps} steps\n")
