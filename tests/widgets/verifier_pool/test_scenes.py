"""The pictures of lesson 18c show what was computed, and claim no more."""

import numpy as np
import pytest

from sim.cluster import verifier_pool
from tests.widgets.catalogue import marks
from widgets.verifier_pool import figures, sandboxes
from widgets.verifier_pool.figures import SECONDS, SETTINGS, SLOTS


def begun(panel, kind, until):
    return [mark for mark in marks(panel, kind) if mark["start"] < until]


def test_a_bar_is_as_long_as_its_slot_was_held_and_filled_by_what_it_got():
    verdicts = verifier_pool.pool(np.zeros(4), np.full(4, 3.0), 4, 1)
    view = sandboxes.board("x", verdicts, [0, 1, 2, 3], 20, "alt")
    bars = [mark for mark in view["marks"] if mark["kind"] == "run"]
    fills = [mark for mark in view["marks"] if mark["kind"] == "span"]
    assert all((bar["start"], bar["end"]) == (0, 10) for bar in bars)
    assert all((fill["start"], fill["end"], fill["role"]) == (0, 2.5, "rival") for fill in fills)


def test_the_share_cut_off_that_a_reader_counts_is_that_of_the_pool():
    for way in SETTINGS:
        verdicts, (slots, _) = figures.batch(way).verdicts, figures.pictured(way)
        fills = begun(figures.opening(way, SECONDS[-1])[0], "span", figures.UNTIL)
        assert len(fills) == np.isin(verdicts.slot, slots).sum()
        cut_off = sum(mark["role"] == "rival" for mark in fills)
        assert abs(cut_off - verdicts.cut.mean() * len(fills)) <= 2  # of 128 or so
    for slots in SLOTS:
        fills = begun(figures.crowd(slots)[0], "span", figures.PART_UNTIL)
        cut_off = sum(mark["role"] == "rival" for mark in fills)
        assert abs(cut_off - figures.in_slots(slots).cut.mean() * len(fills)) <= 1


def test_both_settings_of_the_opening_check_the_same_programs():
    first, other = (figures.batch(way) for way in SETTINGS)
    assert (first.work == other.work).all() and (first.arrivals == other.arrivals).all()


def test_the_ring_of_the_opening_stands_on_a_right_program_that_load_cut_off():
    for way in SETTINGS:
        (ring,) = marks(figures.opening(way, SECONDS[-1])[0], "ring")
        assert ring["seen"] == (way == SETTINGS[1])
    _, job = figures.pictured(SETTINGS[1])
    batch = figures.batch(SETTINGS[1])
    assert batch.verdicts.by_load[job] and figures.right(SETTINGS[1])[job]
    assert ring["end"] - ring["start"] == pytest.approx(10)
    (early,) = marks(figures.opening(SETTINGS[1], 0)[0], "ring")
    assert not early["seen"]


def test_all_positions_of_the_slots_end_together():
    assert {round(figures.in_slots(slots).seconds, 6) for slots in SLOTS} == {round(figures.in_slots(32).seconds, 6)}


def test_the_dots_are_the_right_programs_that_are_refused():
    for tests in figures.TESTS:
        refused = [dict(mark["shares"])["against"] for mark in marks(figures.flaky(tests)[0], "hundred")]
        assert refused == pytest.approx([(1 - 0.999**tests) ** tries for tries in (1, 2, 3)])


def test_six_tries_pay_luck_more_than_an_honest_way():
    assert verifier_pool.retry_fp(figures.LUCK, 5) < 0.70 < verifier_pool.retry_fp(figures.LUCK, 6)
