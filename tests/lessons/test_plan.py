"""The page that plans a run: what its numbers are computed by, and what it says without a number."""

import re
from dataclasses import replace
from functools import cache

import pytest

from rlpt import plan
from rlpt.planning import calibration, changes, measured, planner
from sim.cluster import step
from tools.pages import bound
from widgets.plan import widget
from widgets.plan.figures import EXAMPLE, STAGES

TEXT = bound.page("plan")
V3 = dict(model="deepseek-v3", accelerator="h200", gpus=256, weights="fp8")
SIXTEEN = V3 | dict(tensor_parallel="1", data_parallel=16)
DEALT = SIXTEEN | dict(expert_parallel="16", training_parallel=4)
STAGED = SIXTEEN | dict(expert_parallel="16", zero="1", training_stages="8")
GROUPS = dict(zero="1", training_tensor="8")
TURNS = dict(turns=10)
rows = measured.PUBLISHED
_, long = calibration.PUBLISHED


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


def update(**knobs):
    return planner.trained(run(**knobs).scenario)


def share(part, **knobs):
    """% of an update."""
    return 100 * getattr(update(**knobs), part) / update(**knobs).seconds


def ledger(**knobs):
    """Bytes that training keeps of each weight."""
    return run(**knobs).scenario.parts[1].ledger


def steady(**knobs):
    """An engine's sequences of several turns."""
    return planner.at_once(run(**knobs).scenario, run(**knobs).live)


def test_the_path_begins_with_what_costs_nothing():
    assert stage("engines of 4") == pytest.approx(stage("as it is"))
    assert changes.arranged(EXAMPLE).scenario == STAGES["both"]
    first, _, third = changes.best_changes(EXAMPLE)
    assert first.scenario == STAGES["both"] and third.scenario == STAGES["and split 72 + 56"]


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
    (asked, shown) = re.search(r"^\$ python -m rlpt\.plan (.+?)\n(.*?)^…\n```", TEXT, re.M | re.S).groups()
    plan.main([word.strip('"') for word in re.findall(r'"[^"]*"|\S+', asked)])
    assert capsys.readouterr().out.startswith(shown) and shown.count("\n") > 10
    assert all(overlap in step.LANES for overlap in step.OVERLAPS)
