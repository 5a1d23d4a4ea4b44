import numpy as np
import pytest

from sim.experiments import rare_token


@pytest.fixture(scope="module")
def free():
    return rare_token.passes(np.inf)


@pytest.fixture(scope="module")
def held():
    return rare_token.passes(0.2)


def test_both_begin_with_the_same_policy_in_which_the_token_is_rare(free, held):
    assert len(free.rare) == rare_token.PASSES + 1 == len(held.rare)
    assert free.rare[0] == held.rare[0] < 0.01 and free.stop[0] == held.stop[0] > 0.95


def test_without_a_clip_the_rare_token_takes_the_place_of_the_stop_and_the_prompt_is_lost(free):
    assert free.rare[-1] > 0.99 and free.stop[-1] < 0.01
    assert free.pass_rate[0] > 0.5 and free.pass_rate[-1] < 0.1


def test_with_the_clip_its_own_push_ends_at_once_and_the_prompt_stays_solved(held):
    """It goes on a little by what other tokens push: never near the stop's place."""
    assert held.rare[-1] < 0.1 and held.pass_rate[-1] > 0.5


def test_probabilities_are_probabilities(free, held):
    for story in (free, held):
        assert (story.rare + story.stop <= 1 + 1e-12).all() and (story.rare >= 0).all()


def test_what_is_drawn_to_be_looked_at_is_right_about_as_often_as_the_policy():
    policy, _ = rare_token.batch()
    written = rare_token.completions(policy, K=4000)
    share = np.mean([rare_token.is_right(row) for row in written])
    # three standard errors of 4,000 draws
    assert share == pytest.approx(0.890, abs=3 * np.sqrt(0.89 * 0.11 / 4000))


def test_a_row_is_right_if_it_stops_on_the_sum_of_its_prompt():
    stop = 3
    assert rare_token.is_right((2, 0, 0, stop))  # 3 + 1 + 1
    assert rare_token.is_right((2, 2, 1, 2, 0, stop))  # 12, which is 5 modulo 7
    assert not rare_token.is_right((0, 0, 0, stop))
    assert not rare_token.is_right((2, 0, 0))  # cut off
    assert rare_token.running_sums((2, 0, 0, stop)) == [0, 3, 4, 5]


def test_the_tokens_that_may_follow_are_told_apart(free):
    np.testing.assert_allclose(free.following.sum(axis=1), 1)
    np.testing.assert_array_equal(free.following[:, rare_token.RARE], free.rare)
    assert len(free.written) == rare_token.PASSES + 1 and {len(rows) for rows in free.written} == {8}
