"""The mutants: one thing changed at a time, nothing that only says something, and what no test notices is told."""

import ast
import shutil
import subprocess
import sys

import pytest

import build
from tools import mutate
from tools.runtime import files


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("a < b", {"a <= b"}),
        ("a == b", {"a != b"}),
        ("a in b", {"a not in b"}),
        ("a + b", {"a - b"}),
        ("a * b", {"a / b"}),
        ("a // b", {"a / b"}),
        ("a ** b", {"a * b"}),
        ("a and b", {"a or b"}),
        ("-a", {"+a"}),
        ("not a", {"not not a"}),
        ("a[1]", {"2", "0"}),
        ("f(keepdims=True)", {"False"}),
        ("a.mean()", {"a.sum"}),
        ("max(a)", {"min"}),
        ("a if b else c", set()),
    ],
)
def test_each_kind_of_expression_gets_its_mutants(code, changed):
    assert {new for _, _, new in mutate.mutants(code)} == changed


def test_an_axis_argument_is_mutated_to_the_other_axis():
    assert [new for _, _, new in mutate.mutants("a.std(axis=1)") if new.startswith("axis")] == ["axis=0"]
    assert [new for _, _, new in mutate.mutants("a.std(axis=0)") if new.startswith("axis")] == ["axis=1"]


def test_docstrings_annotations_and_messages_are_not_mutated():
    silent = '''
"""Docstring 1."""

def f(x: int = None) -> float:
    """1 + 1."""
    if x is None:
        raise ValueError(f"{x + 1} of {2}" + "less")
    return f"{x * 2}"
'''
    assert [(old, new) for _, old, new in mutate.mutants(silent)] == [("x is None", "x is not None")]


def test_the_number_of_a_mutant_always_means_the_same_change():
    source = "def f(a, b):\n    return (a + b) * 2 if a < b else -a\n"
    assert ast.unparse(ast.parse(source)) not in (changed := {ast.unparse(mutate.mutant(source, n)) for n in range(6)})
    assert len(changed) == len(mutate.mutants(source)) == 6  # <, *, +, 2 up and down, the sign


@pytest.mark.when_changed()
def test_a_mutant_that_no_test_notices_is_printed_with_its_line_and_exit_status_1(tmp_path):
    files.write(tmp_path / "sim" / "kl.py", "def k1(a, b):\n    return a - b\n\n\ndef sign(a):\n    return a > 0\n")
    files.write(
        tmp_path / "tests" / "sim" / "test_kl.py", "from sim import kl\n\ndef test_k1():\n    assert kl.k1(3, 1) == 2\n"
    )
    files.write(tmp_path / "pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["."]\n')
    (tmp_path / "tools").mkdir()
    shutil.copy(build.ROOT / "tools" / "mutate.py", tmp_path / "tools")

    def run(*words):
        command = [sys.executable, "-X", "utf8", "-m", "tools.mutate", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")

    before = (tmp_path / "sim" / "kl.py").read_bytes()
    done = run("sim/kl.py")
    assert done.stdout.splitlines() == [
        "sim/kl.py:6  a > 0  →  a >= 0",
        "sim/kl.py:6  0  →  1",
        "sim/kl.py:6  0  →  -1",
        "sim/kl.py: 3 of 4 survive",
    ]
    assert done.returncode == 1 and (tmp_path / "sim" / "kl.py").read_bytes() == before
    files.write(
        tmp_path / "tests" / "sim" / "test_kl.py", "from sim import kl\n\ndef test():\n    assert kl.k1(3, 1) == 3\n"
    )
    assert "fails as it is" in run("sim/kl.py").stdout
    assert "has no test of its own" in run("sim/gone.py").stderr
    assert "git cannot say what has changed" in run("--base", "main").stderr
