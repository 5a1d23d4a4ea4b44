"""The command line: a row a stage, and what cannot be is refused in a line before any work."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import marks

ROOT = Path(__file__).parents[3]
pytestmark = marks.processes


def command(*words):
    return subprocess.run(
        [sys.executable, "-m", "sim.pipeline", *words], cwd=ROOT, capture_output=True, text=True, timeout=120
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
    assert done.stderr == "dpo: 0 pairs from 4,096 samples, every one wrong; put sft or cot before it\n"
    done = command("--path", "base,rft", "--eval", "60x16")
    assert done.returncode == 3 and done.stderr.startswith("rft: 0 right ones among 4,096 samples; put sft or cot")


def test_rl_without_a_live_group_is_no_error_and_says_so_once():
    done = command("--path", "base,rl", "--rl-steps", "25", "--eval", "60x16", "--json")
    assert done.returncode == 0 and len(done.stderr.splitlines()) == 1
    assert json.loads(done.stdout.splitlines()[1])["pass_at_1"] == 0
    assert json.loads(done.stdout.splitlines()[1])["kl"] == 0


@pytest.mark.parametrize(
    "words, sentence",
    [
        ("--path base,sff", '--path base,sff: no stage "sff"; did you mean sft? stages: sft cot dpo rft rl'),
        ("--path sft,rl", "--path sft,rl: it begins with base or init, not sft; stages may follow"),
        ("--eval 300", "--eval 300: prompts x completions, such as 300x64"),
        ("--rare 1.5", "--rare 1.5: a share from 0 to 1"),
        ("--cot-steps -1", "--cot-steps -1: at least 1; or leave cot out of --path"),
        ("--rl-prompts 9000", "--rl-prompts 9000: 1 to 8,000, the prompts that may be trained on"),
        ("--sed 3", "unrecognized arguments: --sed 3; did you mean --seed?"),
        ("--beta nan", "--beta nan: above 0"),
        ("--seeds 7", "--seeds 7: the first and the last, such as 0-7"),
        ("--path init,rl --rare .1", "--rare 0.1: init has read no corpus; begin --path with base"),
    ],
)
def test_a_wrong_word_ends_in_one_line_and_status_2(words, sentence):
    done = command(*words.split())
    assert (done.returncode, done.stdout, done.stderr) == (2, "", sentence + "\n")
