from functools import partial

import numpy as np
import pytest

from sim.experiments import mismatch
from tests.widgets import catalogue
from widgets.off_policy import widget
from widgets.off_policy.widget import AGED, BAD, CENTER, CLIP, COLD, CUT, NONE, SAME, UPDATES, WHOLE, Knobs, final

last = partial(catalogue.last, widget)
cause = partial(catalogue.cause, widget)
LATE = dict(engine=SAME, lag=8)


@pytest.mark.slow
def test_the_default_weighs_what_a_hotter_engine_drew_and_learns():
    assert final(last()) > 0.9
    assert last().updates == UPDATES and last().gap[0] > 0.15 and not last().silenced.any()


@pytest.mark.slow
def test_the_clip_around_the_engine_ruins_the_run_by_what_it_silences():
    r = last(correction=CLIP)
    assert final(r) < r.right[0] and r.silenced[0] > 0.15


@pytest.mark.slow
def test_no_correction_at_all_is_better_than_that_clip():
    assert cause(correction=NONE) is None and final(last(correction=NONE)) > 0.9


@pytest.mark.slow
def test_late_answers_ruin_nothing_where_the_bad_ones_are_masked():
    assert cause(correction=BAD, **LATE) is None and final(last(correction=BAD, **LATE)) > 0.8


@pytest.mark.slow
def test_a_whole_product_that_loses_a_run_with_sgd_was_large():
    assert last(correction=WHOLE, optimizer="SGD", seed=1, **LATE).largest > 10


@pytest.mark.slow
def test_a_clip_over_late_answers_is_blamed_alone_where_a_weight_alone_mends_it():
    late = dict(correction=CLIP, lag=4)
    break_ = catalogue.broken(widget, **late)
    assert break_.cause == CENTER and break_.fix == dict(correction=CUT) and "late" not in break_.why
    assert cause(**late | break_.fix) is None


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
        k, r = Knobs(**knobs), last(**knobs)
        (ring,) = catalogue.marks(widget.figure(k, r)[0], "ring")
        break_ = widget.broken(k, r)
        assert ring["seen"] == bool(break_ and break_.cause == CENTER)
        if break_:
            place = widget.seen_at(k, r, break_.cause)
            assert place.panel == (widget.BATCH if ring["seen"] else "Correct answers")
            assert place.words == ring["words"] if ring["seen"] else place.curve == "right"


def test_the_widget_offers_every_way_of_the_simulation():
    (field,) = [f for f in Knobs.__dataclass_fields__.values() if f.name == "correction"]
    assert field.metadata["options"] == list(mismatch.WAYS)


def test_the_share_by_length_is_that_of_the_spread_of_the_last_batch():
    r = widget.Trace((0,), (0.3,), *np.ones((3, 1)), 1.0, 0.01, ())
    lines = [trace["y"] for trace in widget.by_length(Knobs(), r)["data"] if trace["name"] == "this run"]
    assert lines[0][-1] == pytest.approx(np.exp(-1e-4 * 32_000))
