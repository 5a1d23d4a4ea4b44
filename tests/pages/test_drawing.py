"""The figure that stands in a page before its plot does: the same bars, cells, ticks and words at the same places."""

import re

import pytest

from tools.pages import drawing
from widgets.frame.drawing.marks import bars, dots, heat, line, panel


def drawn(*marks, **words):
    return drawing.svg(panel("title", "note", *marks, **words))


def boxes(svg, series):
    """(left, right, top, bottom) of the bars of a series."""
    rectangles = re.findall(
        rf'<rect class="s{series} [^>]*?x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', svg
    )
    return [(x, x + w, y, y + h) for x, y, w, h in (map(float, numbers) for numbers in rectangles)]


def test_bars_at_one_place_stand_side_by_side():
    svg = drawn(bars(["a", "b"], [1, 2], series=1), bars(["a", "b"], [2, 1], series=2), y_range=(0, 3))
    for (left, right, *_), (beside, *_) in zip(boxes(svg, 1), boxes(svg, 2), strict=True):
        assert left < right <= beside + 0.11  # a tenth of a pixel is rounded


def test_stacked_bars_stand_on_one_another():
    svg = drawn(bars(["a"], [1], series=1), bars(["a"], [2], series=2), y_range=(0, 3), stacked=True)
    ((left, _, top, _),), ((same, _, _, ground),) = boxes(svg, 1), boxes(svg, 2)
    assert left == same and ground == pytest.approx(top, abs=0.11)


def test_a_curve_that_leaves_the_plot_is_cut_at_the_edge_and_not_bent():
    svg = drawn(line([0, 1, 2], [0, 1, 2]), x_range=(0, 2), y_range=(0, 1))
    (points,) = re.findall(r'<path class="s1" d="M([^"]+)"', svg)
    (x0, y0), (x1, y1), (x2, y2) = ([float(v) for v in point.split()] for point in points.split("L"))
    assert (y1 - y0) / (x1 - x0) == pytest.approx((y2 - y1) / (x2 - x1), rel=1e-3)
    assert y2 < 0 and svg.index("<svg", 4) < svg.index('class="s1"')  # outside, in an inner svg, which is clipped


def test_a_logarithmic_axis_has_its_powers_of_ten_raised():
    assert re.search(
        r'>10<tspan dy="-.4em"[^>]*>−4</tspan></text>', drawn(line([0, 1], [1e-4, 1]), y_range=(1e-4, 1), log="y")
    )


def test_names_of_two_lines_are_two_lines_and_close_ones_are_thinned():
    assert '>Dr.<tspan x="' in drawn(bars([1, 2], [1, 1]), ticks=dict(tickvals=[1, 2], ticktext=["PPO", "Dr.<br>GRPO"]))
    many = drawn(bars([f"rank {i}" for i in range(60)], [1] * 60))
    assert 2 <= many.count(">rank ") < 30
    names = ["a", "(the hack)", "b", "c", "d"]  # one long name among short ones has room
    assert re.findall(r">(a|b|c|d|\(the hack\))<", drawn(bars(names, [1] * 5))) == names


def test_the_setting_in_force_is_a_ring_and_cells_of_both_signs_have_two_colours():
    assert 'class="s1 here"' in drawn(dots([1], [1], role="here"), x_range=(0, 2), y_range=(0, 2))
    cells = drawn(heat(["1", "2"], ["y1"], [[-1.0, 0.5]], low=-1, high=1))
    assert 'class="cell below" style="--v:1.00"' in cells and 'class="cell above" style="--v:0.50"' in cells


def test_the_label_of_a_bar_stands_inside_or_above_the_bar():
    svg = drawn(bars(["a", "b"], [1.0, 0.01], text=["high", "low"]), y_range=(0, 1))
    assert 'class="inside s1"' in svg and re.search(r'class="tick"[^>]*>low<', svg)
