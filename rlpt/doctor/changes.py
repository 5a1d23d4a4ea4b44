"""What to change, for each sign: at most two options of the framework whose log it is, with a value from the log where
it has one, and what to expect if the diagnosis is right.

It is not a model: names are those of rlpt/options.py, values come from the rows beside the sign.
"""

from dataclasses import dataclass

import numpy as np

from rlpt import options
from rlpt.doctor import facts, signs
from rlpt.doctor.marks import shown

COLUMN = {"TRL": "GRPOConfig"}  # of the table of options; any other framework is its own
FEW = 256  # completions per step, below which a single unlucky batch can mislead
FEW_BATCHES = 5  # a run that is stopped before has learned nothing
WEIGHT = "weight each token by its probability under the trainer over that under the sampler"
USUAL = 1e-6  # the learning rate that TRL, verl and OpenRLHF begin with


@dataclass(frozen=True)
class Change:
    option: str  # as it is written in the framework, or "" where it has none
    says: str  # what is changed, and to what


@dataclass(frozen=True)
class Advice:
    changes: tuple  # of Change, the first to be tried first
    expect: str  # what the log shows if the diagnosis is right
    excluded: str = ""  # what the log rules out


def advice(report, one):
    """The Advice for one sign of a Report."""
    case = Case(report, one)
    *changes, expect = ADVICE[one.name](case)
    return Advice(tuple(changes), expect, excluded(case))


def excluded(case):
    """One sentence with what else could have been the cause, and is not by this log."""
    run = case.run
    asked = OTHER_CAUSES.get(case.one.name, ())
    found = []
    if (
        "passes" in asked
        and case.per_batch == 1
        and run.found.every == 1
        and run.unit == "step"
        and run.found.framework == "TRL"
    ):
        found.append("several updates on one batch (each row has a new batch)")
    clipped = run.found.curves.get("clip_fraction")
    if "clip" in asked and clipped is not None and not clipped.values.any():
        found.append("the clip (nothing was clipped)")
    if "gap" in asked and (gap := case.value("gap")) is not None and gap < 0.02:
        found.append(f"the sampler (its log-probs are within {shown(gap)} nats of the trainer's)")
    if "cut" in asked and run.has("cut_off") and not np.nansum(run.at("cut_off")):
        found.append("the length limit (no completion is cut off)")
    return f"The log rules out {' and '.join(found)}." if found else ""


class Case:
    """A run, one of its signs, and the words for its framework's options."""

    def __init__(self, report, one):
        self.run, self.one, self.scores = report.run, one, report.scores
        self.place, self.unit = one.place, report.run.unit
        framework = report.found.framework
        of_pairs = framework == "TRL" and report.found.of_preferences
        self.column = "DPOConfig" if of_pairs else COLUMN.get(framework, framework)

    def option(self, quantity, value=None):
        """An option with its value, if there is one, or "" where the framework has no such option."""
        found = options.TABLE[quantity][1].get(self.column)
        if isinstance(found, dict):
            found = found.get(value, "")
        if not found or found.startswith("#"):
            return ""
        return found.partition("{}")[0].rstrip("=: ") if value is None else found.replace("{}", str(value))

    def change(self, quantity, says, value=None):
        if quantity == "steps" and not self.run.found.own_steps:
            value = None  # rows are no steps, nor is what Weights & Biases counts
        return Change(self.option(quantity, value), says)

    def value(self, name, place=None):
        """A quantity beside the sign, or the nearest value before it; None where it has none."""
        values = self.run.at(name)[: (self.place if place is None else place) + 1]
        known = values[np.isfinite(values)]
        return float(known[-1]) if len(known) else None

    @property
    def per_batch(self):
        """Rows of the log for a batch: updates, where each is a row."""
        return max(1, round(len(self.run.found.steps) / max(1, len(self.run))))

    def slower(self):
        """A tenth of the highest rate so far, or the rate before it jumped."""
        if jump := signs.rate_jump(self.run, self.place):
            return self.change("rate", f"back to {shown(jump[0])}, where the reward was stable", written(jump[0]))
        rates = self.run.at("learning_rate")[: self.place + 1]
        if not np.isfinite(rates).any() or not np.nanmax(rates):
            return self.change("rate", "a tenth of the present learning rate")
        most = float(np.nanmax(rates))
        return self.change("rate", f"a tenth of {shown(most)}, the highest learning rate so far", written(most / 10))

    def larger_batch(self):
        size = self.run.size
        if size and size < FEW:
            times = max(2, 2 ** int(np.ceil(np.log2(min(8, FEW / size)))))
            says = f"{times} times as many prompts per step, since an update rests on only {size:.0f} completions"
            return self.change("batch", says)
        noun = "pairs" if self.run.found.of_preferences else "prompts"
        return self.change("batch", f"several times as many {noun} per step, so that each update rests on more of them")

    def held(self):
        """What a stable run would do, from the level before the reward was lost."""
        before = self.run.reward[max(0, self.place - 10) : max(1, self.place)]
        if not np.isfinite(before).any():
            return "The reward does not fall."
        level, low = float(np.nanmean(before)), float(np.nanmin(self.run.reward))
        least, last = shown(level - 0.2 * (level - low)), self.run.batches[min(len(self.run) - 1, 2 * self.place + 10)]
        return f"The reward does not fall below {least} until {self.unit} {last:,.0f}."

    def longer(self):
        cap = self.cap()
        if cap is None:
            return self.change("completion", "twice the present limit")
        return self.change("completion", f"twice the limit, which is {cap:,.0f} tokens here", f"{2 * cap:.0f}")

    def cap(self):
        """The length limit, where the log shows it."""
        for name in ("completions/max_length", "response_length/max"):
            if (column := self.run.found.names.get(name)) and column.values and self.run.has("cut_off"):
                return float(max(column.values))
        if (length := signs.one_length(self.run)) is not None:
            return length
        cut, length = self.run.at("cut_off"), self.run.at("length")
        whole = length[cut >= 0.999]
        return float(np.max(whole)) if len(whole) and np.isfinite(whole).all() else None


def written(rate):
    """A learning rate in one digit."""
    return f"{rate:.0e}"


# ── one function a sign: its changes, and at last what to expect ──
def too_long(case):
    if case.per_batch > 1:
        says = f"one pass over each batch instead of {case.per_batch} updates"
        return case.slower(), case.change("passes", says, 1), case.held()
    return case.slower(), case.larger_batch(), case.held()


def declined(case):
    return case.slower(), case.larger_batch(), "The reward does not fall over the whole run."


def sparse(case):
    easier = Change(
        "", "easier prompts: at a pass rate of one in four, nine in ten groups of eight have rewards that differ"
    )
    expect = "Fewer than half of the groups have equal rewards, and the reward rises within 100 steps."
    return (
        case.change("samples", "16 completions per prompt, so that more groups contain a success", 16),
        easier,
        expect,
    )


def easy(case):
    filtered = case.change("filter", "sample again if all completions of a group are correct", "accuracy")
    harder = Change("", "leave out the prompts that the model always solves")
    changes = (filtered, harder) if filtered.option else (harder,)
    return *changes, "More than half of the groups have rewards that differ."


def verifier(case):
    by_hand = case.change("shown", "score ten completions by hand and compare")
    expect = "Your scores differ from those of the log. If they do not, the task is out of reach: take easier prompts."
    return by_hand, Change("", "give the verifier an answer that you know to be correct"), expect


def cut(case):
    return case.longer(), "Less than a tenth of the completions are cut off."


def endless(case):
    overlong = Change("", "give no reward to a completion that does not end")
    return overlong, case.slower(), "Fewer completions are cut off."


def hacked(case):
    score = case.one.column
    best = case.run.batches[max(0, case.place - 1)]
    stop = case.change(
        "steps", f"stop at {case.unit} {best:,.0f}, fix the reward, and continue from there", f"{best:.0f}"
    )
    if case.place < FEW_BATCHES:
        stop = Change("", "fix the reward, and start over")
    read = Change("", f"read ten completions from the last rows: which of them get a reward although “{score}” is low?")
    return read, stop, f"“{score}” rises together with the fixed reward."


def traded(case):
    expect = "No reward function falls while the sum rises."
    return case.change("weights", "a larger weight for the function that falls"), expect


def long_answers(case):
    own = Change("", "log a score that ignores length, with weight 0")
    return own, "That score does not rise with the reward."


def memorized(case):
    scorer = next((each for each in case.scores.scorers if each.name == case.one.column), None)
    more = Change("", "more prompts, each seen fewer times")
    if scorer is None:
        return more, "The other prompts gain at least half as much."
    best = scorer.curve.steps[int(np.argmax(scorer.curve.values))]
    if case.run.batch_of(best) < FEW_BATCHES:
        return more, "The other prompts gain at least half as much as those that are trained on."
    stop = case.change("steps", f"stop at {case.unit} {best:,.0f}, where other prompts did best", f"{best:.0f}")
    return more, stop, "The other prompts gain at least half as much as those that are trained on."


def gap(case):
    weigh = case.change("correction", WEIGHT, "token ratio, at most 2")
    same = Change("", "sample and train with the same weights, temperature and precision")
    return same, weigh, "The gap in the first row is below 0.02 nats per token."


def stale(case):
    weigh = case.change("correction", WEIGHT, "token ratio, at most 2")
    return (
        weigh,
        Change("", "send the weights to the sampler more often"),
        "The gap stays where it is in the first rows.",
    )


def no_number(case):
    return (
        case.slower(),
        "All values stay finite to the end. If they do not, look at the loss in the row before the first NaN.",
    )


def tiny_rate(case):
    return case.change("rate", f"begin at {USUAL:.0e}", written(USUAL)), "Entropy, length or KL change within 50 steps."


def stopped(case):
    keep = case.change("schedule", "a schedule that does not fall to 0", "constant_with_warmup")
    more = case.change("steps", "more steps, so that the schedule reaches 0 later")
    return more, keep, "The learning rate is above 0 in the last row."


def lost_gradient(case):
    changed = Change("", "compare one trained parameter before and after a step: it must change")
    version = Change("", "try another version of the library that shards or scales the gradients, such as DeepSpeed")
    return changed, version, "The gradient norm is above 0 wherever rewards differ within a group."


def no_advantage(case):
    several = case.change("samples", "eight completions per prompt, because one cannot be compared with others", 8)
    return several, "The largest advantage is above 0."


def broken_kl(case):
    off = case.change("penalty", "no KL term, to see whether the policy learns without it", "0.0")
    return (
        Change("", "load the reference from the weights that training starts from"),
        off,
        "The KL in the first row is below 0.01.",
    )


def outweighs(case):
    coefficient = facts.coefficient(case.run)
    value = shown(coefficient[0] / 10) if coefficient else None
    return case.change(
        "penalty", "a tenth of the present KL coefficient", value
    ), "The KL and the reward rise together."


def narrower(case):
    bonus = case.change("bonus", "a small entropy bonus", 0.001)
    return bonus, case.slower(), "The entropy stays above half of its initial value."


def no_gain(case):
    return case.larger_batch(), case.slower(), "The reward rises by a standard deviation within 100 steps."


def used_up(case):
    stop = case.change("steps", "stop here", f"{case.one.step:.0f}")
    return Change("", "new prompts that the model sometimes solves"), stop, "In most groups, the rewards differ."


def flat(case):
    moves = [name for name in ("entropy", "length") if case.run.has(name) and np.ptp(case.run.at(name)[-5:])]
    if not moves:
        return case.change("rate", "ten times the learning rate"), "Entropy or length change within 50 steps."
    return case.larger_batch(), "The reward rises by a standard deviation within 100 steps."


def destroyed_pairs(case):
    return case.slower(), case.larger_batch(), "The loss stays below ln 2, and the chosen answers keep their log-prob."


def less_likely(case):
    price = case.change("penalty", "a larger β, to keep the policy closer to its reference")
    also = Change("", "add the log-prob of the chosen answers to the loss")
    return also, price, "The log-prob of the chosen answers does not fall below its first value."


def undecided(case):
    swapped = Change("", "read ten pairs: is the better answer the one that is called chosen?")
    faster = case.change("rate", "ten times the learning rate")
    return swapped, faster, "More than six of ten pairs are ranked correctly after 50 steps."


TOO_LONG = ("passes", "clip", "gap")
OTHER_CAUSES = dict.fromkeys(("step", "spell", "fell"), TOO_LONG) | {"verifier": ("cut",), "groups": ("cut",)}
ADVICE = {
    "gap": gap,
    "stale": stale,
    "no number": no_number,
    "rate": tiny_rate,
    "stopped": stopped,
    "lost gradient": lost_gradient,
    "no advantage": no_advantage,
    "reference": broken_kl,
    "truncation": cut,
    "verifier": verifier,
    "groups": sparse,
    "easy": easy,
    "hacked": hacked,
    "traded": traded,
    "memorized": memorized,
    "length": long_answers,
    "cut off": cut,
    "step": too_long,
    "spell": too_long,
    "fell": too_long,
    "declined": declined,
    "endless": endless,
    "jump": too_long,
    "far": too_long,
    "penalty": outweighs,
    "narrower": narrower,
    "drift": no_gain,
    "saturated": used_up,
    "flat": flat,
    "pairs destroyed": destroyed_pairs,
    "pairs undecided": undecided,
    "chosen less likely": less_likely,
}
