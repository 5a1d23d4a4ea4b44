"""The files of a run: what is taken for its log, and what for its completions."""

import json

import pytest

from rlpt import framework_logs, logs
from rlpt.doctor.files import ALONE, Files
from rlpt.logs import Unreadable
from sim.experiments import tracelab
from tests.rlpt.doctor import real_logs
from tests.rlpt.rollouts import made

LOG = real_logs.text("hack-plus")
ROWS = [row for step in range(1, 5) for row in made.batch(step, (f"a{step}", f"b{step}"), K=4)]
STATE = json.dumps(dict(log_history=[{"step": n, "reward": n / 10, "reward_std": 0.5} for n in range(1, 11)]))


def brought(files, size=1000):
    run = Files()
    closed = []
    for name, text in files.items():
        raw = text if isinstance(text, bytes) else text.encode()
        closed.append(run.whole(name, [raw[at : at + size] for at in range(0, len(raw), size)]))
    return run.together(closed)


def in_folder(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    def opened(name):
        with open(name, "rb") as file:
            yield file.read()

    run = Files()
    return run.together(run.of_folder(str(tmp_path), opened))


def refused(take, *given):
    with pytest.raises(Unreadable) as fault:
        take(*given)
    return str(fault.value)


@pytest.mark.parametrize("first", ["log.csv", "completions.jsonl"])
def test_log_and_completions_are_told_apart_by_their_content(first):
    files = {"log.csv": LOG, "completions.jsonl": made.lines(ROWS)}
    found = brought({first: files[first]} | files)
    assert found.log.format == "a CSV" and found.log.columns.keys() == real_logs.read(LOG).columns.keys()
    assert len(found.read.rollouts) == len(ROWS) and len(found.done.steps) == 4 and found.fault == ""


def test_a_log_alone_is_read_as_before():
    found = brought({"log.csv": LOG})
    assert found.done is None and found.log.columns.keys() == real_logs.read(LOG).columns.keys()


def test_verl_s_rollouts_are_completions_and_tell_how_many_groups_are_uniform():
    trace = tracelab.trace(tracelab.Setting(**tracelab.KINDS["stale_rollouts"]), seed=0)
    console = framework_logs.export(trace, "verl, console")
    files = console | {f"rollouts/{name}": text for name, text in framework_logs.rollouts(trace).items()}
    found = brought(files, size=1 << 20)
    assert found.log.columns["rollouts/zero_variance"].values == pytest.approx(
        [round(32 * share) / 32 for share in trace["zero_variance"]]
    )
    assert found.read.program == "verl" and len(found.read.rollouts) == 64 * len(trace["zero_variance"])


VERL = json.dumps(dict(input="a", output="b", score=1.0, step=1)) + "\n"


@pytest.mark.parametrize("text", [made.lines(ROWS), VERL])
def test_completions_alone_are_for_another_tool(text, tmp_path):
    assert refused(brought, {"1.jsonl": text}) == ALONE == refused(in_folder, tmp_path, {"kept/1.jsonl": text})


def test_completions_that_cannot_be_counted_do_not_hide_the_log():
    found = brought({"log.csv": LOG, "1.jsonl": made.lines([made.trl(step=1)])})  # without any score
    assert found.log.columns and found.done is None and "No column has numbers" in found.fault


def test_what_is_neither_gets_the_sentence_of_a_log():
    assert "No row of a log" in refused(brought, {"x": "dear diary"})
    assert "No file was given." in refused(brought, {})
    assert "Parquet" not in refused(brought, {"x.zip": b"PK\x03\x04"})
    assert "damaged" in refused(brought, {"x.parquet": b"PAR1" + bytes(100)})


def test_a_folder_has_its_log_and_the_completions_below(tmp_path):
    files = {"trainer_state.json": STATE, "completions/completions_00001.jsonl": made.lines(ROWS)}
    found = in_folder(tmp_path, files | {"checkpoint-5/trainer_state.json": "{", "README.txt": "x", "notes.csv": LOG})
    assert found.log.format == "TRL's log_history" and list(found.log.columns["reward"].steps) == list(range(1, 11))
    assert len(found.read.rollouts) == len(ROWS)


def test_of_several_checkpoints_the_last_one_s_log_is_read(tmp_path):
    short = json.dumps(dict(log_history=[{"step": 1, "reward": 0.1}]))
    files = {"checkpoint-9/trainer_state.json": short, "checkpoint-10/trainer_state.json": STATE}
    assert list(in_folder(tmp_path, files).log.columns["reward"].steps) == list(range(1, 11))


def test_a_folder_with_another_log_is_read_whatever_its_name(tmp_path):
    assert in_folder(tmp_path, {"history.csv": LOG, "notes.txt": "no log"}).log.format == "a CSV"


def test_of_several_logs_the_reader_chooses(tmp_path):
    said = refused(in_folder, tmp_path, {"a.csv": LOG, "b.csv": LOG})
    assert said == f"{tmp_path} holds 2 logs: “a.csv”, “b.csv”. Name the one to be read."


def test_a_folder_without_a_log_and_without_completions(tmp_path):
    assert refused(in_folder, tmp_path, {"a.txt": "no log"}) == f"No log was found in {tmp_path}. {logs.READABLE}"


def test_damaged_parquet_in_a_folder_is_named_and_the_log_is_read(tmp_path):
    found = in_folder(tmp_path, {"trainer_state.json": STATE, "completions/1.parquet": b"PAR1" + bytes(100)})
    assert found.log.columns["reward"] and "The parquet file is damaged" in found.fault
