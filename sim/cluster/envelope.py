"""What a job keeps on one GPU, moment by moment. A peak belongs to one moment, so parts that never coexist do not need
room together.

Closed form, from memory.py. The moments of colocated trainers follow HybridFlow (Sheng et al. 2024, arXiv:2409.19256):
the engine drops its cache before the trainer wakes, and takes the new weights before it allocates its cache. Left out:
temporary allocations between moments, and the buffers that carry weights between two pools.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from sim.cluster import memory
from sim.cluster.hardware import Accelerator
from sim.cluster.memory import Engine, Misfit, Training
from sim.cluster.models import Model

MOMENTS = ("generate", "score", "update", "sync")
# who has the GPUs: both in turn, with the training state offloaded to the host while idle or always on the GPU;
# or two pools
PLACEMENTS = ("in turn, offloaded", "in turn, resident", "two pools")
# in turn as well: the engine never sleeps (TRL without its sleep mode), or it generates with the very weights that are
# trained below adapters, and drops only its cache (Unsloth, with its standby)
BOTH_STAY, ONE_COPY = "in turn, both stay", "in turn, one copy"
STAYING = (PLACEMENTS[1], BOTH_STAY, ONE_COPY)  # training state beside the engine
MOST = 8192  # the largest number of GPUs that a search tries


@dataclass(frozen=True)
class Job:
    """A run of reinforcement learning or, without an engine, of training on pairs; the GPUs of its parts follow from
    its own.
    """

    gpus: int
    training: Training
    engine: Engine | None = None
    placement: str = PLACEMENTS[0]
    share: float = 0.5  # the engines' pool, if there are two


def pools(job: Job) -> tuple[int, int]:
    """(GPUs that generate, GPUs that train), at least one each; `misfits` reports a job with fewer than two."""
    if not job.engine or job.placement != "two pools":
        return job.gpus if job.engine else 0, job.gpus
    generating = max(min(round(job.share * job.gpus), job.gpus - 1), 1)
    return generating, max(job.gpus - generating, 1)


def parts(model: Model, accelerator: Accelerator, job: Job) -> tuple[Engine | None, Training]:
    """(Engine or None, Training) for this many GPUs; an engine of size 0 gets a size from `memory.engine_tp`."""
    generating, train = pools(job)
    training = replace(job.training, gpus=train)
    if not job.engine:
        return None, training
    engine = replace(job.engine, gpus=generating)
    if engine.tensor_parallel == 0:
        engine = replace(engine, tensor_parallel=memory.engine_tp(model, accelerator, engine))
    return engine, training


def envelope(model: Model, accelerator: Accelerator, job: Job) -> dict[str, dict[str, float]]:
    """{moment: {component: bytes}} on one GPU, in the engine's pool while it generates and in the trainer's at the
    other moments. Whatever room the engine may fill and does not need is cache.
    """
    engine, training = parts(model, accelerator, job)
    whole = memory.training_bytes(model, training)
    held = {name: whole[name] for name in ("state", "reference", "critic")}
    stays, apart = job.placement in STAYING, job.placement == "two pools" or not engine
    # if offloaded, only the update has the whole state; scoring and sending need only the weights
    waiting = held if stays or apart else {"state": weights_alone(model, training)}
    layer = 34 * training.tokens_of_gpu * model.hidden  # one layer, of which nothing is kept
    logits = memory.logits_bytes(model, training.tokens_of_gpu, training.logits_chunk, backward=False)
    scoring = {part: size / training.tensor_parallel for part, size in (("activations", layer), ("logits", logits))}
    moments = {
        "generate": {},
        "score": {**waiting, "reference": held["reference"], **scoring},
        "update": whole,
        "sync": dict(waiting),
    }
    if engine:
        engine = sized(model, accelerator, engine)
        weights = memory.weight_bytes_per_gpu(model, engine)
        room = memory.engine_room(model, accelerator, engine)
        generating = {"weights": weights, "extra": engine.extra_bytes, "cache": max(room, 0)}
        moments["generate"] = generating | (held if stays else {})
        if job.placement == ONE_COPY:
            moments["generate"]["state"] = memory.adapter_bytes(model, training)
        elif not apart:
            moments["sync"] |= {"weights": weights}
        if job.placement == BOTH_STAY:
            moments = {moment: generating | parts for moment, parts in moments.items()}
    return moments


def weights_alone(model: Model, training: Training) -> float:
    """The policy's weights as training holds them."""
    if training.on_host == "all":
        return 0.0
    if training.adapters:
        return memory.policy_bytes(model, training)
    alone = replace(training, ledger=memory.Ledger(memory.on_gpu_of(training).weights, 0, 0))
    return memory.whole_bytes(model, alone)


def free_share(model: Model, accelerator: Accelerator, job: Job) -> float:
    """The fraction of a GPU's memory that an engine may fill beside the training state that stays with it."""
    _, training = parts(model, accelerator, job)
    whole = memory.training_bytes(model, training)
    beside = total(whole) if job.placement == BOTH_STAY else total(whole) - whole["activations"] - whole["logits"]
    if job.placement == ONE_COPY:  # the weights are the engine's as well
        beside = whole["reference"] + memory.adapter_bytes(model, training)
    return 1 - memory.RESERVE - (beside / accelerator.hbm_bytes if job.placement in STAYING else 0.0)


def misfits(model: Model, accelerator: Accelerator, job: Job) -> list[Misfit]:
    """Everything in the job that is impossible, as [Misfit]."""
    if job.engine and job.placement == "two pools" and job.gpus < 2:
        return [Misfit("two pools on one GPU", 2, 1, "A second GPU.", "layout")]
    engine, training = parts(model, accelerator, job)
    misfits_of_memory = memory.fits(model, accelerator, engine, training, shared=job.placement == "in turn, resident")
    if misfits_of_memory:
        return misfits_of_memory
    has = (1 - memory.RESERVE) * accelerator.hbm_bytes / 1e9
    moments = envelope(model, accelerator, job)
    asked = MOMENTS if job.placement in (BOTH_STAY, ONE_COPY) else ("score", "sync")  # of the others `memory` has asked
    for moment in asked:
        needs = total(moments[moment]) / 1e9
        if needs > has:
            largest = max(moments[moment], key=moments[moment].__getitem__)
            what = f"the moment of {moment}: {needs:,.1f} GB, most of it {largest}, of {has:,.1f}"
            return [Misfit(what, needs, has, "More GPUs, or narrower weights.", largest)]
    return []


def total(components: Mapping[str, float]) -> float:
    return float(sum(components.values()))


class Peak(NamedTuple):
    moment: str
    needs: float  # bytes
    has: float

    @property
    def share(self) -> float:
        return self.needs / self.has


def peak(model: Model, accelerator: Accelerator, job: Job) -> Peak:
    """The trainer's fullest moment, relative to what a trainer may fill. While it generates, an engine fills its share
    with cache. So that moment counts only if training state stays beside it, or if the engine cannot hold its weights
    and one sequence.
    """
    engine, _ = parts(model, accelerator, job)
    moments = envelope(model, accelerator, job)
    has = (1 - memory.RESERVE) * accelerator.hbm_bytes
    peaks = {moment: Peak(moment, total(held), has) for moment, held in moments.items()}
    if engine and job.placement not in STAYING:
        del peaks["generate"]
        engine, fills = sized(model, accelerator, engine), engine.hbm_share * accelerator.hbm_bytes
        besides = fills - memory.engine_room(model, accelerator, engine)
        needs = besides + memory.cache_bytes(model, engine.longest, engine)
        if needs > fills:
            return Peak("generate", needs, fills)
    return max(peaks.values(), key=lambda peak: peak.share)


def sized(model: Model, accelerator: Accelerator, engine: Engine) -> Engine:
    """The engine or, if no size works, the largest possible one, to show what is missing."""
    size = engine.tensor_parallel or memory.largest_engine(model, accelerator, engine.pool)
    return replace(engine, tensor_parallel=size)


def fewest_gpus(model: Model, accelerator: Accelerator, job: Job) -> int | None:
    """The smallest number of GPUs on which the job is possible, up to MOST, or None. Adding GPUs in whole groups of the
    trainer's layout never makes a job impossible, so bisection finds it.
    """
    group = job.training.group

    def left_over(gpus: int) -> int:
        return pools(replace(job, gpus=gpus))[1] % group

    def whole(gpus: int) -> int:
        return next((more for more in range(gpus, MOST + 1) if not left_over(more)), MOST)

    def fits(gpus: int) -> bool:
        return not misfits(model, accelerator, replace(job, gpus=gpus))

    high = next((gpus for gpus in range(MOST, 0, -1) if not left_over(gpus)), 0)
    if not high or not fits(high):
        return None
    low = 0  # does not fit, and `high` does
    while (middle := whole((low + high) // 2 + 1)) < high or (middle := whole(low + 1)) < high:
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def copies(model: Model, training: Training, engine: Engine | None = None) -> dict[str, float]:
    """{copy of the model: bytes over all GPUs} if each is held once: the trained policy, the engine's, the reference,
    the critic and a reward model of the same size.
    """
    size, once = model.params(), replace(training, gpus=1, tensor_parallel=1)
    held = {"policy": memory.policy_bytes(model, once)}
    if engine:
        held["engine"] = model.stored_bytes(engine.weight_bytes)
    if training.reference:
        held["reference"] = 2 * size
    if training.critic:
        held |= {"critic": memory.whole_bytes(model, once), "reward model": 2 * size}
    return held
