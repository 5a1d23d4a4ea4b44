"""The completions of a training run, row by row, as a trainer writes them. Data and not a model.

Every array has one entry per completion, (N,), sorted by step and then by group. What a file does not say is None, and
nothing is guessed in its place: a number of tokens is the tokenizer's, never characters divided by four.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np


@dataclass(frozen=True)
class Rollouts:
    """`group` (N,) numbers the groups from 0 without gaps: completions of one prompt, sampled in one step. `prompts`
    has one text per group, (G,). `scores` are all numbers that were logged about a completion and may have been paid,
    {column: (N,)}, nan where a row has none. `reward` is what was paid, if the file says so, and `advantage` what the
    trainer made of it. `cut` says which completions ran into the length limit. `sampler` and `trainer` are the
    log-probs, in nats, that the two programs gave each token, one array per completion.
    """

    step: np.ndarray
    group: np.ndarray
    prompts: Sequence[str]
    completions: Sequence[str]
    scores: Mapping[str, np.ndarray] = field(default_factory=dict)
    reward: np.ndarray | None = None
    advantage: np.ndarray | None = None
    tokens: np.ndarray | None = None
    cut: np.ndarray | None = None
    sampler: Sequence[np.ndarray] | None = None
    trainer: Sequence[np.ndarray] | None = None

    def __len__(self):
        return len(self.completions)

    def taken(self, rows):
        """The rollouts in these rows, (n,) indices or booleans, with their groups numbered from 0 again."""
        rows = np.flatnonzero(rows) if np.asarray(rows).dtype == bool else np.asarray(rows)
        kept, group = np.unique(self.group[rows], return_inverse=True)

        def part(value):
            if value is None or isinstance(value, np.ndarray):
                return None if value is None else value[rows]
            if isinstance(value, Mapping):
                return {name: each[rows] for name, each in value.items()}
            return [value[row] for row in rows]

        parts = {
            one.name: part(getattr(self, one.name)) for one in fields(self) if one.name not in ("group", "prompts")
        }
        return replace(self, **parts, group=group, prompts=[self.prompts[g] for g in kept])

    def at(self, step):
        """The rollouts of one step."""
        return self.taken(self.step == step)

    @property
    def steps(self):
        """The steps that have rows, (S,), in order."""
        return np.unique(self.step)


def mean_of(values, group):
    """Each row's mean over its group, (N,)."""
    return (np.bincount(group, values) / np.bincount(group))[group]


def spread_of(values, group):
    """Each group's largest value minus its smallest, (G,)."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    return np.maximum.reduceat(values, starts) - np.minimum.reduceat(values, starts)
