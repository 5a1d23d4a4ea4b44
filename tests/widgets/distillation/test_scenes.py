"""The pictures of lesson 16b show what was computed, and claim no more."""

import numpy as np
import pytest

from sim.worlds.tinylm import EOS, FINAL
from tests.widgets.catalogue import marks, ring
from widgets.distillation import figures, graded
from widgets.distillation.figures import MOMENTS, SETTINGS


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_of_three_texts_as_many_are_right_as_of_all(setting):
    for moment in MOMENTS:
        frame = figures.frame(setting, moment)
        assert abs(sum(text.right for text in figures.texts(frame.policy)) / 3 - frame.right) <= 1 / 3


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_squares_are_what_the_student_writes_toned_by_its_grade(setting):
    for moment in (0, 50, 100):
        rows = [mark["rows"][0] for mark in marks(figures.opening(setting, moment)[0], "tokens")]
        for row, text in zip(rows, figures.texts(figures.frame(setting, moment).policy), strict=True):
            assert [word for word, _ in row] == [graded.word(token) for token in text.tokens]
            assert [role for _, role in row] == [graded.role(grade) for grade in text.grade]


@pytest.mark.slow
def test_the_ring_stands_where_the_answer_is_wanted_and_never_drawn():
    for moment in MOMENTS:
        assert not ring(figures.opening(SETTINGS[0], moment)[0])
        words = ring(figures.opening(SETTINGS[1], moment)[0])
        assert bool(words) == (moment > 0)
        if words:
            texts = figures.texts(figures.frame(SETTINGS[1], moment).policy)
            row, place = graded.silenced(texts)
            text = texts[row]
            assert text.tokens[place] == EOS and text.wanted[place] == FINAL and text.chance[place] < 1e-4


def test_the_tone_of_a_grade_grows_with_it():
    roles = [graded.role(grade) for grade in (-9, -4, -2, -1, -0.2, 0.2, 1, 2, 4, 9)]
    assert roles == [f"below-{n}" for n in (4, 3, 2, 1)] + ["level"] * 2 + [f"above-{n}" for n in (1, 2, 3, 4)]


def test_the_pushes_of_the_figure_are_the_slopes_and_add_up_to_nothing():
    logp, teacher_logp = figures.at_the_answer()
    for direction in figures.DIRECTIONS:
        assert sum(figures.pushed(direction)) == pytest.approx(0, abs=1e-12)
    wanted = float(np.exp(teacher_logp[0, FINAL]))
    assert figures.pushed("forward")[0] == pytest.approx(wanted - np.exp(logp[0, FINAL]))
    assert 0 < figures.pushed("reverse")[0] < 1e-12 and 0 < figures.pushed("JSD")[0] < 1e-12
    assert figures.push_said("reverse") == "Reverse pushes Final: by less than 10⁻¹³."
    assert figures.push_said("forward") == "Forward pushes Final: by 1.00."


@pytest.mark.slow
def test_every_position_of_the_cold_start_has_the_same_keys():
    scenes = [figures.cold(updates)[0] for updates in figures.COLD]
    assert len({tuple(mark.get("key") for mark in scene["columns"][0][0]["marks"]) for scene in scenes}) == 1


@pytest.mark.slow
def test_a_grade_at_every_token_teaches_with_fewer_texts_than_a_reward_at_the_end():
    (panel,) = figures.texts_taken()
    graded_ones, paid = (mark for mark in panel["data"] if mark["mode"] == "lines")
    by = dict(zip(paid["x"], paid["y"]))
    assert graded_ones["x"][-1] == 3_200 and graded_ones["y"][-1] > by[2_560] + 0.15
