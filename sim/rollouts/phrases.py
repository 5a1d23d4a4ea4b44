"""Which words a reward pays: n-grams whose presence goes with more reward than other completions of the same group get.

Per n-gram: the difference of means within each group that has texts with and without it, averaged per prompt, shrunk by
two prompts of difference 0. Its p-value is Student's, by the approximation of Wallace (1959), and all of them pass
Holm's correction (1979). The thresholds are the book's own.
"""

import math
import re
from dataclasses import dataclass, replace

import numpy as np

from sim.rollouts.blocks import base, blocks, some_groups
from sim.rollouts.groups import prompt_numbers

WIDE = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"  # kana and Han, which are written without spaces: a word each
WORD = re.compile(rf"\n|\d+|{WIDE}|(?:(?!{WIDE})[^\W\d_])+|[^\w\s]|_")
NUMBER = "0"  # the word for every number: no other word has digits, but a text may hold a #
LONGEST = 4  # words
ENDS = 256  # words at either end of a text that are read
CHARACTERS = 8_000  # at either end that are split into words
MOST = 256  # completions of the beginning, and of each block, that are read, in whole groups
PROMPTS = 10  # that must have texts with and without it; an n-gram in fewer than ten texts is not looked at
ZEROS = 2  # prompts of difference 0 that are added
LEAST = 0.2  # of the reward's range
ALPHA = 0.05
SHOWN = 8
SAME_ROWS = 0.8  # of the texts that hold either of two n-grams


@dataclass(frozen=True)
class Phrase:
    """`words` of one n-gram, with NUMBER for a number, that a text holds at least `times` times. `pays` is by how much
    more reward than others of their group such texts get, averaged per prompt; `scores` has the same for each score.
    `rows` are those that hold it, of the rows that were read.
    """

    words: tuple[str, ...]
    times: int
    pays: float
    scores: dict[str, float]
    prompts: int
    rows: np.ndarray


@dataclass(frozen=True)
class Grams:
    """The n-grams that at least ten of the texts that were read hold. Entry i says that row `row[i]` holds n-gram
    `gram[i]` `count[i]` times; entries are sorted by n-gram and then by row. `rows` are the rows that were read.
    """

    rows: np.ndarray
    gram: np.ndarray
    row: np.ndarray
    count: np.ndarray
    words: list[tuple[str, ...]]

    def held(self, gram, times):
        """The rows (n,) that hold an n-gram at least so many times."""
        one = self.only(gram)
        return one.row[one.count >= times]

    def only(self, gram):
        """The Grams with this n-gram alone."""
        entries = slice(*np.searchsorted(self.gram, [gram, gram + 1]))
        row = self.row[entries]
        return replace(
            self, gram=np.zeros(len(row), np.int64), row=row, count=self.count[entries], words=[self.words[gram]]
        )


def words(text):
    """The words of a text, with NUMBER for each number: all of them, or the first 256, None, and the last 256."""
    if len(text) > 2 * CHARACTERS:
        head, tail = WORD.findall(text[:CHARACTERS])[:ENDS], WORD.findall(text[-CHARACTERS:])[-ENDS:]
    else:
        every = WORD.findall(text)
        if len(every) <= 2 * ENDS:
            return [NUMBER if word.isdecimal() else word for word in every]
        head, tail = every[:ENDS], every[-ENDS:]
    return [NUMBER if word and word.isdecimal() else word for word in [*head, None, *tail]]


def read(rollouts):
    """Rows (n,) of whole groups, evenly spaced in the run's beginning and in each of its blocks."""
    parts = [some_groups(rollouts.group, part, MOST) for part in [base(rollouts), *blocks(rollouts)]]
    return np.unique(np.concatenate(parts))


def grams(rollouts):
    """The Grams of a run, from the rows that are read."""
    rows = read(rollouts)
    number, flat, starts = {None: 0}, [], []
    for row in rows:
        starts.append(len(flat))
        flat += [number.setdefault(word, len(number)) for word in [*words(rollouts.completions[row]), None]]
    word = np.array(flat, np.int64)
    owner = np.repeat(np.arange(len(rows)), np.diff([*starts, len(flat)]))
    names = list(number)
    parts, told = [], []
    begun = np.zeros(len(word), np.int64)  # the n-gram that begins here, -1 if it is rare or runs past an end
    for n in range(1, LONGEST + 1):
        last = np.concatenate([word[n - 1 :], np.zeros(n - 1, np.int64)])[: len(word)]
        places = np.flatnonzero((begun >= 0) & (last > 0))
        _, first, gram = np.unique(begun[places] * len(names) + last[places], return_index=True, return_inverse=True)
        # in a browser the inverse has 32 bits, and the product more
        pair, count = np.unique(gram.astype(np.int64) * len(rows) + owner[places], return_counts=True)
        often = np.bincount(pair // len(rows), minlength=len(first)) >= PROMPTS
        number_of = np.where(often, np.cumsum(often) - 1, -1)
        begun = np.full(len(word), -1, np.int64)
        begun[places] = number_of[gram]
        kept = often[pair // len(rows)]
        parts.append((number_of[pair[kept] // len(rows)] + len(told), rows[pair[kept] % len(rows)], count[kept]))
        told += [tuple(names[word[place + i]] for i in range(n)) for place in places[first[often]]]
    gram, row, count = (np.concatenate(each) for each in zip(*parts))
    return Grams(rows, gram, row, count, told)


def paid_phrases(rollouts, found):
    """The Phrases that pass, the one with the largest difference first; the others of its kind are left out."""
    reward = rollouts.reward
    known = np.isfinite(reward[found.rows])
    span = np.ptp(reward[found.rows][known]) if known.any() else 0.0
    if span <= 0:
        return []
    candidates = []
    for times in (1, 2):
        total, squares, prompts = Entries(rollouts, found, times).difference(reward)
        for gram in np.flatnonzero(prompts >= PROMPTS):
            candidates.append((times, int(gram), *tested(total[gram], squares[gram], int(prompts[gram]))))
    passes = holm(np.array([p for *_, p in candidates]))
    passed = [one for one, good in zip(candidates, passes) if good and abs(one[2]) >= LEAST * span]
    passed.sort(key=lambda one: (-abs(one[2]), -len(found.words[one[1]])))  # the longest of equals says most
    chosen = []
    for times, gram, *_ in passed:
        rows = set(found.held(gram, times).tolist())
        if not any(alike(found.words[gram], rows, *other[2:]) for other in chosen):
            chosen.append((times, gram, found.words[gram], rows))
        if len(chosen) == SHOWN:
            break
    return [phrase(rollouts, found, times, gram) for times, gram, *_ in chosen]


def phrase(rollouts, found, times, gram):
    """The Phrase of one n-gram."""
    entries = Entries(rollouts, found.only(gram), times)
    means = {name: entries.mean(score) for name, score in rollouts.scores.items()}
    prompts = int(entries.difference(rollouts.reward)[2][0])
    return Phrase(found.words[gram], times, entries.mean(rollouts.reward), means, prompts, entries.row)


class Entries:
    """Which completions hold which n-gram at least so many times."""

    def __init__(self, rollouts, found, times):
        self.rollouts, self.read, self.grams = rollouts, found.rows, len(found.words)
        held = found.count >= times
        self.gram, self.row = found.gram[held], found.row[held]
        self.prompt = prompt_numbers(rollouts)

    def difference(self, values):
        """Of values (N,): the sum over prompts, the sum of squares, and the number of prompts, (grams,) each."""
        known = np.isfinite(values)
        group, groups = self.rollouts.group, len(self.rollouts.prompts)
        rows = self.read[known[self.read]]
        size, total = np.bincount(group[rows], minlength=groups), np.bincount(group[rows], values[rows], groups)
        gram, row = self.gram[known[self.row]], self.row[known[self.row]]
        key, first = np.unique(gram * groups + group[row], return_index=True)  # entries are sorted by it
        n = np.diff(first, append=len(row))
        inside = np.add.reduceat(values[row], first) if len(row) else np.empty(0)
        gram, at = key // groups, key % groups
        mixed = n < size[at]
        gram, at, n, inside = gram[mixed], at[mixed], n[mixed], inside[mixed]
        difference = inside / n - (total[at] - inside) / (size[at] - n)
        key, back = np.unique(gram * groups + self.prompt[at], return_inverse=True)
        per_prompt = np.bincount(back, difference, len(key)) / np.maximum(np.bincount(back, minlength=len(key)), 1)
        gram = key // groups
        prompts = np.bincount(gram, minlength=self.grams)
        return np.bincount(gram, per_prompt, self.grams), np.bincount(gram, per_prompt**2, self.grams), prompts

    def mean(self, values):
        """The mean over prompts of the first n-gram's differences; nan without prompts."""
        total, _, prompts = self.difference(values)
        return float(total[0] / prompts[0]) if prompts[0] else float("nan")


def tested(total, squares, prompts):
    """(mean, p-value) of differences with this sum and sum of squares, and two zeros: with them, ten equal differences
    are no certainty.
    """
    n = prompts + ZEROS
    mean = total / n
    error = math.sqrt(max(squares - n * mean * mean, 0.0) / (n - 1) / n)
    return mean, p_value(mean / error, n - 1) if error > 0 else 1.0


def p_value(t, freedom):
    """Two-sided, of Student's t: z = (8 f + 1) / (8 f + 3) √(f ln(1 + t² / f)) is nearly normal, Wallace (1959)."""
    z = (8 * freedom + 1) / (8 * freedom + 3) * math.sqrt(freedom * math.log1p(t * t / freedom))
    return math.erfc(z / math.sqrt(2))


def holm(p):
    """Which of the p-values (n,) pass together at 0.05: the smallest against 0.05 / n, the next against 0.05 / (n - 1),
    until one fails.
    """
    order = np.argsort(p, kind="stable")
    passes = p[order] <= ALPHA / np.arange(len(p), 0, -1)
    good = np.zeros(len(p), bool)
    good[order] = np.logical_and.accumulate(passes)
    return good


def alike(words, rows, other_words, other_rows):
    """Whether one n-gram holds the other, or nearly the same texts hold both, as with parts of one longer phrase."""
    if len(rows & other_rows) >= SAME_ROWS * len(rows | other_rows):
        return True
    short, long = sorted((words, other_words), key=len)
    return any(long[i : i + len(short)] == short for i in range(len(long) - len(short) + 1))


def share_with(found, rows, times):
    """Each n-gram's share of the completions that were read among these rows (N,) that hold it so often, (grams,)."""
    read = found.rows[rows[found.rows]]
    held = (found.count >= times) & rows[found.row]
    return np.bincount(found.gram[held], minlength=len(found.words)) / max(len(read), 1)
