"""What six kernels would gain in a training step: the share of the step that each touches, by how much it shortens that
share, and the total gain after each purchase.

Closed form: Amdahl (1967) over a step whose shares are measured or assumed; the bytes and operations inside a share
come from the roofline at peak. The weeks, and the speed-up of a weight sync, are assumed and labeled as such.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import erf, log, pi, sqrt

import numpy as np

from sim.cluster import memory
from sim.cluster.hardware import ACCELERATORS, Accelerator
from sim.cluster.models import MODELS, Model

SURFACES = ("prefix attention", "fused log-prob", "packing", "weight sync", "paged memory", "cache kept between turns")
WEEKS = (6.0, 2.0, 3.0, 4.0, 5.0, 4.0)  # assumed: one engineer's weeks to write it and to trust it
SYNC_SPEEDUP = 64.0  # assumed: speed-up of a sync that reshards on the way over one that gathers on one rank, lesson 24
HEAD_SHARE = 0.5  # assumed: fraction of peak FLOP/s that a log-prob pass reaches
UNFUSED_BYTES = 16  # bytes for a logit that is written, read, cast and read again


@dataclass(frozen=True)
class Workload:
    prompt: int = 1024  # tokens
    completion: int = 4096
    samples: int = 16  # K, the completions that share a prompt
    groups: int = 16  # prompts that a GPU decodes together
    turns: int = 1
    spread: float = 1.0  # of the lengths, standard deviation over mean
    micro_batch: int = 8  # sequences padded together
    # shares of the step: rollout, log-probs, training, weight sync; the rest is something else
    rollout: float = 0.70
    logp: float = 0.08
    train: float = 0.14
    sync: float = 0.05
    mfu: float = 0.4
    unpaged: float = 0.40  # assumed: fraction of sequences that run at once if memory is not paged (vLLM: .20 to .38)
    paged: float = 0.96  # where it is

    @property
    def shares(self) -> tuple[float, float, float, float]:
        return self.rollout, self.logp, self.train, self.sync


@dataclass(frozen=True)
class Surface:
    name: str
    share: float  # share of the step that it touches, F
    speedup: float  # speed-up of that share, s
    weeks: float

    @property
    def gain(self) -> float:
        """The fraction of the step that it saves, 1 − 1/S."""
        return self.share * (1 - 1 / self.speedup)

    @property
    def by_week(self) -> float:
        return self.gain / self.weeks


def weight_bytes(model: Model) -> float:
    """Bytes of the weights in bf16."""
    return 2.0 * model.params()


def amdahl(share: float, speedup: float) -> float:
    """The speed-up of the whole."""
    return 1 / (1 - share + share / speedup)


def padding(spread: float, batch: int) -> float:
    """Longest over mean of `batch` log-normal lengths, the cost factor of a padded micro-batch (1 if it is packed)."""
    if spread == 0 or batch == 1:
        return 1.0
    s = sqrt(log(1 + spread**2))
    z = np.linspace(-9, 12, 4201)
    density = np.exp(-(z**2) / 2) / sqrt(2 * pi)
    below = np.array([(1 + erf(x / sqrt(2))) / 2 for x in z])
    values = batch * density * below ** (batch - 1) * np.exp(s * z - s * s / 2)
    return float(((values[1:] + values[:-1]) / 2).sum() * (z[1] - z[0]))


def cache_tokens(work: Workload) -> tuple[float, float]:
    """(tokens of keys and values that a decode step reads on a GPU, the same if each prompt is read once per group)."""
    half = work.completion / 2
    return (work.groups * work.samples * (work.prompt + half), work.groups * (work.prompt + work.samples * half))


def prefilled(work: Workload, kept: bool) -> float:
    """Tokens read in before each turn, over all sequences; `kept` reads only the new ones."""
    sequences = work.groups * work.samples
    each = work.completion / work.turns
    if kept or work.turns == 1:
        return sequences * (work.prompt + each * (work.turns - 1))
    return sequences * sum(work.prompt + each * turn for turn in range(work.turns))


def rollout_seconds(model: Model, accelerator: Accelerator, work: Workload) -> tuple[float, float, float]:
    """(seconds of decoding, the part of them that reads keys and values, seconds of prefill) for one GPU's rollout at
    peak.
    """
    kv = model.kv_bytes_per_token() * cache_tokens(work)[0]
    read = work.completion * kv / accelerator.hbm_bytes_per_second
    decode = work.completion * weight_bytes(model) / accelerator.hbm_bytes_per_second + read
    prefill = 2 * model.params() * prefilled(work, False) / (work.mfu * accelerator.flops())
    return decode, read, prefill


def surfaces(
    model: Model = MODELS["qwen2.5-7b"],
    accelerator: Accelerator = ACCELERATORS["h100"],
    work: Workload | None = None,
    weeks: Sequence[float] = WEEKS,
) -> list[Surface]:
    """list[Surface]: for each kernel, the share of the step that it touches and by how much it shortens that share."""
    work = work or Workload()
    decode, read, prefill = rollout_seconds(model, accelerator, work)
    seconds = decode + prefill
    naive, shared = cache_tokens(work)
    rate = HEAD_SHARE * accelerator.flops()
    head = 2 * model.hidden * model.vocab
    fused = head / rate
    unfused = fused + UNFUSED_BYTES * model.vocab / accelerator.hbm_bytes_per_second
    body = (2 * model.params() - head) / rate
    sequence = model.kv_bytes_per_token() * (work.prompt + work.completion / 2)
    together = work.groups * work.samples

    # bytes that an iteration reads per sequence if this fraction of the possible sequences runs together
    def a_sequence(part: float) -> float:
        return weight_bytes(model) / (part * together) + sequence

    pairs = [
        (work.rollout * read / seconds, naive / shared),
        (work.logp * unfused / (unfused + body), unfused / fused),
        (work.train, padding(work.spread, work.micro_batch)),
        (work.sync, SYNC_SPEEDUP),
        (work.rollout * decode / seconds, a_sequence(work.unpaged) / a_sequence(work.paged)),
        (work.rollout * prefill / seconds, prefilled(work, False) / prefilled(work, True)),
    ]
    return [Surface(name, share, max(s, 1.0), w) for name, (share, s), w in zip(SURFACES, pairs, weeks)]


def bought(steps_in_order: list[Surface], names: Sequence[str]) -> tuple[list[float], list[Surface]]:
    """What remains of the step after each purchase, and the surfaces with their shares at that time."""
    left, steps = 1.0, [1.0]
    for name in names:
        one = next(s for s in steps_in_order if s.name == name)
        left -= one.gain * left
        new = 1 - one.gain
        steps_in_order = [
            replace(
                s,
                share=(s.share / s.speedup if s.name == name else s.share) / new,
                speedup=1.0 if s.name == name else s.speedup,
            )
            for s in steps_in_order
        ]
        steps.append(left)
    return steps, steps_in_order


def ranked(found: list[Surface]) -> list[str]:
    """Names by gain per week, largest first, without those that gain nothing."""
    return [s.name for s in sorted(found, key=lambda s: -s.by_week) if s.gain > 1e-9]


def best_first(found: list[Surface]) -> list[str]:
    """The order obtained by ranking again after each purchase."""
    names = []
    while order := ranked(found):
        names.append(order[0])
        _, found = bought(found, order[:1])
    return names


def fits(model: Model, accelerator: Accelerator, work: Workload, shared: bool = False) -> tuple[float, float, int]:
    """(bytes that weights and cache need on a GPU at the mean context, bytes available for them, sequences
    that run).
    """
    naive, once = cache_tokens(work)
    tokens = once if shared else naive
    weights = weight_bytes(model)
    room = memory.HBM_SHARE * accelerator.hbm_bytes
    needs = weights + model.kv_bytes_per_token() * tokens
    sequences = work.groups * work.samples
    run = sequences if needs <= room else sequences * max(room - weights, 0.0) / (needs - weights)
    return needs, room, int(run)
