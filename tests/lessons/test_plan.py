"""The numbers of the page that plans a run, recomputed."""

import re
from dataclasses import replace

import pytest

from sim.cluster import measured, plan, planner, step, validation
from tests.lessons.prose import LESSONS, Lesson
from widgets.plan.figures import EXAMPLE, STAGES


class Page(Lesson):
    """A page that has no number."""

    def __init__(self, name):
        self.path = LESSONS / name
        self.text = self.path.read_text(encoding="utf-8")


PAGE = Page("plan.md")


def compared(job, role):
    return next(c for c in validation.compared() if c.row.name == job and c.role == role)


def test_the_table_is_what_the_code_computes_row_by_row():
    rows = re.findall(r"^\| (.+ on .+?) \| ([\d,.]+) \| ([\d,.]+) \| ([\d.]+) \|$", PAGE.text, re.M)
    steps = [c for c in validation.compared() if c.role == "step"]
    assert rows == [(c.row.name, f"{c.published:,.1f}", f"{c.predicted:,.0f}", f"{c.ratio:.2f}") for c in steps]
    assert len(rows) == len(measured.PUBLISHED) == 13 and "thirteen jobs" in PAGE.text


def test_the_example():
    found = planner.plan(EXAMPLE)
    PAGE.says("353", found.step_range[0])
    PAGE.says("635", found.step_range[1])
    PAGE.says("6,270", found.gpu_hours[0])
    PAGE.says("11,287", found.gpu_hours[1])
    PAGE.says("1.8", planner.SLOWER["dense"])
    PAGE.says("4.8", planner.SLOWER["experts"])


def test_the_path():
    seconds = {name: planner.step_seconds(s, planner.roles(s)) for name, s in STAGES.items()}
    assert seconds["engines of 4"] == pytest.approx(seconds["as it is"])
    PAGE.says("301", seconds["log-probs reused"])
    PAGE.says("265", seconds["both"])
    PAGE.says("249", seconds["both, split 60 + 68"])
    PAGE.says("88", seconds["as it is"] - seconds["both"])


def test_twice_the_gpus_halve_a_stream_and_not_a_step_that_waits():
    def ratio(overlap):
        one, two = (planner.plan(replace(EXAMPLE, overlap=overlap, gpus=gpus)).step_range[0] for gpus in (128, 256))
        return one / two

    assert ratio("async") == pytest.approx(2, abs=0.01) and ratio("sync") < 1.8


def test_roles_miss_by_more_than_steps():
    PAGE.says("2.2", compared("verl, 7B on 32 H20", "generate").ratio)
    others = [compared(f"verl, 7B on {gpus} H20", "generate").ratio for gpus in (64, 128)]
    PAGE.says("1.1", min(others))
    PAGE.says("1.4", max(others))
    miles = compared("Miles, 30B-A3B on 8 MI300X", "update")
    PAGE.says("13", miles.ratio)
    PAGE.says("3", 40 / miles.ratio)


def test_the_two_rows_below_1_are_refused_by_the_plan():
    for c in validation.compared():
        if c.role == "step":
            across = c.row.tensor_parallel > plan.ACCELERATORS[c.row.accelerator].scaleup_domain
            assert (c.ratio < 1) == across


def test_the_terminal_prints_what_the_page_shows(capsys):
    (asked, shown) = re.search(r"^\$ python -m sim\.cluster\.plan (.+?)\n(.*?)^```", PAGE.text, re.M | re.S).groups()
    plan.main([word.strip('"') for word in re.findall(r'"[^"]*"|\S+', asked)])
    assert capsys.readouterr().out == shown
    assert all(overlap in step.LANES for overlap in step.OVERLAPS)
