"""Parquet files are read by pyarrow, which is asked for once a file needs it."""

import io
import random
import struct
import sys

import pyarrow
import pytest
from pyarrow import parquet

from rlpt.rollouts import Unreadable
from tests.rlpt.rollouts.made import batch, read, said, trl


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


def test_flipped_bits_are_one_sentence_or_rows():
    whole, chance, kinds = written(batch(1, "ab", K=8)), random.Random(0), set()
    for _ in range(300):
        raw = bytearray(whole)
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        try:
            kinds.add(bool(read(bytes(raw)).rollouts.completions))
        except Unreadable as fault:
            kinds.add(str(fault).startswith("The parquet file is damaged: "))
            assert "\n" not in str(fault) and str(fault).endswith(".")
    assert kinds == {True, False}  # a flip within the first letters or a name makes it a file of another kind


@pytest.mark.parametrize("length", [0, 1, 2**31 - 1, 2**32 - 1])
def test_a_footer_that_lies_about_its_length_is_refused(length):
    whole = written(batch(1, "ab", K=8))
    assert said(whole[:-8] + struct.pack("<I", length) + b"PAR1").startswith("The parquet file is damaged: ")


def test_a_footer_that_lies_about_its_rows_gives_those_there_are():
    """Field 3 of FileMetaData, before the list of row groups, is num_rows: a zigzag varint (parquet.thrift)."""
    whole = written([trl(1, "p", "x", exact=1)] * 37)
    at = whole.rindex(b"\x16\x4a\x19")  # 37 as 74
    assert len(read(whole[: at + 1] + b"\x7e" + whole[at + 2 :]).rollouts) == 37
