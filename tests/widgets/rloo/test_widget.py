from dataclasses import asdict
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest

from sim.algorithms import rloo as algorithm
from sim.estimators import group_baselines
from sim.experiments.standard_runs import modsum_run
from sim.worlds.optimizer import AdamW
from tests.widgets import catalogue
from widgets.rloo import widget as rloo
from widgets.rloo.widget import Knobs

last = partial(catalogue.last, rloo, seeds=1)


def breaks(**knobs):
    return rloo.broken(Knobs(**knobs), last(**knobs)) is not None


def panel(title, **knobs):
    """A panel of the default run, drawn as under these knobs."""
    return catalogue.panel(rloo, title, last(seeds=rloo.SEEDS), **knobs)


def final(kind, K, groups, seeds, **settings):
    """Mean pass rate after 60 updates of RLOO with this advantage."""
    runs = [
        modsum_run(
            algorithm,
            seed=s,
            groups=groups,
            K=K,
            hooks=dict(advantage=lambda R, hp, batch: kind(R)),
            optimizer=settings.get("optimizer", lambda: None)(),
        )
        for s in range(seeds)
    ]
    return np.array([[f.exact["pass_rate"].mean() for f in run.frames(60)] for run in runs])


def test_no_update_of_the_textbook_case_goes_far():
    assert last().kl_step.max() < 0.1


@pytest.mark.parametrize("K, groups", [(8, 8), (2, 32)])
def test_under_adam_rloo_and_the_mean_are_one_algorithm(K, groups):
    runs = [
        final(kind, K, groups, 2, optimizer=lambda: AdamW(0.05, clip=None))
        for kind in (group_baselines.leave_one_out, group_baselines.less_mean)
    ]
    assert np.abs(runs[0] - runs[1]).max() < 1e-6  # Adam's eps is all that can tell the two scales apart


@pytest.mark.parametrize("kind, measured", [(group_baselines.leave_one_out, 0.703), (group_baselines.less_mean, 0.525)])
def test_under_sgd_pairs_learn_at_half_the_speed_without_the_factor(kind, measured):
    # another implementation of the same loop, seeds 0 to 3
    assert final(kind, 2, 32, 3)[:, -1].mean() == pytest.approx(measured, abs=0.03)


@pytest.mark.parametrize("K", [2, 4, 16])
def test_with_its_rate_rescaled_the_twin_is_the_same_run(K):
    assert rloo.apart(last(K=K, rescaled=True)) < 1e-9 < 0.01 < rloo.apart(last(K=K))


def test_rloo_and_the_mean_baseline_point_the_same_way_and_the_z_score_almost():
    assert last().cosine == pytest.approx(1, abs=1e-12) and last(seeds=3).cosine == pytest.approx(1, abs=1e-12)
    assert last(seeds=3, twin="z-score").cosine < 1 - 1e-4
    assert last(K=2, twin="z-score").cosine == pytest.approx(1, abs=1e-6)  # in a pair the deviation is always the same


@pytest.mark.when_changed()
def test_more_passes_and_larger_steps_go_farther_without_a_ratio():
    by_passes = [last(passes=n, learning_rate=8.0).kl_step[0].max() for n in (1, 4, 16)]
    by_rate = [last(passes=16, learning_rate=rate).kl_step[0].max() for rate in (1.0, 4.0, 8.0)]
    assert by_passes == sorted(by_passes) and by_rate == sorted(by_rate)


def test_the_guess_is_the_direction_of_the_z_score():
    guess = rloo.GUESS
    assert guess.answers[guess.right] == "a cosine above 0.99" and last(**asdict(guess.knobs)).cosine > 0.99
    assert not breaks(**asdict(guess.knobs))


@pytest.mark.when_changed()
def test_a_far_update_alone_is_no_break():
    far = dict(passes=16, learning_rate=8.0, optimizer="Adam", ratio="per token")  # 3.99 nats with three seeds
    result = last(seeds=3, **far)
    assert result.kl_step.max() > 3 and result.pass_rate.min(axis=1)[:, -1].min() > 0.99
    assert rloo.broken(Knobs(**far), result) is None


@pytest.mark.parametrize("ratio", ["per token", "per completion"])
def test_a_clipped_ratio_brings_reuse_back(ratio):
    assert last(passes=16, learning_rate=8.0, ratio=ratio).kl_step.max() < 0.5
    np.testing.assert_allclose(last(ratio=ratio).pass_rate, last().pass_rate, atol=1e-9)  # at one pass it is not there


def test_the_reward_looks_fine_while_the_entropy_is_gone():
    result = last(passes=16, learning_rate=4.0)
    assert result.pass_rate[0, :, -1].min() > 0.99 and result.entropy < 0.15
    assert breaks(passes=16, learning_rate=4.0)


def test_a_group_of_equal_rewards_has_no_advantage_in_any_of_the_three():
    assert all(np.abs(m["y"]).max() == 0 for m in panel("Advantages of one group", group="all equal")["data"])
    ours, mean, z = (np.array(m["y"]) for m in panel("Advantages of one group")["data"])
    np.testing.assert_allclose(ours, 4 / 3 * mean, atol=1e-12)
    np.testing.assert_allclose(mean, z * 0.5, atol=1e-5)  # the standard deviation of 1, 0, 0, 0


def test_larger_groups_are_less_noisy_and_never_beat_the_exact_mean():
    noise = {K: rloo.noise_of(K) for K in (2, 4, 16)}
    assert (noise[2] > noise[4]).all() and (noise[4] > noise[16]).all()
    exact = np.array(panel("Noise of a completion")["data"][2]["y"])
    assert (noise[16] > exact).all()


def test_a_run_is_judged_at_its_end():
    knobs = Knobs(passes=16, learning_rate=8.0)
    with patch.object(rloo, "SEEDS", 1):
        broken = [rloo.broken(knobs, r) is not None for r in rloo.run(knobs)]
    assert broken == 15 * [False] + [True]
