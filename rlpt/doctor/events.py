"""Changes of a run in time: each is searched over the whole run, and its onset is where it begins.

It is not a model: comparisons with the beginning. Those of the reward are in `reward`, the thresholds in `marks`.
"""

import numpy as np

from rlpt.doctor import curves, reward
from rlpt.doctor.marks import LIMIT, event, shown
from rlpt.metric_names import QUANTITIES


def found(run, scorers=()):
    """All Events of a run in their order in time."""
    asked = (gaps, gone, reward.dies, groups, lengths, entropies, jump_entropy, jump_kl, kl_large, kl_returns)
    seen = [event for ask in (*asked, cut_off, gradient_zero, spike) for event in ask(run)]
    for scorer in scorers:
        seen += reward.held_out_falls(run, scorer)
    seen += reward.rises(run)
    falls = reward.falls(run, seen)
    return sorted([*seen, *falls], key=lambda event: event.place)


def lasting(run, name, mask, kind, says):
    values = run.at(name)
    place = curves.first_lasting(mask & np.isfinite(values), np.isfinite(values))
    if place is not None:
        yield event(run, kind, place, says(values[place]), name)


def against_beginning(run, name, kind, times, below=False):
    begin = run.begin(name)
    if begin and begin > 0:
        with np.errstate(invalid="ignore"):
            ratio = run.at(name) / begin

        def says(value):
            return f"{shown(value)} {QUANTITIES[name].unit}, {shown(value / begin)} times the initial value"

        yield from lasting(run, name, ratio <= times if below else ratio >= times, kind, says)


def lengths(run):
    yield from against_beginning(run, "length", "completions longer", LIMIT["longer"])
    yield from against_beginning(run, "length", "completions shorter", LIMIT["half"], below=True)


def entropies(run):
    yield from against_beginning(run, "entropy", "entropy rises", LIMIT["wider"])
    yield from against_beginning(run, "entropy", "entropy falls", LIMIT["half"], below=True)


def groups(run):
    if run.has("zero_variance"):
        share = run.at("zero_variance")

        def says(value):
            return f"in {value:.0%} of the groups all rewards are equal"

        yield from lasting(run, "zero_variance", share >= LIMIT["uniform"], "most groups alike", says)


def first_update(run):
    """Whether the first row is the first update, and a row an update."""
    return run.unit == "step" and run.found.every == 1 and run.found.steps[0] <= 1


def jump_entropy(run):
    values, begin = run.at("entropy"), run.begin("entropy")
    if not (first_update(run) and len(run) >= 7 and begin):
        return
    if values[2] < LIMIT["jump"] * begin and np.nanmax(values[2:7]) < LIMIT["half"] * begin:
        says = f"after two steps it is {shown(values[2] / begin)} times the initial value"
        yield event(run, "entropy jumps", 1, says, "entropy")


def jump_kl(run):
    if not (first_update(run) and run.has("kl", "length") and len(run) >= 7):
        return
    whole = run.at("kl") * run.at("length")  # nats a completion
    known = whole[np.isfinite(whole)]
    if len(known) < len(whole) or known.max() <= 0:
        return
    most, last = known.max(), known[-max(1, len(known) // 5) :].mean()
    gained = known[2] - known[0]
    if gained > LIMIT["jump_kl"] * most and known[2:7].min() > 0.4 * most and last > LIMIT["jump_kl"] * most:
        yield event(run, "KL jumps", 1, f"{shown(gained / most)} of its maximum was reached in two steps", "kl")


def kl_large(run):
    if run.has("kl"):
        unit = run.begin("entropy") or 1.0

        def says(value):
            beside = f", and the entropy per token was {shown(unit)}" if run.begin("entropy") else ""
            return f"{shown(value)} nats per token{beside}"

        yield from lasting(run, "kl", run.at("kl") > LIMIT["large"] * unit, "KL is large", says)


def kl_returns(run):
    values = run.at("kl")
    values = values[np.isfinite(values)]
    if len(values) >= 10:
        fifth = len(values) // 5
        late, most = values[-fifth:].mean(), values[: len(values) // 2].max()
        if most > 0 and late < most / 10 and late < values[:fifth].mean() / 4:
            place = int(values[: len(values) // 2].argmax())
            yield event(run, "KL returns", place, f"from {shown(most)} to {shown(late)} nats per token", "kl")


def cut_off(run):
    if run.has("cut_off"):

        def says(value):
            return f"{value:.0%} of the completions reach the length limit"

        yield from lasting(run, "cut_off", run.at("cut_off") >= LIMIT["cut_off"], "cut off", says)


def gradient_zero(run):
    if run.has("gradient_norm"):
        yield from lasting(
            run, "gradient_norm", run.at("gradient_norm") == 0, "gradient 0", lambda value: "the norm is exactly 0"
        )


def spike(run):
    if not run.has("gradient_norm"):
        return
    curve = run.found.curves["gradient_norm"]
    values, usual = curve.values, np.median(curve.values)
    for n in range(20, len(values)):
        before = np.median(values[n - 20 : n])
        if values[n] > LIMIT["spike"] * max(before, usual) > 0:
            times = values[n] / max(before, usual)
            place = run.batch_of(curve.steps[n])
            yield event(run, "gradient spike", place, f"{shown(times)} times its recent median", "gradient_norm", False)
            return


def gone(run):
    """Of what tells that a run diverged, if it had numbers before: one alone may be a summary's row."""
    names = run.found.names
    told = [each for each in run.found.gone if each[0] in ("loss", "reward", "gradient_norm", "kl")]
    for quantity, name, since in [each for each in told if names[each[1]].steps and names[each[1]].trailing > 1][:1]:
        says = f"“{name[:40]}” is NaN, null or infinite to the end"
        yield event(run, "no number", run.batch_of(since), says, quantity)


def gaps(run):
    if not run.has("gap"):
        return
    curve = run.found.curves["gap"]
    first = curve.values[0]
    if first_update(run) and curve.steps[0] == run.found.steps[0] and first > LIMIT["gap"]:
        yield event(run, "gap", 0, f"{shown(first)} nats per token in the first row", "gap")
    late = curve.values[5:]
    if len(late) >= 5 and late.mean() > max(LIMIT["gap_late"], LIMIT["gap_growth"] * first):
        place = run.batch_of(curve.steps[5:][(late > LIMIT["gap_late"]).argmax()])
        yield event(run, "gap grows", place, f"{shown(late.mean())} nats per token from row 6 on", "gap")
