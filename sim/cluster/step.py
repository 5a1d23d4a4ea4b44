"""The time of a training step from the times of its roles: a sum, or a maximum, by what overlaps.

Closed form. Amdahl (1967) for the sum; for the maximum the law of the slowest machine. Deterministic: seconds are
means, and the mean of a maximum is at least the maximum of the means, so an overlapped step is never faster than this
says for its own role times.
"""

import math
from dataclasses import dataclass, replace

from sim.cluster import kv_cache, throughput
from sim.cluster.hardware import ridge

TOPOLOGIES = ("sync", "one-off", "async")


@dataclass(frozen=True)
class Roles:
    """Seconds a step spends in each role when that role runs alone."""

    rollout: float
    verify: float
    log_probs: float  # old log-probs and the reference's
    train: float
    sync: float
    other: float = 0.0  # what the timers did not attribute
    tail: float = 0.0  # of the rollout: waiting for the last completions; a continuous stream does not wait


# Lanes that run side by side, then what waits for all of them.
# assumed: in a stream the unattributed seconds are hidden too, so "other" is in no lane of "async"
LANES = {
    "sync": ((("rollout", "verify", "log_probs", "train"),), ("sync", "other")),
    "one-off": ((("rollout", "verify"), ("log_probs", "train")), ("sync", "other")),
    "async": ((("rollout",), ("verify",), ("log_probs", "train"), ("sync",)), ()),
}


def step_time(roles, topology):
    """Seconds between two updates: the longest of the lanes, plus what waits for them all."""
    lanes, after = LANES[topology]
    longest = max(lane_seconds(roles, lane, topology) for lane in lanes)
    return longest + lane_seconds(roles, after, topology)


def lane_seconds(roles, lane, topology):
    return sum(seconds(roles, role, topology) for role in lane)


def seconds(roles, role, topology):
    """A role's seconds; a stream generates without waiting for the tail."""
    return roles.rollout - roles.tail if (role, topology) == ("rollout", "async") else getattr(roles, role)


def timeline(roles, topology):
    """{role: (start, seconds)} of one step; lanes start together."""
    lanes, after = LANES[topology]
    starts, barrier = {}, 0.0
    for lane in lanes:
        barrier = max(barrier, place(starts, roles, lane, topology, 0.0))
    place(starts, roles, after, topology, barrier)
    return starts


def place(starts, roles, lane, topology, clock):
    for role in lane:
        starts[role] = (clock, seconds(roles, role, topology))
        clock += starts[role][1]
    return clock


def critical_lanes(roles, topology):
    """The lanes that take as long as the longest: more than one is a tie."""
    lanes, _ = LANES[topology]
    longest = max(lane_seconds(roles, lane, topology) for lane in lanes)
    return [lane for lane in lanes if math.isclose(lane_seconds(roles, lane, topology), longest, rel_tol=1e-12)]


def exposed(roles, topology):
    """{role: seconds} on the critical path; they add up to the step. Of tied lanes the first counts."""
    path = (*critical_lanes(roles, topology)[0], *LANES[topology][1])
    return {role: seconds(roles, role, topology) for role in path}


def elasticity(roles, topology):
    """{role: (if it gets faster, if it gets slower)}: the two one-sided ∂ln t/∂ln t_i.

    Per cent of the step for one per cent of the role. They differ only at a tie: slowing
    either lane down costs, speeding up one alone gains nothing.
    """
    step, critical = step_time(roles, topology), critical_lanes(roles, topology)
    share = lambda role: seconds(roles, role, topology) / step
    out = {role: (0.0, 0.0) for lane in LANES[topology][0] for role in lane}
    for lane in critical:
        out |= {role: (share(role) if len(critical) == 1 else 0.0, share(role)) for role in lane}
    return out | {role: (share(role), share(role)) for role in LANES[topology][1]}


def whatif(roles, role, k):
    """The same step with one role k times as fast; a faster engine also shortens the tail."""
    faster = {role: getattr(roles, role) / k} | ({"tail": roles.tail / k} if role == "rollout" else {})
    return replace(roles, **faster)


def speedup(roles, topology, role, k):
    """Old step over new step when one role becomes k times as fast; k may be math.inf, which gives the ceiling."""
    after = step_time(whatif(roles, role, k), topology)
    return step_time(roles, topology) / after if after > 0 else math.inf


def amdahl(share, k):
    """Speed-up of a sum of which `share` becomes k times as fast."""
    return 1 / (1 - share + share / k)


def gain_ends_at(roles, topology, role):
    """The k beyond which making a role faster still buys nothing: infinite in a sum, 1 for a role that was not on the
    critical path.
    """
    lanes, after = LANES[topology]
    if role in after:
        return math.inf
    own = next(lane for lane in lanes if role in lane)
    rival = max((lane_seconds(roles, lane, topology) for lane in lanes if lane is not own), default=0.0)
    mine = seconds(roles, role, topology)
    spare = rival - (lane_seconds(roles, own, topology) - mine)  # how long the role may take without being noticed
    return math.inf if spare <= 0 else max(1.0, mine / spare)


def verify_seconds(completions, workers, seconds_each):
    """⌈BK/W⌉ rounds of one test each; take the 95th percentile of a test, not its mean: a round ends with its
    slowest.
    """
    return math.ceil(completions / workers) * seconds_each


def useful_rate(completions, step_seconds, informative, ess):
    """Completions a second that move the policy: raw rate x share in groups with a non-zero advantage x effective share
    after importance weighting.
    """
    return completions / step_seconds * informative * ess


PROMPT = 512  # assumed: prompt tokens of a completion
SYNC_BYTES_PER_SECOND = 25e9  # assumed: one weight transfer, casts and barriers included


def roles_from_config(
    model, accelerator, rollout_gpus, train_gpus, completions, mean_tokens, longest, verify, reference=True, reuse=False
):
    """Roles of a step from shapes alone: each term is its own roofline.

    rollout = max(longest · t_iter, completions · mean / λ) with λ the steady tokens a second; log-probs 2P and training
    6P FLOP a token, without attention's own; `verify` is given in seconds, because it runs on CPUs.
    """
    tensor_parallel = smallest_tensor_parallel(model, accelerator)

    def iteration(live, context):
        return float(
            throughput.iteration_seconds(model, accelerator, live, live * context, tensor_parallel=tensor_parallel)
        )

    engines = max(rollout_gpus // tensor_parallel, 1)
    live = live_sequences(model, accelerator, rollout_gpus, completions, mean_tokens)
    stream = completions * mean_tokens * iteration(live, mean_context(mean_tokens)) / (live * engines)
    straggler = longest * iteration(1, PROMPT + longest / 2)  # the last completion decodes alone
    tokens = completions * (PROMPT + mean_tokens)
    # one FLOP for each weight and token
    flop_seconds = model.active_params() * tokens / (train_gpus * accelerator.flops() * throughput.MFU)
    return Roles(
        rollout=max(straggler, stream),
        verify=verify,
        log_probs=2 * flop_seconds * (reference + (not reuse)),
        train=6 * flop_seconds,
        sync=2 * model.params() / SYNC_BYTES_PER_SECOND,
        tail=max(straggler - stream, 0.0),
    )


def live_sequences(model, accelerator, gpus, completions, mean_tokens):
    """Sequences that decode together on one engine: its share of the step's completions, or as many as its cache
    holds.
    """
    tensor_parallel = smallest_tensor_parallel(model, accelerator)
    share = completions / max(gpus // tensor_parallel, 1)
    return min(share, kv_cache.capacity(model, accelerator, tensor_parallel) / mean_context(mean_tokens))


def mean_context(mean_tokens):
    return PROMPT + mean_tokens / 2  # assumed: a sequence in flight is half done


def smallest_tensor_parallel(model, accelerator):
    """Tensor parallelism that leaves a third of the engine's memory to the cache, a power of two."""
    room = kv_cache.HBM_SHARE * accelerator.hbm_bytes * 2 / 3
    return 2 ** max(0, math.ceil(math.log2(2 * model.params() / room)))


OTHER_LIMIT = 0.10  # above this share of the step, measure before you optimize
IDLE_LIMIT = 1 / 3  # a pool that waits for more than this share of an overlapped step should give GPUs away

LEAVES = {
    "other": "add timers first",
    "tail": "shorten the tail",
    "idle pool": "move GPUs across",
    "sync": "faster weight sync",
    "verify": "more verifiers",
    "log_probs": "reuse, drop at β = 0",
    "left of the ridge": "KV and precision",
    "right of the ridge": "batch and chunks",
    "below assumed MFU": "packing, recompute",
    "at assumed MFU": "fewer tokens, epochs",
}


def where_is_my_time(roles, topology, points, accelerator):
    """The decision tree as code: (the branches taken, the remedy).

    Hidden seconds are not on the path, so they are never the answer.
    """
    shown = exposed(roles, topology)
    if topology != "async" and "rollout" in shown:  # a barrier waits for the tail
        shown |= {"rollout": roles.rollout - roles.tail, "tail": roles.tail}
    other = shown.pop("other", 0.0)
    largest = max(shown, key=shown.get)
    path = (largest,)
    if other > OTHER_LIMIT * step_time(roles, topology):
        path = ("other",)
    elif largest in ("rollout", "train"):
        idle = idle_share(roles, topology) > IDLE_LIMIT
        busy = decode_branch if largest == "rollout" else train_branch
        path += ("idle pool" if idle else busy(points, accelerator),)
    return path, LEAVES[path[-1]]


def decode_branch(points, accelerator):
    (decode,) = (point for point in points if point.role == "decode")
    return "left of the ridge" if decode.flop_per_byte < ridge(accelerator) else "right of the ridge"


def train_branch(points, accelerator):
    (train,) = (point for point in points if point.role == "train")
    slow = train.flops_per_second < throughput.MFU * accelerator.flops() * 0.999
    return "below assumed MFU" if slow else "at assumed MFU"


def idle_share(roles, topology):
    """Share of an overlapped step in which the less busy of the two GPU pools waits; 0 when both jobs share one
    pool.
    """
    if topology == "sync":
        return 0.0
    busy = min(seconds(roles, "rollout", topology), roles.log_probs + roles.train)
    return 1 - busy / step_time(roles, topology)
