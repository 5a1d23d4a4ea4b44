"""Weight sync: the edge from trainer to rollout. What arrives late makes the next batch off-policy. Noukhovitch et al. (2024), arXiv:2410.18252."""
from collections import deque


class WeightSync:
    """Delivers at every `every`-th push, and then the weights of `lag` pushes ago, or the first ones while there are none so old."""

    def __init__(self, every=1, lag=0):
        self.every, self.kept, self.pushes = every, deque(maxlen=lag + 1), 0

    def push(self, trainer, rollout):
        """How many optimizer steps the rollout is behind afterwards."""
        self.kept.append((dict(trainer.policy.params), trainer.version))        # a shallow copy is enough: optimizers replace arrays
        self.pushes += 1
        if self.pushes % self.every == 0:
            rollout.load(*self.kept[0])
        return trainer.version - rollout.version
