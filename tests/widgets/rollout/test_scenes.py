"""The pictures of lesson 02 show what was computed, and claim no more."""

import re

import numpy as np
import pytest

from sim.experiments import written_sums
from sim.experiments.written_sums import ENDLESS, RIGHT
from sim.worlds import tasks, tinylm
from tests.widgets import catalogue
from tests.widgets.catalogue import marks
from widgets.frame.drawing import sums, trays
from widgets.rollout import figures, widget
from widgets.rollout.widget import Knobs

BREAKS = {name: k for name, k in widget.PRESETS.items() if name in ("Cold, τ 0.05", "Two temperatures")}


@pytest.fixture(scope="module", autouse=True)
def runs():
    """The runs of the pictures, once for all tests."""
    for setting in figures.SETTINGS:
        figures.followed(setting)
    for setting in figures.COLD:
        figures.drawn(setting)
    for temperature in figures.READ_AT:
        figures.reading(temperature)


def ring(panel):
    (found,) = marks(panel, "ring")
    return found


@pytest.mark.parametrize("name", figures.SETTINGS)
def test_at_every_moment_the_rows_have_the_shares_of_all_answers_within_one(name):
    for shown in figures.followed(name).values():
        for kind in range(3):
            assert abs(shown.kinds.count(kind) - 8 * shown.shares[kind]) < 1


def test_the_two_settings_begin_alike_and_end_where_the_instrument_ends():
    plain, other = map(figures.followed, figures.SETTINGS)
    assert plain[0].rows == other[0].rows and plain[0].shares == pytest.approx(other[0].shares)
    for by_update, knobs in ((plain, widget.OPENING.plain), (other, widget.OPENING.other)):
        assert by_update[60].right == pytest.approx(catalogue.last(widget, **vars(knobs)).pass_rate[-1][1])


def test_a_right_row_is_the_form_with_its_sum_and_amber_belongs_in_no_answer():
    for name in figures.SETTINGS:
        for shown in figures.followed(name).values():
            for e, kind, tokens in zip(written_sums.SUMS, shown.kinds, shown.rows):
                texts = [text for text, _ in sums.row(tokens, kind)]
                answer = "".join(text for text in texts if text not in ("hmm", "stop"))
                assert (kind == RIGHT) == (answer == f"Final:{e // 10 + e % 10}" and texts[-1] == "stop")
                for text, role in sums.row(tokens, kind):
                    assert (role == "rival") == (not re.fullmatch(r"\d|Final:|hmm|stop", text))
                    assert (role == "stop") <= (text == "stop")


def test_the_ring_stands_at_the_limit_of_a_row_without_a_stop_and_only_where_more_are_cut_off_than_before():
    ringed = set()
    for name in figures.SETTINGS:
        for update in figures.UPDATES:
            shown, limit = figures.followed(name)[update], ring(figures.answers_to_sums(name, update)[0])
            assert limit["seen"] == (shown.endless >= 2 * figures.followed(name)[0].endless)
            if limit["seen"]:
                ringed.add(name)
                row = round(limit["at"][1] - sums.TOP)
                assert shown.kinds[row] == ENDLESS and len(shown.rows[row]) == tasks.Add.T
                assert tinylm.EOS not in shown.rows[row]
    assert ringed == {figures.SETTINGS[1]}


def test_a_token_of_the_group_is_dotted_exactly_where_the_gap_alone_passes_the_clip():
    for temperature in figures.READ_AT:
        group, drawn = figures.reading(temperature), figures.gap(temperature)[0]
        (rows,) = marks(drawn, "tokens")
        for i, row in enumerate(rows["rows"]):
            for (_, role), ratio in zip(row, group.ratio[i]):
                assert (role == "silent") == (ratio > 1.2 if group.right[i] else ratio < 0.8)
                assert role in ("silent", "up" if group.right[i] else "down")


def test_of_the_group_that_is_shown_the_praise_and_the_blame_lost_are_as_of_the_batch_within_one_token():
    """The first batch of the run: of 53 praised tokens 17 lose their push, of 359 blamed 71; the group has 6 and 21."""
    (up, praised), (down, blamed) = figures.lost(1.0)
    assert (up, praised, down, blamed) == (2, 6, 3, 21)
    assert abs(up - 0.32 * praised) <= 1 and abs(down - 0.198 * blamed) <= 1.2
    assert figures.lost(1.5) == [(0, 6), (0, 21)]
    assert figures.silenced(1.0).startswith(
        "Read at 1, 2 of 6 tokens in correct answers have no push left, and 3 of 21"
    )


def test_the_ring_of_the_group_says_the_ratio_of_the_digit_that_makes_the_answer_right():
    row, place = figures.deciding()
    group = figures.reading(1.0)
    assert group.right[row] and tinylm.decode(group.tokens[row]) == "Final: 8<eos>" and group.tokens[row][place] == 8
    for temperature in figures.READ_AT:
        words = ring(figures.gap(temperature)[0])["words"]
        ratio = np.exp(figures.reading(temperature).read[row][place] - group.drawn[row][place])
        assert words.startswith(f"×{ratio:.2f}") and ("no push" in words) == (ratio > 1.2)


def test_the_trays_are_the_batches_and_the_ring_stands_on_eight_alike():
    for setting in figures.COLD:
        for number in figures.BATCHES:
            panel = figures.batch_by_batch(setting, number)[0]
            (drawn,), alike = marks(panel, "trays"), ring(panel)
            right = np.array([[ok for _, ok in group] for group in drawn["groups"]])
            np.testing.assert_array_equal(right, figures.groups_of(setting, number)[1])
            live = (right.any(axis=1) & ~right.all(axis=1)).sum()
            assert alike["seen"] == (live <= 2)
            if alike["seen"]:
                group = drawn["at"].index(alike["at"])
                assert right[group].all() or not right[group].any()
            assert figures.compared(setting, number).startswith(f"Batch {number} at {setting}: {right.sum()} of 128")
    assert figures.live("τ = 0.05", 2) == 0 and figures.groups_of("τ = 0.05", 2)[1].all()


@pytest.mark.parametrize("name", widget.PRESETS)
def test_the_leading_panel_shows_what_the_run_ends_with(name):
    k = widget.PRESETS[name]
    result = catalogue.last(widget, **vars(k))
    shown = result.written
    assert shown.right == pytest.approx(result.pass_rate[-1][1])
    for kind in range(3):
        assert abs(shown.kinds.count(kind) - 8 * shown.shares[kind]) <= 1
    half = widget.half(result.batch[2])
    right = result.batch[2][half]
    live = (right.any(axis=1) & ~right.all(axis=1)).sum()
    assert len(half) == 8 and abs(live - result.live[-1] / 2) < 1


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_is_ringed_where_it_is_seen(name):
    k = BREAKS[name]
    result = catalogue.last(widget, **vars(k))
    rows, batch = widget.figure(k, result)[:2]
    cause = widget.broken(k, result).cause
    ringed = {widget.ANSWERS: ring(rows)["seen"], widget.BATCH: ring(batch)["seen"]}
    assert ringed[widget.seen_at(k, result, cause).panel]
    assert not any(ring(panel)["seen"] for panel in widget.figure(Knobs(), catalogue.last(widget))[:2])
    assert ring(batch)["words"] in ("", trays.ALIKE)
