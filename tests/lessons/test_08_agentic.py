"""The numbers of the lesson on agentic training, recomputed."""

import re
from functools import partial

import numpy as np
import pytest

from sim.experiments import tool_masking
from sim.worlds import tinylm
from tests.lessons.prose import Lesson, agrees
from tests.widgets import catalogue
from widgets.agentic import figures
from widgets.agentic import widget as agentic

LESSON = Lesson("08")


last = partial(catalogue.last, agentic)


def row_of(fold, length):
    """The two cells, "0.43 ± 0.02", of the table in a fold that begins so, for a reply of this length."""
    text = LESSON.text.partition(f'"{fold}')[2].partition("???")[0]
    (found,) = re.findall(rf"^ *\| {length} \| ([\d.]+ ± [\d.]+) \| ([\d.]+ ± [\d.]+) \|$", text, re.M)
    return found


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


def test_the_first_trajectory():
    step = next(tool_masking.tool_run(8, steps=1))
    own, tool = (np.flatnonzero((step.valid > 0) & (step.own == author)) for author in (1, 0))
    text = [tinylm.TEXT[t] for t in step.tokens[step.valid > 0]]
    assert "".join(text) == "<call>8<result>6235196Final: 6<eos>"
    spelled = lambda places, digits: ", ".join(
        f"{round(step.logp[i], digits) + 0:.{digits}f}".replace("-", "−") for i in places
    )
    assert (
        f"| {spelled(own[:2], 2)} |" in LESSON.text
        and f"| {spelled(tool, 1)} |" in LESSON.text
        and f"| {spelled(own[2:], 2)} |" in LESSON.text
    )
    LESSON.says("1.20", step.push[tool].min())
    LESSON.says("1.41", step.push[tool].max())
    LESSON.says("0.42", step.push[own].max())


def test_what_the_text_and_the_figures_say_of_the_first_trajectory():
    tokens, own, logp, _ = figures.trajectory()
    assert tokens[1] == 8 and tokens[9] == 6 == tokens[11] and "entry 8" in LESSON.text
    assert round(np.exp(-logp[9]), -5) == 400_000 and "four hundred thousand" in figures.SAID["log-prob"]
    assert np.exp(-logp[own > 0]).max() < 1.5  # the policy expected all that it wrote


def test_the_policys_own_tokens_grow_quiet_and_the_tools_stay_loud():
    first, last_read = figures.readings()[0], figures.readings()[-1]
    own = first.own > 0
    assert last_read.push[own].max() < 0.05 < first.push[own].max()
    assert min(first.push[~own].min(), last_read.push[~own].min()) > 1
    assert -logp_mean(first, ~own) > np.log(tinylm.V), "farther than a uniform guess"


def logp_mean(step, where):
    return step.logp[where].mean()


kept = LESSON.kept


def test_a_mask_that_is_off_by_one():
    """In words: no answer, or another entry; fewer right than without any mask."""
    LESSON.spread("0.03 ± 0.03", kept("mask shifted by 1, 8 tokens"))
    LESSON.spread("0.76 ± 0.10", kept("no mask, 8 tokens"))
    LESSON.spread("0.49 ± 0.09", kept("mask shifted by -1, 8 tokens"))
    fewer = kept("mask shifted by 1, 8 tokens") < kept("no mask, 8 tokens")
    assert fewer.all() and "every seed ends with fewer right answers than without any mask" in LESSON.text
    assert kept("answers, mask shifted by 1").max() < 0.3 and kept("entries asked for, mask shifted by 1").min() > 0.85
    assert 0.2 < kept("entries asked for, mask shifted by -1").mean() < 0.7
    assert kept("answers, mask shifted by -1").min() > 0.85 and kept("calls, mask shifted by -1").min() > 0.95


@pytest.mark.parametrize("length", [2, 8, 16])
def test_the_table_of_shifted_masks(length):
    for shift, words in zip((1, -1), row_of("One token off", length)):
        agrees(words, kept(f"mask shifted by {shift}, {length} tokens"))


def test_the_share_of_one_token():
    LESSON.spread("0.37 ± 0.03", kept("share, mask shifted by 1"))
    LESSON.spread("0.59 ± 0.03", kept("share, mask shifted by -1"))


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
    assert (nearest == agentic.GUESS.right).all() and "nearly half of the gradient" in LESSON.text


def test_how_loud_a_token_is():
    pi = np.array([[0.97, 0.01, 0.01, 0.01]])
    LESSON.says("0.0588", tool_masking.expected_squared_push(pi)[0])
    LESSON.says("1.9212", tool_masking.squared_push(pi, np.array([1]))[0])
    assert round(1.9212 / 0.0588) == 33 and "thirty-three times as much" in LESSON.text
    LESSON.says("3.0", np.log(tinylm.V))


def test_three_ways_to_get_it_wrong():
    logp, mask = np.array([-0.2, -0.1, -5, -7, -0.3, -0.05]), np.array([1, 1, 0, 0, 1, 1])
    LESSON.says("0.24375", -1.5 * (logp * mask).sum() / mask.sum())
    LESSON.says("3.1625", -1.5 * logp.mean())
    LESSON.says("0.1625", -1.5 * (logp * mask).mean())
    LESSON.says("0.00184", np.exp(-6.3))
    response, valid = tool_masking.built_mask(
        [("policy", 12), ("tool", 30), ("policy", 8), ("tool", 50), ("policy", 20)]
    )
    assert (response.sum(), valid.sum()) == (40, 120) and "40 of 120" in LESSON.text


@pytest.mark.parametrize("length", [2, 4, 8, 12, 16])
def test_the_table_of_runs_without_the_mask(length):
    share, words = row_of("Without the mask", length)
    agrees(words, kept(f"no mask, {length} tokens"))
    agrees(share, kept(f"no mask, {length} tokens, share"))


def test_the_policy_starts_far_from_every_reply():
    LESSON.spread("8.3 ± 0.2", kept("nats at first, 2 tokens"))
    LESSON.spread("12.5 ± 0.2", kept("nats at first, 16 tokens"))


def test_a_longer_reply_does_more_harm():
    for short, long in ((2, 8), (8, 16)):
        assert (kept(f"no mask, {long} tokens") < kept(f"no mask, {short} tokens")).all()
    bare, masked = kept("no mask, 2 tokens"), kept("mask, 2 tokens")
    LESSON.counts("in {} of twenty seeds within 0.02 of the run with the mask", bare > masked - 0.02)
    assert (kept("no mask, 8 tokens") < kept("mask, 8 tokens") - 0.05).all()
    assert "it falls short in every seed" in LESSON.text


def test_with_the_mask():
    for length in (2, 8, 16):
        LESSON.spread("0.99 ± 0.01", kept(f"mask, {length} tokens"))
    LESSON.spread("69 ± 6", kept("percent of calls at first"))
    assert kept("percent of calls at the end").min() > 99.5 and "% to 100 %" in LESSON.text
    LESSON.spread("10.9 ± 0.2", kept("nats a token of the tool, least"))
    LESSON.spread("14.4 ± 0.6", kept("nats a token of the tool, at the end"))


def test_reinforce_imitates():
    right, calls = kept("REINFORCE without the mask"), kept("REINFORCE, percent of calls at the end")
    LESSON.spread("12.2 ± 0.2", kept("REINFORCE, nats at first"))
    LESSON.spread("2.6 ± 0.1", kept("REINFORCE, least nats of thirty updates"))
    gives_up = calls <= 2
    assert LESSON.text.count(f"In {gives_up.sum()} of twenty seeds") == 2 and "at most 2 % of its" in LESSON.text
    LESSON.says("0.09", right[gives_up].mean())
    low, high = calls[~gives_up].min(), calls[~gives_up].max()
    assert f"it calls in {low:.0f} to {high:.0f} %" in LESSON.text and right[~gives_up].max() < 0.05


def test_the_near_misses():
    LESSON.says("0.443", last(denominator="all tokens")[0].dilution)
    LESSON.spread("0.99 ± 0.01", kept("wrong denominator"))


def test_the_wrong_denominator_without_a_baseline():
    step = last(seed=4, **DILUTED)[0]
    assert f"{step.own.sum():.0f} of {step.valid.sum():.0f} tokens" in LESSON.text
    LESSON.says("0.24", step.own.sum() / step.valid.sum())
    broken = kept("wrong denominator, 16 tokens, REINFORCE") < agentic.HALF
    LESSON.counts("stops calling in {} of twenty seeds", broken)
    assert ((kept("wrong denominator, 16 tokens, REINFORCE, calls") < agentic.CALLS) == broken).all()
    assert kept("16 tokens, REINFORCE").min() > 0.95  # its own tokens in the divisor mend it,
    assert kept("wrong denominator, 16 tokens").min() > 0.95  # and so does a baseline
    LESSON.spread("0.99 ± 0.01", kept("no mask, 0 for the log-probs"))
    LESSON.spread("0.47 ± 0.01", kept("no mask, 0 for the log-probs, mean ratio"))
    assert kept("no mask, 0 for the log-probs, REINFORCE").max() < 0.5
