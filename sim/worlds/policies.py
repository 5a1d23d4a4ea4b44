"""The policies that can learn sums of two digits, by name, with their starts and learning rates. These are our
settings, not a model.

Both starts were fitted to the same demonstrations, `add_demonstrations` of sim/worlds/tasks.py. When trained on 80 of
the 100 prompts, the transformer also improves on the other 20, while the tiny language model hardly does. `python -m
sim.worlds.policies` fits the transformer again in about 15 seconds and writes it to sim/worlds/data.
"""

from functools import cache
from importlib.resources import files

import numpy as np

from sim.worlds import tasks, transformer


def fitted():
    """A transformer fitted to the same demonstrations as the window, at a learning rate that suits it."""
    return tasks.supervised(tasks.add_demonstrations, n=64, policy=transformer.Policy, learning_rate=0.004)


def checkpoint():
    """The shipped transformer, as a copy that the caller may train; it was stored in 32 bits."""
    return _stored().copy()


@cache
def _stored():
    policy = transformer.Policy()
    with np.load(files("sim.worlds") / "data" / "transformer_add.npz") as stored:
        policy.params = {key: stored[key].astype(float) for key in stored.files}
    return policy


POLICIES = {"window": lambda: tasks.checkpoint("add"), "transformer": lambda: checkpoint()}  # a fresh copy each time
# what `rlpt run` and its like set where nothing is asked: four passes over a batch, as PPO and GRPO make them,
# want half of what one pass wants
RATES = {"window": dict(sgd=0.3, adamw=0.02), "transformer": dict(sgd=0.1, adamw=0.001)}
TENTH = 0.1  # with one pass over a batch the transformer at this share of the window's rate learns about as fast


def shared_rate(policy, learning_rate):
    """The learning rate of a policy if one number serves both: the window gets that number and the transformer a tenth
    of it.
    """
    return TENTH * learning_rate if policy == "transformer" else learning_rate


if __name__ == "__main__":
    path = files("sim.worlds") / "data" / "transformer_add.npz"
    np.savez_compressed(path, **{key: array.astype(np.float32) for key, array in fitted().params.items()})
    print(path)
