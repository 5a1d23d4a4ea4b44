"""The lesson on Dr.GRPO: what its numbers are computed by, and what it says without a number."""

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
from tests.lessons import spreads
from tests.widgets import catalogue
from tools.pages import bound
from widgets.dr_grpo import figures
from widgets.dr_grpo import widget as dr_grpo
from widgets.dr_grpo.widget import Knobs

DIVISORS = "own length", "token mean", "constant"
kept = partial(spreads.values, "14_dr_grpo")
last = partial(catalogue.last, dr_grpo)

A = grpo.advantage(np.array([[1.0, 0, 0, 0]]), grpo.HP, None)[0]
own_push = figures.token_push("own length")
start_rate = modsum.exact(modsum.Policy().params["theta"])["pass_rate"].mean()


def hard_over_medium(K):
    return std_weight.std_weight(0.02, K) / std_weight.std_weight(0.5, K)


def score_over_length(h):
    """The mean of a length's score over the length."""
    probability, score = length_bias.distribution(h)
    return (probability * score / np.arange(1, 65)).sum()


def drift(divisor, groups=16):
    """The push on a stop in the first update."""
    return length_bias.expected_drift(0.3, 0.1, 8, True, divisor, groups)


def times_as_long(**knobs):
    """Tokens of wrong completions over those of right ones, at the end."""
    lengths = last(**knobs).lengths
    return lengths.wrong[:, -1].mean() / lengths.right[:, -1].mean()


def one_prompt():
    """The same with one prompt a batch, over seeds."""
    words = "token mean, one prompt a batch"
    return kept(f"{words}, wrong") / kept(f"{words}, right")


def sums(divisor, when):
    return kept(f"sums, {divisor}, after {when}")


def ends_of(values):
    return min(values), max(values)


def within(distance, number, values):
    """Whether all values are that near to a number."""
    return np.abs(values - number).max() <= distance


def size(file, R):
    return np.sqrt((file.advantage(R, file.HP, None) ** 2).mean())


jitter = 1e-3 * np.random.default_rng(0).normal(size=(400, 8))
half_right = np.tile([1.0, 0.0], (400, 4))
live, ties = size(algorithm, half_right), size(algorithm, jitter)


def pair_push(reward):
    """On the one that is paid, of a pair: 1 / sqrt 2 whatever the reward, over a true gradient that grows with it."""
    return group_baselines.z_score(np.array([[reward, 0.0]]))[0, 0] / reward


of_recipes = {  # functions of recipes that are in none of the six files
    hook.__name__
    for row in RECIPES.values()
    for hook in row.hooks.values()
    if hook.__module__ == "sim.algorithms.recipes"
}


def of(read, **knobs):
    return lambda seed: read(last(seed=seed, **knobs))


def both(words, **knobs):
    """Tokens of right and of wrong completions at the end, means of a seed's sixteen runs."""

    def end(kind):
        return of(lambda r: getattr(r.lengths, kind)[:, -1].mean(), **knobs)

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


def test_the_figures_of_the_rows_and_of_the_stop():
    own, shared, constant = (figures.token_push(divisor) for divisor in figures.FILES)
    assert own == pytest.approx([3, -1, -1 / 2, -1 / 8])
    for each in (shared, constant):
        assert each == pytest.approx([3, -1, -1, -1])
    assert f"{score_over_length(0.1):.3f}" in figures.stopped("own length")
    assert "short and long completions cancel" in figures.stopped("constant")


def test_ever_larger_groups_climb_the_arcsine():
    p, h = np.array([0.02, 0.3, 0.5, 0.9]), 1e-6
    slope = (np.arcsin(np.sqrt(p + h)) - np.arcsin(np.sqrt(p - h))) / h
    assert std_weight.limit_weight(p) == pytest.approx(slope, rel=1e-6)


def test_under_a_constant_right_and_wrong_completions_keep_one_length():
    right, wrong = (spreads.summary(kept(f"constant, {kind}")) for kind in ("right", "wrong"))
    assert np.round(right, 1) == pytest.approx(np.round(wrong, 1))
    assert within(1, 10, kept("constant, AdamW, wrong"))


def test_leaving_out_the_deviation_leaves_the_lengths_apart():
    assert dr_grpo.apart(last(divisor="1/|o|", std=False)) > dr_grpo.APART


def test_ties_have_full_size_where_they_are_divided():
    assert size(grpo, jitter) / size(grpo, half_right) == pytest.approx(1, abs=0.01)
    for sigma in figures.SIGMAS:  # the figure draws the same
        (half, tie), (alone, noise) = (figures.sizes(one, sigma) for one in figures.ADVANTAGES.values())
        assert tie / half == pytest.approx(1, abs=0.015) and noise / alone == pytest.approx(1.87 * sigma, rel=0.05)


def test_sums_start_alike_under_every_divisor():
    for divisor in DIVISORS:
        assert (sums(divisor, 0) == sums("own length", 0)).all()


def test_what_is_in_none_of_the_six_files_is_quoted():
    quoted = re.findall(r"sim/algorithms/recipes\.py::(\w+)$", bound.page("14-dr-grpo"), re.M)
    assert of_recipes == {*quoted} - {"RECIPES"}
    assert RECIPES["OLMo 3"].file is dapo and RECIPES["OLMo 3"].hooks["shape_reward"] is grpo.shape_reward


@pytest.mark.parametrize("K", [2, 3])
def test_groups_of_two_and_three_have_one_deviation_and_are_live_in_proportion_to_the_true_gradient(K):
    for p in (0.02, 0.1, 0.5, 0.9):
        assert group_baselines.live_probability(p, K) == pytest.approx(K * p * (1 - p), abs=1e-12)
        assert std_weight.std_weight(p, K) == pytest.approx(std_weight.std_weight(0.5, K), abs=1e-9)
