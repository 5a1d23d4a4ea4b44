"""Weight sync: the edge from trainer to rollout. Weights that arrive late make the next batch off-policy. Noukhovitch
et al. (2024), arXiv:2410.18252.
"""

from collections import deque

from sim.estimators.precision import cast_params


class WeightSync:
    """At every `every`-th push, delivers the weights from `lag` pushes ago, or the first weights if there are none that
    old, in the number format `form`.
    """

    def __init__(self, every=1, lag=0, form="fp32"):
        self.every, self.form, self.kept, self.pushes = every, form, deque(maxlen=lag + 1), 0

    def push(self, trainer, rollout):
        """Returns by how many optimizer steps the rollout is behind afterwards."""
        # a shallow copy is enough because optimizers replace arrays
        self.kept.append((dict(trainer.policy.params), trainer.version))
        self.pushes += 1
        if self.pushes % self.every == 0:
            params, version = self.kept[0]
            rollout.load(cast_params(params, self.form), version)
        return trainer.version - rollout.version


def transfer_seconds(parameters, bytes_per_parameter, gigabytes_per_second):
    """Bytes over bandwidth, a lower bound: gathering, casting and loading add to it."""
    return parameters * bytes_per_parameter / (gigabytes_per_second * 1e9)
