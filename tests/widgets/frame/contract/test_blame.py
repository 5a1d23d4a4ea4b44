"""A break is blamed on what mends it when undone, and on as little as does."""

from dataclasses import dataclass

import pytest

from widgets.frame.contract.blame import Cause, blamed


@dataclass(frozen=True)
class Knobs:
    load: float = 9.0
    hurry: float = 5.0


def damage(k):
    return k.load + k.hurry


LOAD, HURRY = Cause("too much", dict(load=0.0), "Too much."), Cause("too fast", dict(hurry=0.0), "Too fast.")
BOTH = Cause("both", LOAD.undo | HURRY.undo, "Both.")


@pytest.mark.parametrize(
    ("most", "name", "back"),
    [
        (10, "too much", dict(load=0.0)),  # either mends, this one better
        (7, "too much", dict(load=0.0)),
        (3, "both", dict(load=0.0, hurry=0.0)),
        (-1, "too fast", None),  # nothing mends
    ],
)
def test_the_cause_whose_undoing_mends_with_fewest_knobs_is_blamed(most, name, back):
    break_ = blamed(Knobs(), damage, most, [BOTH, HURRY, LOAD], otherwise=HURRY)
    assert (break_.cause, break_.fix) == (name, back)
    assert all(claim() for claim in break_.why.claims.values())


def test_a_knob_that_is_undone_already_is_not_turned_back():
    assert blamed(Knobs(hurry=0.0), damage, 3, [BOTH], otherwise=BOTH).fix == dict(load=0.0)
