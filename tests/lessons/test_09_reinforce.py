"""The numbers of the lesson on REINFORCE, recomputed."""

from functools import partial

import numpy as np
import pytest

from sim.algorithms import reinforce as algorithm
from sim.estimators import gradient_noise
from sim.estimators.gradient_noise import LOGITS, REWARD
from sim.experiments.runs import modsum_run
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine
from sim.worlds import modsum, tasks
from sim.worlds.optimizer import AdamW
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets import reinforce

LESSON = Lesson("09")
J = gradient_noise.expected_reward(LOGITS, REWARD)


last = partial(catalogue.last, reinforce)


def signed(value, digits):
    return f"{value:.{digits}f}".replace("-", "−")


def row(words, values):
    assert f"| {words} | {' | '.join(values)} |" in LESSON.text, words


def test_the_five_answers():
    row(r"logit $\theta_a$", [f"{x:g}".replace("-", "−") for x in LOGITS])
    row(r"probability $\pi(a)$", [f"{x:.3f}" for x in gradient_noise.softmax(LOGITS)])
    row("reward $R_a$", [f"{x:g}" for x in REWARD])
    LESSON.says("0.259", J)
    gradient = gradient_noise.policy_gradient(LOGITS, REWARD)
    assert f"({', '.join(signed(g, 3) for g in gradient)})" in LESSON.text
    LESSON.says("0.111", np.linalg.norm(gradient))


def test_how_far_a_mean_of_samples_is_off():
    noise = gradient_noise.noise(LOGITS, REWARD, 0.0)  # the root mean square error of a mean of n is sqrt(noise / n)
    LESSON.says("0.372", np.sqrt(noise))
    LESSON.says("0.037", np.sqrt(noise / 100))
    LESSON.says("0.0037", np.sqrt(noise / 10_000))


def test_the_table_of_offsets():
    bare = [gradient_noise.noise(LOGITS, REWARD + offset, 0.0) for offset in (0, 1, 10)]
    row("noise, no baseline", [f"{bare[0]:.3f}", f"{bare[1]:.3f}", f"{bare[2]:.1f}"])
    row(
        "noise, $b=$ mean reward",
        [f"{gradient_noise.noise(LOGITS, REWARD + offset, J + offset):.4f}" for offset in (0, 1, 10)],
    )
    needed = [gradient_noise.samples_for_signal(LOGITS, REWARD + offset, 0.0) for offset in (0, 1, 10)]
    row("samples until signal equals noise, no baseline", [f"{needed[0]:.1f}", f"{needed[1]:.0f}", f"{needed[2]:,.0f}"])
    row(
        "the same, $b=$ mean reward",
        [f"{gradient_noise.samples_for_signal(LOGITS, REWARD + offset, J + offset):.2f}" for offset in (0, 1, 10)],
    )


def test_the_best_baseline():
    best = gradient_noise.best_baseline(LOGITS, REWARD)
    LESSON.says("0.289", best)
    LESSON.says("0.0752", gradient_noise.noise(LOGITS, REWARD, best))


def test_two_answers():
    none, mean = gradient_noise.two_answer_noise(0.9, 0.0), gradient_noise.two_answer_noise(0.9, 0.9)
    LESSON.says("0.0009", none)
    LESSON.says("0.0576", mean)
    LESSON.says("64", mean / none)
    assert 0.9 * 0.1 == pytest.approx(0.1 * 0.9) == pytest.approx(0.09) and "Both give 0.09" in LESSON.text


def test_the_two_values_of_a_sample():
    assert "is $(1-b)(1-p)$ for the right answer and $bp$ for the wrong one" in LESSON.text
    for p, b in ((0.9, 0.0), (0.9, 0.9), (0.3, 0.45)):
        right, wrong = (1 - b) * (1 - p), b * p
        assert right - wrong == pytest.approx(1 - p - b, abs=1e-12)
        assert p * right**2 + (1 - p) * wrong**2 - (p * right + (1 - p) * wrong) ** 2 == pytest.approx(
            gradient_noise.two_answer_noise(p, b), abs=1e-12
        )


def squared_scores(policy, batch):
    """|s|^2 of each completion, (N,): the gradient of its log-probability, one completion at a time."""

    def squared(i):
        mask = batch.response_mask[i : i + 1]
        _, _, cache = policy.token_logp(batch.prompt[i : i + 1], batch.tokens[i : i + 1], mask)
        return sum((array**2).sum() for array in policy.backward(cache, mask.astype(float)).values())

    return np.array([squared(i) for i in range(len(batch.tokens))])


@pytest.mark.parametrize(
    "words, policy, task, prompt",
    [
        ("the first of [the orientation's](00-orientation.md) four", modsum.Policy(), modsum.Task(), 0),
        ("$7+5$ for the language model of Part I", tasks.checkpoint("add"), tasks.Add(), 75),
    ],
)
def test_how_far_the_mean_is_from_the_best_baseline_where_completions_have_tokens(words, policy, task, prompt):
    batch, _ = RolloutEngine(policy).generate(task, np.array([prompt]), 4000, np.random.default_rng(0))
    reward, square = Verifier(task).verify(batch).accuracy, squared_scores(policy, batch)
    mean, best = reward.mean(), (reward * square).mean() / square.mean()
    moved = [((reward - b) ** 2 * square).mean() for b in (0.0, mean, best)]
    row(words, [f"{mean:.3f}", f"{best:.3f}", *(f"{x:#.3g}" for x in moved)])
    if prompt == 75:
        LESSON.says("84", square[reward == 0].mean())
        LESSON.says("28", square[reward == 1].mean())


def test_what_was_to_be_seen():
    def ends(low, high, **knobs):
        final = last(**knobs).pass_rate[:, -1]
        assert f"between {low} and {high}" in LESSON.text
        LESSON.says(low, final.min())
        LESSON.says(high, final.max())
        return final

    ends("0.926", "0.946")
    LESSON.says("0.365", ends("0.003", "0.722", offset=10.0).mean())
    ends("0.928", "0.941", offset=10.0, baseline="batch mean")
    LESSON.says("0.44", last(offset=10.0).entropy.mean())
    LESSON.says("1.73", last().entropy.mean())
    LESSON.says("22", 100 * modsum.exact(modsum.Policy().params["theta"])["pass_rate"].mean())


def means(**knobs):
    """The mean of the four runs, for five draws of them."""
    return np.array([last(seed=seed, **knobs).pass_rate[:, -1].mean() for seed in range(5)])


def test_what_five_draws_have_in_common():
    spoiled, plain = means(offset=10.0), means()
    assert "at 0.31 to 0.38 in the mean with the constant, at 0.93 to 0.95 without" in LESSON.text
    assert np.round([spoiled.min(), spoiled.max(), plain.min(), plain.max()], 2).tolist() == [0.31, 0.38, 0.93, 0.95]
    assert all(last(seed=s, offset=10.0).entropy.mean() < last(seed=s).entropy.mean() / 2 for s in range(5))
    LESSON.says("0.01", np.abs(means(offset=10.0, baseline="batch mean") - plain).max())
    minus_one = means(offset=-1.0)
    assert "five draws end at 0.88 to 0.93" in LESSON.text
    assert np.round([minus_one.min(), minus_one.max()], 2).tolist() == [0.88, 0.93]
    assert (means(offset=-2.0) < minus_one).all() and "in each of five draws" in LESSON.text


@pytest.mark.parametrize("offset, low, high", [(0, "0.880", "0.898"), (10, "0.250", "0.283")])
def test_under_adamw_a_constant_leaves_noise_and_no_certainty(offset, low, high):
    runs = [
        modsum_run(
            algorithm,
            seed=seed,
            optimizer=AdamW(0.02, clip=None),
            hooks=dict(shape_reward=lambda reward, hp, batch: reward + offset),
            exact_every=100,
        )
        for seed in range(6)
    ]
    final = [list(run.frames(100))[-1].exact for run in runs]
    right = np.array([exact["pass_rate"].mean() for exact in final])
    assert f"between {low} and {high}" in LESSON.text
    LESSON.says(low, right.min())
    LESSON.says(high, right.max())
    if offset:
        entropy = np.array([exact["completion_entropy"].mean() for exact in final])
        assert (np.abs(entropy - 5) < 0.3).all() and "at about 5 nats" in LESSON.text


def test_the_squared_score_of_a_softmax_is_what_verl_adds_up():
    pi = gradient_noise.softmax(LOGITS)
    np.testing.assert_allclose(((np.eye(5) - pi) ** 2).sum(axis=1), 1 - 2 * pi + (pi**2).sum(), rtol=1e-12)
