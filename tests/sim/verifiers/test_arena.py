"""Attacks on a verifier: none is right, each class is open to a verifier with that flaw, and the tests that are written
fail where they should.
"""

import inspect
import subprocess
import sys

import numpy as np
import pytest

from sim.verifiers import arena, checkers
from sim.verifiers.draft import score as draft
from sim.worlds import scorer


def test_no_attack_deserves_anything():
    assert arena.paid(scorer.score).tolist() == [0.0] * 24
    assert arena.honest(scorer.score) == pytest.approx(0.6)  # right six times in ten, and in form
    assert len({attack.on(17, 19) for attack in arena.attacks()}) == 24


def test_half_of_each_class_is_held_back():
    held = [attack.held_back for attack in arena.attacks()]
    assert held == [False, False, True, True] * 6


@pytest.mark.parametrize(
    "name, beaten",
    [
        ("substring", {"several answers", "task handed back", "answer in passing", "another spelling"}),
        ("last_int", {"several answers", "task handed back", "another spelling"}),
        ("eval_expr", {"task handed back"}),
        ("any_line", {"several answers"}),
    ],
)
def test_a_flaw_opens_the_class_that_is_about_it(name, beaten):
    paid = arena.paid(checkers.CHECKERS[name])
    assert beaten <= {attack.kind for attack, pay in zip(arena.attacks(), paid) if pay}


def test_what_the_draft_pays():
    # by hand: digits between blanks after the first "Final:", one of which is the answer
    paid = {attack.text for attack, pay in zip(arena.attacks(), arena.paid(draft)) if pay}
    assert paid == {
        "Final: {less} {x} {more}",
        "Final: {x}\nFinal: {more}",
        "Final: {x} or {more}",
        "Final: {more}\nFinal: {x}",
        "Final:\u00a0{x}",
    }


def test_digits_of_other_scripts_are_those_digits():
    wide, arabic = (arena.fields(17, 19)[name] for name in ("wide", "arabic"))
    assert int(wide) == int(arabic) == 323 and not wide.isascii() and not arabic.isascii()


def test_a_policy_finds_one_hole_and_without_any_works_honestly():
    none, one = np.zeros(24), np.arange(24) == 5
    assert arena.trained(0.6, none)[-1, 0] == pytest.approx(1, abs=1e-6)
    assert arena.trained(0.6, one.astype(float))[-1, 6] == pytest.approx(1, abs=1e-6)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "emscripten", reason="a page starts no processes")
@pytest.mark.parametrize("wrong, failed", [("Final: 41 42", 1), ("Final: 43", 0)])
def test_the_tests_that_are_written_run_and_fail_where_a_verifier_does(tmp_path, wrong, failed):
    (tmp_path / "verifier.py").write_text(inspect.getsource(draft))
    (tmp_path / "test_verifier.py").write_text(arena.as_tests([("42", wrong)], [("42", "Final: 42")]))
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "test_verifier.py"], cwd=tmp_path, capture_output=True)
    assert done.returncode == failed and f"{2 - failed} passed" in done.stdout.decode()
