"""The picture of a break on a lesson's card."""

import re

import pytest

from tools.pages import frames, lessons, thumbnails
from widgets.frame.drawing.marks import bars, dots, heat, line, panel, threshold


def drawn(*panels):
    """{class: d} of a thumbnail's paths, without that of its base line."""
    return dict(re.findall(r'<path class="([^"]+)" d="([^"]+)"', thumbnails.svg(*panels)[: -len("</svg>")])[1:])


def curve(y, **more):
    return panel("p", "u", line(list(range(len(y))), y), x_range=[0, len(y) - 1], **more)


def test_the_default_is_gray_and_the_setting_that_breaks_navy_on_the_range_of_the_panel():
    paths = drawn(curve([0.0, 0.5], y_range=[0, 1]), curve([1.0, 0.0], y_range=[0, 1]))
    assert paths["plain curve"] == "M0 63.5L240 33.8"  # half way between the base line at 63.5 and the inset at 4
    assert paths["broken curve"] == "M0 4.0L240 63.5"


def test_the_threshold_lies_at_the_same_height_as_in_the_panel():
    far = panel("p", "u", line([0, 1], [0, 1]), threshold(0.5, "breaks above 0.5", 1), y_range=[0, 1])
    assert drawn(far, far)["threshold"] == "M0 33.8H240"
    late = panel("p", "u", line([0, 1], [0, 1]), threshold(0.5, "full", 1, axis="x"), x_range=[0, 1], y_range=[0, 1])
    assert drawn(late, late)["threshold"] == "M120.0 0V64"


def test_a_logarithmic_axis_spaces_decades_evenly():
    path = drawn(*[curve([0.01, 0.1, 1.0], y_range=[0.01, 1], log="y")] * 2)["plain curve"]
    assert re.findall(r"\S+ (\S+?)(?=L|$)", path) == ["63.5", "33.8", "4.0"]


def test_bars_are_filled_from_the_base_line_those_of_the_two_settings_side_by_side():
    sides = [panel("p", "u", bars(["a", "b"], heights), y_range=[0, 2]) for heights in ([1.0, 2.0], [2.0, 0.0])]
    paths = drawn(*sides)
    corners = [re.findall(r"M(\S+) 63\.5V(\S+?)h(\S+?)V63\.5Z", paths[f"{side} bar"]) for side in ("plain", "broken")]
    assert [[top for _, top, _ in side] for side in corners] == [["33.8", "4.0"], ["4.0"]]
    (left, _, width), (right, *_) = corners[0][0], corners[1][0]
    assert float(left) + float(width) == float(right)


def test_stacked_bars_begin_where_those_below_them_end():
    rows = bars(["a"], [1.0], role="free"), bars(["a"], [1.0])
    path = drawn(*[panel("p", "u", *rows, y_range=[0, 2], stacked=True), panel("p", "u", bars(["a"], [2.0]))])
    assert re.match(r"M\S+ 33\.8V4\.0h", path["plain bar"])


def test_bars_that_are_each_a_quantity_are_all_drawn():
    sides = [panel("p", "u", bars(["a"], [1.0], "a", 1), bars(["b"], [b], "b", 2), y_range=[0, 2]) for b in (0.0, 2.0)]
    assert [drawn(*sides)[f"{side} bar"].count("M") for side in ("plain", "broken")] == [1, 2]


def test_two_rings_are_drawn_where_only_the_setting_moves_along_a_curve():
    sides = [
        panel("p", "u", line([0, 1], [0, 1]), dots([at], [at], role="here"), x_range=[0, 1], y_range=[0, 1])
        for at in (0, 1)
    ]
    paths = drawn(*sides)
    assert paths["plain here"] == "M0.0 63.5h0" and paths["broken here"] == "M240.0 4.0h0"


def test_a_missing_value_stays_a_gap_in_the_curve():
    assert drawn(*[curve([0.0, 1.0, None, 1.0], y_range=[0, 1])] * 2)["plain curve"].count("M") == 2


def test_a_panel_without_curves_or_bars_has_a_base_line_alone():
    assert drawn(*[panel("p", "u", heat([0, 1], [0, 1], [[1, 2], [3, 4]]))] * 2) == {}


def test_the_panel_with_the_threshold_leads():
    plain, with_threshold = curve([0.0, 1.0]), panel("q", "u", line([0, 1], [0, 1]), threshold(0.5, "broken", 1))
    assert thumbnails.leading([plain, with_threshold], [plain, with_threshold]) == (with_threshold, with_threshold)
    assert thumbnails.leading([plain, plain], [plain, with_threshold]) == (plain, with_threshold)
    moved = panel("q", "u", line([0, 1], [1, 0]), threshold(0.5, "broken", 1))
    assert thumbnails.leading([with_threshold, with_threshold], [with_threshold, moved]) == (with_threshold, moved)


@pytest.mark.slow
def test_every_card_s_thumbnail_shows_two_settings():
    for lesson in lessons.finished():
        if lesson.part and lesson.widget:
            plain, broken = frames.settled(lesson.widget), frames.breaking(lesson.widget)[0]
            paths = drawn(*thumbnails.leading(plain["panels"], broken["panels"]))
            assert {css.split()[0] for css in paths} >= {"plain", "broken"}, lesson.stem
