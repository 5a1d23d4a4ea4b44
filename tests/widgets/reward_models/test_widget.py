from functools import partial

import numpy as np
import pytest

from sim.experiments.many_reward_models import HOWS, ONE, OUT, SQUARES
from tests.widgets import catalogue
from widgets.frame.contract.sentences import false_claims
from widgets.reward_models import widget
from widgets.reward_models.widget import FAR, MIXED, RUNS, SAME, SHAPE, UNCERTAINTY, Knobs

last = partial(catalogue.last, widget)
broken = partial(catalogue.broken, widget)
cause = partial(catalogue.cause, widget)
FEW = dict(pairs=30, features=SQUARES, kl=16.0)


def test_the_default_holds_in_sixteen_draws():
    assert last().mean > 0.65 and len(last().runs) == RUNS


@pytest.mark.slow
@pytest.mark.parametrize("how", [how for how in HOWS if how != OUT])
def test_whatever_is_made_of_models_of_the_same_labelers_breaks(how):
    r = last(how=how, bias=1.0)
    assert cause(how=how, bias=1.0) == SAME and r.below >= 14 and 0.36 < r.mean < 0.42
    assert broken(how=how, bias=1.0).fix == dict(bias=0.0)


def test_length_taken_out_mends_it():
    assert last(how=OUT, bias=1.0).mean == pytest.approx(0.827, abs=1e-3) and last(how=OUT, bias=1.0).below == 0


@pytest.mark.slow
def test_few_pairs_lose_runs_that_caution_or_more_pairs_save():
    assert last(how="mean", **FEW).mean > 0.5 and last(how="mean", **FEW).below >= 3
    assert cause(**(FEW | dict(how="mean", pairs=200))) is None


@pytest.mark.slow
def test_far_out_straight_models_are_to_blame_whatever_the_pairs():
    for knobs in (dict(kl=16.0), dict(kl=16.0, pairs=3000), dict(how=ONE, kl=16.0)):
        break_ = broken(**knobs)
        assert break_.cause == SHAPE and break_.fix == dict(features=SQUARES) and not false_claims(break_.why)
        assert last(**knobs, features=SQUARES).mean > 0.8 and "pairs" not in break_.why
    assert last(kl=16.0, pairs=3000).below >= last(kl=16.0).below


@pytest.mark.slow
def test_where_only_nearer_mends_no_more_than_that_is_said():
    far = FEW | dict(how="mean", bias=1.0)
    break_ = broken(**far)
    assert break_.cause == FAR and not false_claims(break_.why) and "pairs" not in break_.why
    assert break_.fix["kl"] < 16 and cause(**(far | break_.fix)) is None


def test_the_gauge_counts_the_runs_that_are_allowed():
    k, r = Knobs(kl=12.0), last(kl=12.0)
    gauge = widget.watched(k, r)
    assert (gauge.label, gauge.unit) == ("Runs of 16 below the start", "runs")
    assert (gauge.value > gauge.threshold) == bool(widget.broken(k, r))


@pytest.mark.slow
def test_where_one_thing_alone_does_not_mend_no_cause_is_named():
    break_ = broken(bias=2.0, kl=16.0, pairs=20)
    assert break_.cause in (MIXED, SAME, SHAPE, FAR) and not false_claims(break_.why)


@pytest.mark.slow
def test_taking_length_out_costs_where_people_rightly_like_some_of_it():
    verdict = widget.worse(Knobs(how=OUT, features=SQUARES), last(how=OUT, features=SQUARES))
    assert "people like some length" in verdict
    assert last(how=ONE, features=SQUARES).mean > last(how=OUT, features=SQUARES).mean + 0.05


@pytest.mark.slow
def test_a_charge_for_variance_acts_on_uncertainty_alone():
    def wins(**knobs):
        return last(**knobs).wins.tolist()

    assert wins(lam=3.0) == wins() and wins(how=UNCERTAINTY, lam=3.0) != wins(how=UNCERTAINTY)
    assert widget.idle(Knobs(how=ONE)).keys() == {"E", "lam"} and not widget.idle(Knobs())


@pytest.mark.slow
def test_a_block_is_sixteen_other_draws():
    assert not set(last(seed=1).wins) & set(last().wins)


def test_the_picture_has_a_dark_point_for_each_run_below_the_start():
    for knobs in ({}, dict(bias=1.0)):
        k, r = Knobs(**knobs), last(**knobs)
        panel, break_ = widget.figure(k, r)[0], broken(**knobs)
        assert [mark["role"] for mark in catalogue.marks(panel, "oval")].count("followed") == r.below
        assert catalogue.ring(panel) == (widget.seen_at(k, r, break_.cause).words if break_ else "")


def test_the_verdict_on_a_single_model_speaks_of_one():
    assert "The model learned from labelers, who" in broken(how=ONE, bias=1.0).why


def test_wins_of_a_run_are_those_of_drawn_completions():
    k, r = Knobs(bias=1.0), last(bias=1.0)
    assert abs(widget.preferred(k, 0) - r.wins[0]) < 0.015


def test_a_run_that_has_not_ended_is_no_break():
    r = widget.Result(last(bias=1.0).runs[:4])
    assert widget.broken(Knobs(bias=1.0), r) is None and "4 runs" in widget.holds(Knobs(bias=1.0), r)


def test_the_middle_run_is_in_the_middle():
    r = last(bias=1.0)
    assert abs(r.middle.outcome.wins - np.median(r.wins)) < 0.05
