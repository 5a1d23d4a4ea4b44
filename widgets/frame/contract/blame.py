"""Which cause a break is blamed on: of those whose undoing mends it, the one that turns fewest knobs and mends it best.

A widget says what is damaged, and what may be to blame with the knobs that undo it. That the undoing mends is tried
here, at the very setting, so no sentence has to claim it; what else a sentence asserts stands under `facts`. For
closed forms: every cause costs another run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from widgets.frame.contract import recovery
from widgets.frame.contract.readouts import Break
from widgets.frame.contract.sentences import Claims, Said


@dataclass(frozen=True)
class Cause:
    name: str  # at most six words, what there is to find
    undo: Mapping[str, Any]  # {knob: value} without it
    says: str  # what happened, and because of what
    facts: Claims = field(default_factory=dict)  # what the sentence asserts besides


def blamed(k: Any, damage: Callable[[Any], float], most: float, causes: Sequence[Cause], otherwise: Cause) -> Break:
    """The break at knobs `k`, where `damage(k)` is above `most`; `otherwise` is said where no undoing mends it."""
    tried = [(len(recovery.different(k, cause.undo)), damage(replace(k, **cause.undo)), cause) for cause in causes]
    mending = [one for one in tried if one[1] <= most]
    cause = min(mending, key=lambda one: one[:2])[2] if mending else otherwise
    mends = {"undoing it mends": lambda: damage(replace(k, **cause.undo)) <= most} if mending else {}
    back = recovery.different(k, cause.undo) if mending else None
    return Break(Said(cause.says, {**cause.facts, **mends}), back, cause.name)
