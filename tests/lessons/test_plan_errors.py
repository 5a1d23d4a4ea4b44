"""The page that says how far to trust a plan: what its numbers are computed by."""

import re

import numpy as np

from rlpt import calibrate
from rlpt.planning import calibrated, calibration, measured, validation
from tools.pages import bound

TEXT = bound.page("plan-errors")
MILES = "Miles, 30B-A3B on 8 MI300X"
rows = measured.PUBLISHED
since = [row for row in rows if row.source in validation.SINCE]
short, long = calibration.PUBLISHED
sizes = calibrate.arguments("rlpt calibrate").parse_args([])
layer_of_experts = 257 * 3 * 7168 * 2048  # weights: 256 experts of three matrices and one shared, DeepSeek-V3's config


def times(rows):
    """How many times as long as predicted the steps of these rows took, of those that are computed."""
    names = {row.name for row in rows}
    return np.array([c.ratio for c in validation.steps() if c.row.name in names])


def shorter(rows):
    return (times(rows) < short).sum()


def longer(rows):
    return (times(rows) > long).sum()


def inside(rows):
    return len(times(rows)) - shorter(rows) - longer(rows)


def release(name):
    """{job: its row}."""
    return {row.name.removeprefix(f"{name}, "): row for row in rows if row.source == name}


def unseen():
    """Rows of release 0.6 whose job release 0.5 does not have."""
    return [row for job, row in release("NeMo RL 0.6").items() if job not in release("NeMo RL 0.5")]


def pairs(differ, releases=validation.BEFORE):
    """(those that lie within calibration.FAR, all)."""
    expected = calibration.TWO_POOLS if differ == "placement" else 1.0
    near = [pair.within(calibration.FAR, expected) for pair in validation.pairs(differ, releases)]
    return sum(near), len(near)


def like_pairs():
    """(those that lie within calibration.NEAR, all), of one placement and chip in two releases."""
    before, after = release("NeMo RL 0.4"), release("NeMo RL 0.5")
    factors = [np.exp(abs(np.log(row.step / after[job].step))) for job, row in before.items()]
    return sum(round(factor, 2) <= calibration.NEAR for factor in factors), len(factors)


def pool(*overlaps):
    """Mean and factor of the steps that overlap so."""
    return validation.spread(c for c in validation.steps() if c.row.overlap in overlaps)


def role(name, job):
    """How many times as long as predicted it took in a published job."""
    return next(c.ratio for c in validation.compared() if (c.role, c.row.name) == (name, job))


def verl(name, gpus):
    """The same of a role of verl's 7B on so many H20."""
    return role(name, f"verl, 7B on {gpus} H20")


def ends(ratios):
    return min(ratios), max(ratios)


def passes(what, *models):
    """Those that were timed of these models, with transformers' own norms."""
    return [p for p in calibrated.passes() if p.what == what and p.model.key in models and not p.fused_norms]


def ratios(passes):
    """How many times as long as predicted they took."""
    return [p.ratio for p in passes]


dense = passes("decode", "qwen2.5-1.5b", "llama3.1-8b", "qwen2.5-32b")
large, small = passes("update", "llama3.1-8b"), passes("update", "qwen2.5-1.5b")


def fused(model):
    return sorted(p.ratio for p in calibrated.passes() if p.fused_norms and p.model.key == model)


def test_the_tables_are_computed_row_by_row():
    fences = re.findall(r"^ *```rows\n *(\S+)$", TEXT, re.M)
    tables = ("validation::table", "calibrated::passes_table", "calibrated::layers_table")
    assert fences == [f"rlpt.planning.{table}" for table in tables]
    assert len(validation.table().splitlines()) == len(rows)
