"""The state of an engine's pool of blocks from one event to the next: who holds which block, and who waits.

It records scheduling.py for display; paging is that of Kwon et al. 2023, arXiv:2309.06180. It has no model of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.cluster.kv_cache import BlockAllocator
from sim.cluster.scheduling import Engine, IterationSeconds, Policy, Request, Trace, stream


@dataclass(frozen=True)
class State:
    seconds: float  # the time at which it begins
    tables: dict[int, tuple[int, ...]]  # the blocks of each sequence in the pool, in the order of its tokens
    known: tuple[int, ...]  # tokens of each sequence, its prompt included
    running: tuple[int, ...]
    waiting: tuple[int, ...]
    evicted: tuple[int, ...]  # those among the waiting that were in the pool before
    finished: int


def recorded(
    requests: Sequence[Request], seconds: IterationSeconds, blocks: int, block: int, policy: Policy
) -> tuple[Trace, list[State]]:
    """The run of one engine, with a State for each event and one for its end."""
    pool, states = BlockAllocator(blocks, block), []

    def watch(engine: Engine, now: float) -> None:
        states.append(
            State(
                now,
                {int(s): tuple(table) for s, table in pool.tables.items()},  # type: ignore[call-overload]
                tuple(int(n) for n in engine.known),
                tuple(engine.running),
                tuple(engine.waiting),
                tuple(s for s in engine.waiting if s in engine.evicted),
                engine.finished,
            )
        )

    *_, trace = stream(requests, seconds, pool, policy, stride=1, every=np.inf, watch=watch)
    return trace, states


def at(states: Sequence[State], seconds: float) -> State:
    """The State at a time: the last one that had begun by then."""
    return next(state for state in reversed(states) if state.seconds <= seconds + 1e-9)


def owners(state: State, blocks: int) -> list[list[tuple[int, int]]]:
    """For each block, the (sequence, index in its table) pairs that hold it."""
    held: list[list[tuple[int, int]]] = [[] for _ in range(blocks)]
    for sequence, table in state.tables.items():
        for place, number in enumerate(table):
            held[number].append((sequence, place))
    return held


def tokens_in(state: State, sequence: int, place: int, block: int) -> int:
    """Number of tokens in the block at this index of a sequence's table."""
    return min(max(state.known[sequence] - place * block, 0), block)


def lost(states: Sequence[State], since: float, until: float) -> dict[int, tuple[int, ...]]:
    """The blocks last held by each sequence that was evicted in this period and waits at its end."""
    end, start = at(states, until), at(states, since).seconds
    held: dict[int, tuple[int, ...]] = {}
    for state in states:
        if start <= state.seconds <= end.seconds:
            held |= {s: table for s, table in state.tables.items() if s in end.evicted}
    return held
