from dataclasses import replace

import pytest

from sim.cluster import envelope, memory
from sim.cluster.envelope import Job
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.memory import Engine, Training
from sim.cluster.models import MODELS

H100, H200 = ACCELERATORS["h100"], ACCELERATORS["h200"]
LLAMA, QWEN, V3 = MODELS["llama3.1-8b"], MODELS["qwen2.5-32b"], MODELS["deepseek-v3"]


def job(gpus, length=8192, recompute="selective", weight_bytes=2, placement="in turn, offloaded", **training):
    options = dict(reference=True, tokens=length, length=length, recompute=recompute, logits_chunk=1024) | training
    return Job(gpus, Training(gpus, **options), Engine(gpus, 0, length, weight_bytes=weight_bytes), placement)


def gigabytes(model, chip, job):
    return {moment: envelope.total(parts) / 1e9 for moment, parts in envelope.envelope(model, chip, job).items()}


@pytest.mark.parametrize(
    "key, chip, job, update",
    [  # state and reference 18 P/gpus, activations 34 (or 2, and one layer's 34) tokens · hidden · layers, logits
        ("qwen2.5-1.5b", H100, job(1), 41.3),
        ("llama3.1-8b", H100, job(8), 55.9),
        ("qwen2.5-7b", H100, job(8), 46.6),
        ("llama3.1-70b", H100, job(32, recompute="full"), 54.0),
        ("deepseek-v3", H200, job(256, recompute="full", weight_bytes=1), 57.7),
        ("llama3.1-405b", H100, job(256, recompute="full", weight_bytes=1), 68.2),
    ],
)
def test_jobs_that_fit(key, chip, job, update):
    assert gigabytes(MODELS[key], chip, job)["update"] == pytest.approx(update, abs=0.06)
    assert not envelope.misfits(MODELS[key], chip, job)


@pytest.mark.parametrize(
    "key, job, part, needs",
    [
        ("llama3.1-8b", job(8, 16384), "activations", 92),
        ("llama3.1-8b", job(8, 65536, "full", logits_chunk=None), "logits", 128),
        ("llama3.1-70b", job(16, recompute="full"), "state", 93.7),
        ("deepseek-v3", job(256, recompute="full"), "weights", 1342),
    ],
)
def test_jobs_that_do_not_fit_and_what_there_is_too_much_of(key, job, part, needs):
    (misfit,) = envelope.misfits(MODELS[key], H100, job)
    assert misfit.part == part and misfit.needs == pytest.approx(needs, abs=0.5)


def test_thirty_two_billion_on_64_and_64_by_hand():
    """Qwen2.5-32B, 8,192 tokens after a prompt of 512, no reference, 64 GPUs that train and 64 that generate."""
    # a layer: queries and output, keys and values, their biases; the MLP; two norms
    layer = 2 * 5120 * 40 * 128 + 2 * 5120 * 8 * 128 + 56 * 128 + 3 * 5120 * 27648 + 2 * 5120
    weights = 64 * layer + 2 * 152064 * 5120 + 5120  # 32.76e9
    state = 16 * weights / 64  # 8.19 GB
    activations = (2 * 64 + 34) * 8704 * 5120  # 7.22 GB
    logits = 1024 * 152064 * 10  # 1.56 GB
    one = job(128, 8704, "full", placement="two pools", reference=False)
    update = envelope.envelope(QWEN, H100, one)["update"]
    assert [update[part] for part in ("state", "activations", "logits")] == pytest.approx([state, activations, logits])
    assert sum(update.values()) / 1e9 == pytest.approx(16.97, abs=0.01)
    engine, training = envelope.parts(QWEN, H100, one)
    # 65.5 GB of weights leave 6.5 of one GPU's 72, of two 39.2 each, which is more than a third
    assert (engine.tensor_parallel, engine.gpus, training.gpus) == (2, 64, 64)
    # a token leaves 2 · 64 layers · 8 heads · 128 · 2 bytes, half of it on each
    assert (
        2 * (72e9 - weights) // (2 * 64 * 8 * 128 * 2)
        == 299_347
        == memory.capacity(QWEN, H100, Engine(tensor_parallel=2))
    )
    selective = replace(one, training=replace(one.training, recompute="selective"))
    assert envelope.envelope(QWEN, H100, selective)["update"]["activations"] / 1e9 == pytest.approx(97.0, abs=0.1)
    assert envelope.misfits(QWEN, H100, selective)[0].part == "activations"


def test_what_is_offloaded_is_there_when_it_is_needed_and_no_longer():
    moments = envelope.envelope(LLAMA, H100, job(8))
    shard = 2 * LLAMA.params() / 8
    assert moments["generate"] == dict(weights=8 * shard, extra=0, cache=pytest.approx(72e9 - 8 * shard))
    assert moments["sync"] == dict(state=shard, weights=8 * shard)
    assert moments["score"]["state"] == moments["score"]["reference"] == shard
    assert moments["update"]["state"] == 8 * shard


def test_to_score_takes_one_layer_and_logits_without_gradients():
    scoring = envelope.envelope(LLAMA, H100, job(8, tensor_parallel=2))["score"]
    assert scoring["activations"] == 34 * 8192 * 4096 / 2
    assert scoring["logits"] == (2 + 4) * 1024 * 128_256 / 2


def test_what_stays_is_there_at_every_moment():
    moments = envelope.envelope(LLAMA, H100, job(8, placement="in turn, resident"))
    assert all(parts["state"] == 2 * LLAMA.params() and parts["reference"] for parts in moments.values())


def test_two_pools_keep_engine_and_trainer_apart():
    moments = envelope.envelope(LLAMA, H100, job(16, placement="two pools"))
    assert set(moments["generate"]) == {"weights", "extra", "cache"} and "weights" not in moments["sync"]
    assert moments["update"]["state"] == 2 * LLAMA.params()  # 16 bytes over eight of the sixteen
    assert envelope.misfits(LLAMA, H100, job(1, placement="two pools"))[0].part == "layout"
    assert envelope.pools(job(3, placement="two pools")) == (2, 1)
    small = job(2, placement="two pools", recompute="full", adapters=8, reference=False)
    assert not envelope.misfits(LLAMA, H100, small)


def test_pairs_need_no_engine():
    pairs = replace(job(8), engine=None)
    assert envelope.envelope(LLAMA, H100, pairs)["generate"] == {} and not envelope.misfits(LLAMA, H100, pairs)
    assert envelope.pools(pairs) == (0, 8)


def test_an_engine_may_fill_seven_tenths_beside_a_state_that_stays():
    # (.92 · 80 − 18 · 8.03 / 8) / 80 = .694
    def with_share(u):
        return replace(job(8, placement="in turn, resident"), engine=Engine(8, 1, 8192, hbm_share=u))

    assert not envelope.misfits(LLAMA, H100, with_share(0.69))
    assert envelope.misfits(LLAMA, H100, with_share(0.70))[0].part == "engine"
    assert envelope.peak(LLAMA, H100, with_share(0.69)).moment == "generate"


def test_weights_that_arrive_need_room_beside_those_that_are_sent():
    # frozen weights whole on each GPU (ZeRO 2) and the engine's: 2 · 30.5 GB of 73.6 - one copy fits, two do not
    model = MODELS["qwen3-30b-a3b"]
    adapters = dict(adapters=16, zero=2, reference=False, recompute="full", length=1024)
    (misfit,) = envelope.misfits(model, H100, replace(job(8, **adapters), engine=Engine(8, 1, 1024, hbm_share=0.95)))
    assert misfit.part in ("state", "weights") and "moment of sync" in misfit.what
    assert misfit.has == pytest.approx(0.92 * 80)
    assert misfit.needs == pytest.approx(2 * 2 * model.params() / 1e9, rel=0.02)


def test_the_fullest_moment_is_the_trainer_s_unless_the_engine_lacks_room():
    peak = envelope.peak(LLAMA, H100, job(8))
    assert peak.moment == "update" and peak.share == pytest.approx(55.89 / 73.6, abs=1e-3)
    # an engine needs its weights and one sequence: 2 P and 16384 · 131 072 B, of .2 · 80 GB
    small = replace(job(8), engine=Engine(8, 1, 16384, hbm_share=0.2))
    peak = envelope.peak(LLAMA, H100, small)
    assert peak.moment == "generate" and peak.needs == pytest.approx(2 * LLAMA.params() + 16384 * 131_072)
    assert peak.has == pytest.approx(16e9)
    # new weights beside the engine's: 671 GB in fp8 over 8, and 2 P / 256
    peak = envelope.peak(V3, H200, job(256, recompute="full", weight_bytes=1))
    assert peak.moment == "sync" and peak.needs == pytest.approx(V3.params() * (1 / 8 + 2 / 256))


def test_where_no_engine_holds_the_weights_the_largest_shows_what_is_missing():
    peak = envelope.peak(V3, H100, job(256, recompute="full"))
    assert peak.moment == "generate" and peak.needs > 2 * V3.params() / 8 > 2 * peak.has
    generating = envelope.envelope(V3, H100, job(256, recompute="full"))["generate"]
    assert generating == dict(weights=2 * V3.params() / 8, extra=0, cache=0)


@pytest.mark.parametrize(
    "key, chip, gpus",
    [("llama3.1-405b", H100, 89), ("deepseek-v3", H100, 146), ("deepseek-v3", H200, 83), ("llama3.1-70b", H100, 16)],
)
def test_the_state_alone_needs_so_many_gpus(key, chip, gpus):
    # 16 P / (.92 HBM), rounded up
    assert envelope.fewest_gpus(MODELS[key], chip, Job(1, Training(1))) == gpus


def test_the_fewest_gpus_are_those_that_a_search_from_below_finds():
    for one in (job(8), job(8, placement="two pools"), job(8, placement="in turn, resident"), job(8, zero=1)):
        first = next((n for n in range(1, 200) if not envelope.misfits(LLAMA, H100, replace(one, gpus=n))), None)
        assert envelope.fewest_gpus(LLAMA, H100, one) == first
    for share in (0.3, 0.5):  # of 8,192 GPUs those that train are no multiple of three, nor for 0.3 of four
        for layout in (dict(tensor_parallel=4), dict(pipeline=3), dict(tensor_parallel=2, pipeline=2)):
            one = replace(job(8, placement="two pools", **layout), share=share)
            first = next(n for n in range(1, 200) if not envelope.misfits(LLAMA, H100, replace(one, gpus=n)))
            assert envelope.fewest_gpus(LLAMA, H100, one) == first
    # 18 P/4 + 36.5 + 1.3 = 74.0 of 73.6: five
    assert envelope.fewest_gpus(LLAMA, H100, job(1)) == 5
    assert envelope.fewest_gpus(MODELS["llama3.1-70b"], H100, job(1, reference=False, length=128)) == 16
    assert envelope.fewest_gpus(LLAMA, H100, job(8, 16384)) is None  # its activations are not sharded


def test_the_copies_of_a_model():
    # 16 + 2 + 2 bytes a weight, and with a critic 16 + 2 more: 161 and 305 GB
    def whole(**training):
        return sum(envelope.copies(LLAMA, Training(8, **training), Engine(8)).values()) / 1e9

    assert whole(reference=True) == pytest.approx(160.6, abs=0.05)
    assert whole(reference=True, critic=True) == pytest.approx(305.1, abs=0.05)
    assert envelope.copies(LLAMA, Training(8)) == dict(policy=16 * LLAMA.params())


# one card, eight billion weights, adapters of rank 32 on sequences of 4,096 tokens
def one_card(placement, four_bits=False, u=0.5):
    training = Training(
        1, ledger=memory.FSDP, adapters=32, four_bits=four_bits, tokens=4096, length=4096, logits_chunk=1024
    )
    return Job(1, training, Engine(1, 1, 4096, hbm_share=u), placement)


def test_one_copy_of_the_weights_is_in_the_engines_share_and_not_beside_it():
    apart, shared = (
        envelope.envelope(LLAMA, H100, one_card(where))["generate"]
        for where in ("in turn, resident", envelope.ONE_COPY)
    )
    # the trainer's bf16 weights, 2 bytes of each
    assert apart["state"] - shared["state"] == pytest.approx(2 * LLAMA.params())
    assert apart["weights"] == shared["weights"] and apart["cache"] == shared["cache"]


def test_an_engine_that_never_sleeps_is_there_at_every_moment():
    moments = envelope.envelope(LLAMA, H100, one_card(envelope.BOTH_STAY))
    assert all(held["cache"] == moments["generate"]["cache"] > 0 for held in moments.values())


@pytest.mark.parametrize("placement", envelope.STAYING)
def test_what_is_free_beside_the_training_state_just_fits(placement):
    free = envelope.free_share(LLAMA, H100, one_card(placement))
    assert not envelope.misfits(LLAMA, H100, one_card(placement, u=free - 1e-9))
    assert envelope.misfits(LLAMA, H100, one_card(placement, u=min(free + 0.02, 0.98)))
