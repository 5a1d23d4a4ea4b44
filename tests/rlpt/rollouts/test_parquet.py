"""Parquet files are read by pyarrow, which is asked for once a file needs it."""

import io
import sys

import pyarrow
from pyarrow import parquet

from tests.rlpt.rollouts.made import batch, read, said


def test_without_pyarrow_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert said(b"PAR1" + bytes(100)) == "A parquet file needs pyarrow: pip install pyarrow."


def written(rows):
    file = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    return file.getvalue()


def test_rows_are_read_as_from_json_lines():
    rows = [*batch(1, "ab"), batch(1, "c")[0] | {"exact": None}]
    asked = [row | {"prompt": [{"role": "user", "content": row["prompt"]}]} for row in rows]
    found, plain = read(written(asked), name="completions_00001.parquet"), read(rows)
    assert found.format == "TRL's completions" and found.columns == plain.columns
    assert found.rollouts.prompts == plain.rollouts.prompts and found.rollouts.completions == plain.rollouts.completions
    assert found.rollouts.scores["exact"].tolist()[:4] == [0, 1, 0, 1]


def test_a_damaged_file_is_one_sentence_or_rows():
    whole = written(batch(1, "ab", K=8))
    assert said(whole[:-20]).startswith("The parquet file is damaged: ")
    assert said(whole[: len(whole) // 2]).startswith("The parquet file is damaged: ")
