"""M6: what its numbers are computed by, and what its sentences say of the runs without a number."""

from functools import cache

import numpy as np
import pytest

from sim.estimators import paired
from sim.estimators.paired import mcnemar, more_than, sign_test, two_standard_errors
from sim.lab import eight_actions, learned, packs
from widgets.lab_m6 import editable, figures


def solved():
    """How many of the eight runs solve each prompt."""
    return [row.count("ok") for row in packs.reasons()]


@cache
def better():
    """The rates of a policy that fails a quarter less often on every prompt."""
    return 1 - editable.KEPT * (1 - editable.rates())


def gain():
    return float(np.mean(better() - editable.rates()))


@cache
def noticed(times, rule=sign_test):
    """Probability that the rule calls the better policy's gain real, on `times` as many prompts of the same kinds."""
    return paired.power(rule, np.tile(editable.rates(), times), np.tile(better(), times))


@cache
def alarms(rule):
    return paired.false_alarms(rule, editable.rates())


def called_real(rule):
    """Of the 28 pairs of runs."""
    return sum(rule(*pair, 40) for pair in editable.pairs())


def best_of(samples):
    """The worth of the best paid of so many answers."""
    return eight_actions.outcome(eight_actions.cloned(samples, 1))[1]


@cache
def area(split):
    _, right = learned.labeled(split)
    texts = [rollout.completion for row in packs.rollouts(split) for rollout in row]
    scores = np.array([learned.learned_score(figures.weights(), text) for text in texts])
    return learned.area_under_curve(scores, right)


def picks(judge):
    """Correct picks among eight, of all forty prompts."""
    return sum(figures.right(judge, split)[-1] for split in ("dev", "holdout"))


def behind():
    """Prompts for which only the verifier picks a correct answer."""
    return only()[1]


@cache
def only():
    """Prompts for which only the learned scorer picks a correct answer, and only the verifier."""
    picked = learned.picks(figures.weights(), [8])[0].ids
    mine = packs.passed()[range(len(picked)), picked]
    theirs = packs.passed().any(1)
    return int((mine & ~theirs).sum()), int((theirs & ~mine).sum())


def test_no_two_runs_differ_more_than_the_first_two():
    many = figures.passed().sum(1)
    assert many.tolist() == [15, 24, 22, 18, 22, 19, 24, 20]
    assert max(abs(one - other) for one, other in editable.pairs()) == many[1] - many[0] == 9


def test_in_17_of_28_pairs_the_numbers_differ_by_more_than_two():
    differences = [abs(one - other) for one, other in editable.pairs()]
    assert [sum(d > 2 for d in differences), sum(d == 2 for d in differences), len(differences)] == [17, 7, 28]


def test_the_learned_scorer_is_never_ahead_of_the_verifier():
    assert only() == (0, 11) and mcnemar(0, 11) == pytest.approx(0.00098, abs=5e-6)


def test_on_the_holdout_it_picks_no_more_than_the_first_answers_have():
    assert figures.right("learned", "holdout") == (5, 5, 6, 4) and figures.right("verifier", "holdout")[-1] == 9


def test_rounds_of_cloning_reach_the_best_of_powers_of_four_and_the_leash_stays():
    worth = [figures.after(rounds)[1] for rounds in figures.ROUNDS]
    assert [row[1] for row in worth] == pytest.approx([0.361, 0.481, 0.400, 0.171], abs=5e-4)
    assert [row[2] for row in worth] == pytest.approx([0.361, 0.390, 0.390, 0.390], abs=5e-4)
    assert [best_of(4**rounds) for rounds in figures.ROUNDS] == pytest.approx([row[1] for row in worth])
