"""The command line of the algorithm files: it trains, says what its numbers are, keeps a log and a checkpoint that
survive a kill at any time, and refuses what it does not know.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rlpt import run
from rlpt.companion import ALGORITHMS
from tests import skips

pytestmark = skips.processes
ROOT = Path(__file__).parents[2]
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # elsewhere this one cannot be caught either

every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)


def command(*words, module="rlpt.run"):
    return subprocess.run(
        [sys.executable, "-m", module, *map(str, words)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


def rates(done):
    """The pass rate at the start and at the end, from the line that sums up."""
    closing = next(line for line in done.stdout.splitlines() if "at the start" in line).split()
    return [float(closing[closing.index("rate") + n]) for n in (1, 5)]


@every_algorithm
def test_each_file_trains_on_modsum(name):
    done = command(name, "--task", "modsum", "--updates", "30", "--seed", "1", "--eval-every", "0")
    start, end = rates(done)
    assert done.returncode == 0 and done.stderr == ""
    assert start == 0.219 and end > start  # (.5373 + .2394 + .0802 + .0210) / 4


@every_algorithm
def test_each_file_trains_the_tiny_language_model(name):
    done = command(name, "--task", "add", "--updates", "20", "--eval-every", "0")
    start, end = rates(done)
    assert done.returncode == 0 and done.stderr == ""
    assert abs(start - 0.3285) < 1e-3 and end > start + 0.15


def test_the_pass_rate_is_that_of_the_prompts_trained_on_and_the_others_are_evaluated():
    done = command("grpo", "--task", "modsum", "--updates", "40")
    start, end = rates(done)
    assert abs(start - (0.5373 + 0.0802 + 0.0210) / 3) < 1e-3 and end > 0.9
    evaluated = re.findall(r"^  after update (\d+) +(\d\.\d+) \[(\d\.\d+), (\d\.\d+)\]$", done.stdout, flags=re.M)
    assert [update for update, *_ in evaluated] == ["0", "40"]
    for _, _, low, high in evaluated:  # the table has rows of its own for this prompt: no other teaches it
        assert float(low) < 0.2394 < float(high)


@pytest.mark.when_changed()
def test_one_completion_of_the_first_batch_is_shown_and_none_where_a_run_goes_on(tmp_path):
    words = "grpo", "--task", "add", "--checkpoint", tmp_path / "run.ckpt", "--updates"
    first, second = command(*words, 10).stdout, command(*words, 20).stdout
    rows = first[first.index("completion ") : first.index("\nreward ")].splitlines()
    assert rows[1].split() == ["t", "token", "log-prob", "reference", "mask", "advantage"]
    assert rows[-1].split()[1] == "<eos>" or "cut off at 8 tokens" in rows[0]
    assert "advantage" not in second and [line.split()[0] for line in second.splitlines()[4:5]] == ["20"]


@pytest.mark.when_changed()
def test_it_trains_the_transformer_in_place_of_the_window():
    done = command("grpo", "--task", "add", "--policy", "transformer", "--updates", "10", "--eval-every", "0")
    start, end = rates(done)
    assert done.returncode == 0 and done.stderr == ""
    assert abs(start - 0.305) < 1e-3 and end > start + 0.3  # about .75 in five seeds


def test_without_a_task_it_trains_on_each_and_says_that_this_ranks_nothing():
    text = command("rloo", "--updates", "1").stdout
    assert "rloo on modsum" in text and "rloo on add" in text and "rloo on lookup" in text
    assert text.strip().splitlines()[-1].endswith("two such runs do not rank two algorithms.")
    assert "entropy: nats per token" in text


@pytest.mark.when_changed()
@pytest.mark.parametrize(
    "name, plain, own, other",
    [
        ("ppo", [], ["--lam", "1"], ["--lam", "0.5"]),
        ("dapo", [], ["--scale-rewards", "group"], ["--scale-rewards", "batch"]),
        ("dr_grpo", [], ["--scale-rewards", "none"], ["--scale-rewards", "group"]),
        ("grpo", ["--passes", "1"], ["--correction", "token_mask"], ["--lag", "2", "--correction", "token_mask"]),
    ],
)
def test_what_a_file_does_anyway_changes_nothing_and_anything_else_does(name, plain, own, other):
    """A single pass over a batch of its own weights has a ratio of 1, whatever the weight."""
    words = [name, "--task", "add", "--updates", "6", "--eval-every", "0", *plain]
    before, same, changed = (rates(command(*words, *more)) for more in ([], own, other))
    assert before == same != changed


WRONG = [
    (["sarsa"], "invalid choice: 'sarsa'"),
    ([], "the following arguments are required: algorithm"),
    (["ppo", "--task", "chess"], "invalid choice: 'chess'"),
    (
        ["ppo", "--policy", "transformer"],
        "--policy transformer needs --task add, the only task with weights for it to start from",
    ),
    (["ppo", "--policy", "transformer", "--task", "modsum"], "--policy transformer needs --task add"),
    (["ppo", "--policy", "mamba"], "invalid choice: 'mamba'"),
    (["ppo", "--updates", "0"], "argument --updates: must be a whole number from 1 to 1,000,000, not 0"),
    (["ppo", "--updates", "ten"], "argument --updates: must be a whole number"),
    (["ppo", "--seed", "-1"], "argument --seed: must be a whole number from 0"),
    (["grpo", "--task", "add", "--K", "1"], "K must be at least 2"),
    (["ppo", "--K", "0"], "argument --K: must be a whole number from 1"),
    (["ppo", "--passes", "0"], "argument --passes: must be a whole number from 1"),
    (["ppo", "--lag", "1.5"], "argument --lag: must be a whole number from 0"),
    (["ppo", "--optimizer", "lion"], "argument --optimizer: invalid choice: 'lion'"),
    (["ppo", "--learning-rate", "0"], "argument --learning-rate: must be a number from 1e-06"),
    (["ppo", "--learning-rate", "nan"], "argument --learning-rate: must be a number"),
    (["grpo", "--beta", "-0.1"], "argument --beta: must be a number from 0"),
    (["grpo", "--lam", "0.9"], "--lam needs a critic: only ppo has one, not grpo"),
    (["ppo", "--lam", "1.5"], "argument --lam: must be a number from 0 to 1, not 1.5"),
    (["rloo", "--scale-rewards", "none"], "rewards minus their group's mean, as in grpo, dapo, dr_grpo, not rloo"),
    (["grpo", "--correction", "icepop"], "argument --correction: invalid choice: 'icepop'"),
    (["rloo", "--beta", "0.1"], "--beta must be 0 for rloo, not 0.1: only grpo has a KL term"),
    (["ppo", "--task", "add", "--micro-batches", "129"], "from 1 to the 128 completions of a mini-batch, not 129"),
    (["ppo", "--eval-every", "often"], "argument --eval-every: must be a whole number"),
    (["ppo", "--checkpoint-every", "0"], "argument --checkpoint-every: must be a whole number"),
    (["ppo", "--log", "log"], "--log and --checkpoint keep a single run: add --task with one of add, lookup, modsum"),
    (
        ["ppo", "--task", "add", "--log", "run", "--checkpoint", "run"],
        "--log and --checkpoint must be two different files",
    ),
    (
        ["ppo", "--task", "add", "--log", "run", "--checkpoint", "./run"],
        "--log and --checkpoint must be two different files",
    ),
    (["ppo", "--task", "add", "--log", "nowhere/log"], "cannot be written or read: No such file or directory"),
    (["ppo", "--task", "add", "--checkpoint", "sim"], "sim cannot be written or read:"),
    (["ppo", "--groups", "3"], "unrecognized arguments: --groups 3"),
]


@pytest.mark.parametrize("words, sentence", WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_a_wrong_value_is_one_sentence_and_status_2(words, sentence):
    done = command(*words)
    assert done.returncode == 2 and sentence in done.stderr and not done.stdout
    assert len(done.stderr.splitlines()) == 1


def test_help_names_the_options_and_every_algorithm():
    text = command("--help").stdout
    options = "task seed updates beta K passes lam lag optimizer learning-rate micro-batches eval-every log checkpoint"
    options += " scale-rewards correction"
    assert all(f"--{word}" in text for word in options.split()) and all(name in text for name in ALGORITHMS)
    assert "critic" in text and max(map(len, text.splitlines())) <= 120


# ── a run that is killed ──
def options(folder, updates=30):
    """A run with everything to keep: moments, weights on their way, a reference, evaluations."""
    words = ["grpo", "--task", "add", "--lag", "2", "--eval-every", "4", "--checkpoint-every", "3", "--seed", "5"]
    return [*words, "--updates", updates, "--log", folder / "log.jsonl", "--checkpoint", folder / "run.ckpt"]


def kept(folder):
    return (folder / "log.jsonl").read_bytes(), (folder / "run.ckpt").read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The log and the last checkpoint, with the parameters and all moments, of a run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    done = command(*options(folder))
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in kept(folder)[0].splitlines()]
    assert [row["step"] for row in rows] == list(range(31))
    assert [row["step"] for row in rows if "eval_rewards/score/mean" in row] == [*range(0, 29, 4), 30]
    return kept(folder)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [(1, 9), (3, 4, 20), (14, 29)])
def test_a_run_that_is_killed_and_started_again_ends_as_if_nothing_had_been(rows, whole, tmp_path):
    """Killed as soon as so many rows are in the log, wherever the run then is."""
    words = [sys.executable, "-m", "rlpt.run", *map(str, options(tmp_path))]
    log = tmp_path / "log.jsonl"
    for wanted in rows:
        with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL) as running:
            until = time.monotonic() + 60
            while running.poll() is None and time.monotonic() < until:
                if log.exists() and log.read_bytes().count(b"\n") >= wanted:
                    break
                time.sleep(0.002)
            running.send_signal(KILL)
    done = command(*options(tmp_path))
    assert done.returncode == 0, done.stderr
    assert kept(tmp_path) == whole


KILLED = """
import os, runpy, sys
left = int(sys.argv.pop(1))
def counted(call):
    def counting(*arguments):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), {kill})
        return call(*arguments)
    return counting
os.fsync, os.replace, os.truncate = map(counted, (os.fsync, os.replace, os.truncate))
runpy.run_module("rlpt.run", run_name="__main__", alter_sys=True)
"""


@pytest.mark.when_changed()
@pytest.mark.parametrize("calls", range(9))
def test_a_kill_between_two_calls_that_write_loses_nothing(calls, whole, tmp_path):
    """The calls: a checkpoint before the first row (fsync, replace, fsync of the folder), then for every checkpoint
    fsync of the log and the same three.
    """
    killing = [sys.executable, "-c", KILLED.format(kill=int(KILL)), str(calls), *map(str, options(tmp_path))]
    done = subprocess.run(killing, cwd=ROOT, capture_output=True, timeout=120)
    assert done.returncode == -KILL if os.name == "posix" else done.returncode
    done = command(*options(tmp_path))
    assert done.returncode == 0, done.stderr
    assert kept(tmp_path) == whole


def test_a_finished_run_can_be_told_again_and_be_made_longer(whole, tmp_path):
    for file, data in zip(("log.jsonl", "run.ckpt"), whole):
        (tmp_path / file).write_bytes(data)
    again = command(*options(tmp_path))
    assert again.returncode == 0 and "after 30 updates" in again.stdout and kept(tmp_path) == whole
    longer = command(*options(tmp_path, updates=33))
    assert longer.returncode == 0
    assert [json.loads(line)["step"] for line in kept(tmp_path)[0].splitlines()] == list(range(34))


def refusal(done):
    assert done.returncode == 2 and not done.stdout and len(done.stderr.splitlines()) == 1
    return done.stderr


@pytest.mark.when_changed()
def test_a_checkpoint_that_is_no_help_is_one_sentence_and_stays_as_it_is(whole, tmp_path):
    log, data = whole
    (tmp_path / "log.jsonl").write_bytes(log)
    checkpoint = tmp_path / "run.ckpt"

    def tried(data, *more, updates=30):
        checkpoint.write_bytes(data)
        done = command(*options(tmp_path, updates), *more)
        assert kept(tmp_path) == (log, data)
        return refusal(done)

    assert "run.ckpt: it is from a run with K 8, but this run has K 4" in tried(data, "--K", 4)
    assert "it is from a run with lag 2, seed 5, but this run has lag 0, seed 1" in tried(data, "--lag", 0, "--seed", 1)
    assert "it is cut off or damaged" in tried(data[:-100])
    assert "it is not a checkpoint of this program" in tried(b"")
    assert "it was written after update 30, but --updates 20 ends before" in tried(data, updates=20)


@pytest.mark.when_changed()
def test_a_log_that_is_not_the_runs_own_is_not_touched(whole, tmp_path):
    (tmp_path / "log.jsonl").write_bytes(b"mine\n")
    assert "exists already: choose a different --log" in refusal(command(*options(tmp_path)))
    (tmp_path / "run.ckpt").write_bytes(whole[1])
    assert "is not the log of this checkpoint" in refusal(command(*options(tmp_path)))
    assert (tmp_path / "log.jsonl").read_bytes() == b"mine\n"
    without = [word for word in options(tmp_path) if word not in ("--log", tmp_path / "log.jsonl")]
    assert "it is from a run with log kept, but this run has log none" in refusal(command(*without))


@pytest.mark.when_changed()
def test_a_checkpoint_before_the_first_row_takes_no_other_file_for_its_log(tmp_path):
    """A run that was killed before its first evaluation knows no byte of its log, and any file begins with none."""
    log, mine = tmp_path / "log.jsonl", tmp_path / "mine.txt"
    killing = [sys.executable, "-c", KILLED.format(kill=int(KILL)), "3", *map(str, options(tmp_path))]
    subprocess.run(killing, cwd=ROOT, capture_output=True, timeout=120)
    mine.write_bytes(b"mine\n")
    others = [mine if word == log else word for word in options(tmp_path)]
    assert "mine.txt is not the log of this checkpoint, whose log is called log.jsonl" in refusal(command(*others))
    log.write_bytes(b"mine\n")
    assert "after 0 bytes, it continues with something that is not a row of a run" in refusal(
        command(*options(tmp_path))
    )
    assert log.read_bytes() == mine.read_bytes() == b"mine\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_log_that_is_no_file_is_not_gone_on_in(whole, tmp_path):
    (tmp_path / "run.ckpt").write_bytes(whole[1])
    os.mkfifo(tmp_path / "log.jsonl")
    assert "is not a regular file, so no log can continue in it" in refusal(command(*options(tmp_path)))


def test_a_checkpoint_that_is_a_link_stays_one(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "run.ckpt")
    words = ["grpo", "--task", "add", "--updates", "1", "--eval-every", "0", "--checkpoint", tmp_path / "link"]
    assert command(*words).returncode == 0
    assert (tmp_path / "link").is_symlink() and (tmp_path / "run.ckpt").stat().st_size > 1000


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full disk at hand")
def test_a_full_disk_is_one_sentence_that_names_the_file():
    with open("/dev/full", "w") as full:
        words = [sys.executable, "-m", "rlpt.run", "grpo", "--task", "add", "--updates", "1", "--eval-every", "0"]
        done = subprocess.run(words, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr == "python -m rlpt.run: standard output cannot be written or read: No space left on device\n"


def test_a_write_that_fails_leaves_the_old_bytes(tmp_path, monkeypatch):
    path = tmp_path / "run.ckpt"
    run.write_atomically(path, b"old")
    order = []
    monkeypatch.setattr(os, "fsync", lambda number: order.append("fsync"))

    def full(*names):
        order.append("replace")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError) as fault:
        run.write_atomically(path, b"new")
    assert fault.value.filename == str(path) and [file.name for file in tmp_path.iterdir()] == ["run.ckpt"]
    assert path.read_bytes() == b"old" and order == ["fsync", "replace"]  # on the disk before it has the name


# ── the log, read by the doctor ──
def doctor(*words):
    return command(*words, module="rlpt.doctor")


@pytest.mark.when_changed("rlpt.doctor")
def test_the_doctor_finds_every_curve_in_the_log_and_says_memorized_of_the_default_run(tmp_path):
    log = tmp_path / "log.jsonl"
    done = command("grpo", "--task", "add", "--log", log)
    before, after = map(
        float, re.search(r"kept out of training (\d\.\d+) correct before and (\d\.\d+) after", done.stdout).groups()
    )
    said = doctor(log)
    assert "Read JSONL with TRL's column names: 100 rows, 100 batches, steps 1 to 100" in said.stdout
    assert "left out" not in said.stdout and "learning rate (TRL: always)" in said.stdout
    assert after < before + 0.1  # as far as it goes, on prompts that it was not trained on
    assert said.stdout.startswith("The policy memorizes its prompts.") and said.returncode == 1


@pytest.mark.when_changed("rlpt.doctor")
def test_the_doctor_sees_late_weights_and_numbers_that_are_gone(tmp_path):
    late, diverged = tmp_path / "late.jsonl", tmp_path / "diverged.jsonl"
    command("grpo", "--task", "add", "--updates", "40", "--lag", "16", "--log", late)
    done = doctor(late)
    assert done.returncode == 1 and "the samples come from older weights" in done.stdout
    command(
        "grpo", "--task", "add", "--updates", "40", "--optimizer", "sgd", "--learning-rate", "1000", "--log", diverged
    )
    assert re.search(r"! “\w+” is NaN, null or infinite from step", doctor(diverged).stdout)
