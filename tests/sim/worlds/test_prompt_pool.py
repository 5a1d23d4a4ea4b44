import numpy as np
import pytest

from sim.worlds import prompt_pool


def test_the_sources_have_the_shares_that_are_assumed():
    pool = prompt_pool.collected(np.random.default_rng(3))
    for number, source in enumerate(prompt_pool.SOURCES):
        here = pool.source == number
        assert here.sum() == source.n
        for flag, rate in (
            (pool.licensed, source.licensed),
            (pool.verifiable, source.verifiable),
            (pool.wrong_key, source.wrong_key),
            (pool.duplicate, source.duplicate),
            (pool.contaminated, source.contaminated),
        ):
            assert flag[here].mean() == pytest.approx(rate, abs=4 * np.sqrt(0.25 / source.n))
        assert pool.difficulty[here].mean() == pytest.approx(source.mean, abs=4 * source.deviation / source.n**0.5)
        assert pool.difficulty[here].std() == pytest.approx(source.deviation, rel=0.05)


def test_the_pass_rate_is_a_half_where_ability_meets_difficulty():
    assert prompt_pool.pass_rate(1.5, np.array([1.5]))[0] == 0.5
    assert prompt_pool.pass_rate(0.0, np.log(9.0)) == pytest.approx(0.1, abs=1e-12)
