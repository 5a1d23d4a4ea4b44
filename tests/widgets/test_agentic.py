from functools import partial

import numpy as np
import pytest

from tests.widgets import catalogue
from widgets import agentic
from widgets.agentic import Knobs

last = partial(catalogue.last, agentic)
panel = partial(catalogue.panel, agentic)


def right(**knobs):
    return agentic.windowed(agentic.column(last(**knobs), "accuracy"))[-1]


def broken(**knobs):
    return agentic.broken(Knobs(**knobs), last(**knobs))


def test_the_textbook_case_holds_learns_and_calls():
    assert broken() is None and right() > 0.95 and last()[-1].call_rate > 0.95


@pytest.mark.parametrize("length", [2, 16])
def test_without_the_mask_it_is_broken_at_every_length_but_only_long_replies_show_it(length):
    found = broken(masked=False, reply=length)
    assert found.mend == "Mask the tool's tokens: on." and broken(reply=length) is None
    assert (right(masked=False, reply=length) > 0.95) == (length == 2)


def test_the_break_is_said_only_when_ten_gradients_have_been_seen():
    knobs = Knobs(masked=False)
    said = [agentic.broken(knobs, last(masked=False)[:n]) is not None for n in (6, 12, 60)]
    assert said == [False, True, True]
    assert agentic.watched(knobs, last(masked=False)).value == agentic.early_share(last(masked=False)) > agentic.SHARE


def test_the_sentence_has_the_share_and_the_lowest_point():
    why = broken(masked=False).why
    assert f"{100 * agentic.early_share(last(masked=False)):.0f} % of the first ten gradients" in why
    assert f"down to {agentic.windowed(agentic.column(last(masked=False), 'accuracy')).min():.2f}" in why


def test_the_near_misses_show_only_in_their_own_number():
    shown = {
        name: {r.label: r.value for r in agentic.readouts(k, last(**k.__dict__))} for name, k in agentic.PRESETS.items()
    }
    assert shown["Mask, wrong denominator"]["Gradient diluted by"] < 0.5 and shown["Masked"]["Gradient diluted by"] == 1
    assert shown["No mask, missing is 0"]["Mean ratio in the loss"] < 0.6
    assert broken(denominator="all tokens") is None and broken(masked=False, fill="0") is None


def test_without_a_baseline_the_calls_stop_and_the_tools_text_becomes_likely():
    nll = agentic.column(last(masked=False, algorithm="REINFORCE"), "tool_nll")
    assert last(masked=False, algorithm="REINFORCE")[-1].call_rate < 0.1 and np.nanmin(nll) < agentic.UNIFORM < nll[0]
    assert agentic.column(last(), "tool_nll").min() > agentic.UNIFORM


def test_every_token_of_the_trajectory_has_one_author_and_the_tools_are_the_tall_ones():
    own, tool = (np.array(mark["y"]) for mark in panel("How surprised the policy is")["data"])
    assert (own * tool == 0).all() and (tool > 0).sum() == 8
    own, tool = (np.array(mark["y"]) for mark in panel("How hard each token would pull")["data"])
    assert (
        (tool > 0).sum() == 8
        and max(own.max(), tool.max()) <= 2**0.5
        and np.median(tool[tool > 0]) > 1 > np.median(own[tool == 0])
    )


def test_a_longer_reply_is_a_longer_trajectory():
    lengths = [len(panel("How surprised the policy is", reply=n)["data"][0]["x"]) for n in (2, 8, 16)]
    assert lengths == sorted(lengths) and lengths[2] - lengths[0] >= 13


def test_the_run_streams_and_another_seed_is_another_run():
    assert [agentic.progress(Knobs(), r)[1] for r in map(list, agentic.run(Knobs(reply=2)))][-1] == 60
    assert (agentic.column(last(seed=3), "accuracy") != agentic.column(last(), "accuracy")).any()
