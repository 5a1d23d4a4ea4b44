"""What M2's pictures show: pushes, dots and ends after each update, and curves from twenty starts."""

import pytest

from tools.pages import scenes
from widgets.lab_m2 import figures


def test_the_first_step_gets_four_arrows_down_and_six_up_and_the_second_ten_up():
    assert figures.pushes(figures.PUSH_1, 10) == [-1] * 4 + [1] * 6
    assert figures.pushes(figures.PUSH_2, 200) == [1] * 10
    assert figures.pushes(figures.PUSH_1, 1) == [-1] + [0] * 9


def test_at_even_odds_fifty_of_a_hundred_runs_end_at_the_sure_reward_and_a_quarter_at_each_other():
    owners = figures.hundred(0)
    assert [owners.count(end) for end in range(3)] == [50, 25, 25]


@pytest.mark.parametrize("updates", figures.AT)
def test_no_run_is_lost_on_the_way(updates):
    assert len(figures.hundred(updates)) == 100


def test_the_lowest_probability_is_shown_after_four_updates():
    assert figures.told(4).startswith("1 has probability 0.4865 at the first step")
    assert min(figures.curves()[0]) == figures.curves()[0][4]


def test_a_sentence_for_each_start_says_where_it_ends():
    assert figures.ended(0.09).startswith("After 2,000 updates the mean reward is 0.9971,")
    assert figures.ended(0.05).endswith("0.5995, and the first step is 1 in 1 of 1,000 runs.")


def test_the_scene_fits_into_its_page():
    assert scenes.figure("lab_m2", "tree")["data"]
