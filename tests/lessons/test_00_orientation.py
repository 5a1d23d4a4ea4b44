import re
from functools import partial

import numpy as np
import pytest

from sim.algorithms import reinforce
from sim.experiments import cut_arrows
from sim.worlds import modsum
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets import orientation

LESSON = Lesson("00")
START = modsum.exact(modsum.Policy().params["theta"])["pass_rate"]


settled = partial(catalogue.last, orientation)


@pytest.mark.parametrize("digits, right", [([1, 2], True), ([3], True), ([3, 3, 3, 1], True), ([2, 2], False)])
def test_the_task_judges_the_examples_as_the_text_does(digits, right):
    tokens = np.full((1, modsum.T), modsum.EOS)
    tokens[0, : len(digits)] = np.array(digits) - 1  # token 0 is the digit 1
    own = (np.arange(modsum.T) <= len(digits))[None].astype(float)
    (answer,) = modsum.Task().answers(tokens, own, np.array([True]))
    assert (answer == f"Final: {modsum.TARGETS[0]}") == right
    assert f"`{' '.join(map(str, digits))} stop`" in LESSON.text


def test_a_completion_that_never_stops_has_no_answer():
    assert modsum.Task().answers(np.zeros((1, modsum.T), int), np.ones((1, modsum.T)), np.array([False])) == [""]


def test_the_starting_policy_is_as_the_text_says():
    for number, rate in zip(("0.537", "0.239", "0.080", "0.021"), START):
        LESSON.says(number, rate)
    LESSON.says("0.219", START.mean())
    LESSON.says("112", modsum.Policy().params["theta"].size)
    assert modsum.TARGETS[0] == 3 and modsum.T == 12


def test_the_best_of_64_is_0_935_without_training():
    LESSON.says("0.935", np.mean(1 - (1 - START) ** 64))  # closed form


def test_line_3_is_the_gradient_of_the_pass_rate():
    logits = np.array([0.3, -0.2, 0.1, 0.4])  # one decision, four completions, the last two of them right
    reward, pi = np.array([0.0, 0.0, 1.0, 1.0]), np.exp(logits) / np.exp(logits).sum()
    A = reinforce.advantage(reward, reinforce.HP, None)
    _, slopes = reinforce.surrogate(np.log(pi), np.log(pi), A, reinforce.HP, None)
    by_identity = sum(pi[y] * slopes[y] * (np.eye(4)[y] - pi) for y in range(4))
    step, J = 1e-6, lambda z: (np.exp(z) / np.exp(z).sum()) @ reward
    by_difference = np.array([(J(logits + step * e) - J(logits - step * e)) / (2 * step) for e in np.eye(4)])
    np.testing.assert_allclose(by_identity, by_difference, atol=1e-10)


SEEDS = range(5)


def test_the_whole_loop_ends_where_the_text_says():
    whole, free = ([settled(beta=beta, seed=seed) for seed in SEEDS] for beta in (0.1, 0.0))
    assert "between 0.91 and 0.93" in LESSON.text and "about 2 nats" in LESSON.text
    assert all(0.905 < r.pass_rate[-1].mean() < 0.935 and abs(r.kl[-1] - 2) < 0.15 for r in whole)
    assert "0.96 to 0.98 and moves 2.5 to 2.9 nats" in LESSON.text
    assert all(0.96 < r.pass_rate[-1].mean() < 0.98 and 2.5 < r.kl[-1] < 2.9 for r in free)


def test_without_the_sync_policy_and_batches_part_as_the_text_says():
    assert "between 0.61 and 0.64" in LESSON.text and "20 to 23 %" in LESSON.text
    for seed in SEEDS:
        r = settled(cut="weight sync", seed=seed)
        assert 0.605 < r.pass_rate[-1].mean() < 0.645 and r.behind == orientation.ITERATIONS == 60
        assert 0.195 < r.measured[-10:].mean() < 0.235 and abs(r.measured[:10].mean() - r.measured[-10:].mean()) < 0.04


@pytest.mark.parametrize("cut", ["+reward", "loss_fn"])
def test_without_reward_or_loss_the_policy_is_the_first_one_to_the_last_digit(cut):
    r = settled(cut=cut)
    np.testing.assert_array_equal(r.pass_rate[-1], r.pass_rate[0])
    assert r.behind == 0


def test_the_reference_may_be_missing_and_the_loop_still_learns():
    assert settled(cut="ref_logp").pass_rate[-1].mean() > START.mean() + 0.5


def test_five_points_on_a_hundred_prompts_lie_well_inside_the_noise():
    half_width = 1.96 * np.sqrt(2 * 0.25 / 100)  # difference of two independent shares near one half
    LESSON.says("13.9", 100 * half_width)


def test_the_setting_of_the_figure_is_as_the_text_says():
    assert cut_arrows.GROUPS == 8 and "eight groups" in LESSON.text
    assert orientation.ITERATIONS == 60 and "sixty iterations" in LESSON.text


def test_four_lines_and_six_roles():
    assert re.findall(r"^(\d)\. \*\*", LESSON.text, re.M) == ["1", "2", "3", "4"]
    table = LESSON.text[LESSON.text.index("| role | verl") :]
    assert re.findall(r"^\| ([\w. ]+?) \|", table, re.M)[1:] == [
        "rollout",
        "env.verify",
        "reference",
        "algorithm",
        "trainer",
        "controller",
        "weight sync",
    ]
