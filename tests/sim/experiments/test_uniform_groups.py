import numpy as np
import pytest

from sim.experiments import uniform_groups
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine
from sim.worlds import tasks


def test_at_one_it_is_the_policy_itself():
    np.testing.assert_allclose(uniform_groups.pass_rates(1.0), tasks.exact_pass(tasks.checkpoint("add")), atol=1e-12)


@pytest.mark.parametrize("temperature", [0.25, 2.0])
def test_the_sampler_at_that_temperature_finds_the_same_share(temperature):
    task, rng = tasks.Add(), np.random.default_rng(0)
    prompts = np.tile(np.arange(100), 20)  # 2,000 groups: three standard errors of a share of 0.3 are 0.03
    batch, _ = RolloutEngine(tasks.checkpoint("add")).generate(task, prompts, 8, rng, temperature)
    right = Verifier(task).verify(batch).accuracy.reshape(-1, 8)
    assert right.mean() == pytest.approx(uniform_groups.pass_rates(temperature).mean(), abs=0.02)
    assert (right.std(axis=1) == 0).mean() == pytest.approx(uniform_groups.share(temperature, 8), abs=0.031)


def test_more_completions_a_group_leave_fewer_alike():
    shares = [uniform_groups.share(1.0, K) for K in (2, 4, 8, 16)]
    assert shares == sorted(shares, reverse=True)
