"""The lesson on RLOO: what its numbers are computed by, and what it says without a number."""

from dataclasses import asdict
from functools import partial

import numpy as np

from sim.estimators import gradient_noise, group_baselines
from sim.worlds import modsum
from tests.lessons import spreads
from tests.widgets import catalogue
from widgets.rloo import figures
from widgets.rloo import widget as rloo

EXPENSIVE = ("last",)
RATES = np.array([0.1, 0.5, 0.9])
RATIOS = "sixteen passes", "sixteen passes, clip per token", "sixteen passes, clip per completion"
kept = partial(spreads.values, "12_rloo")
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


def row(i):
    """Of completion i of four, of which the first is right: reward, mean of the others, both advantages."""
    rewards = np.array([[1.0, 0, 0, 0]])
    advantage, less_mean = group_baselines.leave_one_out(rewards)[0, i], group_baselines.less_mean(rewards)[0, i]
    reward = rewards[0, i]
    return reward, reward - advantage, advantage, less_mean


def one_wrong(K):
    """RLOO's advantages in a group of which the last is wrong."""
    return group_baselines.leave_one_out(rloo.GROUP["one wrong"](K).astype(float)[None])[0]


def z_factors(K):
    """RLOO's advantages over z-scores, in every live group of K."""
    live = group_baselines.outcomes(K)[1:-1]
    return group_baselines.leave_one_out(live) / group_baselines.z_score(live)


def z_factor(K):
    return z_factors(K)[0, 0]


def noise(baseline):
    """Variance of one completion over the squared gradient, at three rates of right answers."""
    return gradient_noise.two_answer_noise(RATES, baseline) / (RATES * (1 - RATES)) ** 2


def noise_of(K):
    return 1 / group_baselines.signal_to_noise_per_completion(RATES, K, group_baselines.leave_one_out)


def quieter_with_the_mean(p):
    """Whether the exact mean is a less noisy baseline than none if a completion is correct with this probability."""
    return gradient_noise.two_answer_noise(p, p) < gradient_noise.two_answer_noise(p, 0.0)


def ahead(K):
    """Whether RLOO ends above the group mean in every seed."""
    return (kept(f"RLOO, groups of {K}") > kept(f"group mean, groups of {K}")).all()


def ends_alike(runs):
    """Whether the right completions of each end at 0.99 in the mean."""
    return all(round(kept(f"{words}: right").mean(), 2) == 0.99 for words in runs)


def start_rates():
    return modsum.exact(modsum.Policy().params["theta"])["pass_rate"]


def test_in_groups_of_two_and_three_the_z_score_is_one_factor_away():
    assert np.ptp(z_factors(2)) < 1e-9 and np.ptp(z_factors(3)) < 1e-9


def test_the_figure_of_the_twins_shows_the_runs_of_the_widget():
    for optimizer in ("SGD", "Adam"):
        np.testing.assert_allclose(figures.right(optimizer, "others' mean"), last(optimizer=optimizer).pass_rate[0])


def test_what_leaves_hardly_a_second_completion_is_right_all_the_same():
    assert min(kept("sixteen passes: right").min(), kept("one pass at 60: right").min()) > 0.8


def test_the_opening_and_its_pair_of_numbers():
    one, other = (last(**asdict(knobs)) for knobs in (rloo.OPENING.plain, rloo.OPENING.other))
    assert all(r.pass_rate[0, :, -1].mean() > 0.98 for r in (one, other))
    assert rloo.left(one) > 1.5 > 1.2 > rloo.left(other)


def test_a_pair_is_noisier_than_no_baseline_at_any_p():
    none = gradient_noise.two_answer_noise(figures.P, 0.0) / (figures.P * (1 - figures.P)) ** 2
    assert (figures.noise_of(2) > none).all() and not (figures.noise_of(4) > none).all()
