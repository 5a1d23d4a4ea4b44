"""Which GPUs generate, which train, and who waits for whom: one training loop on G GPUs in five ways.

A model of means and of sampled lengths: iterations cost what `throughput` says, an engine drains like
`straggler.drain`, and roles overlap as in `step`. The five ways follow HybridFlow (Sheng et al., 2024,
arXiv:2409.19256) and AReaL (Fu et al., 2025, arXiv:2505.24298). Left out: that a carried-over sequence is prefilled
again, pipeline and expert parallelism, and all failures.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from sim.cluster import fabric, memory, straggler, throughput
from sim.cluster.hardware import Accelerator
from sim.cluster.lengths import Law
from sim.cluster.memory import Training
from sim.cluster.models import Model, Numbers
from sim.cluster.step import PREFILL

WAYS = ("colocated, wait", "colocated, carry over", "split, wait", "split, one step off", "split, async")
COLOCATED, CARRY, SPLIT, ONE_OFF, ASYNC = WAYS
OFFLOAD_BYTES_PER_SECOND = 50e9  # assumed: a GPU's link to its host
AGAIN = 50  # maximum number of times that the samples are repeated


class Placed(Protocol):
    """What the lag and the switches of a job depend on: a Job here, or a planner's Scenario."""

    @property
    def model(self) -> Model: ...
    @property
    def accelerator(self) -> Accelerator: ...
    @property
    def gpus(self) -> int: ...
    @property
    def completions(self) -> int: ...
    @property
    def slots(self) -> float: ...
    def engines(self, gpus: int) -> int: ...


@dataclass(frozen=True)
class Job:
    model: Model
    accelerator: Accelerator
    gpus: int
    prompts: int  # prompts per step, each with
    samples: int  # completions
    prompt: int  # tokens
    law: Law  # of the completions' lengths
    tensor_parallel: int = 1
    sync_bytes_per_second: float = fabric.SYNC_BYTES_PER_SECOND
    efficiency: throughput.Efficiency = throughput.ASSUMED
    mfu: float = throughput.MFU

    @property
    def completions(self) -> int:
        return self.prompts * self.samples

    def engines(self, gpus: int) -> int:
        return gpus // self.tensor_parallel

    def seconds(
        self, running: Numbers, kv_tokens: Numbers, prefill: Numbers = 0, prefill_context: Numbers = 0
    ) -> Numbers:
        """Seconds of one iteration of an engine."""
        return throughput.iteration_seconds(
            self.model,
            self.accelerator,
            running,
            kv_tokens,
            prefill,
            prefill_context,
            tensor_parallel=self.tensor_parallel,
            efficiency=self.efficiency,
        )

    @property
    def slots(self) -> float:
        """The number of sequences of average length that one engine's cache holds."""
        context = self.law.context(self.prompt)
        return memory.sequences(
            self.model, self.accelerator, context, memory.Engine(tensor_parallel=self.tensor_parallel)
        )


# Seconds of a role


def prefill_seconds(job: Job, prompts: float) -> float:
    """Seconds to read `prompts` prompts once, about a thousand tokens per iteration."""
    tokens = prompts * job.prompt
    iterations = ceil(tokens / PREFILL)
    return float(iterations * job.seconds(0, 0, tokens / iterations, job.prompt / 2)) if tokens else 0.0


def rollout_seconds(job: Job, lengths: np.ndarray, gpus: int) -> float:
    """Seconds until the last of `lengths`, shape (prompts, samples), is written by the engines on `gpus`. The prompts
    are dealt out in turn with siblings together, and an engine with a full cache starts the next completion when one
    has ended.
    """
    return float(finish_seconds(job, lengths[np.newaxis], gpus)[0, -1])


def finish_seconds(job: Job, lengths: np.ndarray, gpus: int) -> np.ndarray:
    """When each completion is written, (steps, prompts, samples) -> (steps, completions), ascending."""
    rows, prompts = dealt(lengths, job.engines(gpus))
    prefill = np.array([prefill_seconds(job, n) for n in range(prompts.max() + 1)])[prompts]
    written, finish = drained(job, rows)
    finish = np.where(written > 0, finish + prefill[:, np.newaxis], -1.0).reshape(len(lengths), -1)
    return np.sort(finish, axis=1)[:, -lengths[0].size :]


def dealt(lengths: np.ndarray, engines: int) -> tuple[np.ndarray, np.ndarray]:
    """(lengths of each engine's completions, (steps, engines, n); its number of prompts, (engines,)). An engine with
    one prompt fewer than others starts with completions of length 0, which are done before anything begins.
    """
    steps, prompts, samples = lengths.shape
    engines, rounds = min(engines, prompts), ceil(prompts / engines)
    rows = np.zeros((steps, rounds * engines, samples))
    rows[:, :prompts] = lengths
    rows = rows.reshape(steps, rounds, engines, samples).swapaxes(1, 2)
    short = np.arange(engines) >= prompts - (rounds - 1) * engines
    rows[:, short] = np.roll(rows[:, short], 1, axis=2)
    return rows.reshape(steps, engines, rounds * samples), rounds - short


def drained(job: Job, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`straggler.drain` for many engines at once, (…, n) -> (tokens that an engine has done when each of its
    completions ends, seconds until then), both (…, n) and ascending.
    """
    n = lengths.shape[-1]
    slots = int(min(max(job.slots, 1), n))
    none = np.zeros_like(lengths[..., :1])
    if slots == n:  # all start together
        ends, waited = np.sort(lengths, axis=-1), 0.0
    else:
        starts = started_at(lengths.reshape(-1, n), slots).reshape(lengths.shape)
        order = np.argsort(starts + lengths, axis=-1, kind="stable")
        ends = np.take_along_axis(starts + lengths, order, axis=-1)

        def sums(values: np.ndarray) -> np.ndarray:
            return np.concatenate([none, np.cumsum(values, axis=-1)], axis=-1)

        begun = sums(starts)[..., np.minimum(np.arange(n) + slots, n)]
        waited = begun - sums(np.take_along_axis(starts, order, axis=-1))[..., :-1]
    before = np.concatenate([none, ends[..., :-1]], axis=-1)
    running = np.minimum(float(slots), np.arange(n, 0.0, -1.0))
    # by the middle of an interval, each running completion has written that time minus its start
    kv_tokens = running * (job.prompt + (ends + before) / 2) - waited
    return ends, np.cumsum((ends - before) * job.seconds(running, kv_tokens), axis=-1)


def started_at(lengths: np.ndarray, slots: int) -> np.ndarray:
    """The iteration at which each completion starts if the next in line takes the slot that becomes free first,
    (engines, n) -> (engines, n).
    """
    starts, free = np.zeros_like(lengths), lengths[:, :slots].copy()
    every = np.arange(len(lengths))
    for i in range(slots, lengths.shape[1]):
        slot = free.argmin(axis=1)
        starts[:, i] = free[every, slot]
        free[every, slot] += lengths[:, i]
    return starts


def stream_seconds(job: Job, lengths: np.ndarray, gpus: int) -> float:
    """Seconds to write the same tokens with engines that never run empty, so that nothing waits for the last
    completions.
    """
    engines, context = job.engines(gpus), job.law.context(job.prompt)
    live = min(job.completions / engines, job.slots)
    tokens_per_second = live * engines / float(job.seconds(live, live * context))
    return prefill_seconds(job, job.prompts / engines) + lengths.sum() / tokens_per_second


def train_seconds(job: Job, lengths: np.ndarray, gpus: float) -> float:
    """Log-probs of the policy and of the reference, then the update: 2 + 2 + 6 FLOP per weight and token."""
    tokens = lengths.sum() + job.completions * job.prompt
    return 10 * job.model.active_params() * tokens / (gpus * job.accelerator.flops() * job.mfu)


def offload_seconds(model: Model, training: Training) -> float:
    """The trainer's state to the host and back."""
    return 2 * memory.waiting_bytes(model, training) / OFFLOAD_BYTES_PER_SECOND


def switch_seconds(job: Placed) -> float:
    """Between generating and training on the same GPUs: the trainer's state to the host and back, and weights to the
    engine's layout.
    """
    # assumed: weights move from the trainer's layout to the engine's at the speed of the chips' own links
    sharded = Training(job.gpus, ledger=memory.FSDP)
    return offload_seconds(job.model, sharded) + 2 * job.model.params() / (1e9 * job.accelerator.scaleup_gb_per_second)


def floor_seconds(job: Job, lengths: np.ndarray) -> float:
    """The longest completion of each step of `lengths`, (steps, prompts, samples), alone on an otherwise idle engine,
    averaged over steps: no number of GPUs writes these batches faster.
    """
    longest = lengths.reshape(len(lengths), -1).max(axis=1)
    return float(np.mean([straggler.drain([one], job.prompt, job.seconds)[0][-1] for one in longest]))


# Five ways


class Span(NamedTuple):
    """What one pool does for a while."""

    pool: str  # "generate" or "train"
    start: float
    seconds: float
    what: str  # "generate", "train", "sync" or "switch"
    step: int  # the step whose completions these are; in a stream, the step that takes them


@dataclass(frozen=True)
class Run:
    """Some steps of one way, with each pool's work over time."""

    way: str
    tokens: int  # prompts and completions of all steps
    seconds: float
    spans: tuple[Span, ...]
    lag: float  # mean number of versions by which the trainer is ahead of a completion's first token at its update
    finish: np.ndarray | None = None  # (steps, completions) seconds, if a step waits for all of them

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds

    @property
    def updates(self) -> list[float]:
        """The seconds at which each new policy is ready."""
        return [span.start + span.seconds for span in self.spans if span.what == "train"]

    def until(self, end: float) -> list[Span]:
        """The spans up to `end` seconds, cut there; if they are shorter, the same samples are repeated."""
        times = min(ceil(end / self.seconds), AGAIN)
        spans = (span._replace(start=span.start + n * self.seconds) for n in range(times) for span in self.spans)
        return [span._replace(seconds=min(span.seconds, end - span.start)) for span in spans if span.start < end]

    def still_written(self, span: Span) -> tuple[np.ndarray, np.ndarray]:
        """(seconds from the start of a span, fraction of its batch not done by then): 1 throughout, unless a step waits
        for all of its completions.
        """
        if span.what != "generate" or self.finish is None:
            return np.array([0.0, span.seconds]), np.ones(2)
        finish = np.append(0.0, self.finish[span.step % len(self.finish)])
        at = np.unique(np.linspace(0, len(finish) - 1, 41).astype(np.int64))  # some forty of the completions
        seconds = np.append(finish[at][finish[at] < span.seconds], span.seconds)
        return seconds, np.interp(seconds, finish[at], 1 - at / (len(finish) - 1))

    def idle(self, pool: str) -> float:
        """Fraction of the time in which a pool has nothing to do."""
        return 1 - sum(span.seconds for span in self.spans if span.pool == pool) / self.seconds


def drawn_lengths(job: Job, steps: int, seed: int) -> np.ndarray:
    """(steps, prompts, samples) whole tokens, from one stream of random numbers."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((steps, job.prompts, job.samples))
    return np.maximum(np.ceil(job.law.at(z)), 1.0)


def simulate(job: Job, way: str, generating: int, lengths: np.ndarray, finish: np.ndarray | None = None) -> Run:
    """The Run of one way over the steps of `lengths`; `generating` of the GPUs generate if the pools are split.
    `finish` is the result of `finish_seconds` for these engines, if known.
    """
    split = way in (SPLIT, ONE_OFF, ASYNC)
    training = job.gpus - generating if split else job.gpus
    generating = generating if split else job.gpus
    if way in (CARRY, ASYNC):
        finish, rollouts = None, [float(stream_seconds(job, step, generating)) for step in lengths]
    else:
        finish = finish_seconds(job, lengths, generating) if finish is None else finish
        rollouts = finish[:, -1].tolist()
    trains = [float(train_seconds(job, step, training)) for step in lengths]
    sync = fabric.weight_sync(job.model, job.sync_bytes_per_second)
    spans, clock = BOTH[way](rollouts, trains, sync if split else switch_seconds(job))
    tokens = int(lengths.sum()) + lengths.size * job.prompt
    return Run(way, tokens, clock, tuple(spans), lag(job, way, generating, sum(trains) / clock), finish)


def sweep(job: Job, ways: Sequence[str], splits: Sequence[int], lengths: np.ndarray) -> dict[str, list[float]]:
    """{way: tokens per second at each of `splits`, the numbers of GPUs that generate}; computations common to two ways
    are done once.
    """
    out: dict[str, list[float]] = {way: [] for way in ways}
    for generating in splits:
        finish = finish_seconds(job, lengths, generating)
        for way, rates in out.items():
            rates.append(simulate(job, way, generating, lengths, finish).tokens_per_second)
    return out


def lag(job: Placed, way: str, gpus: int, trains: float = 0.0) -> float:
    """Mean number of versions that the trainer is ahead. In a stream, by Little's law, it is the number of batches
    being written; in an async split it is one more for the fraction `trains` of a step in which the previous batch is
    still being trained on.
    """
    if way in (COLOCATED, SPLIT):
        return 0.0
    if way == ONE_OFF:
        return 1.0
    written = min(job.completions, job.slots * job.engines(gpus)) / job.completions
    return written + trains * (way == ASYNC)


def best_split(job: Job) -> float:
    """The number of GPUs that should generate in an async split, not rounded, so that both sides take equally long.

    G w_R / (w_R + w_T), with the GPU-seconds w_R at this very split, since a few engines with large batches need fewer.
    """
    tokens, sync = job.completions * job.law.mean, fabric.weight_sync(job.model, job.sync_bytes_per_second)
    context, one = job.law.context(job.prompt), np.array([[tokens]])
    low, high = 0.0, float(job.gpus)
    for _ in range(50):
        middle = (low + high) / 2
        engines = middle / job.tensor_parallel
        live = min(job.completions / engines, job.slots)
        rollout = prefill_seconds(job, job.prompts / engines)
        rollout += tokens * float(job.seconds(live, live * context)) / (live * engines)
        longer = rollout + sync > train_seconds(job, one, job.gpus - middle)
        low, high = (middle, high) if longer else (low, middle)
    return low


Play: TypeAlias = Callable[[Sequence[float], Sequence[float], float], tuple[list[Span], float]]


def in_turn(what: str) -> Play:
    """Generate, train, then prepare the next step."""

    def play(rollouts: Sequence[float], trains: Sequence[float], between: float) -> tuple[list[Span], float]:
        spans, clock = [], 0.0
        for step, (rollout, train) in enumerate(zip(rollouts, trains)):
            spans.append(Span("generate", clock, rollout, "generate", step))
            spans.append(Span("train", clock + rollout, train, "train", step))
            clock += rollout + train
            spans.append(Span("train", clock, between, what, step))
            clock += between
        return spans, clock

    return play


def one_apart(rollouts: Sequence[float], trains: Sequence[float], sync: float) -> tuple[list[Span], float]:
    """A batch is trained on while the next one is written; then both stop for the weights."""
    spans, clock = [], 0.0
    for step, (rollout, train) in enumerate(zip(rollouts, [trains[-1], *trains])):
        spans.append(Span("generate", clock, rollout, "generate", step))
        spans.append(Span("train", clock, train, "train", step - 1))
        clock += max(rollout, train)
        spans.append(Span("generate", clock, sync, "sync", step))
        clock += sync
    return spans, clock


def stream(rollouts: Sequence[float], trains: Sequence[float], sync: float) -> tuple[list[Span], float]:
    """Completions arrive continuously, and engines pause for new weights. The slower side sets the pace."""
    spans, clock = [], 0.0
    for step, (rollout, train) in enumerate(zip(rollouts, trains)):
        spans.append(Span("generate", clock, sync, "sync", step))
        spans.append(Span("generate", clock + sync, rollout, "generate", step))
        spans.append(Span("train", clock, train, "train", step - 1))
        clock += max(rollout + sync, train)
    return spans, clock


BOTH = {
    COLOCATED: in_turn("switch"),
    CARRY: in_turn("switch"),
    SPLIT: in_turn("sync"),
    ONE_OFF: one_apart,
    ASYNC: stream,
}
