"""The lesson on agentic training: what its numbers are computed by, and what it says without a number."""

from functools import partial

import numpy as np
import pytest

from sim.experiments import tool_masking
from sim.worlds import tinylm
from tests.lessons import spreads
from tests.widgets import catalogue
from widgets.agentic import figures
from widgets.agentic import widget as agentic

EXPENSIVE = ("right",)
kept = partial(spreads.values, "08_agentic")
last = partial(catalogue.last, agentic)

CONFIDENT = np.array([[0.97, 0.01, 0.01, 0.01]])
SIX, MASK = np.array([-0.2, -0.1, -5, -7, -0.3, -0.05]), np.array([1, 1, 0, 0, 1, 1])
tokens, own, logp, push = figures.trajectory()
by_policy, by_tool = logp[own > 0], logp[own == 0]


def first(**knobs):
    """The first update of a run."""
    return next(agentic.run(agentic.Knobs(**knobs)))[0]


def turns():
    """(own tokens, all tokens) of 12 by the policy, 30 by the tool, 8, 50 and 20."""
    mask, valid = tool_masking.built_mask([("policy", 12), ("tool", 30), ("policy", 8), ("tool", 50), ("policy", 20)])
    return mask.sum(), valid.sum()


def right(**knobs):
    return agentic.windowed(agentic.column(last(**knobs), "accuracy"))[-1]


def ends(**knobs):
    return lambda seed: right(seed=seed, **knobs)


def share(**knobs):
    return lambda seed: agentic.early_share(last(seed=seed, **knobs))


def late(name, **knobs):
    """Of the last five updates."""
    return lambda seed: agentic.column(last(seed=seed, **knobs)[-5:], name).mean()


def of(read, **knobs):
    return lambda seed: read(last(seed=seed, **knobs))


def first_nats(reply):
    return lambda seed: next(tool_masking.tool_run(reply, steps=1, seed=seed)).tool_nll


REINFORCE = dict(masked=False, algorithm="REINFORCE")
RIGHT_ON, LEFT_ON = dict(shift=1), dict(shift=-1)
DILUTED = dict(denominator="all tokens", algorithm="REINFORCE", reply=16)

MEASURED = {
    "percent of calls at first": of(lambda steps: 100 * steps[0].call_rate),
    "percent of calls at the end": of(lambda steps: 100 * steps[-1].call_rate),
    "REINFORCE, percent of calls at the end": of(lambda steps: 100 * steps[-1].call_rate, **REINFORCE),
    "nats a token of the tool, least": of(lambda steps: min(step.tool_nll for step in steps)),
    "nats a token of the tool, at the end": of(lambda steps: np.mean([step.tool_nll for step in steps[-5:]])),
    "no mask, 0 for the log-probs, mean ratio": of(lambda steps: steps[-1].mean_ratio, masked=False, fill="0"),
    "REINFORCE without the mask": ends(**REINFORCE),
    "no mask, 0 for the log-probs": ends(masked=False, fill="0"),
    "no mask, 0 for the log-probs, REINFORCE": ends(fill="0", **REINFORCE),
    "wrong denominator": ends(denominator="all tokens"),
    "wrong denominator, 16 tokens": ends(denominator="all tokens", reply=16),
    "wrong denominator, 16 tokens, REINFORCE": ends(**DILUTED),
    "wrong denominator, 16 tokens, REINFORCE, calls": late("call_rate", **DILUTED),
    "16 tokens, REINFORCE": ends(algorithm="REINFORCE", reply=16),
    **{f"mask, {length} tokens": ends(reply=length) for length in (2, 8, 16)},
    **{f"no mask, {length} tokens": ends(masked=False, reply=length) for length in (2, 4, 8, 12, 16)},
    **{f"no mask, {length} tokens, share": share(masked=False, reply=length) for length in (2, 4, 8, 12, 16)},
    **{
        f"mask shifted by {shift}, {length} tokens": ends(shift=shift, reply=length)
        for length in (2, 8, 16)
        for shift in (1, -1)
    },
    "share, mask shifted by 1": share(**RIGHT_ON),
    "share, mask shifted by -1": share(**LEFT_ON),
    "answers, mask shifted by 1": late("answered", **RIGHT_ON),
    "entries asked for, mask shifted by 1": late("asked", **RIGHT_ON),
    "answers, mask shifted by -1": late("answered", **LEFT_ON),
    "entries asked for, mask shifted by -1": late("asked", **LEFT_ON),
    "calls, mask shifted by -1": late("call_rate", **LEFT_ON),
    "answers, no mask, 16 tokens": late("answered", masked=False, reply=16),
    "percent of calls, no mask, 16 tokens": of(lambda steps: 100 * steps[-1].call_rate, masked=False, reply=16),
    **{f"nats at first, {n} tokens": first_nats(n) for n in (2, 16)},
    "REINFORCE, nats at first": of(lambda steps: steps[0].tool_nll, **REINFORCE),
    "REINFORCE, least nats of thirty updates": of(lambda steps: min(s.tool_nll for s in steps[:30]), **REINFORCE),
}


calls = kept("REINFORCE, percent of calls at the end")
gives_up = calls <= 2
given_up = kept("wrong denominator, 16 tokens, REINFORCE") < agentic.HALF
step = first(seed=4, **DILUTED)
caller = step.own.sum(), step.valid.sum()  # tokens of a completion that calls: its own, and all


def test_the_first_trajectory_asks_for_entry_8_and_the_policy_expected_all_that_it_wrote():
    assert "".join(tinylm.TEXT[token] for token in tokens) == "<call>8<result>6235196Final: 6<eos>"
    assert tokens[1] == 8 and tokens[9] == 6 == tokens[11]
    assert round(np.exp(-logp[9]), -5) == 400_000 and "four hundred thousand" in figures.SAID["log-prob"]
    assert np.exp(-by_policy).max() < 1.5


def test_the_policys_own_tokens_grow_quiet_and_the_tools_stay_loud():
    before, after = figures.readings()[0], figures.readings()[-1]
    own = before.own > 0
    assert after.push[own].max() < 0.05 < before.push[own].max()
    assert min(before.push[~own].min(), after.push[~own].min()) > 1
    assert -before.logp[~own].mean() > np.log(tinylm.V), "farther than a uniform guess"


def test_a_mask_that_is_off_by_one():
    """In words: no answer, or another entry; fewer right than without any mask."""
    assert (kept("mask shifted by 1, 8 tokens") < kept("no mask, 8 tokens")).all()
    assert kept("answers, mask shifted by 1").max() < 0.3 and kept("entries asked for, mask shifted by 1").min() > 0.85
    assert 0.2 < kept("entries asked for, mask shifted by -1").mean() < 0.7
    assert kept("answers, mask shifted by -1").min() > 0.85 and kept("calls, mask shifted by -1").min() > 0.95


def test_without_the_mask_hardly_an_answer_begins():
    assert kept("answers, no mask, 16 tokens").mean() < 0.5


def test_the_two_runs_of_the_head():
    good, bad = (agentic.right_now(last(reply=16, masked=masked)) for masked in (True, False))
    assert good > 0.95 and bad < 1 / 3
    assert all(agentic.column(last(reply=16, masked=masked), "call_rate")[-20:].min() > 0.9 for masked in (True, False))


def test_the_guess():
    """Of its answers, a tenth, a quarter and a half, the last is nearest in every seed."""
    offered = np.array([0.1, 0.25, 0.5])
    nearest = np.abs(kept("no mask, 2 tokens, share")[:, None] - offered).argmin(axis=1)
    assert agentic.GUESS.answers == ("a tenth", "a quarter", "about half")
    assert (nearest == agentic.GUESS.right).all()


def test_a_longer_reply_does_more_harm():
    for short, long in ((2, 8), (8, 16)):
        assert (kept(f"no mask, {long} tokens") < kept(f"no mask, {short} tokens")).all()
    assert (kept("no mask, 8 tokens") < kept("mask, 8 tokens") - 0.05).all()


@pytest.mark.parametrize("length", [2, 8, 16])
def test_with_the_mask_the_length_of_a_reply_makes_no_difference(length):
    assert spreads.summary(kept(f"mask, {length} tokens")) == pytest.approx((0.99, 0.01), abs=0.005)


def test_with_the_mask_every_seed_learns_to_call():
    assert kept("percent of calls at the end").min() > 99.5


def test_where_reinforce_still_calls_it_is_hardly_ever_right():
    assert kept("REINFORCE without the mask")[~gives_up].max() < 0.05


def test_the_wrong_denominator_stops_the_calls_where_there_is_no_baseline():
    assert ((kept("wrong denominator, 16 tokens, REINFORCE, calls") < agentic.CALLS) == given_up).all()
    assert kept("16 tokens, REINFORCE").min() > 0.95  # its own tokens in the divisor mend it,
    assert kept("wrong denominator, 16 tokens").min() > 0.95  # and so does a baseline


def test_a_0_for_the_log_probs_hides_nothing_where_there_is_no_ratio():
    assert kept("no mask, 0 for the log-probs, REINFORCE").max() < 0.5
