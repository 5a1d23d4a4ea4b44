from functools import cache

import numpy as np
import pytest

from sim.experiments import data_stages
from sim.worlds import prompt_pool


@cache
def default():
    return data_stages.curated(prompt_pool.collected(np.random.default_rng(0)), np.random.default_rng(1))


def test_what_each_stage_leaves():
    # a script of its own, drawn in the same order
    assert [stage.n for stage in default().stages] == [40000, 34482, 30195, 20407, 10813, 10813]
    live = [stage.live for stage in default().stages]
    np.testing.assert_allclose(live, [0.466, 0.457, 0.522, 0.533, 0.780, 0.780], rtol=0, atol=3e-3)


def test_wrong_keys_gather_where_nothing_was_solved():
    pool, never = default().pool, default().never
    assert default().stages[3].wrong_key == pytest.approx(0.092, abs=1e-3)
    assert pool.wrong_key[never].mean() == pytest.approx(0.34, abs=5e-3)
    assert default().stages[4].wrong_key == pytest.approx(0.003, abs=5e-4)
    learnable = (default().rate > 0.03) & (default().rate < 0.3) & ~pool.wrong_key
    assert learnable[never].mean() == pytest.approx(0.34, abs=5e-3)


def test_the_tries_are_paid_for_what_is_left_by_then():
    assert default().asked == 8 * default().stages[3].n


def test_each_stage_takes_out_what_it_is_for():
    pool = prompt_pool.collected(np.random.default_rng(4))
    stages = data_stages.curated(pool, np.random.default_rng(5)).stages
    assert stages[1].n == pool.licensed.sum()
    assert stages[2].n == (pool.licensed & pool.verifiable).sum()
    assert stages[3].contaminated == 0 < stages[2].contaminated


@pytest.mark.parametrize("cap", [0.3, 0.35])
def test_no_source_is_above_the_cap_of_what_was_there(cap):
    pool = prompt_pool.collected(np.random.default_rng(0))
    *_, before, after = data_stages.curated(pool, np.random.default_rng(1), cap=cap).stages
    there, here = before.mix * before.n, after.mix * after.n
    np.testing.assert_allclose(here, np.minimum(there, int(cap * before.n)), rtol=0, atol=1e-6)


def test_the_band_keeps_its_ends():
    pool = prompt_pool.collected(np.random.default_rng(0))
    everything = data_stages.curated(pool, np.random.default_rng(1), low=0, high=1, cap=1).stages
    assert everything[4].n == everything[3].n
    one_of_eight = data_stages.curated(pool, np.random.default_rng(1), low=0.125, high=0.875, cap=1).stages
    assert one_of_eight[4].n == default().stages[4].n
