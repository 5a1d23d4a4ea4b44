"""The command line of the framework: it trains, shows its seven stages and one completion, evaluates, goes on where it
was left, and refuses what it does not know in a sentence.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import skips

ROOT = Path(__file__).parents[2]
pytestmark = skips.processes


def framework(*words):
    return subprocess.run(
        [sys.executable, "-m", "rlpt.framework", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.when_changed("rlpt.framework")
@pytest.mark.parametrize("task", ["add", "lookup", "modsum"])
def test_training_ends_above_its_start_and_shows_seven_stages(task):
    done = framework("--task", task, "--algorithm", "grpo", "--updates", "60")
    assert done.returncode == 0 and done.stderr == ""
    assert [int(n) for n in re.findall(r"^  (\d) \w+", done.stdout, flags=re.M)] == [1, 2, 3, 4, 5, 6, 7]
    first, last = map(
        float,
        re.search(r"(\d\.\d+) of the first batch correct, (\d\.\d+) of the last 10 batches", done.stdout).groups(),
    )
    assert last > first + 0.2


@pytest.mark.when_changed("rlpt.framework")
def test_it_trains_the_transformer_in_place_of_the_window():
    done = framework("--policy", "transformer", "--updates", "20")
    first, last = map(
        float,
        re.search(r"(\d\.\d+) of the first batch correct, (\d\.\d+) of the last 10 batches", done.stdout).groups(),
    )
    assert last > first + 0.2


def test_one_completion_is_shown_with_a_line_a_token():
    text = framework("--task", "lookup", "--updates", "1").stdout
    shown = text[text.index("completion ") : text.index("reward 1")]
    masks = [int(row.split()[-2]) if len(row.split()) > 3 else 0 for row in shown.splitlines()[2:] if row.strip()]
    assert masks == [1, 1, *[0] * 8, 1, 1, 1]  # a call of two tokens, its reply of eight, Final:, the entry, the end


def test_the_evaluation_says_on_what_and_with_which_interval():
    text = framework("--updates", "6", "--eval-every", "4").stdout
    assert "pass rate on the prompts kept out of training (0+0=, 0+5=, 1+2=, and 17 more), 320 completions" in text
    assert "Wilson's 95 % interval over completions, for these prompts and no others" in text
    assert re.findall(r"^  after update (\d+) +\d\.\d+ \[\d\.\d+, \d\.\d+\]$", text, flags=re.M) == ["0", "4", "6"]
    last = text.splitlines()[-2]
    assert re.search(
        r"of the last 6 batches; of the prompts kept out of training \d\.\d+ correct before and \d\.\d+ after$", last
    )
    assert "kept out" not in framework("--updates", "2", "--eval-every", "0").stdout


def test_every_setting_is_said_before_the_run():
    words = (
        "--algorithm grpo --beta 0.5 --K 4 --passes 2 --lag 1 --optimizer sgd --learning-rate 0.25 --micro-batches 3"
    )
    first, *_ = framework(*words.split(), "--seed", 9, "--updates", 2).stdout.splitlines()
    assert first == (
        "algorithm grpo, task add, policy window, beta 0.5, K 4, passes 2, optimizer sgd, learning rate 0.25, "
        "lag 1, micro-batches 3, seed 9, updates between evaluations 10"
    )


@pytest.mark.when_changed("rlpt.framework")
def test_a_run_in_two_parts_draws_the_curve_of_the_whole(tmp_path):
    whole = framework("--updates", 20).stdout
    kept = ["--checkpoint", tmp_path / "run.ckpt"]
    framework("--updates", 10, *kept)
    second = framework("--updates", 20, *kept).stdout
    assert "resuming after update 10" in second
    assert second[second.index(" update  correct") :] == whole[whole.index(" update  correct") :]


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--updates", "0"], "argument --updates: must be a whole number from 1"),
        (["--updates", "many"], "argument --updates: must be a whole number"),
        (["--seed", "-1"], "argument --seed: must be a whole number from 0"),
        (["--task", "chess"], "invalid choice: 'chess'"),
        (["--policy", "transformer", "--task", "lookup"], "--policy transformer needs --task add"),
        (["--algorithm", "sarsa"], "invalid choice: 'sarsa'"),
        (["--algorithm", "dapo", "--beta", "1"], "--beta must be 0 for dapo"),
        (["--K", "1"], "K must be at least 2"),
        (["--checkpoint", "README.md"], "README.md: it is not a checkpoint of this program"),
    ],
)
def test_a_wrong_word_ends_in_a_sentence_and_a_status(words, sentence):
    done = framework(*words)
    assert done.returncode == 2 and sentence in done.stderr and not done.stdout
    assert len(done.stderr.splitlines()) == 1
