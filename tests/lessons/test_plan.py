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
DEALT = SIXTEEN | dict(expert_parallel="16")
STAGED = SIXTEEN | dict(expert_parallel="16", zero="1", training_stages="8")
GROUPS = dict(zero="1", training_tensor="8")
TURNS = dict(turns=10)
rows = measured.PUBLISHED


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
    """Predicted, of a step."""
    return planner.seconds(run(**knobs).scenario)


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


def test_each_of_two_changes_gains_nothing_alone_and_both_are_the_free_step_of_the_path():
    assert stage("activations kept") == pytest.approx(stage("as it is"))
    assert stage("split 76 + 52") > stage("as it is") > 1.1 * stage("both")
    assert replace(changes.arranged(EXAMPLE).scenario, tensor_parallel=0) == STAGES["both"]


def test_stages_gather_nothing():
    assert share("state", **STAGED) < 1


@pytest.mark.parametrize("kept", ["hold", "drop", "offload"])
def test_engines_hold_a_step_of_ten_turns_unless_caches_move_to_the_host(kept):
    found = run(turns=10, kept=kept)
    training = found.predicted.log_probs + found.predicted.train
    assert (planner.seconds(found.scenario) > training + 1) == (kept != "offload")


def test_twice_the_gpus_halve_a_stream_and_not_a_step_that_waits():
    def ratio(overlap):
        one, two = (planner.seconds(replace(EXAMPLE, overlap=overlap, gpus=gpus)) for gpus in (128, 256))
        return one / two

    assert ratio("async") == pytest.approx(2, abs=0.01) and ratio("sync") < 1.8


def test_the_terminal_prints_what_the_page_shows(capsys):
    (asked, shown) = re.search(r"^\$ python -m rlpt\.plan (.+?)\n(.*?)^…\n```", TEXT, re.M | re.S).groups()
    plan.main([word.strip('"') for word in re.findall(r'"[^"]*"|\S+', asked)])
    assert capsys.readouterr().out.startswith(shown) and shown.count("\n") > 10
    assert all(overlap in step.LANES for overlap in step.OVERLAPS)
