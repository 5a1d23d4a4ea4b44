"""The numbers of the lesson on REINFORCE, recomputed."""

from functools import partial

import numpy as np
import pytest

from sim.algorithms import reinforce as algorithm
from sim.estimators import gradient_noise, group_baselines
from sim.estimators.gradient_noise import LOGITS, REWARD
from sim.experiments import running_batch, sampled_noise
from sim.experiments.standard_runs import add_run, modsum_run
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine
from sim.worlds import modsum, tasks
from sim.worlds.optimizer import AdamW
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets.reinforce import figures
from widgets.reinforce import widget as reinforce

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
    LESSON.says("64", mean / none)
    assert 0.9 * 0.1 == pytest.approx(0.1 * 0.9) == pytest.approx(0.09) and "Both give 0.09" in LESSON.text


def test_the_two_values_of_a_sample():
    assert "a right answer says $(1-b)(1-p)$ and a wrong one $bp$" in LESSON.text
    for p, b in ((0.9, 0.0), (0.9, 0.9), (0.3, 0.45)):
        right, wrong = (1 - b) * (1 - p), b * p
        assert right - wrong == pytest.approx(1 - p - b, abs=1e-12)
        assert p * right**2 + (1 - p) * wrong**2 - (p * right + (1 - p) * wrong) ** 2 == pytest.approx(
            gradient_noise.two_answer_noise(p, b), abs=1e-12
        )


@LESSON.when_changed
@pytest.mark.parametrize(
    "words, policy, task, prompt",
    [
        ("the first of the orientation's four", modsum.Policy(), modsum.Task(), 0),
        ("$7+5$ for the language model", tasks.checkpoint("add"), tasks.Add(), 75),
    ],
)
def test_how_far_the_mean_is_from_the_best_baseline_where_completions_have_tokens(words, policy, task, prompt):
    batch, _ = RolloutEngine(policy).generate(task, np.array([prompt]), 4000, np.random.default_rng(0))
    reward, square = Verifier(task).verify(batch).accuracy, sampled_noise.squared_scores(policy, batch)
    mean, best = reward.mean(), (reward * square).mean() / square.mean()
    moved = [sampled_noise.moved(reward, square, b) for b in (0.0, mean, best)]
    row(words, [f"{mean:.3f}", f"{best:.3f}", *(f"{x:#.3g}" for x in moved)])
    if prompt == 75:
        LESSON.says("84", square[reward == 0].mean())
        LESSON.says("28", square[reward == 1].mean())


def test_the_batch():
    after = {
        quantity: running_batch.pass_rate(running_batch.after_one_step(weights))
        for quantity, weights in figures.WEIGHTS.items()
    }
    assert max(after, key=after.get) == "R" and min(after, key=after.get) == "less the group's mean"
    assert figures.WEIGHTS["less the group's mean"].tolist() == [0.5, -0.5, 0.5, -0.5]
    np.testing.assert_allclose(figures.WEIGHTS["less the others'"], np.array([2, -2, 2, -2]) / 3)


def test_one_step_with_a_constant():
    start = running_batch.pass_rate(modsum.Policy())
    assert running_batch.pass_rate(figures.after(1)) > running_batch.pass_rate(figures.after(0)) > start
    after = figures.probability(figures.after(10))
    assert after[3] == pytest.approx(0.75, abs=0.01) and running_batch.RIGHT[3] == 0, "takes three quarters"


def ends(seeds=range(2), **knobs):
    """Wrong sums at the end of each run: with these knobs, and with nothing subtracted."""
    return np.concatenate([last(seed=seed, **knobs).wrong[:, :, -1] for seed in seeds], axis=1)


@LESSON.when_changed
def test_the_mean_on_solved_prompts():
    own, bare = ends(baseline="group mean")
    assert "4.4 to 6.1 of a hundred in six runs, 2.3 to 2.8 without" in LESSON.text
    assert (own > 4.4).all() and (own < 6.1).all() and (bare > 2.3).all() and (bare < 2.8).all()
    for baseline in ("leave-one-out", "batch mean"):
        own, bare = ends(seeds=[0], baseline=baseline)
        assert (own > 1.5 * bare).all()


@LESSON.when_changed
def test_the_size_of_the_damage():
    own, bare = ends(baseline="group mean", learning_rate=0.003)
    assert (own / bare > 1.05).all() and (own / bare < 1.2).all() and "it is a tenth" in LESSON.text
    assert ((own > 16) & (own < 18)).all() and ((bare > 14) & (bare < 16)).all()
    assert "leaves 16 to 18 sums wrong against 14 to 16" in LESSON.text
    own, bare = ends(seeds=[0], baseline="group mean", K=2)
    assert own.mean() / bare.mean() == pytest.approx(4.3, abs=0.5) and "it is fourfold" in LESSON.text
    own, bare = ends(baseline="group mean", K=32)
    assert ((own > 12) & (own < 20)).all() and ((bare > 12) & (bare < 16)).all()
    assert "at 12 to 20 of a hundred with it and at 12 to 16 without" in LESSON.text


@LESSON.when_changed
def test_the_constants():
    own, _ = ends(offset=10.0)
    assert (own > 90).all() and "more than 90 of 100 sums end wrong" in LESSON.text
    LESSON.says("67", last().wrong[0, 0, 0])
    centered = ends(seeds=[0], offset=10.0, baseline="group mean")[0]
    np.testing.assert_allclose(centered, ends(seeds=[0], baseline="group mean")[0], atol=1e-6)
    own, bare = ends(offset=-1.0)
    assert own.mean() > 2 * bare.mean() and "over twice as many sums end wrong" in LESSON.text
    own, bare = ends(seeds=[0], baseline="constant", constant=0.1)
    assert own.mean() < 1.15 * bare.mean()


@LESSON.when_changed
def test_the_noise_on_the_language_model():
    start, *_, end = figures.learning()
    assert start.mean / start.none < 2 and end.mean > 15 * end.none
    run = add_run(algorithm, exact_every=150)
    for _ in run.frames(150):
        pass
    task, rng = tasks.Add(), np.random.default_rng(0)
    batch, _ = RolloutEngine(run.trainer.policy).generate(task, rng.choice(100, 800), 1, rng)
    reward, square = Verifier(task).verify(batch).accuracy, sampled_noise.squared_scores(run.trainer.policy, batch)
    assert square[reward == 0].mean() > 100 and square[reward == 1].mean() < 1


@LESSON.when_changed
def test_one_less_the_pass_rate_is_not_better_than_nothing_on_the_language_model():
    others = lambda R: R - group_baselines.leave_one_out(R)
    for seed in range(5):
        run = add_run(
            algorithm, seed=seed, hooks=dict(advantage=lambda R, hp, batch: R - (1 - others(R))), exact_every=150
        )
        for _ in run.frames(150):
            pass
        assert 100 * (1 - tasks.exact_pass(run.trainer.policy).mean()) > ends()[1].min()


def four_prompts(seed, optimizer=None, offset=0.0, baseline=lambda R: 0.0):
    """The last exact metrics of 100 updates on the four prompts of the orientation."""
    hooks = dict(shape_reward=lambda reward, hp, batch: reward + offset, advantage=lambda R, hp, batch: R - baseline(R))
    run = modsum_run(algorithm, seed=seed, optimizer=optimizer, hooks=hooks, exact_every=100)
    return list(run.frames(100))[-1].exact


def right(seeds, **setting):
    return np.array([four_prompts(seed, **setting)["pass_rate"].mean() for seed in range(seeds)])


GROUP, BATCH = (lambda R: R.mean(axis=1, keepdims=True)), (lambda R: R.mean())


@LESSON.when_changed
def test_the_four_prompts_under_adamw():
    adamw = lambda baseline: np.array(
        [four_prompts(seed, AdamW(0.02, clip=None), baseline=baseline)["pass_rate"].mean() for seed in range(5)]
    )
    bare = np.concatenate([adamw(lambda R: 0.0), adamw(GROUP)])
    assert "between 0.880 and 0.897 right" in LESSON.text and "between 0.824 and 0.869" in LESSON.text
    LESSON.says("0.880", bare.min())
    LESSON.says("0.897", bare.max())
    LESSON.says("0.824", adamw(BATCH).min())
    LESSON.says("0.869", adamw(BATCH).max())


@LESSON.when_changed
def test_the_four_prompts_under_sgd():
    for low, high, setting in (
        ("0.926", "0.946", {}),
        ("0.003", "0.722", dict(offset=10)),
        ("0.928", "0.941", dict(offset=10, baseline=BATCH)),
    ):
        final = right(4, **setting)
        assert f"between {low} and {high}" in LESSON.text
        LESSON.says(low, final.min())
        LESSON.says(high, final.max())
    entropy = lambda **setting: np.mean([four_prompts(s, **setting)["completion_entropy"].mean() for s in range(4)])
    LESSON.says("0.44", entropy(offset=10))
    LESSON.says("1.73", entropy())


@LESSON.when_changed
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
