from dataclasses import asdict
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest

from sim.framework.controller import LOG_RATIO_EDGES
from tests.widgets import catalogue
from widgets.frame.reader import host
from widgets.ppo import widget as ppo
from widgets.ppo.widget import Knobs

last = partial(catalogue.last, ppo)


def is_broken(**knobs):
    return ppo.broken(Knobs(**knobs), last(**knobs)) is not None


def finals(result):
    return result.pass_rate[:, -1].mean(axis=1)


def farthest(**knobs):
    return last(seeds=2, **knobs).kl_step.max()


def panel(title, **knobs):
    """A panel of the default run, drawn as under these knobs."""
    return catalogue.panel(ppo, title, last(), **knobs)


def test_in_the_textbook_case_every_prompt_is_learned_by_near_updates():
    assert last().kl_step.max() < 0.2
    assert last().pass_rate[:, -1].mean(axis=1).min() > 0.95


def test_in_one_pass_the_clip_changes_nothing():
    on, off = last(seeds=2, passes=1), last(seeds=2, passes=1, clip=False)
    np.testing.assert_allclose(on.pass_rate, off.pass_rate, atol=1e-12)
    assert (on.ratio_max == 1).all() and (on.clip_fraction == 0).all()


@pytest.mark.when_changed()
def test_more_passes_move_one_update_farther_without_a_clip_than_with_a_clip():
    without = [farthest(passes=n, clip=False) for n in (1, 2, 4)]
    assert without == sorted(without)
    assert all(farthest(passes=n, clip=False) > 2 * farthest(passes=n) for n in (2, 4, 16))


def test_more_passes_do_not_bring_the_update_nearer():
    with_clip = [farthest(passes=n) for n in (1, 4, 16)]
    assert with_clip == sorted(with_clip)


def test_the_clip_does_not_keep_ratios_in_its_range():
    assert last().ratio_max.max() > 1.2 and last(passes=16).ratio_max.max() > 3
    assert last(passes=16).kl_step.max() < 0.18


@pytest.mark.when_changed()
def test_without_a_clip_the_break_lies_between_two_and_four_passes():
    assert not is_broken(passes=2, clip=False)
    assert is_broken(clip=False) and is_broken(passes=16, clip=False)


def test_the_verdict_uses_a_singular_verb_for_one_lost_run():
    knobs = dict(passes=4, clip=False)
    assert "1 of 6 runs lost a prompt that it had solved." in ppo.broken(Knobs(**knobs), last(**knobs)).why


def test_the_verdict_of_a_break_says_what_is_lost_and_how_to_keep_it():
    knobs = dict(passes=16, clip=False)
    verdict = ppo.broken(Knobs(**knobs), last(**knobs))
    assert verdict.why.startswith("3 of 6 runs lost a prompt that they had solved. In 16 passes, nothing stopped")
    assert verdict.fix == dict(clip=True)
    gauge = ppo.watched(Knobs(**knobs), last(**knobs))
    assert gauge.value < gauge.threshold == 0.1 < ppo.watched(Knobs(), last()).value


@pytest.mark.when_changed()
@pytest.mark.parametrize(
    "settings, ends",
    [
        (dict(passes=16, eps_high=5.0), 0.98),  # 2.92 nats in one update
        (dict(passes=40, eps_low=1.0), 0.98),  # 2.90 nats
        (dict(passes=16, learning_rate=60.0, critic=False), 0.99),  # 1.12 nats
        (dict(passes=40, eps_low=0.05, eps_high=0.05), 0.7),  # slow: one run has a prompt that it never solved
    ],
)
def test_neither_a_far_update_nor_a_slow_run_is_a_break(settings, ends):
    assert finals(last(**settings)).min() > ends and not is_broken(**settings)


SETTINGS = [
    dict(),
    dict(clip=False),
    dict(passes=2, clip=False, learning_rate=60.0),
    dict(passes=2, clip=False, learning_rate=60.0, seed=1),
    dict(passes=2, clip=False, learning_rate=40.0, critic=False),
    dict(passes=16, clip=False),
    dict(passes=16, clip=False, critic=False, seed=2, dual_clip="1.5", eps_low=1.0),
    dict(passes=16, clip=False, learning_rate=5.0),
    dict(passes=4, eps_low=0.05, eps_high=5.0, learning_rate=60.0, critic=False, seed=2),
    dict(passes=40, eps_low=1.0, eps_high=5.0, learning_rate=60.0, critic=False),
    dict(passes=40, eps_low=0.05, eps_high=0.05),
    dict(passes=1, learning_rate=60.0, critic=False),
    dict(passes=1, learning_rate=1.0),
    dict(learning_rate=60.0, seed=7),
]


def damaged(r):
    """A prompt of some run was right half of the time and has all but vanished from what the run gets right."""
    return any(
        min(right[np.argmax(right >= 0.5) :]) < 0.1 > right[-1]
        for run in r.pass_rate
        for right in run.T
        if max(right) >= 0.5
    )


@pytest.mark.when_changed()
def test_only_a_lost_prompt_counts_as_broken():
    broken = [is_broken(**knobs) for knobs in SETTINGS]
    assert broken == [damaged(last(**knobs)) for knobs in SETTINGS]
    assert 5 <= sum(broken) <= len(SETTINGS) - 5
    # a prompt is a quarter of what there is to get right
    assert all(finals(last(**knobs)).min() < 0.78 for knobs, lost in zip(SETTINGS, broken) if lost)


def test_without_a_clip_the_first_updates_are_faster():
    assert last(seeds=2, clip=False).pass_rate[:, 9].mean() > last(seeds=2).pass_rate[:, 9].mean() + 0.1


@pytest.mark.when_changed()
def test_a_wider_range_lets_an_update_go_farther():
    wide = [farthest(eps_high=high) for high in (0.2, 0.28, 5.0)]
    assert wide == sorted(wide) and farthest(passes=16, eps_high=5.0) > 1
    assert farthest(eps_low=1.0) > farthest()


def test_the_learning_rate_moves_the_distance_of_an_update():
    far = [farthest(learning_rate=rate) for rate in (1.0, 20.0, 60.0)]
    assert far == sorted(far)


@pytest.mark.when_changed()
def test_switching_the_critic_off_changes_the_run_and_most_runs_end_higher():
    assert np.median(finals(last(critic=False))) > np.median(finals(last())) > 0.98


def test_without_a_clip_no_range_is_shaded_and_none_is_spoken_of():
    for clip in (True, False):
        ratios = panel("Largest ratio in each update", clip=clip)
        assert ("shaded" in ratios["note"]) == any(s["name"] == "region" for s in ratios["layout"]["shapes"]) == clip


def test_the_first_panel_shows_every_prompt_and_draws_the_worst_one_thick():
    knobs = dict(passes=16, clip=False)
    thick, thin = catalogue.panel(ppo, "Pass rate of each prompt", **knobs)["data"]
    r = last(**knobs)
    assert thick["y"][-1] == r.pass_rate[:, -1].min() < ppo.LOST
    assert np.isnan(thin["y"]).sum() >= r.pass_rate[:, -1].size - 2, "a gap parts the curves"


def test_a_run_that_ends_as_the_default_of_its_seed_does_is_not_worse():
    """In seed 29 one of six runs of the default never solves a prompt, and this knob does not help it."""
    ends = [ppo.finals(last(seed=29, **knobs)).min() for knobs in ({}, dict(dual_clip="1.5"))]
    assert max(ends) < ppo.GOOD and abs(ends[0] - ends[1]) < 0.01
    assert ppo.worse(Knobs(seed=29, dual_clip="1.5"), last(seed=29, dual_clip="1.5")) is None


def test_a_slow_run_is_worse_and_neither_holds_nor_breaks():
    slow = dict(passes=1, learning_rate=1.0)
    assert ppo.broken(Knobs(**slow), last(**slow)) is None
    assert "No prompt that was solved is lost" in ppo.worse(Knobs(**slow), last(**slow))
    for knobs in (dict(), dict(passes=1), dict(passes=16)):
        assert ppo.worse(Knobs(**knobs), last(**knobs)) is None


def test_the_guess_is_about_the_largest_ratio_and_is_answered_from_the_run():
    k = ppo.GUESS.knobs
    assert last(**asdict(k)).ratio_max.max() > 3 and ppo.GUESS.answers[ppo.GUESS.right] == "above 3"
    assert ppo.GUESS.told(k, last(**asdict(k))).startswith(
        "The largest ratio is 3.35, but no update goes farther than 0.167"
    )


def test_the_histogram_holds_all_tokens_and_at_one_pass_only_the_ratio_one():
    assert sum(panel("Ratios at the last pass")["data"][0]["y"]) == pytest.approx(100)
    counts = last(seeds=2, passes=1).log_ratios
    assert counts[10] == counts.sum() and LOG_RATIO_EDGES[10] < 0 < LOG_RATIO_EDGES[11]


def test_the_run_streams_and_counts_its_updates():
    knobs = Knobs(clip=False)
    with patch.object(ppo, "SEEDS", 1):
        traces = list(ppo.run(knobs))
    assert [ppo.progress(knobs, r) for r in traces] == [["update", n, 60] for n in (1, *range(4, 61, 4))]
    assert [ppo.broken(knobs, r) is not None for r in traces] == 15 * [False] + [True]  # at the end alone


def test_the_training_group_comes_before_ratios_and_all_prompts():
    first = next(host.stream("ppo"))
    assert first.index('"Training"') < first.index('"Ratios"') < first.index('"All prompts"')
