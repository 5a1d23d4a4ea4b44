"""A learned scorer on the frozen completions. The numbers are those of the source course, which fitted its own."""

from functools import cache
from math import log

import numpy as np
import pytest

from sim.lab import learned, packs, selection
from sim.worlds.scorer import score

SIZES = (1, 2, 4, 8)


@cache
def weights():
    return learned.fitted(*learned.labeled("dev"))


@pytest.mark.parametrize(
    "text, row",
    [
        ("Final: 323", [1, 1, 0, 0.1, 0.3]),
        (" Final: -14\r\n", [1, 1, 0, 0.1, 0.2]),  # the blanks around it do not count, and neither does the sign
        ("Final: 0323", [1, 0, 0, 0.11, 0.4]),
        ("17*19 = 323\nFinal: 7.", [1, 0, 1, 0.21, 0.1]),
        ("Final:  18", [1, 0, 0, 0.1, 0.2]),
        ("x" * 250, [1, 0, 0, 1, 0]),
        ("", [1, 0, 0, 0, 0]),
    ],
)
def test_the_features_of_a_text_counted_by_hand(text, row):
    assert learned.features(text) == pytest.approx(np.array(row), abs=1e-15)
    assert learned.features(text).dtype == np.float64


def test_a_constant_alone_learns_the_log_odds():
    rows, right = np.ones((4, 1)), np.array([1.0, 1.0, 1.0, 0.0])
    assert learned.fitted(rows, right) == pytest.approx([log(3)], abs=1e-12)


def test_the_weights_of_240_completions():
    rows, right = learned.labeled("dev")
    assert rows.shape == (240, 5) and right.sum() == 130
    assert weights() == pytest.approx([-4.2416, 6.0515, -0.4885, -1.6090, -2.2375], abs=5e-5)


@pytest.mark.parametrize("split, area, accuracy", [("dev", 0.7837, 0.7917), ("holdout", 0.8603, 0.75)])
def test_it_ranks_completions_that_it_has_not_seen_even_better(split, area, accuracy):
    _, right = learned.labeled(split)
    scores = np.array([learned.learned_score(weights(), r.completion) for row in packs.rollouts(split) for r in row])
    assert learned.area_under_curve(scores, right) == pytest.approx(area, abs=5e-5)
    assert np.mean((scores > 0.5) == right) == pytest.approx(accuracy, abs=5e-5)


def test_the_area_of_a_tie_is_a_half():
    # right .9 and .5 against wrong .5 and .1: three pairs in order and one tie
    assert learned.area_under_curve(np.array([0.9, 0.5, 0.5, 0.1]), np.array([1.0, 1.0, 0.0, 0.0])) == 0.875


@pytest.mark.parametrize(
    "split, by_it, by_the_verifier",
    [
        ("dev", (17, 19, 20, 18), (17, 19, 23, 24)),  # of 30: .567 .633 .667 .600 and .567 .633 .767 .800
        ("holdout", (5, 5, 6, 4), (5, 6, 8, 9)),
    ],
)
def test_more_samples_help_the_verifier_and_then_hurt_the_learned_scorer(split, by_it, by_the_verifier):
    assert tuple(row.right for row in learned.picks(weights(), SIZES, split)) == by_it
    assert tuple(row.right for row in selection.table(selection.first_best, score, SIZES, split)) == by_the_verifier


def test_of_forty_prompts_it_loses_eleven_that_the_verifier_finds_and_finds_none_that_the_verifier_loses():
    (by_it,) = learned.picks(weights(), [8])
    (by_the_verifier,) = selection.table(selection.first_best, score, [8])
    right = [[reasons[i] == "ok" for i, reasons in zip(row.ids, packs.reasons())] for row in (by_it, by_the_verifier)]
    pairs = list(zip(*right, strict=True))
    assert (pairs.count((True, False)), pairs.count((False, True))) == (0, 11)
