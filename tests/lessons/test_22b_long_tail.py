"""The numbers of the lesson on long tails, recomputed."""

from functools import cache
from math import exp, inf, log, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from sim.cluster import straggler
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.throughput import iteration_seconds
from tests.lessons.prose import Lesson
from widgets.frame import slots
from widgets.long_tail import figures

LESSON = Lesson("22b")
WAIT_FOR_ALL = straggler.expected_max(512, 0.8)
TWELVE = straggler.race_in_prompts(8, 12)
CUT_AT_4096 = log(4096 / 1200) / 0.8


def grouped(number):
    """12345 as the lesson writes it: 12,345."""
    return f"{number:,.0f}"


@cache
def stop(slope):
    return straggler.early_stop(8, 12, 0.8, slope, 400_000, np.random.default_rng(0))


@cache
def resumed():
    return straggler.resumed(8, 64, 96, 0.8, inf, 0.0, 1000, np.random.default_rng(0))


def reads(rule, between):
    trained = (
        straggler.race_in_prompts(8, 12, between)
        if rule == "completions"
        else straggler.race_of_prompts(8, 64, 96, between)
    )
    return straggler.trained_accuracy(-1, trained)


def test_the_four_completions():
    lengths = np.array([400, 700, 1100, 5800])
    for number in (5800, 4 * lengths.max(), lengths.sum(), lengths.mean()):
        assert grouped(number) in LESSON.text
    LESSON.says("2.9", lengths.max() / lengths.mean())


@pytest.mark.parametrize("rule, said", [("waits for all", 8248), ("caps at 3,000", 4716), ("carries over", 3087)])
def test_the_sixteen_slots(rule, said):
    assert figures.engine(rule).ends[0] == said and grouped(said) in LESSON.text
    longest = max(figures.sampled()[:32])
    assert figures.engine("has 32 slots").ends[0] == longest < figures.engine("waits for all").ends[0]


def test_the_opening_has_five_right_of_eight():
    assert slots.batch_of(figures.answers("the other"))[:2] == (8, 5)
    assert slots.batch_of(figures.answers("one setting"))[:2] == (8, 4)


def test_the_law_of_lengths():
    LESSON.says("0.45", exp(-0.8))
    LESSON.says("2.2", exp(0.8))
    assert norm.cdf(1) - norm.cdf(-1) == pytest.approx(2 / 3, abs=0.02)  # "two completions in three"
    LESSON.says("6.82", sum(1 / i for i in range(1, 513)))  # mean of the longest of 512 exponentials
    LESSON.says("1.43", 2 * norm.cdf(0.8 / sqrt(2)))


@pytest.mark.parametrize(
    "sigma, row",
    [
        (0.4, "1.68 | 2.40 | 3.15 | 3.42 | 4.26"),
        (0.8, "2.58 | 5.08 | 8.69 | 10.19 | 15.71"),
        (1.0, "3.08 | 7.07 | 13.73 | 16.71 | 28.62"),
    ],
)
def test_the_table_of_taxes(sigma, row):
    assert f"| σ = {sigma} | {row} |" in LESSON.text
    assert row == " | ".join(f"{straggler.straggler_tax(n, sigma):.2f}" for n in (8, 64, 512, 1024, 8192))


def test_what_batch_and_spread_cost():
    LESSON.says("17", 100 * (straggler.straggler_tax(1024, 0.8) / straggler.straggler_tax(512, 0.8) - 1))
    # the median is given, and the mean grows with the spread
    LESSON.says("89", 100 * (straggler.expected_max(512, 1.0) / straggler.expected_max(512, 0.8) - 1))
    LESSON.says("1.71", 2 * straggler.straggler_tax(512, 0.8) / straggler.straggler_tax(1024, 0.8))


def test_the_tail_in_seconds():
    decode = lambda running, kv_tokens: iteration_seconds(
        MODELS["qwen2.5-7b"], ACCELERATORS["h100"], running, kv_tokens
    )
    drains = [
        straggler.drain(straggler.sampled_lengths(64, 1200, 0.8, 8192, np.random.default_rng(seed)), 512, decode)
        for seed in range(40)
    ]
    assert 64 - int(0.9 * 64) == 7
    LESSON.says("52", 100 * np.mean([straggler.tail_of(*drain)[0] for drain in drains]))
    LESSON.says(
        "0.26", np.mean([(np.diff(finish, prepend=0.0) * running).sum() / finish[-1] for finish, running in drains])
    )


def test_how_long_each_rule_waits():
    LESSON.says("1.34", straggler.expected_order_stat(8, 12, 0.8))
    LESSON.says("3.55", straggler.expected_max(8, 0.8))
    LESSON.says("2.65", straggler.expected_max(8, 0.8) / straggler.expected_order_stat(8, 12, 0.8))
    LESSON.says("11.97", WAIT_FOR_ALL)
    LESSON.says("2.59", straggler.wait_in_prompts(64, 8, 12, 0.8))
    LESSON.says("3.73", straggler.wait_for_prompts(8, 64, 96, 0.8))
    LESSON.says("3.36", resumed().time[20:].mean())


def test_twelve_for_eight():
    LESSON.says("0.609", reads("completions", 0.0))
    LESSON.says("61", 100 * reads("completions", 0.0))
    LESSON.says("0.391", straggler.trained_accuracy(1, TWELVE))
    LESSON.says("0.11", reads("completions", 0.0) - 0.5)
    faster = WAIT_FOR_ALL / straggler.wait_in_prompts(64, 8, 12, 0.8)
    LESSON.says("4.6", faster)
    LESSON.says("3.1", faster / 1.5)
    LESSON.says("1.7", faster / 1.5 * straggler.trained_length(0.8, TWELVE) / exp(0.32))
    LESSON.says("0.56", straggler.trained_length(0.8, TWELVE) / exp(0.32))
    kept, dropped = (
        12 * straggler.tokens_trained_on(0.8, TWELVE),
        4 * straggler.expected_order_stat(8, 12, 0.8),
    )  # a group is aborted at its own eighth
    LESSON.says("46", 100 * dropped / (kept + dropped))


@LESSON.when_changed
def test_what_the_gradient_sees():
    LESSON.says("0.207", stop(-1).exact[0])
    LESSON.says("−0.207", stop(-1).exact[1])
    LESSON.says("0.215", stop(-1).gradient[0])
    LESSON.says("−0.102", stop(-1).gradient[1])
    LESSON.says("0.94", stop(-1).cosine)
    assert stop(1).gradient[1] / stop(1).exact[1] == pytest.approx(0.5, abs=0.02)  # "half again"


def test_whole_prompts():
    LESSON.says("0.520", reads("prompts", 0.0))
    LESSON.says("0.576", reads("prompts", 0.5))
    LESSON.says("0.576", reads("completions", 0.5))
    LESSON.says("0.598", reads("prompts", 0.75))
    LESSON.says("0.553", reads("completions", 0.75))


def test_what_is_resumed():
    run = resumed()
    LESSON.says("41", 100 * np.mean(run.versions[20:] > 1))
    assert run.versions.max() in (11, 12, 13)  # "a few span a dozen"
    LESSON.says("0.500", (1 / (1 + np.exp(run.z[20:]))).mean())


def test_caps():
    LESSON.says("6.2", 100 * straggler.truncated_share(0.8, log(1200), 4096))
    LESSON.says("0.82", 100 * straggler.truncated_share(0.8, log(1200), 8192))
    LESSON.says("0.167", straggler.masked_length_gradient(1, CUT_AT_4096))
    LESSON.says("0.099", straggler.punished_length_gradient(1, CUT_AT_4096))
    turn = brentq(lambda cutoff: straggler.punished_length_gradient(1, cutoff), 0.5, 1.5)
    assert grouped(1200 * exp(0.8 * turn)) == "2,598" and "2,598" in LESSON.text
    LESSON.says("16.7", 100 * norm.sf(turn))
    assert all(straggler.masked_length_gradient(1, cutoff) > 0 for cutoff in np.linspace(-2, 3, 30))
    LESSON.says("0.5", -straggler.overlong_penalty(18432, 20480, 4096))


def test_the_trainer():
    lengths = straggler.sampled_lengths(512, 1200, 0.8, 16384, np.random.default_rng(0))
    rows = straggler.packing(lengths, 16384)
    LESSON.says("11.6", 100 * straggler.padding_efficiency(lengths))
    LESSON.says("51", len(rows))
    LESSON.says("99.0", 100 * lengths.sum() / (len(rows) * 16384))
    LESSON.says("1.25", straggler.imbalance(straggler.dealt_loads(lengths, 8)))
    LESSON.says("1.92", straggler.imbalance(straggler.dealt_loads(lengths**2, 8)))
    LESSON.says("1.00", straggler.imbalance(straggler.longest_first_loads(lengths**2, 8)))
    LESSON.says("2.56", straggler.imbalance(straggler.longest_first_loads(lengths**2, 32)))
    assert straggler.imbalance(straggler.longest_first_loads(lengths**2, 32)) == pytest.approx(
        (lengths**2).max() / (lengths**2).sum() * 32
    )


def test_a_race_over_all_requests():
    LESSON.says("2.65", straggler.expected_order_stat(512, 576, 0.8))
    LESSON.says("0.542", straggler.trained_accuracy(-1, straggler.race_in_prompts(512, 576)))
    LESSON.says("0.11", 1 - 512 / 576)
    LESSON.says("22.6", straggler.expected_max(512, 1.0))
    LESSON.says("3.38", straggler.expected_order_stat(512, 576, 1.0))


def test_a_jump_of_five_points_is_within_reach_of_ten_for_eight():
    assert 0.05 < straggler.trained_accuracy(-1, straggler.race_in_prompts(8, 10)) - 0.5 < 0.07
