"""TODO A function that the reader writes, and what is shown of it. For now: a share of groups, beside the exact one."""

import numpy as np

from sim.estimators import attempts
from widgets.frame.contract.exercises import Shown, Table
from widgets.frame.drawing.marks import label, line, panel

ID = "WIDGET_NAME"  # the fence `own` of the page names it
NAMED = "A share of groups"  # TODO what the reader writes, in two or three words
PASS_RATES = np.linspace(0.02, 0.98, 49)
K = 8


def share(p, K):
    """TODO The chance that K completions of one prompt are neither all correct nor all wrong. This one is wrong."""
    return 1 - p**K


EDITED = share


def RETURNS(value):
    """What a call gives back, or the sentence that says what it should be."""
    if not isinstance(value, int | float | np.number) or not 0 <= value <= 1:
        raise ValueError(f"it returned {repr(value)[:60]}, and a share is a number from 0 to 1")
    return float(value)


def called(function):
    """The reader's function at every pass rate; all calls are made in here."""
    return [function(float(p), K) for p in PASS_RATES]


def shown(called):
    exact = attempts.informative(PASS_RATES, K)
    far = float(np.abs(np.array(called) - exact).max())
    rows = tuple((f"{PASS_RATES[i]:.2f}", f"{called[i]:.3f}", f"{exact[i]:.3f}") for i in (0, 12, 24, 36, 48))
    return Shown(
        f"At the farthest, it is {far:.3f} away from the exact share.",
        (Table(f"Groups of {K}", ("pass rate", "share", "exact"), rows),),
        (
            panel(
                "Groups with something to compare",
                f"share of groups of {K}",
                line(PASS_RATES, exact, "exact", 8, "reference"),
                line(PASS_RATES, called, "share", 1),
                label(0.5, 0.02, "exact", 8, "center"),
                x="pass rate p",
                x_range=(0, 1),
                y_range=(0, 1.05),
            ),
        ),
    )
