"""What is said of one step of a run, for the page and the terminal alike: its headline, its facts, the commonest forms
of its texts, and whom it pushes. Counting, not a model.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from rlpt.rollouts.shown import column, figure, number, on_a_line, pattern, phrase_words, quoted, short, visible
from sim.rollouts import findings, groups, marks, pushes, repeats, shapes
from sim.rollouts.blocks import some_groups
from sim.words import counted, plural

OFTEN = 0.25  # of a step, one text
LONGEST = 4_000  # characters of a text that is shown
FACTS = 5


@dataclass(frozen=True)
class Fact:
    """`big` is the number, `says` the rest of the sentence, `more` one line of detail; `rows` are places in the run."""

    key: str
    big: str
    says: str
    more: str = ""
    alarm: bool = False
    rows: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))


# ── the headline ──
def headline(seen):
    """(what the trainer sees, what it does not), two sentences; the second may be empty."""
    n, numbers = len(seen.rows), seen.numbers
    at = f"Step {seen.step}"
    if seen.paid is None:
        texts = f", {counted(numbers.distinct, 'different text')}" if n > 1 else ""
        return f"{at}: {counted(n, 'completion')}{texts}.", beyond(seen) if seen.right is not None else ""
    paid = int(seen.paid.sum())
    if n == 1 and seen.binary:
        first = f"{at}: the only completion is {'paid' if paid else 'not paid'}."
    elif seen.binary:
        first = f"{at}: {f'{paid:,}' if paid else 'none'} of {n:,} {'is' if paid < 2 else 'are'} paid."
    else:
        first = f"{at}: the mean reward is {figure(numbers.reward)}."
    return first, beyond(seen)


def beyond(seen):
    """What the mean of the rewards does not show."""
    n, numbers = len(seen.rows), seen.numbers
    if seen.right is not None:
        right = int(seen.right.sum())
        verb = plural(max(right, 1), "is", "are")
        if marks.CORRECT.search(seen.score):
            return f"{number(right)} {verb} correct."
        return f"{number(right)} {plural(max(right, 1), 'has', 'have')} full marks in {column(seen.score)}."
    if numbers.commonest >= OFTEN * n and numbers.commonest > 1:
        return f"{number(numbers.commonest)} are the same text."
    if numbers.cut and numbers.cut >= findings.CUT_SHARE * n:
        many = f"All {n:,}" if 1 < numbers.cut == n else number(numbers.cut)
        return f"{many} {plural(numbers.cut, 'is', 'are')} cut off."
    tied = sum(numbers.tied.values())
    return f"{tied:,} of {counted(numbers.groups, 'group')} {plural(tied, 'teaches', 'teach')} nothing." if tied else ""


# ── the facts of a step ──
def facts(seen):
    """The Facts of a step, alarms first, at most five; the last says whose advantages the log has."""
    found = [one for rule in (wrong, phrase, two_rewards, one_text, cut, loops, tied) if (one := rule(seen))]
    found.sort(key=lambda one: not one.alarm)
    return [*found[: FACTS - 1], *whose(seen.report)]


def fires(seen, *names):
    return any(one.name in names for one in seen.report.findings)


def wrong(seen):
    if seen.right is None or seen.paid is None:
        return None
    rows, paid = seen.rows[seen.paid & ~seen.right], int(seen.paid.sum())
    if not len(rows):
        return None
    return Fact(
        "wrong",
        f"{len(rows):,}",
        f"of {paid:,} paid {plural(len(rows), 'is', 'are')} not {right_word(seen)}",
        f"according to {seen.unpaid} {column(seen.score)}",
        len(rows) >= findings.WRONG * paid and (seen.binary or fires(seen, findings.PAID_NOT_RIGHT, findings.PARTS)),
        rows,
    )


def phrase(seen):
    if not seen.report.phrases or seen.report.phrases[0].pays <= 0:
        return None
    one = seen.report.phrases[0]
    rows = holding(seen.report.rollouts, one, seen.rows)
    if not len(rows):
        return None
    first = seen.report.steps[0].step
    before = len(holding(seen.report.rollouts, one, np.flatnonzero(seen.report.rollouts.step == first)))
    alarm = fires(seen, findings.PHRASE)
    then = f"; {before:,} {'contains' if before == 1 else 'contained'} it at step {first}" if first != seen.step else ""
    says = f"of {len(seen.rows):,} contain {phrase_words(one.words, one.times)}"
    return Fact(
        "phrase", f"{len(rows):,}", says, f"paid {figure(one.pays)} more than others of their group{then}", alarm, rows
    )


def holding(rollouts, phrase, rows):
    """Those of the rows (n,) whose text contains a phrase as often as it says, wherever it stands."""
    found = pattern(phrase.words)
    held = [sum(1 for _ in found.finditer(rollouts.completions[row])) >= phrase.times for row in rows]
    return rows[np.array(held, bool)]


def two_rewards(seen):
    here = seen.report.rollouts.taken(seen.rows)
    if here.reward is None:
        return None
    sets = repeats.sets_of_equal_texts(here)
    differ = [rows for rows, one in sets if one]
    if not differ:
        return None
    says = f"of {counted(len(sets), 'set')} of identical completions got different rewards"
    rows = seen.rows[np.array(sorted(row for rows in differ for row in rows))]
    return Fact("two", f"{len(differ):,}", says, "", True, rows)


def one_text(seen):
    n, count = len(seen.rows), seen.numbers.commonest
    if count < OFTEN * n or count < 2:
        return None
    texts = seen.report.rollouts.completions
    text = Counter(texts[row] for row in seen.rows).most_common(1)[0][0]
    rows = np.array([row for row in seen.rows if texts[row] == text])
    alarm = fires(seen, findings.ONE_TEXT)
    return Fact("text", f"{count:,}", f"of {n:,} are the same text", quoted(text), alarm, rows)


def cut(seen):
    r, count = seen.report.rollouts, seen.numbers.cut
    if not count:
        return None
    says = f"of {len(seen.rows):,} {plural(count, 'is', 'are')} cut off"
    mean = "" if seen.numbers.tokens is None else f"{seen.numbers.tokens:.1f} tokens on average"
    rows = seen.rows[r.cut[seen.rows]]
    return Fact("cut", f"{count:,}", says, mean, count >= findings.CUT_SHARE * len(seen.rows), rows)


def loops(seen):
    r = seen.report.rollouts
    all_ = len(seen.rows) <= findings.LOOKED_AT
    read = seen.rows if all_ else some_groups(r.group, r.step == seen.step, findings.LOOKED_AT)
    rows = np.array([row for row in read if repeats.loops(r.completions[row])], np.int64)
    if not len(rows):
        return None
    of = f"of {len(read):,}" if all_ else f"of the {len(read):,} that were read"
    says = f"{of} {plural(len(rows), 'ends', 'end')} in a loop"
    return Fact("loops", f"{len(rows):,}", says, "", len(rows) >= findings.LOOPING * len(read), rows)


def tied(seen):
    n = seen.numbers.tied
    if not n or not any(n.values()):
        return None
    total = sum(n.values())
    low, _ = groups.reward_range(seen.report.rollouts.reward)
    zero = "at 0 or below" if low < 0 else "at 0"
    places = {groups.TOP: "at the highest reward", groups.BETWEEN: "at a reward in between", groups.ZERO: zero}
    where = [(count, places[name]) for name, count in n.items() if count]
    more = " and ".join(f"{count} {place}" if len(where) > 1 else f"all {place}" for count, place in where)
    teaches = plural(total, "is dead and teaches", "are dead and teach")
    says = f"of {counted(seen.numbers.groups, 'group')} {teaches} nothing"
    alarm = n[groups.BETWEEN] + n[groups.ZERO] >= findings.TIED_BETWEEN * seen.numbers.groups
    r = seen.report.rollouts
    state = groups.states(r.reward, r.group)
    rows = seen.rows[state[r.group[seen.rows]] != groups.MIXED]
    return Fact("tied", f"{total:,}", says, more if total > 1 else more.removeprefix("all "), alarm, rows)


def whose(report):
    """At most one Fact: the rule and the weights that reproduce the advantages in the files."""
    a = report.attribution
    if report.rollouts.advantage is None:
        return []
    if not a.varies:
        return [Fact("whose", "Any", "rule reproduces the advantages in the files", "nothing varies within a group")]
    if a.rule is None:
        more = f"the nearest is off by {a.error:.2g}"
        return [Fact("whose", "None", "of the known rules reproduces the advantages in the files", more)]
    if a.near:
        more = "something else is in the reward, perhaps a KL term"
        return [Fact("whose", a.rule, "comes close to the advantages in the files", more)]
    paid = [(name, weight) for name, weight in (a.weights or {}).items() if np.isfinite(weight)]
    weights = ", ".join(f"{column(name)} {weight:g}" for name, weight in paid)
    exact = f"to within {a.error:.0e}".replace("e-0", "e-") if a.error > 1e-9 else "exactly"
    more = f"{exact}; weights {weights}" if len(paid) > 1 else exact
    return [Fact("whose", a.rule, "reproduces the advantages in the files", more)]


def forms(seen):
    """(what is listed, [(how many, a text, how many at the beginning)]): the commonest forms of a step's texts."""
    found = shapes.shapes(seen.report.rollouts, seen.step)
    kind = "paid completions" if found.paid else "completions"
    lines = [
        (
            f"{one.count:,} of {found.total:,}",
            visible(one.text[:LONGEST]),
            f"{one.beginning:,} of {found.beginning:,} at the beginning",
        )
        for one in found.found
    ]
    return f"The most common {kind}, with # for any number", lines


# ── the push on a group ──
def push(held):
    """A completion's share of a step's push."""
    return f"{100 * held:{'+.1f' if abs(held) >= 5e-4 else '+.1g'}} %".replace("-", "−") if held else "0 %"


def paid(seen, row):
    """What is known of a completion at a place in the run: "paid 1, exact 0, 10 tokens"."""
    r = seen.report.rollouts
    said = [] if r.reward is None else [f"paid {short(r.reward[row])}"]
    if seen.score:
        said.append(f"{on_a_line(seen.score)} {short(r.scores[seen.score][row])}")
    if r.tokens is not None and np.isfinite(r.tokens[row]):
        said.append(counted(int(r.tokens[row]), "token"))
    if r.cut is not None and r.cut[row]:
        said.append("cut off")
    return ", ".join(said)


def sums(seen, held, here):
    """[(a share, what it is the share of)] of the step's push; `here` are the group's places in the step."""
    of_step = seen.report.rollouts.at(seen.step)
    said = [(pushes.held(held, here), "of the step’s push is in this group")]
    if (long := pushes.held_by_long(held, of_step.tokens)) is not None:
        said.append((long, "of it is on completions longer than the median"))
    if seen.right is not None and (up := pushes.held_up(held, ~seen.right)) is not None:
        said.append((up, f"of what is pushed up is not {right_word(seen)}"))
    return [(f"{100 * share:{'.0f' if share >= 5e-3 else '.1g'}} %", text) for share, text in said]


def unknown(seen, unit):
    """Why the push cannot be told."""
    why = "no reward is known" if seen.paid is None else "the files do not say how many tokens each completion has"
    return f"The push {unit} is unknown, because {why}."


def right_word(seen):
    return "correct" if marks.CORRECT.search(seen.score) else f"at the top of {column(seen.score)}"
