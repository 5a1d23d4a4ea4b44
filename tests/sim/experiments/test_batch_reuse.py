"""The clip, no clip, and a ratio that is always 1."""

import numpy as np
import pytest

from sim.experiments.batch_reuse import CLIP, FORGOTTEN, FREE, WAYS, pass_rates

SEEDS = range(5)


def test_with_one_pass_the_three_are_one():
    """Before the first step every ratio is 1, and the slope of all three losses at 1 is the advantage."""
    clip, *others = [np.array(pass_rates(way, 0, updates=6, passes=1)) for way in WAYS]
    for other in others:
        np.testing.assert_allclose(other, clip, rtol=1e-9)


@pytest.fixture(scope="module")
def ends():
    return {way: np.array([pass_rates(way, seed)[-1][1] for seed in SEEDS]) for way in WAYS}


@pytest.mark.when_changed()
def test_with_four_passes_they_end_in_one_order_in_every_seed(ends):
    assert (ends[CLIP] > ends[FREE]).all() and (ends[FREE] > ends[FORGOTTEN]).all()


@pytest.mark.when_changed()
def test_a_forgotten_ratio_loses_what_the_model_could_do(ends):
    start = pass_rates(CLIP, 0, updates=1)[0][1]
    assert (ends[FORGOTTEN] < start).all() and (ends[CLIP] > 2 * start).all()
