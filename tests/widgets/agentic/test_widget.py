import random
from functools import partial

import numpy as np
import pytest

from tests.widgets import catalogue
from widgets.agentic import widget as agentic
from widgets.agentic.widget import Knobs

last = partial(catalogue.last, agentic)
broken = partial(catalogue.broken, agentic)
panel = partial(catalogue.panel, agentic)


def right(**knobs):
    return agentic.windowed(agentic.column(last(**knobs), "accuracy"))[-1]


def test_the_textbook_case_learns_and_calls():
    assert right() > 0.95 and last()[-1].call_rate > 0.95


@pytest.mark.when_changed()
def test_without_the_mask_a_short_tool_reply_does_no_harm_and_a_long_one_breaks_training():
    for seed in range(2):
        assert broken(masked=False, reply=2, seed=seed) is None and right(masked=False, reply=2, seed=seed) > 0.95
        assert broken(masked=False, reply=16, seed=seed).fix == dict(masked=True)
        assert agentic.early_share(last(masked=False, reply=2, seed=seed)) > 0.35


@pytest.mark.when_changed()
def test_a_run_is_broken_if_fewer_than_half_end_right_and_only_where_the_mask_is_wrong():
    chance, breaks = random.Random("agentic"), []
    for _ in range(6):
        knobs = dict(
            masked=chance.choice([True, False, False, False]),
            reply=chance.choice([2, 8, 16]),
            shift=chance.choice([0, 0, 1]),
            algorithm=chance.choice(["GRPO", "REINFORCE"]),
            denominator=chance.choice(["own tokens", "all tokens"]),
            fill=chance.choice(["recomputed", "recomputed", "0"]),
        )
        accuracy = [step.accuracy for step in last(**knobs)[-5:]]
        breaks.append(broken(**knobs) is not None)
        assert breaks[-1] == (sum(accuracy) / 5 < 0.5), knobs
        assert not breaks[-1] or not knobs["masked"] or knobs["shift"], knobs
    assert 0.2 < np.mean(breaks) < 0.8


def test_a_broken_run_is_reported_only_at_its_end():
    knobs = dict(masked=False, reply=16)
    breaks = [agentic.broken(Knobs(**knobs), last(**knobs)[:n]) is not None for n in (6, 30, 60)]
    assert breaks == [False, False, True]
    assert agentic.watched(Knobs(**knobs), last(**knobs)).value == right(**knobs) < 0.5


def test_the_verdict_of_a_broken_run_names_the_early_gradient_share_and_the_final_pass_rate():
    knobs = dict(masked=False, reply=16)
    why = broken(**knobs).why
    assert f"{100 * agentic.early_share(last(**knobs)):.0f} % of the first ten gradients" in why
    assert why.startswith("The pass rate went from") and f" to {right(**knobs):.2f}: " in why


def test_where_the_tool_is_given_up_the_sentence_says_what_the_readout_says():
    for reply in (8, 16):
        knobs = dict(masked=False, reply=reply, algorithm="REINFORCE")
        call_rate = last(**knobs)[-1].call_rate
        start = f"{100 * call_rate:.3g} % still call the tool" if call_rate else "no completion calls the tool"
        assert start in broken(**knobs).why


def test_a_shifted_mask_is_put_in_its_place():
    assert broken(shift=1).fix == dict(shift=0) and "too far right" in broken(shift=1).why


WIDE = dict(algorithm="REINFORCE", denominator="all tokens", reply=16)


def test_a_mask_in_its_place_is_not_blamed_for_what_the_divisor_does():
    break_ = broken(**WIDE, seed=205)
    assert break_.cause == "a divisor that counts the tool's tokens" and break_.fix == dict(denominator="own tokens")
    step = last(**WIDE, seed=205)[0]  # one turn calls with four tokens and one answers, beside sixteen of the tool
    assert f"pushed {step.own.sum() / (step.own.sum() + 16):.2f} times as hard" in break_.why
    assert broken(**WIDE | break_.fix, seed=205) is None


@pytest.mark.when_changed()
def test_where_mask_and_divisor_are_wrong_the_way_back_turns_what_is_needed():
    """At seed 204 the mask is enough, at 205 it takes both."""
    for seed, turned in ((204, dict(masked=True)), (205, dict(masked=True, denominator="own tokens"))):
        break_ = broken(**WIDE, masked=False, seed=seed)
        assert break_.fix == turned and (break_.cause == "a wrong mask and divisor") == (len(turned) == 2)
        assert broken(**WIDE | dict(masked=False) | turned, seed=seed) is None


@pytest.mark.when_changed()
def test_a_mask_one_to_the_left_is_damage():
    for seed in range(2):
        k, r = Knobs(shift=-1, seed=seed), last(shift=-1, seed=seed)
        assert agentic.worse(k, r) and right(shift=-1, seed=seed) < 0.8


def test_wrong_denominator_and_missing_log_probs_show_only_in_their_own_readout():
    readouts = {
        name: {r.label: r.value for r in agentic.readouts(k, last(**k.__dict__))}
        for name, k in [*agentic.PRESETS.items(), ("No mask, missing is 0", Knobs(masked=False, fill="0"))]
    }
    assert readouts["Mask, wrong denominator"]["Dilution factor of the gradient"] < 0.5
    assert readouts["Masked"]["Dilution factor of the gradient"] == 1
    assert readouts["No mask, missing is 0"]["Mean ratio in the loss"] < 0.6
    assert broken(masked=False, fill="0") is None


def test_without_a_baseline_the_calls_stop_and_the_tools_text_becomes_likely():
    nll = agentic.column(last(masked=False, algorithm="REINFORCE"), "tool_nll")
    assert last(masked=False, algorithm="REINFORCE")[-1].call_rate < 0.1 and np.nanmin(nll) < agentic.UNIFORM < nll[0]
    assert agentic.column(last(), "tool_nll").min() > agentic.UNIFORM


def test_every_token_of_the_trajectory_has_one_author_and_the_tools_are_the_tall_ones():
    own, tool = (np.array(mark["y"]) for mark in panel("The policy's surprise at each token")["data"])
    assert (own * tool == 0).all() and (tool > 0).sum() == 8
    own, tool = (np.array(mark["y"]) for mark in panel("The push of each token")["data"])
    assert (
        (tool > 0).sum() == 8
        and max(own.max(), tool.max()) <= 2**0.5
        and np.median(tool[tool > 0]) > 1 > np.median(own[tool == 0])
    )


def test_a_longer_reply_is_a_longer_trajectory():
    lengths = [len(panel("The policy's surprise at each token", reply=n)["data"][0]["x"]) for n in (2, 8, 16)]
    assert lengths == sorted(lengths) and lengths[2] - lengths[0] >= 13
