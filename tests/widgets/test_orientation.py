from collections import deque
from dataclasses import replace

import numpy as np
import pytest

from sim.experiments import cut_arrows
from sim.worlds import modsum
from widgets import orientation
from widgets.orientation import ITERATIONS, PRESETS, Knobs

START = modsum.exact(modsum.Policy().params["theta"])["pass_rate"]


def settled(**knobs):
    k = replace(Knobs(), **knobs)
    return k, deque(orientation.run(k), maxlen=1)[0]


def shown(label, k, r):
    (value,) = (readout.value for readout in orientation.readouts(k, r) if readout.label.startswith(label))
    return value


def test_the_default_is_the_whole_loop_and_it_learns():
    k, r = settled()
    assert k.cut == "none" and k == next(iter(PRESETS.values()))
    assert orientation.broken(k, r) is None
    assert r.pass_rate[-1].mean() > 3 * START.mean()


@pytest.mark.parametrize("cut", ["trajs", "+reward", "loss_fn"])
@pytest.mark.parametrize("K", [1, 8])
def test_a_loop_in_which_no_score_or_no_loss_arrives_is_broken(cut, K):
    k, r = settled(cut=cut, K=K)
    assert "as at the start" in orientation.broken(k, r).why
    assert orientation.watched(k, r).value == 0


@pytest.mark.parametrize("cut", ["none", "tokens", "ref_logp", "weight sync"])
def test_a_loop_without_anchor_or_with_stale_batches_still_learns(cut):
    assert orientation.broken(*settled(cut=cut)) is None


def test_the_highest_price_of_the_kl_slows_the_loop_but_does_not_break_it():
    k, r = settled(beta=1.0)
    assert orientation.broken(k, r) is None
    assert r.pass_rate[-1].mean() < settled()[1].pass_rate[-1].mean()


def test_a_higher_price_ends_lower_and_nearer_to_the_start():
    ends = [settled(beta=beta)[1] for beta in (0.0, 0.2, 0.5, 1.0)]
    passes, kl = [r.pass_rate[-1].mean() for r in ends], [r.kl[-1] for r in ends]
    assert passes == sorted(passes, reverse=True) and kl == sorted(kl, reverse=True)


def test_the_best_of_many_looks_like_progress_although_the_policy_is_the_first_one():
    k, r = settled(**vars(PRESETS["Best of 64"]))
    assert shown("Right, one completion", k, r) == pytest.approx(START.mean(), abs=1e-15)
    assert shown("Right, best of K", k, r) == pytest.approx(np.mean(1 - (1 - START) ** 64), abs=1e-12)  # closed form
    assert orientation.broken(k, r)


def test_without_the_sync_the_batch_and_the_policy_tell_different_stories():
    for seed in range(4):
        k, r = settled(cut="weight sync", seed=seed)
        assert shown("Rollout behind", k, r) == ITERATIONS
        assert r.measured[-10:].mean() < 0.3 < 0.5 < shown("Right, one completion", k, r)


def test_the_loop_without_the_sync_is_slower_for_every_seed():
    for seed in range(4):
        assert (
            settled(cut="weight sync", seed=seed)[1].pass_rate[-1].mean() < settled(seed=seed)[1].pass_rate[-1].mean()
        )


def test_more_completions_raise_the_best_of_them_and_not_the_start():
    best = [cut_arrows.best_of(settled(cut="loss_fn", K=K)[1].pass_rate[0], K).mean() for K in (1, 2, 4, 8, 16, 32, 64)]
    assert best == sorted(best) and best[0] == pytest.approx(START.mean(), rel=1e-14)


def test_nothing_is_called_broken_before_the_last_iteration():
    k = replace(Knobs(), cut="+reward")
    *partial, last = orientation.run(k)
    assert not any(orientation.broken(k, r) for r in partial)
    assert orientation.broken(k, last)


def test_another_seed_draws_another_batch_from_the_same_start():
    a, b = settled(seed=0)[1], settled(seed=1)[1]
    np.testing.assert_array_equal(a.pass_rate[0], b.pass_rate[0])
    assert (a.measured != b.measured).any()
