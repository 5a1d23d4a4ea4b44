"""The numbers of the lesson on GRPO, recomputed."""

import re
from functools import partial
from itertools import product

import numpy as np
import pytest

from sim.estimators import group_baselines
from sim.experiments import running_batch
from sim.worlds import modsum
from tests.lessons.prose import Lesson, agrees
from tests.widgets import catalogue
from widgets.grpo import figures
from widgets.grpo import widget as grpo

LESSON = Lesson("11")
HOPELESS = "almost never right"
SIZES = (2, 4, 8, 16, 64)


last = partial(catalogue.last, grpo)


ADAMW, RARELY = dict(optimizer="AdamW"), dict(prompts=HOPELESS)
MIXED, RARE = "Mixed prompts, two optimizers", "Prompts that are almost never right"
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
        f"{fold}: {row}{words}": measured(**knobs)
        for fold, rows in ROWS.items()
        for row, knobs in rows.items()
        for words, measured in (("", ends), (", percent live", live))
    },
    **{f"default at {step:g}": ends(learning_rate=step) for step in STEPS},
    "sixty-fours, AdamW at 0.2": ends(K=64, learning_rate=20.0, **RARELY, **ADAMW),
    "sixteens, SGD at 2, failed of three": failed(K=16, **RARELY),
    "fours, SGD at 5, failed of three": failed(K=4, learning_rate=5.0, **RARELY),
}


def row(words, values):
    assert f"| {words} | {' | '.join(values)} |" in LESSON.text, (words, values)


def test_the_running_batch():
    assert "here one half" in LESSON.text and running_batch.RIGHT.mean() == 0.5
    assert figures.pushes("over deviation") == pytest.approx(np.array([1, -1, 1, -1]) * 0.75**0.5, abs=1e-5)
    two, three = figures.pushes("over length")[[3, 1]]
    assert two / three == pytest.approx(1.5) and "1.5 times as much" in figures.SAID["over length"]
    assert running_batch.RIGHT.std(ddof=1) == pytest.approx(0.58, abs=0.005)
    assert "0.58" in figures.SAID["over deviation"]


def test_the_one_factor():
    LESSON.says("0.875", group_baselines.share_of_gradient(0.3, 8, group_baselines.less_mean))


def test_a_right_completion_alone_and_what_an_answer_tells_where_right_ones_are_rare():
    for number, K in (("0.71", 2), ("1.5", 4), ("3.75", 16)):
        LESSON.says(number, (K - 1) / np.sqrt(K))
        alone = np.array([[1.0] + [0.0] * (K - 1)])
        assert group_baselines.z_score(alone)[0, 0] == pytest.approx((K - 1) / np.sqrt(K), abs=1e-4)
    LESSON.says("2.5", 3.75 / 1.5)
    for K in figures.SHOWN:
        LESSON.says("0.016", group_baselines.signal_to_noise_per_completion(1 / 64, K, group_baselines.less_mean))


def test_sixty_four_completions_of_a_prompt_that_is_right_one_time_in_fifty():
    pairs, one = (group_baselines.live_probability(0.02, K) for K in (2, 64))
    assert round(100 * (1 - pairs)) == 96 and "96 of 100 pairs are dead" in LESSON.text
    assert 1 < 32 * pairs < 2 and "one or two of the thirty-two pairs" in LESSON.text
    assert one == pytest.approx(3 / 4, abs=0.03) and "three times in four" in LESSON.text
    small, large = (group_baselines.signal_to_noise_per_completion(0.02, K, group_baselines.less_mean) for K in (2, 64))
    assert small == pytest.approx(large, rel=0.05) and "Hardly either" in LESSON.text


def test_the_z_score_weighs_prompts_by_their_pass_rate():
    for words, p in (("1.74", 0.5), ("2.18", 0.1), ("2.41", 0.02)):
        LESSON.says(words, group_baselines.share_of_gradient(p, 8, group_baselines.z_score))


def mean_estimate(pi, reward, K):
    """The mean over all groups of sum(z-score * score) / K, on the logits of a softmax over answers, each group with
    its probability.
    """
    groups = np.array(list(product(range(len(pi)), repeat=K)))
    pushes = (group_baselines.z_score(reward[groups])[..., None] * (np.eye(len(pi))[groups] - pi)).mean(axis=1)
    return pi[groups].prod(axis=1) @ pushes


def cosine(reward, K=4, pi=(0.7, 0.2, 0.1)):
    """Of the mean estimate with the z-score and the true gradient."""
    pi = np.array(pi)
    estimate, truth = mean_estimate(pi, reward, K), pi * (reward - pi @ reward)
    return estimate @ truth / np.linalg.norm(estimate) / np.linalg.norm(truth)


def test_the_z_score_turns_the_direction_unless_rewards_are_0_and_1():

    graded = np.array([0, 0.3, 1])
    for said, K in (("0.935", 2), ("0.947", 4), ("0.973", 8)):
        LESSON.says(said, cosine(graded, K))
    assert cosine(np.array([0.0, 0, 1])) == pytest.approx(1, abs=1e-9) and cosine(
        np.array([0.0, 1, 1])
    ) == pytest.approx(1, abs=1e-9)


def test_a_pair_does_not_bend_the_direction_most_whatever_the_rewards():
    pair, four = (cosine(np.array([0, 0.55, 1]), K, (0.72, 0.18, 0.1)) for K in (2, 4))
    assert four < pair - 0.001 and "in the example above most in a pair" in LESSON.text


def test_the_table_of_dead_groups():
    row("dead groups", [f"{100 * sum(group_baselines.dead_probability(0.02, K)):.1f} %" for K in SIZES])
    share = group_baselines.share_of_gradient
    row(
        r"mean estimate over true gradient, with $A=R-\bar R$",
        [f"{share(0.02, K, group_baselines.less_mean) + 1e-9:.3f}".rstrip("0") for K in SIZES],
    )
    row("the same, with the z-score", [f"{share(0.02, K, group_baselines.z_score):.3g}" for K in SIZES])
    signal = group_baselines.signal_to_noise_per_completion
    row("signal to noise of a completion", [f"{signal(0.02, K, group_baselines.less_mean):.4f}" for K in SIZES])
    LESSON.says("7.5", signal(0.5, 16, group_baselines.less_mean))
    LESSON.says("0.5", signal(0.5, 2, group_baselines.less_mean))
    assert (
        signal(0.02, 16, group_baselines.less_mean) < 1.04 * signal(0.02, 2, group_baselines.less_mean)
        and "within 4 %" in LESSON.text
    )
    LESSON.says("0.71", 1 / np.sqrt(2))
    LESSON.says("3.75", 15 / np.sqrt(16))
    LESSON.says("0.176", group_baselines.pass_rate_seen_alive(0.1, 8))


kept = LESSON.kept


@pytest.mark.parametrize("fold, row", [(fold, row) for fold, rows in ROWS.items() for row in rows])
def test_the_tables_of_two_folds(fold, row):
    text = LESSON.text.partition(f'"{fold}"')[2].partition("???")[0]
    ((right, alive),) = re.findall(rf"^ *\| {re.escape(row)} \| (.*?) \| ?(.*?) ?\|$", text, re.M)
    agrees(right, kept(f"{fold}: {row}"))
    if alive:
        agrees(alive.removesuffix(" %"), kept(f"{fold}: {row}, percent live"))


def test_what_was_to_be_seen_on_mixed_prompts():
    start = modsum.exact(modsum.Policy().params["theta"])["pass_rate"]
    LESSON.says("0.54", start[0])
    LESSON.says("0.02", start[3])
    pairs, sixteens = (kept(f"{MIXED}: {size}, AdamW at 0.02") for size in ("pairs", "sixteens"))
    assert abs(pairs - sixteens).max() < 0.02 and "within two hundredths" in LESSON.text
    behind, ahead = (kept(f"{MIXED}: pairs, SGD at {rate}, percent live") for rate in (2, 10))
    assert behind / ahead == pytest.approx([2] * 20, rel=0.2) and "half as many live groups" in LESSON.text


def test_twenty_is_the_best_rate_on_offer():
    means = [kept(f"default at {step:g}").mean() for step in STEPS]
    assert np.argmax(means) == STEPS.index(20.0) and "is the best on offer here" in LESSON.text


@LESSON.when_changed
def test_one_group_a_prompt_leaves_fifteen_updates():
    assert last(K=64).pass_rate.shape[1] == 15 and "fifteen such batches" in LESSON.text


def test_what_was_to_be_seen_on_prompts_that_are_almost_never_right():
    LESSON.says("0.0018", start := grpo.start(HOPELESS))
    assert 6 < start * grpo.COMPLETIONS < 8 and "seven or so right ones" in LESSON.text
    dead = 100 - kept(f"{RARE}: fours, SGD at 2, percent live")
    assert dead.min() > 97.5 and dead.max() < 99.7 and "About 99 in 100" in LESSON.text
    sixteens, fours = (kept(f"{words}, failed of three").sum() for words in ("sixteens, SGD at 2", "fours, SGD at 5"))
    assert f"Of sixty single runs {sixteens:.0f} fail with sixteens at 2 and {fours:.0f} with fours at 5" in LESSON.text


def test_under_adamw_only_too_few_updates_break_it():
    assert kept(f"{RARE}: sixty-fours, SGD at 20").mean() > 0.1 and kept("sixty-fours, AdamW at 0.2").mean() > 0.1
    assert "a step ten times as long" in LESSON.text
    for optimizer in ("SGD at 2", "AdamW at 0.02"):
        live = kept(f"{RARE}: sixty-fours, {optimizer}, percent live")
        assert (live > 5 * kept(f"{RARE}: fours, SGD at 2, percent live")).all()
    assert "live far more often" in LESSON.text


def test_the_memory():
    trained, frozen = 2 + 4 + 12, 2
    with_reward_model, with_verifier, alone = (
        (2 * trained + 2 * frozen, trained + 2 * frozen),
        (2 * trained + frozen, trained + frozen),
        (2 * trained, trained),
    )
    for with_critic, without in (with_reward_model, with_verifier, alone):
        LESSON.says(str(with_critic), with_critic)
        LESSON.says(str(without), without)
    LESSON.says("45", 100 * (1 - with_reward_model[1] / with_reward_model[0]))


def test_the_pair_that_differs_by_rounding():
    pair = np.array([[0.3, 0.1 + 0.2]])
    assert 5e-17 < pair[0, 1] - pair[0, 0] < 6e-17 and np.abs(group_baselines.z_score(pair)).max() < 1e-9
    np.testing.assert_array_equal(group_baselines.z_score(pair, eps=0.0), [[-1, 0]])
    assert (
        pair.mean() == pair.max() and np.nextafter(pair[0, 0], 1) == pair[0, 1]
    )  # neighbors: no number lies between them
    np.testing.assert_allclose(group_baselines.z_score(np.array([[0.3, 0.4]]), eps=0.0), [[-(0.5**0.5), 0.5**0.5]])
