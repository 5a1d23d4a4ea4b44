import numpy as np

from sim.rollouts import shapes
from tests.sim.rollouts.shipped import rollouts, small

TEXTS = ["Final: 12", "Final: 6", "So 6", "none", "Final: 6", "Final: 6", "So 9", "So 10"]


def test_shapes_of_paid_texts_are_counted_over_all_numbers():
    found = shapes.shapes(small([[1, 1, 0, 0], [1, 0, 1, 1]], TEXTS, reward=np.array([1.0, 1, 0, 0, 1, 0, 1, 1])), 0)
    assert found == shapes.Shapes(True, 5, 5, [shapes.Shape("Final: #", 3, 3), shapes.Shape("So #", 2, 2)])


def test_without_a_paid_text_all_are_counted():
    found = shapes.shapes(small([[0] * 4, [0] * 4], TEXTS, reward=np.zeros(8)), 0)
    assert (found.paid, found.total, [each.count for each in found.found]) == (False, 8, [4, 3])


def test_the_fooled_verifier_pays_lists():
    found = shapes.shapes(rollouts("verifier"), 20)  # README of the runs: most paid texts list guesses
    assert found.found[0].text == "Final: #\nFinal: #\nFinal: #" and found.found[0].count > found.total / 2
