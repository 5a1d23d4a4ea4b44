import numpy as np
import pytest

from sim.framework.rollout import RolloutEngine
from sim.framework.trainer import Trainer
from sim.framework.weight_sync import WeightSync, transfer_seconds
from sim.worlds import modsum
from sim.worlds.optimizer import SGD


def delivered(sync, pushes):
    """The version at the rollout after each push, with one optimizer step before each."""
    trainer = Trainer(modsum.Policy(), SGD(1.0))
    rollout, seen = RolloutEngine(trainer.policy), []
    for _ in range(pushes):
        trainer.optimizer.step(trainer.policy.params, {"theta": -np.ones((4, 7, 4))})
        trainer.version += 1
        behind = sync.push(trainer, rollout)
        assert behind == trainer.version - rollout.version
        assert rollout.policy.params["theta"].max() == pytest.approx(
            2 + rollout.version
        )  # the weights are those of the version
        seen.append(rollout.version)
    return seen


def test_fresh_weights_arrive_at_every_push():
    assert delivered(WeightSync(), 4) == [1, 2, 3, 4]


def test_weights_with_a_lag_are_those_of_so_many_pushes_ago():
    assert delivered(WeightSync(lag=2), 5) == [1, 1, 1, 2, 3]


def test_seldom_delivery_leaves_the_rollout_where_it_is_in_between():
    assert delivered(WeightSync(every=3), 7) == [0, 0, 3, 3, 3, 6, 6]


def test_weights_arrive_rounded_and_the_trainer_keeps_its_own():
    trainer = Trainer(modsum.Policy(), SGD(1.0))
    trainer.policy.params = {"theta": np.full((4, 7, 4), np.pi)}
    rollout = RolloutEngine(trainer.policy)
    WeightSync(form="bf16").push(trainer, rollout)
    assert (rollout.policy.params["theta"] == 3.140625).all() and (
        trainer.policy.params["theta"] == np.pi
    ).all()  # torch.bfloat16


@pytest.mark.parametrize(
    "parameters, width, link, seconds",
    [(8e9, 2, 50, 0.32), (70e9, 2, 50, 2.8), (671e9, 1, 50, 13.42), (32e9, 2, 400, 0.16)],
)
def test_a_delivery_takes_at_least_bytes_over_bandwidth(parameters, width, link, seconds):
    assert transfer_seconds(parameters, width, link) == pytest.approx(seconds, abs=1e-9)  # closed form


def test_delivering_every_eighth_time_means_three_and_a_half_updates_of_lag_and_at_most_seven():
    versions = [0, *delivered(WeightSync(every=8), 79)]
    lags = [trained - sampled for trained, sampled in enumerate(versions)]  # (s - 1) / 2 and s - 1
    assert np.mean(lags) == 3.5 and max(lags) == 7
