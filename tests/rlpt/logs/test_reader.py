"""Every format is read to the same numbers in pieces of any size; what is wrong is one sentence."""

import json
from functools import cache

import pytest

from rlpt import framework_logs, metric_names
from rlpt.logs import Unreadable, reader
from sim.experiments import tracelab
from tests.rlpt.logs.made import column, read, said

every_format = pytest.mark.parametrize("format", framework_logs.FORMATS)


@cache
def trace():
    return tracelab.trace(tracelab.Setting(steps=25, mismatch=0.1), seed=0)


@every_format
def test_what_was_written_is_read(format):
    log = read(framework_logs.export(trace(), format))
    framework = format.split(",")[0]
    assert log.framework == framework and log.notes == []
    for name, values in framework_logs.trained(trace(), framework, True).items():
        steps, got = next(
            column(log, each) for each in log.columns if metric_names.key(each) in metric_names.keys(name)
        )
        assert got == pytest.approx(list(values)) and steps == list(range(1, 26))
    held_out = [name for name in log.columns if metric_names.looks_held_out(name, framework)]
    assert len(held_out) == 1 and log.columns[held_out[0]].values[-1] == pytest.approx(trace()["right"][24])


@every_format
def test_pieces_may_be_cut_anywhere(format):
    files = framework_logs.export(tracelab.trace(tracelab.Setting(steps=3), seed=0), format)
    whole = {name: column(read(files), name) for name in read(files).columns}
    for size in (1, 7, 64):
        log = read(files, size=size)
        assert {name: column(log, name) for name in log.columns} == whole


@every_format
def test_a_file_that_ends_anywhere_gives_the_rows_before_it_or_a_sentence(format):
    name, text = next(iter(framework_logs.export(tracelab.trace(tracelab.Setting(steps=4), seed=0), format).items()))
    raw = text.encode()
    whole = read({name: raw})
    for end in range(1, len(raw), 37):
        try:
            log = read({name: raw[:end]})
        except Unreadable as fault:
            assert str(fault).endswith(".")
            continue
        for each, (steps, values) in ((each, column(log, each)) for each in log.columns):
            known = dict(zip(*column(whole, each)))
            # a number that the end has cut may stand in the last cell of the last row alone
            assert all(known[step] == value for step, value in zip(steps[:-1], values[:-1]))


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "The file is empty."),
        ("\n \n", "The file is empty."),
        ("dear diary\nnothing\n", "No row of a log was found in 2 lines."),
        ("1,2,3\n4,5,6\n", "the line that names the columns is missing"),
        ("a/b,c/d\n1,2\n", "No column of steps among “a/b”, “c/d”: export it over steps"),
        ("Name,State,Created,train/reward,step\nrun,finished,now,1,2\n", "a table of runs"),
        ('"Step","a - r","b - r"\n1,2,3\n', "The file holds 2 runs, “a”, “b”: name one of them, under “Paste it"),
        ("step,reward\n", "no row below it can be read."),
        ("step,reward\n1,2,3\n", "no row below it can be read: a row has 3 cells, and the first line 2."),
        ("step,reward\n1,\n2,\n", "holds no number"),
        ('{"a": 1, "b": [1,\n2]}', "The JSON file has no log_history."),
        ('{"log_history": []}', "no row with a step"),
        (b"\x1f\x8b\x08\x00", "compressed"),
        (b"\x18\x00\x00\x00\x00\x00", "binary"),
        ("x" * 4_100_000, "A line has more than 4,000,000 characters."),
        ('step,a\n1,"x\n' + "yyyyyyy\n" * 600_000, "A quotation mark is never closed"),
        ("step,a\n" + "".join(f"{n},1\n" for n in range(100, 0, -1)), "Steps go back 99 times in 100 rows"),
        (json.dumps({"step": 1, "data": {str(n): n for n in range(5_001)}}), "More than 5,000 columns"),
        ("step,a\n" + "".join(f"{n},1\n" for n in range(12, 0, -1)), "Steps go back 11 times in 12 rows"),
        ('"Relative Time (Process)","a - train/reward"\n1.5,2\n', "No column of steps among “Relative Time (Process)”"),
        ("step,reward,reward\n1,2,3\n", "Two columns are called “reward”"),
        ('step,reward\n1,"0,5"\n', "“0,5” in the column “reward” has a comma"),
        ('{"log_history": [{"step": NaN, "reward": 1}, {"step": 1e999}]}', "no row with a step"),
        (
            '{"step": "one", "data": {"a": 1}}\n{"step": [1], "data": {"a": 1}}\n',
            "No row with a step was found in 2 lines.",
        ),
        ('{"log_history": [{"step": 1, "a": ' + "[" * 100_000, "A row is nested too deep"),
        ('{"log_history": [' + '{"a": ' * 100_000, "A row is nested too deep"),
        ('{"step": 1, "a": ' + "[" * 100_000 + "\n", "The JSON file has no log_history."),
    ],
)
def test_what_cannot_be_read_is_one_sentence(text, words):
    assert words in said(text)


def test_files_of_two_runs_are_refused():
    def chart(run, metric):
        return f'"Step","{run} - {metric}"\n1,0.5\n'

    with pytest.raises(Unreadable, match="The files come from 2 runs, “a”, “b”"):
        read({"1.csv": chart("a", "train/reward"), "2.csv": chart("b", "train/entropy")})
    assert read({"1.csv": chart("a", "train/reward"), "2.csv": chart("a", "train/entropy")}).run == "a"
    tag = "Wall time,Step,Value\n1,1,0.5\n"
    with pytest.raises(Unreadable, match="The files come from 2 runs, “x”, “y”"):
        read({"run-x-tag-train_reward.csv": tag, "run-y-tag-train_entropy.csv": tag})
    state = json.dumps({"log_history": [{"step": 1, "reward": 1}]})
    assert "of a run's checkpoints the last one's file holds all rows" in said({"a.json": state, "b.json": state})
    assert "Two of the files have a column “reward”" in said({"a": "step,reward\n1,2\n", "b": "step,reward\n1,3\n"})


def test_a_file_that_is_too_large(monkeypatch):
    monkeypatch.setattr(reader, "LIMIT", 1_000_000)
    assert "larger than 1 MB" in said("step,reward\n" + "1,0.5\n" * 200_000)


@pytest.mark.parametrize(
    "first", ['{"model": "7B"}\n', '{\n  "model": "7B",\n  "lr": 1e-06\n}\n'], ids=["one line", "several"]
)
def test_a_console_may_begin_with_its_configuration(first):
    log = read(first + "{'loss': 0.1, 'reward': 0.5, 'epoch': 0.1}\n{'loss': 0.1, 'reward': 0.6, 'epoch': 0.2}\n")
    assert column(log, "reward") == ([1, 2], [0.5, 0.6])


def test_a_table_may_have_lines_above_its_head():
    assert column(read("# run 7, of Monday\nstep,reward\n1,0.5\n2,0.6\n"), "reward") == ([1, 2], [0.5, 0.6])
