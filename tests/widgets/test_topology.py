"""What each knob must do, and that what is drawn is what happens."""

from itertools import pairwise

from sim.cluster.topology import ASYNC, CARRY, COLOCATED, ONE_OFF, SPLIT
from tests.widgets.catalogue import last, mended
from tests.widgets.grid import answers
from widgets import topology
from widgets.topology import PRESETS, Knobs


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


def test_each_break_is_reached_and_mended():
    for preset, cause in {
        "28 generate": "too few trainers",
        "2 generate": "too few generators",
        "Weights by a slow wire": "both pools wait for new weights",
        "70B on single GPUs": "the job does not fit",
    }.items():
        k = PRESETS[preset]
        found = topology.broken(k, last(topology, **vars(k)))
        assert found.cause == cause
        there = mended("topology", k, found.mend)
        assert topology.broken(there, last(topology, **vars(there))) is None


def test_a_split_needs_gpus_on_both_sides():
    k = Knobs(way=ASYNC, gpus=8, generating=8)
    found = topology.broken(k, last(topology, **vars(k)))
    assert "none is left to train" in found.why and topology.misfits(mended("topology", k, found.mend)) == []


def test_no_way_trains_faster_than_all_gpus_could():
    for answer in answers("topology"):
        k, r = answer.knobs, answer.result
        if not r.misfits:
            job = topology.job(k)
            most = job.gpus * job.accelerator.flops() * job.mfu / (10 * job.model.active_params())
            assert all(run.tokens_per_second <= most * (1 + 1e-9) for run in r.runs.values()), k
