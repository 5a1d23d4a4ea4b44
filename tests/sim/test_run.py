"""The command line of the algorithm files: it trains, says what its numbers are, and refuses what it does not know."""

import subprocess
import sys

import pytest

from sim.run import ALGORITHMS
from tests import marks

pytestmark = marks.processes

every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)


def command(*words):
    return subprocess.run([sys.executable, "-m", "sim.run", *words], capture_output=True, text=True, timeout=120)


def rates(done):
    """The pass rate at the start and at the end, from the line that sums up."""
    closing = next(line for line in done.stdout.splitlines() if "at the start" in line).split()
    return [float(closing[closing.index("rate") + n]) for n in (1, 5)]


@every_algorithm
def test_each_file_trains_on_modsum(name):
    done = command(name, "--task", "modsum", "--steps", "30", "--seed", "1")
    start, end = rates(done)
    assert done.returncode == 0 and done.stderr == ""
    assert start == 0.219 and end > start  # (.5373 + .2394 + .0802 + .0210) / 4


@every_algorithm
def test_each_file_trains_the_tiny_language_model(name):
    done = command(name, "--task", "add", "--steps", "20")
    start, end = rates(done)
    assert done.returncode == 0 and done.stderr == ""
    assert abs(start - 0.3285) < 1e-3 and end > start + 0.15


def test_without_a_task_it_trains_on_each_and_says_that_this_ranks_nothing():
    text = command("rloo", "--steps", "1").stdout
    assert "rloo on modsum" in text and "rloo on add" in text
    assert text.strip().splitlines()[-1].endswith("two such runs do not rank two algorithms.")
    assert "entropy in nats a token" in text


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["sarsa"], "invalid choice: 'sarsa'"),
        (["ppo", "--task", "chess"], "invalid choice: 'chess'"),
        (["ppo", "--steps", "0"], "--steps must be at least 1, not 0"),
        (["ppo", "--steps", "ten"], "invalid int value: 'ten'"),
        (["ppo", "--seed", "-1"], "--seed must be at least 0, not -1"),
        ([], "the following arguments are required: algorithm"),
    ],
)
def test_a_wrong_word_ends_in_a_sentence_and_a_status(words, sentence):
    done = command(*words)
    assert done.returncode == 2 and sentence in done.stderr and "Traceback" not in done.stderr


def test_help_names_the_options_and_every_algorithm():
    text = command("--help").stdout
    assert all(word in text for word in ("--task", "--seed", "--steps", *ALGORITHMS)) and "critic" in text
