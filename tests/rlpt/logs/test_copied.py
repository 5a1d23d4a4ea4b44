"""Tables off a notebook, between bars, tabs or blanks."""

import pytest

from tests.rlpt.logs.made import column, read

HEAD = ["Step", "Training Loss", "reward", "completions / mean_length", "rewards / exact / mean"]
ROWS = [["1", "0.000100", "0.25", "200.5", "0.25"], ["2", "0.000200", "0.5", "180.5", "0.5"]]


def bars(cells):
    return "| " + " | ".join(cells) + " |"


@pytest.mark.parametrize(
    "text",
    [
        "\n".join([bars(HEAD), bars(["---:"] * 5), *map(bars, ROWS)]),
        "\n".join(" | ".join(cells) for cells in (HEAD, *ROWS)),
        "\n".join("  ".join(cell.ljust(26) for cell in cells) for cells in (HEAD, *ROWS)),
        "[250/250 52:03, Epoch 1/1]\n" + "\n".join("\t".join(cells) for cells in (HEAD, *ROWS)),
    ],
    ids=["bars", "bars inside", "blanks", "tabs"],
)
def test_the_same_numbers_from_every_form(text):
    log = read(text)
    assert column(log, "reward") == ([1, 2], [0.25, 0.5]) and log.framework == "TRL"
    length = next(name for name in log.columns if "mean_length" in name)
    assert column(log, length) == ([1, 2], [200.5, 180.5])


def test_a_cell_without_a_number_is_counted():
    log = read("| Step | reward |\n|---|---|\n| 1 | No log |\n| 2 | 0.5 |\n")
    assert column(log, "reward") == ([2], [0.5])
    assert log.notes == ["Left out, because they are not numbers: 1 cell, such as “No log” in the column “reward”."]
