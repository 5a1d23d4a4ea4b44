"""Nothing is lost silently, and nothing grows without a bound."""

import json
import tracemalloc

import numpy as np
import pytest

from rlpt import logs
from rlpt.logs import table
from tests.rlpt.logs.made import column, read, said


def test_what_is_no_number_is_left_out_and_counted():
    log = read(
        '[{"step":1,"reward":NaN},{"step":2,"reward":null},{"step":3,"reward":0.5},{"step":4,"reward":Infinity}]'
    )
    assert column(log, "reward") == ([3], [0.5])
    assert log.notes == ["Left out, because they are NaN, null or infinite: 3 numbers, of “reward”."]


def test_a_run_that_was_resumed_keeps_the_later_rows_of_all_columns():
    rows = [(1, 0.1), (2, 0.2), (3, 0.3), (2, 0.9), (3, 1.0)]
    text = "".join(json.dumps({"step": s, "data": {"critic/score/mean": v, f"at{s}": v}}) + "\n" for s, v in rows)
    log = read(text.replace('"at2": 0.9', '"other": 0'))
    assert column(log, "critic/score/mean") == ([1, 2, 3], [0.1, 0.9, 1.0])
    assert "at2" not in log.columns or not log.columns["at2"].steps
    assert log.notes == ["The run was resumed: steps go back from 3 to 2, and the rows written afterwards are kept."]


def test_steps_that_repeat():
    log = read("step,reward\n1,0.5\n1,0.6\n2,0.7\n")
    assert column(log, "reward") == ([1, 2], [0.6, 0.7])
    assert log.notes == ["Steps that repeat: 1 number replaced by a later one."]


def test_from_where_on_a_column_has_no_number():
    rows = [
        {"step": n, "kl": float("nan") if n in (2, 4, 5) else 0.1, "entropy": 1 if n < 5 else None} for n in range(1, 6)
    ]
    log = read(json.dumps(rows))
    assert (log.columns["kl"].since, log.columns["kl"].trailing) == (4, 2)
    assert (log.columns["entropy"].since, log.columns["entropy"].trailing) == (5, 1)
    again = read(json.dumps([*rows, {"step": 4, "kl": 0.2}]))
    assert again.columns["kl"].trailing == 0


def long(rows):
    """Pieces of a CSV, none of which is kept."""
    yield b"step,reward,other,junk\n"
    for thousand in range(rows // 1000):
        yield "".join(f"{1000 * thousand + n},0.25,{n},1\n" for n in range(1000)).encode()


@pytest.mark.when_changed()
def test_a_million_rows_are_read_and_columns_that_nobody_asks_for_are_not_kept_for_ever():
    log = logs.read([("log.csv", long(1_000_000))])
    assert len(log.columns["reward"].values) == log.lines == 1_000_000
    assert np.frombuffer(log.columns["reward"].values).sum() == 250_000
    kept = sum(len(column.values) for column in log.columns.values())
    assert kept <= 1_000_000 + table.OTHERS
    assert [note for note in log.notes if "there are too many" in note]


@pytest.mark.when_changed()
def test_memory_is_that_of_the_numbers(monkeypatch):
    monkeypatch.setattr(table, "OTHERS", 1000)
    tracemalloc.start()
    logs.read([("log.csv", long(50_000))])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * 16 * 50_000  # the file has 21 bytes a row; an array grows by an eighth


def test_numbers_that_are_wanted_end_in_a_sentence_too(monkeypatch):
    monkeypatch.setattr(table, "OTHERS", 10)
    monkeypatch.setattr(table, "VALUES", 50)
    assert "More than 50 numbers" in said("step,reward\n" + "".join(f"{n},1\n" for n in range(60)))
