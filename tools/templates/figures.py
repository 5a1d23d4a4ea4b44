"""TODO The small figures of the lesson. For now: how a group of completions turns out, by pass rate and by size."""

import numpy as np

from sim.SIM_ROOM import SIM_MODEL
from widgets.frame.drawing.small_figures import Figure, Handle
from widgets.frame.drawing.marks import bars, line, panel

PASS_RATES = (0.01, 0.1, 0.5, 0.9)
SIZES = (2, 4, 8, 16, 32, 64)
P = np.linspace(0.01, 0.99, 99)


def outcomes(p):
    """Groups of eight at one pass rate."""
    shares = [(1 - p) ** 8, SIM_MODEL.informative(p, 8), p**8]
    return [
        panel(
            "Outcomes of a group of eight",
            "probability; closed form",
            bars(["all wrong", "some of both", "all correct"], shares, "outcome", 1),
            y_range=(0, 1.05),
        )
    ]


def mixed(p):
    share = SIM_MODEL.informative(p, 8)
    return f"At a pass rate of {p:g} a group of eight holds both outcomes with probability {share:.3f}."


def groups(K):
    """Groups of one size at every pass rate."""
    share = SIM_MODEL.informative
    return [
        panel(
            "Groups with something to compare",
            "share of groups; closed form",
            *(line(P, share(P, other), f"{other}", 8, "other") for other in SIZES if other != K),
            line(P, share(P, K), f"{K} completions", 1),
            x="pass rate p",
            x_range=(0, 1),
            y_range=(0, 1.05),
        )
    ]


FIGURES = {
    "outcomes": Figure(
        outcomes,
        SIM_MODEL.informative,
        Handle("Pass rate", PASS_RATES, words=tuple(f"{p:g}" for p in PASS_RATES), symbol="p"),
        mixed,
    ),
    "groups": Figure(
        groups,
        SIM_MODEL.informative,
        Handle("Completions", SIZES, start=2, words=tuple(f"{K}" for K in SIZES), symbol="K"),
    ),
}
