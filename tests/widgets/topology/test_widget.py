"""What each knob must do, and that what is drawn is what happens."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from rlpt.planning import options
from sim.cluster.topology import ASYNC, CARRY, COLOCATED, ONE_OFF, SPLIT
from tests.widgets.catalogue import fixed, last
from tests.widgets.grid import answers
from widgets.topology import widget as topology
from widgets.topology.widget import PRESETS, Knobs


def run(way, **knobs):
    return last(topology, way=way, **knobs).runs[way]


def test_a_gpu_never_does_two_things_at_once():
    for preset, k in PRESETS.items():
        r = last(topology, **vars(k))
        for way, played in {} if r.misfits else r.runs.items():
            pools = ["generate", "train"] if way in (SPLIT, ONE_OFF, ASYNC) else [None]
            for pool in pools:  # in one pool generating and training are the same GPUs
                spans = sorted(span[1:3] for span in played.spans if pool in (None, span.pool))
                assert all(a + d <= b + 1e-9 for (a, d), (b, _) in pairwise(spans)), (preset, way, pool)


def test_a_batch_is_trained_on_after_it_was_written_and_before_the_next_but_one():
    for way in (COLOCATED, SPLIT, ONE_OFF):
        spans = run(way, generating=16).spans
        written = {span.step: span.start + span.seconds for span in spans if span.what == "generate"}
        for span in spans:
            if span.what == "train" and span.step in written:
                assert span.start >= written[span.step] - 1e-9


def test_the_splits_of_the_curve_have_one_top():
    r = last(topology, way=ASYNC)
    curve = r.curves[ASYNC]
    top = curve.index(max(curve))
    assert curve[: top + 1] == sorted(curve[: top + 1]) and curve[top:] == sorted(curve[top:], reverse=True)


def test_a_split_that_waits_is_never_faster_than_one_pool():
    r = last(topology)
    assert max(r.curves[SPLIT]) < r.colocated.tokens_per_second < r.runs[CARRY].tokens_per_second


def test_a_way_that_cannot_break_has_no_threshold():
    """Every split that waits is slower than one pool: worse, no break; and one pool is as fast as itself."""
    k = Knobs(way=SPLIT)
    r = last(topology, **vars(k))
    watched = topology.watched(k, r)
    assert not hasattr(watched, "threshold") and watched.value < 100 and topology.broken(k, r) is None
    for gpus in (8, 32, 64):
        one = Knobs(gpus=gpus)
        assert topology.watched(one, last(topology, **vars(one))).value == 100


def test_a_split_needs_gpus_on_both_sides():
    k = Knobs(way=ASYNC, gpus=8, generating=8)
    assert "none is left to train" in topology.broken(k, last(topology, **vars(k))).why


@pytest.mark.when_changed()
def test_no_arrangement_trains_faster_than_all_gpus_could():
    for answer in answers("topology"):
        k, r = answer.knobs, answer.result
        if not r.misfits:
            job = topology.job(k)
            most = job.gpus * job.accelerator.flops() * job.mfu / (10 * job.model.active_params())
            assert all(run.tokens_per_second <= most * (1 + 1e-9) for run in r.runs.values()), k


def test_a_block_is_as_high_as_the_share_that_is_still_written():
    r = last(topology)
    bottom, top = topology.LANES["generate"]
    block = topology.spans(r.colocated, 90.0)[0]
    x, y = np.array(block["x"]), np.array(block["y"])
    half = len(x) // 2
    seconds = r.colocated.finish[0][[511, 1023, 1535]]  # a quarter, half and three quarters of 2,048 are done
    share = (np.interp(seconds, x[:half], y[:half]) - bottom) / (top - bottom)
    assert share == pytest.approx([0.75, 0.5, 0.25], abs=0.02)
    assert (y[half:] == bottom).all() and x[:half].max() == pytest.approx(r.colocated.finish[0, -1])


def test_a_single_pool_shows_no_idle_shares_of_two_pools():
    def idle(k):
        values = {row.label: row.value for row in topology.readouts(k, last(topology, **vars(k)))}
        return values["Idle time, generators and trainers"]

    assert idle(Knobs()) == "one pool" and idle(PRESETS["28 generate"]) == "92 %, 0 %"
    for generating in (7, 12, 16):  # those that generate never wait
        assert idle(Knobs(way=ONE_OFF, generating=generating)).startswith("0 %, ")


@pytest.mark.parametrize(
    "knobs",
    [
        dict(model="deepseek-v3", accelerator="a100_80", gpus=8),
        dict(way=ASYNC, gpus=16, generating=13, tensor_parallel=64, model="qwen3-30b-a3b"),
        dict(tensor_parallel=64),
        dict(way=ASYNC, generating=31),
        # where the split that then fits is slower than one pool
        dict(way=ASYNC, generating=6144, sync=25.0, prompts=32, samples=4, flops=0.93, mfu=0.08),
        dict(way=ONE_OFF, prompts=2, prompt=1024, longest=4096, model="qwen3-235b-a22b", accelerator="mi300x"),
    ],
)
def test_one_suggested_fix_is_enough_for_a_job_that_does_not_fit(knobs):
    k = Knobs(**knobs)
    mended = fixed("topology", k, topology.broken(k, next(topology.run(k))).fix)
    assert topology.broken(mended, next(topology.run(mended))) is None


def test_the_setting_is_exported_as_options():
    k = Knobs(way=ASYNC, tensor_parallel=2, generating=8)
    exported = topology.export(k, last(topology, **vars(k)))
    values = [exported[name] for name in ("engines", "context", "placement", "overlap")]
    assert values == [4, 8704, "split", "async"]
    assert "--tensor-parallel-size 2" in options.text("vLLM", exported)


def test_no_cut_is_drawn_on_which_the_job_does_not_fit():
    k = Knobs(way=ASYNC, model="mixtral-8x7b", accelerator="mi300x", gpus=64, generating=4, tensor_parallel=2)
    swept = last(topology, **vars(k)).swept
    assert swept and not any(topology.misfits(replace(k, generating=cut)) for cut in swept)
    assert topology.misfits(replace(k, generating=60)) and 60 not in swept  # four GPUs hold no trainer of it
