"""Logs of DPO: named, and read for what they hold. Rafailov et al. (2023), arXiv:2305.18290: at the start the loss is
ln 2, and margins are 0.

Accuracy alone does not tell: it can be 0.78 in a destroyed model, so the log-prob of the chosen answers is looked at.
"""

import numpy as np

from rlpt.doctor.curves import first_lasting
from rlpt.doctor.marks import Fact, event, shown

WORDS = dict(
    accuracy="The fraction of pairs that are ranked correctly",
    margin="The margin",
    chosen="The log-prob of the chosen answer",
    loss="The loss",
)
HIGH_LOSS = 1.5 * np.log(2)
SOON = 5  # rows


def facts(run):
    for name, says in WORDS.items():
        if curve := run.found.curves.get(name):
            values, steps = curve.values, curve.steps
            end = values[-max(1, len(values) // 5) :].mean()
            sentence = f"{says} went from {shown(values[0])} in the first row to {shown(end)} at the end."
            yield Fact(sentence, False, (float(steps[0]), float(steps[-1])), name)


def events(run):
    seen = []
    chosen, loss = run.at("chosen"), run.at("loss")
    if run.has("chosen") and np.isfinite(chosen[0]):
        below = chosen < chosen[0] - max(abs(chosen[0]) / 2, 1.0)
        if (place := first_lasting(below, np.isfinite(chosen))) is not None:
            seen.append(
                event(run, "chosen falls", place, f"from {shown(chosen[0])} to {shown(chosen[place])} nats", "chosen")
            )
    if not of_another_loss(loss) and (place := first_lasting(loss > HIGH_LOSS, np.isfinite(loss))) is not None:
        seen.append(event(run, "loss up", place, f"{shown(loss[place])}, above the ln 2 at which it begins", "loss"))
    return sorted(seen, key=lambda each: each.place)


def of_another_loss(loss):
    """Whether it begins far above ln 2 and falls to less than half, as that of IPO does where all is well."""
    seen = loss[np.isfinite(loss)]
    return len(seen) > 3 and seen[0] > HIGH_LOSS and np.median(seen[-len(seen) // 4 :]) < seen[0] / 2


def signs(run, seen):
    """(name, place, detail, quantity) of what the events are consistent with."""
    if not seen:
        return
    first = seen[0]
    accuracy = run.at("accuracy")
    end = np.nanmean(accuracy[-max(1, len(accuracy) // 5) :])
    kinds = {each.kind for each in seen}
    destroyed = "loss up" in kinds or first.place < SOON or end < 0.6
    yield "pairs destroyed" if destroyed else "chosen less likely", first.place, first.says, first.quantity
