"""Each algorithm file is a small patch on the one it comes from: removed and added lines, the docstring apart."""

from difflib import unified_diff
from pathlib import Path

import pytest

from sim import algorithms

FOLDER = Path(algorithms.__file__).parent


def body(name):
    return (FOLDER / f"{name}.py").read_text().split('"""', 2)[2].splitlines()


@pytest.mark.parametrize(
    "predecessor, successor, removed, added",
    [  # counted on the hook table of the algorithms, before the files were written
        ("reinforce", "ppo", 4, 7),
        ("ppo", "grpo", 5, 7),
        ("grpo", "rloo", 10, 5),
        ("grpo", "dapo", 7, 6),
        ("grpo", "dr_grpo", 5, 3),
        ("reinforce", "rloo", 2, 2),
    ],
)
def test_a_file_differs_from_its_predecessor_only_where_the_algorithm_does(predecessor, successor, removed, added):
    changed = [
        line[0]
        for line in unified_diff(body(predecessor), body(successor), n=0, lineterm="")
        if line[0] in "+-" and line[:3] not in ("+++", "---")
    ]
    assert (changed.count("-"), changed.count("+")) == (removed, added)


def test_rloo_is_closer_to_reinforce_than_to_grpo():
    lines = {name: set(body(name)) for name in ("reinforce", "grpo", "rloo")}
    assert len(lines["rloo"] - lines["reinforce"]) < len(lines["rloo"] - lines["grpo"])
