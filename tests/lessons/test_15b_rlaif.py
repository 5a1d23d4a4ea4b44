"""The lesson on judges and their lists: what its numbers are computed by, and what it says without a number."""

from functools import cache

import numpy as np
import pytest

from sim.estimators import judging
from sim.experiments import feedback
from sim.worlds import judged_pairs
from sim.worlds.judged_pairs import Judge
from tests.lessons import spreads
from widgets.rlaif import figures, judged, widget


@cache
def of_people(seed, n, kl, alike=False):
    return 100 * feedback.of_people(n, seed, kl, alike).wins


def people(n=1000, kl=4, alike=False):
    """Wins of 100, by the seed."""
    return lambda seed: of_people(seed, n, kl, alike)


def judge(taste, n=1000, kl=4, alike=False, listed=8, noise=1.0, position=0.0, both_orders=True, K=1):
    asked = Judge(taste, listed, noise, position, both_orders, K)
    return lambda seed: 100 * feedback.of_judge(n, seed, kl, alike, asked).wins


def unanimous(taste, K=3, n=1000, kl=4):
    """(wins of a policy trained on the labels that all votes agree on, how often these are right), by the seed."""

    def of(seed):
        first, second = judged_pairs.pairs(n, np.random.default_rng([seed, n]))
        votes = judged_pairs.votes(Judge(taste, K=K), first, second, np.random.default_rng([seed, n, 1]))
        kept = votes.all(axis=0) | ~votes.any(axis=0)
        first, second, label = first[kept], second[kept], judged_pairs.verdict(votes)[kept]
        right = (label == judged_pairs.truth(first, second)).mean()
        return 100 * feedback.wins(feedback.trained(first, second, label, kl)), 100 * right

    return of


MEASURED = {
    **{f"people, {n}": people(n) for n in feedback.SIZES},
    **{f"taste {c}, {n}": judge(c, n) for c in (0.25, 0.75) for n in feedback.SIZES},
    **{f"taste {c}, 1000": judge(c) for c in (0.0, 0.5, 1.0, 2.0)},
    "noisy, no taste": judge(0.0, noise=2.0),
    "taste 2, alike": judge(2.0, alike=True),
    "people, alike": people(alike=True),
    "people, 8 nats": people(kl=8),
    "taste 0.5, 8 nats": judge(0.5, kl=8),
    "taste 0.5, 2 listed, 8 nats": judge(0.5, kl=8, listed=2),
    "nine votes": judge(0.75, K=9),
    "unanimous": lambda seed: unanimous(0.75)(seed)[0],
    "unanimous, right": lambda seed: unanimous(0.75)(seed)[1],
    "one order": judge(0.25, position=3.0, both_orders=False),
    "noise 3, 1000 by 1": judge(0.0, noise=3.0),
    "noise 3, 200 by 5": judge(0.0, n=200, noise=3.0, K=5),
}

better, worse = judged.BETTER, judged.WORSE
people_prefer, judge_prefers = judged.chances(Judge(0.75))
log_odds = judged_pairs.logits(Judge(0.75), better[None], worse[None])[0]


def sigma(x):
    return 1 / (1 + np.exp(-x))


def ends_of(values):
    return min(values), max(values)


def errors_of_judge(taste=0.25, **knobs):
    return feedback.errors_of_judge(Judge(taste, **knobs))


def right(taste, **knobs):
    """On how many of 100 fresh pairs a judge is."""
    return 100 * errors_of_judge(taste, **knobs).agreement


def people_right():
    return 100 * feedback.errors_of_people().agreement


@cache
def people_here(n=1000, kl=4, flip=judged_pairs.FLIP, alike=False):
    """Wins of 100 of people's policy, as the simulator has them."""
    return 100 * np.mean([feedback.of_people(n, seed, kl, alike, flip).wins for seed in range(feedback.SEEDS)])


@cache
def judge_here(taste, n=1000, kl=4, alike=False, **knobs):
    """The same of the judge's policy."""
    wins = [feedback.of_judge(n, seed, kl, alike, Judge(taste, **knobs)).wins for seed in range(feedback.SEEDS)]
    return 100 * np.mean(wins)


def endless(taste, listed, kl):
    """Wins of 100, if labels never end."""
    return 100 * feedback.wins(feedback.toward(taste, listed, kl))


def values(words):
    return spreads.values("15b_rlaif", words)


def ahead(labels):
    """In how many of twenty draws a judge with a small taste is ahead of people."""
    return (values(f"taste 0.25, {labels}") > values(f"people, {labels}")).sum()


def test_the_plain_answer_of_the_pair_leads_by_one_on_the_list_and_by_one_in_style():
    assert better @ judged_pairs.W - worse @ judged_pairs.W == pytest.approx(1)
    assert judged_pairs.gold(better) - judged_pairs.gold(worse) == pytest.approx(2)
    assert log_odds == pytest.approx(-1)


def test_more_labels_help_people_in_every_draw():
    assert (values("people, 1000") > values("people, 100")).all()


def test_a_judge_that_is_right_more_often_is_behind_in_every_draw():
    assert (values("people, 1000") > values("taste 0.5, 1000") + 4).all()


def test_the_opening_has_the_numbers_of_the_text():
    people, judge = figures.wins(figures.SETTINGS[1])
    assert 100 * people == pytest.approx(people_here()) and 100 * judge == pytest.approx(judge_here(0.75))
    assert widget.OPENING.other.taste == 0.75 and widget.OPENING.plain.taste == 0.25


def test_the_predictions_of_the_quiz_come_true():
    assert people_here(n=3000, flip=0.4) > judge_here(0.75, n=3000) + 10
    assert people_here(n=30, flip=0.4) < judge_here(0.75, n=30) - 10
    assert abs(judge_here(0.25, position=3.0, both_orders=False) - judge_here(0.25)) < 1
    assert judge_here(2.0, kl=8, listed=2, alike=True) == pytest.approx(judge_here(0.0, kl=8, listed=2), abs=1)
