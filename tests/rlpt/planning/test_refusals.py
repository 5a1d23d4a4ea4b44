from dataclasses import replace

import pytest

from rlpt.planning import planner, refusals
from rlpt.planning.planner import Scenario
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS

LAW = Law(720, 2000, 4600, 8192)
JOBS = {
    "8B on one H100": Scenario(MODELS["qwen3-8b"], ACCELERATORS["h100"], LAW, gpus=1),
    "8B on one 4090": Scenario(MODELS["qwen3-8b"], ACCELERATORS["rtx4090"], LAW, gpus=1),
    "all activations kept": Scenario(MODELS["qwen2.5-32b"], ACCELERATORS["h100"], LAW, gpus=8, recompute="none"),
    "V3 on 96 H20": Scenario(MODELS["deepseek-v3"], ACCELERATORS["h20"], LAW, gpus=96),
    "two pools on one GPU": Scenario(MODELS["qwen2.5-1.5b"], ACCELERATORS["h100"], LAW, gpus=1, overlap="async"),
    "a long sequence": Scenario(MODELS["qwen2.5-7b"], ACCELERATORS["l4"], Law(9000, 20000, 45000, 98304), gpus=8),
    "few completions": Scenario(MODELS["qwen2.5-7b"], ACCELERATORS["h100"], LAW, gpus=64, prompts=1, samples=8),
}


@pytest.mark.parametrize("name", JOBS)
def test_every_job_that_is_named_fits_and_differs_from_the_others(name):
    s = JOBS[name]
    assert planner.misfits(s)
    found = refusals.nearest(s)
    assert 1 <= len(found) <= refusals.NEAREST
    assert all(not planner.misfits(one.scenario) and one.scenario != s for one in found)
    assert all(one.seconds == planner.seconds(one.scenario) and one.words for one in found)
    assert len({one.words for one in found}) == len(found)


def test_what_costs_nothing_comes_first():
    (first, *_) = refusals.nearest(JOBS["all activations kept"])
    assert first.costs == "nothing" and first.scenario.gpus == 8 and not first.scenario.adapters


def test_more_gpus_are_the_fewest_in_whole_servers():
    s = JOBS["V3 on 96 H20"]
    more = next(one for one in refusals.nearest(s, 9) if one.costs == "more GPUs").scenario
    assert more.gpus % 8 == 0 and planner.misfits(replace(s, gpus=planner.fewest_gpus(s) - 1))


def test_shorter_completions_are_the_longest_that_fit():
    cut = refusals.shortened(JOBS["a long sequence"])
    assert cut is not None and not planner.misfits(cut)
    assert planner.misfits(replace(cut, law=replace(cut.law, longest=cut.law.longest + 256)))


def test_inputs_that_contradict_are_mended_by_no_other_job():
    s = replace(JOBS["8B on one H100"], gpus=8, adapters=32)
    fast = replace(s, efficiency=s.efficiency._replace(bandwidth=3.0))
    assert planner.misfits(fast)[0].part == "" and refusals.nearest(fast) == []
