import numpy as np
import pytest

from sim.estimators import pooled_score


def picked(head, N):
    return pooled_score.picked(head, N, np.random.default_rng(0), 4000)


def test_of_one_completion_no_head_prefers_a_length():
    # uniform from 4 to 64: the mean is 34
    assert [picked(head, 1)[1] for head in pooled_score.HEADS] == pytest.approx([34] * 3, abs=1)


@pytest.mark.parametrize("head, tokens", [("last", 34), ("mean", 25), ("sum", 56)])
def test_of_many_completions_a_mean_picks_short_ones_and_a_sum_long_ones(head, tokens):
    assert picked(head, 256)[1] == pytest.approx(tokens, abs=1.5)  # the specification's run


def test_the_scores_are_what_their_noise_says():
    # 16 tokens: the mean's noise is a quarter, and the sum is sixteen times the mean
    assert pooled_score.scores("last", 16, 0.5, 1.0) == 1.5
    assert pooled_score.scores("mean", 16, 0.5, 1.0) == 0.75
    assert pooled_score.scores("sum", 16, 0.5, 1.0) == 12.0


def test_the_mean_of_normal_tokens_has_that_noise():
    tokens = np.random.default_rng(3).standard_normal((20_000, 16))
    assert tokens.mean(axis=1).std() == pytest.approx(1 / 4, abs=0.005)


def test_the_mean_finds_more_quality_than_the_last_token():
    assert picked("mean", 256)[0] > picked("last", 256)[0] + 0.3
