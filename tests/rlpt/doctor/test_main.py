"""The command: what it prints, its JSON and its status."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from rlpt.doctor.__main__ import command
from tests import skips
from tests.rlpt.doctor import real_logs


def told(*words, **files):
    return command(list(words), lambda name: [files[name].encode()])


def test_the_status_says_whether_something_was_found():
    sound, wrecked = real_logs.text("healthy-defaults"), real_logs.text("lr-absurd")
    assert told("a", a=sound)[2] == 0 and told("a", a=wrecked)[2] == 1
    lines, faults, status = told("a", a="dear diary")
    assert (lines, status) == ([], 2) and "No row of a log was found" in faults[0]


def test_json_says_the_same():
    lines, _, status = told("a", "--json", a=real_logs.text("hack-plus"))
    (line,) = lines
    found = json.loads(line)
    assert found["signs"][0]["name"] == "hacked" and found["signs"][0]["step"] == 24 and found["status"] == status == 1
    assert any(fact["alarm"] and fact["steps"] == [42, 240] for fact in found["facts"])
    assert found["rows"] == found["batches"] == 240


def test_a_held_out_column_is_named():
    text = real_logs.text("hack-plus").replace("rewards/exact/mean", "own_score")
    assert not any("own_score” went" in line for line in told("a", a=text)[0])
    assert any("“own_score” went from 0.25 to 0" in line for line in told("a", "--heldout", "own_score", a=text)[0])


def test_a_folder_with_log_and_completions_shows_findings_among_the_events(tmp_path):
    (tmp_path / "completions").mkdir()
    kept = (files("rlpt.rollouts") / "data" / "verifier.jsonl").read_bytes()
    (tmp_path / "completions" / "all.jsonl").write_bytes(kept)
    log = real_logs.text("hack-plus")
    (tmp_path / "log.csv").write_text(log, encoding="utf-8")

    def run(*given):
        return command([*given, "--json"], lambda name: [Path(name).read_bytes()])

    (alone,), _, status = run(str(tmp_path / "log.csv"))
    (both,), _, same = run(str(tmp_path))
    alone, both = json.loads(alone), json.loads(both)
    assert status == same and both["signs"] == alone["signs"] and both["facts"] == alone["facts"]
    assert [each for each in both["events"] if each["of"] == "log"] == alone["events"]
    assert {"paid, not correct", "cut off"} <= {each["kind"] for each in both["events"] if each["of"] == "completions"}
    lines, faults, status = run(str(tmp_path / "completions"))
    assert (lines, status) == ([], 2) and "rlpt rollouts" in faults[0]


@pytest.mark.slow
@skips.processes
def test_the_command_in_a_terminal(tmp_path):
    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "rlpt.doctor", *words], capture_output=True, text=True, timeout=120, encoding="utf-8"
        )

    (tmp_path / "log.csv").write_text(real_logs.text("lr-absurd"), encoding="utf-8")
    done = run(str(tmp_path / "log.csv"))
    assert (
        done.returncode == 1
        and done.stdout.startswith("From step 2 on, the policy is destroyed.\n")
        and done.stderr == ""
    )
    missing = run(str(tmp_path / "none"))
    assert missing.returncode == 2 and "cannot be read: No such file" in missing.stderr
    for words, sentence in (
        (["x", "--map", "reward"], "NAME=VALUE is expected, not reward"),
        ([], "the following arguments are required: FILE"),
    ):
        wrong = run(*words)
        assert wrong.returncode == 2 and sentence in wrong.stderr and "Traceback" not in wrong.stderr
    assert all(word in run("--help").stdout for word in ("--heldout", "--json", "--updates"))
