import numpy as np
import pytest

from widgets.frame.drawing import marks


@pytest.mark.parametrize("x", [np.arange(3), [np.arange(3), np.arange(3)]], ids=["one x for all", "one for each"])
def test_runs_in_one_mark_are_parted_by_gaps(x):
    mark = marks.each_run(x, np.array([[1, 2, 3], [4, 5, 6]]))
    np.testing.assert_array_equal(mark["x"], [0, 1, 2, np.nan, 0, 1, 2, np.nan])
    np.testing.assert_array_equal(mark["y"], [1, 2, 3, np.nan, 4, 5, 6, np.nan])
    assert mark["meta"]["role"] == "seed"


def test_a_label_below_a_curve_hangs_from_the_curve():
    assert [marks.label(0, 1, "word", below=below)["annotations"][0]["yanchor"] for below in (False, True)] == [
        "bottom",
        "top",
    ]
