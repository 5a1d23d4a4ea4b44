"""Which scores were not trained on, read off the reward."""

import numpy as np
import pytest

from rlpt.doctor import columns, scorers
from tests.rlpt.doctor import made

RNG = np.random.default_rng(0)
FIRST, SECOND = RNG.random(40), RNG.random(40)


def scores(held_out="", **given):
    return scorers.scores(columns.quantities(made.log(**given)), held_out)


def test_the_weights_of_reward_functions_are_those_of_the_sum():
    found = scores(reward=2 * FIRST + 0.5 * SECOND, **{"rewards/a/mean": FIRST, "rewards/b/mean": SECOND})
    assert found.weights == {"a": pytest.approx(2), "b": pytest.approx(0.5)} and found.scorers == ()


def test_a_function_of_weight_0_was_not_trained_on():
    found = scores(reward=FIRST, **{"rewards/a/mean": FIRST, "rewards/b/mean": SECOND})
    assert found.weights == {"a": 1, "b": 0}
    assert [(each.name, each.trained) for each in found.scorers] == [("rewards/b/mean", False)]


def test_a_column_equal_to_the_trained_one_is_no_candidate():
    found = scores(reward=FIRST, **{"rewards/a/mean": FIRST, "rewards/b/mean": FIRST})
    assert found.scorers == ()


def test_a_reward_that_is_no_such_sum_leaves_weights_unknown():
    found = scores(reward=FIRST * SECOND, **{"rewards/a/mean": FIRST, "rewards/b/mean": SECOND})
    assert found.weights == {} and found.scorers == ()


def test_the_trained_reward_on_other_prompts_is_said_to_be_that():
    every_tenth = np.where(np.arange(40) % 10 == 0, SECOND, np.nan)
    found = scores(reward=FIRST, **{"rewards/a/mean": FIRST, "eval_rewards/a/mean": every_tenth})
    assert [(each.name, each.trained) for each in found.scorers] == [("eval_rewards/a/mean", True)]
    alone = scores(reward=FIRST, **{"eval_rewards/b/mean": every_tenth})
    assert [(each.name, each.trained) for each in alone.scorers] == [("eval_rewards/b/mean", False)]


def test_a_column_that_is_named_is_the_only_one():
    given = {"rewards/a/mean": FIRST, "rewards/b/mean": SECOND, "own": SECOND}
    assert [each.name for each in scores("own", reward=FIRST, **given).scorers] == ["own"]


def test_validation_scores_of_verl_and_openrlhf_are_candidates():
    text = (
        "step,critic/score/mean,val-core/t/acc/mean@4,val-core/t/reward/mean@4,val-aux/t/acc/best@4/mean\n1,1,1,1,1\n"
    )
    found = scorers.scores(columns.quantities(made.read(text)))
    assert [(each.name, each.trained) for each in found.scorers] == [
        ("val-core/t/acc/mean@4", False),
        ("val-core/t/reward/mean@4", True),
    ]
    text = "step,rollout/reward_mean,eval_math_pass1,eval_math_pass4\n1,1,1,1\n"
    assert [each.name for each in scorers.scores(columns.quantities(made.read(text))).scorers] == ["eval_math_pass1"]
