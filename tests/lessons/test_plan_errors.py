"""The page that says how far to trust a plan: what its numbers are computed by."""

import re

import numpy as np

from rlpt import calibrate
from rlpt.planning import calibrated, calibration, far_off, measured, peaks, validation
from sim.cluster import fabric, memory, throughput
from sim.cluster.models import MODELS
from tools.pages import bound

TEXT = bound.page("plan-errors")
MILES, V3_ON_H20 = "Miles, 30B-A3B on 8 MI300X", "verl, DeepSeek-V3 on 96 H20, Adam on the host"
MEGATRON, FSDP2 = (
    [f"NeMo RL 0.3, Llama-3.1-{size}, {program} on {gpus} H100" for size, gpus in (("8B", 8), ("70B", 64))]
    for program in ("Megatron", "FSDP2")
)
rows = measured.PUBLISHED
since = [row for row in rows if row.source in validation.SINCE]
width = calibration.WIDTH
unused = {role: validation.unfitted(role) for role in validation.ROLES}
others = [c for c in unused["step"] if c.row.source not in validation.SINCE]
h20_updates = validation.spread(
    c for c in validation.compared() if c.role == "update" and c.row.source == "verl practice"
)
since_steps = [c for c in validation.steps() if c.row.source in validation.SINCE]
sizes = calibrate.arguments("rlpt calibrate").parse_args([])
layer_of_experts = 257 * 3 * 7168 * 2048  # weights: 256 experts of three matrices and one shared, DeepSeek-V3's config


def times(rows):
    """How many times as long as predicted the steps of these rows took, of those that are computed."""
    names = {row.name for row in rows}
    return np.array([c.ratio for c in validation.steps() if c.row.name in names])


def inside(rows):
    return int(((times(rows) >= 1 / width) & (times(rows) <= width)).sum())


def release(name):
    """{job: its row}."""
    return {row.name.removeprefix(f"{name}, "): row for row in rows if row.source == name}


def unseen():
    """Rows of release 0.6 whose job release 0.5 does not have."""
    return [row for job, row in release("NeMo RL 0.6").items() if job not in release("NeMo RL 0.5")]


def pairs(differ, releases=validation.BEFORE):
    """(those that lie within calibration.FAR, all)."""
    near = [pair.within(calibration.FAR) for pair in validation.pairs(differ, releases)]
    return sum(near), len(near)


def like_pairs():
    """(those that lie within calibration.NEAR, all), of one placement and chip in two releases."""
    before, after = release("NeMo RL 0.4"), release("NeMo RL 0.5")
    factors = [np.exp(abs(np.log(row.step / after[job].step))) for job, row in before.items()]
    return sum(round(factor, 2) <= calibration.NEAR for factor in factors), len(factors)


def error(role):
    """(geometric mean of published over predicted seconds, its standard deviation as a factor), of unused times."""
    return validation.spread(unused[role])


def role(name, job):
    """How many times as long as predicted it took in a published job."""
    return next(c.ratio for c in validation.compared() if (c.role, c.row.name) == (name, job))


def transfer(key, way, weight_bytes=2, engine=8):
    return fabric.transfer_seconds(MODELS[key], fabric.TRANSFERS[way], weight_bytes, engine)


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


def test_the_largest_misses_are_those_that_are_named():
    off = sorted(validation.steps(), key=lambda c: c.ratio)
    assert off[0].row.name == "verl, 30B-A3B on 128 H20, stream" and 0.48 < off[0].ratio < 0.55
    assert off[-1].row.name == V3_ON_H20 and role("generate", V3_ON_H20) > 3


def test_the_tables_are_computed_row_by_row():
    fences = re.findall(r"^ *```rows\n *(\S+)$", TEXT, re.M)
    tables = ("validation::table", "peaks::table", "calibrated::passes_table", "calibrated::layers_table")
    assert fences == [f"rlpt.planning.{table}" for table in tables]
    assert len(validation.table().splitlines()) == len(validation.compared()) + 2  # two are not computed
