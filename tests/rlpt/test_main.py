"""One name for the seven commands: which there are, what is wrong in a sentence, and that help names what was typed."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from rlpt.__main__ import COMMANDS, main
from rlpt.lab import __main__ as lab
from tests import skips

ROOT = Path(__file__).parents[2]
LISTED = "the commands are plan, calibrate, doctor, rollouts, run, framework, pipeline, lab"
LAB = {f"lab {name}": there for name, there in lab.COMMANDS.items()}
LEAVES = {name: there for name, there in COMMANDS.items() if name != "lab"} | LAB
every_command = pytest.mark.parametrize("command", LEAVES)


@pytest.mark.parametrize(
    "words, sentence",
    [
        ([], f"rlpt: a command is missing; {LISTED}"),
        (["docter"], "rlpt: there is no command docter; did you mean doctor?"),
        (["serve"], f"rlpt: there is no command serve; {LISTED}"),
        (["--verbose"], f"rlpt: there is no command --verbose; {LISTED}"),
    ],
)
def test_a_word_that_is_no_command_is_one_sentence_and_status_2(words, sentence, capsys):
    assert main(words) == 2
    assert capsys.readouterr() == ("", f"{sentence}\n")


def test_help_lists_the_commands(capsys):
    assert main(["--help"]) == 0
    shown, wrong = capsys.readouterr()
    assert all(f"  {command} " in shown for command in COMMANDS) and shown.startswith("usage: rlpt ") and not wrong


@every_command
def test_the_help_of_a_command_names_what_was_typed(command, capsys):
    for called, name in (
        (lambda: main([*command.split(), "--help"]), f"rlpt {command}"),
        (lambda: import_module(LEAVES[command][0]).main(["--help"]), "python -m "),
    ):
        with pytest.raises(SystemExit) as end:
            called()
        assert end.value.code == 0 and f"usage: {name}" in capsys.readouterr().out


@every_command
def test_an_option_that_there_is_none_of_is_one_sentence_and_status_2(command, capsys):
    needed = {
        "doctor": ["FILE"],
        "rollouts": ["FILE"],
        "run": ["grpo"],
        "lab compare": ["OLD", "NEW"],
        "lab demo": ["kl"],
    }.get(command, [])
    with pytest.raises(SystemExit) as end:
        main([*command.split(), *needed, "--sed", "3"])
    shown, wrong = capsys.readouterr()
    assert end.value.code == 2 and not shown
    assert wrong.startswith(f"rlpt {command}: unrecognized arguments: --sed 3") and wrong.count("\n") == 1


@skips.processes
def test_the_package_is_a_command_too():
    done = subprocess.run(
        [sys.executable, "-m", "rlpt", "plan", "--gpus", "none"], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "python -m rlpt plan: argument --gpus: must be a whole number from 1 to 8,192, not none\n"
