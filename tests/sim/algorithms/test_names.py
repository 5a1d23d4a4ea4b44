from pathlib import Path

from sim import algorithms
from sim.algorithms.names import FILES


def test_every_algorithm_file_has_a_name():
    there = {file.stem for file in Path(algorithms.__file__).parent.glob("[!_]*.py")}
    assert {file.__name__.rpartition(".")[2] for file in FILES.values()} == there - {"names", "published", "recipes"}
