"""Rows that a file's end or a window has cut are left out, and said to be."""

import pytest

from rlpt.logs.printed import Printed
from rlpt.logs.table import Unreadable


def test_a_row_that_is_shorter_than_those_before_it_at_the_end_of_a_file():
    printed = Printed(())
    printed.take(1, [("a", 1.0), ("b", 2.0)])
    printed.take(2, [("a", 1.0)], ended=False)
    assert printed.table.rows == 1 and printed.notes == ["The file ends within the row of step 2, which is left out."]


def test_more_rows_in_pieces_than_whole_ones_are_no_log():
    printed = Printed(())
    for step in (1, 2):
        printed.take(step, [("a", 1.0)], whole=False)
    with pytest.raises(Unreadable, match="The row of step 1 continues on the next line"):
        printed.log()


def test_without_a_row_there_is_no_log():
    assert Printed(()).log() is None
