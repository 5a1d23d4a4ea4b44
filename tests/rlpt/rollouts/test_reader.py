"""Whatever is no file of completions is one sentence, in bounded time; text is data."""

import gzip
import json
import time
from importlib.resources import files

import pytest

from rlpt import framework_logs, rollouts
from rlpt.rollouts import reader
from sim.experiments import tracelab
from tests import skips
from tests.rlpt.rollouts.made import batch, lines, read, said, trl

REAL = (files("rlpt.rollouts") / "data" / "verifier.jsonl").read_bytes()


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_pieces_may_be_cut_anywhere(size):
    raw, whole = REAL[:6000], read(REAL[:6000])
    found = read(raw, size=size)
    assert found.rollouts.completions == whole.rollouts.completions and found.notes == whole.notes


def test_a_file_that_ends_within_a_row_gives_the_rows_before_it():
    text = lines(batch(1, "ab"))
    for end in range(len(text) - 60, len(text) - 1):
        found = read(text[:end])
        assert len(found.rollouts) == 3 and found.notes == ["rollouts.jsonl ends within line 4, which is left out."]


@pytest.mark.parametrize(
    "content, words",
    [
        ("", "The file is empty."),
        ("\n \n", "The file is empty."),
        (gzip.compress(REAL), "The file is compressed: unpack it first."),
        (bytes(range(256)) * 9, "The file is binary. What can be read: the completions of TRL,"),
        ("<!DOCTYPE html>\n<script>alert(1)</script>\n" * 99, "No completion was found in 198 lines."),
        ("dear diary\nnothing, really\n", "No completion was found in 2 lines."),
        ("x" * 1_000_000, "No completion was found in"),
        ('{"a": 1,\n "b": 2}\n', "No completion was found in 2 lines."),
        ("[1, 2, 3]\n", "No completion was found in 1 line."),
        ("[" * 100_000, "No completion was found in 1 line."),
        ("[\n" * 100_000, "No completion was found in"),
        ('{"prompt": ' + "[" * 100_000, "No completion was found in 1 line."),
        ('prompt,completion\na,"b\n' + "c,d\n" * 99, "A quotation mark is never closed"),
        ('{"step": 1, "prompt": "a", "completion": "b", "advantage": 0, "n": 1}'.replace("1,", "null,", 1), None),
        (json.dumps({f"c{n}": n for n in range(1001)}), "A row has 1,001 columns, and 1,000 are the most."),
    ],
)
def test_a_file_of_another_kind_is_one_sentence(content, words):
    if words is None:
        assert read(content).rollouts.step.tolist() == [0]
    else:
        assert words in said(content)


@pytest.mark.parametrize("format", framework_logs.FORMATS)
def test_a_log_is_sent_to_diagnose_a_run(format):
    files = framework_logs.export(tracelab.trace(tracelab.Setting(steps=6), seed=0), format)
    name, text = next(iter(files.items()))
    assert "Open it in Diagnose a run." in said(text, name=name)


def test_trainer_state_is_sent_to_diagnose_a_run():
    rows = [{"step": n, "loss": 0.1, "reward": 0.5, "kl": 0.01, "entropy": 1.0} for n in range(1, 2000)]
    state = json.dumps({"epoch": 1.0, "log_history": rows}, indent=2)
    assert "Open it in Diagnose a run." in said(state, name="trainer_state.json")


@pytest.mark.slow
@pytest.mark.skipif(skips.PYODIDE, reason="the seconds are those of a machine")
@pytest.mark.parametrize(
    "content, words",
    [
        (b"x" * 50_000_000, "No completion was found"),
        (b'{"prompt": "' + b"x" * 50_000_000, "No completion was found"),
        (b"[" * 50_000_000, "No completion was found"),
        (",".join(f"c{n}" for n in range(1_000_000)).encode() + b"\n1", "No completion was found in 1 line."),
        (json.dumps({f"c{n}": n for n in range(1_000_000)}).encode(), "A row has 1,000,000 columns"),
        (b"x" * 70_000_000, ""),
        (b'{"' * 35_000_000, "A line has more than 60,000,000 characters"),
    ],
    ids=["letters", "a text", "brackets", "a table", "a row", "more letters", "too long a line"],
)
def test_hostile_files_end_within_two_seconds(content, words):
    start = time.process_time()
    assert words in said(content)
    assert time.process_time() - start < 2


def test_a_long_line_of_rows_is_read():
    text = json.dumps([trl(1, "p", "x" * 1000, exact=1)] * 3000)
    assert len(read(text).rollouts) == 3000


def test_text_is_data():
    nasty = ["<script>alert(1)</script>", "\x1b[31mred\x07", "__import__('os')", "{0.__class__}", "\u202eabc"]
    one = read([trl(1, "p", text, exact=1) for text in nasty]).rollouts
    assert one.completions == nasty


def test_halves_of_characters_are_replaced():
    text = lines([trl(1, "\ud800", "a\udfffb", exact=1)])
    one = read(text).rollouts
    assert one.prompts == ["\ufffd"] and one.completions == ["a\ufffdb"]


def test_brackets_in_a_completion_are_text():
    assert len(read([trl(1, "p", "[" * 100_000, exact=1)]).rollouts) == 1


def test_a_name_with_brackets_is_a_name():
    found = read(lines(batch(1, "ab")) + "broken\n", name="run {0} {x}.jsonl")
    assert found.notes == ["run {0} {x}.jsonl: lines that are no row, left out: 1."]


def test_of_a_folder_what_cannot_be_read_is_left_out_with_its_reason():
    found = read({"out/1.jsonl": batch(1, "ab"), "out/config.json": '{"a": 1}', "out/model.safetensors": bytes(200)})
    assert len(found.rollouts) == 4 and list(found.left_out) == ["out/config.json", "out/model.safetensors"]
    assert all(reason.endswith(".") for reason in found.left_out.values())
    assert said({}) == "No file was given."
    assert said({"a": "x", "b": "y"}).startswith("None of the 2 files can be read. The first: No completion")


def test_two_programs_are_two_runs():
    verl = [{"input": "a", "output": "b", "score": 1, "step": 1}]
    found = read({"1.jsonl": batch(1, "ab"), "2.jsonl": verl})
    assert found.left_out == {
        "2.jsonl": "The files hold TRL's completions and verl's rollouts: choose the files of one run at a time."
    }


def test_files_are_read_in_the_order_of_their_numbers():
    assert sorted(["10.jsonl", "9.jsonl", "a/2.jsonl", "1.jsonl"], key=reader.in_order) == [
        *("1.jsonl", "9.jsonl", "10.jsonl", "a/2.jsonl")
    ]


def test_files_of_the_same_name_from_different_folders_are_two():
    def read_all(*texts):
        return rollouts.read([("7.jsonl", [text.encode()]) for text in texts])

    rows = [dict(prompt=p, completion=str(n), reward=n) for p in "ab" for n in range(2)]
    apart = read_all(lines(rows[:2]), lines(rows[2:]))
    assert apart.rollouts.prompts == ["a", "b"] and apart.rollouts.step.tolist() == [7] * 4
    twice = read_all(lines(rows), lines(rows))
    assert len(twice.rollouts) == 4
    assert twice.notes == ["Files left out because another file has the same completions of the same step: 1."]
    faulty = read_all(lines(rows), "dear diary", "dear diary")
    assert len(faulty.rollouts) == 4 and list(faulty.left_out) == ["7.jsonl (2)", "7.jsonl (3)"]
