"""Rows that somebody wrote for a scorer: what is a row, and one sentence for what is none."""

import pytest

from sim.lab import rows


def test_rows_come_back_with_their_rewards_as_floats():
    assert rows.read([["7", None, 0, "not_text"], (7, "Final: 7", 0.0, "bad_example")], 2) == [
        ("7", None, 0.0, "not_text"),
        (7, "Final: 7", 0.0, "bad_example"),
    ]


@pytest.mark.parametrize(
    "value, said",
    [
        ("no", "it returned 'no', and it should return a list of rows"),
        ([()] * 3, "it returned 3 rows, and 2 are the most"),
        ([("7", "7", 0.0)], "row 1 is ('7', '7', 0.0), and a row is"),
        ([("7", b"7", 0.0, "ok")], "the completion in row 1 is of type bytes"),
        ([("7", "7" * 20_001, 0.0, "ok")], "the completion in row 1 is too long: the limit here is 20,000 characters"),
        ([("7", "7", True, "ok")], "the reward in row 1 is True, and it should be 0.0 or 1.0"),
        ([("7", "7", 0.0, "fine")], "the reason in row 1 is 'fine', and no check gives that reason"),
    ],
)
def test_what_is_no_row_is_named(value, said):
    with pytest.raises(ValueError) as fault:
        rows.read(value, 2)
    assert said in str(fault.value)
