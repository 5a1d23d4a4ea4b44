"""The lesson on what travels: what its numbers are computed by, and what it says without a number."""

from functools import cache

import pytest

from sim.cluster import fabric, paths
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.paths import ENGINES, ENVIRONMENT, EXPERIENCE, TRAINER, WEIGHTS
from widgets.paths import widget
from widgets.paths.widget import AGAIN, PRESETS, Knobs, of_length

H100 = ACCELERATORS["h100"]
MODEL, SPARSE = MODELS["qwen2.5-32b"], MODELS["qwen3-30b-a3b"]
AGENTS = dict(turns=50, prompts=32, prompt=2048, **of_length(65536))


def kimi(way):
    """Seconds to send Kimi K2 as stored, in fp8, into engines of 128 GPUs."""
    return fabric.transfer_seconds(MODELS["kimi-k2"], fabric.TRANSFERS[way], None, 128)


@cache
def report(**knobs):
    """What the simulator reports of a step."""
    return next(widget.run(Knobs(**knobs))).report


def path(name, **knobs):
    return report(**knobs).paths[name]


def gigabytes(name, **knobs):
    return path(name, **knobs).bytes / 1e9


def terabytes(name, **knobs):
    return path(name, **knobs).bytes / 1e12


token = paths.token_bytes(MODEL)
weights_a_byte = path(WEIGHTS).bytes / path(EXPERIENCE).bytes  # of experience
traffic_a_byte = path(TRAINER).bytes / path(WEIGHTS).bytes  # of weights


def both_changes():
    """All logits, through the controller."""
    return path(EXPERIENCE, payload=paths.FULL, route=paths.CONTROLLER)


def short_answers(**changed):
    """A 70B with 512 short answers, by default with one sender."""
    return report(**vars(PRESETS["70B, 512 short answers, one sender"]) | changed)


def experts(**changed):
    """A mixture of experts that trains on 2,048 tokens at a time."""
    return report(**vars(PRESETS["30B-A3B, 2,048 tokens at a time"]) | changed)


def routed(name, **changed):
    """A path if the chosen experts are sent along."""
    return path(name, **dict(model="qwen3-30b-a3b", prompts=128, payload=paths.ROUTED) | changed)


def lines_cross():
    """Tokens at a time at which gathering takes as long as the arithmetic that hides it."""
    return 8 / 6 * 0.4 * 989.4e12 / (8 * 50e9) * 63 / 64


def test_in_the_opening_all_gpus_wait_for_34_of_62_minutes():
    plain, other = (report(**vars(k)) for k in (widget.OPENING.plain, widget.OPENING.other))
    assert (round(plain.seconds / 60), round(other.seconds / 60)) == (28, 62)
    assert round(other.paths[EXPERIENCE].exposed / 60) == 34


def test_what_overlaps_longer_work_costs_nothing():
    assert path(TRAINER).exposed == 0 == experts(micro_batch=16384).paths[TRAINER].exposed
    assert all(one.exposed < 1e-9 for one in report(way=paths.ASYNC).paths.values())


def test_either_change_alone_costs_less_than_one_per_cent_of_the_step():
    for alone in (dict(payload=paths.FULL), dict(route=paths.CONTROLLER)):
        assert report(**alone).seconds < 1.01 * report().seconds
    assert path(WEIGHTS, schedule=paths.FUNNEL).exposed < 0.02 * report().seconds


def test_twice_the_completions_double_all_paths_but_the_weights():
    for name in (EXPERIENCE, ENVIRONMENT, TRAINER, ENGINES):
        assert path(name, samples=32).bytes / path(name).bytes == pytest.approx(2, rel=0.01)
    assert path(WEIGHTS, samples=32).bytes == path(WEIGHTS).bytes


def test_eight_engines_in_place_of_sixteen_halve_the_time_of_one_sender_alone():
    for schedule, share in ((paths.FUNNEL, 1 / 2), (paths.BROADCAST, 1)):
        eight, sixteen = (paths.sync_seconds(MODEL, schedule, 50e9, engines, 64, 4) for engines in (8, 16))
        assert eight == pytest.approx(share * sixteen)


def test_the_whole_text_at_each_turn_takes_a_third_of_a_second():
    assert path(ENVIRONMENT, **AGENTS, texts=AGAIN).seconds == pytest.approx(1 / 3, abs=0.04)
