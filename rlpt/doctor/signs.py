"""What has to hold for each sign: events in their order, and what the reward and the scorers did meanwhile.

It is not a model: conditions and thresholds. A wreck is a reward that is lost for good while something else moves.
"""

from dataclasses import dataclass

import numpy as np

from rlpt.doctor import facts
from rlpt.doctor.curves import ALIKE, neighbors, rise, window
from rlpt.doctor.marks import LIMIT, NEAR, shown

MEANWHILE = {
    "completions longer": "completions became longer",
    "completions shorter": "completions became shorter",
    "entropy rises": "the entropy rose",
    "entropy falls": "the entropy fell",
    "entropy jumps": "the entropy collapsed",
    "KL is large": "the KL became large",
    "KL jumps": "the KL jumped",
    "cut off": "many completions were cut off",
    "gradient spike": "the gradient spiked",
}
COMPANIONS = tuple(MEANWHILE)
ENDINGS = ("most groups alike", "gradient 0")
ALL_CUT = 0.9  # of the completions of one batch, which is enough
IMPOSSIBLE = 15.0  # nats per token: a vocabulary of three million has a logarithm of 15
FULL = 0.9  # of a score's maximum of 1: it has no room to rise
LEAST = 5  # batches that a reward which never differs, and groups without a difference, are looked for in


@dataclass(frozen=True)
class Diagnosis:
    name: str  # of words.SIGNS
    place: int
    step: float
    says: str
    quantity: str  # the curve on which its onset is marked
    column: str = ""
    aside: bool = False  # a state that was there before a fault and did not hinder what was learned


class Seen:
    """Events by kind."""

    def __init__(self, found):
        self.all = found

    def of(self, *kinds, lasting=True):
        return [event for event in self.all if event.kind in kinds and (event.lasting or not lasting)]

    def first(self, *kinds, lasting=True):
        return next(iter(self.of(*kinds, lasting=lasting)), None)


def sign(run, name, place, detail="", quantity="reward", column="", aside=False):
    return Diagnosis(name, int(place), float(run.batches[int(place)]), detail, quantity, column, aside)


def infrastructure(run, seen):
    for kind, name in (("gap", "gap"), ("gap grows", "stale"), ("no number", "no number")):
        if event := seen.first(kind):
            says = event.says if kind == "no number" else f"the gap is {event.says}"
            yield sign(run, name, event.place, says, event.quantity)
    if not run.rose and any(fact.alarm for fact in facts.tiny_rate(run)):
        yield sign(run, "rate", 0, "", "learning_rate")
    elif (t := facts.stopped(run)) is not None:
        says = f"the learning rate is exactly 0 in the last {len(run) - t} batches"
        yield sign(run, "stopped", t, says, "learning_rate")


def impossible_kl(run):
    """A KL per token in the first rows that is above the logarithm of any vocabulary."""
    first = run.at("kl")[:3]
    if len(first) and np.isfinite(first[0]) and first[0] > IMPOSSIBLE:
        yield sign(run, "reference", 0, f"the KL is {shown(first[0])} nats per token in the first row", "kl")


def lost_gradient(run):
    """Groups differ, and the gradient is exactly 0 in every row."""
    norm, share = run.found.curves.get("gradient_norm"), run.at("zero_variance")
    if norm is None or norm.values.any() or len(norm.values) < 2 or not np.isfinite(share).any():
        return
    if (alike := np.nanmean(share)) < 0.9:
        yield sign(run, "lost gradient", 0, f"rewards differ in {1 - alike:.0%} of the groups", "gradient_norm")


def no_advantage(run):
    """verl: the scores of a batch differ, and its largest and smallest advantage are 0."""
    ends = [run.found.names.get(f"critic/advantages/{end}") for end in ("max", "min")]
    none = all(end is not None and len(end.values) > 1 and not any(end.values) for end in ends)
    if none and run.has("reward_sd") and np.any(run.deviation > ALIKE):
        yield sign(run, "no advantage", 0, "the largest and the smallest advantage are 0 in every row", "reward")


def never_differs(run):
    """A reward that is the same for all completions from batch 1 on."""
    values = run.reward[np.isfinite(run.reward)]
    if not len(values) or np.any(values != values[0]) or (run.has("reward_sd") and not run.alike.all()):
        return
    cut = run.begin("cut_off")
    if values[0] <= 0 and cut is not None and cut >= (LIMIT["cut_off"] if len(values) >= LEAST else ALL_CUT):
        yield sign(run, "truncation", 0, f"{cut:.0%} of the first completions are cut off", "cut_off")
    elif values[0] <= 0 and (cap := one_length(run)) is not None:
        says = f"every batch has completions of {shown(cap)} tokens, which can only be the limit"
        yield sign(run, "truncation", 0, says, "length")
    elif values[0] > 0 and run.has("zero_variance") and np.all(run.at("zero_variance") == 1):
        yield sign(run, "easy", 0, f"every completion gets a reward of {shown(values[0])}", "zero_variance")
    elif len(values) >= LEAST:
        yield sign(run, "verifier", 0, f"the reward is {shown(values[0])}", "reward")


def one_length(run):
    """The length of all completions, where it is the same in every one of three batches or more."""
    length = run.at("length")
    return float(length[0]) if len(length) >= 3 and length[0] >= 8 and np.all(length == length[0]) else None


def uniform_groups(run, seen, lost):
    """Groups without a difference from the beginning on, before the reward is lost."""
    if run.rose or not run.has("reward") or np.all(run.alike):
        return
    gone = [e.place for e in seen.of("KL is large", "KL jumps", "entropy jumps")]
    end = min([len(run), *gone, *([lost.place] if lost else [])])
    aside = lost is not None and (easy(run) or learned_before(run, lost))
    name = "easy" if easy(run) else "groups"
    if run.has("zero_variance"):
        share = run.at("zero_variance")[: min(10, end)]
        share = share[np.isfinite(share)]
        need = 0.85 if lost and not aside else LIMIT["uniform"]
        if len(share) >= LEAST and share[0] >= 0.5 and share.mean() >= need:
            says = f"all rewards are equal in {share.mean():.0%} of the groups in the first {len(share)} batches"
            yield sign(run, name, 0, says, "zero_variance", aside=aside)
    elif run.has("reward_sd"):
        agree = run.agree[: min(20, end)]
        if len(agree) >= 2 * LEAST and agree.mean() >= 0.3:
            who = "within each group all rewards are equal" if run.grouped else "all completions get the same reward"
            detail = f"in {agree.mean():.0%} of the first {len(agree)} batches {who}"
            yield sign(run, name, 0, detail, "reward_sd", aside=aside)


def learned_before(run, lost):
    """Whether ten batches before a loss lie surely above the first ones."""
    known = run.reward[: lost.place]
    known = known[np.isfinite(known)]
    if len(known) < 20 or not run.scale:
        return False
    best = np.convolve(known, np.ones(10) / 10, mode="valid").max()
    return bool(best - known[:10].mean() > max(LIMIT["fall"] * run.scale, 4 * run.noise * np.sqrt(0.2)))


def easy(run):
    """Whether groups agree and the first rewards lie in the upper half of what a reward can be, as far as the log shows
    it, and 0 to 1 at least: the answers are right, not wrong.
    """
    share = run.at("zero_variance")[:10] if run.has("zero_variance") else run.agree[:20].astype(float)
    known = run.reward[np.isfinite(run.reward)]
    if len(known) < 4 or not np.isfinite(share).any() or not np.ptp(known):
        return False
    if np.nanmean(share) < (0.5 if run.has("zero_variance") else 0.3):
        return False
    first = known[: max(1, min(10, len(known) // 4))].mean()
    low, high = min(0.0, known.min()), max(1.0, known.max())
    return bool((first - low) / (high - low) > 0.5)


def spell(run, seen, wreck):
    """A reward that is lost while something else moves, and comes back."""
    for lost in seen.of("reward falls", lasting=False):
        if lost.lasting or (wreck and lost.place >= wreck.place - NEAR):
            continue
        before, window = run.reward[max(0, lost.place - 5) : lost.place].mean(), run.reward[lost.place :][:NEAR]
        low = min(window[t : t + 3].mean() for t in range(max(1, len(window) - 2)))
        floor = min(0.0, float(np.nanmin(run.reward)))
        beside = [e.kind for e in seen.of(*COMPANIONS, lasting=False) if abs(e.place - lost.place) <= NEAR // 2]
        beside += moved(run, lost.place)
        if low - floor <= 0.25 * (before - floor) and beside:
            end = shown(last_fifth(run.reward))
            says = f"the reward went from {shown(before)} to {shown(low)} and is {end} at the end{meanwhile(beside)}"
            return sign(run, "spell", lost.place, says, "reward")
    return None


def moved(run, place):
    """“completions longer” and the like: what halved or doubled in the three batches from a place on."""
    found = []
    for name, kinds in (
        ("length", ("completions shorter", "completions longer")),
        ("entropy", ("entropy falls", "entropy rises")),
    ):
        values = run.at(name)
        before, after = values[max(0, place - 5) : place], values[place : place + 3]
        if np.isfinite(before).any() and np.isfinite(after).any() and np.nanmedian(before) > 0:
            times = float(np.nanmedian(after) / np.nanmedian(before))
            found += [kinds[times > 1]] if not 0.5 < times < 2 else []
    return found


def wrecked(run, seen):
    """The reward falls or dies for good, and something else moves from three batches before on."""
    for lost in seen.of("reward falls", "reward dies"):
        beside = [e for e in seen.of(*COMPANIONS, lasting=False) if e.place >= lost.place - 3]
        kinds = [e.kind for e in beside] or moved(run, lost.place)
        if kinds or [e for e in seen.of(*ENDINGS) if e.place >= lost.place - 3]:
            before = [e.place for e in beside if e.place <= lost.place]
            place = min([lost.place, *before])
            says = f"{in_words(lost)}{meanwhile(kinds)}{at_that_row(run, place)}"
            return sign(run, "step", place, says, lost.quantity)
    if lost := seen.first("reward falls"):
        return sign(run, "fell", lost.place, in_words(lost), "reward")
    return None


def in_words(lost):
    """How the reward was lost, as a sentence."""
    return f"the reward fell {lost.says.partition(', by')[0]}" if lost.kind == "reward falls" else lost.says


def meanwhile(kinds):
    """A further sentence with what else happened, or nothing."""
    if not (told := [MEANWHILE[kind] for kind in dict.fromkeys(kinds)]):
        return ""
    *others, last = told
    return f". Meanwhile, {', '.join(others)} and {last}" if others else f". Meanwhile, {last}"


def at_that_row(run, place):
    """Rate and gradient norm of a row, for a wreck that is not in the first ten; and a rate that has just risen."""
    values = [
        f"the {text} is {shown(run.at(name)[place])}"
        for name, text in (("learning_rate", "learning rate"), ("gradient_norm", "gradient norm"))
        if place >= 10 and np.isfinite(run.at(name)[place])
    ]
    if jump := rate_jump(run, place):
        values[:1] = [f"the learning rate has just gone from {shown(jump[0])} to {shown(jump[1])}"]
    return f". In that row, {' and '.join(values)}" if values else ""


def rate_jump(run, place):
    """(before, after) of a learning rate that trebles from one row to the next within ten batches before a place."""
    rate = run.at("learning_rate")
    for t in range(place, max(10, place - NEAR), -1):
        if rate[t] > 3 * rate[t - 1] > 0:
            return float(rate[t - 1]), float(rate[t])
    return None


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


def left_behind(run, scorer):
    """Whether a scorer that had room to rise did not, and gained surely less than a third of what the reward did."""
    gain, values = gained(run, scorer), scorer.curve.values
    full = values.max() <= 1 and values[:3].mean() > FULL
    return not full and gain is not None and gain[0] <= 2 * gain[1] and less_than_a_third(run, scorer)


def paid_for_else(run, scores, seen):
    """The reward rose, or one of its functions, and what was not trained on fell, or was left behind."""
    taken_over = risen_functions(run, scores)
    if not run.rose and not taken_over:
        return
    for each in scores.scorers:
        fell = [e for e in seen.of("held-out score falls") if e.column == each.name]
        if not each.trained and (fell or (run.rose and left_behind(run, each))):
            rises = [e.place for e in seen.of("reward rises", "completions longer", "cut off") if e.place]
            first = min(rises or [e.place for e in fell], default=0)
            values = each.curve.values
            detail = f"“{each.name}” went from {shown(values[0])} to {shown(values[-2:].mean())}"
            if not run.rose:
                detail += f" while “{taken_over[0]}” rose"
            yield sign(run, "hacked", first, detail, "reward", each.name)


def risen_functions(run, scores):
    """The columns of the reward functions with a weight that surely rose."""
    found = []
    for each, weight in scores.weights.items():
        values = np.array(run.found.names[scores.columns[each]].values)
        change = rise(values, neighbors(values)) if weight > 0 and len(values) >= 20 else None
        if change and change[0] > max(LIMIT["held_out"], 3 * change[1]):
            found.append(scores.columns[each])
    return found


def traded(run, scores):
    """Of several reward functions one falls to less than half, surely, while the reward does not fall."""
    if len(scores.columns) < 2 or run.rise is None or run.rise[0] < 0:
        return
    for each, name in scores.columns.items():
        values = np.array(run.found.names[name].values)
        change = rise(values, neighbors(values)) if len(values) >= 20 and scores.weights.get(each, 1) > 0 else None
        first = values[:5].mean() if change else 0
        if change and first > 0 and -change[0] > max(first / 2, LIMIT["held_out"], 3 * change[1]):
            says = f"“{name}” went from {shown(first)} to {shown(values[-5:].mean())}"
            yield sign(
                run, "traded", run.batch_of(run.found.names[name].steps[int(np.argmax(values < first / 2))]), says
            )


def kept_behind(run, scorer):
    """Whether other prompts gained surely less than half of what those that are trained on did, both from their first
    three values on.
    """
    values, known = scorer.curve.values, run.reward[np.isfinite(run.reward)]
    if len(values) < 6 or len(known) < 20:
        return False
    fifth = len(known) // 5
    gain = known[-fifth:].mean() - known[:3].mean()
    other, error = values[-3:].mean() - values[:3].mean(), neighbors(values) * np.sqrt(2 / 3)
    return bool(gain > 3 * run.noise * np.sqrt(1 / 3 + 1 / fifth) and other + 2 * error < gain / 2)


def memorized(run, scores, seen):
    if run.rose:
        for each in scores.scorers:
            if each.trained and (less_than_a_third(run, each) or kept_behind(run, each)):
                values = each.curve.values
                detail = f"“{each.name}” went from {shown(values[0])} to {shown(values[-2:].mean())}"
                yield sign(run, "memorized", seen.first("reward rises").place, detail, "reward", each.name)


def last_fifth(values):
    known = values[np.isfinite(values)]
    return float(known[-max(1, len(known) // 5) :].mean()) if len(known) else np.nan


def length_paid(run, scores, seen, lost):
    if lost:
        return
    longer, cut = seen.first("completions longer"), seen.first("cut off")
    if longer and run.rose and not any(not each.trained for each in scores.scorers):
        capped = cut and last_fifth(run.at("cut_off")) >= LIMIT["cut_off"]
        if capped or last_fifth(run.at("length")) >= 3 * run.begin("length"):
            yield sign(run, "length", longer.place, f"completion length went to {longer.says}", "length")
            return
    if cut is None or (run.has("reward") and np.all(run.reward == run.reward[0])):
        return
    if last_fifth(run.at("cut_off")) < LIMIT["cut_off"]:
        return  # they learn to end
    if (run.begin("cut_off") or 0) >= LIMIT["cut_off"] or run.rose or len(run) < 20:
        yield sign(run, "cut off", cut.place, cut.says, "cut_off", aside=cut.place == 0)
    elif last_fifth(run.at("cut_off")) >= 0.5:  # it came later, and the reward did not ask for it
        entropy = run.at("entropy")
        says = f"{last_fifth(run.at('cut_off')):.0%} of the completions reach the length limit at the end"
        if run.begin("entropy") and last_fifth(entropy) < LIMIT["half"] * run.begin("entropy"):
            says += f"; the entropy is {shown(last_fifth(entropy) / run.begin('entropy'))} times its initial value"
        yield sign(run, "endless", cut.place, says, "cut_off")


def far(run, seen, lost):
    if lost:
        return
    if jump := seen.first("entropy jumps", "KL jumps"):
        yield sign(run, "jump", jump.place, f"{jump.kind}: {jump.says}", jump.quantity)
    elif (large := seen.first("KL is large")) and run.has("reward") and not run.rose:
        yield sign(run, "far", large.place, f"the KL is {large.says}", "kl")


def outweighed(run, seen):
    if run.rise is None or run.rose:
        return
    # of a batch that is used once the logged loss is β × the KL in any run: what counts is how large that is
    coefficient = facts.coefficient(run)
    if (
        coefficient is not None
        and coefficient[0] > 0
        and coefficient[0] * np.nanmax(run.at("kl")) >= 0.2 * (run.scale or 0)
    ):
        yield sign(run, "penalty", 0, f"the loss is {shown(coefficient[0])} × the KL", "kl")
    elif back := seen.first("KL returns"):
        yield sign(run, "penalty", back.place, f"the KL fell {back.says}", "kl")


def narrower(run, seen, wreck):
    down = seen.first("entropy falls")
    if wreck or run.rose or easy(run) or down is None or len(run) < 20 or run.rise is None or not run.scale:
        return
    better, error = run.rise[0] / run.scale, run.rise[1] / run.scale
    left = last_fifth(run.at("entropy")) / run.begin("entropy")
    if better + 2 * error < 0.35 or (better < 0.35 and left <= 1 / 3):
        detail = (
            f"the entropy is {shown(left)} times its initial value, and the reward changed by {shown(better)} ± "
            f"{shown(error)} standard deviations"
        )
        yield sign(run, "narrower", down.place, detail, "entropy")


def declined(run, others):
    """The reward surely falls over the whole run, too slowly for an edge."""
    if others or run.rise is None or not run.scale or len(run) < 20:
        return []
    if run.rise[0] > -max(LIMIT["fall"] * run.scale, 3 * run.rise[1]):
        return []
    known = run.reward[np.isfinite(run.reward)]
    first = float(known[: window(len(known))].mean())
    return [sign(run, "declined", 0, f"the reward went from {shown(first)} to {shown(first + run.rise[0])}", "reward")]


def drift(run, seen, others):
    """The policy moves and the reward does not; one that is near its top cannot rise."""
    kinds = ("completions longer", "completions shorter", "entropy rises", "entropy falls", "cut off")
    moves = sorted(seen.of(*kinds), key=lambda event: event.place)
    if not others and moves and not easy(run) and run.rise is not None and not run.rose and len(run) >= 20:
        return [sign(run, "drift", moves[0].place, f"{moves[0].kind}: {moves[0].says}", moves[0].quantity)]
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
