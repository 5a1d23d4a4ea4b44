"""The lesson on GRPO: what its numbers are computed by, and what it says without a number."""

from functools import partial
from itertools import product

import numpy as np
import pytest

from sim.estimators import group_baselines
from sim.estimators.group_baselines import less_mean, live_probability, share_of_gradient, z_score
from sim.experiments import group_batches
from tests.lessons import spreads
from tests.widgets import catalogue
from widgets.grpo import figures
from widgets.grpo import widget as grpo

EXPENSIVE = ("last",)
HARD = group_batches.RARE
SIZES = (2, 4, 8, 16, 64)
GRADED = np.array([0, 0.3, 1])
TRAINED, FROZEN = 2 + 4 + 12, 2  # bytes a parameter
kept = partial(spreads.values, "11_grpo")
last = partial(catalogue.last, grpo)


ADAMW, RARELY = dict(optimizer="AdamW"), dict(prompts=HARD)
MIXED, RARE = "Mixed sums, two optimizers: ", "Sums that are almost never correct: "
ROWS = {  # of the tables in two folds
    MIXED: {
        "pairs, SGD at 0.04": dict(K=2),
        "pairs, SGD at 0.2": dict(K=2, learning_rate=0.2),
        "eights, SGD at 0.04": dict(K=8),
        "sixteens, SGD at 0.04": dict(K=16),
        "pairs, AdamW at 0.0004": dict(K=2, **ADAMW),
        "sixteens, AdamW at 0.0004": dict(K=16, **ADAMW),
        "sixty-fours, SGD at 0.04": dict(K=64),
        "sixty-fours, AdamW at 0.0004": dict(K=64, **ADAMW),
    },
    RARE: {
        "fours, SGD at 0.04": dict(K=4, **RARELY),
        "fours, SGD at 0.1": dict(K=4, learning_rate=0.1, **RARELY),
        "sixteens, SGD at 0.04": dict(K=16, **RARELY),
        "fours, AdamW at 0.0004": dict(K=4, **RARELY, **ADAMW),
        "sixteens, AdamW at 0.0004": dict(K=16, **RARELY, **ADAMW),
        "sixty-fours, SGD at 0.04": dict(K=64, **RARELY),
        "sixty-fours, SGD at 0.2": dict(K=64, learning_rate=0.2, **RARELY),
        "sixty-fours, AdamW at 0.0004": dict(K=64, **RARELY, **ADAMW),
    },
}


def ends(**knobs):
    return lambda seed: last(seed=seed, **knobs).pass_rate[:, -1].mean()


def live(**knobs):
    return lambda seed: 100 * last(seed=seed, **knobs).live.mean()


STEPS = grpo.Knobs.__dataclass_fields__["learning_rate"].metadata["rungs"]

MEASURED = {
    **{
        f"{fold}{row}{words}": measured(**knobs)
        for fold, rows in ROWS.items()
        for row, knobs in rows.items()
        for words, measured in (("", ends), (", percent live", live))
    },
    **{f"default at {step:g}": ends(learning_rate=step) for step in STEPS},
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


def test_the_four_answers():
    assert figures.pushes("over deviation") == pytest.approx(np.array([1, -1, 1, -1]) * 0.75**0.5, abs=1e-5)
    pushes = figures.pushes("over length")
    assert abs(pushes[1]) > abs(pushes[3]) and [len(row) for row in figures.ROWS] == [4, 3, 4, 4]
    assert f"{figures.RIGHT.std(ddof=1):.2f}" == "0.58" and "0.58" in figures.SAID["over deviation"]


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


def test_under_adamw_the_size_hardly_matters_and_under_sgd_the_better_pairs_have_fewer_live_groups():
    pairs, sixteens = (kept(f"{MIXED}{size}, AdamW at 0.0004") for size in ("pairs", "sixteens"))
    assert abs(pairs - sixteens).max() < 0.04
    behind, ahead = (kept(f"{MIXED}pairs, SGD at {rate}, percent live") for rate in (0.04, 0.2))
    assert (behind > ahead).all()


def test_in_every_seed_fours_learn_hardly_anything_and_sixteens_or_a_longer_step_do():
    fours, longer, sixteens = (kept(RARE + row) for row in list(ROWS[RARE])[:3])
    assert fours.max() < 0.05 and sixteens.min() > 0.2 and longer.min() > 0.2


def test_in_about_half_of_the_batches_of_fours_every_group_is_dead():
    silent = [(last(seed=seed, K=4, prompts=HARD).live == 0).mean() for seed in range(3)]
    assert 0.35 < np.mean(silent) < 0.6


def test_sixty_fours_are_live_about_ten_times_as_often_as_fours_and_only_too_few_updates_break_them():
    live = kept(f"{RARE}sixty-fours, SGD at 0.04, percent live")
    assert 8 < live.mean() / kept(f"{RARE}fours, SGD at 0.04, percent live").mean() < 13
    assert kept(f"{RARE}sixty-fours, SGD at 0.2").mean() > 0.1


def test_the_answer_of_a_learned_sum_is_given_to_the_others_too():
    batch = figures.batch_of("groups of 16", 60)
    assert (batch.answers[2:] == "15").sum() > 5 and (batch.answers[2:] == "12").sum() > 5 and not batch.right[2:].any()


def test_the_pair_that_differs_by_rounding():
    pair = np.array([[0.3, 0.1 + 0.2]])
    assert 5e-17 < pair[0, 1] - pair[0, 0] < 6e-17 and np.abs(z_score(pair)).max() < 1e-9
    np.testing.assert_array_equal(undamped(*pair[0]), [-1, 0])
    assert (
        pair.mean() == pair.max() and np.nextafter(pair[0, 0], 1) == pair[0, 1]
    )  # neighbors: no number lies between them
    np.testing.assert_allclose(undamped(0.3, 0.4), [-(0.5**0.5), 0.5**0.5])
