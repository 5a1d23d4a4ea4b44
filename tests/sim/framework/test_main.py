"""The command line of the framework: it trains, shows its seven stages, and refuses what it does not know in a
sentence.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import marks

ROOT = Path(__file__).parents[3]
pytestmark = marks.processes


def framework(*words):
    return subprocess.run(
        [sys.executable, "-m", "sim.framework", *words], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("task", ["add", "lookup", "modsum"])
def test_training_ends_above_its_start_and_shows_seven_stages(task):
    done = framework("--task", task, "--algorithm", "grpo", "--steps", "60")
    assert done.returncode == 0, done.stderr
    assert [int(n) for n in re.findall(r"^  (\d) \w+", done.stdout, flags=re.M)] == [1, 2, 3, 4, 5, 6, 7]
    first, last = map(
        float, re.search(r"(\d\.\d+) of the first batch right, (\d\.\d+) of the last 10", done.stdout).groups()
    )
    assert last > first + 0.2


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--steps", "0"], "--steps must be at least 1"),
        (["--seed", "-1"], "--seed must be at least 0"),
        (["--task", "chess"], "invalid choice: 'chess'"),
        (["--algorithm", "sarsa"], "invalid choice: 'sarsa'"),
        (["--steps", "many"], "invalid int value: 'many'"),
    ],
)
def test_a_wrong_word_ends_in_a_sentence_and_a_status(words, sentence):
    done = framework(*words)
    assert done.returncode == 2 and sentence in done.stderr and not done.stdout
