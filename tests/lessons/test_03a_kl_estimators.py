"""The lesson on KL estimators: what its numbers are computed by, and what it says without a number."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import brentq

from sim.estimators import kl
from sim.worlds.optimizer import AdamW
from tests.lessons import spreads
from widgets.kl_estimators import figures, widget
from widgets.kl_estimators.widget import Knobs

kept = partial(spreads.values, "03a_kl_estimators")
VOCABULARY = 151936  # vocab_size of Qwen3's config.json

REF, POLICY = figures.REF, figures.POLICY
LOG_PROB, REF_LOG_PROB = np.log(POLICY), np.log(REF)
k1, k2, k3 = (value(LOG_PROB, REF_LOG_PROB) for value in kl.VALUE.values())
moments = kl.k_moments(POLICY, REF, POLICY)
asked_for = kl.reverse_kl_gradient(POLICY, REF, kl.softmax_score(POLICY))
best = kl.reverse_kl_optimum(widget.REWARD, REF, 0.3)
reverse, forward = (
    optimum(widget.REWARD, REF, 0.2) for optimum in (kl.reverse_kl_optimum, kl.forward_kl_optimum)
)  # at a price of 0.2
equally_noisy = brentq(lambda d: kl.gaussian_moments(d).variance[2] - d**2, 0.5, 2)
lets_go = np.exp(brentq(lambda x: np.exp(x) - 1 - x - kl.K3_CLAMP, 1, 5))  # where a capped k3 has no slope any more


def weights(estimator, placement):
    """What a sampled token multiplies its push by, (3,)."""
    return kl.gradient_weight(LOG_PROB, REF_LOG_PROB, LOG_PROB, estimator, placement)


def averaged(estimator, placement):
    """The mean gradient on fresh samples."""
    return kl.penalty_gradient(POLICY, REF, POLICY, kl.softmax_score(POLICY), estimator, placement)


def descends(estimator, placement):
    """What that is the gradient of."""
    other = kl.forward_kl_gradient(POLICY, REF, kl.softmax_score(POLICY))
    meaning = {"reverse KL": asked_for, "forward KL": other, "reverse − forward": asked_for - other, "zero": 0 * other}
    gradient = averaged(estimator, placement)
    same = [words for words, exact in meaning.items() if np.allclose(gradient, exact, rtol=0, atol=1e-12)]
    assert same or all(np.abs(gradient - exact).max() > 0.01 for exact in meaning.values())
    return same[0] if same else "neither"


def pair(name):
    """(policy, reference) of a pair on offer."""
    return tuple(np.array(p) for p in widget.PAIRS[name])


def moments_of(name):
    policy, ref = pair(name)
    return kl.k_moments(policy, ref, policy)


confident = moments_of("confident")


def end(knobs):
    (result,) = widget.run(knobs)
    return widget.ended(result)[0]


WEIGHTS = {
    ("k1", "reward"): lambda r: r,
    ("k1", "loss"): np.ones_like,
    ("k1", "loss × ratio"): lambda r: r + 1,
    ("k2", "reward"): lambda r: r**2 / 2,
    ("k2", "loss"): lambda r: r,
    ("k2", "loss × ratio"): lambda r: r**2 / 2 + r,
    ("k3", "reward"): lambda r: np.exp(-r) - 1 + r,
    ("k3", "loss"): lambda r: 1 - np.exp(-r),
    ("k3", "loss × ratio"): lambda r: r,
}


@pytest.mark.parametrize("cell", WEIGHTS, ids=", ".join)
def test_the_weight_of_a_token_in_each_of_the_nine_places(cell):
    np.testing.assert_allclose(weights(*cell), WEIGHTS[cell](k1))


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


def test_a_number_without_a_deviation_stands_for_all_twenty():
    assert kept("k3 in the loss") == pytest.approx([0.77] * 20, abs=0.005)
    for words in ("k1 in the loss", "k1 in the reward", "k3 in the loss"):
        assert kept(words).std(ddof=1) < 0.005
    for words in ("k2 in the loss", "k3 in the loss, times the ratio", "k1 in the reward"):
        assert kept(f"{words}, old samples").std(ddof=1) < 0.005


def test_fresh_k1_in_the_reward_ends_at_the_best_policy():
    assert kept("k1 in the reward").mean() == pytest.approx(kl.divergence(best, REF), abs=0.01)
    assert (REF == widget.REF).all()


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
        assert abs(kept(f"{words}, AdamW") - kept(words)).max() < 0.05


def test_four_of_the_nine_cells_break_at_the_default_price():
    broken = [
        (e, p)
        for e in kl.VALUE
        for p in ("reward", "loss", "loss × ratio")
        for r in widget.run(Knobs(e, p))
        if widget.broken(Knobs(e, p), r)
    ]
    assert broken == [("k1", "loss"), ("k2", "reward"), ("k2", "loss × ratio"), ("k3", "reward")]


def test_where_a_capped_k3_lets_go():
    for factor, pulled in ((lets_go - 0.1, True), (lets_go + 0.1, False)):
        assert (kl.clamped_k3(-np.log(factor), 0.0)[1] != 0) == pulled


def test_what_is_left_of_the_unpaid_tokens():
    """The opening: an eighth and a two-hundredth; the best policy keeps 12.5 %."""
    assert kept("left to the unpaid, reward") == pytest.approx(1 / 8, abs=0.001)
    assert kept("left to the unpaid, loss") == pytest.approx(1 / 200, abs=0.001)
    (result,) = widget.run(Knobs(placement="reward"))
    assert result.best_unpaid == pytest.approx(best[:2].sum())


def test_pushing_the_fallen_goes_farther_than_no_penalty_does():
    for estimator in ("k2", "k3"):
        assert kept(f"{estimator} in the reward, past no penalty").min() > 0.02


def test_the_first_figure_raises_the_fallen_token_or_pushes_it_down():
    assert pytest.approx(np.log(1 / 5)) == figures.FELL
    assert "raised again" in figures.charged(figures.SIDE) and "pushed down again" in figures.charged(figures.FAR)


def test_one_estimator_runs_through_the_dots_in_each_place_and_each_time_another():
    through = [figures.weighed(where)[-3:-1] for where in figures.PLACES]
    assert sorted(through) == ["k1", "k2", "k3"]


def test_the_log_figure_ends_where_the_text_says():
    last = figures.logged()[:, -1]
    np.testing.assert_allclose(last[[0, 2]], 0.838, atol=0.06)
    assert abs(last[1] - 0.959) < 0.02 and np.argmin(moments.variance) == 1
