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
from tests.lessons.prose import Lesson, agrees
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


def of(read, **knobs):
    return lambda seed: read(last(seed=seed, **knobs))


def both(words, **knobs):
    """Tokens of right and of wrong completions at the end, means of a seed's sixteen runs."""
    end = lambda kind: of(lambda r: getattr(r.lengths, kind)[:, -1].mean(), **knobs)
    return {f"{words}, {kind}": end(kind) for kind in ("right", "wrong")}


def left(optimizer, **knobs):
    return of(lambda r: 100 * dr_grpo.entropy_left(r), noise=1e-3, optimizer=optimizer, **knobs)


def on_sums(file, when):
    """Tokens of wrong completions of the sums, before training or after ten updates."""

    def measured(seed):
        hyper, hooks = dict(inner_epochs=1, beta=0.0), dict(weights=file.weights)
        run = add_run(grpo, seed=seed, hyper=hyper, hooks=hooks, exact_every=99)
        batch = [event.summary["batch"] for event in run.iterate(1 + when) if event.stage == 3][when]
        return batch.response_mask.sum(axis=1)[batch.accuracy == 0].mean()

    return measured


def wandered(seed):
    """The pass rate after 150 updates on noise, with both divisors."""
    run = dr_grpo.noise_run(Knobs(divisor="1/|o|", noise=1e-3), seed)
    return list(run.frames(150))[-1].exact["pass_rate"].mean()


def recipe(name, optimizer="SGD", learning_rate=2.0, of="pass_rate"):
    """At the end of sixty updates on MODSUM."""
    row = RECIPES[name]

    def measured(seed):
        made = modsum_optimizer(optimizer, learning_rate)
        run = modsum_run(row.file, seed=seed, optimizer=made, hyper=row.hyper, hooks=row.hooks, exact_every=60)
        frame = list(run.frames(60))[-1]
        return frame.completions if of == "completions" else frame.exact["pass_rate"].mean()

    return measured


OWN, CONSTANT, ADAMW = dict(divisor="1/|o|"), dict(divisor="constant"), dict(optimizer="AdamW")
NEITHER = dict(divisor="constant", std=False)

MEASURED = {
    **both("own length", **OWN),
    **both("constant", **CONSTANT),
    **both("token mean"),
    **both("token mean, one prompt a batch", groups=1),
    **both("own length, the answer learns", answer_learns=True, **OWN),
    **both("own length, AdamW", **OWN, **ADAMW),
    **both("own length, AdamW at 0.03", learning_rate=3.0, **OWN, **ADAMW),
    **both("constant, AdamW", **CONSTANT, **ADAMW),
    "own length, the answer learns, pass rate": of(
        lambda r: r.lengths.pass_rate[:, -1].mean(), answer_learns=True, **OWN
    ),
    **{
        f"sums, {words}, after {when}": on_sums(file, when)
        for words, file in (("own length", grpo), ("token mean", dapo), ("constant", algorithm))
        for when in (0, 10)
    },
    "noise, both divisors, pass rate": wandered,
    **{name: recipe(name) for name in RECIPES},
    **{f"{name}, AdamW": recipe(name, "AdamW", 8.0) for name in RECIPES},
    "OLMo 3, completions": recipe("OLMo 3", of="completions"),
    "noise, both divisors": left("SGD", **OWN),
    "noise, both divisors, AdamW": left("AdamW", **OWN),
    "noise, neither": left("SGD", **NEITHER),
    "noise, neither, AdamW": left("AdamW", **NEITHER),
}


kept = LESSON.kept


def test_the_lengths_at_the_end():
    assert kept("own length, right") == pytest.approx(1, abs=0.1)
    assert kept("own length, wrong") == pytest.approx(54, abs=0.5)
    for kind in ("right", "wrong"):
        LESSON.spread("10.1 ± 0.3", kept(f"constant, {kind}"))
    right, wrong = (kept(f"token mean, {kind}") for kind in ("right", "wrong"))
    assert right.mean() == pytest.approx(9, abs=0.5) and wrong.mean() == pytest.approx(11, abs=0.5)
    right, wrong = (kept(f"token mean, one prompt a batch, {kind}") for kind in ("right", "wrong"))
    LESSON.spread("5.8 ± 0.6", right)
    LESSON.spread("32 ± 1", wrong)
    assert (wrong / right).min() > 4 and (wrong / right).max() < 7 and "four to seven times the length" in LESSON.text


def test_the_rest_of_the_lengths():
    LESSON.says("0.97", kept("own length, the answer learns, pass rate").mean())
    LESSON.says("42", kept("own length, the answer learns, wrong").mean())
    assert dr_grpo.apart(last(divisor="1/|o|", std=False)) > dr_grpo.APART


def test_the_lengths_under_adamw():
    LESSON.says("28", kept("own length, AdamW, wrong").mean())
    LESSON.says("52", kept("own length, AdamW at 0.03, wrong").mean())
    assert kept("constant, AdamW, wrong") == pytest.approx(10, abs=1)


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


def test_the_run_on_noise():
    LESSON.spread("67 ± 8", kept("noise, both divisors"))
    LESSON.spread("66 ± 6", with_both := kept("noise, both divisors, AdamW"))
    LESSON.spread("80 ± 7", with_neither := kept("noise, neither, AdamW"))
    LESSON.counts("is milder in {} of twenty seeds", with_both < with_neither)
    assert kept("noise, neither").min() > 99.5 and "all of it" in LESSON.text
    LESSON.says("0.219", modsum.exact(modsum.Policy().params["theta"])["pass_rate"].mean())
    wandered = kept("noise, both divisors, pass rate")
    LESSON.spread("0.18 ± 0.08", wandered)
    LESSON.counts("{} of the twenty gained", wandered > 0.219)


def test_on_sums_wrong_completions_shrink_under_every_divisor():
    for divisor in ("own length", "token mean", "constant"):
        before, after = (kept(f"sums, {divisor}, after {when}") for when in (0, 10))
        assert (after < before).all() and "in each of twenty seeds" in LESSON.text
        LESSON.spread("4.5 ± 0.3", before)
        assert f"{after.mean():.1f}" in ("3.5", "3.6") and "to between 3.5 and 3.6 in the mean" in LESSON.text


def test_under_adamw_all_rows_end_alike():
    for name in RECIPES:
        assert kept(f"{name}, AdamW").mean() > 0.965 and kept(f"{name}, AdamW").mean() < 1
    assert "end between 0.97 and 1.00" in LESSON.text


@pytest.mark.parametrize("name", RECIPES)
def test_the_recipes(name):
    (said,) = re.findall(rf"^ *\| {re.escape(name)} \|.*\| ([^|]+) \|$", LESSON.text, re.M)
    agrees(said, kept(name))
    LESSON.says("3,840", 60 * 64)
    if name == "OLMo 3":
        assert f"drew {round(kept('OLMo 3, completions').mean(), -2):,.0f} completions" in LESSON.text


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
