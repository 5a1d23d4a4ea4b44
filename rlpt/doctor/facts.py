"""What is read off a log before anything is concluded: one row is enough, and a threshold stands only where a fact is
an alarm.

It is not a model. An Adam step below a rate of 1.2e-9 is less than a float32 rounding (2⁻²⁴) of a weight of 0.02.
"""

import numpy as np

from rlpt.doctor.marks import Fact, shown

TINY_RATE = 1.2e-9
STOPPED = 5  # batches at a rate of 0: a schedule that falls to it ends there
CUT, LONGER = 0.2, 2.0


def found(run, scores, updates=1):
    """All Facts of a run, alarms first; `updates` is how many a batch has."""
    asked = (constant, one_reward, uniform, gradient, rate, numbers, cut_off, length, reference, penalty)
    facts = [fact for ask in asked for fact in ask(run)]
    facts += [*components(run, scores), *unclipped(run, updates), *weights(run, scores), *held_out(run, scores)]
    return alarms_first(facts)


def alarms_first(facts):
    return tuple(sorted(facts, key=lambda fact: not fact.alarm))


def fact(run, says, quantity, alarm=False, first=0, last=-1):
    return Fact(says, alarm, (float(run.batches[first]), float(run.batches[last])), quantity)


def constant(run):
    values = run.reward[np.isfinite(run.reward)]
    if not len(values):
        return
    if len(values) > 1 and np.all(values == values[0]):
        yield fact(run, f"The reward is {shown(values[0])} in every batch.", "reward", True)
        return
    if len(values) == 1:
        yield fact(run, f"The reward is {shown(values[0])} in the one batch.", "reward")
        return
    last = values[-max(1, len(values) // 5) :].mean()
    says = (
        f"The reward went from {shown(values[0])} in the first batch to {shown(last)} at the end (lowest "
        f"{shown(values.min())}, highest {shown(values.max())})."
    )
    yield fact(run, says, "reward")


def since(mask, least=10, share=0.95):
    """The place from which on a mask holds in so many of the places to the end; None where they are too few."""
    if not mask.any():
        return None
    held = np.cumsum(mask[::-1])[::-1] / np.arange(len(mask), 0, -1)
    for t in np.flatnonzero(mask & (held >= share)):
        return int(t) if len(mask) - t >= least else None
    return None


def every(mask, t):
    """`since` allows some exceptions."""
    return "every" if mask[t:].all() else "nearly every"


def one_reward(run):
    alike = run.alike
    if len(run) > 1 and alike.all():
        yield fact(run, "In every batch all completions get the same reward.", "reward_sd", True)
    elif len(run) > 1 and run.agree.all():
        yield fact(run, "In every batch the rewards within each group are equal.", "reward_sd", True)
    elif (t := since(alike)) is not None:
        c, most = np.median(run.reward[t:]), np.nanmax(run.reward[:t]) if t else np.nan
        before = f" The highest mean of a batch before that was {shown(most)}." if t else ""
        since_then = f"From {run.unit} {run.batches[t]:,.0f} on"
        says = f"{since_then}, all completions of {every(alike, t)} batch get the same reward, {shown(c)}.{before}"
        yield fact(run, says, "reward", True, t)


def uniform(run):
    if not run.has("zero_variance"):
        return
    share = run.at("zero_variance")
    if np.all(share == 1):
        where = "In every batch" if len(run) > 1 else "In the one batch"
        yield fact(run, f"{where} the rewards within each group are equal.", "zero_variance", True)
    elif (t := since(share == 1)) is not None:
        says = f"From {run.unit} {run.batches[t]:,.0f} on, {every(share == 1, t)} group has equal rewards."
        yield fact(run, says, "zero_variance", True, t)


def gradient(run):
    curve = run.found.curves.get("gradient_norm")
    if curve is None:
        return
    zero, steps = curve.values == 0, curve.steps

    def rows(t):
        return (float(steps[t]), float(steps[-1]))

    if zero.all():
        many = "every row" if len(zero) > 1 else "the one row"
        yield Fact(f"The gradient is exactly 0 in {many}.", True, rows(0), "gradient_norm")
    elif (t := since(zero)) is not None:
        says = f"From {run.unit} {steps[t]:,.0f} on, the gradient is exactly 0 in {every(zero, t)} row."
        yield Fact(says, True, rows(t), "gradient_norm")
    elif zero.any():
        says = f"The gradient is exactly 0 in {zero.sum():,} of {len(zero):,} rows"
        if explained(run, steps[zero]):
            yield Fact(f"{says}, in most of which all groups have equal rewards.", False, rows(0), "gradient_norm")
        else:
            yield Fact(f"{says}.", bool(zero.mean() >= 0.5), rows(0), "gradient_norm")


def explained(run, steps):
    """Whether uniform groups explain a gradient of 0 in these rows: they agree there, or may, where a row stands for
    several updates and its gradient for one.
    """
    if not run.has("zero_variance"):
        return False
    share = run.at("zero_variance")[[run.batch_of(step) for step in steps]]
    share = share[np.isfinite(share)]
    several = run.found.every > 1 or run.found.unit == "row"
    return bool(len(share)) and bool((share >= 0.999).mean() > 0.9 or (several and np.mean(share) >= 0.5))


def rate(run):
    yield from tiny_rate(run)
    if (t := stopped(run)) is not None:
        says = f"From {run.unit} {run.batches[t]:,.0f} on, the learning rate is exactly 0."
        yield fact(run, says, "learning_rate", True, t)


def tiny_rate(run):
    curve = run.found.curves.get("learning_rate")
    if curve is not None and len(curve.values) >= 10:
        most = curve.values.max()
        if most <= TINY_RATE:  # from ten rows on: warm-up begins at 0
            says = f"The learning rate is never above {shown(most)}."
            yield Fact(says, True, (float(curve.steps[0]), float(curve.steps[-1])), "learning_rate")


def stopped(run):
    """The batch from which on the learning rate is 0, at least five before the end; None without one."""
    zero = run.at("learning_rate") == 0
    if not zero.any() or zero.all() or not zero[-1]:
        return None
    t = len(zero) - int(np.argmin(zero[::-1]))
    return t if len(zero) - t >= STOPPED else None


def numbers(run):
    asked = ("loss", "kl", "entropy", "gradient_norm", "reward")
    for quantity, name, step in run.found.gone:
        says = f"“{name[:40]}” is NaN, null or infinite from {run.unit} {step:,.0f} on."
        last = max(step, float(run.found.steps[-1]))
        known = run.found.names[name].steps or not run.found.curves
        yield Fact(says, quantity in asked and bool(known), (float(step), last), quantity)


def ends(run, name):
    """(beginning, mean of the last fifth, most) of a quantity."""
    values = run.at(name)
    values = values[np.isfinite(values)]
    return run.begin(name), float(values[-max(1, len(values) // 5) :].mean()), float(values.max())


def cut_off(run):
    if run.has("cut_off") and run.begin("cut_off") is not None:
        begin, end, most = ends(run, "cut_off")
        if most > 0:
            what = "The fraction of completions that are cut off"
            says = f"{what} went from {begin:.0%} to {end:.0%} (highest {most:.0%})."
            if f"{begin:.0%}" == f"{end:.0%}":
                says = f"{what} is {begin:.0%} both at the beginning and at the end (highest {most:.0%})."
            if len(run) == 1:
                says = f"{most:.0%} of the completions in the one batch are cut off."
            yield fact(run, says, "cut_off", end >= CUT)


def length(run):
    if run.has("length") and run.begin("length") and len(run) > 1:
        begin, end, _ = ends(run, "length")
        times = end / begin
        how = f"grew to {shown(times)} times" if times >= 1 else f"fell to {shown(times)} times"
        says = f"Completion length {how} its initial value, from {shown(begin)} to {shown(end)} tokens."
        if shown(begin) == shown(end):
            says = f"Completion length was {shown(begin)} tokens both at the beginning and at the end."
        yield fact(run, says, "length", times >= LONGER or times <= 1 / LONGER)


def reference(run):
    curve, norm = run.found.curves.get("kl"), run.found.curves.get("gradient_norm")
    if curve is None or norm is None or len(curve.values) < 3:  # before the first update it is 0 in any run
        return
    if not curve.values.any() and norm.values.max() > 0:
        says = (
            "The KL is exactly 0 in every row, although gradients are not. The reference moves with the policy, or it "
            "is the policy."
        )
        yield Fact(says, True, (float(curve.steps[0]), float(curve.steps[-1])), "kl")


def coefficient(run):
    """(β, relative error) of a loss that is β × the KL; None where it is not."""
    loss, kl = run.found.curves.get("loss"), run.found.curves.get("kl")
    if loss is None or kl is None:
        return None
    _, i, j = np.intersect1d(loss.steps, kl.steps, return_indices=True)
    y, x = loss.values[i], kl.values[j]
    if len(y) < 10 or not x @ x or not y.var():
        return None
    beta = float(x @ y / (x @ x))
    rest = y - beta * x
    if rest.var() >= 0.02 * y.var() or np.abs(beta * x).mean() <= 3 * np.abs(rest).mean():
        return None
    return beta, float(np.abs(rest).mean() / np.abs(y).mean())


def penalty(run):
    if (coefficient_and_error := coefficient(run)) is not None:
        beta, error = coefficient_and_error
        yield fact(run, f"The loss is {shown(beta)} × the KL, to within {error:.0%}.", "loss")


def weights(run, scores):
    if len(scores.weights) > 1:
        total = " + ".join(f"{shown(weight)} × {each}" for each, weight in scores.weights.items())
        unused = "" if all(scores.weights.values()) else " A score with weight 0 was logged, but not trained on."
        yield fact(run, f"The reward is {total}.{unused}", "reward")


def components(run, scores):
    """Of several reward functions: one that never differs, and of a few rows one that falls while the reward rises."""
    if len(scores.columns) < 2:
        return
    for each, name in scores.columns.items():
        column = run.found.names[name]
        values, rows = np.array(column.values), (column.steps[0], column.steps[-1])
        if len(values) < 2 or scores.weights.get(each) == 0:
            continue
        if np.all(values == values[0]):
            says = f"“{name[:60]}” is {shown(values[0])} in every row, so nothing is learned from it."
            yield Fact(says, bool(values[0]), rows, "reward")
        elif len(values) < 20 and values[0] > 0 and values[-1] < values[0] / 2 and run.reward[-1] > run.reward[0]:
            says = f"“{name[:60]}” fell from {shown(values[0])} to {shown(values[-1])} while the reward rose."
            yield Fact(says, True, rows, "reward")


def held_out(run, scores):
    for each in scores.scorers:
        values = each.curve.values
        what = "the training reward on other prompts" if each.trained else "a score that was not trained on"
        says = f"“{each.name}”, {what}, went from {shown(values[0])} to {shown(values[-2:].mean())}."
        yield Fact(says, False, (float(each.curve.steps[0]), float(each.curve.steps[-1])), "held_out")


def unclipped(run, updates):
    curve = run.found.curves.get("clip_fraction")
    if updates > 1 and curve is not None and not curve.values.any():
        says = (
            f"Nothing is clipped in {updates} updates per batch. The clip is out of reach, or the old log-probs are "
            "taken from the policy that is being trained."
        )
        yield Fact(says, True, (float(curve.steps[0]), float(curve.steps[-1])), "clip_fraction")
