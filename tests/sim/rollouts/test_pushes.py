from dataclasses import replace

import numpy as np
import pytest

from sim.estimators import aggregation
from sim.rollouts import pushes
from sim.rollouts.attribution import attribution, paid
from tests.sim.rollouts.shipped import rollouts, small

ONE = small([[1, 0, 0, 0]], tokens=np.array([10, 40, 40, 10]))
ONE = replace(ONE, reward=ONE.scores["paid"])


def verifier_at_20():
    file = rollouts("verifier")
    return paid(file, attribution(file)).at(20)


@pytest.mark.parametrize(
    "rule, unit, share",  # README of the runs: the group 4+2= of step 20
    [
        ("GRPO", pushes.PER_TOKEN, 0.1237),
        ("GRPO", pushes.PER_COMPLETION, 0.1532),
        ("RLOO", pushes.PER_TOKEN, 0.1299),
        ("RLOO", pushes.PER_COMPLETION, 0.1622),
        ("Dr. GRPO", pushes.PER_TOKEN, 0.1299),
        ("Dr. GRPO", pushes.PER_COMPLETION, 0.1622),
        ("batch mean", pushes.PER_TOKEN, 0.1143),
        ("batch mean", pushes.PER_COMPLETION, 0.1410),
        ("whitened", pushes.PER_TOKEN, 0.1143),
        ("whitened", pushes.PER_COMPLETION, 0.1410),
    ],
)
def test_a_groups_share_of_the_push(rule, unit, share):
    file = verifier_at_20()
    found = pushes.held(pushes.shares(file, rule, unit), file.group == file.prompts.index("4+2="))
    assert found == pytest.approx(share, abs=5.1e-5)


def test_tokens_of_one_right_completion_in_four():
    # by hand: 0.75 / 4 / 10, -0.25 / 4 / 40, -0.25 / 4 / 10; and 0.75 / 100, -0.25 / 100
    each = pushes.pushes(ONE, "Dr. GRPO", pushes.PER_COMPLETION) / ONE.tokens
    np.testing.assert_allclose(each, [0.01875, -0.0015625, -0.0015625, -0.00625], rtol=1e-12)
    each = pushes.pushes(ONE, "Dr. GRPO", pushes.PER_TOKEN) / ONE.tokens
    np.testing.assert_allclose(each, [0.0075, -0.0025, -0.0025, -0.0025], rtol=1e-12)


def test_the_units_are_the_two_means_of_the_lesson_about_aggregation():
    mask = (np.arange(40) < ONE.tokens[:, np.newaxis]).astype(float)
    A = np.array([0.75, -0.25, -0.25, -0.25])
    for unit, mean in (("per completion", aggregation.seq_mean_token_mean), ("per token", aggregation.token_mean)):
        np.testing.assert_allclose(pushes.pushes(ONE, "Dr. GRPO", unit), A * mean(mask).sum(axis=1), rtol=1e-12)


def test_shares_of_a_step_sum_to_1_and_a_tied_step_pushes_nobody():
    for unit in pushes.UNITS:
        for rule in pushes.RULES:
            assert np.abs(pushes.shares(verifier_at_20(), rule, unit)).sum() == pytest.approx(1)
    tied = replace(ONE, reward=np.ones(4))
    np.testing.assert_array_equal(pushes.shares(tied, "GRPO", pushes.PER_TOKEN), np.zeros(4))


def test_a_push_per_token_needs_numbers_of_tokens():
    assert pushes.shares(replace(ONE, tokens=None), "GRPO", pushes.PER_TOKEN) is None
    assert pushes.shares(replace(ONE, tokens=None), "GRPO", pushes.PER_COMPLETION) is not None
    assert pushes.shares(replace(ONE, reward=None), "GRPO", pushes.PER_COMPLETION) is None


def test_the_push_on_texts_longer_than_the_median():
    share = np.array([0.5, -0.25, 0.125, -0.125])
    assert pushes.held_by_long(share, np.array([4, 2, 1, 3])) == 0.625
    assert pushes.held_by_long(share, np.array([9, 9, 9, 1])) is None  # half stop at the limit
    assert pushes.held_by_long(share, None) is None


def test_the_part_of_what_is_pushed_up_that_is_not_right():
    wrong = np.array([True, True, False, False])
    assert pushes.held_up(np.array([0.25, -0.25, 0.25, 0.25]), wrong) == pytest.approx(1 / 3)
    assert pushes.held_up(np.array([-0.5, -0.5, 0, 0]), wrong) is None
