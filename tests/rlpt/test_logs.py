"""Every format is read to the same numbers in pieces of any size, and what is wrong is one sentence and a count."""

import json
import tracemalloc
from functools import cache

import numpy as np
import pytest

from rlpt import framework_logs, logs, metric_names
from rlpt.logs import Unreadable
from sim.experiments import tracelab

every_format = pytest.mark.parametrize("format", framework_logs.FORMATS)


def read(text, name="log", size=1 << 16, **options):
    """The Log of one text, or of {name: text}, in pieces of so many bytes."""
    files = text if isinstance(text, dict) else {name: text}
    raw = {name: each if isinstance(each, bytes) else each.encode() for name, each in files.items()}
    return logs.read([(n, [b[i : i + size] for i in range(0, len(b), size)]) for n, b in raw.items()], **options)


def column(log, name):
    return list(log.columns[name].steps), list(log.columns[name].values)


def said(text, **options):
    with pytest.raises(Unreadable) as fault:
        read(text, **options)
    sentence = str(fault.value)
    assert "\n" not in sentence and sentence.endswith(".") and len(sentence) < 400
    return sentence


@cache
def trace():
    return tracelab.trace(tracelab.Setting(steps=25, mismatch=0.1), seed=0)


# ── the formats ──
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


def test_trls_history_alone_and_on_one_line():
    rows = [{"step": n, "reward": n / 10} for n in range(1, 5)]
    for text in (json.dumps(rows), json.dumps({"log_history": rows}), json.dumps(rows, indent=1)):
        assert column(read(text, size=5), "reward") == ([1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4])


def test_a_line_of_verl_behind_ray_with_colons_and_numpy():
    text = (
        "\x1b[36m(TaskRunner pid=7, ip=10.0.0.1)\x1b[0m step:3 - val-core/a:b/acc/mean@1:np.float64(0.5) - "
        "critic/score/mean:-1.5e-03 - x:nan - word:abc\r\n"
    )
    log = read(text)
    assert column(log, "val-core/a:b/acc/mean@1") == ([3], [0.5])
    assert column(log, "critic/score/mean") == ([3], [-0.0015])
    assert log.columns["x"].left_out == 1 and "word" not in log.columns


def test_a_line_of_openrlhf_and_its_evaluation():
    log = read(
        "✨ Global step 4: {'reward': 0.25, 'kl': 1e-05, 'timing/generation': 3.5, 'note': 'x'}\n"
        "✨ Evaluation completed in 0:00:02, global_step 4, eval_metrics: {'eval_math_pass1': 0.5}\n"
    )
    assert column(log, "reward") == ([4], [0.25]) and column(log, "kl") == ([4], [1e-05])
    assert column(log, "eval_math_pass1") == ([4], [0.5]) and "note" not in log.columns


def test_a_chart_without_its_bands_and_with_a_dash_in_the_run():
    log = read('"Step","my - run - train/reward","my - run - train/reward__MIN"\n1,"0.5","0.4"\n2,"0.6","0.5"\n')
    assert list(log.columns) == ["train/reward"] and column(log, "train/reward") == ([1, 2], [0.5, 0.6])


def test_a_column_of_a_history_may_have_a_dash():
    log = read("step,reward,reward - smoothed\n1,0.5,0.4\n2,0.6,0.5\n")
    assert log.format == "a CSV" and column(log, "reward") == ([1, 2], [0.5, 0.6])


def test_semicolons_tabs_decimal_commas_and_the_encoding_of_windows():
    assert column(read("step;reward\n1;0,5\n2;1,25\n"), "reward") == ([1, 2], [0.5, 1.25])
    assert column(read("step;reward\n1;1.234,5\n2;0.25\n"), "reward") == ([1, 2], [1234.5, 0.25])
    assert column(read("step\treward\n1\t0.5\n"), "reward") == ([1], [0.5])
    assert column(read("step\treward\n1\t0,5\n"), "reward") == ([1], [0.5])
    assert column(read("step,reward\r\n1,0.5\r\n".encode("utf-16-le")), "reward") == ([1], [0.5])
    assert column(read("step,reward\r\n1,0.5\r\n".encode("utf-16")), "reward") == ([1], [0.5])
    assert column(read("\ufeffstep,reward\n1,0.5\n"), "reward") == ([1], [0.5])


def test_a_quoted_cell_with_a_line_in_it():
    log = read('_step,text,train/reward\n0,"two\nlines, and a comma",0.5\n1,one,0.6\n', size=3)
    assert column(log, "train/reward") == ([0, 1], [0.5, 0.6])
    assert "no row below it can be read" in said('step,"a ""b""\n c",reward\n1,"x\n""y""",2\n')
    log = read('step,text,reward\n0,"' + "word, " * 30_000 + '",0.5\n')
    assert column(log, "reward") == ([0], [0.5])


def test_the_step_of_the_trainer_goes_before_the_calls_of_weights_and_biases():
    log = read("_step,train/global_step,train/reward\n0,10,0.5\n1,20,0.6\n")
    assert column(log, "train/reward") == ([10, 20], [0.5, 0.6]) and log.counted
    assert not read("_step,train/reward\n0,0.5\n").counted


def test_rollouts_of_verl_by_prompt():
    def row(step, prompt, score):
        return json.dumps(dict(input=prompt, output="…", score=score, step=step))

    first = "\n".join([row(1, "a", 1), row(1, "b", 0), row(1, "a", 1), row(1, "b", 1)])
    log = read({"1.jsonl": first, "2.jsonl": "\n".join([row(2, "a", 0), row(2, "a", 0)])})
    assert column(log, "rollouts/zero_variance") == ([1, 2], [0.5, 1])


# ── nothing is lost silently ──
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
    assert log.notes == ["Resumed: steps go back from 3 to 2; the later rows are kept."]


def test_steps_that_repeat():
    log = read("step,reward\n1,0.5\n1,0.6\n2,0.7\n")
    assert column(log, "reward") == ([1, 2], [0.6, 0.7])
    assert log.notes == ["Steps that repeat: 1 number replaced by a later one."]


def test_rows_of_another_width_are_counted():
    log = read("step,reward\n1,0.5\n2\n3,0.6,7\nx,1\n4,0.7\n")
    assert column(log, "reward") == ([1, 4], [0.5, 0.7])
    assert log.notes == ["Rows without a step, or wider or narrower than the first line, left out: 3."]


def test_lines_that_are_no_row():
    log = read('{"step":1,"data":{"a":1}}\nwarning\n{"x":2}\n{"step":2,"data":{"a":2}}\n')
    assert column(log, "a") == ([1, 2], [1, 2])
    assert log.notes == ["Lines that are no row of a log, left out: 2."]


def test_rows_without_a_step_are_counted():
    log = read('[{"step":1,"reward":1},{"step":null,"reward":2},{"reward":3},{"step":2,"reward":4}]')
    assert column(log, "reward") == ([1, 2], [1, 4]) and log.notes == ["Rows without a step, left out: 2."]


def test_whole_numbers_of_any_length_and_numbers_near_the_largest():
    for long in (10**400, int("9" * 4000), 10**308):
        log = read(json.dumps([{"step": n, "reward": n, "num_tokens": long} for n in (1, 2)]))
        assert column(log, "reward") == ([1, 2], [1, 2]) and log.columns["num_tokens"].left_out == 2
    assert read('[{"step":1,"reward":1,"num_tokens":' + "9" * 5000 + "}]").columns["num_tokens"].left_out == 1


def test_from_where_on_a_column_has_no_number():
    rows = [
        {"step": n, "kl": float("nan") if n in (2, 4, 5) else 0.1, "entropy": 1 if n < 5 else None} for n in range(1, 6)
    ]
    log = read(json.dumps(rows))
    assert (log.columns["kl"].since, log.columns["kl"].trailing) == (4, 2)
    assert (log.columns["entropy"].since, log.columns["entropy"].trailing) == (5, 1)
    again = read(json.dumps([*rows, {"step": 4, "kl": 0.2}]))
    assert again.columns["kl"].trailing == 0


def test_a_log_history_that_breaks_off_in_its_middle():
    text = json.dumps([{"step": n, "reward": n} for n in range(1, 5)]).replace('"step": 3', '"step": three')
    log = read(text)
    assert column(log, "reward") == ([1, 2], [1, 2])
    assert log.notes == ["Its log_history ends too early, or cannot be read further, after 2 rows."]


def test_words_in_a_column_of_numbers_are_counted():
    log = read("step,reward,comment\n1,0.5,a\n2,bad,b\n3,worse,c\n")
    assert column(log, "reward") == ([1], [0.5])
    assert log.notes == ["No number, left out: 2 cells, such as “bad” in the column “reward”."]


ROW = "step:{0} - actor/entropy:1.0 - critic/score/mean:0.{0} - critic/score/max:1.0 - response_length/mean:10{0}"


@pytest.mark.parametrize("before", ["", "\x1b[36m(TaskRunner pid=7)\x1b[0m "])
@pytest.mark.parametrize("width", [50, 61, 80])
def test_rows_that_were_broken_over_lines_are_no_log(before, width):
    rows = [ROW.format(n) for n in range(1, 5)]
    text = "\n".join(before + row[at : at + width] for row in rows for at in range(0, len(row), width))
    assert "The row of step 1 goes on in the next line" in said(text)


def test_one_row_that_goes_on_is_counted_and_other_lines_are_no_part_of_a_row():
    rows = [ROW.format(n) for n in range(1, 5)]
    one = "\n".join([*rows[:3], rows[3][:60], rows[3][60:]])
    assert read(one + "\n").notes == ["Rows that go on in the next line, whose rest is left out: 1."]
    between = "\n".join(f"{row}\nINFO - verl/trainer/main.py:12 - saving\n10:00 - INFO - done" for row in rows)
    assert column(read(between), "critic/score/mean") == ([1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4])
    broken = "".join(f"Global step {n}: {{'reward': 0.5,\n 'kl': 1}}\n" for n in (1, 2))
    assert "The row of step 1 goes on in the next line" in said(broken)


def test_a_bar_of_progress_that_begins_its_line_anew():
    text = "".join(f"\rTraining Progress: {n}%| |{ROW.format(n)}\rTraining Progress: {n}%| |" for n in range(1, 5))
    log = read(text + "\n")
    assert column(log, "response_length/mean") == ([1, 2, 3, 4], [101, 102, 103, 104])


# ── sentences ──
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
        ('{"a": 1, "b": [1,\n2]}', "A JSON file without log_history."),
        ('{"log_history": []}', "no row with a step"),
        (b"\x1f\x8b\x08\x00", "compressed"),
        (b"\x18\x00\x00\x00\x00\x00", "binary"),
        ("x" * 4_100_000, "A line of more than 4,000,000 characters."),
        ('step,a\n1,"x\n' + "yyyyyyy\n" * 600_000, "A quotation mark is never closed"),
        ("step,a\n" + "".join(f"{n},1\n" for n in range(100, 0, -1)), "Steps go back 99 times in 100 rows"),
        (json.dumps({"step": 1, "data": {str(n): n for n in range(5_001)}}), "More than 5,000 columns"),
        ("step,a\n" + "".join(f"{n},1\n" for n in range(12, 0, -1)), "Steps go back 11 times in 12 rows"),
        ('"Relative Time (Process)","a - train/reward"\n1.5,2\n', "No column of steps among “Relative Time (Process)”"),
        ("step,reward,reward\n1,2,3\n", "Two columns are called “reward”"),
        ('step,reward\n1,"0,5"\n', "“0,5” in the column “reward” has a comma"),
        ("{'loss': 0.1, 'reward_std': 0.5, 'epoch': 0.1}\n", "This is what TRL prints, which has no steps"),
        ("[{'loss': 0.1, 'epoch': 0.1, 'step': 1}]", "bring trainer_state.json"),
        ('{"log_history": [{"step": NaN, "reward": 1}, {"step": 1e999}]}', "no row with a step"),
        (
            '{"step": "one", "data": {"a": 1}}\n{"step": [1], "data": {"a": 1}}\n',
            "No row with a step was found in 2 lines.",
        ),
        ('{"log_history": [{"step": 1, "a": ' + "[" * 100_000, "A row is nested too deep"),
        ('{"log_history": [' + '{"a": ' * 100_000, "A row is nested too deep"),
        ('{"step": 1, "a": ' + "[" * 100_000 + "\n", "A JSON file without log_history."),
    ],
)
def test_what_cannot_be_read_is_one_sentence(text, words):
    assert words in said(text)


def test_one_run_of_several_by_its_name():
    text = '"Step","a - r","b - r"\n1,2,3\n'
    assert column(read(text, run="b"), "r") == ([1], [3])
    assert "No run is called “c”; there are “a”, “b”." in said(text, run="c")


def test_files_of_two_runs_are_refused():
    def chart(run, metric):
        return f'"Step","{run} - {metric}"\n1,0.5\n'

    with pytest.raises(Unreadable, match="The files are of 2 runs, “a”, “b”"):
        read({"1.csv": chart("a", "train/reward"), "2.csv": chart("b", "train/entropy")})
    assert read({"1.csv": chart("a", "train/reward"), "2.csv": chart("a", "train/entropy")}).run == "a"
    tag = "Wall time,Step,Value\n1,1,0.5\n"
    with pytest.raises(Unreadable, match="The files are of 2 runs, “x”, “y”"):
        read({"run-x-tag-train_reward.csv": tag, "run-y-tag-train_entropy.csv": tag})
    state = json.dumps({"log_history": [{"step": 1, "reward": 1}]})
    assert "of a run's checkpoints the last one's file holds all rows" in said({"a.json": state, "b.json": state})
    assert "Two of the files have a column “reward”" in said({"a": "step,reward\n1,2\n", "b": "step,reward\n1,3\n"})


def test_a_file_that_is_too_large(monkeypatch):
    monkeypatch.setattr(logs, "LIMIT", 1_000_000)
    assert "Larger than 1 MB" in said("step,reward\n" + "1,0.5\n" * 200_000)


# ── a million rows ──
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
    assert kept <= 1_000_000 + logs.OTHERS
    assert [note for note in log.notes if "left out for their number" in note]


@pytest.mark.when_changed()
def test_memory_is_that_of_the_numbers(monkeypatch):
    monkeypatch.setattr(logs, "OTHERS", 1000)
    tracemalloc.start()
    logs.read([("log.csv", long(50_000))])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * 16 * 50_000  # the file has 21 bytes a row; an array grows by an eighth


def test_numbers_that_are_wanted_end_in_a_sentence_too(monkeypatch):
    monkeypatch.setattr(logs, "OTHERS", 10)
    monkeypatch.setattr(logs, "VALUES", 50)
    assert "More than 50 numbers" in said("step,reward\n" + "".join(f"{n},1\n" for n in range(60)))


def test_brackets_that_a_policy_writes_are_no_nesting():
    """A ruined policy may write nothing else; a piece may end in the middle of it."""

    def row(n):
        return {"step": n, "reward": 0.5, "text": "[{" * 500 + '\\"' + "[" * 500}

    for text in ("\n".join(json.dumps(row(n)) for n in (1, 2)), json.dumps({"log_history": [row(1), row(2)]})):
        assert column(read(text, size=64), "reward") == ([1, 2], [0.5, 0.5])


def test_nesting_is_seen_behind_other_values_too():
    assert logs.too_deep("[1, " * 200) and logs.too_deep("[1, " * 200 + "]" * 200) and not logs.too_deep("[1]" * 200)
