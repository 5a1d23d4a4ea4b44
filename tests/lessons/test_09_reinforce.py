"""The lesson on REINFORCE: what its numbers are computed by, and what it says without a number."""

from dataclasses import dataclass
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
from tests.lessons import spreads
from tests.widgets import catalogue
from widgets.reinforce import figures
from widgets.reinforce import widget as reinforce

EXPENSIVE = ("last", "loud")
kept = partial(spreads.values, "09_reinforce")
last = partial(catalogue.last, reinforce)

two_answers = gradient_noise.two_answer_noise
start = tasks.exact_pass(tasks.checkpoint("add")).mean()
pi = gradient_noise.softmax(LOGITS)  # of the five answers
J = gradient_noise.expected_reward(LOGITS, REWARD)
gradient = gradient_noise.policy_gradient(LOGITS, REWARD)
best = gradient_noise.best_baseline(LOGITS, REWARD)


def noise(b, added=0.0):
    """Of one sample with a constant added to every reward; the error of a mean of n is the root of noise / n."""
    return gradient_noise.noise(LOGITS, REWARD + added, b)


def needed(b, added=0.0):
    """The samples at which signal equals noise."""
    return gradient_noise.samples_for_signal(LOGITS, REWARD + added, b)


@dataclass(frozen=True)
class Sampled:
    """Completions with several tokens: their rewards and squared scores."""

    reward: np.ndarray
    square: np.ndarray

    @property
    def mean(self):
        return self.reward.mean()

    @property
    def best(self):
        return (self.reward * self.square).mean() / self.square.mean()

    def moved(self, b):
        """The part of the noise that a baseline moves."""
        return sampled_noise.moved(self.reward, self.square, b)

    def square_of(self, reward):
        return self.square[self.reward == reward].mean()


def sampled(policy, task, prompts, n, rng):
    batch, _ = RolloutEngine(policy).generate(task, prompts, n, rng)
    return Sampled(Verifier(task).verify(batch).accuracy, sampled_noise.squared_scores(policy, batch))


@cache
def loud(policy, task, prompt):
    """4,000 completions of one prompt, before any training."""
    return sampled(policy(), task(), np.array([prompt]), 4000, np.random.default_rng(0))


def four_small():
    return loud(modsum.Policy, modsum.Task, 0)


def language_model():
    return loud(partial(tasks.checkpoint, "add"), tasks.Add, 75)


def test_the_two_values_of_a_sample():
    for p, b in ((0.9, 0.0), (0.9, 0.9), (0.3, 0.45)):
        right, wrong = (1 - b) * (1 - p), b * p
        assert right - wrong == pytest.approx(1 - p - b, abs=1e-12)
        assert p * right**2 + (1 - p) * wrong**2 - (p * right + (1 - p) * wrong) ** 2 == pytest.approx(
            gradient_noise.two_answer_noise(p, b), abs=1e-12
        )


def test_the_batch():
    after = {
        quantity: running_batch.pass_rate(running_batch.after_one_step(weights))
        for quantity, weights in figures.WEIGHTS.items()
    }
    assert max(after, key=after.get) == "R" and min(after, key=after.get) == "minus the group's mean"
    assert figures.WEIGHTS["minus the group's mean"].tolist() == [0.5, -0.5, 0.5, -0.5]
    np.testing.assert_allclose(figures.WEIGHTS["minus the others'"], np.array([2, -2, 2, -2]) / 3)


def test_one_step_with_a_constant():
    one, none = (running_batch.pass_rate(figures.after(added)) for added in (1, 0))
    assert one > none > running_batch.pass_rate(modsum.Policy())
    after = figures.probability(figures.after(10))
    assert after[3] == pytest.approx(0.75, abs=0.01) and running_batch.RIGHT[3] == 0, "takes three quarters"


def wrong(**knobs):
    """Wrong sums of a hundred at the end of one run, of which the simulator makes three at once."""
    return lambda seed: wrong_at_the_end(reinforce.training(reinforce.Knobs(**knobs), seed))


def wrong_at_the_end(run):
    for _ in run.frames(reinforce.UPDATES):
        pass
    return 100 * (1 - tasks.exact_pass(run.trainer.policy).mean())


def one_less(seed):
    """With one less the pass rate of the others as a baseline."""

    def others(R):
        return R - group_baselines.leave_one_out(R)

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


def NONE(R):
    return 0.0


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
    "one minus the pass rate of the others": one_less,
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


def test_every_mean_doubles_the_sums_that_end_wrong():
    bare = kept("nothing subtracted")
    for baseline in ("group mean", "mean of the others", "batch mean"):
        assert (kept(baseline) > bare).all() and kept(baseline).mean() == pytest.approx(2 * bare.mean(), rel=0.1)


def test_the_damage_is_a_tenth_with_small_steps_and_fourfold_with_pairs():
    for words, times, off in (("rate 0.003", 1.1, 0.05), ("pairs", 4, 0.5)):
        own, bare = kept(f"group mean, {words}"), kept(f"nothing subtracted, {words}")
        assert own.mean() / bare.mean() == pytest.approx(times, abs=off)


def test_ten_added_ruins_it_one_taken_off_doubles_the_damage_and_a_constant_of_a_tenth_is_free():
    bare = kept("nothing subtracted")
    assert kept("10 added").min() > 90
    assert (kept("1 taken off") > 1.5 * bare).all() and kept("1 taken off").mean() > 2 * bare.mean()
    constant = kept("a constant of 0.1") - bare
    assert abs(constant.mean()) < 3 * constant.std(ddof=1) / 20**0.5


@pytest.mark.when_changed()
def test_the_group_mean_takes_a_constant_away():
    centered, plain = (last(baseline="group mean", offset=offset).wrong[0, :, -1] for offset in (10.0, 0.0))
    np.testing.assert_allclose(centered, plain, atol=1e-6)


@pytest.mark.when_changed()
def test_the_noise_on_the_language_model():
    before, *_, after = figures.learning()
    assert before.mean / before.none < 2 and after.mean > 15 * after.none
    run = add_run(algorithm, exact_every=150)
    for _ in run.frames(150):
        pass
    rng = np.random.default_rng(0)
    ended = sampled(run.trainer.policy, tasks.Add(), rng.choice(100, 800), 1, rng)
    assert ended.square_of(0) > 100 and ended.square_of(1) < 1


def test_on_four_prompts_under_adamw_the_groups_mean_does_no_harm_and_the_batchs_does():
    none, group, batch = (kept(f"AdamW, four prompts{of}") for of in ("", ", group mean", ", batch mean"))
    assert spreads.summary(group) == pytest.approx((0.89, 0.01), abs=0.005)
    assert (batch < none).all()


def test_the_squared_score_of_a_softmax_is_what_verl_adds_up():
    np.testing.assert_allclose(((np.eye(5) - pi) ** 2).sum(axis=1), 1 - 2 * pi + (pi**2).sum(), rtol=1e-12)
