import numpy as np
import pytest

from sim.framework.rollout import RolloutEngine
from sim.worlds import modsum

# The dynamic program at the start, c = (2, 1, 0, -1.5): computed independently, and confirmed below by enumeration
# and by sampling.
PASS_RATE = (0.537301469877, 0.239434837120, 0.080168366432, 0.021043107281)
LENGTH = (4.470004258743, 4.676372053592, 3.873294591904, 2.660729035028)
ENTROPY = (5.609986422598, 6.342195469727, 5.369526451712, 3.503610210180)
TRUNCATED = (0.056951075950, 0.058820662375, 0.031676352024, 0.003920580912)


@pytest.fixture(scope="module")
def start():
    return modsum.Policy().params["theta"]


@pytest.fixture(scope="module")
def samples():
    """200,000 completions, 50,000 a prompt."""
    batch, _ = RolloutEngine(modsum.Policy()).generate(modsum.Task(), np.arange(4), 50_000, np.random.default_rng(0))
    return batch


def walk(pi, t=0, running=0, probability=1.0, log_probability=0.0):
    """Every completion of one prompt's table as (probability, log-prob, running sum, tokens, ended): no dynamic
    program.
    """
    ends = probability * pi[running, 3]
    yield ends, log_probability + np.log(pi[running, 3]), running, t + 1, True
    for digit in (1, 2, 3):
        p, lp = probability * pi[running, digit - 1], log_probability + np.log(pi[running, digit - 1])
        if t + 1 == modsum.T:
            yield p, lp, (running + digit) % 7, t + 1, False
        else:
            yield from walk(pi, t + 1, (running + digit) % 7, p, lp)


def test_the_exact_numbers_of_the_start(start):
    exact = modsum.exact(start)
    np.testing.assert_allclose(exact["pass_rate"], PASS_RATE, atol=1e-11)
    np.testing.assert_allclose(exact["length"], LENGTH, atol=1e-11)
    np.testing.assert_allclose(exact["completion_entropy"], ENTROPY, atol=1e-11)
    np.testing.assert_allclose(exact["truncated"], TRUNCATED, atol=1e-11)


def test_the_dynamic_programme_equals_the_sum_over_every_completion(start, monkeypatch):
    monkeypatch.setattr(modsum, "T", 6)  # 3^0 + … + 3^6 completions instead of 800,000
    theta = start + np.random.default_rng(3).normal(size=start.shape)
    exact = modsum.exact(theta)
    for x, target in enumerate(modsum.TARGETS):
        rows = list(walk(np.exp(modsum.log_softmax(theta[x]))))
        assert sum(p for p, *_ in rows) == pytest.approx(1, abs=1e-12)
        assert sum(p for p, _, s, _, ended in rows if ended and s == target) == pytest.approx(
            exact["pass_rate"][x], abs=1e-12
        )
        assert -sum(p * lp for p, lp, *_ in rows) == pytest.approx(exact["completion_entropy"][x], abs=1e-12)
        assert sum(p * n for p, _, _, n, _ in rows) == pytest.approx(exact["length"][x], abs=1e-12)
        assert sum(p for p, *_, ended in rows if not ended) == pytest.approx(exact["truncated"][x], abs=1e-12)


def test_the_value_of_the_first_position_is_the_pass_rate_and_behind_the_last_nothing_is_right(start):
    value = modsum.value(start)
    np.testing.assert_allclose(value[0, :, 0], modsum.exact(start)["pass_rate"], atol=1e-12)
    assert value.shape == (13, 4, 7) and (value[-1] == 0).all()


def test_sampled_completions_agree_with_the_exact_numbers(samples, start):
    exact, rows = modsum.exact(start), samples.example[:, None] == np.arange(4)
    answers = modsum.Task().answers(samples.tokens, samples.response_mask, samples.finished)
    right = np.array([answer == f"Final: {modsum.TARGETS[x]}" for answer, x in zip(answers, samples.example)])
    for x in range(4):
        assert right[rows[:, x]].mean() == pytest.approx(
            exact["pass_rate"][x], abs=4 * 0.5 / 50_000**0.5
        )  # four standard errors
        assert samples.response_mask[rows[:, x]].sum(axis=1).mean() == pytest.approx(
            exact["length"][x], abs=4 * 3.5 / 50_000**0.5
        )
        assert (~samples.finished[rows[:, x]]).mean() == pytest.approx(
            exact["truncated"][x], abs=4 * 0.25 / 50_000**0.5
        )


def test_three_exact_ascent_steps(start):
    theta, h = start, 1e-5
    for _ in range(3):
        grad = np.zeros_like(theta)
        for where in np.ndindex(theta.shape):  # central differences
            nudge = np.zeros_like(theta)
            nudge[where] = h
            up, down = (modsum.exact(theta + sign * nudge)["pass_rate"].sum() for sign in (1, -1))
            grad[where] = (up - down) / (2 * h)
        theta = theta + 2 * grad / 4
    np.testing.assert_allclose(  # independent implementation of the same ascent
        modsum.exact(theta)["pass_rate"], (0.6058944957, 0.2865850592, 0.0918874792, 0.0222790949), atol=1e-9
    )


def test_the_exact_kl_between_the_two_starts(start):
    hard = modsum.Policy(modsum.HARD).params["theta"]
    np.testing.assert_allclose(
        modsum.exact_kl(start, hard), (0, 0.1406327387, 0.2598075352, 0.1787937563), atol=1e-9
    )  # independent implementation


def test_the_exact_kl_is_the_mean_log_ratio_of_sampled_completions(samples, start):
    hard = modsum.Policy(modsum.HARD)
    log_ratio = (samples.old_logp - hard.token_logp(samples.prompt, samples.tokens, samples.response_mask)[0]).sum(
        axis=1
    )
    exact = modsum.exact_kl(start, hard.params["theta"])
    for x in range(4):
        sampled = log_ratio[samples.example == x]
        assert sampled.mean() == pytest.approx(exact[x], abs=4 * sampled.std() / len(sampled) ** 0.5 + 1e-12)


def test_backward_is_the_gradient_of_the_weighted_log_probs():
    rng = np.random.default_rng(2)
    policy, h = modsum.Policy(), 1e-6
    policy.params["theta"] = policy.params["theta"] + rng.normal(size=(4, 7, 4))
    batch, _ = RolloutEngine(policy).generate(modsum.Task(), np.arange(4), 8, rng)
    coefficient = rng.normal(size=batch.tokens.shape) * batch.response_mask
    for temperature in (1.0, 1.5):

        def total(theta, temperature=temperature):
            other = policy.copy()
            other.params["theta"] = theta
            return (
                coefficient * other.token_logp(batch.prompt, batch.tokens, batch.response_mask, temperature)[0]
            ).sum()

        grad = policy.backward(
            policy.token_logp(batch.prompt, batch.tokens, batch.response_mask, temperature)[2], coefficient
        )["theta"]
        for _ in range(20):
            where = tuple(rng.integers((4, 7, 4)))
            nudge = np.zeros((4, 7, 4))
            nudge[where] = h
            theta = policy.params["theta"]
            assert grad[where] == pytest.approx((total(theta + nudge) - total(theta - nudge)) / (2 * h), abs=1e-7)


def test_log_probs_and_entropy_are_zero_off_the_mask():
    batch, _ = RolloutEngine(modsum.Policy()).generate(modsum.Task(), np.arange(4), 8, np.random.default_rng(0))
    logp, entropy, _ = modsum.Policy().token_logp(batch.prompt, batch.tokens, batch.response_mask)
    assert (logp[batch.response_mask == 0] == 0).all() and (entropy[batch.response_mask == 0] == 0).all()
    assert (logp[batch.response_mask > 0] < 0).all() and (entropy[batch.response_mask > 0] > 0).all()


def test_a_critic_that_is_fitted_at_full_rate_knows_the_mean_return_of_each_visited_cell():
    critic = modsum.Critic(rate=1.0)
    prompt, tokens, mask = np.zeros((3, 1), int), np.array([[0, 3], [0, 3], [1, 3]]), np.ones((3, 2))
    critic.fit(prompt, tokens, mask, np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]))
    np.testing.assert_allclose(
        critic.values(prompt, tokens, mask), [[2 / 3, 0.5], [2 / 3, 0.5], [2 / 3, 1.0]], atol=1e-15
    )


def test_a_critic_learns_nothing_from_tokens_off_the_mask():
    critic = modsum.Critic()
    critic.fit(np.zeros((1, 1), int), np.array([[0, 3, 3]]), np.array([[1.0, 0.0, 0.0]]), np.full((1, 3), 7.0))
    assert np.count_nonzero(critic.table) == 1


def test_the_answer_is_the_residue_and_a_cut_off_completion_has_none():
    tokens = np.array([[2, 2, 1, 3], [2, 2, 1, 2]])  # 3 + 3 + 2 = 8, which is 1 mod 7
    assert modsum.Task().answers(tokens, np.ones((2, 4)), np.array([True, False])) == ["Final: 1", ""]


def test_a_copy_shares_nothing():
    policy = modsum.Policy()
    policy.copy().params["theta"][:] = 9
    assert policy.params["theta"].max() == 2


def test_a_task_of_fewer_prompts_draws_each_of_them_as_often():
    task, rng = modsum.Task(np.array([0, 2, 3])), np.random.default_rng(0)
    assert task.batch_prompts(8, rng).tolist() == [0, 2, 3, 0, 2, 3, 0, 2]
    assert set(task.refill_prompts(100, rng).tolist()) == {0, 2, 3}
    assert modsum.Task().batch_prompts(6, rng).tolist() == [0, 1, 2, 3, 0, 1]


def test_a_critic_with_the_state_of_another_expects_the_same():
    one, other = modsum.Critic(), modsum.Critic()
    one.fit(np.zeros((1, 1), int), np.array([[0, 3, 3]]), np.array([[1.0, 1.0, 0.0]]), np.full((1, 3), 7.0))
    other.load_state_dict(one.state_dict())
    assert (other.table == one.table).all() and one.table.any()
