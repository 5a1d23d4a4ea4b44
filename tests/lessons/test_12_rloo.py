"""The numbers of the lesson on RLOO, recomputed."""

from functools import partial

import numpy as np

from sim.estimators import gradient_noise, group_baselines
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets import rloo
from widgets.rloo import Knobs

LESSON = Lesson("12")
RATES = np.array([0.1, 0.5, 0.9])


last = partial(catalogue.last, rloo)


def ends(**knobs):
    return last(**knobs).pass_rate[:, :, -1].mean(axis=1)


def row(words, values):
    assert f"| {words} | {' | '.join(values)} |" in LESSON.text, (words, values)


def test_the_group_of_four():
    rewards = np.array([[1.0, 0, 0, 0]])
    ours, mean = group_baselines.leave_one_out(rewards)[0], group_baselines.less_mean(rewards)[0]
    for reward, advantage, less in zip(rewards[0], ours, mean):
        assert (
            f"| {reward:g} | {reward - advantage:.3g} | {advantage:.3g} | {less:g} |".replace("-", "−") in LESSON.text
        )


def test_the_noise_of_a_completion():
    def three(noise):
        return [f"{x:.3g}" if x < 0.995 else f"{x:.2f}" for x in noise]

    row("no baseline", three(gradient_noise.two_answer_noise(RATES, 0.0) / (RATES * (1 - RATES)) ** 2))
    for K in (2, 4, 16):
        row(
            f"RLOO, $K={K}$",
            three(1 / group_baselines.signal_to_noise_per_completion(RATES, K, group_baselines.leave_one_out)),
        )
    row("the exact mean as baseline", three(gradient_noise.two_answer_noise(RATES, RATES) / (RATES * (1 - RATES)) ** 2))
    assert (gradient_noise.two_answer_noise(RATES, 1 - RATES) == 0).all()


def test_the_twins():
    for words, value in zip(("0.732", "0.636"), ends()):
        LESSON.says(words, value)
    for words, value in zip(("0.743", "0.517"), ends(K=2)):
        LESSON.says(words, value)
    LESSON.says("0.0000001", rloo.apart(last(optimizer="Adam")))
    assert rloo.apart(last(rescaled=True)) < 1e-12 and "the distance is 0" in LESSON.text
    LESSON.says("0.999", last(twin="z-score").cosine)


def test_reuse():
    result = last(passes=16, learning_rate=8.0)
    LESSON.says("20.8", result.kl_step[0].max())
    LESSON.says("0.09", result.entropy)
    LESSON.says("0.998", result.pass_rate[0, :, -1].mean())
    for ratio in ("per token", "per completion"):
        LESSON.says("0.17", last(passes=16, learning_rate=8.0, ratio=ratio).kl_step[0].max())
    LESSON.says("1.63", 1.05**10)


def test_the_link_that_reuses_the_batch_does_not_break_it_yet():  # the reader has to go on from there
    assert rloo.broken(Knobs(passes=4, learning_rate=4.0), last(passes=4, learning_rate=4.0)) is None
