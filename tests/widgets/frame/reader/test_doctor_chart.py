"""The drawing of a run: what stands where."""

import re
from itertools import pairwise

import numpy as np

from rlpt import doctor
from tests.rlpt.doctor import real_logs
from widgets.frame.reader import doctor_chart


def report(name, held_out=""):
    return doctor.report(real_logs.read(real_logs.text(name)), held_out)


def test_long_curves_keep_their_lowest_and_highest():
    steps, values = np.arange(100_000.0), np.sin(np.arange(100_000.0))
    values[77_777], values[33_333] = 9, -9
    at, thinned = doctor_chart.thinned(steps, values)
    assert len(at) <= doctor_chart.POINTS and thinned.max() == 9 and thinned.min() == -9
    assert np.all(np.diff(at) > 0)


def test_steps_stand_at_one_place_in_all_curves():
    across = doctor_chart.Across(np.array([1.0, 101.0]))
    assert across(1) == doctor_chart.LEFT and across(101) == doctor_chart.RIGHT
    assert across(51) == (doctor_chart.LEFT + doctor_chart.RIGHT) / 2
    assert across(-5) == doctor_chart.LEFT  # an evaluation before training


def test_ticks_are_round_and_few():
    assert list(doctor_chart.ticks(doctor_chart.Across(np.array([1.0, 240.0])))) == [1, 50, 100, 150, 200]
    assert list(doctor_chart.ticks(doctor_chart.Across(np.array([1.0, 2.0])))) == [1, 2]


def test_the_first_sign_has_a_line_through_all_curves_and_a_ring_on_its_own():
    collapsed = report("hack-plus")
    chart = doctor_chart.drawing(collapsed)
    x = doctor_chart.Across(collapsed.found.steps)(24)
    assert f'class="onset" x1="{x}%"' in chart and f'class="ring" cx="{x}%"' in chart
    assert chart.count('class="mark first"') == 1
    assert 'class="onset"' not in doctor_chart.drawing(report("healthy-defaults"))


def test_a_ring_stands_on_its_curve():
    collapsed = report("lr-absurd")  # the reward is 0 at step 2: at the bottom of its curve
    y = float(re.search(r'class="ring" cx="[\d.]+%" cy="([\d.]+)"', doctor_chart.drawing(collapsed))[1])
    top = float(re.search(r'<svg x="1.0%" y="(\d+)"', doctor_chart.drawing(collapsed))[1])
    assert abs(y - (top + 0.96 * doctor_chart.TALL)) < 0.1


def test_only_what_is_logged_is_drawn_and_scores_stand_beside_the_reward():
    assert doctor_chart.shown_curves(report("dpo-healthy"))[:3] == ["margin", "accuracy", "chosen"]
    assert "rewards/exact/mean" in doctor_chart.drawing(report("hack-plus"))
    assert "rewards/exact/mean" not in doctor_chart.drawing(report("hack-plus", None))


def test_names_of_events_do_not_meet():
    for name in real_logs.TRUTHS:
        chart = doctor_chart.drawing(report(name))
        spans = {}
        written = re.findall(r'<text x="([\d.]+)%" dx="-?7" y="(\d+)" text-anchor="(\w+)">([^<]+)<', chart)
        assert len(written) == chart.count('class="mark')  # all have room
        for x, y, anchor, words in written:
            width = 2 + doctor_chart.LETTER * len(words)  # 7 pixels from its mark
            begin = float(x) - (width if anchor == "end" else 0)
            spans.setdefault(y, []).append((begin, begin + width))
        for lane in spans.values():
            lane.sort()
            assert all(a[1] <= b[0] for a, b in pairwise(lane))


def test_a_log_of_one_row_has_its_values_and_no_empty_curve():
    chart = doctor_chart.drawing(doctor.report(real_logs.read("\n".join(real_logs.text("hack-plus").split("\n")[:2]))))
    assert "polyline" not in chart and 'class="frame"' not in chart
    assert '>reward</text><text x="97.0%" y="40" class="ends">0.25<' in chart


def test_the_steps_are_named():
    assert ">step 1</text>" in doctor_chart.drawing(report("hack-plus"))


def test_a_logarithmic_axis_holds_zeros_at_its_foot():
    down = doctor_chart.Down(np.array([0.0, 1, 1000]), True)
    assert [float(down(v)) for v in (0.0, 1.0, 1000.0)] == [1, 1, 0]
