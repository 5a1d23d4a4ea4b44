"""Settings drawn over the whole grid of knobs of the calculators: whatever is set, the page answers, and its way back
works.
"""

import json
import math
import random
import time
from dataclasses import fields, replace

import pytest

from sim.cluster import step, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from tests.widgets.catalogue import early_frame, mended
from widgets import throughput as widget

DRAWN = 300


def any_of(field, chance):
    """A value of the knob, its ends often."""
    m = field.metadata
    if m["kind"] == "slider":
        return chance.choice([m["low"], m["high"], round(chance.uniform(m["low"], m["high"]) / m["step"]) * m["step"]])
    values = m["rungs"] if m["kind"] == "ladder" else [True, False] if m["kind"] == "toggle" else m["options"]
    return chance.choice([values[0], values[-1], *values])


def drawn():
    chance = random.Random(22)
    for _ in range(DRAWN):
        knobs = {f.name: any_of(f, chance) for f in fields(widget.Knobs)}
        if chance.random() < 0.8:  # quantiles that fall are tested by themselves
            knobs |= dict(zip(("p50", "p90", "p99"), sorted(knobs[name] for name in ("p50", "p90", "p99"))))
        yield widget.Knobs(**knobs)


@pytest.fixture(scope="module")
def answers():
    out = []
    for k in drawn():
        started = time.process_time()
        (result,) = widget.run(k)
        out.append((k, result, widget.broken(k, result), early_frame("throughput", k)))
        assert time.process_time() - started < 5, f"five processor seconds for {k}"
    return out


def test_every_setting_is_answered_and_every_number_is_finite_or_there_is_a_break(answers):
    for k, result, broken, frame in answers:
        json.dumps(frame, allow_nan=False)
        assert broken or math.isfinite(step.step_time(result.roles, k.overlap)), k


def test_what_does_not_fit_is_said_and_nothing_else_is(answers):
    for _, result, broken, _ in answers:
        assert bool(result.misfits) == bool(broken and "does not fit" in broken.why)
        assert not broken or len(broken.why) <= 150, broken.why
    assert 20 < sum(bool(result.misfits) for _, result, _, _ in answers) < DRAWN - 20  # both sides are drawn


def test_nothing_that_fits_is_faster_than_the_chip(answers):
    for k, result, _, _ in answers:
        if not result.misfits:
            chip = ACCELERATORS[k.accelerator]
            for point in result.points:
                assert point.flops_per_second <= chip.flops() * (1 + 1e-9), k
                if point.role != "train":
                    assert point.flops_per_second <= throughput.roof(chip, point.flop_per_byte) * (1 + 1e-9), k
            size = widget.engine_size(k)
            assert size in MODELS[k.model].tp_sizes() and size <= min(k.gpus, chip.scaleup_domain)
            assert widget.utilization(k) <= 1


def test_the_way_back_leads_back(answers):
    for k, _, broken, _ in answers:
        turned, there = 0, k
        while broken and ": " in broken.mend and turned < 3:
            after = mended("throughput", there, broken.mend)
            assert after != there, (there, broken.mend)  # the present value is no way back
            turned, there, before = turned + 1, after, broken
            broken = widget.broken(there, next(widget.run(there)))
            assert broken is None or broken.why != before.why, (there, before.mend)
        assert broken is None or ": " not in broken.mend, (k, broken)


def test_more_test_workers_never_take_longer(answers):
    for k, result, _, _ in answers[:40]:
        if not result.misfits:
            more = next(widget.run(replace(k, workers=65536))).roles
            assert more.verify <= result.roles.verify and more.verify >= max(k.longest_test, k.test_seconds) / k.k
