"""Two decisions under the exact gradient: the first by hand, the rest from a prototype that was written apart."""

import numpy as np
import pytest

from sim.lab import two_steps

FIRST, SECOND, J, SLOPE_1, SLOPE_2 = range(5)


def test_at_even_odds_the_first_step_toward_the_full_reward_is_pushed_down():
    # .25 (.5 − .6) and .5 · .25; J = .5 · .6 + .5 · .5
    np.testing.assert_allclose(two_steps.climb(0.5, 0.5, 1.0, 0), [[0.5, 0.5, 0.55, -0.025, 0.125]], atol=1e-15)


def test_it_is_pushed_down_four_times_and_then_up():
    rows = two_steps.climb(0.5, 0.5, 1.0, 200)
    assert (rows[:4, SLOPE_1] < 0).all() and (rows[4:, SLOPE_1] > 0).all()
    assert rows[:, FIRST].argmin() == 4 and rows[4, FIRST] == pytest.approx(0.4865, abs=5e-5)
    assert rows[10, FIRST] == pytest.approx(0.516679, abs=5e-7)
    assert rows[200, FIRST] == pytest.approx(0.984333, abs=5e-7)


def test_the_sign_turns_where_the_second_step_is_worth_more_than_the_sure_end():
    rows = two_steps.climb(0.5, 0.5, 1.0, 200)
    assert ((rows[:, SLOPE_1] > 0) == (rows[:, SECOND] > two_steps.SURE)).all()


def test_the_gradients_are_the_slopes_of_the_mean_reward():
    def mean_reward(theta):
        a, b = 1 / (1 + np.exp(-theta))
        return (1 - a) * 0.6 + a * b

    theta, h = np.array([0.4, -1.1]), 1e-5
    numeric = [(mean_reward(theta + h * e) - mean_reward(theta - h * e)) / (2 * h) for e in np.eye(2)]
    row = two_steps.climb(*1 / (1 + np.exp(-theta)), 1.0, 0)[0]
    np.testing.assert_allclose(row[[SLOPE_1, SLOPE_2]], numeric, atol=1e-9)
    assert row[J] == pytest.approx(mean_reward(theta), abs=1e-14)


def test_an_update_adds_the_gradient_to_the_log_odds():
    before, after = two_steps.climb(0.3, 0.7, 2.0, 1)
    for probability, slope in [(FIRST, SLOPE_1), (SECOND, SLOPE_2)]:
        odds = np.log(after[probability] / (1 - after[probability]))
        start = np.log(before[probability] / (1 - before[probability]))
        assert odds - start == pytest.approx(2 * before[slope], abs=1e-12)


@pytest.mark.parametrize("start, end", [(0.05, 0.599518), (0.08, 0.600711), (0.09, 0.997118)])
def test_where_two_thousand_updates_end(start, end):
    assert two_steps.climb(0.5, start, 1.0, 2000)[-1, J] == pytest.approx(end, abs=5e-7)


def test_nine_hundredths_is_the_smallest_start_that_escapes():
    ended = [two_steps.climb(0.5, start / 100, 1.0, 2000)[-1, J] for start in range(1, 21)]
    assert [J > 0.9 for J in ended] == [False] * 8 + [True] * 12


def test_what_is_not_visited_is_not_learned():
    rows = two_steps.climb(0.5, 0.05, 1.0, 2000)
    assert rows[-1, FIRST] == pytest.approx(0.001048, abs=5e-7)
    assert rows[0, SLOPE_1] == pytest.approx(-0.1375, abs=1e-12)  # .25 (.05 − .6), and the second is .5 · .05 · .95
    assert rows[0, SLOPE_2] == pytest.approx(0.02375, abs=1e-12)
    assert (rows[:, SLOPE_2] <= rows[:, FIRST] / 4).all()


def test_a_plateau_is_no_trap():
    rows = two_steps.climb(0.5, 0.1, 1.0, 2000)
    assert rows[200, J] == pytest.approx(0.597507, abs=5e-7) and rows[-1, J] > 0.99


@pytest.mark.parametrize("learning_rate, end", [(5.0, 0.599911), (20.0, 0.599988)])
def test_a_higher_rate_frees_nobody(learning_rate, end):
    assert two_steps.climb(0.5, 0.05, learning_rate, 2000)[-1, J] == pytest.approx(end, abs=5e-7)


def test_exact_ascent_at_rate_1_never_lowers_the_mean_reward():
    for start in (0.05, 0.1, 0.5):
        assert (np.diff(two_steps.climb(0.5, start, 1.0, 500)[:, J]) >= 0).all()


@pytest.mark.parametrize("first, second", [(0.0, 0.5), (1.0, 0.5), (0.5, 0.0), (0.5, 1.0)])
def test_a_decision_that_is_already_certain_is_refused(first, second):
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        two_steps.climb(first, second, 1.0, 1)
