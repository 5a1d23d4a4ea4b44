"""The command line: a row a stage, and what cannot be is refused in a line before any work."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import skips

ROOT = Path(__file__).parents[2]
pytestmark = skips.processes


def command(*words):
    return subprocess.run(
        [sys.executable, "-m", "rlpt.pipeline", *words], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


def test_a_table_has_a_row_a_stage_and_nothing_else_is_on_standard_output():
    done = command("--path", "base,cot,rl", "--cot-steps", "50", "--rl-steps", "5", "--eval", "60x16")
    assert done.returncode == 0 and done.stderr == ""
    head, *rows = done.stdout.splitlines()
    assert head.split()[:4] == ["stage", "pass@1", "@16", "thinks"]
    assert [row.split()[0] for row in rows] == ["base", "cot", "rl"] and "Traceback" not in done.stdout


def test_objects_say_what_was_paid_and_policies_are_kept(tmp_path):
    words = ("--path", "base,sft,rft", "--eval", "60x16", "--json", "--save", str(tmp_path))
    done = command(*words)
    stages = [json.loads(line) for line in done.stdout.splitlines()]
    assert [stage["stage"] for stage in stages] == ["base", "sft", "rft"]
    assert stages[0]["kl"] is None and stages[1]["trained_tokens"] == 200 * 64 * 3
    assert sorted(file.name for file in tmp_path.iterdir()) == ["0-base.npz", "1-sft.npz", "2-rft.npz"]


def test_a_stage_with_nothing_to_learn_from_ends_in_status_3():
    done = command("--path", "base,dpo", "--eval", "60x16")
    assert done.returncode == 3
    assert done.stderr == "dpo: 0 pairs from 4,096 samples, every one wrong; put sft or cot before dpo in --path\n"
    done = command("--path", "base,rft", "--eval", "60x16")
    assert done.returncode == 3 and done.stderr.startswith(
        "rft: 0 correct completions among 4,096 samples; put sft or cot"
    )


def test_rl_without_a_live_group_is_no_error_and_says_so_once():
    done = command("--path", "base,rl", "--rl-steps", "25", "--eval", "60x16", "--json")
    assert done.returncode == 0 and len(done.stderr.splitlines()) == 1
    assert json.loads(done.stdout.splitlines()[1])["pass_at_1"] == 0
    assert json.loads(done.stdout.splitlines()[1])["kl"] == 0


@pytest.mark.parametrize(
    "words, sentence",
    [
        (
            "--path base,sff",
            'argument --path: there is no stage "sff"; did you mean sft? the stages are sft, cot, dpo, rft, rl',
        ),
        ("--path sft,rl", "argument --path: must begin with base or init, not sft"),
        (
            "--eval 300",
            "argument --eval: must be prompts x completions such as 300x64, with 2 to 2,000 prompts and a multiple of "
            "8 from 16 to 256 completions, not 300",
        ),
        ("--rare 1.5", "argument --rare: must be a number from 0 to 1, not 1.5"),
        ("--cot-steps -1", "argument --cot-steps: must be a whole number from 1 to 100,000, not -1"),
        ("--rl-prompts 9000", "argument --rl-prompts: must be a whole number from 1 to 8,000, not 9000"),
        ("--nll inf", "argument --nll: must be a number from 0 to 1,000, not inf"),
        (
            "--seeds 0-1 --seed 5",
            "--seeds prints a table over several seeds and cannot be combined with --seed, --json or --save",
        ),
        (
            f"--seeds 0-{'9' * 5000}",
            f"argument --seeds: must be a range of 2 to 100 seeds, such as 0-7, not 0-{'9' * 18}",
        ),
        ("--save README.md", "README.md cannot be written or read: File exists"),
        ("--sed 3", "unrecognized arguments: --sed 3; did you mean --seed?"),
        ("--beta nan", "argument --beta: must be a number from 0.001 to 1,000, not nan"),
        ("--seeds 7", "argument --seeds: must be a range of 2 to 100 seeds, such as 0-7, not 7"),
        (
            "--path init,rl --rare .1",
            "--rare 0.1 needs a --path that begins with base, because init has read no corpus",
        ),
    ],
)
def test_a_wrong_word_ends_in_one_line_and_status_2(words, sentence):
    done = command(*words.split())
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"python -m rlpt.pipeline: {sentence}\n")


def test_a_table_of_seeds_names_the_most_tries_that_it_has():
    done = command("--path", "init", "--eval", "8x16", "--seeds", "0-1")
    assert done.returncode == 0 and "@16" in done.stdout and "@64" not in done.stdout


def test_a_reader_who_leaves_early_is_no_fault():
    words = f"{sys.executable} -m rlpt.pipeline --path base,sft --eval 60x16 | head -n 1"
    done = subprocess.run(words, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("stage") and done.stderr == ""
