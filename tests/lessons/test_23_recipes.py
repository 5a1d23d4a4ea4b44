"""The lesson on recipes and failures: what its numbers are computed by, and what it says without a number."""

import re
from functools import cache

import numpy as np
import pytest

from sim.algorithms import published
from sim.estimators import group_baselines
from sim.experiments import tracelab
from sim.experiments.tracelab import Setting
from tests.lessons import spreads
from tools.pages import bound

EXPENSIVE = ("traced",)
VERIFIABLE, GENERAL = (26, 17, 22, 15), 66  # thousands: math, code, stem, logic; table 4 of R1's second version
PROGRESS = tracelab.TESTS[6].also[0]
RATES = np.linspace(0, 1, 1001)
passing = published.pass_band(RATES, 8, 2, 5)


@cache
def traced(seed=0, **changed):
    return tracelab.trace(Setting(**changed), seed)


def features(seed=0, **changed):
    """What the tests of a run look at."""
    return tracelab.features(traced(seed, **changed))


def ends(seed=0, **changed):
    """Right answers over the last ten steps."""
    return features(seed, **changed)["held_out"]


def reward(**changed):
    return traced(**changed)["proxy"][-10:].mean()


def kl(**changed):
    return traced(**changed)["kl"][-1]


def length(**changed):
    return traced(**changed)["length"][-1]


def verdict(kind, **changed):
    """1 if the tests without the held-out score say so, else 0."""
    return lambda seed: kind == tracelab.classify(features(seed, **changed), use_held_out=False).verdict


def named(seeds):
    """How many runs of all kinds the tests name, each kind with so many seeds."""
    return sum(
        tracelab.classify(features(seed, **changed)).verdict == kind
        for kind, changed in tracelab.KINDS.items()
        for seed in range(seeds)
    )


def advantage_of_the_trick(pay):
    """In a group with fifteen right answers."""
    return group_baselines.z_score(np.array([[pay] + 15 * [1.0]]), 1e-6, ddof=0)[0, 0]


def shared(a, b):
    """(factors with one value in both recipes, factors that both report)."""
    changed, both, _ = published.diff(a, b)
    return both - changed, both


def silent_on(recipe):
    return sum(cell.value == published.NOT_REPORTED for cell in published.PUBLISHED[recipe].factors.values())


def implied(recipe):
    """{quantity: value} that follows from what its paper prints."""
    return {name: value for name, (value, _) in published.budget(recipe).items()}


MEASURED = {
    "paid 1.01, healthy": verdict("healthy", hack=1.01),
    "paid 1.01, right": lambda seed: ends(seed, hack=1.01),
    "paid 1.5, jumps": verdict("kl_explosion", hack=1.5),
    "paid 1.5 at half the rate, healthy": verdict("healthy", hack=1.5, learning_rate=2.0),
    "paid 1.5 at half the rate, right": lambda seed: ends(seed, hack=1.5, learning_rate=2.0),
    "paid 0.999, right": lambda seed: ends(seed, hack=0.999),
    "paid 1, right": lambda seed: ends(seed, hack=1.0),
}


def test_r1_zero_and_dapo_differ_in_kl_aggregation_and_length():
    assert published.diff("r1_zero", "dapo")[2] == ["kl", "aggregation", "length"]


def test_the_table_has_a_row_for_each_recipe():
    rows = re.findall(r"^    \| .+, 20\d\d", bound.page("23-recipes"), re.M)
    assert len(rows) == len(published.PUBLISHED)


def test_right_answers_end_at_none_or_most():
    def right(words):
        return spreads.values("23_recipes", f"{words}, right")

    assert right("paid 1.01").max() < 0.0005
    assert right("paid 1.5 at half the rate").max() < 0.005
    assert right("paid 0.999").mean() > 0.7 and right("paid 1").max() < 0.005


@pytest.mark.when_changed()
def test_with_the_held_out_score_the_fourth_test_fires_and_the_seventh_below_it():
    fired = tracelab.classify(features(hack=1.01)).fired
    assert [test for test, _ in fired] == [tracelab.TESTS[3], tracelab.TESTS[6]] and ends(hack=1.01) < 0.0005
    assert traced(hack=1.01)["zero_variance"][9] > 0.9


@pytest.mark.when_changed()
def test_a_run_that_solves_every_prompt_has_equal_groups_too():
    solved = traced(pass_scale=60.0)
    assert solved["right"][-1] > 0.999 and solved["zero_variance"][-10:].mean() > 0.95


@pytest.mark.when_changed()
def test_without_the_division_the_trick_has_won_at_the_best_honest_rate():
    assert np.mean([ends(seed, hack=0.95, advantage="mean") for seed in range(8)]) < 0.25


@pytest.mark.when_changed()
def test_no_threshold_carries_over():
    learns, hacked, jumps = (
        np.array([traced(seed, **tracelab.KINDS[kind])["kl"] for seed in range(30)])
        for kind in ("healthy", "reward_hacking", "kl_explosion")
    )
    assert learns[:, -1].min() > hacked[:, -1].max()  # both farther out than what would stop either
    assert jumps[:, 2].min() > 2 * learns[:, 2].max()
    assert [test for test, _ in tracelab.classify(features(pass_scale=0.3)).fired] == [tracelab.TESTS[6]]


@pytest.mark.when_changed()
def test_four_steps_of_lag_fire_the_second_test():
    assert tracelab.classify(features(lag=4)).fired[0][0] == tracelab.TESTS[1]
    assert tracelab.TESTS[1].verdict == "stale_rollouts"
