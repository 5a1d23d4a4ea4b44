from pathlib import Path

from sim import algorithms
from sim.algorithms.names import FILES, FUNCTIONS, differing
from sim.framework.algorithm import HOOKS


def test_every_algorithm_file_has_a_name():
    there = {file.stem for file in Path(algorithms.__file__).parent.glob("[!_]*.py")}
    assert {file.__name__.rpartition(".")[2] for file in FILES.values()} == there - {
        "names",
        "options",
        "published",
        "recipes",
    }


def test_the_functions_are_those_that_the_framework_asks_for():
    assert FUNCTIONS == HOOKS


def test_rloo_is_reinforce_with_another_advantage_and_a_file_does_not_differ_from_itself():
    assert differing(FILES["RLOO"], FILES["REINFORCE"]) == ["advantage"]
    assert differing(FILES["DAPO"], FILES["GRPO"]) == ["shape_reward", "keep_group", "surrogate", "weights", "kl_term"]
    assert all(differing(file, file) == [] for file in FILES.values())
