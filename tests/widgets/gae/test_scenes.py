"""The pictures of lesson 10a show what was computed, and claim no more."""

import numpy as np
import pytest

from sim.experiments import long_answer
from tests.widgets.catalogue import marks
from widgets.gae import figures, long_answers


def rings(panel):
    return [mark["words"] for mark in marks(panel, "ring") if mark["seen"]]


def test_a_tone_says_on_which_side_of_0_a_quantity_lies_and_how_far():
    roles = [long_answers.role(value) for value in (0.0, 0.019, -0.02, 0.1, -0.24, 0.25, -3.0)]
    assert roles == ["level", "level", "below-1", "above-2", "below-2", "above-3", "below-3"]


@pytest.mark.parametrize("length, each", [(20, 1), (40, 2), (100, 5), (400, 21), (1000, 53)])
def test_the_parts_are_all_tokens_after_the_first(length, each):
    values = np.arange(length, dtype=float)
    parts = long_answers.in_parts(values)
    assert len(parts) == long_answers.PARTS and parts[0] >= 1 and parts[-1] <= length - 1
    each_part = "" if each == 1 else f", {each} in each part"
    assert long_answers.after(length) == f"the {length - 1} tokens after it{each_part}"
    if length == 20:
        assert parts == list(range(1, 20))


@pytest.mark.parametrize("name", figures.SETTINGS)
def test_the_squares_of_the_opening_are_what_the_update_pushes_its_first_tokens_by(name):
    for update in figures.UPDATES:
        drawn = marks(figures.long_and_short(name, update)[0], "tokens")
        values = figures.landed(name, update)[:, 0]
        assert [mark["rows"][0][0] for mark in drawn] == [
            (way[0], long_answers.role(value)) for way, value in zip(figures.WAYS, values)
        ]


def test_the_ring_of_the_opening_stands_where_no_first_token_has_an_advantage_that_is_drawn():
    for name in figures.SETTINGS:
        for update in figures.UPDATES:
            panel = figures.long_and_short(name, update)[0]
            level = all(mark["rows"][0][0][1] == "level" for mark in marks(panel, "tokens"))
            assert rings(panel) == (["no reward has arrived"] if update and level else [])
    assert not rings(figures.long_and_short("λ = 1", 60)[0])
    assert rings(figures.long_and_short("λ = 0.95", 60)[0])


def test_the_dots_and_the_counts_are_the_policy():
    for name in figures.SETTINGS:
        policy = figures.policy(name, 60)
        (dots,) = marks(figures.long_and_short(name, 60)[0], "hundred")
        assert dict(dots["shares"])["followed"] == pytest.approx(policy[long_answer.BEST])
        right = next(mark for mark in marks(figures.long_and_short(name, 60)[0], "word") if mark["key"] == "right")
        assert right["text"] == f"{100 * (policy @ long_answer.RIGHT):.0f} are correct"


def test_the_news_of_the_first_update_is_lambda_to_the_power_of_the_tokens_between():
    for lam in (0.5, 0.8):
        first = figures.trained(20, lam)[0].push[long_answer.BEST]
        assert figures.tokens(lam, 1) == sum(first[-1] * lam**k >= 0.02 for k in range(20))
    assert figures.tokens(1.0, 1) == 20 and figures.tokens(0.0, 1) == 1


def test_the_opinion_of_the_two_ways_is_still_wrong_when_the_best_one_is_hardly_taken():
    assert figures.opinion(0)[:, 1].tolist() == [0.2, 0.8, 0.3, 0.5]
    ringed = [update for update in figures.PAINTED if rings(figures.expected(update)[0])]
    assert ringed and all(figures.begins(update)[long_answer.BEST] < 0.1 for update in ringed)
    for update in ringed:
        assert 0.8 - figures.opinion(update)[long_answer.BEST, 1] > 0.2


def test_a_quicker_critic_is_in_time_so_it_is_the_delay_that_harms():
    (*_, slow), (*_, quick) = figures.trained(100, 0.95, True, 0.05), figures.trained(100, 0.95, True, 0.3)
    assert slow.policy[long_answer.BEST] < 0.1 and quick.policy[long_answer.BEST] > 0.8
