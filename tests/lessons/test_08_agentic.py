"""The numbers of the lesson on agentic training, recomputed."""

import re
from functools import partial

import numpy as np
import pytest

from sim.experiments import tool_masking
from sim.worlds import tinylm
from tests import skips
from tests.lessons.prose import TWENTY, Lesson, agrees
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


@LESSON.when_changed
def test_a_mask_that_is_off_by_one():
    """In words, over five seeds: no answer, or another entry; fewer right than without any mask."""
    for seed in skips.some(range(5)):
        right_on, left_on, none = (
            last(**knobs, seed=seed) for knobs in (dict(shift=1), dict(shift=-1), dict(masked=False))
        )
        assert agentic.right_now(right_on) < agentic.right_now(none)
        ended = lambda r, name: agentic.column(r[-5:], name).mean()
        assert ended(right_on, "answered") < 0.25 and ended(right_on, "asked") > 0.9
        assert 0.25 < ended(left_on, "asked") < 0.7 and ended(left_on, "answered") > 0.9
        assert ended(left_on, "call_rate") > 0.97
        assert agentic.early_share(left_on) > 0.5


@LESSON.when_changed
@pytest.mark.parametrize("length", [2, 8, 16])
def test_the_table_of_shifted_masks(length):
    said = row_of("One token off", length)
    for shift, words in zip((1, -1), said):
        agrees(words, [right(reply=length, shift=shift, seed=seed) for seed in TWENTY[:3]])


@LESSON.when_changed
def test_the_share_of_one_token():
    for shift, words in ((1, "0.37 ± 0.03"), (-1, "0.59 ± 0.04")):
        LESSON.spread(words, [agentic.early_share(last(shift=shift, seed=seed)) for seed in TWENTY[:3]])


@LESSON.when_changed
def test_without_the_mask_hardly_an_answer_begins():
    for seed in skips.some(range(5)):
        steps = last(masked=False, reply=16, seed=seed)
        assert agentic.column(steps[-5:], "answered").mean() < 0.65 < agentic.column(steps[:5], "answered").mean()


def test_the_two_runs_of_the_head():
    good, bad = (agentic.right_now(last(reply=16, masked=masked)) for masked in (True, False))
    assert good > 0.95 and bad < 1 / 3
    assert all(agentic.column(last(reply=16, masked=masked), "call_rate")[-20:].min() > 0.9 for masked in (True, False))


@LESSON.when_changed
def test_the_guess():
    shares = [agentic.early_share(last(masked=False, reply=2, seed=seed)) for seed in skips.some(range(5))]
    assert 0.4 < min(shares) < max(shares) < 0.55 and agentic.GUESS.right == 2


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


def within(values, low, high, slack=0.03):
    """In the range that the text gives over six seeds; other processors round otherwise."""
    assert all(float(low) - slack <= value <= float(high) + slack for value in values), (low, high, values)


@LESSON.when_changed
@pytest.mark.parametrize("length", [2, 4, 8, 12, 16])
def test_the_table_of_runs_without_the_mask(length):
    share, words = row_of("Without the mask", length)
    runs = [dict(masked=False, reply=length, seed=seed) for seed in TWENTY[:2]]
    agrees(words, [right(**run) for run in runs])
    agrees(share, [agentic.early_share(last(**run)) for run in runs])


def test_the_policy_starts_far_from_every_reply():
    within([last(masked=False, reply=length)[0].tool_nll for length in (2, 16)], 8, 13, slack=0.2)
    assert "8 to 13 nats a token" in LESSON.text


@LESSON.when_changed
def test_a_longer_reply_does_more_harm():
    for seed in skips.some(range(5)):
        short, long = (right(masked=False, reply=length, seed=seed) for length in (2, 16))
        assert long < 0.5 < 0.95 < short


@LESSON.when_changed
def test_with_the_mask():
    assert "between 61 and 77 % to 100 %" in LESSON.text
    for knobs in (dict(seed=0), dict(seed=1), dict(reply=2), dict(reply=16)):
        LESSON.spread("0.99 ± 0.01", [right(**knobs)])
    for seed in range(2):
        within([last(seed=seed)[0].call_rate], 0.61, 0.77)
        assert last(seed=seed)[-1].call_rate > 0.98
        within([min(step.tool_nll for step in last(seed=seed))], 10, 11, slack=0.3)
        within([np.mean([step.tool_nll for step in last(seed=seed)[-5:]])], 14, 16, slack=0.5)
    assert "down to between 10 and 11, and up again to between 14 and 16" in LESSON.text


@LESSON.when_changed
def test_reinforce_imitates():
    guesses, seeds = 0, TWENTY[:6]
    for seed in seeds:
        knobs = dict(masked=False, algorithm="REINFORCE", seed=seed)
        steps = last(**knobs)
        assert round(steps[0].tool_nll) == 12 and "from 12 nats" in LESSON.text
        LESSON.spread("2.6 ± 0.1", [min(step.tool_nll for step in steps[:30])])
        assert right(**knobs) < 0.2 and steps[-1].call_rate < 0.5
        guesses += steps[-1].call_rate < 0.05 and 0.05 < right(**knobs) < 0.18
    assert guesses > len(seeds) / 3 and LESSON.text.count("In 14 of twenty seeds") == 2


@LESSON.when_changed
def test_the_near_misses():
    LESSON.says("0.443", last(denominator="all tokens")[0].dilution)
    for seed in range(2):
        LESSON.spread("0.99 ± 0.01", [right(denominator="all tokens", seed=seed)])
        LESSON.spread("0.99 ± 0.01", [right(masked=False, fill="0", seed=seed)])
        within([last(masked=False, fill="0", seed=seed)[-1].mean_ratio], 0.46, 0.48)
    assert right(masked=False, fill="0", algorithm="REINFORCE") < 0.5
    assert "0.46 to 0.48" in LESSON.text
