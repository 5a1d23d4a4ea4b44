"""The lesson on long tails: the names its numbers are computed by, and what it says without a number."""

from functools import cache
from math import exp, inf, log

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from sim.cluster import straggler
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.throughput import iteration_seconds
from widgets.long_tail import figures

EXPENSIVE = "stop", "resumed"
FOUR = (400, 700, 1100, 5800)
CUT_AT_4096 = log(4096 / 1200) / 0.8
busiest = straggler.imbalance
lengths = straggler.sampled_lengths(512, 1200, 0.8, 16384, np.random.default_rng(0))
rows = straggler.packing(lengths, 16384)


def tax(n, sigma=0.8):
    return straggler.straggler_tax(n, sigma)


def longest(n, sigma=0.8):
    return straggler.expected_max(n, sigma)


def nth(k, n, sigma=0.8):
    return straggler.expected_order_stat(k, n, sigma)


def drop(between=0.0):
    return straggler.race_in_prompts(8, 12, between)


def whole(between=0.0):
    return straggler.race_of_prompts(8, 64, 96, between)


def read(rule, between=0.0, slope=-1):
    return straggler.trained_accuracy(slope, rule(between))


def wait(rule):
    if rule is drop:
        return straggler.wait_in_prompts(64, 8, 12, 0.8)
    return straggler.wait_for_prompts(8, 64, 96, 0.8)


faster = longest(512) / wait(drop)
short = straggler.trained_length(0.8, drop()) / exp(0.32)


def thrown_away():
    kept, dropped = 12 * straggler.tokens_trained_on(0.8, drop()), 4 * nth(8, 12)  # aborted at its group's own eighth
    return dropped / (kept + dropped)


@cache
def stop(slope):
    return straggler.early_stop(8, 12, 0.8, slope, 400_000, np.random.default_rng(0))


@cache
def resumed():
    return straggler.resumed(8, 64, 96, 0.8, inf, 0.0, 1000, np.random.default_rng(0))


def resumed_reads():
    return (1 / (1 + np.exp(resumed().z[20:]))).mean()


def ends(rule):
    return figures.engine(rule).ends[0]


@cache
def drains():
    def decode(running, kv):
        return iteration_seconds(MODELS["qwen2.5-7b"], ACCELERATORS["h100"], running, kv)

    draws = [straggler.sampled_lengths(64, 1200, 0.8, 8192, np.random.default_rng(seed)) for seed in range(40)]
    return [straggler.drain(drawn, 512, decode) for drawn in draws]


def at_work(finish, running):
    return (np.diff(finish, prepend=0.0) * running).sum() / finish[-1]


def cut_off(cap):
    return 100 * straggler.truncated_share(0.8, log(1200), cap)


def masked(cap, slope=-1):
    return straggler.trained_accuracy(slope, straggler.before(log(cap / 1200) / 0.8).astype(float))


def punished(cap, slope):
    return straggler.punished_accuracy(slope, np.ones_like(straggler.Z), log(cap / 1200) / 0.8)


def wait_spread(launched, sigma):
    return straggler.wait_in_prompts(64, 8, launched, sigma)


def turn():
    return brentq(lambda cutoff: straggler.punished_length_gradient(1, cutoff), 0.5, 1.5)


def longest_first(ranks):
    return straggler.longest_first_loads(lengths**2, ranks)


def test_with_32_slots_the_longest_decides():
    assert ends("32 slots") == max(figures.sampled()[:32]) < ends("synchronous")


def test_what_is_said_in_words():
    assert norm.cdf(1) - norm.cdf(-1) == pytest.approx(2 / 3, abs=0.02)  # "two completions in three"
    assert read(drop, 0.5) == pytest.approx(0.576, abs=0.0005)  # "and so does dropping completions"
    assert resumed().versions.max() in (11, 12, 13)  # "a few span a dozen"
    assert all(straggler.masked_length_gradient(1, cutoff) > 0 for cutoff in np.linspace(-2, 3, 30))
    # one completion alone is that much more than a fair share
    assert busiest(longest_first(32)) == pytest.approx((lengths**2).max() / (lengths**2).sum() * 32)
    assert 0.05 < straggler.trained_accuracy(-1, straggler.race_in_prompts(8, 10)) - 0.5 < 0.07  # "by five points"


@pytest.mark.when_changed()
def test_half_of_the_pull_on_length_is_left():
    assert stop(1).gradient[1] / stop(1).exact[1] == pytest.approx(0.5, abs=0.02)
