"""Counts of shipped runs are those of the script that recorded them; the rest is counted by hand."""

from functools import cache

import numpy as np
import pytest

from rlpt.rollouts import seen as steps
from sim.rollouts import report
from tests.sim.rollouts import shipped


@cache
def reported(name):
    return report.report(shipped.rollouts(name))


@pytest.mark.parametrize("step, paid, right", [(1, 29, 19), (20, 52, 3), (60, 40, 0), (160, 60, 0)])
def test_who_is_paid_and_who_is_right(step, paid, right):
    seen = steps.seen(reported("verifier"), step)
    assert (int(seen.paid.sum()), int(seen.right.sum())) == (paid, right)
    assert seen.binary and seen.score == "exact"


def test_a_graded_reward_is_not_said_to_be_paid_or_not():
    assert not steps.seen(reported("length"), 40).binary
    assert not steps.seen(reported("one-text"), 160).binary  # 0, 0.7 and 1


def test_a_run_without_an_unpaid_score_has_nobody_right():
    assert steps.judge(reported("sound")) == "" and steps.seen(reported("sound"), 1).right is None


def test_of_unpaid_scores_that_which_is_named_after_answers_is_the_judge():
    chance = np.random.default_rng(0)
    right, other = (chance.integers(0, 2, 64).astype(float) for _ in range(2))
    r = shipped.small(chance.integers(0, 2, (8, 8)).tolist())
    paid = r.scores["paid"]
    scores = dict(length=10 * other, tone=other, is_correct=right, paid=paid)
    judged = report.report(type(r)(**{**vars(r), "scores": scores, "reward": paid}))
    assert steps.judge(judged) == "is_correct"


def test_a_score_that_is_almost_always_in_between_judges_only_if_its_name_says_so():
    chance = np.random.default_rng(0)
    for name, judge in (("brevity", ""), ("accuracy", "accuracy")):
        r = shipped.small(chance.integers(0, 2, (8, 8)).tolist())
        scores = {name: chance.random(64), "paid": r.scores["paid"]}
        assert steps.judge(report.report(type(r)(**{**vars(r), "scores": scores, "reward": scores["paid"]}))) == judge


def test_the_step_that_is_opened_is_that_with_the_widest_gap_or_of_the_first_finding():
    assert steps.widest(reported("verifier")) == 160  # 0.9375 and 0
    assert steps.widest(reported("length")) == 40
    assert steps.widest(reported("sound")) == 160  # the last


def test_groups_stand_in_the_order_of_their_rewards_and_the_telling_one_shows_most_kinds():
    seen = steps.seen(reported("verifier"), 20)
    rewards = [reported("verifier").rollouts.reward[seen.rows[seen.of_group(group)]].mean() for group in seen.order]
    assert rewards == sorted(rewards) and len(rewards) == 8
    assert reported("verifier").rollouts.prompts[steps.telling(seen)] == "4+2="


def test_a_long_beginning_that_all_prompts_share_is_not_shown():
    template = "<|system|>You are a helpful assistant.\n<|user|>"
    for texts, shown in (
        ([f"{template} {n}+1=" for n in (2, 3)], ["…2+1=", "…3+1="]),
        (["Is 2+1?", "Is 3+1?"], ["Is 2+1?", "Is 3+1?"]),  # short
        ([f"{template} 2+1="] * 2, [f"{template} 2+1="] * 2),  # one prompt
    ):
        r = shipped.small([[1, 0], [1, 0]])
        seen = steps.seen(report.report(type(r)(**{**vars(r), "prompts": texts})), 0)
        assert list(steps.prompts(seen).values()) == shown


@pytest.mark.parametrize(
    "texts, common", [(["a b c", "a b d"], 4), (["ab", "ac"], 0), (["a\nb", "a\nc"], 2), (["a b"], 0), (["a", "a"], 0)]
)
def test_texts_have_whole_words_in_common(texts, common):
    assert steps.beginning(texts) == common
