"""The numbers of the lesson, recomputed."""

from sim.SIM_ROOM import SIM_MODEL
from tests.lessons.prose import Lesson

LESSON = Lesson("LESSON_NUMBER")


def test_the_smallest_case():  # TODO one test a paragraph that states numbers
    LESSON.says("0.077", SIM_MODEL.informative(0.01, 8))
