"""Settings drawn over the whole grid of knobs, and what the pages about machines answer to them."""

import random
import time
from dataclasses import dataclass, fields, replace
from functools import cache

from tests import skip_unchanged
from tests.widgets.catalogue import early_frame
from widgets.frame.reader import host

# how many settings of each are drawn at night: fewer where one takes long; a quarter of them on a push
MACHINES = {
    "kv_cache": 100,
    "asynchrony": 100,
    "memory": 300,
    "paths": 150,
    "plan": 120,
    "throughput": 300,
    "topology": 200,
    "scheduling": 120,
}
SECONDS = 5  # processor seconds a setting may take: two on a machine that does nothing else
RISING = ("p50", "p90", "p99")  # quantiles, which four draws of five put in order
# engines and a trainer in one piece, which any number of GPUs can have, of a chip that has room: two draws of three
UNCUT = dict(accelerator="h200", sharing="by the program, or what fits", zero="3", training_tensor="1")
UNCUT |= dict(training_stages="1", training_parallel=1, data_parallel=1, pipeline=1)


@dataclass(frozen=True)
class Answer:
    knobs: object
    result: object
    broken: object
    frame: dict


@cache
def answers(name):
    w, out = host.widget(name), []
    for k in drawn(name, how_many(name)):
        started = time.process_time()
        *_, result = w.run(k)
        out.append(Answer(k, result, w.broken(k, result), early_frame(name, k)))
        assert time.process_time() - started < SECONDS, f"{SECONDS} processor seconds for {k}"
    return out


def how_many(name):
    return MACHINES[name] if skip_unchanged.nightly() else max(30, MACHINES[name] // 4)


def drawn(name, n):
    """Settings of which every knob is drawn."""
    chance = random.Random(22)
    for _ in range(n):
        yield anywhere(name, chance)


def near_and_far(name, n, seed):
    """Settings of any widget: by turns one to three knobs of a preset are drawn, or every knob, or some stand at 1."""
    presets, chance = list(host.widget(name).PRESETS.values()), random.Random(f"{name} {seed}")
    for i in range(n):
        if i % 3 == 0:
            yield nearby(chance.choice(presets), chance)
        elif i % 3 == 1:
            yield anywhere(name, chance)
        else:
            yield at_one(chance.choice([chance.choice(presets), anywhere(name, chance)]), chance)


def anywhere(name, chance):
    knobs = host.widget(name).Knobs
    setting = {f.name: any_of(f, chance) for f in fields(knobs) if f.metadata["kind"] != "pasted"}
    if set(RISING) <= set(setting) and chance.random() < 0.8:
        setting |= dict(zip(RISING, sorted(setting[name] for name in RISING)))
    if set(UNCUT) <= set(setting) and chance.random() < 2 / 3:
        setting |= UNCUT
    return knobs(**setting)


def nearby(preset, chance):
    """The preset with one to three knobs turned, of a text to its example."""
    turned = chance.sample(fields(preset), min(chance.randint(1, 3), len(fields(preset))))
    return replace(preset, **{f.name: any_of(f, chance) for f in turned})


def at_one(setting, chance):
    """The same with some of the numbers at 1 that can be: where a sentence counts, it has one of them."""
    able = [f for f in fields(setting) if can_be_one(f)]
    some = chance.sample(able, chance.randint(1, len(able))) if able else []
    return replace(setting, **{f.name: type(f.default)(1) for f in some})


def can_be_one(field):
    m = field.metadata
    if m["kind"] in ("pasted", "toggle"):
        return False
    if m["kind"] == "slider" or m.get("exact"):
        least, most = (m["low"], m["high"]) if m["kind"] == "slider" else (m["rungs"][0], m["rungs"][-1])
        return least <= 1 <= most
    return type(field.default)(1) in (m.get("rungs") or m["options"])


def any_of(field, chance):
    """A value of the knob, its ends often."""
    m, kind = field.metadata, type(field.default)
    if m["kind"] == "pasted":
        return m["read"](m["example"])[0]
    if m["kind"] == "slider":
        steps = round(chance.uniform(0, (m["high"] - m["low"]) / m["step"]))
        return kind(round(chance.choice([m["low"], m["high"], m["low"] + steps * m["step"]]), 9))
    if m.get("exact") and chance.random() < 0.3:  # typed between two rungs
        least, most = m["rungs"][0], m["rungs"][-1]
        return kind(least + (most - least) * chance.random() ** 4)
    values = m["rungs"] if m["kind"] == "ladder" else [True, False] if m["kind"] == "toggle" else m["options"]
    return kind(chance.choice([values[0], values[-1], *values]))
