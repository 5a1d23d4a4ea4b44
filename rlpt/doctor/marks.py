"""What an event and a fact are, and every threshold that events are found by.

All thresholds but those of a gap, of a share and of a KL are relative to the run's own beginning. It is not a model.
"""

from dataclasses import dataclass

import numpy as np

LIMITS = {  # words and number of each threshold
    "fall": ("the reward falls by, deviations", 0.3),
    "fall_alone": ("and where nothing else happens, by", 0.6),
    "errors": ("standard errors of a change", 3.0),
    "alike": ("batches with one reward for all, of those to the end", 0.9),
    "uniform": ("groups with one reward for all, share", 0.6),
    "longer": ("length or KL times length up, times the beginning", 2.0),
    "wider": ("entropy up, times the beginning", 1.5),
    "half": ("length or entropy down, times the beginning", 0.5),
    "jump": ("entropy in batch 3, times the beginning", 0.4),
    "jump_kl": ("KL times length gained by batch 3, of its most", 0.5),
    "large": ("KL a token, times the entropy of a token at the beginning", 3.0),
    "cut_off": ("completions cut off, share", 0.2),
    "spike": ("gradient norm, times the median of the 20 rows before", 10.0),
    "held_out": ("held-out score with few values falls by", 0.1),
    "gap": ("gap in the first row, nats a token", 0.04),
    "gap_late": ("gap from row 6 on, nats a token", 0.1),
    "gap_growth": ("and times the first row", 3.0),
}
LIMIT = {name: value for name, (_, value) in LIMITS.items()}
NEAR = 10  # batches: a fall with no other event this near is alone


@dataclass(frozen=True)
class Event:
    kind: str
    place: int  # the batch of its onset
    step: float
    says: str
    quantity: str  # the curve that it is seen in
    lasting: bool = True
    column: str = ""  # of a held-out score
    times: float = 0.0  # how far it went, in its own measure


def event(run, kind, place, says, quantity, lasting=True, column="", times=0.0):
    return Event(kind, int(place), float(run.batches[int(place)]), says, quantity, lasting, column, times)


def shown(value):
    """A number in few digits."""
    if abs(value) == np.inf:
        return "∞" if value > 0 else "-∞"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"


@dataclass(frozen=True)
class Fact:
    """What is read off, and needs neither a threshold nor a cause; one with `alarm` should not be so."""

    says: str
    alarm: bool
    rows: tuple  # the first and the last step that it is read off
    quantity: str  # the curve that it is seen in
