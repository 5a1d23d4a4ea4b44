"""What the trace lab says of a run: six kinds of damage, what damages nothing, and what it offers as a way back."""

from functools import partial

import pytest

from sim.experiments import tracelab
from tests.widgets import catalogue
from tests.widgets.catalogue import fixed
from widgets.trace_lab import widget as trace_lab
from widgets.trace_lab.widget import Knobs

last = partial(catalogue.last, trace_lab)
FAULTS = {
    "a scorer that rewards wrong answers": dict(hack=1.01),
    "first steps that go too far": dict(learning_rate=60.0),
    "settling before the search is done": dict(learning_rate=1.5, epochs=1, entropy_bonus=0.0),
    "groups with nothing to compare": dict(pass_scale=0.01),
    "samples that are too old": dict(lag=16),
    "a reward for length": dict(length_reward=0.15),
}


def broken(**knobs):
    return trace_lab.broken(Knobs(**knobs), last(**knobs))


def readout(label, **knobs):
    (value,) = [r.value for r in trace_lab.readouts(Knobs(**knobs), last(**knobs)) if r.label == label]
    return value


def test_the_knobs_are_the_settings_of_the_run():
    k = Knobs(learning_rate=8.0, hack=0.5, lag=2, division="nothing", eps_high=0.5)
    expected = tracelab.Setting(learning_rate=8.0, hack=0.5, lag=2, advantage="mean", eps_high=0.5)
    assert trace_lab.setting(k) == expected and trace_lab.setting(Knobs()) == tracelab.Setting()


@pytest.mark.parametrize("cause, knobs", FAULTS.items())
def test_each_fault_is_named_by_its_outcome_and_the_suggested_fix_leads_to_the_default(cause, knobs):
    verdict = broken(**knobs)
    assert verdict.cause == cause
    assert fixed("trace_lab", Knobs(**knobs), verdict.fix) == Knobs()


def test_fresh_samples_are_not_called_too_old():
    k = Knobs(mismatch=1.0, learning_rate=1.0)
    r = next(trace_lab.run(k))
    verdict = trace_lab.broken(k, r)
    assert k.lag == 0 and verdict.cause == trace_lab.APART and r.seen.verdict == "logprob_mismatch"
    assert verdict.fix == dict(mismatch=0.0)


def test_a_cause_is_named_only_where_undoing_it_mends_the_outcome():
    k = Knobs(hack=1.5, lag=16, seed=3)
    verdict = trace_lab.broken(k, next(trace_lab.run(k)))
    assert verdict.cause == trace_lab.MIXED and fixed("trace_lab", k, verdict.fix) == Knobs(seed=3)


@pytest.mark.parametrize(
    "knobs", [dict(mismatch=0.3), dict(lag=4), dict(pass_scale=60.0), dict(pass_scale=0.3), dict(hack=0.5)]
)
def test_a_fault_that_damages_no_outcome_is_not_broken(knobs):
    assert broken(**knobs) is None


def test_some_harmless_faults_still_fire_a_diagnostic_test():
    assert readout("Diagnosis by the seven tests", mismatch=0.3) == "first gap"
    assert readout("Diagnosis by the seven tests", lag=4) == "old samples"
    assert "a gap of 0.09 nats" in trace_lab.holds(Knobs(mismatch=0.3), last(mismatch=0.3))


def test_a_hacked_run_looks_healthy_without_a_held_out_score():
    assert readout("Diagnosis by the seven tests", hack=1.01) == "hacked"
    assert readout("Diagnosis without held-out score", hack=1.01) == "healthy"


def test_slow_runs_are_worse_and_not_broken():
    slow = dict(learning_rate=0.5)
    assert broken(**slow) is None and "the best policy has 0.95" in trace_lab.worse(Knobs(**slow), last(**slow))
    assert trace_lab.worse(Knobs(), last()) is None


def test_the_gauge_follows_the_quantity_that_is_broken():
    gauge = trace_lab.watched(Knobs(), last())
    assert gauge.below and gauge.value > gauge.threshold == pytest.approx(0.9 * 0.95)
    paid = dict(length_reward=0.15)
    long = trace_lab.watched(Knobs(**paid), last(**paid))
    assert long.value > long.threshold == 3 and not long.below  # thousand tokens


def test_a_test_that_fires_stands_right_of_the_line_and_in_amber():
    panel = catalogue.panel(trace_lab, "Seven tests, in their order", hack=1.01)
    quiet, fires = (m for m in panel["data"] if m["mode"] == "markers")
    assert [7 - row for row in fires["y"]] == [3, 6] and min(fires["x"]) > 1  # the fourth and the seventh, from 0
    assert len(quiet["y"]) == 5 and max(quiet["x"]) <= 1
    assert (quiet["meta"]["series"], fires["meta"]["series"]) == (1, 2)


def test_the_guess_is_answered_by_its_run():
    k = trace_lab.GUESS.knobs
    r = next(trace_lab.run(k))
    assert trace_lab.GUESS.right == 0 and abs(r.found["held_out"] - 0.95) < 0.01
    assert "0.09 nats" in trace_lab.GUESS.told(k, r)


def test_the_recipes_are_numbered_alike_and_the_ring_is_on_the_two():
    r = last()
    table = catalogue.panel(trace_lab, "Share of factors in which recipes differ", r, recipe="R1-Zero", against="DAPO")
    ring = table["data"][1]
    assert (ring["x"], ring["y"]) == ([9], [2]) and "3 of 8" in table["note"]
    columns = catalogue.panel(trace_lab, "R1-Zero against each recipe", r, recipe="R1-Zero")["data"]
    differ, agree, silent = (bar["y"][8] for bar in columns)
    assert (differ, agree, silent) == (3, 5, 3)
