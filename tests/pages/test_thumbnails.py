"""The picture on a lesson's card: its opening at rest, without words."""

import re

import pytest

from tools.pages import lessons, pictures, thumbnails
from widgets.frame.drawing import scene
from widgets.frame.drawing.marks import label, line, panel

LESSONS = [lesson for lesson in lessons.finished() if lesson.widget]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.stem)
def test_a_card_shows_the_opening_of_its_lesson_without_words_and_is_small(lesson):
    drawn = thumbnails.of(lesson.widget)
    assert drawn.startswith("<svg") and 'aria-hidden="true"' in drawn
    assert not re.search(r"<text|data-k|<title", drawn)
    assert re.search(r"<(path|rect)", drawn) and len(drawn) <= 12_000


def test_no_two_lessons_have_the_same_picture():
    assert len({thumbnails.of(lesson.widget) for lesson in LESSONS}) == len(LESSONS)


def test_a_scene_is_drawn_with_its_marks_in_the_colors_of_their_roles():
    one = scene.view("v", 10, 10, "what is seen", scene.word("words", (0, 1)), scene.bar("b", (0, 2), 5, "followed"))
    drawn = thumbnails.picture(scene.scene("Title", "note", one))
    assert drawn.count("<path") == 1 and "fill:var(--d1)" in drawn


def test_a_probability_beside_the_picture_and_the_sign_of_a_stop_are_left_out():
    stop = scene.tokens("g", [[("stop", "stop")]], 1)
    main = scene.view("v", 10, 10, "what is seen", stop, scene.tokens("a", [[("1", "no"), ("2", "no")]], 2, (0, 2)))
    aside = scene.view("h", 5, 5, "a hundred", scene.hundred("h", [("followed", 1.0)]))
    drawn = thumbnails.picture(scene.scene("Title", "note", main, aside))
    assert drawn.count("<path") == 1 and len(re.findall(r"M\d", drawn)) == 2
    assert len(re.findall(r"M\d", thumbnails.picture(scene.scene("Title", "note", aside)))) == 100


def test_a_plot_fills_the_card_and_long_curves_have_few_points():
    curves = panel("p", "u", line(list(range(500)), [0.5] * 500), label(499, 0.5, "name"), y_range=[0, 1])
    drawn = thumbnails.picture(curves)
    assert 'preserveAspectRatio="none"' in drawn and "<text" not in drawn
    assert 30 <= len(re.findall("[ML]", re.search('d="(M[^"]+)"', drawn)[1])) <= thumbnails.MOST_POINTS + 1


def test_an_opening_that_is_a_plot_shows_its_two_curves():
    for lesson in LESSONS:
        leading = pictures.leading(lesson.widget)
        if not scene.is_scene(leading):
            assert len(re.findall("<(?:path|rect)", thumbnails.of(lesson.widget))) >= 2, lesson.stem
