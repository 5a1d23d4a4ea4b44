from dataclasses import replace

import numpy as np
import pytest

from sim.rollouts import lengths
from sim.rollouts.attribution import attribution, paid
from tests.sim.rollouts.shipped import rollouts, small


@pytest.mark.parametrize(
    "name, mean, groups",  # README of the runs
    [("sound", -0.118, 21), ("verifier", -0.160, 30), ("length", 0.474, 29), ("one-text", -0.258, 26)],
)
def test_the_rank_correlation_of_reward_and_tokens(name, mean, groups):
    file = rollouts(name)
    found = lengths.of_length(paid(file, attribution(file)))
    assert found.mean == pytest.approx(mean, abs=5.1e-4) and found.groups == groups
    assert found.low < found.mean


def test_no_group_varies_where_nothing_is_paid():
    file = rollouts("cut-off")
    assert lengths.of_length(paid(file, attribution(file))).groups == 0


def test_groups_of_one_prompt_are_averaged_first():
    rewards, tokens = [[0, 1, 2], [0, 1, 2], [0, 1, 2]], np.array([1, 2, 3, 3, 2, 1, 3, 2, 1])
    file = small(rewards, tokens=tokens)
    file = replace(file, reward=file.scores["paid"], prompts=["a", "a", "b"])
    found = lengths.of_length(file)
    assert (found.mean, found.groups) == (pytest.approx(-0.5), 3)  # (1 - 1) / 2 of a, and -1 of b
    # the interval of two values, 0 and -1: their deviation is 1 / sqrt 2, so the error of the mean is 1 / 2
    assert found.low == pytest.approx(-0.5 - 1.96 / 2)


def test_equal_values_share_the_mean_of_their_ranks_within_their_group():
    ours = lengths.ranks(np.array([3.0, 1, 3, 2, 9, 5, 5]), np.array([0, 0, 0, 0, 1, 2, 2]))
    np.testing.assert_allclose(ours[:4] - ours[1], [2.5, 0, 2.5, 1])  # 3.5, 1, 3.5, 2 counted from 1
    assert ours[5] == ours[6]


def test_without_tokens_characters_serve_for_ranks():
    file = small([[0, 1]], completions=["a", "bcd"])
    np.testing.assert_array_equal(lengths.lengths(file), [1, 3])
    assert lengths.of_length(replace(file, reward=file.scores["paid"])).mean == pytest.approx(1)
    assert lengths.of_length(replace(file, reward=np.full(2, np.nan))).groups == 0
    assert lengths.of_length(small_group_of_one()).groups == 0


def small_group_of_one():
    file = small([[1], [0]])
    return replace(file, reward=file.scores["paid"])
