"""The long answer with one decision against closed forms, and against what verl and VAPO say."""

import numpy as np
import pytest

from sim.experiments import long_answer

REWARD, VALUE = np.array([[0.0, 0, 0, 1]]), np.array([[0.2, 0.4, 0.5, 0.7]])


def frames(length=20, lam=0.8, target=None, opinion=long_answer.NOTHING, rate=0.3, optimizer="SGD", updates=4):
    target = lam if target is None else target
    return list(long_answer.run(length, lam, target, opinion, rate, optimizer, 3, updates))


def test_credit_is_what_verl_computes():
    advantage, returns = long_answer.credit(REWARD, VALUE, 0.95, 0.95)
    np.testing.assert_allclose(
        advantage, [[0.7327125, 0.56075, 0.485, 0.3]], atol=1e-12
    )  # verl 0.9.1, before whitening
    np.testing.assert_allclose(returns, [[0.9327125, 0.96075, 0.985, 1]], atol=1e-12)


def test_a_target_of_1_is_the_return_whatever_the_policy_s_lambda_is():
    advantage, returns = long_answer.credit(REWARD, VALUE, 0.95, 1.0)
    np.testing.assert_allclose(returns, [[1, 1, 1, 1]], atol=1e-12)
    np.testing.assert_array_equal(advantage, long_answer.credit(REWARD, VALUE, 0.95, 0.95)[0])


@pytest.mark.parametrize("lam", [0.5, 0.8, 0.95])
def test_before_the_critic_knows_anything_the_first_token_gets_lambda_to_the_tokens_between(lam):
    size = frames(20, lam, updates=1)[0].size
    assert size[0] / size[-1] == pytest.approx(lam**19) and long_answer.reach(lam, 20) == pytest.approx(lam**19)


def test_how_much_of_a_reward_reaches_the_first_token():
    assert long_answer.reach(0.95, 1001) == pytest.approx(5.2918e-23, rel=1e-4)  # 0.95 to the 1,000
    assert long_answer.reach(0.99, 1001) == pytest.approx(4.3171e-5, rel=1e-4)
    assert long_answer.reach(1.0, 1000) == 1 and long_answer.reach(0.0, 20) == 0


def test_at_lambda_0_the_news_moves_one_token_an_update():
    for update, frame in enumerate(frames(20, 0.0, updates=10), 1):
        assert not frame.values[:, : 20 - update].any() and frame.values[:, 20 - update :].all()
        np.testing.assert_array_equal(frame.policy, 0.25)


def test_a_quarter_of_each_way_is_right_45_times_in_100():
    assert long_answer.right(np.full(4, 0.25)) == pytest.approx(0.45)  # (0.2 + 0.5 + 0.3 + 0.8) / 4


def test_before_the_first_token_the_critic_has_one_value_for_all_ways():
    for frame in frames(opinion=long_answer.CONFUSED):
        assert len(set(frame.values[:, 0])) == 1
    still = frames(opinion=long_answer.CONFUSED, rate=0.0)[-1].values
    assert still[0, 0] == pytest.approx(0.45) and (still[:, 1:] == long_answer.CONFUSED[:, None]).all()


def test_a_critic_that_expects_nothing_is_off_by_what_the_ways_are_right():
    assert long_answer.critic_error(np.zeros((4, 20))) == pytest.approx(0.45)
    assert long_answer.critic_error(np.repeat(long_answer.CONFUSED[:, None], 20, axis=1)) == pytest.approx(0.15)


def test_the_push_of_a_way_is_the_mean_of_its_answers_where_all_ways_are_taken_alike():
    advantage = np.array([[1.0, 0], [3, 4], [5, 6], [7, 8]])
    np.testing.assert_array_equal(long_answer.pushes(np.array([2, 1, 3, 0]), advantage), advantage[[3, 1, 0, 2]])
    twice = long_answer.pushes(np.array([1, 1, 1, 3]), advantage)  # 1 + 3 + 5 and 7, over 4 / 4
    np.testing.assert_array_equal(twice, [[0, 0], [9, 10], [0, 0], [7, 8]])


def test_a_step_of_sgd_moves_the_logits_by_the_mean_push():
    (frame,) = frames(5, 1.0, updates=1)
    rng = np.random.default_rng(3)
    way = rng.choice(4, size=64, p=np.full(4, 0.25))
    paid = rng.random(64) < long_answer.RIGHT[way]
    logits = [np.mean(paid * ((way == each) - 0.25)) for each in range(4)]  # λ is 1 and the critic says 0
    np.testing.assert_allclose(frame.policy, np.exp(logits) / np.exp(logits).sum())


def test_vapo_s_lambda_by_length():
    # VAPO (arXiv:2504.05118): λ = 1 − 1 / (α l) with α = 0.05
    assert [long_answer.length_adaptive(n) for n in (100, 1000, 10_000)] == pytest.approx([0.8, 0.98, 0.998])


def test_the_best_way_wins_under_both_optimizers_at_lambda_1():
    for optimizer in long_answer.OPTIMIZERS:
        (*_, last) = frames(20, 1.0, optimizer=optimizer, updates=60)
        assert last.policy.argmax() == long_answer.BEST and long_answer.right(last.policy) > 0.75
