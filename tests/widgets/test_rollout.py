import random
from dataclasses import asdict
from functools import cache, partial

import numpy as np
import pytest

from tests.widgets import catalogue
from tests.widgets.catalogue import mended
from widgets import rollout as widget
from widgets.frame import host
from widgets.rollout import EACH, ONCE, ONE, STORED, Knobs

last = partial(catalogue.last, widget)


@cache
def one_prompt(**knobs):
    return widget.one_prompt(Knobs(**knobs))


def after(**knobs):
    return last(**knobs).pass_rate[-1][1]


def is_broken(**knobs):
    return widget.broken(Knobs(**knobs), last(**knobs)) is not None


def test_the_default_learns_and_the_clip_sees_the_policy_move():
    assert not is_broken() and after() > 0.8
    assert last().largest > 0.2 and max(last().clipped) > 0.05 and last().seen == last().moved


@pytest.mark.parametrize("seed", range(5))
def test_old_log_probs_of_the_moment_pin_the_ratio_and_undo_the_training(seed):
    found = widget.broken(Knobs(old=EACH, seed=seed), last(old=EACH, seed=seed))
    assert found.mend == f"Old log-probs: {STORED}." and "pinned at 1" in found.why
    assert after(old=EACH, seed=seed) < 0.45 < 0.8 < after(seed=seed)  # .23 to .41 against .84 to .89 over five seeds
    assert max(last(old=EACH, seed=seed).clipped) == 0 == last(old=EACH, seed=seed).largest
    assert max(last(old=EACH, seed=seed).moved) > 0.5


def test_eight_passes_are_worse_still():
    assert after(passes=8, old=EACH) < 0.1


def test_in_one_pass_it_makes_no_difference_when_they_are_taken():
    np.testing.assert_allclose(last(passes=1, old=EACH).pass_rate, last(passes=1).pass_rate, atol=1e-9)
    assert not is_broken(passes=1, old=EACH)


def test_recomputing_before_the_first_step_is_as_good_as_the_record():
    np.testing.assert_allclose(last(old=ONCE).pass_rate, last().pass_rate, atol=1e-9)
    np.testing.assert_allclose(last(old=ONCE).seen, last().seen, atol=1e-6)  # rounding alone, which 240 steps amplify


@pytest.mark.parametrize(
    "temperature, first, clipped",
    [(1.5, (0.15, 0.25), (0.13, 0.22)), (2.0, (0.4, 0.52), (0.17, 0.29)), (0.7, (0.09, 0.12), (0.0, 0.02))],
)
def test_two_temperatures_are_off_before_any_step(temperature, first, clipped):
    knobs = dict(temperature=temperature, trainer=ONE)
    off, share = last(**knobs).first[0]
    assert first[0] < off < first[1] and clipped[0] <= share < clipped[1]  # bands of five seeds
    assert after(**knobs) < after(temperature=temperature) - 0.15


def test_two_temperatures_break_where_they_are_far_apart():
    for temperature, breaks in ((0.7, False), (1.5, True), (2.0, True)):
        knobs = dict(temperature=temperature, trainer=ONE)
        found = widget.broken(Knobs(**knobs), last(**knobs))
        assert (found is not None) == breaks and not is_broken(temperature=temperature)
        if found:
            assert "never the policy's" in found.why
            assert found.mend == "Temperature of the trainer: as the sampler."


def test_recomputing_hides_two_temperatures_from_the_ratio():
    knobs = dict(temperature=1.5, trainer=ONE, old=ONCE)
    assert last(**knobs).first[0] == (0, 0) and not is_broken(**knobs) and after(**knobs) > 0.8


def test_a_nucleus_is_off_before_any_step_too_and_a_wide_one_does_no_harm():
    assert [is_broken(top_p=p) for p in (0.5, 0.8, 0.95)] == [True, False, False]
    found = widget.broken(Knobs(top_p=0.5, temperature=1.5, trainer=ONE), last(top_p=0.5, temperature=1.5, trainer=ONE))
    assert found.mend == "Temperature of the trainer: as the sampler, Top-p of the sampler: 1."
    assert (np.array([f for f, _ in last(top_p=0.8).first]) > 0).all()


@pytest.mark.parametrize("passes", [1, 4])
def test_eight_copies_of_one_answer_teach_nothing(passes):
    knobs = dict(top_p=0.1, passes=passes)
    assert not any(last(**knobs).live) and after(**knobs) == last(**knobs).pass_rate[0][1]
    found = widget.broken(Knobs(**knobs), last(**knobs))
    assert found.why.startswith("Not one group") and found.mend == "Top-p of the sampler: 1."
    dead = {r.label: (r.value, r.state) for r in widget.readouts(Knobs(**knobs), last(**knobs))}
    assert dead["Dead groups in the first batch"] == (100, "violated")


def test_groups_fall_silent_at_both_ends_of_the_temperature():
    silent = {tau: widget.without_signal(tau, 8) for tau in (0.05, 0.25, 0.5, 1.0, 2.0, 3.0)}
    assert (
        silent[0.05] > 0.15 and silent[0.25] < 0.03 and silent[0.5] < 0.03
    )  # U-shaped: .19-.23, .02, .01, .05, .29, .57
    assert (
        silent[1.0] == pytest.approx(0.05, abs=0.015)
        and silent[2.0] == pytest.approx(0.29, abs=0.02)
        and silent[3.0] == pytest.approx(0.56, abs=0.025)
    )


def test_the_pass_rate_falls_with_the_temperature():
    rates = [widget.prompt_rates(tau).mean() for tau in widget.TEMPERATURES]
    assert rates == sorted(rates, reverse=True)
    for tau, rate in ((0.25, 0.58), (1.0, 0.33), (2.0, 0.14), (3.0, 0.07)):
        assert widget.prompt_rates(tau).mean() == pytest.approx(rate, abs=0.01)


def test_a_hotter_sampler_surprises_itself_and_is_shorter():
    def surprise(tau):
        rows = one_prompt(temperature=tau, K=16)[0]
        return np.mean([-logp.sum() / (tokens != widget.PAD).sum() for tokens, logp, _ in rows])

    assert surprise(0.25) < surprise(1.0) < surprise(3.0)
    length = [
        np.mean([(tokens != widget.PAD).sum() for tokens, _, _ in one_prompt(temperature=tau, K=16)[0]])
        for tau in (0.25, 3.0)
    ]
    assert length[1] < length[0]


def test_training_nearly_greedily_leaves_few_groups_to_learn_from():
    found = widget.broken(Knobs(temperature=0.05), last(temperature=0.05))
    assert "groups of a batch held" in found.why and found.mend == "Temperature of the sampler: 1."
    assert np.mean(last(temperature=0.05).live[-10:]) < 1 < 7 < np.mean(last().live[-10:])


def test_what_is_sampled_is_the_raw_policy_only_at_one_and_one():
    assert one_prompt()[2] == 0
    assert (
        one_prompt(temperature=2.0)[2] > one_prompt(temperature=1.5)[2] > 0.02
        and one_prompt(top_p=0.5)[2] > one_prompt(top_p=0.9)[2] > 0
    )


def test_the_rows_are_the_first_of_the_64_and_say_how_they_ended():
    few, many = one_prompt(K=4)[0], one_prompt(K=16)[0]
    assert len(few) == 4 and len(many) == 16
    assert all((a[0] == b[0]).all() for a, b in zip(few, many))
    assert {said for _, _, said in many} <= set(widget.WORDS) and len({said for _, _, said in many}) > 2
    assert all((logp[tokens == widget.PAD] == 0).all() for tokens, logp, _ in many)


def test_another_prompt_and_another_seed_give_other_rows():
    for knobs in (dict(a=1), dict(b=1), dict(seed=1)):
        assert any((x[0] != y[0]).any() for x, y in zip(one_prompt(**knobs)[0], one_prompt()[0]))


def test_more_completions_a_group_leave_fewer_silent():
    silent = [widget.without_signal(1.0, K) for K in (2, 4, 8, 16)]
    assert silent == sorted(silent, reverse=True)


def test_the_run_streams_and_a_break_is_told_at_its_end():
    for knobs in (Knobs(passes=1), Knobs(old=EACH)):
        seen = list(widget.run(knobs))
        assert [widget.progress(knobs, r) for r in seen] == [["update", n, 60] for n in (1, *range(6, 61, 6))]
        assert not any(widget.broken(knobs, r) for r in seen[:-1])
    assert widget.broken(knobs, seen[-1])


def test_three_presets_break():
    assert [name for name, k in widget.PRESETS.items() if is_broken(**k.__dict__)] == [
        "Nearly greedy",
        "Old log-probs forgotten",
        "Two temperatures",
    ]


def sampled_settings(n):
    """Settings with every knob that acts on the training at an end or in the middle, and a few by hand."""
    chance = random.Random("rollout")
    knobs = dict(
        temperature=[0.05, 0.5, 1.0, 1.5, 3.0],
        passes=[1, 4, 8],
        old=[STORED, ONCE, EACH],
        trainer=[widget.SAME, ONE],
        top_p=[0.1, 0.5, 0.8, 1.0, 1.0],
        seed=[0, 1, 2],
    )
    by_hand = [dict(temperature=0.05), dict(top_p=0.8), dict(top_p=0.5, passes=1), dict(temperature=2.0, passes=1)]
    return by_hand + [{name: chance.choice(values) for name, values in knobs.items()} for _ in range(n)]


def test_broken_is_a_run_that_ends_with_fewer_than_half_right_and_the_way_back_mends_it():
    told = []
    for knobs in sampled_settings(16):
        k = Knobs(**knobs)
        ends_right = widget.readouts(k, last(**knobs))[0].value  # damage, as the first readout shows it
        found = widget.broken(k, last(**knobs))
        assert (found is not None) == (ends_right < 0.5), (knobs, ends_right)
        told.append(found is not None)
        if found:
            back = asdict(mended("rollout", k, found.mend))
            assert not is_broken(**back), (knobs, found.mend)
    assert 0.2 < np.mean(told) < 0.8


def test_the_first_tab_shows_what_the_clip_sees():
    first = next(host.stream("rollout"))
    assert first.index('"threshold"') < first.index('"Rollouts"') < first.index('"Groups"')
