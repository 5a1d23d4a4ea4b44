from functools import partial

import numpy as np
import pytest

from sim.experiments import mismatch
from tests.widgets import catalogue
from widgets.off_policy import widget
from widgets.off_policy.widget import (
    AGED,
    BAD,
    CENTER,
    CLIP,
    COLD,
    CUT,
    LARGE,
    NONE,
    OLD,
    SAME,
    UPDATES,
    WHOLE,
    Knobs,
    final,
)

last = partial(catalogue.last, widget)
cause = partial(catalogue.cause, widget)
LATE = dict(engine=SAME, lag=8)


@pytest.mark.slow
def test_the_default_weighs_what_a_hotter_engine_drew_and_learns():
    assert cause() is None and final(last()) > 0.9
    assert last().updates == UPDATES and last().gap[0] > 0.15 and not last().silenced.any()


@pytest.mark.slow
def test_the_clip_around_the_engine_ruins_the_run_by_what_it_silences():
    r = last(correction=CLIP)
    assert cause(correction=CLIP) == CENTER and final(r) < r.right[0] and r.silenced[0] > 0.15


@pytest.mark.slow
def test_no_correction_at_all_is_better_than_that_clip():
    assert cause(correction=NONE) is None and final(last(correction=NONE)) > 0.9


@pytest.mark.slow
def test_old_answers_used_as_new_ruin_it_and_masking_the_bad_ones_does_not():
    assert cause(correction=NONE, **LATE) == OLD
    assert cause(correction=BAD, **LATE) is None and final(last(correction=BAD, **LATE)) > 0.8


@pytest.mark.slow
def test_with_sgd_a_whole_product_loses_a_run():
    knobs = dict(correction=WHOLE, optimizer="SGD", seed=1, **LATE)
    assert cause(**knobs) == LARGE and last(**knobs).largest > 10
    found = widget.broken(Knobs(**knobs), last(**knobs))
    assert cause(**(knobs | found.fix)) is None


@pytest.mark.slow
def test_four_passes_over_answers_that_are_eight_updates_old_are_too_much_for_a_weight():
    knobs = dict(passes=4, **LATE)
    assert cause(**knobs) == AGED and widget.broken(Knobs(**knobs), last(**knobs)).fix == dict(lag=0, passes=1)


@pytest.mark.slow
def test_a_clip_over_late_answers_is_blamed_alone_where_a_weight_alone_mends_it():
    late = dict(correction=CLIP, lag=4)
    found = widget.broken(Knobs(**late), last(**late))
    assert found.cause == CENTER and found.fix == dict(correction=CUT) and "late" not in found.why
    assert cause(**late | found.fix) is None


@pytest.mark.slow
def test_four_passes_over_late_answers_of_a_colder_engine_are_not_blamed_on_the_clip():
    knobs = dict(correction=CLIP, engine=COLD, lag=2, passes=4)
    assert cause(**knobs) == AGED and cause(**knobs | dict(lag=0)) is None and cause(**knobs | dict(correction=CUT))


@pytest.mark.slow
def test_the_gap_is_there_only_where_engine_and_trainer_differ():
    assert last(engine=SAME).gap.max() < 1e-9 < 0.1 < last().gap[0]
    assert last(engine="temperature 0.7").gap[0] > 0.05


@pytest.mark.slow
def test_the_picture_rings_what_a_clip_silences_and_the_curve_where_another_run_ends():
    for knobs in ({}, dict(correction=CLIP), dict(correction=NONE, **LATE)):
        (ring,) = [
            mark
            for view in widget.figure(Knobs(**knobs), last(**knobs))[0]["columns"][0]
            for mark in view["marks"]
            if mark["kind"] == "ring"
        ]
        found = widget.broken(Knobs(**knobs), last(**knobs))
        assert ring["seen"] == bool(found and found.cause == CENTER)
        if found:
            place = widget.seen_at(Knobs(**knobs), last(**knobs), found.cause)
            assert place.panel == (widget.BATCH if ring["seen"] else "Right answers")
            assert place.words == ring["words"] if ring["seen"] else place.curve == "right"


@pytest.mark.slow
def test_another_seed_draws_another_run():
    assert (last(seed=1).right != last().right) and last(seed=1).right[0] == last().right[0]


def test_the_two_knobs_in_view_reach_the_break_of_the_opening():
    assert widget.OPENING.other == Knobs(correction=CLIP) and widget.LEAD == ("correction", "engine")


def test_the_widget_offers_every_way_of_the_simulation():
    (field,) = [f for f in Knobs.__dataclass_fields__.values() if f.name == "correction"]
    assert field.metadata["options"] == list(mismatch.WAYS)


def test_the_share_by_length_is_that_of_the_spread_of_the_last_batch():
    r = widget.Trace((0,), (0.3,), *np.ones((3, 1)), 1.0, 0.01, ())
    lines = [trace["y"] for trace in widget.by_length(Knobs(), r)["data"] if trace["name"] == "this run"]
    assert lines[0][-1] == pytest.approx(np.exp(-1e-4 * 32_000))
