"""The lesson on kernels: what its numbers are computed by, and what it says without a number."""

from math import expm1

import numpy as np
import pytest

from sim.cluster import kernels
from sim.cluster.kernels import Workload
from sim.estimators import precision
from sim.experiments import rounding_net
from widgets.kernels import widget
from widgets.kernels.widget import PRESETS, Knobs

FP32_HEAD, EACH_TOKEN = "bf16, fp32 head", "each token, at most 2"
short_prompts = kernels.surfaces(work=Workload(256, 8192, 16, 8))


def at(knobs=None, **changed):
    """The simulator's result."""
    return next(widget.run(knobs or Knobs(**changed)))


def long_prompts():
    return at(prompt=8192, groups=4)


def gap(mode, layers=8):
    """Log-prob of the trainer minus that of the sampler, of sampled tokens."""
    return rounding_net.gaps()[mode, layers]


def half_life(mode, layers=8):
    """Tokens until half of the sequences count."""
    return rounding_net.half_life(gap(mode, layers))


def test_the_log_prob_comes_last_and_the_famous_kernel_fourth():
    assert kernels.ranked(short_prompts)[-1] == "fused log-prob"
    assert kernels.ranked(short_prompts)[3] == "prefix attention"


def test_in_bf16_neighbors_near_20_are_an_eighth_apart():
    assert precision.step_at(20.0, "bf16") == 1 / 8


def test_eight_bits():
    assert at(mode="fp8", completion=64).share < 0.5
    assert (np.abs(np.exp(gap("fp8")) - 1) > 0.2).mean() == pytest.approx(0.25, abs=0.005)
    assert not (np.abs(np.exp(gap("bf16")) - 1) > 0.2).any()


def test_the_first_kernel_depends_on_the_step():
    def first(result):
        return kernels.ranked(result.surfaces)[0]

    agents = at(PRESETS["Agents, 20 turns"])
    assert kernels.ranked(at().surfaces)[:2] == ["paged memory", "packing"]
    assert first(at(PRESETS["Prompts of 256"])) == "paged memory"
    assert first(agents) == "cache kept between turns" and agents.surfaces[5].gain == pytest.approx(0.5, abs=0.01)
    assert first(at(PRESETS["A slow weight sync"])) == "weight sync"
    assert first(long_prompts()) == "prefix attention" and long_prompts().needs <= long_prompts().room
    assert first(at(prompt=8192, groups=4, turns=20)) == "cache kept between turns"


def test_a_prompt_that_is_kept_once_makes_24_of_them_fit():
    assert at(groups=24).needs > 72e9 >= at(groups=24, cached=widget.ONCE).needs
