"""Which cause a break is blamed on: among those whose undoing mends it, the one that turns the fewest knobs and mends
it best.

A widget says what is damaged, and what may be to blame together with the knobs that undo it. Whether the undoing mends
the damage is tried here, at the current setting, so no sentence has to claim it; whatever else a sentence asserts is
listed under `facts`. This is meant for closed forms, since every cause costs another run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from widgets.frame.contract import recovery
from widgets.frame.contract.readouts import Break
from widgets.frame.contract.sentences import Claims, Said


@dataclass(frozen=True)
class Cause:
    name: str  # at most six words: what there is to find
    undo: Mapping[str, Any]  # {knob: value} without it
    says: str  # what happened, and why
    facts: Claims = field(default_factory=dict)  # what else the sentence asserts


def blamed(k: Any, damage: Callable[[Any], float], most: float, causes: Sequence[Cause], otherwise: Cause) -> Break:
    """The break at knobs `k`, where `damage(k)` is above `most`; `otherwise` is said where no undoing mends it."""
    tried = [(len(recovery.different(k, cause.undo)), damage(replace(k, **cause.undo)), cause) for cause in causes]
    mending = [one for one in tried if one[1] <= most]
    cause = min(mending, key=lambda one: one[:2])[2] if mending else otherwise
    mends = {"undoing it mends": lambda: damage(replace(k, **cause.undo)) <= most} if mending else {}
    back = recovery.different(k, cause.undo) if mending else None
    return Break(Said(cause.says, {**cause.facts, **mends}), back, cause.name)
