"""The lesson on judges and their lists: what its numbers are computed by, and what it says without a number."""

from functools import cache

import numpy as np
import pytest

from sim.estimators import judging
from sim.experiments import feedback
from sim.worlds import judged_pairs
from sim.worlds.judged_pairs import Judge
from tests.lessons import spreads
from widgets.rlaif import figures, widget


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

better, worse = np.array([0.1] * 16 + [-0.5]), np.array([0.0] * 16 + [0.5])
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


def endless(taste, listed, kl):
    """Wins of 100, if labels never end."""
    return 100 * feedback.wins(feedback.toward(taste, listed, kl))


def values(words):
    return spreads.values("15b_rlaif", words)


def ahead(labels):
    """In how many of twenty draws a judge with a small taste is ahead of people."""
    return (values(f"taste 0.25, {labels}") > values(f"people, {labels}")).sum()


def test_of_the_smallest_case_one_answer_is_better_by_four_tenths():
    assert judged_pairs.gold(better) - judged_pairs.gold(worse) == pytest.approx(0.4)


def test_more_labels_help_people_in_every_draw():
    assert (values("people, 1000") > values("people, 100")).all()


def test_a_judge_that_is_right_more_often_is_behind_in_every_draw():
    assert (values("people, 1000") > values("taste 0.5, 1000") + 4).all()


def test_the_opening_has_the_numbers_of_the_text():
    people, judge = figures.wins(figures.SETTINGS[1], 1000)
    assert abs(100 * people - values("people, 1000").mean()) < 0.5
    assert abs(100 * judge - values("taste 0.75, 1000").mean()) < 1
    assert widget.OPENING.other.taste == 0.75 and widget.OPENING.plain.taste == 0.25
