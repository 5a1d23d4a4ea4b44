"""The policies that may learn sums of two digits, by name: where each starts, and at which learning rate. Settings of
ours, no model of anything.

Both starts were fitted to the same demonstrations, `add_demonstrations` of sim/worlds/tasks.py. Trained on 80 of the
100 prompts, the transformer improves on the other 20 too, the tiny language model hardly.
`python -m sim.worlds.policies` fits the transformer again, in about 15 seconds, and writes it to sim/worlds/data.
"""

from functools import cache
from importlib.resources import files

import numpy as np

from sim.worlds import tasks, transformer


def fitted():
    """A transformer fitted to the demonstrations as the other one was, at a rate that suits it."""
    return tasks.supervised(tasks.add_demonstrations, n=64, policy=transformer.Policy, learning_rate=0.004)


def checkpoint():
    """The shipped transformer, for the caller to train; it was stored in 32 bits."""
    return _stored().copy()


@cache
def _stored():
    policy = transformer.Policy()
    with np.load(files("sim.worlds") / "data" / "transformer_add.npz") as stored:
        policy.params = {key: stored[key].astype(float) for key in stored.files}
    return policy


RATES = {"tinylm": dict(sgd=0.3, adamw=0.02), "transformer": dict(sgd=0.1, adamw=0.001)}
POLICIES = {  # settings of add_run, made when they are asked for: each has the rate that suits it under AdamW
    "tinylm": lambda: dict(policy=tasks.checkpoint("add"), learning_rate=RATES["tinylm"]["adamw"]),
    "transformer": lambda: dict(policy=checkpoint(), learning_rate=RATES["transformer"]["adamw"]),
}


if __name__ == "__main__":
    path = files("sim.worlds") / "data" / "transformer_add.npz"
    np.savez_compressed(path, **{key: array.astype(np.float32) for key, array in fitted().params.items()})
    print(path)
