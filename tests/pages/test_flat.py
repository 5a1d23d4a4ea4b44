"""Scenes without words, small: what has one color is one path, and what lies above stays above."""

import re

from tools.pages.flat import Flat


def styles(pen):
    return re.findall(r'style="([^"]+)"', pen.svg(100, 100, "thumb"))


def test_boxes_of_a_color_are_one_path_as_large_as_they_fit():
    pen = Flat()
    pen.box(0, 0, 10, 10, "d1")
    pen.box(36, 0, 10, 46, "d1")
    drawn = pen.svg(100, 100, "thumb")
    assert re.findall('d="([^"]+)"', drawn) == ["M4 4H24V24H4zM76 4H96V96H76z"]
    assert 'viewBox="0 0 100 100"' in drawn


def test_what_is_painted_on_something_lies_above_it():
    pen = Flat()
    pen.dot(5, 5, 5, "ink")
    pen.dot(5, 5, 4, "paper")
    pen.dot(50, 5, 5, "ink")  # apart from both: it joins the first
    pen.dot(5, 5, 2, "ink")
    assert [re.search(r"--(\w+)", style)[1] for style in styles(pen)] == ["ink", "paper", "ink"]


def test_a_dot_grows_and_shrinks_with_the_picture():
    pen = Flat()
    pen.dot(10, 10, 8, "d1")
    assert styles(pen) == ["stroke:var(--d1);stroke-linecap:round;stroke-width:80.0"]


def test_words_are_left_out():
    pen = Flat()
    pen.box(0, 0, 10, 10, "d1")
    pen.write(3, 3, "word", "sans", 400, 13, "ink")
    assert pen.long("word", "sans", 400, 13) == 0 and "word" not in pen.svg(10, 10, "thumb")
