"""Logs of DPO: named, and read for what they hold. Rafailov et al. (2023), arXiv:2305.18290: at the start the loss is
ln 2, and margins are 0.

Accuracy alone does not tell: it can be 0.78 in a destroyed model, so the log-prob of the chosen answers is looked at.
"""

import numpy as np

from rlpt.doctor.curves import first_lasting, neighbors, rise, window
from rlpt.doctor.marks import Fact, event, shown

WORDS = dict(
    accuracy="The fraction of pairs that are ranked correctly",
    margin="The margin",
    chosen="The log-prob of the chosen answer",
    loss="The loss",
)
HIGH_LOSS = 1.5 * np.log(2)
SOON = 5  # rows
LONG = 20  # rows, from which on a slow change is looked for


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
        elif (fall := slow_fall(chosen, run.at("margin"))) is not None:
            place, first, last = fall
            seen.append(
                event(run, "chosen falls", place, f"from {shown(first)} to {shown(last)} nats at the end", "chosen")
            )
    if not of_another_loss(loss):
        seen += loss_events(run, loss)
    return sorted(seen, key=lambda each: each.place)


def loss_events(run, loss):
    known = loss[np.isfinite(loss)]
    high = known > HIGH_LOSS
    if len(known) > SOON and high.mean() >= 0.25 and known.max() > 3 * np.log(2):
        says = f"above 1.5 × ln 2 in {high.mean():.0%} of the rows, and {shown(known.max())} at most"
        yield event(run, "loss jumps", int(np.flatnonzero(loss > HIGH_LOSS)[0]), says, "loss")
    elif (place := first_lasting(loss > HIGH_LOSS, np.isfinite(loss))) is not None:
        yield event(run, "loss up", place, f"{shown(loss[place])}, above the ln 2 at which it begins", "loss")


def slow_fall(chosen, margin):
    """(place, first, last) of log-probs that surely end a tenth lower than they began, while the margin surely rises;
    else None.
    """
    change, gain = (rise(values, neighbors(values)) for values in (chosen, margin))
    values = chosen[np.isfinite(chosen)]
    if change is None or gain is None or len(values) < LONG or gain[0] <= 3 * gain[1]:
        return None
    first = float(values[: window(len(values))].mean())
    if -change[0] < max(abs(first) / 10, 1.0, 4 * change[1]):
        return None
    half = np.convolve(chosen, np.ones(5) / 5, mode="same") < first + change[0] / 2
    return int(np.argmax(half)), first, first + change[0]


def undecided(run):
    """(place, detail) where the accuracy stays at one half and the margin at 0 to the end; else None."""
    accuracy, margin = (run.at(name)[np.isfinite(run.at(name))] for name in ("accuracy", "margin"))
    if min(len(accuracy), len(margin)) < LONG:
        return None
    for part in (accuracy, accuracy[-len(accuracy) // 3 :]):
        if abs(part.mean() - 0.5) > max(2 * part.std(ddof=1) / np.sqrt(len(part)), 0.02):
            return None
    late = margin[-len(margin) // 3 :]
    error = late.std(ddof=1) / np.sqrt(len(late))
    if late.mean() > 2 * error:
        return None
    says = f"{accuracy.mean():.0%} of the pairs are ranked correctly, and in the last third the margin is "
    return 0, f"{says}{shown(late.mean())} ± {shown(error)}"


def of_another_loss(loss):
    """Whether it begins above 1.5 ln 2 and falls, as of IPO, ORPO and sums with a loss of the chosen answers."""
    seen = loss[np.isfinite(loss)]
    if len(seen) < 4 or seen[0] <= HIGH_LOSS:
        return False
    late = np.median(seen[-len(seen) // 4 :])
    halved = seen[0] > 2 * np.log(2) and late < seen[0] / 2
    return bool(halved or (late < seen[0] and seen.max() < 1.2 * seen[0]))


def signs(run, seen):
    """(name, place, detail, quantity) of what the events are consistent with."""
    if not seen:
        if found := undecided(run):
            yield "pairs undecided", *found, "accuracy"
        return
    first = seen[0]
    accuracy = run.at("accuracy")
    end = np.nanmean(accuracy[-max(1, len(accuracy) // 5) :])
    kinds = {each.kind for each in seen}
    destroyed = kinds & {"loss up", "loss jumps"} or first.place < SOON or end < 0.6
    what = "the log-prob of the chosen answers went" if first.kind == "chosen falls" else "the loss is"
    says = f"{what} {first.says}"
    yield "pairs destroyed" if destroyed else "chosen less likely", first.place, says, first.quantity
