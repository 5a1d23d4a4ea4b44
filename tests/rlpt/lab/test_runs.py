"""What is kept of a run: the same bytes each time, and whole or not at all."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import skips
from tests.rlpt.lab import made

ROOT = Path(__file__).parents[3]


def test_the_same_run_twice_has_the_same_bytes(tmp_path, capsys):
    for _ in range(2):
        made.scored(["--out", tmp_path / "runs"], capsys)
    one, two = (
        {path.name: path.read_bytes() for path in sorted((tmp_path / "runs" / name).iterdir())}
        for name in ("run_001", "run_002")
    )
    assert one == two and list(one) == ["failures.md", "manifest.json", "raw.jsonl", "scores.jsonl", "summary.json"]


def test_a_run_keeps_what_it_depends_on(tmp_path, capsys):
    words = made.files(tmp_path)
    made.scored([*words, "--sampling", "temperature 0.7", "--change", "a longer prompt"], capsys)
    status, *_ = made.scored([*words, "--parent", "run_001", "--samples", "0"], capsys)
    one, two = (json.loads((tmp_path / "runs" / f"run_00{i}" / "manifest.json").read_text()) for i in (1, 2))
    assert status == 0 and one["sampling"] == {"samples": [0], "settings": "temperature 0.7"}
    assert one["change"] == "a longer prompt" and two["parent"] == "run_001" and two["sampling"]["settings"] is None
    assert one["policy"]["name"] == "rollouts.jsonl" and str(tmp_path) not in json.dumps(one)


def test_the_best_and_the_worst_prompts_are_written_out(tmp_path, capsys):
    made.scored(["--out", tmp_path / "runs"], capsys)
    text = (tmp_path / "runs" / "run_001" / "failures.md").read_text()
    assert text.count("\n## ") == 10 and text.isascii() and "- non_canonical_int: `Final: 07006652`" in text


# ── what stops a run ──
def test_ctrl_c_is_status_130_and_leaves_no_folder(tmp_path, capsys):
    mine = made.python(tmp_path, "mine.py", "def score(example, completion):\n    raise KeyboardInterrupt\n")
    status, shown, wrong = made.scored([*made.files(tmp_path), "--scorer", f"{mine}:score"], capsys)
    assert (status, shown, wrong) == (130, "", "\nstopped\n") and not (tmp_path / "runs").exists()


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    status, shown, wrong = made.scored(["--out", tmp_path / "file"], capsys)
    assert (status, shown) == (2, "") and wrong.count("\n") == 1 and "file cannot be written" in wrong


@skips.processes
@pytest.mark.skipif(os.name == "nt", reason="Windows closes pipes in another way")
def test_a_reader_who_leaves_costs_nothing_because_the_run_is_already_kept(tmp_path):
    words = [sys.executable, "-m", "rlpt", "lab", "eval", *made.files(tmp_path)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as left:
        left.stdout.close()
        assert left.wait(60) == 0 and left.stderr.read() == b""
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["run_001"]


def test_a_full_disk_leaves_no_folder(tmp_path, capsys, monkeypatch):
    written = []

    def full(self, data):
        written.append(data)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", lambda self, data: full(self, data) if written else written.append(data))
    status, shown, wrong = made.scored(["--out", tmp_path / "runs"], capsys)
    assert (status, shown) == (2, "") and "No space left on device" in wrong
    assert list((tmp_path / "runs").iterdir()) == []
