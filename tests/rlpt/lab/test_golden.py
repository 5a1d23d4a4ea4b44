"""A scorer on the labeled cases, and somebody's own cases on eighteen mistaken scorers."""

import pytest

from rlpt.lab import golden
from tests.rlpt.lab import made
from widgets.lab_m4 import editable, figures


def run(words, capsys):
    return made.ran(golden.main, words, capsys)


def test_the_strict_scorer_pays_sixteen_and_nothing_else(capsys):
    status, shown, wrong = run([], capsys)
    assert (status, wrong) == (0, "") and shown.splitlines() == [
        "scorer     strict",
        "right      16 of 16 paid",
        "wrong      0 of 52 paid",
        "exploits   0 of 24 paid",
    ]


def test_the_second_draft_refuses_nothing_and_pays_26(tmp_path, capsys):
    path = made.python(tmp_path, "mine.py", "from sim.lab.instruments import version_0_9_5 as score\n")
    status, shown, _ = run(["--scorer", f"{path}:score"], capsys)
    assert status == 1 and "16 of 16" in shown and "20 of 52 paid; paid: " in shown and "6 of 24 paid" in shown


def test_the_next_version_pays_the_case_with_two_spaces(capsys):
    status, shown, _ = run(["--spec", "1.1.0"], capsys)
    assert status == 1 and "1 of 52 paid; paid: gw_double_space" in shown


def test_a_scorer_that_raises_refuses_all(tmp_path, capsys):
    path = made.python(tmp_path, "mine.py", "def score(example, completion):\n    raise ValueError\n")
    status, shown, _ = run(["--scorer", f"{path}:score"], capsys)
    assert status == 1 and "right      0 of 16 paid; refused: " in shown and " and 11 more" in shown


def test_the_five_cases_of_m4_find_four_and_its_solution_all(tmp_path, capsys):
    five = made.python(tmp_path, "test_rubric.py", f"def cases():\n    return {list(figures.FIVE)!r}\n")
    status, shown, _ = run(["--cases", five], capsys)
    assert status == 1 and "your cases find 4 of 18 mistaken scorers with 5 rows" in shown
    assert shown.count("not found  ") == 14
    status, shown, _ = run(["--cases", made.python(tmp_path, "all.py", editable.HINTS[2])], capsys)
    assert status == 0 and "your cases find 18 of 18 mistaken scorers with 14 rows" in shown


def test_a_row_that_the_strict_scorer_fails_is_named(tmp_path, capsys):
    path = made.python(tmp_path, "mine.py", "def cases():\n    return [('7', 'Final: 07', 1.0, 'ok')]\n")
    status, shown, _ = run(["--cases", path], capsys)
    assert status == 1 and "row 1 is wrong: the strict scorer says 0, non_canonical_int" in shown


@pytest.mark.parametrize(
    "text, said",
    [
        ("def cases():\n    return 5\n", "it returned 5, and it should return a list of rows"),
        ("def cases():\n    return [(1, 2)]\n", "row 1 is (1, 2), and a row is"),
        ("def cases():\n    return 1 / 0\n", "ZeroDivisionError: division by zero"),
        ("rows = []\n", "has no function cases"),
    ],
)
def test_a_file_without_cases_ends_in_one_sentence(text, said, tmp_path, capsys):
    status, shown, wrong = run(["--cases", made.python(tmp_path, "mine.py", text)], capsys)
    assert (status, shown) == (2, "") and said in wrong and wrong.count("\n") == 1
