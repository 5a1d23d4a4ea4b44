"""The numbers of the page that compares any two algorithms, recomputed."""

import re
from functools import partial

import numpy as np
import pytest

from sim.algorithms import grpo
from sim.experiments.runs import modsum_run
from sim.worlds import modsum
from tests.lessons.prose import LESSONS, Lesson
from tests.widgets import catalogue
from tools.pages import lineage
from widgets import compare


class Page(Lesson):
    """A page that has no number."""

    def __init__(self, name):
        self.path = LESSONS / name
        self.text = self.path.read_text(encoding="utf-8")


PAGE = Page("compare.md")


last = partial(catalogue.last, compare)


def ends(pair):
    return [one.pass_rate[:, -1].mean() for one in pair]


@pytest.mark.parametrize(
    "knobs, said",
    [
        (dict(), ("0.966", "0.405")),
        (dict(rate_b=12.0), ("0.966", "0.939")),
        (dict(a="REINFORCE", b="RLOO"), ("0.742", "0.745")),
        (dict(a="GRPO, 2024", b="TRL 1.16.0"), ("0.966", "0.540")),
        (dict(a="GRPO, 2024", b="TRL 1.16.0", passes="4"), ("0.966", "0.968")),
    ],
)
def test_where_the_pairs_end(knobs, said):
    for number, value in zip(said, ends(last(**knobs))):
        PAGE.says(number, value)


def test_a_step_of_dr_grpo_is_about_a_sixth_as_long_as_one_of_grpo():
    lengths, deviations = [], []
    for event in modsum_run(grpo).iterate(10):
        if event.stage == 3:
            batch = event.summary["batch"]
            deviation = batch.accuracy.reshape(-1, batch.K).std(axis=1, ddof=1)
            lengths.append(batch.response_mask.sum(axis=1).mean())
            deviations.extend(deviation[deviation > 0])
    assert "by about 4 tokens and by a deviation of about 1/2" in PAGE.text and "a sixth as long" in PAGE.text
    assert np.mean(lengths) == pytest.approx(4, abs=0.5) and np.mean(deviations) == pytest.approx(0.5, abs=0.1)
    assert modsum.T == 12


def test_sixteen_passes_with_a_clip_and_without_a_ratio():
    with_clip, without = last(a="PPO", b="RLOO", rate_a=8.0, rate_b=8.0, passes="16")
    PAGE.says("0.075", with_clip.kl_step.max())
    PAGE.says("6.39", without.kl_step.max())
    PAGE.says("0.999", without.pass_rate[:, -1].mean())
    PAGE.says("0.19", without.entropy[:, -1].mean())


def test_every_arrow_of_the_drawing_is_a_patch_on_the_page():
    there = re.findall(r"^```patch\nsim/algorithms/(\w+)\.py -> sim/algorithms/(\w+)\.py$", PAGE.text, re.M)
    assert {(lineage.NODES[old][0], lineage.NODES[new][0]) for old, new in lineage.EDGES} <= set(there)
