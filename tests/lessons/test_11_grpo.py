"""The numbers of the lesson on GRPO, recomputed."""

from functools import partial
from itertools import product

import numpy as np
import pytest

from sim.estimators import group_baselines
from sim.worlds import modsum
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets import grpo

LESSON = Lesson("11")
HOPELESS = "almost never right"
SIZES = (2, 4, 8, 16, 64)


last = partial(catalogue.last, grpo)


def end(**knobs):
    return last(**knobs).pass_rate[:, -1].mean()


def row(words, values):
    assert f"| {words} | {' | '.join(values)} |" in LESSON.text, (words, values)


def test_the_group_of_four():
    rewards = np.array([[1.0, 0, 0, 0]])
    for reward, less, z in zip(rewards[0], group_baselines.less_mean(rewards)[0], group_baselines.z_score(rewards)[0]):
        assert f"| {reward:g} | {less:g} | {z:.1f} |".replace("-", "−") in LESSON.text
    LESSON.says("0.875", group_baselines.share_of_gradient(0.3, 8, group_baselines.less_mean))


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


def test_the_z_score_turns_the_direction_unless_rewards_are_0_and_1():
    pi = np.array([0.7, 0.2, 0.1])

    def cosine(reward):
        estimate, truth = mean_estimate(pi, reward, 4), pi * (reward - pi @ reward)
        return estimate @ truth / np.linalg.norm(estimate) / np.linalg.norm(truth)

    LESSON.says("0.947", cosine(np.array([0, 0.3, 1])))
    assert cosine(np.array([0.0, 0, 1])) == pytest.approx(1, abs=1e-9) and cosine(
        np.array([0.0, 1, 1])
    ) == pytest.approx(1, abs=1e-9)


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


def test_what_was_to_be_seen_on_mixed_prompts():
    start = modsum.exact(modsum.Policy().params["theta"])["pass_rate"]
    LESSON.says("0.54", start[0])
    LESSON.says("0.02", start[3])
    for words, knobs in (
        ("0.789", dict(K=2)),
        ("0.959", dict(K=4)),
        ("0.978", {}),
        ("0.982", dict(K=16)),
        ("0.796", dict(K=64)),
    ):
        LESSON.says(words, end(**knobs))
    LESSON.says("28", 100 * last(K=2).live.mean())
    LESSON.says("61", 100 * last(K=16).live.mean())
    LESSON.says("0.986", end(K=2, learning_rate=10.0))
    LESSON.says("13", 100 * last(K=2, learning_rate=10.0).live.mean())
    assert last(K=64).pass_rate.shape[1] == 15 and "fifteen updates" in LESSON.text


def test_what_was_to_be_seen_on_prompts_that_are_almost_never_right():
    start = grpo.start(HOPELESS)
    LESSON.says("0.0018", start)
    assert 6 < start * grpo.COMPLETIONS < 8 and "seven or so right completions" in LESSON.text
    LESSON.says("99.3", 100 * (1 - last(K=4, prompts=HOPELESS).live.mean()))
    LESSON.says("0.163", end(K=16, prompts=HOPELESS))
    fast = last(K=4, prompts=HOPELESS, learning_rate=5.0)
    LESSON.says("0.165", fast.pass_rate[:, -1].mean())
    LESSON.says("4", 100 * fast.live.mean())
    failed = [(r.pass_rate[:, -1] < 0.02).sum() for r in (last(K=16, prompts=HOPELESS), fast)]
    assert failed == [1, 2] and "One seed of three fails with sixteens, two with fours" in LESSON.text


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
