"""Rows of completions, and the Rollouts that they make together; what is left out is said. A parser and not a model."""

import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain, pairwise

import numpy as np

from rlpt.logs.table import Unreadable, listed
from rlpt.rollouts import groups, lengths
from sim import words
from sim.rollouts.rows import Rollouts

COLUMNS = 1_000  # the most that a row may have


@dataclass(slots=True)
class Row:
    """One completion. `numbers` are the columns without a role, None for a text; nan stands for a missing number."""

    step: int | None
    prompt: str
    completion: str
    numbers: dict
    reward: float | None = None
    advantage: float | None = None
    tokens: int | None = None
    cut: bool | None = None
    group: str | float | None = None
    sampler: np.ndarray | None = None
    trainer: np.ndarray | None = None
    turns: tuple = ()  # NeMo RL's, from which the prompt follows when all samples of a step are known

    @property
    def size(self):
        logp = sum(4 * len(each) for each in (self.sampler, self.trainer) if each is not None)
        return len(self.prompt) + len(self.completion) + logp

    @property
    def content(self):
        return self.prompt, self.completion, repr(self.advantage), repr(self.reward)


@dataclass(frozen=True)
class Limit:
    """The most that is kept, and beyond which whole steps are left out."""

    completions: int
    size: int  # characters of texts, and bytes of log-probs


@dataclass(frozen=True)
class Read:
    """What a run's files hold: `columns` say how each column was read, and `left_out` why a file was not."""

    rollouts: Rollouts
    format: str
    program: str
    notes: list
    columns: dict
    left_out: dict = field(default_factory=dict)


class Table:
    """Takes the rows of all files of a run, in the order of their steps. Of more rows than `limit` allows it keeps
    whole steps, evenly spaced; with `step` it keeps that step alone.
    """

    def __init__(self, step=None, limit=None):
        self.step, self.limit, self.every = step, limit, 1
        self.steps = {}  # {step: {file: its rows}}, in the order in which they came; empty for a step that is left out
        self.place = {}  # {step: its place in that order}
        self.total, self.count, self.size = 0, 0, 0
        self.program, self.columns = None, {}
        self.heads = {}  # {file: the columns of its first row}
        self.said, self.faults = Counter(), []  # {a sentence with a place for its number: the number}; sentences
        self.unpaid = 0

    def expect(self, file, program, columns, head):
        """Says which format a file has, as its module, {column: role}, and the columns of its first row."""
        if self.program not in (None, program):
            raise Unreadable(
                f"The files hold {self.program.FORMAT} and {program.FORMAT}: choose the files of one run at a time."
            )
        self.program = program
        self.columns |= columns
        self.heads[file] = head

    def forget(self, file):
        """Takes back what a file has added that turned out to be unreadable."""
        self.heads.pop(file, None)
        for files in self.steps.values():
            self.drop({file: files.pop(file, [])})
        if not self.heads:
            self.program, self.columns = None, {}

    def add(self, row, file):
        if row.reward is not None and row.reward != row.reward:
            self.unpaid += 1
            return
        for name, value in row.numbers.items():
            known = self.columns.get(name)
            if value is None:
                self.columns[name] = "left out"
            elif known not in ("score", "left out"):
                self.columns[name] = "score"
        if len(self.columns) > COLUMNS:
            raise Unreadable(f"More than {COLUMNS:,} columns, which no file of completions has.")
        self.total += 1
        files = self.steps.setdefault(row.step, {})
        if self.place.setdefault(row.step, len(self.place)) % self.every or self.step not in (None, row.step):
            return
        row.prompt = sys.intern(row.prompt)
        files.setdefault(file, []).append(row)
        self.count += 1
        self.size += row.size
        if self.limit and (self.count > self.limit.completions or self.size > self.limit.size):
            self.thin()

    def thin(self):
        """Leaves out every second step of those that are kept."""
        if sum(bool(files) for files in self.steps.values()) < 2:
            raise Unreadable(
                f"One step alone has more than {self.limit.completions:,} completions or "
                f"{self.limit.size / 1e6:g} MB of text, which is the most that can be read here."
            )
        self.every *= 2
        for step, files in self.steps.items():
            if self.place[step] % self.every:
                self.drop(files)

    def drop(self, files):
        for row in (row for rows in files.values() for row in rows):
            self.count -= 1
            self.size -= row.size
        files.clear()

    def begin(self, step, file, last):
        """Whether a line that holds a whole step counts. One that follows a line of the same step comes from an
        evaluation; one that goes back to a step was written after the run was resumed, and replaces the first.
        """
        if step == last:
            self.said["Lines left out that repeat the step before, as an evaluation writes them: {}."] += 1
            return False
        if self.steps.get(step, {}).get(file):
            self.said["Steps that a resumed run wrote once more, of which the later completions are kept: {}."] += 1
            self.drop({file: self.steps[step].pop(file)})
        return True

    def read(self, left_out=()):
        """The Read of all rows so far."""
        kept = {step: self.rows_of(files) for step, files in self.steps.items() if files}
        stepless = kept.pop(None, [])
        if not (kept or stepless):
            self.none()
        steps = {step: kept[step] for step in sorted(kept)} or {0: stepless}
        for name in [name for name, role in self.columns.items() if role == "score"]:
            values = (row.numbers.get(name, np.nan) for found in steps.values() for row in found)
            if all(value != value for value in values):  # nan
                self.columns[name] = "left out"
        notes = self.notes()
        if stepless:
            notes.append(
                f"Left out, because they have no step: {words.counted(len(stepless), 'completion')}."
                if kept
                else "Neither a column nor the name of the file gives the step, so it counts as step 0."
            )
        steps = self.without_repeats(steps, notes)
        rows, group, several, shared = [], [], 0, False
        for step, found in steps.items():
            for row in found:
                row.step = step
            if found[0].turns:
                first = self.program.of_prompt([row.turns for row in found])
                for row in found:
                    row.prompt, row.completion = "\n".join(row.turns[:first]), "\n".join(row.turns[first:])
                    row.turns = ()
            if all(row.group is not None for row in found):
                own, merged = groups.by_key([row.group for row in found]), 0
                if not self.program.PROGRAM:  # a column of any file may hold a level or a data set
                    by_value, own = own, groups.by_key([(row.group, row.prompt) for row in found])
                    shared |= max(own) > max(by_value)
            else:
                own, merged = groups.numbered([row.prompt for row in found])
            order = np.argsort(own, kind="stable")
            start = group[-1] + 1 if group else 0
            group += [start + own[n] for n in order]
            rows += [found[n] for n in order]
            several += merged
        if several:
            notes.append(
                f"{words.counted(several, 'prompt')} came up several times in one step. The file does not tell these "
                "groups apart, so all completions of such a prompt count as one group."
            )
        if shared:
            column = listed([name for name, role in self.columns.items() if role == "group"])
            notes.append(
                f"The column {column} has the same value for several prompts, so completions count as one group only "
                "if their prompt is the same too."
            )
        return self.made(rows, group, notes, dict(left_out))

    def rows_of(self, files):
        """A step's rows; two files with the same rows count once."""
        kept = {}
        for rows in files.values():
            if kept.setdefault(tuple(row.content for row in rows), rows) is not rows:
                self.said["Files left out because another file has the same completions of the same step: {}."] += 1
        return [row for rows in kept.values() for row in rows]

    def none(self):
        if self.step is not None and (steps := self.steps.keys() - {None}):
            known = ", ".join(map(str, sorted(steps)[:12])) + (" and more" if len(steps) > 12 else "")
            raise Unreadable(f"No completions at step {self.step}: the steps are {known}.")
        if self.unpaid:
            raise Unreadable(f"The reward is missing or NaN in all {words.counted(self.unpaid, 'row')}.")
        raise Unreadable("The files hold no completions.")

    def notes(self):
        found = [note.format(f"{count:,}") for note, count in self.said.items()] + self.faults
        if self.unpaid:
            found.append(f"Left out, because the reward is missing or NaN: {words.counted(self.unpaid, 'completion')}.")
        if self.every > 1:
            found.append(
                f"The files hold {self.total:,} completions at {len(self.steps):,} steps, too many to show. Read were "
                f"{self.count:,} completions, at every {ordinal(self.every)} step."
            )
        heads = [dict.fromkeys(head) for head in self.heads.values()]
        names = {name: sum(name in head for head in heads) for name in dict.fromkeys(chain.from_iterable(heads))}
        if odd := [name for name, count in names.items() if count < len(heads)]:
            found.append(f"Some of the files lack {listed(odd)}, so they may come from several runs.")
        if texts := [name for name, role in self.columns.items() if role == "left out"]:
            found.append(f"Columns left out, because they hold no scores: {listed(texts)}.")
        return found

    def without_repeats(self, steps, notes):
        """TRL and ms-swift write what was sampled last: with several updates on one batch, the same rows again. Where
        an evaluation overwrites the file of its step, that file has the evaluation's prompts.
        """
        if self.program.PROGRAM not in ("TRL", "ms-swift"):
            return steps
        kept, repeats, last = {}, 0, None
        for step, rows in steps.items():
            content = [row.content for row in rows]
            if content == last:
                repeats += 1
            else:
                kept[step] = rows
            last = content
        if repeats:
            notes.append(
                f"At {words.counted(repeats, 'step')} the completions are those of the step before, because a "
                "batch was used for several updates. They count once."
            )
        if (evaluated := recurring(kept)) and self.program.PROGRAM == "TRL":
            shown = ", ".join(map(str, evaluated[:4])) + (" and so on" if len(evaluated) > 4 else "")
            notes.append(
                f"The same prompts come back at equal distances, at steps {shown}. An evaluation has probably "
                "overwritten the completions of the training there."
            )
        return kept

    def made(self, rows, group, notes, left_out):
        first = dict(zip(reversed(group), reversed(rows)))
        names = [name for name, role in self.columns.items() if role == "score"]
        scores = {name: np.array([row.numbers.get(name, np.nan) for row in rows], dtype=float) for name in names}
        tokens, cut = every(rows, "tokens"), every(rows, "cut")
        columns = dict(self.columns)
        if tokens is None:
            for name in (name for name in lengths.TOKENS if name in scores and lengths.are_counts(scores[name])):
                tokens, columns[name] = scores.pop(name), "tokens"
                break
        if cut is None:
            for name in (name for name in lengths.ENDED + lengths.CUT if name in scores):
                if lengths.are_flags(scores[name]):
                    flag = scores.pop(name) == 1
                    cut, columns[name] = (~flag, "cut, reversed") if name in lengths.ENDED else (flag, "cut")
                    break
        if cut is None and tokens is not None and (most := lengths.limit(tokens)):
            cut = tokens == most
            notes.append(
                f"No column says which completions were cut off. {words.counted(int(cut.sum()), 'completion')} of "
                f"exactly {most:,} tokens, the most there are, count as cut off."
            )
        if len(rows) > 1 and group[-1] + 1 == len(rows):
            notes.append("No two completions of a step have the same prompt, so no group shows a difference.")
        reward, advantage = every(rows, "reward"), every(rows, "advantage")
        if reward is None and not scores:
            raise Unreadable(f"No column has numbers that could be a reward: the columns are {listed(list(columns))}.")
        if reward is None and advantage is None:
            notes.append(f"No column is called reward: say which one it is, if it is among {listed(list(scores))}.")
        rollouts = Rollouts(
            step=np.array([row.step for row in rows], dtype=np.int64),
            group=np.array(group, dtype=np.int64),
            prompts=[first[n].prompt for n in range(group[-1] + 1)],
            completions=[row.completion for row in rows],
            scores=scores,
            reward=reward,
            advantage=None if advantage is None or np.isnan(advantage).all() else advantage,
            tokens=None if tokens is None else tokens.astype(np.int64),
            cut=None if cut is None else cut.astype(bool),
            sampler=each_of(rows, "sampler"),
            trainer=each_of(rows, "trainer"),
        )
        return Read(rollouts, self.program.FORMAT, self.program.PROGRAM, notes, columns, left_out)


def every(rows, name):
    """The values of all rows, or None if one has none."""
    values = [getattr(row, name) for row in rows]
    return None if any(value is None for value in values) else np.array(values, dtype=float)


def each_of(rows, name):
    values = [getattr(row, name) for row in rows]
    return None if any(value is None for value in values) else values


def recurring(steps):
    """At least three steps at equal distances that have the same prompts, if others have different ones; else []."""
    by_prompts = {}
    for step, rows in steps.items():
        by_prompts.setdefault(hash(tuple(sorted({row.prompt for row in rows}))), []).append(step)
    again = [each for each in by_prompts.values() if len(each) > 2]
    if len(again) != 1 or len(by_prompts) < 2:
        return []
    distances = {after - before for before, after in pairwise(again[0])}
    return again[0] if len(distances) == 1 else []


def ordinal(n):
    return "second" if n == 2 else f"{n}th"
