"""What has to hold for each sign: events in their order, and what the reward and the scorers did meanwhile.

It is not a model: conditions and thresholds. A wreck is a reward that is lost for good while something else moves.
"""

from dataclasses import dataclass

import numpy as np

from rlpt.doctor import facts
from rlpt.doctor.curves import neighbors, rise
from rlpt.doctor.marks import LIMIT, NEAR, shown

COMPANIONS = (
    *("length up", "length down", "entropy up", "entropy down", "entropy jumps"),
    *("KL is large", "KL jumps", "cut off", "gradient spike"),
)
ENDINGS = ("groups uniform", "gradient 0")
LEAST = 5  # batches that a reward which never differs, and groups without a difference, are looked for in


@dataclass(frozen=True)
class Diagnosis:
    name: str  # of words.SIGNS
    place: int
    step: float
    says: str
    quantity: str  # the curve on which its onset is marked
    column: str = ""


class Seen:
    """Events by kind."""

    def __init__(self, found):
        self.all = found

    def of(self, *kinds, lasting=True):
        return [event for event in self.all if event.kind in kinds and (event.lasting or not lasting)]

    def first(self, *kinds, lasting=True):
        return next(iter(self.of(*kinds, lasting=lasting)), None)


def sign(run, name, place, detail="", quantity="reward", column=""):
    return Diagnosis(name, int(place), float(run.batches[int(place)]), detail, quantity, column)


def infrastructure(run, seen):
    for kind, name in (("gap", "gap"), ("gap grows", "stale"), ("no number", "no number")):
        if event := seen.first(kind):
            says = event.says if kind == "no number" else f"the gap is {event.says}"
            yield sign(run, name, event.place, says, event.quantity)
    if any(facts.rate(run)) and any(fact.alarm for fact in facts.rate(run)):
        yield sign(run, "rate", 0, "", "learning_rate")


def never_differs(run, seen):
    """A reward that is the same for all completions from batch 1 on."""
    values = run.reward[np.isfinite(run.reward)]
    if len(values) < LEAST or np.any(values != values[0]) or (run.has("reward_sd") and not run.alike.all()):
        return
    cut = run.begin("cut_off")
    if cut is not None and cut >= LIMIT["cut_off"] and values[0] <= 0:
        yield sign(run, "truncation", 0, f"{cut:.0%} of the first completions are cut off", "cut_off")
    else:
        yield sign(run, "verifier", 0, f"the reward is {shown(values[0])}", "reward")


def uniform_groups(run, seen, wreck):
    """Groups without a difference from the beginning on, before any wreck."""
    if run.rose or not run.has("reward") or np.all(run.alike):
        return
    gone = [e.place for e in seen.of("KL is large", "KL jumps", "entropy jumps")]
    end = min([len(run), *gone, *([wreck.place] if wreck else [])])
    if run.has("zero_variance"):
        share = run.at("zero_variance")[: min(10, end)]
        share = share[np.isfinite(share)]
        need = 0.85 if wreck else LIMIT["uniform"]
        if len(share) >= LEAST and share[0] >= 0.5 and share.mean() >= need:
            yield sign(
                run,
                "groups",
                0,
                f"all rewards are equal in {share.mean():.0%} of the groups in the first {len(share)} batches",
                "zero_variance",
            )
    elif run.has("reward_sd"):
        alike = run.alike[: min(20, end)]
        if len(alike) >= 2 * LEAST and alike.mean() >= 0.3:
            detail = f"in {alike.mean():.0%} of the first {len(alike)} batches all completions get the same reward"
            yield sign(run, "groups", 0, detail, "reward_sd")


def wrecked(run, seen):
    """The reward falls or dies for good, and something else moves from three batches before on."""
    for lost in seen.of("reward falls", "reward dies"):
        beside = [e for e in seen.of(*COMPANIONS, lasting=False) if e.place >= lost.place - 3]
        if beside or [e for e in seen.of(*ENDINGS) if e.place >= lost.place - 3]:
            before = [e.place for e in beside if e.place <= lost.place]
            place = min([lost.place, *before])
            moved = ", ".join(dict.fromkeys(e.kind for e in beside)) or "nothing else in the log"
            says = f"{in_words(lost)}; at the same time: {moved}{at_that_row(run, place)}"
            return sign(run, "step", place, says, lost.quantity)
    if lost := seen.first("reward falls"):
        return sign(run, "fell", lost.place, in_words(lost), "reward")
    return None


def in_words(lost):
    """How the reward was lost, as a sentence."""
    return f"the reward fell {lost.says}" if lost.kind == "reward falls" else lost.says


def at_that_row(run, place):
    """Rate and gradient norm of a row, for a wreck that is not in the first ten."""
    values = [
        f"{text} {shown(run.at(name)[place])}"
        for name, text in (("learning_rate", "learning rate"), ("gradient_norm", "gradient norm"))
        if place >= 10 and run.has(name)
    ]
    return "; in that row " + ", ".join(values) if values else ""


def gained(run, scorer):
    """(gain of a scorer, its standard error), in its own deviations."""
    values = scorer.curve.values
    if len(values) < 4:
        return None
    p = float(np.clip(values, 0, 1).mean())
    scale = max(0.2, np.sqrt(p * (1 - p)))
    change, error = rise(values, neighbors(values))
    return change / scale, error / scale


def less_than_a_third(run, scorer):
    """Whether a scorer gained surely less than a third of what the reward did, each in its own deviations."""
    if (gain := gained(run, scorer)) is None or not run.scale:
        return False
    return gain[0] + 2 * gain[1] < run.rise[0] / run.scale / 3


def paid_for_else(run, scores, seen):
    """The reward rose, and what was not trained on fell, or gained little."""
    if not run.rose:
        return
    for each in scores.scorers:
        fell = [e for e in seen.of("held-out falls") if e.column == each.name]
        if not each.trained and (fell or less_than_a_third(run, each)):
            first = min(e.place for e in seen.of("reward rises", "length up", "cut off"))
            values = each.curve.values
            detail = f"“{each.name}” went from {shown(values[0])} to {shown(values[-2:].mean())}"
            yield sign(run, "hacked", first, detail, "reward", each.name)


def memorized(run, scores, seen):
    if run.rose:
        for each in scores.scorers:
            if each.trained and less_than_a_third(run, each):
                values = each.curve.values
                detail = f"“{each.name}” went from {shown(values[0])} to {shown(values[-2:].mean())}"
                yield sign(run, "memorized", seen.first("reward rises").place, detail, "reward", each.name)


def last_fifth(values):
    return float(np.nanmean(values[-max(1, len(values) // 5) :]))


def length_paid(run, scores, seen, wreck):
    if wreck:
        return
    longer, cut = seen.first("length up"), seen.first("cut off")
    if longer and run.rose and not any(not each.trained for each in scores.scorers):
        capped = cut and last_fifth(run.at("cut_off")) >= LIMIT["cut_off"]
        if capped or last_fifth(run.at("length")) >= 3 * run.begin("length"):
            yield sign(run, "length", longer.place, f"completion length went to {longer.says}", "length")
            return
    if cut and not (run.has("reward") and np.all(run.reward == run.reward[0])):
        yield sign(run, "cut off", cut.place, cut.says, "cut_off")


def far(run, seen, wreck):
    if wreck:
        return
    if jump := seen.first("entropy jumps", "KL jumps"):
        yield sign(run, "jump", jump.place, f"{jump.kind}: {jump.says}", jump.quantity)
    elif (large := seen.first("KL is large")) and not run.rose:
        yield sign(run, "far", large.place, f"the KL is {large.says}", "kl")


def outweighed(run, seen):
    if run.rise is None or run.rose:
        return
    if (coefficient := facts.coefficient(run)) is not None:
        yield sign(run, "penalty", 0, f"the loss is {shown(coefficient[0])} × the KL", "kl")
    elif back := seen.first("KL returns"):
        yield sign(run, "penalty", back.place, f"the KL fell {back.says}", "kl")


def narrower(run, seen, wreck):
    down = seen.first("entropy down")
    if wreck or down is None or len(run) < 20 or run.rise is None or not run.scale:
        return
    better, error = run.rise[0] / run.scale, run.rise[1] / run.scale
    left = last_fifth(run.at("entropy")) / run.begin("entropy")
    if better + 2 * error < 0.35 or (better < 0.35 and left <= 1 / 3):
        detail = (
            f"entropy {shown(left)} times the initial value, reward higher by {shown(better)} ± {shown(error)} "
            "standard deviations"
        )
        yield sign(run, "narrower", down.place, detail, "entropy")


def drift(run, seen, others):
    """The policy moves and the reward does not."""
    moved = seen.first("length up", "length down", "entropy up", "entropy down")
    if not others and moved and run.rise is not None and not run.rose and len(run) >= 20:
        return [sign(run, "drift", moved.place, f"{moved.kind}: {moved.says}", moved.quantity)]
    return []


def saturated(run, seen, others):
    """A fact and no fault: one reward to the end, and nothing else before it or near it."""
    event = seen.first("reward saturates")
    t = event.place if event else None
    if t is None and run.has("zero_variance"):
        t = facts.since(run.at("zero_variance") >= 0.95)
    if not t or any(one.place <= t + NEAR for one in others):
        return []
    says = event.says if event else "in nearly all groups all rewards are equal"
    return [sign(run, "saturated", t, says, "reward" if event else "zero_variance")]


def flat(run, others):
    """The reward surely did not rise."""
    if others or run.rise is None or not run.scale or len(run) < 100:
        return []
    if (run.rise[0] + 2 * run.rise[1]) / run.scale < 0.2:
        return [sign(run, "flat", len(run) - 1, rise_in_words(run), "reward")]
    return []


def rise_in_words(run):
    change, error = (part / run.scale for part in run.rise)
    return f"it changed by {shown(change)} ± {shown(error)} standard deviations"
