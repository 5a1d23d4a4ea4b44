"""The numbers of the lesson on agentic training, recomputed."""

import re
from functools import partial

import numpy as np
import pytest

from sim.experiments import tool_masking
from sim.worlds import tinylm
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets import agentic

LESSON = Lesson("08")


last = partial(catalogue.last, agentic)


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


@pytest.mark.parametrize("length", [2, 8, 12, 16])
def test_the_table_of_runs_without_the_mask(length):
    ((share, low, high),) = re.findall(rf"^\| {length} \| ([\d.]+) \| ([\d.]+) to ([\d.]+) \|$", LESSON.text, re.M)
    runs = [dict(masked=False, reply=length, seed=seed) for seed in range(3)]
    ends = [right(**run) for run in runs]
    assert abs(float(share) - np.mean([agentic.early_share(last(**run)) for run in runs])) <= 5.001e-4
    assert abs(float(low) - min(ends)) <= 5.001e-4 and abs(float(high) - max(ends)) <= 5.001e-4


def test_with_the_mask():
    LESSON.says("0.994", right())
    LESSON.says("1.00", right(reply=16))
    LESSON.says("69", 100 * last()[0].call_rate)
    assert last()[-1].call_rate == 1


def test_reinforce_imitates():
    steps = last(masked=False, algorithm="REINFORCE")
    LESSON.says("12.5", steps[0].tool_nll)
    LESSON.says("2.7", min(step.tool_nll for step in steps[:30]))
    LESSON.says("0.131", right(masked=False, algorithm="REINFORCE"))
    assert round(100 * steps[-1].call_rate) == 2 and "in 2 % of its completions" in LESSON.text


def test_the_near_misses():
    LESSON.says("0.443", last(denominator="all tokens")[0].dilution)
    LESSON.says("0.988", right(denominator="all tokens"))
    LESSON.says("0.988", right(masked=False, fill="0"))
    LESSON.says("0.484", last(masked=False, fill="0")[-1].mean_ratio)
