import random
from collections import deque
from dataclasses import replace

import numpy as np
import pytest

from sim.experiments import cut_arrows
from sim.worlds import modsum
from widgets.orientation import widget as orientation
from widgets.orientation.widget import ITERATIONS, PRESETS, Knobs

START = modsum.exact(modsum.Policy().params["theta"])["pass_rate"]


def settled(**knobs):
    k = replace(Knobs(), **knobs)
    return k, deque(orientation.run(k), maxlen=1)[0]


def reading(label, k, r):
    (value,) = (readout.value for readout in orientation.readouts(k, r) if readout.label.startswith(label))
    return value


def test_the_policy_of_the_whole_loop_learns():
    assert settled()[1].pass_rate[-1].mean() > 3 * START.mean()


@pytest.mark.parametrize("cut", ["trajs", "+reward", "loss_fn"])
@pytest.mark.parametrize("K", [1, 8])
def test_a_loop_in_which_no_score_or_no_loss_arrives_is_broken(cut, K):
    k, r = settled(cut=cut, K=K)
    assert "as before training" in orientation.broken(k, r).why
    assert orientation.watched(k, r).value == 0


@pytest.mark.parametrize("cut", ["none", "tokens", "ref_logp"])
def test_a_loop_without_anchor_still_learns(cut):
    assert orientation.broken(*settled(cut=cut)) is None


@pytest.mark.parametrize("K", [1, 8])
def test_a_sampler_that_stays_old_breaks_the_loop_although_the_weights_learn(K):
    for seed in range(5):
        k, r = settled(cut="weight sync", K=K, seed=seed)
        break_ = orientation.broken(k, r)
        assert "all with the old weights" in break_.why and break_.fix == dict(cut="none")
        assert r.gained > 0.3 and orientation.watched(k, r).label.startswith("Pass rate, one completion − pass rate")


def test_a_high_price_and_one_completion_a_prompt_can_end_below_the_start():
    breaks = [orientation.broken(*settled(beta=1.0, K=1, seed=seed)) for seed in (0, 1, 21, 24, 39)]
    assert breaks[:2] == [None, None]  # far from the edge, all five
    assert all(break_.fix == dict(K=8) for break_ in breaks[2:])


@pytest.mark.when_changed()
def test_a_loop_is_broken_if_its_policy_or_its_batches_show_no_learning():
    chance, breaks = random.Random("orientation"), []
    for _ in range(24):
        k, r = settled(
            cut=chance.choice(["none", "none", *cut_arrows.ARROWS]),
            K=chance.choice([1, 2, 8]),
            beta=chance.choice([0.0, 0.1, 0.5, 1.0]),
            seed=chance.choice([0, 1, 2]),
        )
        right, counted = (reading(label, k, r) for label in ("Pass rate, one", "Pass rate in the last"))
        damaged = right - START.mean() < 0.01 or right - counted > 0.2
        assert (orientation.broken(k, r) is not None) == damaged, k
        breaks.append(damaged)
    assert 0.2 < np.mean(breaks) < 0.8


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
    assert reading("Pass rate, one completion", k, r) == pytest.approx(START.mean(), abs=1e-15)
    assert reading("Pass rate, best of K", k, r) == pytest.approx(
        np.mean(1 - (1 - START) ** 64), abs=1e-12
    )  # closed form
    assert orientation.broken(k, r)


def test_without_the_sync_the_batch_and_the_policy_tell_different_stories():
    for seed in range(4):
        k, r = settled(cut="weight sync", seed=seed)
        assert reading("Lag of rollout", k, r) == ITERATIONS
        assert r.measured[-10:].mean() < 0.3 < 0.5 < reading("Pass rate, one completion", k, r)


@pytest.mark.when_changed()
def test_the_loop_without_the_sync_is_slower_for_every_seed():
    for seed in range(4):
        without, whole = (settled(cut=cut, seed=seed)[1].pass_rate[-1].mean() for cut in ("weight sync", "none"))
        assert without < whole


def test_more_completions_raise_the_best_completion_and_not_the_starting_pass_rate():
    best = [cut_arrows.best_of(settled(cut="loss_fn", K=K)[1].pass_rate[0], K).mean() for K in (1, 2, 4, 8, 16, 32, 64)]
    assert best == sorted(best) and best[0] == pytest.approx(START.mean(), rel=1e-14)


def test_nothing_is_called_broken_before_the_last_iteration():
    k = replace(Knobs(), cut="+reward")
    *partial, last = orientation.run(k)
    assert not any(orientation.broken(k, r) for r in partial)
    assert orientation.broken(k, last)


def test_every_seed_has_the_same_start():
    np.testing.assert_array_equal(settled(seed=0)[1].pass_rate[0], settled(seed=1)[1].pass_rate[0])


def test_the_guess_is_answered_by_the_run_it_asks_about():
    k, r = settled(**vars(orientation.GUESS.knobs))
    assert orientation.GUESS.answers[orientation.GUESS.right] == "above 0.9"
    assert orientation.GUESS.told(k, r) == (
        "The best of 64 is correct 0.935 of the time, but a single completion only 0.219, as before."
    )


def test_in_the_opening_both_logs_begin_alike_and_only_one_rises_while_both_models_learn():
    plain, other = (settled(**vars(k))[1] for k in (orientation.OPENING.plain, orientation.OPENING.other))
    assert abs(plain.measured[0] - other.measured[0]) < 1e-12, "the first batch is the same"
    assert plain.counted > 0.9 and other.counted < 0.25 < 0.6 < other.pass_rate[-1].mean()
