import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from sim import algorithms
from sim.algorithms import ppo
from sim.runs import modsum_run

NAMES = [p.stem for p in sorted(Path(algorithms.__file__).parent.glob("[!_]*.py"))]


def command(name, *words):
    return subprocess.run([sys.executable, "-m", name, *words], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("name", NAMES)
def test_each_file_trains_by_itself_and_says_from_where_to_where(name):
    done = command(f"sim.algorithms.{name}", "--task", "modsum", "--steps", "30", "--seed", "1")
    closing = done.stdout.strip().splitlines()[-1].split()
    start, end = (float(closing[closing.index("rate") + n]) for n in (1, 5))
    assert done.returncode == 0 and done.stderr == ""
    assert start == 0.219 and end > start               # (.5373 + .2394 + .0802 + .0210) / 4


@pytest.mark.parametrize("words, sentence", [
    (["--task", "chess"], "invalid choice: 'chess'"),
    (["--steps", "0"], "--steps must be at least 1, not 0"),
    (["--steps", "ten"], "invalid int value: 'ten'"),
    (["--seed", "-1"], "--seed must be at least 0, not -1"),
])
def test_a_wrong_option_ends_in_a_sentence_and_a_status(words, sentence):
    done = command("sim.algorithms.ppo", *words)
    assert done.returncode == 2 and sentence in done.stderr and "Traceback" not in done.stderr


def test_help_names_the_options_and_the_algorithm():
    text = command("sim.algorithms.ppo", "--help").stdout
    assert all(option in text for option in ("--task", "--seed", "--steps")) and "critic" in text


def test_the_framework_shows_one_iteration():
    done = command("sim.framework")
    assert done.returncode == 0 and [line.split()[0] for line in done.stdout.splitlines()] == list("1234567")


def test_only_an_algorithm_that_asks_for_a_critic_has_one():
    for name in NAMES:
        file = import_module(f"sim.algorithms.{name}")
        assert (modsum_run(file).critic is not None) == ("lam" in file.HP)


def test_a_critic_with_rate_zero_expects_nothing():
    run = modsum_run(ppo, critic_rate=0.0)
    for event in run.iterate(3):
        if event.role == "rollout":
            batch = event.summary["batch"]
    assert np.count_nonzero(run.critic.table) == 0 and np.count_nonzero(batch.value) == 0
