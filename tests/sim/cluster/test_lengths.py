from math import exp, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.cluster import straggler
from sim.cluster.lengths import Law, lognormal

MATH, AGENT = Law(720, 2000, 4600, 8192), Law(6000, 24_000, 60_000, 131_072)


def test_two_quantiles_say_the_same_spread_or_they_do_not():
    # ln(2000/720)/1.28155, ln(4600/720)/2.32635
    assert MATH.sigmas == pytest.approx((0.797, 0.797), abs=5e-4)
    assert AGENT.sigmas == pytest.approx((1.08, 0.99), abs=5e-3)


@pytest.mark.parametrize("law, mean, prompt, context", [(MATH, 987, 512, 1419), (AGENT, 10_142, 0, 12_550)])
def test_a_sequence_in_flight_is_longer_than_half_of_the_mean(law, mean, prompt, context):
    assert law.mean == pytest.approx(mean, abs=0.5)
    assert law.context(prompt) == pytest.approx(context, abs=0.5)


def test_the_default_of_two_lessons_holds_more_context_than_half_of_its_mean():
    # median 1200, σ .8, limit 8192, prompt 512: by halves 512 + 1614/2 = 1 327
    law = lognormal(1200, 0.8, 8192)
    assert law.context(512) == pytest.approx(1934, abs=0.5)
    assert law.mean == pytest.approx(1200 * straggler.capped_mean(0.8, cap=8192 / 1200), rel=1e-12)
    assert law.truncated == pytest.approx(0.0082, abs=5e-5)


@given(st.floats(10, 1e4), st.floats(0, 1.5), st.floats(0, 1.5), st.one_of(st.just(inf), st.floats(20, 2e5)))
def test_the_closed_moments_are_the_integrals(median, first, second, longest):
    law = Law(median, median * exp(first), median * exp(first + second), longest)

    # the grid resolves a kink to the square of its step
    def moment(k):
        return straggler.integral(law.at(straggler.Z) ** k * straggler.DENSITY)

    assert law.mean == pytest.approx(moment(1), rel=2e-3)
    assert law.second_moment == pytest.approx(moment(2), rel=1e-2)


def test_the_quantiles_of_the_law_are_those_it_was_given():
    assert MATH.at(np.array([0.0, 1.2815515655, 2.3263478740, 6.0])) == pytest.approx([720, 2000, 4600, 8192])
    lengths = MATH.quantiles(20_000)
    assert np.quantile(lengths, [0.5, 0.9, 0.99]) == pytest.approx([720, 2000, 4600], rel=1e-3)
    assert lengths.mean() == pytest.approx(MATH.mean, rel=2e-3)


def test_their_order_has_no_trend():
    lengths = MATH.quantiles(4096)  # 16 random batches of 256 would differ by 7 % of their mean
    assert lengths.reshape(16, 256).mean(axis=1) == pytest.approx(np.full(16, MATH.mean), rel=0.04)


def test_the_longest_of_many_is_that_of_the_straggler():
    law = lognormal(1200, 0.8)
    assert law.expected_max(512) == pytest.approx(1200 * straggler.expected_max(512, 0.8), rel=1e-9)
    assert law.expected_max(512) / law.mean == pytest.approx(8.69264, rel=1e-4)
    assert MATH.expected_max(8192) == pytest.approx(8192, rel=1e-3)


def test_equal_lengths_are_a_law_too():
    law = Law(1000, 1000, 1000, 8192)
    assert (law.mean, law.context(0), law.truncated) == (pytest.approx(1000), pytest.approx(500), 0)
    assert Law(1000, 1000, 1000, 600).mean == pytest.approx(600)


def test_quantiles_that_fall_are_refused():
    with pytest.raises(ValueError, match="quantiles rise: 2000, 720 and 4600 tokens do not"):
        Law(2000, 720, 4600)
    with pytest.raises(ValueError, match="at most 0 tokens"):
        Law(1, 1, 1, 0)
