from itertools import combinations
from math import comb

import numpy as np
import pytest

from sim.estimators import attempts, kl
from sim.framework.rollout import nucleus
from sim.worlds.tinylm import log_softmax

LOGITS = np.array([[2.0, 1.0, 0.0, -1.0]])


@pytest.mark.parametrize(
    "n, c, k, expected",
    [(8, 2, 4, 0.7857142857), (64, 20, 8, 0.9599579744), (16, 1, 8, 0.5), (10, 0, 5, 0.0), (8, 6, 3, 1.0)],
)
def test_pass_at_k(n, c, k, expected):
    assert (
        attempts.pass_at_k(n, c, k) == pytest.approx(expected, abs=1e-10) == 1 - comb(n - c, k) / comb(n, k)
    )  # Chen et al. (2021), equation 1


def test_pass_at_k_is_the_share_of_subsets_with_a_right_attempt():
    right = [1, 0, 0, 1, 0, 0, 0]
    shares = np.mean([any(subset) for subset in combinations(right, 3)])
    assert attempts.pass_at_k(7, 2, 3) == pytest.approx(shares, abs=1e-12)


def test_pass_at_k_has_no_bias_and_the_plug_in_is_too_low():
    n, k, p = 16, 8, 0.1
    chance = [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    mean = {
        f: sum(q * f(n, c, k) for c, q in enumerate(chance)) for f in (attempts.pass_at_k, attempts.plug_in_pass_at_k)
    }
    assert mean[attempts.pass_at_k] == pytest.approx(1 - (1 - p) ** k, abs=1e-12)
    assert mean[attempts.plug_in_pass_at_k] < 1 - (1 - p) ** k - 0.03


def test_more_draws_than_attempts_are_refused():
    with pytest.raises(ValueError, match="k must be at most n = 4"):
        attempts.pass_at_k(4, 1, 5)


@pytest.mark.parametrize(
    "p, K, expected", [(0.33, 8, 0.9592525914), (0.01, 64, 0.4744035125), (0.05, 16, 0.5598733313), (0.5, 2, 0.5)]
)
def test_groups_with_something_to_compare(p, K, expected):
    assert attempts.informative(p, K) == pytest.approx(expected, abs=1e-10)  # closed form


@pytest.mark.parametrize("tau, first", [(1.0, -0.4401896986), (0.5, -0.145077939), (2.0, -0.7873386717)])
def test_temperature_divides_the_differences_of_the_logits(tau, first):
    logp = log_softmax(LOGITS / tau)[0]
    np.testing.assert_allclose(
        logp, first - np.arange(4) / tau, atol=1e-9
    )  # softmax of (2, 1, 0, -1) / tau, closed form


@pytest.mark.parametrize(
    "top_p, kept", [(0.8, [0.7310585786, 0.2689414214, 0, 0]), (0.9, [0.6652409558, 0.2447284711, 0.0900305732, 0])]
)
def test_a_nucleus_is_the_shortest_prefix_that_holds_top_p(top_p, kept):
    np.testing.assert_allclose(
        np.exp(nucleus(log_softmax(LOGITS), top_p))[0], kept, atol=1e-9
    )  # e, 1, 1/e over their sum


def test_a_cooler_sampler_is_another_policy():
    raw, cooler = np.exp(log_softmax(LOGITS))[0], np.exp(log_softmax(LOGITS / 0.7))[0]
    assert kl.divergence(cooler, raw) == pytest.approx(0.0401096241, abs=1e-10)  # closed form
    assert (raw / cooler).max() == pytest.approx(3.0532250269, abs=1e-9)
