import numpy as np
import pytest

from sim import modsum
from sim.framework.rollout import RolloutEngine
from sim.framework.trainer import Trainer
from sim.framework.weight_sync import WeightSync
from sim.optimizer import SGD


def delivered(sync, pushes):
    """The version at the rollout after each push, with one optimizer step before each."""
    trainer = Trainer(modsum.Policy(), SGD(1.0))
    rollout, seen = RolloutEngine(trainer.policy), []
    for _ in range(pushes):
        trainer.optimizer.step(trainer.policy.params, {"theta": -np.ones((4, 7, 4))})
        trainer.version += 1
        behind = sync.push(trainer, rollout)
        assert behind == trainer.version - rollout.version
        assert rollout.policy.params["theta"].max() == pytest.approx(2 + rollout.version)       # the weights are those of the version
        seen.append(rollout.version)
    return seen


def test_fresh_weights_arrive_at_every_push():
    assert delivered(WeightSync(), 4) == [1, 2, 3, 4]


def test_weights_with_a_lag_are_those_of_so_many_pushes_ago():
    assert delivered(WeightSync(lag=2), 5) == [1, 1, 1, 2, 3]


def test_seldom_delivery_leaves_the_rollout_where_it_is_in_between():
    assert delivered(WeightSync(every=3), 7) == [0, 0, 3, 3, 3, 6, 6]
