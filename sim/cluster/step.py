"""The time of a training step from the times of its roles: a sum or a maximum, depending on what overlaps.

Closed form: Amdahl (1967) for the sum, and the law of the slowest machine for the maximum. Deterministic: seconds are
means, and the mean of a maximum is at least the maximum of the means, so with its own role times an overlapped step is
never faster than computed here.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sim.cluster import fabric, layouts, memory, straggler, throughput
from sim.cluster.hardware import Accelerator
from sim.cluster.lengths import Law
from sim.cluster.models import Model, Numbers
from sim.cluster.throughput import Efficiency

OVERLAPS = ("sync", "carry-over", "one-off", "async")


@dataclass(frozen=True)
class Roles:
    """Seconds that a step spends in each role when that role runs alone."""

    rollout: float
    verify: float
    log_probs: float  # old log-probs and those of the reference
    train: float
    sync: float
    other: float = 0.0  # time that the timers did not attribute
    tail: float = 0.0  # part of the rollout: waiting for the last completions; a continuous stream does not wait
    switch: float = 0.0  # for GPUs that generate and train alternately: sleeping, waking, moving the optimizer's state


ONE_AFTER_THE_OTHER = ((("rollout", "verify", "log_probs", "train"),), ("sync", "switch", "other"))
# Lanes that run side by side, then what waits for all of them.
# assumed: in a stream the unattributed seconds are hidden too, so "other" is in no lane of "async"
LANES = {
    "sync": ONE_AFTER_THE_OTHER,
    "carry-over": ONE_AFTER_THE_OTHER,  # unfinished completions continue in the next step
    "one-off": ((("rollout", "verify"), ("log_probs", "train")), ("sync", "switch", "other")),
    # new weights arrive in a second buffer while the old ones generate
    "async": ((("rollout",), ("verify",), ("log_probs", "train"), ("sync",)), ()),
    # generation pauses while they overwrite the old ones
    "async, in place": ((("rollout", "sync"), ("verify",), ("log_probs", "train")), ()),
}
NO_TAIL = ("carry-over", "async", "async, in place")


def pausing(overlap: str) -> str:
    """The key of LANES in which generation pauses while a stream's weights change."""
    return "async, in place" if overlap == "async" else overlap


def step_time(roles: Roles, overlap: str) -> float:
    """Seconds between two updates: the longest of the lanes, plus whatever waits for all of them."""
    lanes, after = LANES[overlap]
    longest = max(lane_seconds(roles, lane, overlap) for lane in lanes)
    return longest + lane_seconds(roles, after, overlap)


def lane_seconds(roles: Roles, lane: Sequence[str], overlap: str) -> float:
    return sum(seconds(roles, role, overlap) for role in lane)


def seconds(roles: Roles, role: str, overlap: str) -> float:
    """A role's seconds; a stream, and a step with carried-over completions, generate without waiting for the tail."""
    return roles.rollout - roles.tail if role == "rollout" and overlap in NO_TAIL else getattr(roles, role)


def timeline(roles: Roles, overlap: str) -> dict[str, tuple[float, float]]:
    """{role: (start, seconds)} in one step; lanes start together."""
    lanes, after = LANES[overlap]
    starts: dict[str, tuple[float, float]] = {}
    barrier = 0.0
    for lane in lanes:
        barrier = max(barrier, place(starts, roles, lane, overlap, 0.0))
    place(starts, roles, after, overlap, barrier)
    return starts


def place(
    starts: dict[str, tuple[float, float]], roles: Roles, lane: Sequence[str], overlap: str, clock: float
) -> float:
    for role in lane:
        starts[role] = (clock, seconds(roles, role, overlap))
        clock += starts[role][1]
    return clock


def critical_lanes(roles: Roles, overlap: str) -> list[tuple[str, ...]]:
    """The lanes that take as long as the longest; more than one is a tie."""
    lanes, _ = LANES[overlap]
    longest = max(lane_seconds(roles, lane, overlap) for lane in lanes)
    return [lane for lane in lanes if math.isclose(lane_seconds(roles, lane, overlap), longest, rel_tol=1e-12)]


def exposed(roles: Roles, overlap: str) -> dict[str, float]:
    """{role: seconds} on the critical path, which add up to the step. Among tied lanes the first counts."""
    path = (*critical_lanes(roles, overlap)[0], *LANES[overlap][1])
    return {role: seconds(roles, role, overlap) for role in path}


@dataclass(frozen=True)
class Span:
    """One role's work on one batch."""

    role: str
    batch: int
    start: float  # seconds
    seconds: float
    critical: bool  # whether its step waits for it


def behind(overlap: str) -> dict[str, int]:
    """{role: by how many batches it is behind the rollout}: each lane works on what the previous lane produced in the
    previous step; whatever waits for all lanes belongs to the last lane's batch.
    """
    lanes, after = LANES[overlap]
    return {role: i for i, lane in enumerate(lanes) for role in lane} | dict.fromkeys(after, len(lanes) - 1)


def laid(roles: Roles, overlap: str, until: float) -> list[Span]:
    """The steps that begin before `until` seconds, one after another; step s generates batch s. Among tied lanes the
    first is critical.
    """
    each, at, late, path = step_time(roles, overlap), timeline(roles, overlap), behind(overlap), exposed(roles, overlap)
    return [
        Span(role, s - late[role], s * each + start, seconds, role in path)
        for s in range(math.ceil(until / each))
        for role, (start, seconds) in at.items()
    ]


def elasticity(roles: Roles, overlap: str) -> dict[str, tuple[float, float]]:
    """{role: (if it gets faster, if it gets slower)}: the two one-sided ∂ln t/∂ln t_i.

    This is the per cent change of the step for one per cent of the role. The two differ only at a tie: slowing down
    either lane costs time, while speeding up only one gains nothing.
    """
    step, critical = step_time(roles, overlap), critical_lanes(roles, overlap)

    def share(role: str) -> float:
        return seconds(roles, role, overlap) / step

    out = {role: (0.0, 0.0) for lane in LANES[overlap][0] for role in lane}
    for lane in critical:
        out |= {role: (share(role) if len(critical) == 1 else 0.0, share(role)) for role in lane}
    return out | {role: (share(role), share(role)) for role in LANES[overlap][1]}


def whatif(roles: Roles, role: str, k: float) -> Roles:
    """The same step with one role k times as fast; a faster engine also shortens the tail."""
    faster = {role: getattr(roles, role) / k} | ({"tail": roles.tail / k} if role == "rollout" else {})
    return replace(roles, **faster)


def speedup(roles: Roles, overlap: str, role: str, k: float) -> float:
    """Old step divided by new step when one role becomes k times as fast; k may be math.inf, which gives the
    ceiling.
    """
    after = step_time(whatif(roles, role, k), overlap)
    return step_time(roles, overlap) / after if after > 0 else math.inf


def amdahl(share: float, k: float) -> float:
    """Speed-up of a sum if `share` of it becomes k times as fast."""
    return 1 / (1 - share + share / k)


def gain_ends_at(roles: Roles, overlap: str, role: str) -> float:
    """The k beyond which making a role faster gains nothing more: infinite in a sum, 1 for a role off the critical
    path.
    """
    lanes, after = LANES[overlap]
    if role in after:
        return math.inf
    own = next(lane for lane in lanes if role in lane)
    rival = max((lane_seconds(roles, lane, overlap) for lane in lanes if lane is not own), default=0.0)
    mine = seconds(roles, role, overlap)
    spare = rival - (lane_seconds(roles, own, overlap) - mine)  # how long the role may take without being noticed
    return math.inf if spare <= 0 else max(1.0, mine / spare)


def verify_seconds(completions: int, workers: int, mean_seconds: float, longest_seconds: float) -> float:
    """A pool of workers takes the next test as soon as a worker is free, so there are no rounds: the larger of the
    longest test and all tests divided by all workers. The true time is at most their sum (Graham, 1969).
    """
    return max(longest_seconds, completions * mean_seconds / workers)


def verify_after(completions: int, workers: int, mean_seconds: float, longest_seconds: float, rollout: float) -> float:
    """Seconds of these tests that follow a rollout. A test starts when its completion ends, so tests run while other
    completions are still being written. The longest test may follow the last completion.
    """
    return max(longest_seconds, completions * mean_seconds / workers - rollout)


def useful_rate(completions: int, step_seconds: float, informative: float, ess: float) -> float:
    """Completions per second that move the policy: raw rate x fraction in groups with a nonzero advantage x effective
    share after importance weighting.
    """
    return completions / step_seconds * informative * ess


PROMPT = 512  # tokens in a prompt, and completions that share it, for which it is read once
GROUP = 16
DRAINED = 4096  # completions per engine that are followed one by one
ROUNDS = 16  # times that each slot of a full engine is refilled before the rest counts as a steady stream
PREFILL = 8192  # assumed: tokens in an iteration that reads prompts


def roles_from_config(
    model: Model,
    accelerator: Accelerator,
    rollout_gpus: int,
    train_gpus: int,
    tensor_parallel: int,
    completions: int,
    law: Law,
    verify: float,
    reference: bool = True,
    reuse: bool = False,
    efficiency: Efficiency = throughput.ASSUMED,
    mfu: float = throughput.MFU,
    prompt: int = PROMPT,
    group: int = GROUP,
    engine: memory.Engine = memory.ONE_GPU,
) -> Roles:
    """Roles of a step from shapes alone; `law` is the law of the lengths, sim/cluster/lengths.py. `engine` describes
    one replica: the widths of weights and cache, and the memory fraction that it may fill.

    The rollout is one engine's share of the prompts, and its share of the completions drained; the tail is the time
    beyond the steady stream, completions · mean / λ. Log-probs take 2P FLOP per token and training 6P, without
    attention; `verify` is given in seconds because it runs on CPUs.
    """

    engine = replace(engine, tensor_parallel=tensor_parallel)
    slots = memory.sequences(model, accelerator, law.context(prompt), engine)
    rollout, stream = generation_seconds(
        model, accelerator, rollout_gpus, completions, law, efficiency, prompt, group, engine, slots
    )
    tokens = completions * (prompt + law.mean)
    # one FLOP per weight and token
    flop_seconds = model.active_params() * tokens / (train_gpus * accelerator.flops() * mfu)
    return Roles(
        rollout=max(rollout, stream),
        verify=verify,
        log_probs=2 * flop_seconds * (reference + (not reuse)),
        train=6 * flop_seconds,
        sync=fabric.weight_sync(model, weight_bytes=engine.weight_bytes),
        tail=max(rollout - stream, 0.0),
    )


@lru_cache(maxsize=512)  # a planner that tries changes asks again for whatever they leave unchanged
def generation_seconds(
    model: Model,
    accelerator: Accelerator,
    gpus: int,
    completions: int,
    law: Law,
    efficiency: Efficiency,
    prompt: int,
    group: int,
    engine: memory.Engine,
    slots: float,
) -> tuple[float, float]:
    """(until the last completion of a step is done, for its share of a steady stream); `engine` is one replica, whose
    cache has room for this many sequences.
    """

    layout, widths = layouts.layout_of(engine), (engine.weight_bytes, engine.kv_bytes, efficiency)

    def iteration(live: Numbers, kv_tokens: Numbers, prefill: Numbers = 0, prefill_context: Numbers = 0) -> Numbers:
        shape = (model, accelerator, layout, live, kv_tokens, prefill, prefill_context)
        return layouts.engine_pass(*shape, *widths).seconds

    engines = gpus // engine.size
    live = min(completions / engines, slots)
    stream = completions * law.mean / (engines * live) * float(iteration(live, live * law.context(prompt)))
    prompts = completions / group / engines * prompt  # tokens
    prefills = math.ceil(prompts / PREFILL)
    reading = prefills * float(iteration(0, 0, prompts / prefills, prompt / 2))
    return until_the_last(law, completions, engines, slots, prompt, iteration) + reading, stream


def until_the_last(
    law: Law,
    completions: float,
    engines: int,
    slots: float,
    before: float,
    iteration: straggler.IterationSeconds,
    followed: int = DRAINED,
) -> float:
    """Seconds until one engine's share of the completions is written, including the longest of all. `before`: tokens
    with which each begins; `iteration(live, tokens of all)`: seconds in which each live sequence writes one token;
    `followed`: maximum number of completions followed one by one.
    """
    share = math.ceil(completions / engines)
    live = min(completions / engines, slots)
    # of very many completions most go through an engine that is full throughout, and of the rest one stands for several
    drained = min(share, max(followed, math.ceil(ROUNDS * slots)))
    alike = max(drained / followed, 1.0)
    lengths = law.quantiles(math.ceil(drained / alike))
    lengths[np.argmax(lengths)] = law.expected_max(math.ceil(completions))  # the step waits for the longest of all

    def together(live: Numbers, kv_tokens: Numbers) -> Numbers:
        return iteration(alike * live, alike * kv_tokens)

    finish, _ = straggler.drain(lengths, before, together, slots / alike)
    full = (share - drained) * law.mean / live * float(iteration(live, live * law.context(before)))
    return float(full + finish[-1])


def live_sequences(
    model: Model,
    accelerator: Accelerator,
    gpus: int,
    tensor_parallel: int,
    completions: int,
    law: Law,
    prompt: int = PROMPT,
    engine: memory.Engine = memory.ONE_GPU,
) -> float:
    """Sequences that decode together on one engine: its share of the step's completions, or as many as its cache
    holds.
    """
    engine = replace(engine, tensor_parallel=tensor_parallel)
    fit = memory.sequences(model, accelerator, law.context(prompt), engine)
    return min(completions / (gpus // tensor_parallel), fit)


OTHER_LIMIT = 0.10  # above this share of the step, measure before you optimize
IDLE_LIMIT = 1 / 3  # a pool that waits for more than this share of an overlapped step should give GPUs away

LEAVES = {
    "other": "add timers first",
    "tail": "shorten the tail",
    "idle pool": "move GPUs across",
    "sync": "faster weight sync",
    "verify": "more verifier workers",
    "log_probs": "reuse, drop at β = 0",
    "left of the ridge": "KV and precision",
    "right of the ridge": "batch and chunks",
    "below assumed MFU": "packing, recompute",
    "at assumed MFU": "fewer tokens, epochs",
}


def where_is_my_time(
    roles: Roles,
    overlap: str,
    points: Sequence[throughput.Point],
    accelerator: Accelerator,
    efficiency: Efficiency = throughput.ASSUMED,
    mfu: float = throughput.MFU,
) -> tuple[tuple[str, ...], str]:
    """The decision tree as code: (the branches taken, the remedy), by the ridge and the MFU that are expected.

    Hidden seconds are not on the path, so they are never the answer.
    """
    shown = exposed(roles, overlap)
    if overlap not in NO_TAIL and "rollout" in shown:  # a barrier waits for the tail
        shown |= {"rollout": roles.rollout - roles.tail, "tail": roles.tail}
    other = shown.pop("other", 0.0)
    largest = max(shown, key=shown.__getitem__)
    path: tuple[str, ...] = (largest,)
    if other > OTHER_LIMIT * step_time(roles, overlap):
        path = ("other",)
    elif largest in ("rollout", "train"):
        idle = idle_share(roles, overlap) > IDLE_LIMIT
        decode, train = decode_branch(points, accelerator, efficiency), train_branch(points, accelerator, mfu)
        path += ("idle pool" if idle else decode if largest == "rollout" else train,)
    return path, LEAVES[path[-1]]


def decode_branch(points: Sequence[throughput.Point], accelerator: Accelerator, efficiency: Efficiency) -> str:
    (decode,) = (point for point in points if point.role == "decode")
    left = decode.flop_per_byte < throughput.effective_ridge(accelerator, efficiency)
    return "left of the ridge" if left else "right of the ridge"


def train_branch(points: Sequence[throughput.Point], accelerator: Accelerator, mfu: float) -> str:
    (train,) = (point for point in points if point.role == "train")
    slow = train.flops_per_second < mfu * accelerator.flops() * 0.999
    return "below assumed MFU" if slow else "at assumed MFU"


def idle_share(roles: Roles, overlap: str) -> float:
    """Share of an overlapped step in which the less busy of the two GPU pools waits; 0 when both jobs share one
    pool.
    """
    if len(LANES[overlap][0]) == 1:
        return 0.0
    busy = min(seconds(roles, "rollout", overlap), roles.log_probs + roles.train)
    return 1 - busy / step_time(roles, overlap)
