"""The lesson on GRPO: what its numbers are computed by, and what it says without a number."""

from functools import partial
from itertools import product

import numpy as np
import pytest

from sim.estimators import group_baselines
from sim.estimators.group_baselines import less_mean, live_probability, share_of_gradient, z_score
from sim.experiments import running_batch
from sim.worlds import modsum
from tests.lessons import spreads
from tests.widgets import catalogue
from widgets.grpo import figures
from widgets.grpo import widget as grpo

EXPENSIVE = ("last",)
HOPELESS = "almost never right"
SIZES = (2, 4, 8, 16, 64)
GRADED = np.array([0, 0.3, 1])
TRAINED, FROZEN = 2 + 4 + 12, 2  # bytes a parameter
kept = partial(spreads.values, "11_grpo")
last = partial(catalogue.last, grpo)


ADAMW, RARELY = dict(optimizer="AdamW"), dict(prompts=HOPELESS)
MIXED, RARE = "Mixed prompts, two optimizers: ", "Prompts that are almost never right: "
ROWS = {  # of the tables in two folds
    MIXED: {
        "pairs, SGD at 2": dict(K=2),
        "pairs, SGD at 10": dict(K=2, learning_rate=10.0),
        "sixteens, SGD at 2": dict(K=16),
        "pairs, AdamW at 0.02": dict(K=2, **ADAMW),
        "sixteens, AdamW at 0.02": dict(K=16, **ADAMW),
        "sixty-fours, SGD at 2": dict(K=64),
        "sixty-fours, AdamW at 0.02": dict(K=64, **ADAMW),
    },
    RARE: {
        "fours, SGD at 2": dict(K=4, **RARELY),
        "fours, SGD at 5": dict(K=4, learning_rate=5.0, **RARELY),
        "sixteens, SGD at 2": dict(K=16, **RARELY),
        "fours, AdamW at 0.02": dict(K=4, **RARELY, **ADAMW),
        "sixteens, AdamW at 0.02": dict(K=16, **RARELY, **ADAMW),
        "sixty-fours, SGD at 2": dict(K=64, **RARELY),
        "sixty-fours, AdamW at 0.02": dict(K=64, **RARELY, **ADAMW),
        "sixty-fours, SGD at 20": dict(K=64, learning_rate=20.0, **RARELY),
    },
}


def ends(**knobs):
    return lambda seed: last(seed=seed, **knobs).pass_rate[:, -1].mean()


def live(**knobs):
    return lambda seed: 100 * last(seed=seed, **knobs).live.mean()


def failed(**knobs):
    return lambda seed: (last(seed=seed, **knobs).pass_rate[:, -1] < 0.02).sum()


STEPS = grpo.Knobs.__dataclass_fields__["learning_rate"].metadata["rungs"]

MEASURED = {
    **{
        f"{fold}{row}{words}": measured(**knobs)
        for fold, rows in ROWS.items()
        for row, knobs in rows.items()
        for words, measured in (("", ends), (", percent live", live))
    },
    **{f"default at {step:g}": ends(learning_rate=step) for step in STEPS},
    "sixty-fours, AdamW at 0.2": ends(K=64, learning_rate=20.0, **RARELY, **ADAMW),
    "sixteens, SGD at 2, failed of three": failed(K=16, **RARELY),
    "fours, SGD at 5, failed of three": failed(K=4, learning_rate=5.0, **RARELY),
}


def dead(p, K):
    """Percent of groups."""
    return 100 * sum(group_baselines.dead_probability(p, K))


def signal(p, K):
    """To noise, of a completion, before the division."""
    return group_baselines.signal_to_noise_per_completion(p, K, less_mean)


def alone(K):
    """The z-score of a right completion that stands alone."""
    return z_score(np.array([[1.0] + [0.0] * (K - 1)]))[0, 0]


def undamped(*rewards):
    """z-scores with nothing added to the deviation."""
    return z_score(np.array([rewards]), eps=0.0)[0]


def modsum_start():
    return modsum.exact(modsum.Policy().params["theta"])["pass_rate"]


def mean_estimate(pi, reward, K):
    """The mean over all groups of sum(z-score * score) / K, on the logits of a softmax over answers, each group with
    its probability.
    """
    groups = np.array(list(product(range(len(pi)), repeat=K)))
    pushes = (z_score(reward[groups])[..., None] * (np.eye(len(pi))[groups] - pi)).mean(axis=1)
    return pi[groups].prod(axis=1) @ pushes


def cosine(reward, K=4, pi=(0.7, 0.2, 0.1)):
    """Of the mean estimate with the z-score and the true gradient."""
    pi = np.array(pi)
    estimate, truth = mean_estimate(pi, reward, K), pi * (reward - pi @ reward)
    return estimate @ truth / np.linalg.norm(estimate) / np.linalg.norm(truth)


def test_the_running_batch():
    assert figures.pushes("over deviation") == pytest.approx(np.array([1, -1, 1, -1]) * 0.75**0.5, abs=1e-5)
    two, three = figures.pushes("over length")[[3, 1]]
    assert two / three == pytest.approx(1.5) and "1.5 times as much" in figures.SAID["over length"]
    assert f"{running_batch.RIGHT.std(ddof=1):.2f}" == "0.58" and "0.58" in figures.SAID["over deviation"]


def test_a_right_completion_alone_has_the_z_score_of_the_formula():
    for K in SIZES:
        assert alone(K) == pytest.approx((K - 1) / np.sqrt(K), abs=1e-4)


def test_pairs_say_as_much_of_a_hard_prompt_as_one_group():
    assert signal(0.02, 2) == pytest.approx(signal(0.02, 64), rel=0.05)


def test_the_z_score_leaves_the_direction_if_rewards_are_0_and_1_and_may_turn_it_otherwise():
    for rewards in ([0.0, 0, 1], [0.0, 1, 1]):
        assert cosine(np.array(rewards)) == pytest.approx(1, abs=1e-9)
    pair, four = (cosine(np.array([0, 0.55, 1]), K, (0.72, 0.18, 0.1)) for K in (2, 4))
    assert four < pair - 0.001, "a pair does not bend it most whatever the rewards"


def test_under_adamw_the_size_hardly_matters_and_under_sgd_pairs_that_end_ahead_have_half_the_live_groups():
    pairs, sixteens = (kept(f"{MIXED}{size}, AdamW at 0.02") for size in ("pairs", "sixteens"))
    assert abs(pairs - sixteens).max() < 0.02
    behind, ahead = (kept(f"{MIXED}pairs, SGD at {rate}, percent live") for rate in (2, 10))
    assert behind / ahead == pytest.approx([2] * 20, rel=0.2)


def test_twenty_is_the_best_rate_on_offer():
    assert np.argmax([kept(f"default at {step:g}").mean() for step in STEPS]) == STEPS.index(20.0)


def test_about_99_of_100_groups_are_dead_in_every_seed():
    live = kept(f"{RARE}fours, SGD at 2, percent live")
    assert live.min() > 0.3 and live.max() < 2.5


def test_sixty_fours_are_live_far_more_often_and_only_too_few_updates_break_them():
    assert kept(f"{RARE}sixty-fours, SGD at 20").mean() > 0.1 and kept("sixty-fours, AdamW at 0.2").mean() > 0.1
    for optimizer in ("SGD at 2", "AdamW at 0.02"):
        live = kept(f"{RARE}sixty-fours, {optimizer}, percent live")
        assert (live > 5 * kept(f"{RARE}fours, SGD at 2, percent live")).all()


def test_the_pair_that_differs_by_rounding():
    pair = np.array([[0.3, 0.1 + 0.2]])
    assert 5e-17 < pair[0, 1] - pair[0, 0] < 6e-17 and np.abs(z_score(pair)).max() < 1e-9
    np.testing.assert_array_equal(undamped(*pair[0]), [-1, 0])
    assert (
        pair.mean() == pair.max() and np.nextafter(pair[0, 0], 1) == pair[0, 1]
    )  # neighbors: no number lies between them
    np.testing.assert_allclose(undamped(0.3, 0.4), [-(0.5**0.5), 0.5**0.5])
