"""Which slot of an engine holds which completion when, step by step: what is written, and which slots wait.

The timetable comes from scheduling.py; the ways to avoid waiting are those of straggler.py, lesson 22b. A slot writes
one token per iteration. `typical` uses no random numbers: it spreads lengths and correct answers as evenly as their law
allows, so that counts in a picture agree with the law. Partial rollouts as in APRIL (Zhou et al., 2025,
arXiv:2509.18521).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from sim.cluster.scheduling import timetable


@dataclass(frozen=True)
class Held:
    """A completion in its slot, from one token up to another, exclusive."""

    slot: int
    start: int
    end: int
    number: int  # of the completion
    step: int
    cut: bool  # before its own end


@dataclass(frozen=True)
class Board:
    written: list[Held]
    waits: list[tuple[int, int, int]]  # (slot, from, to): empty until the step ends
    ends: list[int]  # of the steps


def steps(lengths: Sequence[int], slots: int, wanted: int, until: int, cap: int | None = None) -> Board:
    """Steps of `wanted` completions, each of which waits for its last one; `cap` cuts off what is longer."""
    written: list[Held] = []
    waits, ends, clock, first = [], [0], 0, 0
    while clock < until and first + wanted <= len(lengths):
        batch = [min(length, cap) if cap else length for length in lengths[first : first + wanted]]
        table = [(slot, clock + a, clock + b + 1, first + i) for slot, i, a, b in timetable(batch, slots)]
        end = max(b for _, _, b, _ in table)
        written += [Held(s, a, b, n, len(ends) - 1, cap is not None and lengths[n] > cap) for s, a, b, n in table]
        last = [max(b for s, _, b, _ in table if s == slot) for slot in range(slots)]
        waits += [(slot, b, end) for slot, b in enumerate(last) if b < end]
        ends.append(end)
        clock, first = end, first + wanted
    return Board(written, waits, ends[1:])


def carried_over(lengths: Sequence[int], slots: int, wanted: int, until: int) -> Board:
    """No slot waits: a step ends with every `wanted`-th completion that finishes, and the others continue."""
    table = [(slot, a, b + 1, n) for slot, n, a, b in timetable(lengths, slots) if a < until]
    done = sorted(b for _, _, b, _ in table)
    ends = done[wanted - 1 :: wanted]
    return Board([Held(s, a, b, n, sum(end <= a for end in ends), False) for s, a, b, n in table], [], ends)


def carried(board: Board) -> int:
    """Completions that continue when the first step ends."""
    return sum(held.start < board.ends[0] < held.end for held in board.written)


def busy(board: Board, slots: int, until: float) -> float:
    """Fraction of the token slots up to then that held one."""
    return sum(max(min(held.end, until) - held.start, 0) for held in board.written) / (slots * until)


@dataclass(frozen=True)
class Kept:
    """What a step that ends at a given token has of its completions, all of which began together."""

    kept: np.ndarray  # bool: done by then
    right: int  # of the kept
    lost: int  # not done by then
    lost_wrong: int  # the lost ones that would have been wrong
    waits: float  # fraction of the token slots up to then whose completion had already finished


def ended(lengths: np.ndarray, right: np.ndarray, end: int) -> Kept:
    """A step of completions that each have their own slot, all cut off at `end` tokens."""
    kept = lengths <= end
    lost, lost_wrong = int((~kept).sum()), int((~kept & ~right).sum())
    return Kept(
        kept, int((kept & right).sum()), lost, lost_wrong, float((end - lengths[kept]).sum() / (end * kept.size))
    )


@dataclass(frozen=True)
class Completions:
    """For several prompts, each array (prompts, completions per prompt)."""

    z: np.ndarray  # how long, as straggler.py has it
    right: np.ndarray  # bool


SHUFFLED = 3  # a seed: in which order short and long ones stand


def typical(prompts: int, K: int, p_right: np.ndarray, Z: np.ndarray, between: float = 0.0) -> Completions:
    """Completions whose lengths are quantiles of their law. As many are correct, from the shortest on, as `p_right`,
    the probability on the grid Z, adds up to. With several prompts, each prompt's longest lengths are quantiles of
    their law, and the fraction `between` of the variance lies between prompts.
    """
    order, normal = np.random.default_rng(SHUFFLED), NormalDist()

    def at(shares: np.ndarray | list) -> np.ndarray:
        return np.array([normal.inv_cdf(float(share)) for share in np.ravel(shares)])

    def middles(n: int) -> np.ndarray:
        return (np.arange(n) + 0.5) / n

    if prompts == 1:
        z = at(middles(K))[order.permutation(K)][np.newaxis]
    else:
        tops = middles(prompts)[order.permutation(prompts)] ** (1 / K)  # of the longest of K
        rest = tops[:, np.newaxis] * middles(K - 1)
        own = np.stack([at([*row, top])[order.permutation(K)] for row, top in zip(rest, tops)])
        hard = at(middles(prompts))[order.permutation(prompts)]
        z = np.sqrt(between) * hard[:, np.newaxis] + np.sqrt(1 - between) * own
    ranks = np.argsort(z, axis=None, kind="stable")
    total = np.cumsum(np.interp(z.ravel()[ranks], Z, p_right))
    right = np.zeros(z.size, bool)
    right[ranks] = np.diff(np.floor(total + 0.5), prepend=0.0) > 0
    return Completions(z, right.reshape(z.shape))
