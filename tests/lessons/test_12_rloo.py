"""The numbers of the lesson on RLOO, recomputed."""

from dataclasses import asdict
from functools import partial

import numpy as np
import pytest

from sim.estimators import gradient_noise, group_baselines
from sim.worlds import modsum
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets.rloo import figures
from widgets.rloo import widget as rloo

LESSON = Lesson("12")
RATES = np.array([0.1, 0.5, 0.9])
last = partial(catalogue.last, rloo)


def of(read, **knobs):
    return lambda seed: read(last(seed=seed, **knobs))


def farthest(r):
    return r.kl_step[0].max()


def right(r):
    return r.pass_rate[0, :, -1].mean()


FAR = dict(passes=16, learning_rate=8.0)

MEASURED = {
    **{
        f"{words}, groups of {K}": of(lambda r, i=i: r.pass_rate[i, :, -1].mean(), K=K)
        for K in (4, 2)
        for i, words in enumerate(("RLOO", "group mean"))
    },
    "apart": of(rloo.apart),
    "apart, Adam": of(rloo.apart, optimizer="Adam"),
    "z-score, cosine": of(lambda r: r.cosine, twin="z-score"),
    "z-score, cosine, pairs": of(lambda r: r.cosine, K=2, twin="z-score"),
    **{
        f"sixteen passes{words}: {name}": of(read, **FAR, **knobs)
        for words, knobs in (
            ("", {}),
            (", clip per token", dict(ratio="per token")),
            (", clip per completion", dict(ratio="per completion")),
            (", Adam", dict(optimizer="Adam")),
            (", Adam, clip per token", dict(optimizer="Adam", ratio="per token")),
        )
        for name, read in (("nats", farthest), ("left", rloo.left), ("right", right))
    },
    "one pass at 60: left": of(rloo.left, learning_rate=60.0),
    "one pass at 60: right": of(right, learning_rate=60.0),
}


def row(words, values):
    assert f"| {words} | {' | '.join(values)} |" in LESSON.text, (words, values)


def test_the_group_of_four():
    rewards = np.array([[1.0, 0, 0, 0]])
    ours, mean = group_baselines.leave_one_out(rewards)[0], group_baselines.less_mean(rewards)[0]
    for reward, advantage, less in zip(rewards[0], ours, mean):
        assert (
            f"| {reward:g} | {reward - advantage:.3g} | {advantage:.3g} | {less:g} |".replace("-", "−") in LESSON.text
        )


def test_in_groups_of_two_and_three_the_z_score_is_one_other_factor_away():
    for K, words, factor in ((2, "1.41", 2), (3, "0.87", 1.5)):
        live = group_baselines.outcomes(K)[1:-1]
        ours = group_baselines.leave_one_out(live)
        LESSON.says(words, ours[0, 0] / group_baselines.z_score(live)[0, 0])
        assert np.ptp(ours / group_baselines.z_score(live)) < 1e-9 and factor == K / (K - 1)
    assert "in place of 2 and 1.5" in LESSON.text


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


kept = LESSON.kept


def test_the_twins():
    for K, said in ((4, ("0.74 ± 0.04", "0.64 ± 0.02")), (2, ("0.75 ± 0.04", "0.52 ± 0.02"))):
        ours, twin = (kept(f"{words}, groups of {K}") for words in ("RLOO", "group mean"))
        LESSON.spread(said[0], ours)
        LESSON.spread(said[1], twin)
        assert (ours > twin).all() and "RLOO is ahead in each of the twenty" in LESSON.text
    LESSON.says("0.0000001", rloo.apart(last(optimizer="Adam")))
    assert rloo.apart(last(rescaled=True)) < 1e-12 and "the distance is 0" in LESSON.text


def test_the_z_score_points_nearly_the_same_way():
    assert kept("z-score, cosine").min() > 0.997 and "at least 0.997" in LESSON.text
    assert kept("z-score, cosine, pairs") == pytest.approx(1, abs=1e-9) and "In pairs it is 1" in LESSON.text


def test_reuse():
    LESSON.spread("19 ± 7", kept("sixteen passes: nats"))
    LESSON.spread("1.08 ± 0.05", kept("sixteen passes: left"))
    LESSON.says("1.63", 1.05**10)


@pytest.mark.parametrize(
    "ratio, distance, left", [("per token", "0.20 ± 0.04", "1.8 ± 0.2"), ("per completion", "0.15 ± 0.03", "1.7 ± 0.3")]
)
def test_a_clipped_ratio_keeps_the_distance_and_the_variety(ratio, distance, left):
    LESSON.spread(distance, kept(f"sixteen passes, clip {ratio}: nats"))
    LESSON.spread(left, kept(f"sixteen passes, clip {ratio}: left"))


def test_under_adam_it_keeps_variety_though_not_the_distance():
    LESSON.spread("1.13 ± 0.10", kept("sixteen passes, Adam: left"))
    LESSON.spread("1.40 ± 0.17", kept("sixteen passes, Adam, clip per token: left"))
    LESSON.spread("1.4 ± 0.2", kept("sixteen passes, Adam, clip per token: nats"))


def test_the_twins_part_under_sgd_and_not_under_adam():
    LESSON.spread("0.17 ± 0.05", kept("apart"))
    assert kept("apart, Adam").max() < 1e-6 and "less than a millionth" in LESSON.text


def test_the_figure_of_the_twins_shows_the_runs_of_the_widget():
    for optimizer in ("SGD", "Adam"):
        np.testing.assert_allclose(figures.right(optimizer, "others' mean"), last(optimizer=optimizer).pass_rate[0])


def test_what_leaves_hardly_a_second_completion_and_is_right_all_the_same():
    LESSON.spread("1.17 ± 0.05", kept("one pass at 60: left"))
    ends = np.concatenate([kept("sixteen passes: right"), kept("one pass at 60: right")])
    assert ends.min() > 0.8 and "0.99 of them in the mean" in LESSON.text
    for words in ("sixteen passes", "sixteen passes, clip per token", "sixteen passes, clip per completion"):
        LESSON.says("0.99", kept(f"{words}: right").mean())
    assert "The right completions end at 0.99 in the mean in all three" in LESSON.text


def test_the_opening_and_its_pair_of_numbers():
    one, other = (last(**asdict(knobs)) for knobs in (rloo.OPENING.plain, rloo.OPENING.other))
    assert all(r.pass_rate[0, :, -1].mean() > 0.98 for r in (one, other))
    assert rloo.left(one) > 1.5 > 1.2 > rloo.left(other)


def test_a_pair_is_noisier_than_no_baseline_at_any_p():
    none = gradient_noise.two_answer_noise(figures.P, 0.0) / (figures.P * (1 - figures.P)) ** 2
    assert (figures.noise_of(2) > none).all() and not (figures.noise_of(4) > none).all()


def test_the_hardest_prompt():
    LESSON.says("0.021", modsum.exact(modsum.Policy().params["theta"])["pass_rate"].min())
    assert rloo.UPDATES * 2 == 120
