"""The numbers of the lesson on Dr.GRPO, recomputed."""

import re
from functools import partial

import numpy as np
import pytest

from sim.algorithms import dapo, grpo
from sim.algorithms import dr_grpo as algorithm
from sim.algorithms.recipes import RECIPES
from sim.estimators import group_baselines, length_bias, std_weight
from sim.experiments.runs import add_run, modsum_run
from sim.worlds import modsum
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets import dr_grpo
from widgets.dr_grpo import Knobs

LESSON = Lesson("14")


last = partial(catalogue.last, dr_grpo)


def test_the_four_completions():
    A = grpo.advantage(np.array([[1.0, 0, 0, 0]]), grpo.HP, None)[0]
    rows = re.findall(r"^\| (?:right|wrong, \w+) \| ([01]) \| (\S+) \| (\d+) \| (\S+) \|$", LESSON.text, re.M)
    assert len(rows) == 4
    for (_, advantage, tokens, push), value in zip(rows, A):
        assert float(advantage.replace("−", "-")) == pytest.approx(value, abs=1e-5)
        assert float(push.replace("−", "-")) == pytest.approx(value / int(tokens), abs=1e-6)


def test_the_pushes_on_a_stop():
    probability, score = length_bias.distribution(0.1)
    LESSON.says("0.156", (probability * score / np.arange(1, 65)).sum())
    LESSON.says("0.0601", length_bias.expected_drift(0.3, 0.1, 8, True, "1/|o|"))
    LESSON.says("0.000271", length_bias.expected_drift(0.3, 0.1, 8, True, "token mean", 16))
    LESSON.says("0.00479", length_bias.expected_drift(0.3, 0.1, 8, True, "token mean", 1))
    assert length_bias.expected_drift(0.3, 0.1, 8, True, "token mean", 64) * 4 == pytest.approx(0.000271, rel=0.01)


def test_the_weights_by_group_size():
    (row,) = re.findall(r"^\| \$w_K\(0.02\)/w_K\(0.5\)\$ \| (.*) \|$", LESSON.text, re.M)
    for K, said in zip((2, 3, 4, 8, 16, 64), row.split(" | "), strict=True):
        LESSON.says(said, std_weight.std_weight(0.02, K) / std_weight.std_weight(0.5, K))


@pytest.mark.parametrize(
    "knobs, right, wrong",
    [
        (dict(divisor="1/|o|"), "1.05", "54.1"),
        (dict(divisor="constant"), "9.74", "9.88"),
        (dict(), "8.96", "10.8"),
        (dict(groups=1), "5.23", "33.3"),
    ],
)
def test_the_lengths_at_the_end(knobs, right, wrong):
    LESSON.says(right, last(**knobs).lengths.right[:, -1].mean())
    LESSON.says(wrong, last(**knobs).lengths.wrong[:, -1].mean())


def test_the_rest_of_the_lengths():
    learned = last(divisor="1/|o|", answer_learns=True).lengths
    LESSON.says("0.973", learned.pass_rate[:, -1].mean())
    LESSON.says("42.0", learned.wrong[:, -1].mean())
    LESSON.says("6.38", dr_grpo.apart(last(groups=1)))
    assert dr_grpo.apart(last(divisor="1/|o|", std=False)) > dr_grpo.APART


def test_the_run_on_noise():
    LESSON.says("70.7", 100 * dr_grpo.entropy_left(last(divisor="1/|o|", noise=1e-3)))
    assert dr_grpo.entropy_left(last(divisor="constant", std=False, noise=1e-3)) == pytest.approx(1, abs=2e-3)
    ends = np.array(
        [
            list(dr_grpo.noise_run(Knobs(divisor="1/|o|", noise=1e-3), seed).frames(150))[-1].exact["pass_rate"].mean()
            for seed in range(16)
        ]
    )
    LESSON.says("0.219", modsum.exact(modsum.Policy().params["theta"])["pass_rate"].mean())
    LESSON.says("0.192", ends.mean())
    LESSON.says("0.082", ends.std())
    assert 4 <= (ends > 0.2195).sum() < 8


def test_on_sums_wrong_completions_shrink_under_every_divisor():
    def wrong_length(weights, seed):
        run = add_run(
            grpo, seed=seed, hyper=dict(inner_epochs=1, beta=0.0), hooks=dict(weights=weights), exact_every=99
        )
        batches = [e.summary["batch"] for e in run.iterate(11) if e.stage == 3]
        return [b.response_mask.sum(axis=1)[b.accuracy == 0].mean() for b in (batches[0], batches[10])]

    for file, said in ((grpo, "3.48"), (dapo, "3.56"), (algorithm, "3.39")):
        before, after = np.mean([wrong_length(file.weights, seed) for seed in range(3)], axis=0)
        LESSON.says("4.52", before)
        LESSON.says(said, after)


def test_the_recipes():
    for name, row in RECIPES.items():
        ends = [
            list(modsum_run(row.file, seed=seed, hyper=row.hyper, hooks=row.hooks).frames(60))[-1] for seed in (0, 1)
        ]
        (said,) = re.findall(rf"^\| {re.escape(name)} \|.*\| (\S+) \|$", LESSON.text, re.M)
        LESSON.says(said, np.mean([end.exact["pass_rate"].mean() for end in ends]))
        LESSON.says("5,704" if name == "OLMo 3" else "3,840", np.mean([end.completions for end in ends]))


def test_what_stands_in_italics_is_in_none_of_the_six_files_and_is_quoted():
    own = {
        hook.__name__
        for row in RECIPES.values()
        for hook in row.hooks.values()
        if hook.__module__ == "sim.algorithms.recipes"
    }
    quoted = set(re.findall(r"^sim/algorithms/recipes\.py::(\w+)$", LESSON.text, re.M)) - {"RECIPES"}
    in_italics = {
        cell
        for name in RECIPES
        for cell in re.findall(r"\*([^*|]+)\*", re.search(rf"^\| {re.escape(name)} \|.*$", LESSON.text, re.M)[0])
    }
    assert own == quoted and len(in_italics) == len(own) == 4
    assert RECIPES["OLMo 3"].file is dapo and RECIPES["OLMo 3"].hooks["shape_reward"] is grpo.shape_reward


def test_groups_of_two_and_three_have_one_deviation_and_are_live_in_proportion_to_the_true_gradient():
    for K, factor in ((2, 2), (3, 3)):
        assert f"{factor}p(1-p)" in LESSON.text
        for p in (0.02, 0.1, 0.5, 0.9):
            assert group_baselines.live_probability(p, K) == pytest.approx(factor * p * (1 - p), abs=1e-12)
            assert std_weight.std_weight(p, K) == pytest.approx(std_weight.std_weight(0.5, K), abs=1e-9)
