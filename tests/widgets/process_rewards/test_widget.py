from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from sim.estimators.step_labels import AGREE, ANY, MORE, PEOPLE, SHARE
from sim.experiments.step_rewards import MIN, OUTCOME, PROGRESS, SUM
from tests.widgets import catalogue
from widgets.frame.contract.sentences import false_claims
from widgets.process_rewards import widget
from widgets.process_rewards.widget import DROPPED, FEW_ASKED, HALF, PADDED, QUITS, RESCUED, Knobs

last = partial(catalogue.last, widget)
broken = partial(catalogue.broken, widget)
cause = partial(catalogue.cause, widget)


def solved(**knobs):
    return last(**knobs).solved[-1]


def steps(**knobs):
    return last(**knobs).steps[-1]


def f1(**knobs):
    return widget.in_force(Knobs(**knobs), last(**knobs)).F1


def test_the_default_solves_and_finds_first_errors():
    assert solved() > 0.98 and steps() < 5
    assert f1() == pytest.approx(0.82, abs=0.04)  # eight seeds, elsewhere


def test_scores_added_up_pay_for_steps_until_no_chain_ends():
    assert broken(form=SUM).fix == dict(form=PROGRESS)
    assert solved(form=SUM) < 0.001 and steps(form=SUM) > 11.9
    assert last(form=SUM).reward > 2 * last(form=SUM).start


def test_where_filler_is_scored_0_finished_work_is_done_again():
    assert cause(form=SUM, filler=0.0) == PADDED
    rows = last(form=SUM, filler=0.0).batch
    assert (rows.actions == 0).sum() > (rows.actions == 1).sum()


def test_too_much_off_each_step_and_the_policy_quits():
    assert broken(form=SUM, less=1.2).fix == dict(form=PROGRESS) and steps(form=SUM, less=1.2) < 0.1


def test_the_least_score_pays_an_empty_chain_and_sgd_finds_that_first():
    knobs = dict(form=MIN, filler=0.0, optimizer="SGD")
    assert cause(**knobs) == QUITS and last(**knobs).reward == pytest.approx(1, abs=0.05)
    assert cause(form=MIN, filler=0.0) is None


def test_0_95_off_each_step_works_with_adamw_and_not_with_sgd():
    assert cause(form=SUM, less=0.95) is None and solved(form=SUM, less=0.95) > 0.98
    assert cause(form=SUM, less=0.95, optimizer="SGD") == QUITS


@pytest.mark.parametrize("optimizer", ["AdamW", "SGD"])
@pytest.mark.parametrize("form", [OUTCOME, MIN])
def test_the_outcome_and_the_least_score_hold(form, optimizer):
    assert cause(form=form, optimizer=optimizer) is None and solved(form=form, optimizer=optimizer) > 0.95


def test_any_of_sixteen_has_no_threshold_that_helps():
    assert broken(K=16).fix == dict(rule=SHARE)
    assert f1(K=16) == pytest.approx(0.34, abs=0.05)


@pytest.mark.parametrize(
    "knobs, named, fix",
    [
        (dict(K=4, rescue=0.2), RESCUED, dict(rule=SHARE)),
        (dict(K=16, rescue=0.2, rule=MORE), FEW_ASKED, dict(part=0.5)),
        (dict(K=16, rescue=0.2, rule=AGREE), DROPPED, dict(rule=PEOPLE)),
    ],
)
def test_each_rule_is_blamed_for_what_is_its_own(knobs, named, fix):
    """The scorer of another rule on the same endings finds more; no training of the policy is needed to see that."""
    k, mended = Knobs(**knobs), replace(Knobs(**knobs), **fix)
    r = ended(k)
    break_ = widget.broken(k, r)
    assert break_.cause == named and break_.fix == fix
    assert not false_claims(break_.why) and widget.broken(mended, ended(mended)) is None
    assert widget.seen_at(k, r, named).panel == widget.FOUND


def ended(k):
    """The end of a run with these labels, and chains as at the default: labels and pay are not joined."""
    return replace(last(), scorer=widget.scorer(k))


def test_without_rescue_it_is_not_broken():
    assert cause(K=16, rescue=0.0) is None and f1(K=16, rescue=0.0) > 0.78


def test_rules_that_count_mend_it_and_a_person_does():
    for rule in (MORE, SHARE, PEOPLE):
        assert cause(K=16, rule=rule) is None and f1(K=16, rule=rule) > 0.75
    assert 0.5 < f1(K=16, rule=AGREE) < 0.7


def test_a_share_read_at_a_half_is_worse_and_its_labels_are_not():
    k = Knobs(K=16, rule=SHARE, threshold=HALF)
    r = last(K=16, rule=SHARE, threshold=HALF)
    assert widget.broken(k, r) is None and "read at 0.5" in widget.worse(k, r) and widget.at_best(r) > 0.75


def test_two_faults_at_once_are_both_undone():
    break_ = broken(form=SUM, K=16)
    assert break_.cause == PADDED and break_.fix == dict(form=PROGRESS, rule=SHARE)


def test_the_part_asked_for_is_part_of_the_label():
    high = dict(rule=MORE, K=16, rescue=0.2)
    assert f1(**high, part=0.5) > f1(**high) + 0.2


def test_rates_of_the_picture_by_rule():
    sound, flawed = (partial(widget.rates, p=p, flawed=bad) for p, bad in ((0.6, False), (0.2, True)))
    assert sound(Knobs(rule=SHARE))[3] == 0.6 and flawed(Knobs(rule=PEOPLE))[3] == 0.05
    assert flawed(Knobs(rule=ANY))[1] == pytest.approx(1 - 0.8**2)
    both = flawed(Knobs(rule=AGREE))[1]  # Bayes: called good by both, of those on which both agree
    assert both == pytest.approx(0.36 * 0.05 / (0.36 * 0.05 + 0.64 * 0.95))
    assert np.all(sound(Knobs(rule=MORE)) <= sound(Knobs(rule=ANY)))


def test_another_seed_draws_another_run():
    assert last(seed=1).rewards[5] != last().rewards[5] and f1(seed=1) != f1()


def test_what_a_tried_step_costs_is_that_of_the_step_scored_least():
    for filler, less, cost in (
        (0.95, 0.95, "Trying a piece of work costs 0.15"),
        (0.0, 0.8, "Trying a filler costs 0.80"),
    ):
        assert cost in broken(form=SUM, filler=filler, less=less, optimizer="SGD").why


def test_the_gauge_is_of_what_the_sentence_is_about():
    def label(**knobs):
        return widget.watched(Knobs(**knobs), last(**knobs)).label

    for knobs in (dict(K=16), dict(K=8), dict(K=16, rule=SHARE, threshold=HALF)):
        assert label(**knobs).startswith("F1")
    assert all(label(**knobs) == "Share of chains solved" for knobs in (dict(), dict(form=SUM), dict(form=SUM, K=16)))


def test_every_break_is_seen_in_the_first_view():
    for knobs in (dict(K=16), dict(form=SUM), dict(form=SUM, less=1.2)):
        k, r = Knobs(**knobs), last(**knobs)
        panels = widget.figure(k, r)
        at = widget.seen_at(k, r, widget.broken(k, r).cause)
        assert next(p["tab"] for p in panels if p["title"] == at.panel) == panels[0]["tab"]


def test_labels_and_pay_are_not_joined():
    assert last(K=16).solved == last().solved and last(form=SUM).scorer.best == last().scorer.best
