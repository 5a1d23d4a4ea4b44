"""What is worth knowing about a run, each finding with its numbers and its rows. Rules with thresholds, not a model.

The thresholds were set on 12 real TRL runs and judged on eight more: no finding on any of the five in which nothing
went wrong. Every block of steps holds about 20 groups, because with fewer a sound run had two false alarms.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from sim.rollouts import groups, lengths, marks, phrases, repeats
from sim.rollouts.blocks import BLOCKS, FINE_BLOCKS, GROUPS, base, blocks, some_groups
from sim.rollouts.rows import mean_of

(
    APART,
    PAID_NOT_RIGHT,
    PARTS,
    PHRASE,
    TWO_REWARDS,
    ONE_TEXT,
    STUCK,
    NEVER_PAID,
    LENGTH,
    CUT,
    EMPTY,
    LOOPS,
    HABIT,
    CONSTANT,
) = ORDER = (
    "sampler and trainer disagree",
    "paid, not correct",
    "reward up, score down",
    "a phrase pays, the score does not",
    "one text, two rewards",
    "one text",
    "stuck below the top",
    "never paid",
    "length pays",
    "cut off",
    "empty",
    "loops",
    "new habit",
    "a score never varies",
)  # the most important first

RUNNING, PAID_LEAST, WRONG = 3, 8, 0.5  # logged steps; completions paid the maximum; the share of them with no score
REWARD_UP, SCORE_DOWN = 0.1, 0.1  # of the range of either
PHRASE_SCORE = 0.1  # of the score's range
SETS, OF_SETS = 3, 0.02
TEXT, TEXT_GROUPS, TEXT_MORE = 0.25, 0.5, 0.15
TIED_BETWEEN, TIED_ZERO = 0.4, 0.5
SPEARMAN, MIXED_GROUPS = 0.3, 20
CUT_SHARE = EMPTY_SHARE = 0.2
LOOPING, LOOKED_AT = 0.1, 2_048  # texts per block that are searched for loops, in whole groups
HABIT_BEFORE, HABIT_SINCE, SAME_SHARE = 0.2, 0.6, 0.05
EFFECTIVE = 0.9  # the share of tokens that importance weights leave
NO_ROWS = np.empty(0, np.int64)


@dataclass(frozen=True)
class Finding:
    """`since` is the first step at which it holds. `numbers` are those of the steps from `first` to `last`, where it
    is strongest. `about` is the name of a score, a text, or the words of an n-gram. `rows` are all rows of the run that
    it is about.
    """

    name: str
    since: int
    first: int
    last: int
    numbers: dict[str, float] = field(default_factory=dict)
    about: str | tuple[str, ...] = ""
    rows: np.ndarray = field(default_factory=lambda: NO_ROWS)


def found(rollouts, attribution, mismatch, grams, paid):
    """All Findings, the most important first. `reward` is filled in by attribution.paid, `mismatch` is that of all
    tokens or None, `grams` are those of the rows that were read, and `paid` are the Phrases among them.
    """
    rules = [cut_off(rollouts), empty(rollouts), loops(rollouts), one_text(rollouts), new_habit(rollouts, grams)]
    rules += [*constant(rollouts), apart(rollouts, mismatch)]
    if rollouts.reward is not None:
        state = groups.states(rollouts.reward, rollouts.group)
        rules += [one_text_two_rewards(rollouts), length_pays(rollouts)]
        rules += [tied(rollouts, state, STUCK, groups.BETWEEN, TIED_BETWEEN)]
        rules += [tied(rollouts, state, NEVER_PAID, groups.ZERO, TIED_ZERO)]
        for name in marks.good(rollouts, attribution.unpaid(rollouts.scores)):
            rules += [paid_not_right(rollouts, name), score_parts(rollouts, name)]
            rules.append(phrase_without_score(rollouts, name, paid))
    return sorted((one for one in rules if one), key=lambda one: ORDER.index(one.name))


def apart(rollouts, mismatch):
    """The tokens' importance weights have an effective sample size of less than nine tenths."""
    if mismatch is None or mismatch.effective_share >= EFFECTIVE:
        return None
    first, last = int(rollouts.steps[0]), int(rollouts.steps[-1])
    numbers = dict(tokens=mismatch.tokens, effective=mismatch.effective_share, k3=mismatch.k3)
    return Finding(APART, first, first, last, numbers, rows=np.unique([row for row, _, _ in mismatch.worst]))


# ── what the reward pays ──
def paid_not_right(rollouts, name):
    """Three logged steps running, at least half of at least eight completions that were paid the file's maximum have
    an unpaid score between 0 and 1 at its minimum.
    """
    score, reward = rollouts.scores[name], rollouts.reward
    least, most = known_range(score)
    if not (0 <= least < most <= 1):
        return None
    low, top = groups.reward_range(reward)
    paid = reward >= top - groups.ALIKE * max(1.0, top - low)
    wrong = paid & (score <= least)
    place = np.searchsorted(rollouts.steps, rollouts.step)
    n, bad = np.bincount(place, paid), np.bincount(place, wrong)
    holds = (n >= PAID_LEAST) & (bad >= WRONG * n) & (top > 0)
    runs = np.convolve(holds, np.ones(RUNNING), "valid") == RUNNING
    if not runs.any():
        return None
    lasting = np.convolve(runs, np.ones(RUNNING)) > 0  # the steps of such runs
    at = int(np.argmax(np.where(lasting, bad / np.maximum(n, 1), -1)))
    step = int(rollouts.steps[at])
    numbers = dict(paid=int(n[at]), wrong=int(bad[at]))
    since = int(rollouts.steps[np.argmax(runs)])
    return Finding(PAID_NOT_RIGHT, since, step, step, numbers, name, np.flatnonzero(wrong))


def score_parts(rollouts, name):
    """In one of up to 16 blocks the mean reward is up by a tenth of its range since the beginning, and the mean of an
    unpaid score down by a tenth of its own.
    """
    score, reward = rollouts.scores[name], rollouts.reward
    (low, top), (least, most) = known_range(reward), known_range(score)
    if not (low < top and least < most):
        return None
    start = base(rollouts)
    reward_then, score_then = groups.known_mean(reward[start]), groups.known_mean(score[start])

    def moved(rows):
        up = (groups.known_mean(reward[rows]) - reward_then) / (top - low)
        down = (score_then - groups.known_mean(score[rows])) / (most - least)
        numbers = dict(reward_then=reward_then, reward=groups.known_mean(reward[rows]))
        numbers |= dict(score_then=score_then, score=groups.known_mean(score[rows]))
        return np.minimum(up / REWARD_UP, down / SCORE_DOWN), numbers

    rows = np.flatnonzero(groups.well_paid(reward) & (score <= least))
    return later(rollouts, in_blocks(PARTS, rollouts, moved, 1.0, name, rows, FINE_BLOCKS))


def phrase_without_score(rollouts, name, paid):
    """The strongest phrase that pays and for which an unpaid score differs by at most a tenth of its range."""
    least, most = known_range(rollouts.scores[name])
    for phrase in paid:
        if phrase.pays > 0 and least < most and phrase.scores[name] <= PHRASE_SCORE * (most - least):
            first, last = int(rollouts.steps[0]), int(rollouts.steps[-1])
            numbers = dict(pays=phrase.pays, score=phrase.scores[name], prompts=phrase.prompts, times=phrase.times)
            return Finding(PHRASE, first, first, last, numbers, phrase.words, phrase.rows)
    return None


def one_text_two_rewards(rollouts):
    """In a block, three of the sets of equal texts in a group, and 2 % of these sets, differ in reward."""
    sets = repeats.sets_of_equal_texts(rollouts)
    firsts, differ = np.array([rows[0] for rows, _ in sets], np.int64), np.array([one for _, one in sets], bool)

    def share(rows):
        here = rows[firsts]
        n, bad = int(here.sum()), int((here & differ).sum())
        return (bad / n if bad >= SETS else 0.0), dict(sets=n, differ=bad)

    rows = np.array(sorted(row for group, one in sets if one for row in group), np.int64)
    return in_blocks(TWO_REWARDS, rollouts, share, OF_SETS, "", rows)


def length_pays(rollouts):
    """In a block, rewards and lengths within at least 20 groups have a mean rank correlation of at least 0.3, and the
    95 % interval over prompts lies above 0.
    """

    def correlation(rows):
        one = lengths.of_length(rollouts.taken(rows))
        good = one.groups >= MIXED_GROUPS and one.low > 0
        return (one.mean if good else 0.0), dict(mean=one.mean, low=one.low, groups=one.groups)

    length, reward = lengths.lengths(rollouts), np.nan_to_num(rollouts.reward)
    higher = (reward > mean_of(reward, rollouts.group)) & (length > mean_of(length, rollouts.group))
    return in_blocks(LENGTH, rollouts, correlation, SPEARMAN, "", np.flatnonzero(higher))


def tied(rollouts, state, name, kind, least):
    """In a block, so many of the groups are tied at this reward."""
    starts = np.flatnonzero(np.diff(rollouts.group, prepend=-1))

    def share(rows):
        here = rows[starts]
        n, same = int(here.sum()), int((state[here] == kind).sum())
        return same / n, dict(groups=n, tied=same)

    return in_blocks(name, rollouts, share, least, "", np.flatnonzero(state[rollouts.group] == kind))


# ── what the texts are ──
def one_text(rollouts):
    """One text makes up a quarter of a block, in half of its groups, and 0.15 more than at the beginning."""
    start = Counter(texts_of(rollouts, base(rollouts)))

    def share(rows):
        text, count = Counter(texts_of(rollouts, rows)).most_common(1)[0]
        held = np.array([one == text for one in texts_of(rollouts, rows)])
        of_groups = len(np.unique(rollouts.group[rows][held])) / len(np.unique(rollouts.group[rows]))
        more = count / rows.sum() - start[text] / start.total()
        good = of_groups >= TEXT_GROUPS and more >= TEXT_MORE
        return (count / rows.sum() if good else 0.0), dict(count=count, completions=int(rows.sum()))

    finding = later(rollouts, in_blocks(ONE_TEXT, rollouts, share, TEXT))
    if not finding:
        return None
    text = Counter(texts_of(rollouts, within(rollouts, finding))).most_common(1)[0][0]
    rows = np.flatnonzero([one == text for one in rollouts.completions])
    return replace(finding, about=text, rows=rows)


def cut_off(rollouts):
    """A fifth of a block runs into the length limit."""
    return None if rollouts.cut is None else share_of(CUT, rollouts, rollouts.cut, CUT_SHARE)


def empty(rollouts):
    """A fifth of a block's texts are empty, or blank."""
    return share_of(EMPTY, rollouts, np.array([not text.strip() for text in rollouts.completions]), EMPTY_SHARE)


def loops(rollouts):
    """A tenth of a block's texts end in a loop."""
    looked = np.zeros(len(rollouts), bool)
    for part in blocks(rollouts):
        looked[some_groups(rollouts.group, part, LOOKED_AT)] = True
    looping = np.zeros(len(rollouts), bool)
    for row in np.flatnonzero(looked):
        looping[row] = repeats.loops(rollouts.completions[row])
    return share_of(LOOPS, rollouts, looping, LOOPING, looked)


def new_habit(rollouts, grams):
    """An n-gram that at most a fifth of the texts held at the beginning, and 60 % of a later block."""
    before = [phrases.share_with(grams, base(rollouts), times) for times in (1, 2)]

    def strongest(rows):
        """(share, words in it, n-gram, times) of the longest of the new n-grams that about the most texts hold."""
        new = []
        for times, then in zip((1, 2), before):
            now = phrases.share_with(grams, rows, times)
            places = np.flatnonzero((then <= HABIT_BEFORE) & (now >= HABIT_SINCE))
            new += [(now[gram], len(grams.words[gram]), int(gram), times) for gram in places]
        most = max(new, default=[0.0])[0]
        return max((one for one in new if one[0] >= most - SAME_SHARE), default=None, key=lambda one: (one[1], one[0]))

    def share(rows):
        one = strongest(rows)
        if not one:
            return 0.0, {}
        return one[0], dict(before=float(before[one[3] - 1][one[2]]), share=float(one[0]), times=one[3])

    finding = later(rollouts, in_blocks(HABIT, rollouts, share, HABIT_SINCE))
    if not finding:
        return None
    _, _, gram, times = strongest(within(rollouts, finding))
    return replace(finding, about=grams.words[gram], rows=grams.held(gram, times))


def constant(rollouts):
    """A score that has one value in the whole file, of at least 20 groups."""
    first, last = int(rollouts.steps[0]), int(rollouts.steps[-1])
    for name, score in rollouts.scores.items():
        least, most = known_range(score)
        if least == most and len(rollouts.prompts) >= GROUPS:
            yield Finding(CONSTANT, first, first, last, dict(value=least), name)


# ── blocks of steps ──
def in_blocks(name, rollouts, measured, least, about="", rows=NO_ROWS, most=BLOCKS):
    """A Finding if `measured(rows) -> (value, numbers)` reaches `least` in one of the blocks of steps."""
    parts = blocks(rollouts, most)
    values, numbers = zip(*(measured(part) for part in parts))
    holds = np.nan_to_num(values) >= least
    if not holds.any():
        return None
    at = int(np.argmax(np.nan_to_num(values)))
    since, steps = rollouts.step[parts[int(np.argmax(holds))]], rollouts.step[parts[at]]
    return Finding(name, int(since[0]), int(steps[0]), int(steps[-1]), numbers[at], about, rows)


def later(rollouts, finding):
    """A Finding that compares with the run's beginning holds after it, even if its block begins earlier."""
    after = rollouts.step[~base(rollouts)]
    return replace(finding, since=max(finding.since, int(after[0]))) if finding and len(after) else finding


def share_of(name, rollouts, marked, least, looked=None):
    """A Finding if so many of a block's completions are marked, among those that were looked at."""
    looked = np.ones(len(rollouts), bool) if looked is None else looked

    def share(rows):
        n, count = int((rows & looked).sum()), int((rows & marked).sum())
        return count / n, dict(count=count, completions=n)

    return in_blocks(name, rollouts, share, least, "", np.flatnonzero(marked))


def within(rollouts, finding):
    """The rows (N,) of the steps at which a finding is strongest."""
    return (rollouts.step >= finding.first) & (rollouts.step <= finding.last)


def texts_of(rollouts, rows):
    return [rollouts.completions[row] for row in np.flatnonzero(rows)]


def known_range(values):
    """(lowest, highest) of the finite values, nan without any."""
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if len(known) else (np.nan, np.nan)
