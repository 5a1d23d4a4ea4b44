"""What an event and a fact are, and every threshold that events are found by.

All thresholds but those of a gap, of a share and of a KL are relative to the run's own beginning. It is not a model.
"""

from dataclasses import dataclass

import numpy as np

LIMITS = {  # words and number of each threshold
    "fall": ("fall of the reward, in standard deviations", 0.3),
    "fall_alone": ("fall of the reward if nothing else happens, in standard deviations", 0.6),
    "errors": ("change of the reward, in standard errors", 3.0),
    "alike": ("share of batches to the end in which every completion gets the same reward", 0.9),
    "uniform": ("share of groups in which all rewards are equal", 0.6),
    "longer": ("length, if it rises, over its initial value", 2.0),
    "wider": ("entropy, if it rises, over its initial value", 1.5),
    "half": ("length or entropy, if it falls, over its initial value", 0.5),
    "jump": ("entropy in batch 3 over its initial value", 0.4),
    "jump_kl": ("KL times length gained by batch 3, as a share of its maximum", 0.5),
    "large": ("KL per token over the initial entropy per token", 3.0),
    "cut_off": ("share of completions that are cut off", 0.2),
    "spike": ("gradient norm over the median of the 20 rows before it", 10.0),
    "held_out": ("fall of a held-out score that has few values", 0.1),
    "gap": ("gap in the first row, in nats per token", 0.04),
    "gap_late": ("mean gap from row 6 on, in nats per token", 0.1),
    "gap_growth": ("mean gap from row 6 on, over the gap in the first row", 3.0),
}
LIMIT = {name: value for name, (_, value) in LIMITS.items()}
NEAR = 10  # batches: a fall with no other event this near is alone


@dataclass(frozen=True)
class Event:
    kind: str
    place: int  # the batch of its onset
    step: float
    says: str
    quantity: str  # the curve that it is seen in; "" for one of the completions
    lasting: bool = True
    column: str = ""  # of a held-out score


def event(run, kind, place, says, quantity, lasting=True, column=""):
    return Event(kind, int(place), float(run.batches[int(place)]), says, quantity, lasting, column)


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
