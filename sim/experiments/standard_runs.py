"""The standard runs: an algorithm file on a task, with a learning rate and batch that suit the task. These are our
settings, not a model.

What a paper would call the algorithm's settings stays in the file's HP; a file with a `lam` gets a critic.
"""

from sim.framework.algorithm import Algorithm
from sim.framework.controller import Controller
from sim.worlds import modsum, tasks, tinylm
from sim.worlds.optimizer import SGD, AdamW

ADAMW_RATE = 1 / 100  # assumed: on MODSUM, GRPO learns about as fast with AdamW at 0.02 as with plain SGD at 2


def modsum_rate(optimizer, learning_rate):
    """An optimizer's learning rate when one knob serves both: SGD gets the number itself, AdamW a hundredth of it."""
    return learning_rate if optimizer == "SGD" else ADAMW_RATE * learning_rate


def modsum_optimizer(optimizer, learning_rate):
    """Plain SGD or AdamW by name, at `modsum_rate`; neither clips the gradient's norm."""
    rate = modsum_rate(optimizer, learning_rate)
    return SGD(rate) if optimizer == "SGD" else AdamW(rate, clip=None)


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
    task=None,
    optimizer=None,
    sync=None,
    minibatches=1,
    microbatches=1,
    exact_every=1,
):
    """An algorithm file on MODSUM: plain SGD, every metric exact. `critic_rate` 0 keeps the critic at 0; `task` may
    have fewer prompts.
    """
    algorithm = Algorithm(file, hyper, hooks)
    critic = modsum.Critic(critic_rate) if "lam" in algorithm.hp else None
    return Controller(
        algorithm,
        task or modsum.Task(),
        modsum.Policy(c),
        optimizer or SGD(learning_rate),
        groups=groups,
        K=K,
        critic=critic,
        seed=seed,
        minibatches=minibatches,
        microbatches=microbatches,
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
    microbatches=1,
    temperature=1.0,
    trainer_temperature=None,
    exact_every=4,
):
    """An algorithm file on sums of two digits, starting from the supervised policy: AdamW, gradient norm clipped at 1,
    exact pass rates at intervals.

    `task` is a different task of the tiny language model, `policy` a different start; the start is copied and not
    modified.
    """
    algorithm = Algorithm(file, hyper, hooks)
    critic = tinylm.Critic(critic_rate) if "lam" in algorithm.hp else None
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
        microbatches=microbatches,
        temperature=temperature,
        trainer_temperature=trainer_temperature,
        sync=sync,
        exact_every=exact_every,
    )


def lookup_run(file, *, seed=0, learning_rate=0.02, groups=16, K=8, length=8, hyper=None, hooks=None):
    """An algorithm file on the table behind a tool, with replies of this length; every metric is a sampled one."""
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
