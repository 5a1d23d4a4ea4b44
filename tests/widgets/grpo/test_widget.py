from functools import partial

import numpy as np
import pytest

from sim.estimators import group_baselines
from tests.widgets import catalogue
from widgets.grpo import widget as grpo
from widgets.grpo.widget import Knobs

HOPELESS = "almost never right"
last = partial(catalogue.last, grpo)


def panel(title, **knobs):
    """A panel of the default run, drawn as under these knobs."""
    return catalogue.panel(grpo, title, last(), **knobs)


def at_update_50(K):
    return last(K=K).pass_rate[:, 49].mean()


def test_the_textbook_case_learns():
    assert last().pass_rate[:, -1].min() > 0.95


@pytest.mark.parametrize("K, measured", [(2, 0.708), (4, 0.944), (8, 0.972), (16, 0.976)])
def test_under_sgd_and_at_64_completions_a_batch_larger_groups_learn_faster(K, measured):
    # seeds 0 to 2, measured on another implementation of the same loop
    assert at_update_50(K) == pytest.approx(measured, abs=0.03)


def test_with_groups_beyond_16_the_same_number_of_completions_buys_too_few_updates():
    finals = [last(K=K).pass_rate[:, -1].mean() for K in (16, 32, 64)]
    assert finals == sorted(finals, reverse=True) and [grpo.updates(Knobs(K=K)) for K in (16, 32, 64)] == [60, 30, 15]
    assert all(last(K=K).completions[-1] == 3840 for K in (2, 16, 32, 64))


@pytest.mark.when_changed()
@pytest.mark.parametrize("K, breaks", [(2, True), (4, True), (16, False), (64, True)])
def test_groups_of_2_or_4_or_one_group_a_prompt_learn_nothing_from_very_hard_prompts(K, breaks):
    for seed in range(3):
        knobs = dict(K=K, prompts=HOPELESS, seed=seed)
        assert (grpo.broken(Knobs(**knobs), last(**knobs)) is not None) == breaks


def test_with_three_of_four_groups_live_a_short_step_is_not_blamed_on_dead_groups():
    """At 0.5 the groups are live, and the run is behind; at 20 fewer are, and it is ahead."""
    short, long = last(learning_rate=0.5), last(learning_rate=20.0)
    assert short.live.mean() > 0.6 > long.live.mean()
    verdict = grpo.worse(Knobs(learning_rate=0.5), short)
    assert "the step is too short" in verdict and "dead" not in verdict
    assert f"{long.pass_rate[:, -1].mean():.3f}" in verdict


def test_the_last_two_readouts_are_of_the_hardest_prompt_that_the_run_began_with():
    shares = [grpo.readouts(Knobs(prompts=name), last(prompts=name))[2].value for name in ("mixed", HOPELESS)]
    z_score = group_baselines.z_score
    assert shares == [
        group_baselines.share_of_gradient(grpo.prompts_at_start(name).min(), 8, z_score) for name in ("mixed", HOPELESS)
    ]


@pytest.mark.when_changed()
def test_in_the_opening_the_run_with_more_live_groups_ends_behind():
    for seed in range(5):
        ahead, behind = (last(K=2, learning_rate=rate, seed=seed) for rate in (10.0, 2.0))
        assert behind.live.mean() > 1.8 * ahead.live.mean()
        assert behind.pass_rate[:, -1].mean() < ahead.pass_rate[:, -1].mean() - 0.15


def test_the_guess_is_answered_by_runs_whose_groups_are_live_and_whose_updates_are_few():
    guess, many = grpo.GUESS, last(**vars(grpo.GUESS.knobs))
    assert guess.answers[guess.right] == "behind" and grpo.broken(guess.knobs, many) is None
    assert many.live.mean() > last().live.mean() and many.pass_rate[:, -1].max() < last().pass_rate[:, -1].min() - 0.1
    assert guess.told(guess.knobs, many).endswith("3,840 completions make 15 such updates.")


@pytest.mark.when_changed()
@pytest.mark.parametrize("prompts", ["mixed", HOPELESS])
def test_under_adamw_fours_do_as_well_as_sixteens_from_the_same_completions(prompts):
    for seed in range(5):
        fours, sixteens = (
            last(K=K, prompts=prompts, optimizer="AdamW", seed=seed).pass_rate[:, -1].mean() for K in (4, 16)
        )
        assert fours > (0.97 if prompts == "mixed" else 0.2) and sixteens - fours < 0.35
        if prompts == "mixed":
            assert abs(sixteens - fours) < 0.01


def test_the_notes_name_the_optimizer_and_the_rate_that_it_was_given():
    notes = [
        p["note"] for p in grpo.figure(Knobs(optimizer="AdamW"), last(optimizer="AdamW")) if p["tab"] == "Training"
    ]
    assert all("AdamW at 0.02" in note for note in notes) and "SGD at 2" in panel("Live groups")["note"]


def test_a_broken_run_is_reported_only_at_its_end():
    knobs = Knobs(K=4, prompts=HOPELESS)
    broken = [grpo.broken(knobs, r) is not None for r in grpo.run(knobs)]
    assert broken == [False] * (len(broken) - 1) + [True]


@pytest.mark.when_changed()
def test_every_kind_of_advantage_learns_the_mixed_prompts():
    finals = {name: last(advantage=name).pass_rate[:, -1].mean() for name in grpo.ADVANTAGES}
    assert min(finals.values()) > 0.6
    # the size of the step, not of the insight
    assert finals["z-score"] > finals["less the others' mean"] > finals["less the mean"]


def test_the_curve_of_the_mean_is_flat_and_rises_with_k():
    heights = [np.array(panel("Mean estimate over the true gradient", K=K)["data"][1]["y"]) for K in (2, 4, 8, 64)]
    assert all(np.ptp(h) < 1e-9 for h in heights)
    np.testing.assert_allclose([h[0] for h in heights], [0.5, 0.75, 0.875, 63 / 64], atol=1e-9)
    np.testing.assert_allclose(panel("Mean estimate over the true gradient")["data"][2]["y"], 1, atol=1e-9)


def test_the_curve_of_the_z_score_is_lowest_in_the_middle():
    curve = np.array(panel("Mean estimate over the true gradient", K=16)["data"][0]["y"])
    assert curve.argmin() == len(curve) // 2


def test_a_large_eps_and_the_population_deviation_move_the_z_score_only():
    plain, eps, population = (
        [m["y"] for m in panel("Mean estimate over the true gradient", **change)["data"][:3]]
        for change in ({}, dict(eps=0.1), dict(deviation="population"))
    )
    assert (eps[0] < plain[0]).all() and (population[0] > plain[0]).all()
    np.testing.assert_array_equal(eps[1:], plain[1:])


def test_dead_groups_get_rarer_with_k():
    dead = [sum(group_baselines.dead_probability(0.02, K)) for K in (2, 4, 8, 16, 32, 64)]
    assert dead == sorted(dead, reverse=True)
    wrong = {K: np.array(panel("What a group turns out to be", K=K)["data"][2]["y"]) for K in (2, 64)}
    assert (wrong[64] < wrong[2]).all()


def test_on_a_hard_prompt_a_completion_says_as_much_in_a_group_of_any_size():
    signal = {
        K: group_baselines.signal_to_noise_per_completion(np.array([0.02, 0.5]), K, group_baselines.less_mean)
        for K in (2, 16, 64)
    }
    assert signal[64][0] < 1.05 * signal[2][0] and signal[64][1] > 50 * signal[2][1]


def test_a_faster_learning_rate_does_for_a_small_group_what_a_larger_group_does():
    # 5 * 1.5 = 2 * 3.75: the (K - 1) / sqrt(K) of one right completion
    fast = dict(K=4, prompts=HOPELESS, learning_rate=5.0)
    assert catalogue.broken(grpo, **fast) is None
    assert last(**fast).live.mean() < last(K=16, prompts=HOPELESS).live.mean() / 2
    matched = last(K=2, learning_rate=10.0).pass_rate[:, 49].mean()
    assert abs(matched - at_update_50(16)) < 0.01 < at_update_50(16) - at_update_50(2)


def test_the_pass_rate_looked_at_moves_the_ring():
    ring = [panel("Signal to noise of one completion", p=p)["data"][2] for p in (0.02, 0.5)]
    assert ring[0]["x"] < ring[1]["x"] and ring[0]["y"] < ring[1]["y"]
