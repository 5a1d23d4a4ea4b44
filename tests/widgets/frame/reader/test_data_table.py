"""The table and the file behind a figure."""

import csv
import io
import re
from urllib.parse import unquote

import numpy as np

from widgets.frame.drawing.marks import band, each_run, heat, line, panel
from widgets.frame.reader import data_table
from widgets.frame.reader.host import plain

CURVE = panel(
    "Loss", "nats", line(np.arange(100.0), np.arange(100) / 8, "the “mean”, of six"), line([0, 1], [2, 3], "second")
)
RUNS = panel("Runs", "", each_run(np.arange(3), [np.array([1, 2, np.nan]), np.array([4, 5, 6])]))
CELLS = panel("Cells", "", heat([1, 2], ["a", "b"], np.array([[1, 2], [3, 4]]), "kind"))


def saved(*panels):
    link = data_table.file(plain(list(panels)), "loss")
    return list(
        csv.reader(
            io.StringIO(unquote(re.search(r'download="loss.csv" href="data:text/csv;charset=utf-8,([^"]*)"', link)[1]))
        )
    )


def test_the_downloaded_data_holds_every_point_of_every_curve():
    rows = saved(CURVE)
    assert rows[0] == ["panel", "curve", "x", "value"] and len(rows) == 1 + 100 + 2
    assert rows[9] == ["Loss", "the “mean”, of six", "8.0", "1.0"] and rows[-1] == ["Loss", "second", "1", "3"]


def test_gaps_between_runs_are_no_points_and_a_missing_value_is_empty():
    assert [row[2:] for row in saved(RUNS)[1:]] == [
        ["0.0", "1.0"],
        ["1.0", "2.0"],
        ["2.0", ""],
        ["0.0", "4.0"],
        ["1.0", "5.0"],
        ["2.0", "6.0"],
    ]


def test_a_cell_is_named_by_its_column_and_row():
    assert [row[2:] for row in saved(CELLS)[1:]] == [["1, a", "1"], ["2, a", "2"], ["1, b", "3"], ["2, b", "4"]]


def test_the_table_shows_every_curve_or_the_first_of_every_panel_at_most_thirty_points_of_each():
    every, first = (
        re.findall(r"<tr><td>(.*?)</td></tr>", data_table.table(plain([CURVE, RUNS, CELLS]), first=alone))
        for alone in (False, True)
    )
    assert len(every) == 25 + 2 + 6 + 4 and every[1] == "Loss</td><td>the “mean”, of six</td><td>4</td><td>0.5"
    assert len(first) == 25 + 6 + 4 and "second" not in "".join(first)
    assert every[29].endswith("<td>2</td><td>–")


def test_thirty_points_are_shown_whole_and_a_band_s_outline_is_no_curve():
    mean, between = line(np.arange(30), np.full(30, 16384.0), "mean"), band(np.arange(30), np.zeros(30), np.ones(30))
    body = re.findall(
        r"<tr><td>(.*?)</td></tr>", data_table.table(plain([panel("Loss", "", between, mean)]), first=True)
    )
    assert len(body) == 30 and body[-1] == "Loss</td><td>mean</td><td>29</td><td>16384"
