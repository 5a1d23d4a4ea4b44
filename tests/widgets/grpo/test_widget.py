from functools import partial

import numpy as np
import pytest

from sim.estimators import group_baselines
from tests.widgets import catalogue
from widgets.grpo import widget as grpo
from widgets.grpo.widget import Knobs

HARD = "almost never correct"
last = partial(catalogue.last, grpo)


def panel(title, **knobs):
    """A panel of the default run, drawn as under these knobs."""
    return catalogue.panel(grpo, title, last(), **knobs)


def at_update_50(K):
    return last(K=K).pass_rate[:, 49].mean()


def test_the_textbook_case_learns():
    assert last().pass_rate[:, -1].min() > 0.9


def test_under_sgd_and_at_64_completions_a_batch_larger_groups_learn_faster():
    rates = [at_update_50(K) for K in (2, 4, 8, 16)]
    assert rates == sorted(rates) and rates[-1] > rates[0] + 0.2


def test_with_groups_beyond_16_the_same_number_of_completions_buys_too_few_updates():
    finals = [last(K=K).pass_rate[:, -1].mean() for K in (16, 32, 64)]
    assert finals == sorted(finals, reverse=True) and [grpo.updates(Knobs(K=K)) for K in (16, 32, 64)] == [60, 30, 15]
    assert all(last(K=K).completions[-1] == 3840 for K in (2, 16, 32, 64))


@pytest.mark.when_changed()
@pytest.mark.parametrize("K, breaks", [(2, True), (4, True), (16, False), (64, True)])
def test_groups_of_2_or_4_or_one_group_a_sum_learn_nothing_from_hard_sums(K, breaks):
    for seed in range(3):
        knobs = dict(K=K, prompts=HARD, seed=seed)
        assert (grpo.broken(Knobs(**knobs), last(**knobs)) is not None) == breaks


def test_with_most_groups_live_a_short_step_is_not_blamed_on_dead_groups():
    """At 0.01 the groups are live, and the run is behind; at 0.2 fewer are, and it is ahead."""
    short, long = last(learning_rate=0.01), last(learning_rate=0.2)
    assert short.live.mean() > 0.6 > long.live.mean()
    verdict = grpo.worse(Knobs(learning_rate=0.01), short)
    assert "each step is short" in verdict and "dead" not in verdict
    assert f"{100 * long.pass_rate[:, -1].mean():.1f}" in verdict


@pytest.mark.parametrize(
    "advantage, alone", [("z-score", 15 / 4), ("minus the mean", 15 / 16), ("minus the others' mean", 1)]
)
def test_the_push_on_a_lone_correct_answer_is_that_of_the_advantage(advantage, alone):
    readout = grpo.readouts(Knobs(K=16, advantage=advantage), last())[2]
    assert readout.value == pytest.approx(alone, abs=1e-4)


@pytest.mark.when_changed()
def test_of_pairs_the_run_with_more_live_groups_ends_behind():
    for seed in range(5):
        ahead, behind = (last(K=2, learning_rate=rate, seed=seed) for rate in (0.2, 0.04))
        assert behind.live.mean() > 1.2 * ahead.live.mean()
        assert behind.pass_rate[:, -1].mean() < ahead.pass_rate[:, -1].mean() - 0.15


def test_the_guess_is_answered_by_runs_whose_groups_are_live_and_whose_updates_are_few():
    guess, many = grpo.GUESS, last(**vars(grpo.GUESS.knobs))
    assert guess.answers[guess.right] == "groups of 8" and grpo.broken(guess.knobs, many) is None
    assert many.live.mean() > last().live.mean() and many.pass_rate[:, -1].max() < last().pass_rate[:, -1].min() - 0.1
    assert guess.told(guess.knobs, many).startswith("Groups of 8. In 15 updates, which is all that 3,840 answers allow")


@pytest.mark.when_changed()
@pytest.mark.parametrize("prompts", ["mixed", HARD])
def test_under_adamw_fours_do_as_well_as_sixteens_from_the_same_completions(prompts):
    for seed in range(5):
        fours, sixteens = (
            last(K=K, prompts=prompts, optimizer="AdamW", seed=seed).pass_rate[:, -1].mean() for K in (4, 16)
        )
        assert fours > (0.9 if prompts == "mixed" else 0.35) and sixteens - fours < 0.35
        if prompts == "mixed":
            assert abs(sixteens - fours) < 0.03


def test_the_note_names_the_optimizer_and_the_rate_that_it_was_given():
    for optimizer, words in (("SGD", "SGD at 0.04"), ("AdamW", "AdamW at 0.0004")):
        panels = grpo.figure(Knobs(optimizer=optimizer), last(optimizer=optimizer))
        assert words in next(p["note"] for p in panels if p["title"] == grpo.CORRECT)


def test_a_broken_run_is_reported_only_at_its_end():
    knobs = Knobs(K=4, prompts=HARD)
    broken = [grpo.broken(knobs, r) is not None for r in grpo.run(knobs)]
    assert broken == [False] * (len(broken) - 1) + [True]


@pytest.mark.when_changed()
def test_every_kind_of_advantage_learns_the_mixed_prompts():
    finals = {name: last(advantage=name).pass_rate[:, -1].mean() for name in grpo.ADVANTAGES}
    assert min(finals.values()) > 0.6
    # the size of the step, not of the insight
    assert finals["z-score"] > finals["minus the others' mean"] > finals["minus the mean"]


def test_the_curve_of_the_mean_is_flat_and_rises_with_k():
    heights = [np.array(panel("Mean step divided by the true gradient", K=K)["data"][1]["y"]) for K in (2, 4, 8, 64)]
    assert all(np.ptp(h) < 1e-9 for h in heights)
    np.testing.assert_allclose([h[0] for h in heights], [0.5, 0.75, 0.875, 63 / 64], atol=1e-9)
    np.testing.assert_allclose(panel("Mean step divided by the true gradient")["data"][2]["y"], 1, atol=1e-9)


def test_the_curve_of_the_z_score_is_lowest_in_the_middle():
    curve = np.array(panel("Mean step divided by the true gradient", K=16)["data"][0]["y"])
    assert curve.argmin() == len(curve) // 2


def test_a_large_eps_and_the_population_deviation_move_the_z_score_only():
    plain, eps, population = (
        [m["y"] for m in panel("Mean step divided by the true gradient", **change)["data"][:3]]
        for change in ({}, dict(eps=0.1), dict(deviation="population"))
    )
    assert (eps[0] < plain[0]).all() and (population[0] > plain[0]).all()
    np.testing.assert_array_equal(eps[1:], plain[1:])


def test_dead_groups_get_rarer_with_k():
    dead = [sum(group_baselines.dead_probability(0.02, K)) for K in (2, 4, 8, 16, 32, 64)]
    assert dead == sorted(dead, reverse=True)


def test_on_a_hard_prompt_a_completion_says_as_much_in_a_group_of_any_size():
    signal = {
        K: group_baselines.signal_to_noise_per_completion(np.array([0.02, 0.5]), K, group_baselines.less_mean)
        for K in (2, 16, 64)
    }
    assert signal[64][0] < 1.05 * signal[2][0] and signal[64][1] > 50 * signal[2][1]


@pytest.mark.slow()
def test_a_faster_learning_rate_does_for_a_small_group_what_a_larger_group_does():
    # 0.1 * 1.5 = 0.04 * 3.75: the (K - 1) / sqrt(K) of one correct answer
    fast, sixteens = dict(K=4, prompts=HARD, learning_rate=0.1), last(K=16, prompts=HARD)
    assert catalogue.broken(grpo, **fast) is None
    assert last(**fast).live.mean() < sixteens.live.mean() / 2
    assert last(**fast).pass_rate[:, -1].mean() == pytest.approx(sixteens.pass_rate[:, -1].mean(), abs=0.1)
    matched = last(K=2, learning_rate=0.2).pass_rate[:, 49].mean()
    assert abs(matched - at_update_50(16)) < 0.03 < at_update_50(16) - at_update_50(2)


def test_the_pass_rate_looked_at_moves_the_ring():
    ring = [panel("Signal to noise of one completion", p=p)["data"][2] for p in (0.02, 0.5)]
    assert ring[0]["x"] < ring[1]["x"] and ring[0]["y"] < ring[1]["y"]
