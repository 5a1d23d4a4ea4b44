"""The numbers of the lesson on KL estimators, recomputed."""

import re

import numpy as np
import pytest
from scipy.optimize import brentq

from sim.estimators import kl
from sim.worlds.optimizer import AdamW
from tests.lessons.prose import Lesson
from widgets.kl_estimators import figures, widget
from widgets.kl_estimators.widget import Knobs

LESSON = Lesson("03a")
REF, POLICY = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.1, 0.8])
LOG_PROB, REF_LOG_PROB = np.log(POLICY), np.log(REF)


def end(knobs):
    (result,) = widget.run(knobs)
    return widget.ended(result)[0]


def signed(value, digits):
    return f"{value:.{digits}f}".replace("-", "−")


def test_the_three_token_table():
    values = np.array([value(LOG_PROB, REF_LOG_PROB) for value in kl.VALUE.values()])
    moments = kl.k_moments(POLICY, REF, POLICY)
    for token in range(3):
        cells = " | ".join(signed(v, 3) for v in values[:, token])
        assert f"| {token + 1} | {REF[token]:g} | {POLICY[token]:g} | {cells} |" in LESSON.text
    assert f"| mean under the policy | | | {' | '.join(f'{m:.3f}' for m in moments.mean)} |" in LESSON.text
    assert f"| standard deviation | | | {' | '.join(f'{v:.3f}' for v in np.sqrt(moments.variance))} |" in LESSON.text


def test_the_example_in_words():
    LESSON.says("0.838", kl.divergence(POLICY, REF))
    LESSON.says("0.857", kl.divergence(REF, POLICY))
    LESSON.says("0.120", kl.k_moments(POLICY, REF, POLICY).mean[1] - kl.divergence(POLICY, REF))
    LESSON.says("0.264", POLICY @ (LOG_PROB - REF_LOG_PROB) ** 3 / 6)


def test_the_size_of_the_full_sum():
    LESSON.says("151,936", 151936)  # vocab_size of Qwen3's config.json
    LESSON.says("1.24", 151936 * 8192 / 1e9)
    LESSON.says("2.5", 151936 * 8192 * 2 / 1e9)


def test_where_k3_becomes_the_noisier_log():
    crossing = brentq(lambda mu: kl.gaussian_moments(mu).variance[2] - mu**2, 0.5, 2)
    LESSON.says("1.121", crossing)
    LESSON.says("0.628", crossing**2 / 2)
    LESSON.says("3.5", np.sqrt(kl.gaussian_moments(2.0).variance[2]) / 2)
    LESSON.says("20.8", kl.k3(np.log(0.01), np.log(0.25)))


def test_the_two_gradients_of_the_example():
    score = kl.softmax_score(POLICY)
    LESSON.says("0.438", kl.reverse_kl_gradient(POLICY, REF, score)[2])
    assert "(" + ", ".join(signed(g, 3) for g in kl.reverse_kl_gradient(POLICY, REF, score)) + ")" in LESSON.text
    assert (
        "(" + ", ".join(signed(g, 1) for g in kl.penalty_gradient(POLICY, REF, POLICY, score, "k3", "loss")) + ")"
        in LESSON.text
    )
    k1, k2 = (kl.penalty_gradient(POLICY, REF, POLICY, score, name, "loss") for name in ("k1", "k2"))
    assert np.allclose(k1, 0, atol=1e-12) and "$k_1$ gives (0, 0, 0)" in LESSON.text
    assert np.allclose(k2, kl.reverse_kl_gradient(POLICY, REF, score)) and "$k_2$ the one asked for" in LESSON.text


def test_the_weights_of_single_tokens():
    loss = kl.gradient_weight(LOG_PROB, REF_LOG_PROB, LOG_PROB, "k3", "loss")
    right = kl.gradient_weight(LOG_PROB, REF_LOG_PROB, LOG_PROB, "k3", "loss × ratio")
    for text, value in (("−4.00", loss[0]), ("−1.61", right[0]), ("0.75", loss[2]), ("1.39", right[2])):
        LESSON.says(text, value)


WEIGHTS = {
    r"\ell": lambda r: r,
    "1": np.ones_like,
    r"\ell+1": lambda r: r + 1,
    r"\tfrac12\ell^2": lambda r: r**2 / 2,
    r"\tfrac12\ell^2+\ell": lambda r: r**2 / 2 + r,
    r"e^{-\ell}-1+\ell": lambda r: np.exp(-r) - 1 + r,
    r"1-e^{-\ell}": lambda r: 1 - np.exp(-r),
}


def test_the_nine_averages():
    score = kl.softmax_score(POLICY)
    reverse, forward = kl.reverse_kl_gradient(POLICY, REF, score), kl.forward_kl_gradient(POLICY, REF, score)
    meaning = {
        "**reverse KL**": reverse,
        "forward KL": forward,
        "reverse − forward": reverse - forward,
        "zero": np.zeros(3),
    }
    table = LESSON.text[LESSON.text.index("| mean gradient |") :]
    for estimator in kl.VALUE:
        row = re.search(rf"\| \$k_{estimator[1]}\$ \|(.+)\|", table)[1].split("|")
        for cell, placement in zip(row, ("reward", "loss", "loss × ratio"), strict=True):
            written, _, cell = cell.partition("$, ")
            weight = kl.gradient_weight(LOG_PROB, REF_LOG_PROB, LOG_PROB, estimator, placement)
            np.testing.assert_allclose(weight, WEIGHTS[written.strip(" $")](LOG_PROB - REF_LOG_PROB))
            gradient = kl.penalty_gradient(POLICY, REF, POLICY, score, estimator, placement)
            if cell.strip() == "neither":
                assert all(np.abs(gradient - other).max() > 0.01 for other in meaning.values())
            else:
                np.testing.assert_allclose(gradient, meaning[cell.strip()], atol=1e-12)


def ends(estimator, placement, gap=0.0):
    return lambda seed: end(Knobs(estimator=estimator, placement=placement, gap=gap, seed=seed))


def of(read, **knobs):
    return lambda seed: read(next(widget.run(Knobs(**knobs, seed=seed))))


def past_free(result):
    """Nats that a run ends farther than one without a penalty."""
    with_penalty, free = widget.ended(result)
    return with_penalty - free


MEASURED = {
    "k3 in the loss": ends("k3", "loss"),
    "k3 in the loss, times the ratio": ends("k3", "loss × ratio"),
    "k1 in the loss": ends("k1", "loss"),
    "k1 in the reward": ends("k1", "reward"),
    "k2 in the loss, old samples": ends("k2", "loss", gap=0.5),
    "k3 in the loss, times the ratio, old samples": ends("k3", "loss × ratio", gap=0.5),
    "k1 in the reward, old samples": ends("k1", "reward", gap=0.5),
    "k1 in the loss, AdamW": lambda seed: with_adamw("k1", "loss", seed),
    "k1 in the reward, AdamW": lambda seed: with_adamw("k1", "reward", seed),
    "k3 in the loss, times the ratio, AdamW": lambda seed: with_adamw("k3", "loss × ratio", seed),
    "left to the unpaid, reward": of(widget.left, placement="reward"),
    "left to the unpaid, loss": of(widget.left, placement="loss"),
    "k2 in the reward, past no penalty": of(past_free, estimator="k2"),
    "k3 in the reward, past no penalty": of(past_free, estimator="k3"),
}
kept = LESSON.kept


def test_the_ratio_turns_a_penalty_of_0_77_nats_into_one_that_ends_at_the_best_policy():
    LESSON.spread("1.06 ± 0.01", kept("k3 in the loss, times the ratio"))
    assert kept("k3 in the loss") == pytest.approx([0.77] * 20, abs=0.005) and "in each of twenty" in LESSON.text


def test_where_training_ends():
    LESSON.says("1.06", kl.divergence(kl.reverse_kl_optimum(widget.REWARD, widget.REF, 0.3), widget.REF))
    for text, words in (
        ("1.57", "k1 in the loss"),
        ("1.06", "k1 in the reward"),
        ("0.77", "k3 in the loss"),
        ("0.7", "k2 in the loss, old samples"),
        ("1.06", "k3 in the loss, times the ratio, old samples"),
        ("1.5", "k1 in the reward, old samples"),
    ):
        LESSON.says(text, kept(words).mean())
        assert kept(words).std(ddof=1) < 0.005, "a number without a deviation stands for all twenty"


def with_adamw(estimator, placement, seed):
    """KL at the end of one run of the widget's bandit under AdamW, fresh samples, β = 0.3."""
    rng, params, optimizer = np.random.default_rng(seed), dict(logits=np.log(REF)), AdamW(0.05)
    seen = []
    for _ in range(400):
        policy = np.exp(params["logits"] - params["logits"].max())
        policy /= policy.sum()
        logp = np.log(policy)
        penalty = 0.3 * kl.VALUE[estimator](logp, REF_LOG_PROB) * (placement == "reward")
        weight = widget.REWARD - penalty - policy @ (widget.REWARD - penalty)
        if placement != "reward":
            weight = weight - 0.3 * kl.gradient_weight(logp, REF_LOG_PROB, logp, estimator, placement)
        push = rng.multinomial(64, policy) / 64 * weight
        optimizer.step(params, dict(logits=policy * push.sum() - push))
        seen.append(kl.divergence(policy, REF))
    return np.mean(seen[-100:])


def test_adamw_ends_where_sgd_does():
    for words in ("k1 in the loss", "k1 in the reward", "k3 in the loss, times the ratio"):
        assert abs(kept(f"{words}, AdamW") - kept(words)).max() < 0.05 and "within 0.05 nats" in LESSON.text


def test_four_of_the_nine_cells_break_at_the_default_price():
    broken = [
        (e, p)
        for e in kl.VALUE
        for p in ("reward", "loss", "loss × ratio")
        for r in widget.run(Knobs(e, p))
        if widget.broken(Knobs(e, p), r)
    ]
    assert broken == [("k1", "loss"), ("k2", "reward"), ("k2", "loss × ratio"), ("k3", "reward")]


def test_the_two_optima_at_a_fifth():
    reverse, forward = (
        optimum(widget.REWARD, widget.REF, 0.2) for optimum in (kl.reverse_kl_optimum, kl.forward_kl_optimum)
    )
    for text, value in (("0.974", reverse[2]), ("0.847", forward[2]), ("0.016", reverse[0]), ("0.095", forward[0])):
        LESSON.says(text, value)


def test_where_a_capped_k3_lets_go():
    LESSON.says("13.6", np.exp(brentq(lambda x: np.exp(x) - 1 - x - kl.K3_CLAMP, 1, 5)))
    for factor, pulled in ((13.5, True), (13.7, False)):
        assert (kl.clamped_k3(-np.log(factor), 0.0)[1] != 0) == pulled


def test_the_sign_of_k2s_bias():
    LESSON.says("0.625", kl.gaussian_moments(1.0).mean[1])
    near, ref = (np.array(p) for p in widget.PAIRS["near"])
    LESSON.says("0.2180", kl.divergence(near, ref))
    LESSON.says("0.2091", kl.k_moments(near, ref, near).mean[1])


def test_the_confident_pair():
    confident, ref = (np.array(p) for p in widget.PAIRS["confident"])
    LESSON.says("0.575", kl.divergence(confident, ref))
    variance = kl.k_moments(confident, ref, confident).variance
    LESSON.says("2.83", np.sqrt(variance[2] / variance[0]))


def test_what_is_left_of_the_unpaid_tokens():
    """The opening: an eighth and a two-hundredth; the best policy keeps 12.5 %."""
    assert kept("left to the unpaid, reward") == pytest.approx(1 / 8, abs=0.001)
    assert kept("left to the unpaid, loss") == pytest.approx(1 / 200, abs=0.001)
    (result,) = widget.run(Knobs(placement="reward"))
    LESSON.says("12.5", 100 * result.best_unpaid)


def test_pushing_the_fallen_goes_farther_than_no_penalty_does():
    for estimator in ("k2", "k3"):
        assert kept(f"{estimator} in the reward, past no penalty").min() > 0.02


def test_the_first_figure_raises_the_fallen_token_or_pushes_it_down():
    LESSON.says("0.838", kl.divergence(figures.POLICY, figures.REF))
    assert pytest.approx(np.log(1 / 5)) == figures.FELL and "Token 1 fell to a fifth" in LESSON.text
    assert "raised again" in figures.charged(figures.SIDE) and "pushed down again" in figures.charged(figures.FAR)


def test_one_estimator_runs_through_the_dots_in_each_place_and_each_time_another():
    told = [figures.weighed(where)[-3:-1] for where in figures.PLACES]
    assert sorted(told) == ["k1", "k2", "k3"]


def test_the_log_figure_ends_where_the_text_says():
    last = figures.logged()[:, -1]
    np.testing.assert_allclose(last[[0, 2]], 0.838, atol=0.06)
    assert abs(last[1] - 0.959) < 0.02 and np.argmin(kl.k_moments(POLICY, REF, POLICY).variance) == 1
