"""The numbers of the lesson on REINFORCE, recomputed."""

from functools import cache, partial

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
    one, none = (running_batch.pass_rate(figures.after(added)) for added in (1, 0))
    assert one > none > start
    LESSON.says("0.79", one)
    LESSON.says("0.65", none)
    after = figures.probability(figures.after(10))
    assert after[3] == pytest.approx(0.75, abs=0.01) and running_batch.RIGHT[3] == 0, "takes three quarters"


def wrong(**knobs):
    """Wrong sums of a hundred at the end of one run, of which the instrument makes three at once."""
    return lambda seed: wrong_at_the_end(reinforce.training(reinforce.Knobs(**knobs), seed))


def wrong_at_the_end(run):
    for _ in run.frames(reinforce.UPDATES):
        pass
    return 100 * (1 - tasks.exact_pass(run.trainer.policy).mean())


def one_less(seed):
    """With one less the pass rate of the others as a baseline."""
    others = lambda R: R - group_baselines.leave_one_out(R)
    hooks = dict(advantage=lambda R, hp, batch: R - (1 - others(R)))
    return wrong_at_the_end(add_run(algorithm, seed=seed, hooks=hooks, exact_every=reinforce.UPDATES))


GROUP, BATCH = (lambda R: R.mean(axis=1, keepdims=True)), (lambda R: R.mean())
ADAMW = partial(AdamW, 0.02, clip=None)


@cache
def four_prompts(seed, optimizer, baseline, offset):
    """The last exact metrics of 100 updates on the four prompts of the orientation."""
    hooks = dict(shape_reward=lambda reward, hp, batch: reward + offset, advantage=lambda R, hp, batch: R - baseline(R))
    made = optimizer() if optimizer else None
    return list(modsum_run(algorithm, seed=seed, optimizer=made, hooks=hooks, exact_every=100).frames(100))[-1].exact


NONE = lambda R: 0.0


def four(seed, optimizer=None, baseline=NONE, offset=0.0, metric="pass_rate"):
    return four_prompts(seed, optimizer, baseline, offset)[metric].mean()


MEASURED = {
    "nothing subtracted": wrong(),
    "group mean": wrong(baseline="group mean"),
    "mean of the others": wrong(baseline="leave-one-out"),
    "batch mean": wrong(baseline="batch mean"),
    **{
        f"{baseline}, {words}": wrong(baseline=name, **knobs)
        for words, knobs in (("rate 0.003", dict(learning_rate=0.003)), ("pairs", dict(K=2)), ("32", dict(K=32)))
        for baseline, name in (("group mean", "group mean"), ("nothing subtracted", "none"))
    },
    "10 added": wrong(offset=10.0),
    "1 taken off": wrong(offset=-1.0),
    "a constant of 0.1": wrong(baseline="constant", constant=0.1),
    "one less the pass rate of the others": one_less,
    "AdamW, four prompts": lambda seed: four(seed, ADAMW),
    "AdamW, four prompts, group mean": lambda seed: four(seed, ADAMW, GROUP),
    "AdamW, four prompts, batch mean": lambda seed: four(seed, ADAMW, BATCH),
    "SGD, four prompts": lambda seed: four(seed),
    "SGD, four prompts, 10 added": lambda seed: four(seed, offset=10),
    "SGD, four prompts, 10 added, batch mean": lambda seed: four(seed, None, BATCH, offset=10),
    "SGD, four prompts, nats": lambda seed: four(seed, metric="completion_entropy"),
    "SGD, four prompts, 10 added, nats": lambda seed: four(seed, offset=10, metric="completion_entropy"),
    "AdamW, four prompts, 10 added": lambda seed: four(seed, ADAMW, offset=10),
    "AdamW, four prompts, 10 added, nats": lambda seed: four(seed, ADAMW, offset=10, metric="completion_entropy"),
}
kept = LESSON.kept


def test_the_mean_on_solved_prompts():
    bare = kept("nothing subtracted")
    LESSON.spread("5.4 ± 0.7", kept("group mean"))
    LESSON.spread("2.6 ± 0.2", bare)
    for baseline in ("group mean", "mean of the others", "batch mean"):
        assert (kept(baseline) > bare).all() and kept(baseline).mean() == pytest.approx(2 * bare.mean(), rel=0.1)
    assert "about twice as many sums end wrong" in LESSON.text


def test_the_size_of_the_damage():
    own, bare = kept("group mean, rate 0.003"), kept("nothing subtracted, rate 0.003")
    LESSON.spread("16.7 ± 0.2", own)
    LESSON.spread("14.9 ± 0.2", bare)
    assert own.mean() / bare.mean() == pytest.approx(1.1, abs=0.05) and "it is a tenth" in LESSON.text
    own, bare = kept("group mean, pairs"), kept("nothing subtracted, pairs")
    assert own.mean() / bare.mean() == pytest.approx(4, abs=0.5) and "it is fourfold" in LESSON.text
    LESSON.spread("15.9 ± 2.4", kept("group mean, 32"))
    LESSON.spread("14.5 ± 2.7", kept("nothing subtracted, 32"))


def test_the_constants():
    assert kept("10 added").min() > 90 and "more than 90 of 100 sums end wrong" in LESSON.text
    LESSON.says("67", last().wrong[0, 0, 0])
    bare = kept("nothing subtracted")
    assert (kept("1 taken off") > 1.5 * bare).all() and kept("1 taken off").mean() > 2 * bare.mean()
    assert "over twice as many sums end wrong" in LESSON.text
    constant = kept("a constant of 0.1") - bare
    assert abs(constant.mean()) < 3 * constant.std(ddof=1) / 20**0.5 and "is as good as none" in LESSON.text


@LESSON.when_changed
def test_the_group_mean_takes_a_constant_away():
    centered, plain = (last(baseline="group mean", offset=offset).wrong[0, :, -1] for offset in (10.0, 0.0))
    np.testing.assert_allclose(centered, plain, atol=1e-6)


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


def test_one_less_the_pass_rate_is_not_better_than_nothing_on_the_language_model():
    LESSON.spread("2.9 ± 0.2", kept("one less the pass rate of the others"))


def test_the_four_prompts_under_adamw():
    none, group, batch = (kept(f"AdamW, four prompts{of}") for of in ("", ", group mean", ", batch mean"))
    LESSON.spread("0.89 ± 0.01", none)
    LESSON.spread("0.89 ± 0.01", group)
    LESSON.spread("0.85 ± 0.01", batch)
    assert (batch < none).all()


def test_the_four_prompts_under_sgd():
    LESSON.spread("0.93 ± 0.01", kept("SGD, four prompts"))
    LESSON.spread("0.3 ± 0.2", kept("SGD, four prompts, 10 added"))
    LESSON.spread("0.93 ± 0.01", kept("SGD, four prompts, 10 added, batch mean"))
    LESSON.spread("0.6 ± 0.3", kept("SGD, four prompts, 10 added, nats"))
    LESSON.spread("1.7 ± 0.2", kept("SGD, four prompts, nats"))


def test_under_adamw_a_constant_leaves_noise_and_no_certainty():
    LESSON.spread("0.27 ± 0.02", kept("AdamW, four prompts, 10 added"))
    LESSON.spread("5.0 ± 0.2", kept("AdamW, four prompts, 10 added, nats"))


def test_the_squared_score_of_a_softmax_is_what_verl_adds_up():
    pi = gradient_noise.softmax(LOGITS)
    np.testing.assert_allclose(((np.eye(5) - pi) ** 2).sum(axis=1), 1 - 2 * pi + (pi**2).sum(), rtol=1e-12)
