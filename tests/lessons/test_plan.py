"""The page that plans a run: what its numbers are computed by, and what it says without a number."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from rlpt import calibrate, plan
from rlpt.planning import calibrated, calibration, changes, measured, planner, validation
from sim.cluster import layouts, memory, step
from tools.pages import bound
from widgets.plan import figures, widget
from widgets.plan.figures import EXAMPLE, STAGES

TEXT = bound.page("plan")
V3 = dict(model="deepseek-v3", accelerator="h200", gpus=256, weights="fp8")
SIXTEEN = V3 | dict(tensor_parallel="1", data_parallel=16)
DEALT = SIXTEEN | dict(expert_parallel="16", training_parallel=4)
STAGED = SIXTEEN | dict(expert_parallel="16", zero="1", training_stages="8")
CUT = V3 | dict(tensor_parallel="8", cut_copies=True)
GROUPS = dict(zero="1", training_tensor="8")
BOTH = dict(zero="1", training_tensor="4", training_stages="2", recompute="selective")
LLAMA = dict(model="llama3.1-405b", gpus=1024)
MILES = "Miles, 30B-A3B on 8 MI300X"
KIMI = dict(model="kimi-k2", accelerator="h200", gpus=512, weights="fp8")
LONG = dict(model="qwen3-30b-a3b", gpus=32, prompts=128, samples=8, prompt=8192)
LONG |= dict.fromkeys(("p50", "p90", "p99", "longest"), 57344)
TURNS = dict(turns=10)
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


def stage(name):
    """Seconds of a step after these changes."""
    return planner.seconds(STAGES[name])


@cache
def run(**knobs):
    """The plan of a setting of the simulator, which fits."""
    scenario, refused = widget.scenario(widget.Knobs(**knobs))
    assert not refused
    return planner.plan(scenario)


def seconds(**knobs):
    """Of a step, at the short end."""
    return run(**knobs).step_range[0]


def weights(**knobs):
    """GB of them on each GPU of an engine."""
    return memory.weight_bytes_per_gpu(run(**knobs).scenario.model, run(**knobs).engine) / 1e9


def decode(**knobs):
    """A pass of an engine over what it has in flight."""
    s, live = run(**knobs).scenario, run(**knobs).live
    tokens = live, live * s.law.context(s.prompt), 0, 0
    return layouts.engine_pass(s.model, s.accelerator, layouts.layout_of(s.engine), *tokens, s.weight_bytes, s.kv_bytes)


def tokens(**knobs):
    """A second and GPU of an engine."""
    return run(**knobs).live / decode(**knobs).seconds / run(**knobs).engine.size


def update(**knobs):
    return planner.trained(run(**knobs).scenario)


def share(part, **knobs):
    """% of an update."""
    return 100 * getattr(update(**knobs), part) / update(**knobs).seconds


def ledger(**knobs):
    """Bytes that training keeps of each weight."""
    return run(**knobs).scenario.parts[1].ledger


def session(**knobs):
    return run(**knobs).scenario.session


def steady(**knobs):
    """An engine's sequences of several turns."""
    return planner.at_once(run(**knobs).scenario, run(**knobs).live)


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


def test_the_path_begins_with_what_costs_nothing():
    assert stage("engines of 4") == pytest.approx(stage("as it is"))
    assert changes.arranged(EXAMPLE).scenario == STAGES["both"]
    first, _, third = changes.best_changes(EXAMPLE)
    assert first.scenario == STAGES["both"] and third.scenario == STAGES["and split 72 + 56"]


def test_one_stage_in_groups_of_four_has_no_room_for_its_activations():
    whole = widget.Knobs(**BOTH | dict(training_stages="1"))
    assert planner.misfits(widget.scenario(whole)[0]) and run(**BOTH)


def test_stages_gather_nothing():
    assert share("state", **STAGED) < 1


@pytest.mark.parametrize("kept", ["hold", "drop", "offload"])
def test_engines_hold_a_step_of_ten_turns_unless_caches_move_to_the_host(kept):
    found = run(turns=10, kept=kept)
    training = found.predicted.log_probs + found.predicted.train
    assert (found.step_range[0] > training + 1) == (kept != "offload")


def test_twice_the_gpus_halve_a_stream_and_not_a_step_that_waits():
    def ratio(overlap):
        one, two = (planner.plan(replace(EXAMPLE, overlap=overlap, gpus=gpus)).step_range[0] for gpus in (128, 256))
        return one / two

    assert ratio("async") == pytest.approx(2, abs=0.01) and ratio("sync") < 1.8


def test_the_terminal_prints_what_the_page_shows(capsys):
    (asked, shown) = re.search(r"^\$ python -m rlpt\.plan (.+?)\n(.*?)^```", TEXT, re.M | re.S).groups()
    plan.main([word.strip('"') for word in re.findall(r'"[^"]*"|\S+', asked)])
    assert capsys.readouterr().out == shown
    assert all(overlap in step.LANES for overlap in step.OVERLAPS)
