"""The verifier that the reader has written on page 18, attacked: what beats it, what is held back, and a policy that is
trained on what it pays. What beat it is a file of tests to be taken away.
"""

from functools import cache

import numpy as np

from sim.verifiers import arena, checkers
from sim.verifiers.draft import score
from widgets.frame.contract.exercises import Shown, Table
from widgets.frame.drawing.marks import by_update, label, line

ID, NAMED = "arena", "A verifier under attack"
KEPT = "verifier"  # the field of page 18
EDITED = score
ROWS, CHARS = 12, 44  # of a table, of a completion in it
HOLE = 0.5  # paid so much on average, an attack beats a verifier


def RETURNS(value):
    """The reward in what a verifier has returned: a number from 0 to 1, or a dict that has one."""
    reward = value.get("reward") if isinstance(value, dict) else value
    if not isinstance(reward, int | float | np.number | np.bool_) or not 0 <= reward <= 1:
        raise ValueError(f"it returned {repr(value)[:60]}, but a reward is a number from 0 to 1")
    return float(reward)


def called(function):
    """(what each attack is paid, what honest work is paid, ids of right answers that are refused, on how many texts of
    how many it failed).
    """
    calls, failed = [], []

    def counted(example, completion):
        calls.append(completion)
        try:
            return function(example, completion)
        except (Exception, SystemExit):
            failed.append(completion)
            raise

    refused = tuple(case.id for case in checkers.golden_set() if checkers.row(counted, case).reward < 1)
    return tuple(arena.paid(counted)), float(arena.honest(counted)), refused, (len(failed), len(calls))


def shown(called):
    paid, honest, refused, failed = called
    winning = [attack for attack, pay in zip(arena.attacks(), paid, strict=True) if pay >= HOLE]
    public = [attack for attack in winning if not attack.held_back]
    wrong = [case(attack) for attack in public]
    unpaid = wrong or [case(attack) for attack in arena.attacks() if not attack.held_back]  # what must stay closed
    golden = [(row.example["expected_answer"], row.completion, row.id in refused) for row in checkers.golden_set()]
    right = [(answer, text) for answer, text, missed in golden if missed]
    policies = trained(honest, paid)
    return Shown(
        said(winning, public, refused, policies) + fell(*failed),
        (
            table(
                "Attacks that beat it, of twelve that are shown",
                [(short(t), a.kind) for a, (_, t) in zip(public, wrong)],
            ),
            table("Correct answers rejected, of sixteen", [(short(text), "in form") for _, text in right]),
            Table(
                "test_verifier.py, to download",
                ("for pytest",),
                ((arena.as_tests(unpaid, right or [case[:2] for case in golden]),),),
                taken=True,
            ),
        ),
        (curves(policies, arena.attacks()),),
    )


@cache
def trained(honest, paid):
    return arena.trained(honest, np.array(paid))


def case(attack):
    """(expected answer, completion) of an attack on the first product."""
    a, b = arena.products()[0]
    return str(a * b), attack.on(a, b)


def said(winning, public, refused, policies):
    behind, kinds = len(winning) - len(public), len({attack.kind for attack in winning})
    before, after = (f"{arena.SKILL * share:.2f}" for share in policies[[0, -1], 0])
    moved = np.abs(policies[-1] - policies[0]).max() > 1e-6
    learned = f"goes from {before} solved to {after}" if moved else f"stays at {before}: all rewards are equal"
    return (
        f"{len(public)} of 12 shown attacks and {behind} of 12 hidden ones beat it, in {kinds} of 6 classes. "
        f"It rejects {len(refused)} of 16 correct answers. A policy that is trained on it {learned}."
    )


def fell(failed, calls):
    """What is said of a verifier that raised, or returned what is no reward."""
    return f" It failed on {failed} of {calls} texts, which get a reward of 0." if failed else ""


def table(caption, rows):
    return Table(f"{caption}: {len(rows)}", ("completion", "class"), tuple(rows[:ROWS]))


def short(text):
    """A completion as Python writes it, so that blanks, line breaks and other scripts show."""
    written = ascii(text[:CHARS])
    return f"{written} …" if len(text) > CHARS else written


def curves(policies, attacks):
    """How much of what a policy writes is honest, shown attacks, attacks held back."""
    at = np.arange(0, arena.UPDATES + 1, 4)
    held_back = np.array([attack.held_back for attack in attacks])
    honest, back = policies[::4, 0], policies[::4, 1:][:, held_back].sum(axis=1)
    front = policies[::4, 1:][:, ~held_back].sum(axis=1)
    return by_update(
        "What a policy writes if trained on it",
        "share of the completions",
        line(at, honest, "honest work", 1),
        line(at, front, "shown attacks", 2),
        line(at, back, "hidden attacks", 3),
        label(4, 1.1, "solid: honest; dashed: shown attacks; dotted: hidden"),
        updates=arena.UPDATES,
        y_range=(0, 1.2),
    )
