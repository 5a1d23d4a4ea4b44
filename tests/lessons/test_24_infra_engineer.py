"""The numbers of the lesson on what travels, recomputed."""

from functools import cache

import pytest

from sim.cluster import paths
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.paths import ENGINES, ENVIRONMENT, EXPERIENCE, TRAINER, WEIGHTS
from tests.lessons.prose import Lesson
from widgets.paths import widget
from widgets.paths.widget import AGAIN, PRESETS, Knobs, of_length

LESSON = Lesson("24")
MODEL_CHIP = ACCELERATORS["h100"]
MODEL, SPARSE = MODELS["qwen2.5-32b"], MODELS["qwen3-30b-a3b"]


@cache
def report(**knobs):
    (r,) = widget.run(Knobs(**knobs))
    return r.report


def path(name, **knobs):
    return report(**knobs).paths[name]


def test_bytes_of_the_step():
    LESSON.says("1.05", path(WEIGHTS).bytes / 1e12)
    LESSON.says("1.17", path(EXPERIENCE).bytes / 1e9)
    LESSON.says("893", path(WEIGHTS).bytes / path(EXPERIENCE).bytes)
    LESSON.says("567", path(TRAINER).bytes / path(WEIGHTS).bytes)
    LESSON.says("594", path(TRAINER).bytes / 1e12)
    LESSON.says("532", path(ENGINES).bytes / 1e12)
    LESSON.says("1,126", (path(TRAINER).bytes + path(ENGINES).bytes) / 1e12)
    LESSON.says("0.30", path(ENVIRONMENT).bytes / 1e9)
    assert 4.9e5 < path(TRAINER).bytes / path(EXPERIENCE).bytes < 5.2e5  # "half a million times"


def test_a_token():
    LESSON.says("17", paths.token_bytes(MODEL))
    LESSON.says("304,145", paths.token_bytes(MODEL, paths.FULL))
    LESSON.says("17,891", paths.token_bytes(MODEL, paths.FULL) / 17)
    LESSON.says("401", paths.token_bytes(SPARSE, paths.ROUTED))
    LESSON.says("24", 401 / 17)


def test_gathering():
    level = 8 / 6 * 0.4 * 989.4e12 / (8 * 50e9) * 63 / 64  # where both lines are as high
    LESSON.says("1,299", level)
    LESSON.says("23", path(TRAINER).seconds)
    LESSON.says("400", MODEL_CHIP.ring_bytes_per_second(64) / 1e9)
    LESSON.says("586", report().roles.train)
    assert path(TRAINER).exposed == 0


@pytest.mark.parametrize("schedule, said", list(zip(paths.SCHEDULES, ("21.0", "1.31", "0.33"))))
def test_sending_weights(schedule, said):
    LESSON.says(said, path(WEIGHTS, schedule=schedule).seconds)


def test_two_harmless_changes():
    full, slow = dict(payload=paths.FULL), dict(route=paths.CONTROLLER)
    LESSON.says("20.4", path(EXPERIENCE, **full).bytes / 1e12)
    LESSON.says("6.4", path(EXPERIENCE, **full).seconds)
    LESSON.says("1,677", report(**full).seconds)
    LESSON.says("0.1", path(EXPERIENCE, **slow).seconds)
    LESSON.says("2,041", path(EXPERIENCE, **full, **slow).exposed)
    for alone in (full, slow):  # "less than one per cent of the step"
        assert report(**alone).seconds < 1.01 * report().seconds


def test_one_sender_of_another_job():
    assert 20 < path(WEIGHTS, schedule=paths.FUNNEL).exposed < 21.5 < 0.02 * 1671
    short = vars(PRESETS["70B, 512 short answers, one sender"])
    LESSON.says("45", path(WEIGHTS, **short).exposed)
    LESSON.says("120", report(**short).seconds)
    LESSON.says("721", report(**short).updates_a_day)
    LESSON.says("1,145", report(**short | dict(schedule=paths.DIRECT)).updates_a_day)


def test_what_the_head_says_of_the_two_runs_of_the_first_screen():
    plain, other = (report(**vars(k)) for k in (widget.OPENING.plain, widget.OPENING.other))
    LESSON.says("28", plain.seconds / 60)
    LESSON.says("62", other.seconds / 60)
    LESSON.says("34", other.paths[EXPERIENCE].exposed / 60)


def test_gathering_experts():
    r = report(**vars(PRESETS["30B-A3B, 2,048 tokens at a time"]))
    LESSON.says("13", r.roles.train)
    LESSON.says("77", r.paths[TRAINER].seconds)
    more = report(**vars(PRESETS["30B-A3B, 2,048 tokens at a time"]) | dict(micro_batch=16384))
    assert more.paths[TRAINER].exposed == 0  # "Train on more tokens at a time"
    LESSON.says("30.5", SPARSE.params() / 1e9)
    LESSON.says("3.4", SPARSE.active_params() / 1e9)


def test_what_hides():
    stream = report(way=paths.ASYNC)
    LESSON.says("822", stream.seconds)
    LESSON.says("1,671", report().seconds)
    assert all(p.exposed < 1e-9 for p in stream.paths.values())
    LESSON.says("836", report(way=paths.COLOCATED).seconds)


def test_the_answers():
    for name in (EXPERIENCE, ENVIRONMENT, TRAINER, ENGINES):
        assert path(name, samples=32).bytes / path(name).bytes == pytest.approx(2, rel=0.01)
    assert path(WEIGHTS, samples=32).bytes == path(WEIGHTS).bytes
    for schedule, share in ((paths.FUNNEL, 1 / 2), (paths.BROADCAST, 1)):  # eight engines in place of sixteen
        eight, sixteen = (paths.sync_seconds(MODEL, schedule, 50e9, engines, 64, 4) for engines in (8, 16))
        assert eight == pytest.approx(share * sixteen)
    routed = dict(model="qwen3-30b-a3b", prompts=128, payload=paths.ROUTED)
    LESSON.says("6.7", path(EXPERIENCE, **routed).bytes / 1e9)
    LESSON.says("977", path(WEIGHTS, **routed).bytes / 1e9)
    LESSON.says("2", 1e3 * path(EXPERIENCE, **routed).seconds)
    LESSON.says("0.7", path(EXPERIENCE, **routed, route=paths.CONTROLLER).seconds)


def test_the_other_counts():
    LESSON.says("1,966,080", paths.split_bytes(MODEL, 4))
    LESSON.says("18", path(ENGINES).seconds)
    LESSON.says("889", report().roles.rollout)
    agents = dict(turns=50, prompts=32, prompt=2048, **of_length(65536))
    anew, once = path(ENVIRONMENT, **agents, texts=AGAIN), path(ENVIRONMENT, **agents)
    LESSON.says("3.6", anew.bytes / 1e9)
    LESSON.says("0.14", once.bytes / 1e9)
    LESSON.says("26", anew.bytes / once.bytes)
    assert anew.seconds == pytest.approx(1 / 3, abs=0.04)  # "a third of a second"
    LESSON.says("51,200", report(**agents).messages)


def test_reported_syncs():
    """A trillion weights of a byte each to one copy over 128 GPUs, from 256."""
    LESSON.says("0.16", paths.sync_seconds(MODELS["kimi-k2"], paths.DIRECT, 50e9, 1, 256, 128, 1))
    assert path(WEIGHTS, weights="eight bits").seconds == pytest.approx(0.16, abs=0.005)


def test_the_whiteboard():
    assert path(EXPERIENCE).seconds < 1e-3
    LESSON.says("0.03", path(ENVIRONMENT).seconds)
    LESSON.says("82", 0.01 * 8192)
