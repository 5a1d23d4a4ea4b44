"""Which GPUs generate, which train, and who waits for whom: one training loop on G GPUs in five ways.

A model of means and of drawn lengths: iterations cost what `throughput` says, one engine drains as `straggler.drain`
does, roles overlap as in `step`. The five ways after HybridFlow (Sheng et al., 2024, arXiv:2409.19256) and AReaL (Fu et
al., 2025, arXiv:2505.24298). Left out: that a sequence which is carried over is prefilled again, pipeline and expert
parallelism, and every failure.
"""

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np

from sim.cluster import fabric, memory, straggler, throughput
from sim.cluster.hardware import Accelerator
from sim.cluster.lengths import Law
from sim.cluster.models import Model
from sim.cluster.step import PREFILL

WAYS = ("colocated, wait", "colocated, carry over", "split, wait", "split, one step off", "split, async")
COLOCATED, CARRY, SPLIT, ONE_OFF, ASYNC = WAYS
OFFLOAD_BYTES_PER_SECOND = 50e9  # assumed: a GPU's link to its host, which moves 18 bytes of state a weight each way
RESHARD_BYTES_PER_SECOND = 450e9  # assumed: weights from the trainer's layout to the engine's, on the same GPUs
STATE_BYTES = 18  # of a weight: bf16 weights, fp32 gradients and Adam's state


@dataclass(frozen=True)
class Job:
    model: Model
    accelerator: Accelerator
    gpus: int
    prompts: int  # of a step, each with
    samples: int  # completions
    prompt: int  # tokens
    law: Law  # of the completions' lengths
    tensor_parallel: int = 1
    sync_bytes_per_second: float = fabric.SYNC_BYTES_PER_SECOND
    efficiency: throughput.Efficiency = throughput.ASSUMED
    mfu: float = throughput.MFU

    @property
    def completions(self):
        return self.prompts * self.samples

    def engines(self, gpus):
        return gpus // self.tensor_parallel

    def seconds(self, running, kv_tokens, prefill=0, prefill_context=0):
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
    def slots(self):
        """Sequences that one engine's cache holds, of average length."""
        context = self.law.context(self.prompt)
        return memory.sequences(self.model, self.accelerator, context, self.tensor_parallel)


# Seconds of a role


def prefill_seconds(job, prompts):
    """Seconds to read `prompts` prompts once, some thousand tokens an iteration."""
    tokens = prompts * job.prompt
    iterations = ceil(tokens / PREFILL)
    return float(iterations * job.seconds(0, 0, tokens / iterations, job.prompt / 2)) if tokens else 0.0


def rollout_seconds(job, lengths, gpus):
    """Seconds until the last of `lengths`, shape (prompts, samples), is written by the engines on `gpus`: the prompts
    are dealt out in turn, siblings together, and an engine whose cache is full starts the next when one has ended.
    """
    engines = min(job.engines(gpus), len(lengths))
    dealt = [lengths[engine::engines] for engine in range(engines)]
    longest = 0.0
    for share in {len(part) for part in dealt}:
        rows = np.array([part.ravel() for part in dealt if len(part) == share])
        longest = max(longest, prefill_seconds(job, share) + float(drained(job, rows)))
    return longest


def drained(job, rows):
    """Seconds until the slowest of several engines has drained its row of lengths."""
    if rows.shape[1] > job.slots:
        return max(straggler.drain(row, job.prompt, job.seconds, job.slots)[0][-1] for row in rows)
    # all of a row start together, so that of those still running each has written the same
    rows = np.sort(rows, axis=1).astype(np.float64)
    iterations = np.diff(rows, prepend=0.0, axis=1)
    running = np.broadcast_to(np.arange(rows.shape[1], 0.0, -1.0), rows.shape)
    written = rows - iterations / 2  # by the middle of each interval
    return (iterations * job.seconds(running, running * (job.prompt + written))).sum(axis=1).max()


def stream_seconds(job, lengths, gpus):
    """Seconds to write the same tokens with engines that never run empty: nobody waits for the last completions."""
    engines, context = job.engines(gpus), job.law.context(job.prompt)
    live = min(job.completions / engines, job.slots)
    tokens_per_second = live * engines / float(job.seconds(live, live * context))
    return prefill_seconds(job, job.prompts / engines) + lengths.sum() / tokens_per_second


def train_seconds(job, lengths, gpus):
    """Log-probs of the policy and of the reference, then the update: 2 + 2 + 6 FLOP a weight and token."""
    tokens = lengths.sum() + job.completions * job.prompt
    return 10 * job.model.active_params() * tokens / (gpus * job.accelerator.flops() * job.mfu)


def switch_seconds(job):
    """Between generating and training on the same GPUs: the trainer's state to the host and back, weights to the
    engine's layout.
    """
    offload = 2 * STATE_BYTES * job.model.params() / job.gpus / OFFLOAD_BYTES_PER_SECOND
    return offload + 2 * job.model.params() / RESHARD_BYTES_PER_SECOND


def floor_seconds(job):
    """The longest completion alone on an engine that has nothing else to do: no number of GPUs goes below."""
    return float(straggler.drain([job.law.longest], job.prompt, job.seconds)[0][-1])


# Five ways


class Span(NamedTuple):
    """What one pool does for a while."""

    pool: str  # "generate" or "train"
    start: float
    seconds: float
    what: str  # "generate", "train", "sync" or "switch"
    step: int  # whose completions; of a stream the step that takes them


@dataclass(frozen=True)
class Run:
    """Some steps of one way, each pool's work as it falls."""

    way: str
    tokens: int  # prompts and completions of all steps
    seconds: float
    spans: tuple
    lag: float  # updates between a completion's first token and the update that uses it, mean

    @property
    def tokens_per_second(self):
        return self.tokens / self.seconds

    @property
    def updates(self):
        """Seconds at which a new policy stands."""
        return [span.start + span.seconds for span in self.spans if span.what == "train"]

    def idle(self, pool):
        """Share of the time in which a pool has nothing to do."""
        return 1 - sum(span.seconds for span in self.spans if span.pool == pool) / self.seconds


def drawn_lengths(job, steps, seed):
    """(steps, prompts, samples) whole tokens, of one stream of draws."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((steps, job.prompts, job.samples))
    return np.maximum(np.ceil(job.law.at(z)), 1.0)


def simulate(job, way, generating, lengths):
    """One way over the steps of `lengths`; `generating` of the GPUs do, where the pools are split. -> Run."""
    split = way in (SPLIT, ONE_OFF, ASYNC)
    training = job.gpus - generating if split else job.gpus
    generating = generating if split else job.gpus
    roll = stream_seconds if way in (CARRY, ASYNC) else rollout_seconds
    rollouts = [float(roll(job, step, generating)) for step in lengths]
    trains = [float(train_seconds(job, step, training)) for step in lengths]
    sync = fabric.weight_sync(job.model, job.sync_bytes_per_second)
    spans, clock = BOTH[way](rollouts, trains, sync if split else switch_seconds(job))
    tokens = int(lengths.sum()) + lengths.size * job.prompt
    return Run(way, tokens, clock, tuple(spans), lag(job, way, generating))


def lag(job, way, gpus):
    """In a stream by Little's law: the completions that are being written over those that an update takes."""
    if way in (COLOCATED, SPLIT):
        return 0.0
    if way == ONE_OFF:
        return 1.0
    return min(job.completions, job.slots * job.engines(gpus)) / job.completions


def in_turn(what):
    """Generate, train, then what prepares the next step."""

    def play(rollouts, trains, between):
        spans, clock = [], 0.0
        for step, (rollout, train) in enumerate(zip(rollouts, trains)):
            spans.append(Span("generate", clock, rollout, "generate", step))
            spans.append(Span("train", clock + rollout, train, "train", step))
            clock += rollout + train
            spans.append(Span("train", clock, between, what, step))
            clock += between
        return spans, clock

    return play


def one_apart(rollouts, trains, sync):
    """A batch is trained on while the next one is written; then both stop for the weights."""
    spans, clock = [], 0.0
    for step, (rollout, train) in enumerate(zip(rollouts, [trains[-1], *trains])):
        spans.append(Span("generate", clock, rollout, "generate", step))
        spans.append(Span("train", clock, train, "train", step - 1))
        clock += max(rollout, train)
        spans.append(Span("generate", clock, sync, "sync", step))
        clock += sync
    return spans, clock


def stream(rollouts, trains, sync):
    """Completions come without end; engines pause for new weights. Whoever is slower sets the pace."""
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
