"""Generation beside training: how long a step takes, and how old each completion is when it is trained on.

One engine and one trainer, event by event. Admission follows AReaL's staleness manager (Fu et al., 2025,
arXiv:2505.24298); weights that arrive in the middle of a completion are PipelineRL's (Piché et al., 2025,
arXiv:2509.19128). Lag is defined in sim/experiments/stale_policy.py. Not modeled: a trainer whose time depends on the
lengths, prefill, and evictions.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf

import numpy as np

from sim.cluster import straggler
from sim.cluster.straggler import IterationSeconds


@dataclass(frozen=True)
class Run:
    """The results of a pipeline, with one row per update in the order of training."""

    wall: float  # seconds until the last update is done
    train: np.ndarray  # (updates, 2) the seconds at which an update's training begins and ends
    length: np.ndarray  # (updates, B) tokens
    lag: np.ndarray  # (updates, B) trainer's version at the update minus the version that began the completion
    spanned: np.ndarray  # (updates, B) number of versions that wrote it, newest minus oldest plus 1
    start: np.ndarray  # (updates, B) the seconds at which it was begun
    finish: np.ndarray  # (updates, B) and at which it was completed
    dropped: np.ndarray  # lengths of those thrown away as too old
    left: np.ndarray  # (updates,) completions that remain ready after an update has taken its own
    waiting: float  # completions begun and not yet taken by the trainer, averaged over time

    @property
    def step_seconds(self) -> float:
        return self.wall / len(self.train)

    @property
    def settled(self) -> slice:
        """The second half of the updates, in which the pipeline is full."""
        return slice(len(self.train) // 2, None)


def one_after_the_other(
    lengths: np.ndarray,
    prompt: int,
    iteration_seconds: IterationSeconds,
    train_seconds: float,
    sync_seconds: float,
    slots: float = inf,
) -> Run:
    """The Run that generates a batch, trains on it and then sends the weights; lengths (updates, B)."""
    finish, clock, train = [], 0.0, []
    for batch in lengths:
        done = clock + finish_seconds(batch, prompt, iteration_seconds, slots)
        finish.append(done)
        train.append((done.max(), done.max() + train_seconds))
        clock = train[-1][1] + sync_seconds
    begun = np.array([0.0, *(end + sync_seconds for _, end in train[:-1])])
    return batch_by_batch(clock, train, lengths, 0, begun, finish)


def one_batch_ahead(
    lengths: np.ndarray,
    prompt: int,
    iteration_seconds: IterationSeconds,
    train_seconds: float,
    sync_seconds: float,
    slots: float = inf,
) -> Run:
    """The Run that generates a batch while training on the previous one, then stops both and sends the weights."""
    finish, clock, begun = [], 0.0, []
    train: list[tuple[float, float]] = []
    for batch in lengths:
        begun.append(clock)
        done = clock + finish_seconds(batch, prompt, iteration_seconds, slots)
        finish.append(done)
        clock = max(done.max(), train[-1][1] if train else 0.0) + sync_seconds
        train.append((clock, clock + train_seconds))
    return batch_by_batch(train[-1][1] + sync_seconds, train, lengths, 1, np.array(begun), finish)


def finish_seconds(lengths: np.ndarray, prompt: int, iteration_seconds: IterationSeconds, slots: float) -> np.ndarray:
    """The time at which each completion is finished, ascending."""
    return straggler.drain(lengths, prompt, iteration_seconds, slots)[0]


def batch_by_batch(
    wall: float,
    train: Sequence[tuple[float, float]],
    lengths: np.ndarray,
    lag: int,
    begun: np.ndarray,
    finish: Sequence[np.ndarray],
) -> Run:
    """The Run of batches that are generated whole; `finish` is sorted, and so are the lengths."""
    updates, B = lengths.shape
    lags = np.minimum(np.arange(updates), lag)[:, np.newaxis].repeat(B, axis=1)
    ends = np.array(train)
    waiting = (ends[:, :1] - begun[:, np.newaxis]).sum() * B / wall
    spanned = np.ones((updates, B), dtype=np.int64)
    started = begun[:, np.newaxis].repeat(B, axis=1)
    return Run(
        wall,
        ends,
        np.sort(lengths, axis=1),
        lags,
        spanned,
        started,
        np.array(finish),
        np.zeros(0),
        np.zeros(updates),
        waiting,
    )


class Starved(Exception):
    """So many completions are too old when they finish that the trainer gets hardly any."""


def stream(
    lengths: Sequence[float],
    updates: int,
    B: int,
    prompt: int,
    iteration_seconds: IterationSeconds,
    train_seconds: float,
    sync_seconds: float,
    head: int = 0,
    slots: float = inf,
    hard_cap: float = inf,
    in_place: bool = True,
) -> Run:
    """The Run in which a free slot takes the next prompt, and the trainer takes the oldest B completions as soon as it
    is idle.

    A prompt starts only while (those begun) // B ≤ version + head, so none is begun for an update more than `head`
    ahead of the weights. `lengths` belong to the completions in the order in which they begin. Completions that wait
    until their lag exceeds `hard_cap` are dropped, and others may begin in their place. With `in_place`, generation
    pauses while the weights arrive; otherwise they arrive in a second buffer and take effect on arrival.

    Raises Starved if so many are dropped that the lengths run out.
    """
    now, clock = 0.0, 0.0  # seconds; tokens that a sequence alive since the start would have
    live: list[tuple[float, int]] = []  # heap of (clock at its end, index)
    begun_at = 0.0  # sum of the start clocks of those alive
    version, sending, arrives = 0, 0, inf  # the engine's version; the version in transit; its arrival
    trained, taken, ready_at = 0, None, inf  # updates done; the batch in training; when it is done
    next_index, submitted = 0, 0
    queue: deque[int] = deque()
    start, born, finish, ended = {}, {}, {}, {}
    batches, train, left_over, dropped, area = [], [], [], [], 0.0

    while trained < updates:
        while len(live) < slots and submitted // B <= version + head and not (in_place and arrives < inf):
            i, next_index, submitted = next_index, next_index + 1, submitted + 1
            if i == len(lengths):
                raise Starved(f"{i} completions have begun, and {trained} updates are done")
            heappush(live, (clock + lengths[i], i))
            begun_at += clock
            start[i], born[i] = now, version
        if taken is None and len(queue) >= B:
            taken = [queue.popleft() for _ in range(B)]
            batches.append((taken, trained))
            train.append((now, now + train_seconds))
            left_over.append(len(queue))
            ready_at = now + train_seconds
        # the next event: a completion ends, an update finishes, or weights arrive
        until = min(ready_at, arrives)
        n, seconds = len(live), inf
        generating = n > 0 and not (in_place and arrives < inf)
        if generating:
            tokens = live[0][0] - clock
            cached = n * (prompt + clock) - begun_at
            seconds = tokens * float(iteration_seconds(n, cached + n * tokens / 2))  # at the middle of the interval
        span = min(seconds, until - now)
        area += span * (n + len(queue))
        if now + seconds <= until:
            now += seconds
            clock, i = heappop(live)
            begun_at -= clock - lengths[i]
            finish[i], ended[i] = now, version
            queue.append(i)
            looked_at = [i]
        else:
            if generating:
                for _ in range(4):  # how many tokens fit into the remaining time depends on the cache that they grow
                    tokens = span / float(iteration_seconds(n, cached + n * tokens / 2))
                clock += tokens
            now = until
            if ready_at <= now:
                trained, taken, ready_at = trained + 1, None, inf
            if arrives <= now:
                version, arrives = sending, inf
            if arrives == inf and version < trained:
                sending, arrives = trained, now + sync_seconds
            looked_at = list(queue)
        for i in looked_at:  # an update ages all that wait
            if trained - born[i] > hard_cap:
                queue.remove(i)
                dropped.append(lengths[i])
                submitted -= 1

    def by_update(values: Sequence[float] | dict[int, int] | dict[int, float]) -> np.ndarray:
        return np.array([[values[i] for i in batch] for batch, _ in batches[:updates]])

    at = np.array([[version] for _, version in batches[:updates]])
    return Run(
        now,
        np.array(train[:updates]),
        by_update(lengths),
        at - by_update(born),
        by_update(ended) - by_update(born) + 1,
        by_update(start),
        by_update(finish),
        np.array(dropped),
        np.array(left_over[:updates]),
        area / now,
    )


@dataclass(frozen=True)
class Written:
    """A completion in its slot."""

    slot: int
    start: float  # seconds
    finish: float
    began: int  # version of the weights that began it
    update: int  # the update that trained on it, which is the trainer's version at that time


def in_slots(run: Run, start: float, end: float) -> list[Written]:
    """The completions written between two times, in the order in which they begin, each in the slot that has been free
    for longest. Those that were never trained on are left out.
    """
    near = (run.finish > start) & (run.start < end)
    updates = np.arange(len(run.lag))[:, np.newaxis].repeat(run.lag.shape[1], axis=1)
    order = np.argsort(run.start[near], kind="stable")
    jobs = (run.start[near][order], run.finish[near][order], run.lag[near][order], updates[near][order])
    free: list[tuple[float, int]] = []
    written = []
    for begins, ends, lag, update in zip(*jobs):
        slot = heappop(free)[1] if free and free[0][0] <= begins + 1e-9 else len(free)
        heappush(free, (ends, slot))
        written.append(Written(slot, float(begins), float(ends), int(update - lag), int(update)))
    return written


def board(run: Run, slots: int, columns: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """(slots, columns) the version that began what each of the first `slots` slots is working on, and (columns,) the
    one in training, over `steps` mean steps of the settled half; counted from the first update shown, NaN if idle.
    """
    first = run.settled.start
    at = run.train[first, 0] + (np.arange(columns) + 0.5) * steps / columns * run.step_seconds
    shown = np.full((slots, columns), np.nan)
    for one in in_slots(run, at[0], at[-1]):
        if one.slot < slots:
            shown[one.slot, (at >= one.start) & (at < one.finish)] = one.began - first
    training = np.full(columns, np.nan)
    for v, (begins, ends) in enumerate(run.train):
        training[(at >= begins) & (at < ends)] = v - first
    return shown, training


def bubble(stages: int, micro_batches: int, chunks: int = 1) -> float:
    """Fraction of a pipeline-parallel step in which a stage waits, (p − 1)/v / (m + (p − 1)/v), with v chunks of layers
    per stage. Narayanan et al. (2021), arXiv:2104.04473.
    """
    idle = (stages - 1) / chunks
    return idle / (micro_batches + idle)
