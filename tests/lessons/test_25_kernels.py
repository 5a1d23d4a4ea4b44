import re
from urllib.parse import parse_qsl

import numpy as np
import pytest

from sim.cluster import kernels
from sim.cluster.kernels import Workload
from sim.estimators import precision
from sim.experiments import rounding_net
from tests.lessons.prose import Lesson
from widgets.frame import values
from widgets.kernels import widget

LESSON = Lesson("25")


def link(words):
    (query,) = re.findall(rf"\[{re.escape(words)}\]\(#kernels\)\{{ data-knobs=\"([^\"]+)\" \}}", LESSON.text)
    knobs = values.knobs_from(widget.Knobs, dict(parse_qsl(query)))
    return next(widget.run(knobs))


def test_a_shared_prompt_and_packing():
    found = kernels.surfaces(work=Workload(256, 8192, 16, 8))
    LESSON.says("1.06", found[0].speedup)
    LESSON.says("47", 100 * found[0].share)
    LESSON.says("2.6", 100 * found[0].gain)
    LESSON.says("8.7", 100 * found[2].gain)
    assert [found[n].weeks for n in (0, 2)] == [6, 3]
    LESSON.says("0.2", 100 * found[1].gain)
    assert kernels.ranked(found)[-1] == "fused log-prob" and kernels.ranked(found)[3] == "prefix attention"


def test_the_grid_of_a_format():
    assert precision.step_at(20.0, "bf16") == 1 / 8
    LESSON.says("6.4", 100 * np.expm1(precision.step_at(20.0, "bf16") / 2))
    LESSON.says("0.78", 100 * np.expm1(precision.step_at(20.0, "fp16") / 2))


def test_drift_of_a_spread_of_two_hundredths():
    LESSON.says("−0.8", -4096 * 0.02**2 / 2)
    LESSON.says("1.3", 0.02 * np.sqrt(4096))
    LESSON.says("0.0002", 0.02**2 / 2)


def test_what_a_format_leaves():
    counts = lambda words: 100 * link(words).share
    LESSON.says("97", counts("In fp16"))
    LESSON.says("11", counts("In bf16"))
    spread = lambda mode: rounding_net.gaps()[mode, 8].std()
    LESSON.says("0.023", spread("bf16"))
    LESSON.says("0.003", spread("fp16"))
    LESSON.says("1,300", round(rounding_net.half_life(rounding_net.gaps()["bf16", 8]), -2))
    LESSON.says("22", rounding_net.half_life(rounding_net.gaps()["fp8", 8]))
    assert link("In fp8").share < 0.5
    LESSON.says("1.1", link("each token is weighed by its own ratio").far)


def test_an_output_layer_in_fp32_helps_less_in_a_deep_network():
    life = lambda mode, layers: rounding_net.half_life(rounding_net.gaps()[mode, layers])
    LESSON.says("3,800", round(life("bf16, fp32 head", 2), -2))
    LESSON.says("2,100", round(life("bf16", 2), -2))
    LESSON.says("720", round(life("bf16, fp32 head", 24), -1))
    LESSON.says("640", round(life("bf16", 24), -1))


def test_eight_bits():
    gap = rounding_net.gaps()["fp8", 8]
    LESSON.says("−0.014", gap.mean())
    LESSON.says("−0.016", -gap.var() / 2)
    assert (np.abs(np.exp(gap) - 1) > 0.2).mean() == pytest.approx(0.25, abs=0.005)
    assert not (np.abs(np.exp(rounding_net.gaps()["bf16", 8]) - 1) > 0.2).any()


def test_the_first_kernel_depends_on_the_step():
    first = lambda words: kernels.ranked(link(words).surfaces)[0]
    assert first("short prompts") == "paged memory"
    assert first("agents of twenty turns") == "cache kept between turns"
    assert link("agents of twenty turns").surfaces[5].gain == pytest.approx(0.5, abs=0.01)
    assert first("slow weight sync") == "weight sync"
    assert link("24 prompts").needs > 72e9 >= link("kept once a group").needs


def test_a_long_prompt():
    r = link("Set it up")
    assert r.surfaces[0].speedup == pytest.approx(4) and kernels.ranked(r.surfaces)[0] == "prefix attention"
    assert r.needs <= r.room
    many = kernels.surfaces(work=Workload(8192, 4096, 16, 2, turns=20))
    assert kernels.ranked(many)[0] == "cache kept between turns"


def test_the_logits_that_are_never_written():
    LESSON.says("10", 16384 * 152064 * 4 / 1e9)
