"""Settings drawn over the whole grid of knobs of the pages about machines, and what the pages answer."""

import random
import time
from dataclasses import dataclass, fields
from functools import cache

from tests import skip_unchanged
from tests.widgets.catalogue import early_frame
from widgets.frame import host

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
    knobs, chance = host.widget(name).Knobs, random.Random(22)
    turned = [f for f in fields(knobs) if f.metadata["kind"] != "pasted"]
    for _ in range(n):
        setting = {f.name: any_of(f, chance) for f in turned}
        if set(RISING) <= set(setting) and chance.random() < 0.8:
            setting |= dict(zip(RISING, sorted(setting[name] for name in RISING)))
        yield knobs(**setting)


def any_of(field, chance):
    """A value of the knob, its ends often."""
    m = field.metadata
    if m["kind"] == "slider":
        return chance.choice([m["low"], m["high"], round(chance.uniform(m["low"], m["high"]) / m["step"]) * m["step"]])
    values = m["rungs"] if m["kind"] == "ladder" else [True, False] if m["kind"] == "toggle" else m["options"]
    return chance.choice([values[0], values[-1], *values])
