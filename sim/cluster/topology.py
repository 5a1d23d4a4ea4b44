"""Who generates and who trains, and when: one pool of GPUs that does both in turn, or two pools.

Seconds from shapes: engines are drained (sim/cluster/straggler.py) at the iteration times of sim/cluster/throughput.py,
lanes are those of sim/cluster/step.py. One pool: HybridFlow (Sheng et al., 2024, arXiv:2409.19256); two pools with
overlap: AReaL (Fu et al., 2025, arXiv:2505.24298), verl's one-step-off and fully asynchronous trainers. Completions are
drawn, everything else is deterministic. Not modeled: that a batch waits for its verifier, that the last completions of
a drained engine move to another, and what stale completions cost in learning.
"""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from sim.cluster import fabric, memory, step, straggler, throughput
from sim.cluster.hardware import Accelerator
from sim.cluster.lengths import Law
from sim.cluster.models import Model

# (placement, what overlaps): one pool in turn, one pool that carries unfinished completions over, two pools
WAYS = (
    ("one pool", "sync"),
    ("one pool", "carry-over"),
    ("two pools", "sync"),
    ("two pools", "one-off"),
    ("two pools", "async"),
)
HOST_BYTES_PER_SECOND = 50e9  # assumed: of each GPU to the memory of its machine, while it sleeps or wakes
STATE = memory.LEDGERS["2 + 4 + 12"].whole  # assumed: bytes a weight that are moved out and back
STEPS = 6  # that are drawn


@dataclass(frozen=True)
class Job:
    """What is to be generated and trained on, and with what."""

    model: Model
    accelerator: Accelerator
    law: Law  # of the lengths
    prompts: int = 128  # of a step
    samples: int = 16  # completions of each
    prompt: int = 512  # tokens
    tensor_parallel: int = 1  # GPUs that share one engine
    sync_bytes_per_second: float = fabric.SYNC_BYTES_PER_SECOND
    efficiency: throughput.Efficiency = throughput.ASSUMED
    mfu: float = throughput.MFU

    @property
    def completions(self):
        return self.prompts * self.samples

    def iteration(self, live, kv_tokens, prefill=0, prefill_context=0):
        """Seconds of one iteration of one engine."""
        shape = (self.model, self.accelerator, live, kv_tokens, prefill, prefill_context)
        return throughput.iteration_seconds(*shape, tensor_parallel=self.tensor_parallel, efficiency=self.efficiency)

    @property
    def context(self):
        """Tokens of a sequence in flight, on average."""
        return self.law.context(self.prompt)

    @property
    def slots(self):
        """Sequences that one engine holds at once."""
        return memory.sequences(self.model, self.accelerator, self.context, self.tensor_parallel)


# How long it takes to generate


def drawn_lengths(job, steps=STEPS, seed=0):
    """Lengths of the completions of each step in whole tokens, (steps, prompts, samples)."""
    rng = np.random.default_rng(seed)
    z = np.stack([rng.standard_normal(job.completions) for _ in range(steps)])
    lengths = np.ceil(job.law.at(z))  # the limit is a whole number already
    return lengths.reshape(steps, job.prompts, job.samples)


def rollout_seconds(job, lengths, gpus):
    """Seconds until every completion of a batch is done, (groups, K) -> number; (steps, groups, K) -> (steps,).

    Group g goes to engine g mod engines, siblings together. Each engine reads its prompts, once a group, then decodes
    until it is empty; the step waits for the last engine.
    """
    batches = lengths if lengths.ndim == 3 else lengths[np.newaxis]
    steps, groups, K = batches.shape
    engines = gpus // job.tensor_parallel
    rounds = ceil(groups / engines)
    # a group that is missing in the last round is one of length 0: done at once
    dealt = np.zeros((steps, rounds * engines, K))
    dealt[:, :groups] = batches
    dealt = dealt.reshape(steps, rounds, engines, K).swapaxes(1, 2).reshape(steps, engines, rounds * K)
    used = dealt[:, : min(engines, groups)]
    own = rounds - (np.arange(used.shape[1]) >= groups - (rounds - 1) * engines)  # groups of each engine
    seconds = drained(job, used) + prefill_seconds(job, own)
    out = seconds.max(axis=1)
    return out if lengths.ndim == 3 else float(out[0])


def drained(job, lengths):
    """`straggler.drain` of many engines at once, (steps, engines, sequences) -> seconds, (steps, engines). All start
    together where there is a slot for each, and then one pass over the sorted lengths does for all of them.
    """
    n = lengths.shape[-1]
    if int(max(job.slots, 1)) < n:
        last = lambda one: straggler.drain(one[one > 0], job.prompt, job.iteration, job.slots)[0][-1]
        return np.array([[last(engine) for engine in batch] for batch in lengths])
    ends = np.sort(lengths, axis=-1)
    before = np.concatenate([np.zeros_like(ends[..., :1]), ends[..., :-1]], axis=-1)
    running = np.broadcast_to(np.arange(n, 0.0, -1.0), ends.shape)
    kv_tokens = running * (job.prompt + (ends + before) / 2)
    return ((ends - before) * job.iteration(running, kv_tokens)).sum(axis=-1)


def prefill_seconds(job, groups):
    """Seconds to read so many prompts, a number or an array, in as few iterations as hold them."""
    tokens = groups * float(job.prompt)
    iterations = np.ceil(tokens / step.PREFILL)
    return iterations * job.iteration(0, 0, tokens / np.maximum(iterations, 1), job.prompt / 2)


def floor_seconds(job):
    """The longest completion with an engine to itself: no number of GPUs generates a batch in less."""
    longest = np.array([job.law.expected_max(job.completions)])
    return float(straggler.drain(longest, job.prompt, job.iteration)[0][-1])


def live_sequences(job, engines):
    """Sequences that decode together on one engine of a stream: its share of a batch, or as many as its cache holds."""
    return min(job.completions / engines, job.slots)


def stream_tokens_per_second(job, engines):
    """λ: what so many engines generate when every slot that is freed is filled at once."""
    live = live_sequences(job, engines)
    return engines * live / float(job.iteration(live, live * job.context))


# How long it takes to train, and to change places


def train_roles(job, tokens, gpus):
    """(log-probs, training) in seconds: two forward passes, of the policy and of the reference, and an update."""
    update = float(throughput.update_seconds(job.model, job.accelerator, gpus, tokens, job.mfu))
    return 2 * update / 3, update  # 2 · 2P and 6P FLOP a token


def switch_seconds(job, gpus):
    """Seconds a step in which GPUs that do both jobs do neither: the trainer's state goes to the machine's memory and
    comes back, and the weights go from the trainer's layout to the engine's.
    """
    moved = 2 * STATE * job.model.params() / gpus / HOST_BYTES_PER_SECOND
    return moved + 2 * job.model.params() / (1e9 * job.accelerator.scaleup_gb_per_second)


# Both together


@dataclass(frozen=True)
class Result:
    roles: tuple  # step.Roles that share each step
    step_seconds: np.ndarray  # (steps,) between two updates
    tokens_per_second: float  # of prompts and completions, all steps together
    idle: dict  # {"generate", "train"}: share of the time that a pool neither works nor receives weights
    lag: float  # versions between a completion's first token and its update, on average

    @property
    def seconds(self):
        return float(self.step_seconds.mean())


@dataclass(frozen=True)
class Span:
    lane: str  # "generate" or "train"
    role: str
    start: float
    seconds: float
    version: int  # of the weights that write, or that wrote what is trained on (on average)


def simulate(job, placement, overlap, gpus, generating, lengths):
    """A few steps of a job, (steps, prompts, samples) of lengths -> Result. `generating` of the GPUs generate and the
    rest train in two pools; in one pool all do both. GPUs that are too few for one more engine have nothing to do.
    """
    rollouts, _ = pools(placement, gpus, generating)
    streams = overlap in step.NO_TAIL
    tokens = lengths.sum(axis=(1, 2))
    seconds = (
        tokens / stream_tokens_per_second(job, rollouts // job.tensor_parallel)
        if streams
        else rollout_seconds(job, lengths, rollouts)
    )
    return arranged(job, placement, overlap, gpus, generating, tokens, seconds)


def arranged(job, placement, overlap, gpus, generating, tokens, rollout):
    """The same when it is known what each step generates, `tokens`, and in how many seconds, `rollout`."""
    rollouts, training = pools(placement, gpus, generating)
    whole = tokens + job.completions * float(job.prompt)
    sync, switch = fabric.weight_sync(job.model, job.sync_bytes_per_second), 0.0
    if placement == "one pool":
        sync, switch = 0.0, switch_seconds(job, gpus)
    roles = [
        step.Roles(float(seconds), 0.0, *train_roles(job, n, training), sync, switch=switch)
        for seconds, n in zip(rollout, whole)
    ]
    paired = beside(roles, overlap)
    seconds = np.array([step.step_time(now, lanes_of(overlap)) for now in paired])
    lag = mean_lag(job, overlap, rollouts // job.tensor_parallel, roles, seconds)
    idle = idle_shares(placement, paired, overlap, seconds)
    return Result(tuple(paired), seconds, float(whole.sum() / seconds.sum()), idle, lag)


def pools(placement, gpus, generating):
    """(GPUs that generate, GPUs that train)."""
    return (gpus, gpus) if placement == "one pool" else (generating, gpus - generating)


def beside(roles, overlap):
    """The roles that share each step. Under "one-off" batch i is generated while batch i - 1 is trained on, in a steady
    state: a batch is there at the start, and the last stands for it.
    """
    if overlap != "one-off":
        return roles
    before = [roles[-1], *roles[:-1]]
    return [replace(now, log_probs=then.log_probs, train=then.train) for now, then in zip(roles, before)]


def lanes_of(overlap):
    return "async, in place" if overlap == "async" else overlap  # generation pauses while weights arrive


def gantt(result, overlap, until):
    """What both pools do in the first `until` seconds, the steps over and over: [Span]."""
    spans, clock, i = [], 0.0, 0
    behind = round(result.lag)
    while clock < until:
        now = result.roles[i % len(result.roles)]
        for role, (start, seconds) in step.timeline(now, lanes_of(overlap)).items():
            trains = role in ("log_probs", "train")
            together = role == "switch" or (role == "sync" and overlap != "async")
            for lane in ("generate", "train") if together else ("train" if trains else "generate",):
                if seconds > 0:
                    spans.append(Span(lane, role, clock + start, seconds, i - behind * trains))
        clock, i = clock + step.step_time(now, lanes_of(overlap)), i + 1
    return spans


def sweep(job, gpus, lengths, shares):
    """{(placement, overlap): {GPUs that generate: tokens a second}} of two pools."""
    tokens, out = lengths.sum(axis=(1, 2)), {way: {} for way in WAYS if way[0] == "two pools"}
    for generating in shares:
        drained = rollout_seconds(job, lengths, generating)
        stream = tokens / stream_tokens_per_second(job, generating // job.tensor_parallel)
        for (placement, overlap), found in out.items():
            seconds = stream if overlap in step.NO_TAIL else drained
            made = arranged(job, placement, overlap, gpus, generating, tokens, seconds)
            found[generating] = made.tokens_per_second
    return out


def idle_shares(placement, roles, overlap, seconds):
    """Share of the time in which a pool waits for the other; one pool never does."""
    if placement == "one pool":
        return {"generate": 0.0, "train": 0.0}
    sync = sum(role.sync for role in roles)
    generating = sum(step.seconds(role, "rollout", overlap) for role in roles) + sync
    training = sum(role.log_probs + role.train for role in roles) + sync * (overlap != "async")
    share = lambda busy: max(0.0, float(1 - busy / seconds.sum()))
    return {"generate": share(generating), "train": share(training)}


def mean_lag(job, overlap, engines, roles, seconds):
    """Versions by which the weights of a completion's first token are behind the trainer's when it is trained on. In a
    stream as many as there are batches in flight (Little's law), and as much of one more as the trainer works.
    """
    if overlap in ("sync", "one-off"):
        return float(overlap == "one-off")
    in_flight = engines * live_sequences(job, engines) / job.completions
    if overlap == "carry-over":
        return in_flight
    return in_flight + float(sum(role.log_probs + role.train for role in roles) / seconds.sum())


def best_share(job, gpus):
    """GPUs that should generate in a stream, not rounded: there both lanes are equally long. w_R / (w_R + w_T) of all,
    with the GPU-seconds w_R at this very share, because few engines with large batches read the weights less often.
    """
    tokens = job.completions * job.law.mean
    sync = fabric.weight_sync(job.model, job.sync_bytes_per_second)
    low, high = 0.0, float(gpus)
    for _ in range(50):
        middle = (low + high) / 2
        generate = tokens / stream_tokens_per_second(job, middle / job.tensor_parallel) + sync
        train = sum(train_roles(job, tokens + job.completions * job.prompt, gpus - middle))
        low, high = (middle, high) if generate > train else (low, middle)
    return low


# What fits


def misfits(job, placement, gpus, generating):
    """[memory.Misfit] of an arrangement: engines on their pool, the trainer on its own. In one pool the trainer's state
    is away while the engines run.
    """
    rollouts, training = pools(placement, gpus, generating)
    if min(rollouts, training) < 1:
        what = f"two pools on {gpus} {memory.plural(gpus)}, {rollouts} of them generating: none is left to train"
        return [memory.Misfit(what, rollouts + 1, gpus, "More GPUs.", "layout")]
    engine = memory.Engine(rollouts, job.tensor_parallel, int(job.prompt + job.law.longest))
    trainer = memory.Training(training, reference=True)
    return memory.fits(job.model, job.accelerator, engine, trainer, efficiency=job.efficiency)
