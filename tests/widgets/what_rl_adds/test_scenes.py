"""The pictures of lesson 01 show what was computed, and claim no more."""

import re

import numpy as np
import pytest

from sim.experiments.five_answers import ANSWERS, FOUR, REWARD, SHOWN
from sim.worlds import bandit
from tests.widgets.what_rl_adds.test_widget import result
from tools.pages import results
from widgets.frame.drawing import piles
from widgets.what_rl_adds import figures, widget

RESTS = sorted({0, *figures.OPENING.time.holds, len(figures.AT) - 1})  # where ▶ rests, by index


def marks(scene, view=-1):
    return scene["columns"][view][0]["marks"]


def ring(drawn, key):
    return next(mark for mark in drawn if mark["kind"] == "ring" and mark["key"] == key)


def words(drawn, key):
    return next(mark["text"] for mark in drawn if mark.get("key") == key)


def test_a_hundred_answers_are_as_many_of_each_as_its_probability_says():
    for pi in (SHOWN, np.full(5, 0.2), np.array([1.0, 0, 0, 0, 0]), np.array([0.005, 0.333, 0.333, 0.324, 0.005])):
        many = piles.hundredths(pi)
        assert sum(many) == 100 and np.abs(np.array(many) - 100 * pi).max() < 1
        assert np.bincount(piles.owners(SHOWN, pi), minlength=5).tolist() == many


def test_as_many_dots_as_can_stay_where_the_demonstrations_have_them():
    pi = np.array([0.22, 0.01, 0.01, 0.73, 0.03])
    before, now = np.array(piles.owners(SHOWN, SHOWN)), np.array(piles.owners(SHOWN, pi))
    assert (before == now).sum() == 22 + 1 + 1 + 25 + 3


@pytest.mark.parametrize("name", figures.SETTINGS)
def test_the_opening_is_the_first_run_of_the_instrument_at_its_two_settings(name):
    k = widget.OPENING.plain if name == figures.SETTINGS[0] else widget.OPENING.other
    np.testing.assert_allclose(figures.runs(name), widget.sampled_runs(k), atol=1e-12)
    for update in figures.AT:
        drawn = marks(figures.hundred(name, update)[0])
        (dots,) = [mark for mark in drawn if mark["kind"] == "piles"]
        exact = 100 * figures.runs(name)[update, 0]
        assert np.abs(np.bincount(dots["owners"], minlength=5) - exact).max() < 1
        assert [words(drawn, f"nn{i}") for i in range(5)] == [str(n) for n in piles.hundredths(exact / 100)]


def test_the_run_that_is_shown_is_typical_of_the_twenty():
    wrong = [figures.runs(name)[-1, :, 0] < 0.5 for name in figures.SETTINGS]
    assert not wrong[0].any() and wrong[1][0] and wrong[1].mean() > 0.5
    assert figures.wrong("10 added to each") == wrong[1].sum() == 15


def test_the_ring_stands_where_the_right_answer_is_gone_and_nowhere_else():
    for name in figures.SETTINGS:
        for update in figures.AT:
            gone = ring(marks(figures.hundred(name, update)[0]), "nr")
            assert gone["seen"] == (figures.runs(name)[update, 0, 0] < 0.02)
    assert ring(marks(figures.hundred("10 added to each", figures.LAST)[0]), "nr")["words"]


def test_the_sentence_of_the_opening_says_what_is_drawn():
    for panels, sentence, moment in results.positions("what_rl_adds", "opening"):
        assert bool(sentence) == (moment == f"update {figures.LAST}")
        if sentence.startswith(f"{figures.wrong('10 added to each')} of 20"):
            assert int(words(marks(panels[0]), "nn0")) < 50


def test_imitation_ends_as_its_demonstrations_are_and_the_checker_leads_past_them():
    people, own = figures.answers(figures.IMITATED, 200)[0], figures.answers(figures.REWARDED, 200)[0]
    assert [words(marks(people), f"an{i}") for i in range(5)] == ["30", "15", "15", "25", "15"]
    assert ring(marks(people), "ar")["seen"] and not ring(marks(own), "ar")["seen"]
    assert int(words(marks(own), "an0")) > 98
    for panels, sentence, _ in results.positions("what_rl_adds", "answers"):
        right = re.match(r"Correct (\d+) times", sentence)
        assert not right or right[1] == words(marks(panels[0]), "an0")


@pytest.mark.parametrize("factor", figures.FACTORS)
def test_an_arrow_is_as_long_as_the_push_and_the_last_column_is_the_policy(factor):
    paid = REWARD[FOUR]
    factors = paid if factor == figures.FACTORS[0] else paid - bandit.leave_one_out(paid)
    whole = bandit.push(SHOWN, FOUR, factors)
    drawn = marks(figures.draws(factor, 4)[0])
    arrows = [mark for mark in drawn if mark["kind"] == "arrow"]
    assert [mark["length"] for mark in arrows] == pytest.approx(figures.LONG * whole / 0.55)
    assert all((mark["role"] == "own up") == (push > 0) for mark, push in zip(arrows, whole))
    after = bandit.softmax(np.log(SHOWN) + whole)
    assert [float(words(drawn, f"p{i}")) for i in range(5)] == pytest.approx(100 * after, abs=0.051)
    assert not any(mark["length"] for mark in marks(figures.draws(factor, 0)[0]) if mark["kind"] == "arrow")


def test_the_ring_of_the_eight_draws_claims_what_the_numbers_say():
    """Paid most, and fell: the right answer alone is paid 11, and has fewer of a hundred than before."""
    arms, paid, _, pushes, policies = figures.update_of(figures.OFFSET)
    assert set(paid[arms == 0]) == {11.0} and set(paid[arms != 0]) == {10.0}
    assert policies[-1][0] < SHOWN[0] and pushes[-1][0] > 0
    assert [ring(marks(figures.all_paid(n)[0]), "r")["seen"] for n in range(9)] == [False] * 8 + [True]
    for n in range(1, 9):
        assert ring(marks(figures.all_paid(n)[0]), "w")["words"] == (
            f"“{ANSWERS[arms[n - 1]]}”, reward {paid[n - 1]:.0f}"
        )
    assert figures.so_far(8).startswith(
        "“Final: 12” was sampled 3 times and fell from 30 to 22 of 100. “12” was sampled 4 times"
    )
    assert [(arms == i).sum() for i in (0, 3)] == [3, 4]


def test_the_leading_picture_is_the_run_that_does_worst_and_is_ringed_where_it_breaks():
    for knobs in ({}, dict(baseline="none", offset=10), dict(method=widget.SFT), dict(method=widget.EXACT)):
        k, r = widget.Knobs(**knobs), result(**knobs)
        drawn = marks(widget.worst(k, r), 0)
        right = r.right[-1].min()
        assert abs(int(words(drawn, "nn0")) - 100 * right) < 1
        worst = ring(drawn, "nr")
        assert worst["seen"] == (widget.broken(k, r) is not None)
        assert (worst["words"] == "the correct answer is gone") == (worst["seen"] and right < 0.02)
    assert words(marks(widget.worst(k, result(baseline="none", offset=10)), 1), "c") == "15"
