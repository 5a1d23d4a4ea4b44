"""The numbers of the lesson on Dr.GRPO, recomputed."""

import re
from functools import partial

import numpy as np
import pytest

from sim.algorithms import dapo, grpo
from sim.algorithms import dr_grpo as algorithm
from sim.algorithms.recipes import RECIPES
from sim.estimators import group_baselines, length_bias, std_weight
from sim.experiments.standard_runs import add_run, modsum_optimizer, modsum_run
from sim.worlds import modsum
from tests.lessons.prose import TWENTY, Lesson
from tests.widgets import catalogue
from widgets.dr_grpo import figures
from widgets.dr_grpo import widget as dr_grpo
from widgets.dr_grpo.widget import Knobs

LESSON = Lesson("14")


last = partial(catalogue.last, dr_grpo)


def test_the_four_completions():
    A = grpo.advantage(np.array([[1.0, 0, 0, 0]]), grpo.HP, None)[0]
    rows = re.findall(r"^ *\| (?:right|wrong, \w+) \| ([01]) \| (\S+) \| (\d+) \| (\S+) \|$", LESSON.text, re.M)
    assert len(rows) == 4
    for (_, advantage, tokens, push), value in zip(rows, A):
        assert float(advantage.replace("−", "-")) == pytest.approx(value, abs=1e-5)
        assert float(push.replace("−", "-")) == pytest.approx(value / int(tokens), abs=1e-6)


def test_a_token_of_the_rambling_completion_is_discouraged_eight_times_less():
    own, shared, constant = (figures.token_push(divisor) for divisor in figures.FILES)
    assert own == pytest.approx([3, -1, -1 / 2, -1 / 8])
    for each in (shared, constant):
        assert each == pytest.approx([3, -1, -1, -1])


def test_the_figure_of_the_stop_leaves_nothing_under_a_constant():
    assert "0.156" in figures.stopped("own length") and "taken back by long ones" in figures.stopped("constant")


def test_ever_larger_groups_climb_the_arcsine():
    p, h = np.array([0.02, 0.3, 0.5, 0.9]), 1e-6
    slope = (np.arcsin(np.sqrt(p + h)) - np.arcsin(np.sqrt(p - h))) / h
    assert std_weight.limit_weight(p) == pytest.approx(slope, rel=1e-6)


def test_the_pushes_on_a_stop():
    probability, score = length_bias.distribution(0.1)
    LESSON.says("0.156", (probability * score / np.arange(1, 65)).sum())
    LESSON.says("0.0601", length_bias.expected_drift(0.3, 0.1, 8, True, "1/|o|"))
    LESSON.says("0.000271", length_bias.expected_drift(0.3, 0.1, 8, True, "token mean", 16))
    LESSON.says("0.00479", length_bias.expected_drift(0.3, 0.1, 8, True, "token mean", 1))
    own, shared = (length_bias.expected_drift(0.3, 0.1, 8, True, divisor) for divisor in ("1/|o|", "token mean"))
    assert own / shared == pytest.approx(200, rel=0.15) and "a two-hundredth of the other" in LESSON.text
    assert length_bias.expected_drift(0.3, 0.1, 8, True, "token mean", 64) * 4 == pytest.approx(0.000271, rel=0.01)


def test_the_weights_by_group_size():
    (row,) = re.findall(r"^ *\| \$w_K\(0.02\)/w_K\(0.5\)\$ \| (.*) \|$", LESSON.text, re.M)
    for K, said in zip((2, 3, 4, 8, 16, 64), row.split(" | "), strict=True):
        LESSON.says(said, std_weight.std_weight(0.02, K) / std_weight.std_weight(0.5, K))


def lengths(**knobs):
    """Tokens of right and of wrong completions at the end, at five seeds of the figure."""
    found = [last(seed=seed, **knobs).lengths for seed in range(5)]
    return [np.array([getattr(one, kind)[:, -1].mean() for one in found]) for kind in ("right", "wrong")]


def test_the_lengths_at_the_end():
    right, wrong = lengths(divisor="1/|o|")
    assert right == pytest.approx(1, abs=0.1) and wrong == pytest.approx(54, abs=0.5)
    assert "right completions have 1 token and wrong ones 54" in LESSON.text
    both = np.concatenate(lengths(divisor="constant"))
    assert both.min() == pytest.approx(9.7, abs=0.06) and both.max() == pytest.approx(10.5, abs=0.06)
    right, wrong = lengths()
    assert right == pytest.approx(9, abs=0.5) and wrong == pytest.approx(11, abs=0.7)
    right, wrong = lengths(groups=1)
    assert right.min() > 4.9 and right.max() < 8 and wrong.min() > 29 and wrong.max() < 33.5
    assert (wrong / right).min() > 3.8 and (wrong / right).max() < 6.5 and "four to six times the length" in LESSON.text
    assert "9.7 to 10.5" in LESSON.text and "5 to 8 and 29 to 33" in LESSON.text


def test_the_rest_of_the_lengths():
    learned = last(divisor="1/|o|", answer_learns=True).lengths
    LESSON.says("0.97", learned.pass_rate[:, -1].mean())
    LESSON.says("42", learned.wrong[:, -1].mean())
    assert dr_grpo.apart(last(divisor="1/|o|", std=False)) > dr_grpo.APART


def test_the_lengths_under_adamw():
    adamw = dict(optimizer="AdamW")
    for said, knobs in ((28, adamw), (52, dict(adamw, learning_rate=3.0))):
        assert lengths(divisor="1/|o|", **knobs)[1] == pytest.approx(said, abs=0.7)
        LESSON.says(str(said), said)
    assert lengths(divisor="constant", **adamw)[1] == pytest.approx(10, abs=0.6)


def test_the_share_of_ties_in_a_mixed_batch():
    rng = np.random.default_rng(0)
    ties, live = 1e-3 * rng.normal(size=(400, 8)), np.tile([1.0, 0.0], (400, 4))

    def size(file, R):
        return np.sqrt((file.advantage(R, file.HP, None) ** 2).mean())

    assert size(grpo, ties) / size(grpo, live) == pytest.approx(1, abs=0.01)
    assert size(algorithm, live) / size(algorithm, ties) == pytest.approx(500, rel=0.1)  # 0.5 over 0.001
    assert LESSON.text.count("five-hundredth") == 2
    for sigma in figures.SIGMAS:  # the figure draws the same
        (half, tie), (alone, jitter) = (figures.sizes(one, sigma) for one in figures.ADVANTAGES.values())
        assert tie / half == pytest.approx(1, abs=0.015) and jitter / alone == pytest.approx(1.87 * sigma, rel=0.05)


def test_two_prompts_whose_rewards_differ_in_size_alone():
    # a pair that differs is pushed by 1 / sqrt 2 whatever the sizes: over the true gradient 1 / (sqrt 2 * range)
    for said, reward in (("0.71", 1.0), ("7.07", 0.1)):
        push = group_baselines.z_score(np.array([[reward, 0.0]]))[0, 0]
        LESSON.says(said, push / reward)


@LESSON.when_changed
def test_the_run_on_noise():
    def left(optimizer, **kind):
        return [100 * dr_grpo.entropy_left(last(noise=1e-3, optimizer=optimizer, seed=s, **kind)) for s in TWENTY[:3]]

    both, neither = dict(divisor="1/|o|"), dict(divisor="constant", std=False)
    LESSON.spread("67 ± 8", left("SGD", **both))
    LESSON.spread("66 ± 6", with_both := left("AdamW", **both))
    LESSON.spread("80 ± 7", with_neither := left("AdamW", **neither))
    assert np.mean(with_both) < np.mean(with_neither) and "in 18 of twenty seeds" in LESSON.text
    assert dr_grpo.entropy_left(last(noise=1e-3, **neither)) > 0.995
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

    for file in (grpo, dapo, algorithm):
        before, after = np.transpose([wrong_length(file.weights, seed) for seed in range(5)])
        assert before.min() > 4.25 and before.max() < 4.85 and after.min() > 3.25 and after.max() < 3.85
    assert "from 4.3 to 4.8 tokens to 3.3 to 3.8" in LESSON.text


@LESSON.when_changed
def test_under_adamw_all_rows_end_alike():
    for row in RECIPES.values():
        made = [modsum_optimizer("AdamW", 8.0) for _ in range(2)]
        runs = [
            modsum_run(row.file, seed=seed, optimizer=one, hyper=row.hyper, hooks=row.hooks, exact_every=60)
            for seed, one in enumerate(made)
        ]
        assert np.mean([list(run.frames(60))[-1].exact["pass_rate"].mean() for run in runs]) > 0.96
    assert "end between 0.97 and 1.00" in LESSON.text


@LESSON.when_changed
def test_the_recipes():
    for name, row in RECIPES.items():
        ends = [
            list(modsum_run(row.file, seed=seed, hyper=row.hyper, hooks=row.hooks).frames(60))[-1] for seed in (0, 1)
        ]
        (said,) = re.findall(rf"^ *\| {re.escape(name)} \|.*\| (\S+) \|$", LESSON.text, re.M)
        LESSON.says(said, np.mean([end.exact["pass_rate"].mean() for end in ends]))
        LESSON.says("5,704" if name == "OLMo 3" else "3,840", np.mean([end.completions for end in ends]))


def test_what_stands_in_italics_is_in_none_of_the_six_files_and_is_quoted():
    own = {
        hook.__name__
        for row in RECIPES.values()
        for hook in row.hooks.values()
        if hook.__module__ == "sim.algorithms.recipes"
    }
    quoted = set(re.findall(r"^ *sim/algorithms/recipes\.py::(\w+)$", LESSON.text, re.M)) - {"RECIPES"}
    in_italics = {
        cell
        for name in RECIPES
        for cell in re.findall(r"\*([^*|]+)\*", re.search(rf"^ *\| {re.escape(name)} \|.*$", LESSON.text, re.M)[0])
    }
    assert own == quoted and len(in_italics) == len(own) == 4
    assert RECIPES["OLMo 3"].file is dapo and RECIPES["OLMo 3"].hooks["shape_reward"] is grpo.shape_reward


def test_groups_of_two_and_three_have_one_deviation_and_are_live_in_proportion_to_the_true_gradient():
    for K, factor in ((2, 2), (3, 3)):
        assert f"{factor}p(1-p)" in LESSON.text
        for p in (0.02, 0.1, 0.5, 0.9):
            assert group_baselines.live_probability(p, K) == pytest.approx(factor * p * (1 - p), abs=1e-12)
            assert std_weight.std_weight(p, K) == pytest.approx(std_weight.std_weight(0.5, K), abs=1e-9)
