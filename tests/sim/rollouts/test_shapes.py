import numpy as np

from sim.rollouts import shapes
from tests.sim.rollouts.shipped import rollouts

TEXTS = ["Final: 12", "Final: 6", "Final: 6", "So 6", "none", "Final: 6"]


def test_shapes_are_counted_over_all_numbers():
    assert shapes.shapes(TEXTS, range(6)) == [
        shapes.Common("Final: 0", 4, 0),
        shapes.Common("So 0", 1, 3),
        shapes.Common("none", 1, 4),
    ]


def test_a_constant_answer_hides_behind_its_shape_but_not_as_a_text():
    assert shapes.texts(TEXTS, range(6)) == [shapes.Common("Final: 6", 3, 1)]
    assert shapes.texts(TEXTS, []) == []
    file = rollouts("one-text")
    (text,) = shapes.texts(file.completions, np.flatnonzero(file.step == 160))
    assert (text.text, text.count) == ("Final: 6", 42)  # README of the runs
