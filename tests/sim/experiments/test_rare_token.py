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
