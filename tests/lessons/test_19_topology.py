"""The lesson on topology: what its numbers are computed by, and what it says without a number."""

from collections import namedtuple
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from rlpt.planning import measured
from sim.cluster import straggler, throughput, topology
from sim.cluster.topology import ASYNC, CARRY, COLOCATED, ONE_OFF, SPLIT, WAYS
from tests.lessons import spreads
from widgets.topology import figures, widget

values = partial(spreads.values, "19_topology")
DEFAULT = widget.Knobs()
JOB, DRAWN = widget.job(DEFAULT), widget.lengths(DEFAULT)
MIXTURE = measured.VERL["30B-A3B, 128 GPUs"]
# verl, docs/advance/v1_async_trainer.md of August 2026, table "V1 trainer all modes": hours of 150 steps, tokens a
# second, mean length
Published = namedtuple("Published", "hours rate length")
SYNC, CARRIED, APART = (
    Published(22.79, 12_053, 12_720),
    Published(14.72, 18_852, 12_854),
    Published(14.10, 18_829, 12_288),
)


def run(way, generating=7, job=JOB, drawn=DRAWN):
    return topology.simulate(job, way, generating, drawn)


def rate(way, generating=7, job=JOB, drawn=DRAWN):
    return run(way, generating, job, drawn).tokens_per_second


def best(way, **change):
    """(tokens a second, GPUs that generate) at the best cut."""
    job, drawn = changed(**change)
    return max((rate(way, generating, job, drawn), generating) for generating in range(1, 32))


def changed(**change):
    """The job and its lengths at another setting of the widget."""
    k = replace(DEFAULT, **change)
    return widget.job(k), widget.lengths(k)


def drawn_rate(way, cut):
    return lambda seed: rate(way, cut, JOB, topology.drawn_lengths(JOB, 6, seed))


MEASURED = {str(way): drawn_rate(way, cut) for way, cut in zip(WAYS, (7, 7, 10, 19, 7))}


def furthest():
    """From the middle of twenty draws of the lengths, of any way."""
    return max(np.ptp(rates) / (rates.max() + rates.min()) for rates in map(values, map(str, WAYS)))


def over_one_pool(sigma, way=ASYNC):
    job, drawn = changed(sigma=sigma)
    return best(way, sigma=sigma)[0] / rate(COLOCATED, 7, job, drawn)


def shared_by(gpus):
    """The job with engines of so many GPUs."""
    return replace(JOB, tensor_parallel=gpus)


def alone(gpus):
    """Seconds that the longest completion takes on such an engine."""
    return topology.floor_seconds(shared_by(gpus), DRAWN)


def one_pass():
    return throughput.iteration_seconds(JOB.model, JOB.accelerator, 1.0, 512.0)


def verl(gpus):
    return measured.VERL[f"7B, {gpus} GPUs"]


def test_half_of_a_rollout_is_spent_on_the_last_tenth():
    shares = [
        straggler.tail_of(*straggler.drain(lengths[e::32].ravel(), JOB.prompt, JOB.seconds, JOB.slots))[0]
        for lengths in DRAWN
        for e in range(32)
    ]
    assert sum(shares) / len(shares) == pytest.approx(0.5, abs=0.03)


def test_carrying_over_has_two_thirds_of_the_gain_of_async():
    assert 0.6 < (rate(CARRY) - rate(COLOCATED)) / (rate(ASYNC) - rate(COLOCATED)) < 0.7


def test_too_few_trainers_too_few_generators_and_a_slow_wire_are_slower_than_no_split():
    slow = replace(JOB, sync_bytes_per_second=0.1e9)
    assert rate(COLOCATED) > max(rate(ASYNC, 28), rate(ASYNC, 2), rate(ASYNC, job=slow))


def test_larger_engines_change_nothing_for_async_whose_trainers_set_the_pace():
    assert rate(ASYNC, 16, shared_by(2)) == pytest.approx(rate(ASYNC, 16))


def test_eight_gpus_cannot_share_an_engine():
    assert 8 not in JOB.model.tp_sizes()


def test_without_a_spread_one_step_off_is_within_one_per_cent_of_async():
    assert best(ONE_OFF, sigma=0.0)[0] > 0.99 * best(ASYNC, sigma=0.0)[0]


def test_the_order_of_the_ways_holds_in_twenty_draws():
    for slower, faster in pairwise((SPLIT, COLOCATED, ONE_OFF, CARRY, ASYNC)):
        assert (values(str(slower)) < values(str(faster))).all()


def test_carried_over_a_published_run_is_as_fast_as_split():
    assert CARRIED.rate >= APART.rate > 1.5 * SYNC.rate
