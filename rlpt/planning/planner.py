"""A run before it starts: whether it fits, how long a step and all steps take, and what they cost.

Closed form: each number comes from the module that owns it: memory, throughput, step, trainer, lengths, envelope,
fabric or topology. No module knows how far a real system falls short, so seconds are a range from calibration.py: that
of published steps, or of a job that the reader has timed. plan.py is the same for a terminal.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any, NamedTuple

from rlpt.planning import calibration, engine_timing
from rlpt.planning.calibration import Calibration
from rlpt.planning.engine_timing import Timing
from rlpt.planning.user_inputs import Measured
from sim.cluster import envelope, fabric, layouts, memory, step, throughput, topology, trainer, turns
from sim.cluster.hardware import Accelerator
from sim.cluster.lengths import Law
from sim.cluster.memory import Engine, Training
from sim.cluster.models import Model, Quantized
from sim.cluster.turns import HOLD, OFFLOAD, Service, Session
from sim.words import counted, plural

WAYS = {  # {overlap: its name in lesson 19}
    "sync": topology.COLOCATED,
    "carry-over": topology.CARRY,
    "one-off": topology.ONE_OFF,
    "async": topology.ASYNC,
}
CURRENCIES = ("$", "€", "£", "¥", "₹", "CHF")  # ¥ is the yuan as well as the yen
PACKED = 8192  # assumed: tokens of a micro-batch of short sequences
LOGITS_CHUNK = 1024  # assumed: tokens whose logits exist at once while training
SHARING = (envelope.PLACEMENTS[0], envelope.PLACEMENTS[1], envelope.BOTH_STAY, envelope.ONE_COPY)
# {program: how it uses one pool of GPUs}: TRL with its sleep mode, Unsloth with one copy of the weights, the others
# with the training state offloaded
PROGRAMS: dict[str, dict[str, Any]] = {
    "any": {},
    "TRL": dict(sharing=SHARING[1], packed=False),
    "Unsloth": dict(sharing=SHARING[3], packed=False),
    **{program: dict(sharing=SHARING[0]) for program in ("verl", "OpenRLHF", "NeMo RL")},
}


@dataclass(frozen=True)
class Scenario:
    """What to run, on which hardware, and how."""

    model: Model
    accelerator: Accelerator
    law: Law  # of the lengths, with a limit
    gpus: int = 64
    prompts: int = 512  # per step
    samples: int = 16  # completions per prompt
    prompt: int = 512  # in tokens
    turns: int = 1  # per completion; the law covers everything that the model writes
    returned: int = 1000  # tokens that a tool returns between two turns
    tool_seconds: float = 20.0  # for one answer of a tool
    kept: str = HOLD  # one of turns.REUSES: what happens to a completion's cache meanwhile
    shared_cache: bool = False  # a prompt's completions run together and store it once; it is read once in any case
    overlap: str = "sync"  # one of step.OVERLAPS: one pool for the first two, two pools for the others
    share: float = 0.5  # the engines' pool, if there are two
    batches: float = 1.0  # in flight one step ahead: completions are this many versions old
    updates: int = 1  # optimizer steps per step
    grouped: bool = False  # the trainer processes a prompt once for all of its completions
    tensor_parallel: int = 0  # GPUs per group of an engine; 0: the fewest in one server, else the best layout
    data_parallel: int = 1  # groups of an engine that share its experts
    pipeline: int = 1  # stages of an engine
    context_parallel: int = 1  # GPUs per group that split copies of its cache by tokens; 0: all that have one
    weight_bytes: float | None = None  # for the engine's weights; None: as the model's file stores them
    kv_bytes: float = 2
    hbm_share: float = memory.HBM_SHARE
    recompute: str = "full"
    training_parallel: int = 1  # GPUs that share a sequence while training: context parallelism
    expert_parallel: int = 1  # GPUs over which the trainer splits the experts of a layer
    training_tensor: int = 1  # GPUs that share a layer while training: tensor parallelism
    training_stages: int = 1  # stages of the trainer: pipeline parallelism
    zero: int = 3  # stage: 1 shards the optimizer state, 2 also the gradients, 3 also the weights
    adapters: int = 0  # rank of LoRA adapters trained in place of the weights; 0 trains the weights
    four_bits: bool = False  # with adapters: the weights below them in NF4, as in QLoRA
    moment_bits: int = 32  # of each of Adam's moments
    on_host: str = memory.KEPT_ON_HOST[0]  # of the training state, also while it is used
    sharing: str = envelope.PLACEMENTS[0]  # in one pool: what leaves the GPUs while others use them, one of SHARING
    logits_chunk: int | None = LOGITS_CHUNK
    transfer: str = "broadcast"  # one of fabric.TRANSFERS: how weights get from one pool to the other
    packed: bool = True  # a micro-batch is filled with sequences; otherwise it is one
    host_gb: float = 2000.0  # host memory of a server of eight GPUs; of fewer, in proportion
    reference: bool = False
    reuse: bool = False  # the engine's log-probs replace the old ones
    test_seconds: float = 0.0  # for the test of one completion, on average
    longest_test: float = 0.0
    workers: int = 64
    steps: int = 500
    price: float = 2.0  # per GPU-hour: the reader's assumption
    currency: str = "$"  # one of CURRENCIES: only a label
    efficiency: throughput.Efficiency = throughput.ENGINE
    calibration: Calibration | None = None  # from a job that was timed

    @cached_property
    def held(self) -> Model:
        """The model as an engine holds it: what it shares with a trainer is stored as the trainer stores it."""
        return in_four_bits(self.model) if self.one_copy and self.four_bits else self.model

    @property
    def one_copy(self) -> bool:
        """Whether an engine generates with the very weights below the adapters."""
        return self.adapters > 0 and self.placement == "one pool" and self.sharing == envelope.ONE_COPY

    @property
    def engine_bytes(self) -> float | None:
        """Bytes of a weight in the engine; None: as they are stored."""
        return None if self.one_copy else self.weight_bytes

    @property
    def completions(self) -> int:
        return self.prompts * self.samples

    @property
    def answered(self) -> int:
        """Tokens per completion that come from tools."""
        return (self.turns - 1) * self.returned

    @property
    def longest(self) -> int:
        """Tokens of the longest sequence, including its prompt and what tools return."""
        return ceil(self.prompt + self.answered + self.law.longest)

    @property
    def context(self) -> float:
        """Tokens before a decoded token, on average."""
        return self.law.context(self.prompt + self.answered / 2)

    @property
    def session(self) -> Session:
        written = self.law.mean / self.turns
        return Session(self.turns, written, self.returned, self.tool_seconds, self.prompt, self.samples, self.kept)

    @property
    def ledger(self) -> memory.Ledger:
        whole = memory.FSDP if self.zero == 3 else memory.MEGATRON
        return whole.narrow if self.moment_bits == 8 else whole

    @property
    def ahead(self) -> float:
        """Batches in flight per step; 1 if the next one waits until the last one is trained on."""
        return self.batches if self.overlap == "one-off" else 1.0

    @property
    def dealt(self) -> int:
        """GPUs over which the trainer splits the experts; 1 for a dense model."""
        return self.expert_parallel if self.model.moe else 1

    @property
    def placement(self) -> str:
        return "one pool" if self.overlap in ("sync", "carry-over") else "two pools"

    @cached_property
    def job(self) -> envelope.Job:
        """The scenario as an `envelope.Job`."""
        engine = Engine(
            self.gpus,
            self.tensor_parallel,
            self.longest,
            context_parallel=self.context_parallel or 1,
            hbm_share=self.hbm_share,
            weight_bytes=self.engine_bytes,
            kv_bytes=self.kv_bytes,
            data_parallel=self.data_parallel if self.model.moe else 1,
            pipeline=self.pipeline,
        )
        training = Training(
            self.gpus,
            reference=self.reference and not self.adapters,  # adapters that are switched off leave the reference
            tokens=self.longest,
            length=self.longest,
            recompute=self.recompute,
            logits_chunk=self.logits_chunk,
            context_parallel=self.training_parallel,
            zero=self.zero,
            ledger=self.ledger,
            adapters=self.adapters,
            four_bits=self.four_bits,
            on_host=self.on_host,
            tensor_parallel=self.training_tensor,
            pipeline=self.training_stages,
            expert_parallel=self.dealt,
        )
        placement = "two pools" if self.placement == "two pools" else self.sharing
        if placement == envelope.ONE_COPY and not self.adapters:  # trained weights are no engine's
            placement = SHARING[1]
        asked = envelope.Job(self.gpus, training, engine, placement, self.share)
        _, trainer_alone = envelope.parts(self.model, self.accelerator, replace(asked, engine=engine))
        training = replace(training, tokens=self.micro_batch(trainer_alone))
        asked = replace(asked, training=training)
        if placement in envelope.STAYING:
            free = envelope.free_share(self.held, self.accelerator, asked)
            asked = replace(asked, engine=replace(engine, hbm_share=max(min(engine.hbm_share, free - 1e-9), 0.0)))
        engines, _ = envelope.parts(self.held, self.accelerator, asked)
        assert engines is not None, "a scenario generates"
        auto = engine.data_parallel == engine.pipeline == engine.context_parallel == 1
        if engines.tensor_parallel is None and auto and (wide := layouts_of(self, engines.pool)):
            return laid_out(self, wide[0].layout).job  # no single server holds it, but several do
        if self.context_parallel == 0 and engines.tensor_parallel in self.model.tp_sizes():
            copies = engines.group // self.model.shards_by_head(engines.group)
            return laid_out(self, replace(layouts.layout_of(engines), context_parallel=copies)).job
        return asked

    def micro_batch(self, training: Training) -> int:
        """Tokens of a micro-batch: the longest sequence and, if sequences are packed, as many more as fit, up to
        PACKED.
        """
        tokens = max(PACKED, self.longest) if self.packed else self.longest
        while tokens > self.longest:
            if not memory.training_misfits(self.model, self.accelerator, replace(training, tokens=tokens)):
                break
            tokens = max(tokens // 2, self.longest)
        return tokens

    @cached_property
    def parts(self) -> tuple[Engine, Training]:
        """(memory.Engine, memory.Training), each for its own pool, with the engine's size filled in."""
        engine, training = envelope.parts(self.held, self.accelerator, self.job)
        assert engine is not None, "a scenario generates"
        return engine, training

    @property
    def engine(self) -> Engine:
        return self.parts[0]

    def engines(self, gpus: int) -> int:
        return gpus // self.engine.size

    @property
    def room(self) -> float:
        """Sequences that the cache of one engine holds at once, on average."""
        own = self.context - (self.prompt * (1 - 1 / self.samples) if self.shared_cache else 0.0)
        return memory.sequences(self.held, self.accelerator, own, self.engine)

    @cached_property
    def slots(self) -> float:
        """The most sequences that one engine has in progress: those that its cache holds, plus those whose cache is
        elsewhere while a tool runs.
        """
        if self.turns == 1 or self.kept == HOLD:
            return self.room
        return at_once(self, float("inf")).alive


def by_program(s: Scenario, program: str, sharing: str | None = None) -> Scenario:
    """The scenario as a program of PROGRAMS runs it, with this sharing if one is given. If neither says how one pool
    shares its GPUs, it is the first way that fits, or the first at all.
    """
    usual = PROGRAMS[program] | (dict(sharing=sharing) if sharing else {})
    s = replace(s, **usual)
    if "sharing" in usual or s.placement != "one pool":
        return s
    in_turn, engine_sleeps, both_stay, one_copy = SHARING
    shared = [one_copy] if s.adapters and s.gpus == 1 else []  # Unsloth's
    # no program puts weights in four bits aside
    ways = [*shared, both_stay] if s.adapters and s.four_bits else [in_turn, engine_sleeps, *shared]
    tried = [replace(s, sharing=way) for way in ways]
    return next((there for there in tried if not impossible(there)), tried[0])


def in_four_bits(model: Model) -> Model:
    """The model with its matrices in NF4 and everything else in bf16. A pass over several sequences writes them in bf16
    before it multiplies with them (bitsandbytes, 2026).
    """
    plain = model.params() - model.matrices()
    return replace(model, quantized=Quantized("nf4", memory.NF4_BYTES, plain, moved=trainer.DEQUANTIZED_BYTES))


def layouts_of(s: Scenario, gpus: int) -> tuple[layouts.Laid, ...]:
    """Layouts of engines that hold the longest sequence on a pool of `gpus` GPUs, best first."""
    siblings = s.samples if s.shared_cache else 1
    work = layouts.Work(s.context, s.prompt, siblings, s.engine_bytes, s.kv_bytes, s.hbm_share)
    return layouts.best(s.held, s.accelerator, gpus, s.completions, work, s.longest, s.efficiency)


def laid_out(s: Scenario, layout: layouts.Layout) -> Scenario:
    """The scenario with engines in this layout."""
    return replace(
        s,
        tensor_parallel=layout.tensor_parallel,
        data_parallel=layout.data_parallel,
        pipeline=layout.pipeline,
        context_parallel=layout.context_parallel,
    )


def known(s: Scenario, iteration: Timing | None = None, step: Measured | None = None) -> Scenario:
    """The scenario with the reader's timings, if any, of an engine and of a step; without them if it is impossible."""
    if impossible(s):
        return s
    if iteration:
        s = timed(s, iteration)
    if step:
        on = replace(s, **step.job)
        s = calibrated(s, step.seconds, replace(on, longest_test=on.test_seconds) if step.job else None)
    return s


def timed(s: Scenario, one: Timing) -> Scenario:
    """The scenario with the efficiency that a timed engine shows."""
    return replace(
        s, efficiency=engine_timing.efficiency(one, s.held, s.accelerator, s.efficiency, **timed_engine(s, one))
    )


def understood(s: Scenario, one: Timing) -> str:
    """What that timing says, in sentences, if the efficiency of the scenario is what was assumed before it."""
    return engine_timing.understood(one, s.held, s.accelerator, s.efficiency, **timed_engine(s, one))


def timed_engine(s: Scenario, one: Timing) -> dict[str, Any]:
    """The engine that was timed. If the timing does not state its GPUs, it has the scenario's own size."""
    size = one.gpus or s.engine.tensor_parallel or 1
    return dict(tensor_parallel=size, weight_bytes=s.engine_bytes, kv_bytes=s.kv_bytes)


def calibrated(s: Scenario, seconds: Mapping[str, float], on: Scenario | None = None) -> Scenario:
    """The scenario calibrated by measurements, {role of calibration.ROLES or "step": seconds}, of itself or of another
    job. Raises a ValueError with one sentence if that job is impossible or its seconds contradict each other.
    """
    job = without_price(on or s)
    if unfit := impossible(job):
        raise ValueError(f"the job that was timed does not fit: {unfit[0].what}")
    return replace(s, calibration=calibration.calibration(job, formulas(job), job.overlap, seconds))


def without_price(s: Scenario) -> Scenario:
    """The scenario reduced to what seconds depend on, without timings."""
    return replace(s, steps=1, price=0.0, currency=CURRENCIES[0], calibration=None)


def misfits(s: Scenario) -> list[memory.Misfit]:
    """Everything in the scenario that is impossible, as [memory.Misfit]."""
    too_fast = faster_than_the_chip(s.calibration) if s.calibration else []
    return memory.fits(s.held, s.accelerator) or too_fast or impossible(s)


def faster_than_the_chip(known: Calibration) -> list[memory.Misfit]:
    """Misfits for what was timed and would be faster than the chip."""
    job = known.job
    took, least = calibration.scaled(formulas(job), known.factors), floor(job)
    generates, at_least = (step.seconds(one, "rollout", job.overlap) for one in (took, least))
    engines = f"engines of {counted(job.engine.size, 'GPU')}"
    trainers = counted(job.parts[1].gpus, "GPU")
    compared = (
        ("rollout", "a rollout", engines, generates, at_least),
        ("log_probs", "log-probs", trainers, took.log_probs, least.log_probs),
        ("update", "an update", trainers, took.train, least.train),
        (calibration.WHOLE, "a step", engines, step_seconds(job, took), step_seconds(job, least)),
    )
    mend = "Other seconds, another layout, or other lengths."
    return [
        memory.Misfit(
            f"{name} in {digits(here)} s: at the chip's peak, {who} need {digits(needs)} s", needs, here, mend, "input"
        )
        for role, name, who, here, needs in compared
        if role in known.timed and here < needs * (1 - 1e-9)
    ]


def floor(s: Scenario) -> step.Roles:
    """Seconds of each role at the chip's peak bandwidth and FLOP/s: of engines of this size, without drafts, and of a
    trainer only the products with its weights, forward 2 FLOP for each weight and token. Tests and transfers take none.
    """
    rollout, stream = generated(replace(s, efficiency=throughput.PEAK))
    forward = 2 * s.model.matmul_params() * batch(s).tokens / (s.parts[1].gpus * s.accelerator.flops())
    return step.Roles(
        rollout=max(rollout, stream),
        verify=0.0,
        log_probs=forward * (s.reference + (not s.reuse)),
        train=forward * (2 if s.adapters else 3),
        sync=0.0,
        tail=max(rollout - stream, 0.0),
    )


def no_faster(found: step.Roles, least: step.Roles) -> step.Roles:
    """The roles, none of them faster than `least`."""
    rollout = max(found.rollout, least.rollout)
    stream = max(found.rollout - found.tail, least.rollout - least.tail)
    return replace(
        found,
        rollout=rollout,
        tail=max(rollout - stream, 0.0),
        log_probs=max(found.log_probs, least.log_probs),
        train=max(found.train, least.train),
    )


def impossible(s: Scenario) -> list[memory.Misfit]:
    """The same without what was timed."""
    unfit = memory.fits(s.held, s.accelerator, efficiency=s.efficiency)
    if s.model.positions and s.longest > s.model.positions:
        what = f"{s.longest:,} tokens a sequence: {s.model.name} has {s.model.positions:,} positions"
        unfit.append(memory.Misfit(what, s.longest, s.model.positions, "Shorter sequences.", "positions"))
    if s.turns > 1 and s.kept == OFFLOAD and not s.accelerator.host_gb_per_second:
        what = f"a cache that is offloaded while a tool runs: how fast {s.accelerator.name} moves it is not known"
        unfit.append(memory.Misfit(what, 1.001, 1.0, "A cache that is held.", "input"))
    unfit = unfit or envelope.misfits(s.held, s.accelerator, s.job) or beyond_the_host(s)
    if unfit:
        return unfit
    if s.updates > s.prompts:
        prompts = "one prompt" if s.prompts == 1 else f"{s.prompts:,} prompts"
        left = s.updates - s.prompts
        what = f"{s.updates:,} updates of {prompts} a step: {left:,} {plural(left, 'has', 'have')} none"
        return [memory.Misfit(what, s.updates, s.prompts, "Fewer updates.", "updates")]
    engines = s.engines(s.engine.pool)
    if s.completions < engines:
        left = engines - s.completions
        many = counted(s.completions, "completion")
        what = f"{many} for {engines:,} engines: {left:,} {plural(left, 'has', 'have')} none"
        return [memory.Misfit(what, engines, s.completions, "More completions, or fewer GPUs.", "batch")]
    return []


SERVER = trainer.SERVER


def beyond_the_host(s: Scenario) -> list[memory.Misfit]:
    """Misfits for training state that leaves the GPUs while they generate, and for caches that leave them while tools
    run, if the hosts' memory has no room for them.
    """
    training = s.parts[1]
    kept = memory.host_bytes(s.model, training) * min(training.gpus, SERVER) / 1e9
    waiting, caches = 0.0, 0.0
    servers = ceil(s.engine.pool / SERVER)
    if s.placement == "one pool" and s.sharing == SHARING[0]:
        waiting = memory.waiting_bytes(s.model, training) * s.engine.pool / servers / 1e9
    if s.turns > 1 and s.kept == OFFLOAD:
        caches = offloaded_bytes(s) * s.engines(s.engine.pool) / servers / 1e9
    state = kept + waiting
    apart = s.placement == "two pools"  # then these are different servers
    needs = max(state, caches) if apart else state + caches
    has = s.host_gb * min(s.gpus, SERVER) / SERVER
    if needs <= has:
        return []
    what = "training state on the host while the engine generates" if waiting else "training state kept on the host"
    what = what if state and not (apart and caches > state) else "caches on the host while tools run"
    what += f" and {caches:,.0f} GB of caches" if state and caches and not apart else ""
    what += f": {needs:,.0f} GB a server, of {has:,.0f}"
    mend = "More servers, more memory, or two pools." if state else "More memory, or a cache that is held."
    return [memory.Misfit(what, needs, has, mend, "host")]


def offloaded_bytes(s: Scenario) -> float:
    """Bytes of caches of one engine's sessions that wait for their tools."""
    state = at_once(s, live(s))
    of_each = memory.cache_bytes(s.held, s.context, s.engine) * s.engine.group * s.engine.pipeline
    return (state.alive - state.decoding) * of_each


TOO_FEW = ("batch", "updates")  # misfits of a batch that is too small


def fewest_gpus(s: Scenario) -> int | None:
    """The smallest number of GPUs on which the scenario is possible, up to envelope.MOST, or None. Adding GPUs can only
    make a batch too small for their engines, which does not count here, so bisection finds it.
    """

    def fits(gpus: int) -> bool:
        return not [found for found in impossible(replace(s, gpus=gpus)) if found.part not in TOO_FEW]

    if not fits(envelope.MOST):
        return None
    low, high = 0, envelope.MOST  # the first does not fit, the second does
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def spread(s: Scenario) -> calibration.Range:
    """The range around the predicted seconds, and its source."""
    known = s.calibration
    return calibration.reach(known, s, same=known is not None and without_price(s) == known.job)


def roles(s: Scenario) -> step.Roles:
    """Predicted seconds of each role: by the formulas, times the factors of a timed job, if any."""
    computed, by_role = formulas(s), calibration.factors(s.calibration, s)
    known = s.calibration.timed if s.calibration else ()
    tools = (s.turns - 1) * s.tool_seconds  # the reader's own seconds, as those of tests
    tools = 0.0 if {"rollout", calibration.WHOLE} & set(known) else min(tools, computed.tail)
    without = replace(computed, rollout=computed.rollout - tools, tail=computed.tail - tools)
    found = calibration.scaled(without, by_role)
    found = replace(found, rollout=found.rollout + tools, tail=found.tail + tools)
    return no_faster(found, floor(s)) if s.calibration else found


def formulas(s: Scenario) -> step.Roles:
    """Seconds of each role at the assumed efficiencies, or at those that a timed iteration shows."""
    return roles_with(s, trainer_of(s), batch(s))


def roles_with(s: Scenario, by: trainer.Trainer, sequences: trainer.Batch) -> step.Roles:
    """The same with a trainer in any layout, and any number of updates per step."""
    shape_of_pass = s.held, s.accelerator, by, sequences
    rollout, stream = generated(s)
    one_pool = s.placement == "one pool"
    tests = (s.completions, s.workers, s.test_seconds, max(s.longest_test, s.test_seconds))
    beside = stream if s.overlap in step.NO_TAIL else max(rollout, stream)
    return step.Roles(
        rollout=max(rollout, stream),
        verify=step.verify_seconds(*tests) if s.overlap == "async" else step.verify_after(*tests, beside),
        log_probs=trainer.pass_seconds(*shape_of_pass, train=False).seconds * (s.reference + (not s.reuse)),
        train=trainer.pass_seconds(*shape_of_pass).seconds,
        sync=0.0 if one_pool else delivered(s),
        tail=max(rollout - stream, 0.0),
        switch=moved_aside(s) + delivered(s) if one_pool else 0.0,
    )


def delivered(s: Scenario) -> float:
    """Seconds until the engines have the new weights; of adapters, nothing else is sent."""
    way = fabric.BROADCAST if s.placement == "one pool" else fabric.TRANSFERS[s.transfer]  # assumed of one pool
    chip = s.accelerator
    card = chip.scaleup_gb_per_second if s.placement == "one pool" else chip.nic_gb_per_second * (1 - way.into_each / 2)
    way = way._replace(bytes_per_second=min(way.bytes_per_second, 1e9 * card))
    if s.adapters:
        own = memory.adapter_params(s.model, s.adapters)
        return 0.0 if s.one_copy else fabric.sent_seconds(2.0 * own, 9 * s.model.layers, way, s.engine.size)
    return fabric.transfer_seconds(s.model, way, s.engine_bytes, s.engine.size)


def moved_aside(s: Scenario) -> float:
    """Seconds in which one pool of GPUs changes hands: what leaves for the host's memory and comes back."""
    link = 1e9 * trainer.LINK * (s.accelerator.host_gb_per_second or trainer.PCIE_GB_PER_SECOND)
    link = min(topology.OFFLOAD_BYTES_PER_SECOND, link)
    if s.job.placement == envelope.PLACEMENTS[0]:
        return 2 * memory.waiting_bytes(s.model, s.parts[1]) / link
    if s.job.placement == envelope.PLACEMENTS[1]:
        return memory.weight_bytes_per_gpu(s.held, s.engine) / link
    return 0.0


def generated(s: Scenario) -> tuple[float, float]:
    """Seconds for a step's completions: (until the last of them is done, their share of a steady stream). Batches in
    flight together share one wait for the last completion.
    """
    engine, completions = replace(s.engine, gpus=None), ceil(s.ahead * s.completions)
    pool = s.held, s.accelerator, s.engine.pool, completions, s.law, s.efficiency
    if s.turns > 1:
        seconds_and_share = turns.generation_seconds(*pool, engine, s.session, s.room, s.slots)
    else:
        seconds_and_share = step.generation_seconds(*pool, s.prompt, s.samples, engine, s.room)
    return seconds_and_share[0] / s.ahead, seconds_and_share[1] / s.ahead


def at_once(s: Scenario, bound: float) -> turns.Steady:
    """The steady state of one engine with sessions of several turns, of which at most `bound` are alive."""
    served = Service(s.held, s.accelerator, replace(s.engine, gpus=None), s.efficiency, s.session)
    return served.state(s.context, s.room, bound)


def trained(s: Scenario, train: bool = True) -> trainer.Pass:
    """A pass of the trainer over the step's completions: the update, or only the forward pass, as for log-probs."""
    return trainer.pass_seconds(s.held, s.accelerator, trainer_of(s), batch(s), train)


def trainer_of(s: Scenario) -> trainer.Trainer:
    """The trainer in the layout of its state."""
    training = s.parts[1]
    return trainer.Trainer(
        training.gpus,
        tensor_parallel=training.tensor_parallel,
        context_parallel=training.context_parallel,
        pipeline=training.pipeline,
        expert_parallel=training.expert_parallel,
        zero=training.zero,
        recompute=s.recompute == "full",
        pack=training.tokens if s.packed else 0,
        filled=trainer.FILLED if s.packed else 1.0,
        on_host=s.on_host,
        adapters=s.adapters,
        four_bits=s.four_bits,
    )


def batch(s: Scenario) -> trainer.Batch:
    """The step's sequences. A token's own sequence is longer than the mean, E[n²]/E[n]. What tools return is also
    processed.
    """
    before, mean = s.prompt + s.answered, s.law.mean
    weighted = (before**2 + 2 * before * mean + s.law.second_moment) / (before + mean)
    once = s.prompt * (1 - 1 / s.samples) if s.grouped else 0.0  # tokens that others of its prompt have too
    return trainer.Batch(s.completions * (before + mean - once), s.completions, s.longest, weighted, s.updates)


def step_seconds(s: Scenario, found: step.Roles) -> float:
    """Seconds between two updates; generation pauses while the weights of a stream change."""
    between = s.calibration.between if s.calibration else 1.0
    return between * step.step_time(found, step.pausing(s.overlap))


def seconds(s: Scenario) -> float:
    """Predicted seconds of a step."""
    return step_seconds(s, roles(s))


def step_range(s: Scenario) -> tuple[float, float]:
    """Seconds of a step at both ends of the range."""
    expected, far = roles(s), spread(s)
    low, high = no_faster(calibration.scaled(expected, far.low), floor(s)), calibration.scaled(expected, far.high)
    return step_seconds(s, low), step_seconds(s, high)


@dataclass(frozen=True)
class Plan:
    scenario: Scenario
    peak: envelope.Peak  # the fullest moment
    engine: Engine
    live: float  # sequences in progress on one engine
    predicted: step.Roles
    fast: step.Roles  # the short end of the range, which is not a bound
    slow: step.Roles
    least: step.Roles  # of each role by itself
    most: step.Roles
    idle: float  # share of the step in which the less busy of two pools waits
    lag: float  # versions between a completion's first token and its update

    @property
    def step_range(self) -> tuple[float, float]:
        return step_range(self.scenario)

    @property
    def gpu_hours(self) -> tuple[float, float]:
        """(least, most) GPU-hours of all steps."""
        s = self.scenario
        least, most = self.step_range
        return least * s.gpus * s.steps / 3600, most * s.gpus * s.steps / 3600

    @property
    def money(self) -> tuple[float, float]:
        least, most = self.gpu_hours
        return least * self.scenario.price, most * self.scenario.price


def plan(s: Scenario) -> Plan:
    """The Plan for a possible scenario; raises a ValueError if anything is impossible."""
    if unfit := misfits(s):
        raise ValueError(f"This job does not fit: {unfit[0].what}.")
    engine, expected, far, least = s.engine, roles(s), spread(s), floor(s)
    return Plan(
        s,
        needed(s),
        engine,
        live(s),
        expected,
        no_faster(calibration.scaled(expected, far.low), least),
        calibration.scaled(expected, far.high),
        no_faster(calibration.scaled(expected, far.low_alone), least),
        calibration.scaled(expected, far.high_alone),
        step.idle_share(expected, step.pausing(s.overlap)),
        s.ahead * topology.lag(s, WAYS[s.overlap], engine.pool, (expected.log_probs + expected.train) / seconds(s)),
    )


def needed(s: Scenario) -> envelope.Peak:
    """The fullest moment. Beside training state a cache fills what is left, and what it needs is one sequence."""
    job = s.job
    if job.placement in envelope.STAYING:
        engine = s.engine
        least = memory.weight_bytes_per_gpu(s.held, engine) + memory.cache_bytes(s.held, engine.longest, engine)
        job = replace(job, engine=replace(engine, hbm_share=least / s.accelerator.hbm_bytes))
    return envelope.peak(s.held, s.accelerator, job)


def live(s: Scenario) -> float:
    """Sequences that one engine has in progress: its share of the completions in flight, or its maximum."""
    return min(s.ahead * s.completions / s.engines(s.engine.pool), s.slots)


def concurrency(found: Plan) -> int:
    """Sequences that an engine may run at once: 1.5 times its average."""
    s = found.scenario
    running = at_once(s, found.live).decoding if s.turns > 1 else found.live
    return max(ceil(1.5 * running), 1)


def summary(found: Plan) -> str:
    """A plan in one line: what runs where, how long a step takes, and the basis of that range."""
    s, (generating, training) = found.scenario, envelope.pools(found.scenario.job)
    where = f"{generating} + {training}" if s.placement == "two pools" else f"{s.gpus}"
    seconds = seconds_range(*found.step_range)
    return (
        f"{s.model.name} on {where} {s.accelerator.name}, {s.overlap}, {engines_of(found.engine)}; "
        f"a step {seconds}, {spread(s).words}"
    )


class Answer(NamedTuple):
    question: str
    words: str
    lesson: str  # the number of the lesson that computes it


def answers(found: Plan) -> list[Answer]:
    """A Plan as a table, [Answer]."""
    s, fast, slow = found.scenario, found.least, found.most
    streams = s.overlap in step.NO_TAIL
    needs, (generating, training) = found.peak.needs / 1e9, envelope.pools(s.job)
    two, shared = s.placement == "two pools", counted(generating, "GPU")
    rows = [
        Answer(
            "peak memory of a GPU",
            f"{needs:,.1f} of {needs / found.peak.share:,.1f} GB usable ({found.peak.moment})",
            "22",
        ),
        Answer(
            "GPUs",
            f"{generating:,} for generation, {training:,} for training" if two else f"{shared} in one pool",
            "19",
        ),
        Answer(
            f"sequences in flight, engine of {counted(found.engine.size, 'GPU')}",
            f"{found.live:,.0f} of {s.ahead * s.completions / s.engines(generating):,.0f}",
            "20",
        ),
    ]
    if s.turns > 1:
        tokens = f"{s.session.trained:,.0f} trained on, {s.session.read:,.0f} read"
        rows.append(Answer("sequences that are writing", f"{at_once(s, found.live).decoding:,.0f}", "08"))
        rows.append(Answer("tokens per completion", tokens, "08"))
    rows.append(Answer("rollout", seconds_range(*(step.seconds(r, "rollout", s.overlap) for r in (fast, slow))), "22b"))
    if fast.verify:
        rows.append(Answer("tests", seconds_range(fast.verify, slow.verify), "22a"))
    rows += [
        Answer("log-probs", seconds_range(fast.log_probs, slow.log_probs), "22a"),
        Answer("update", seconds_range(fast.train, slow.train), "22a"),
        Answer("weight sync", seconds_range(fast.sync + fast.switch, slow.sync + slow.switch), "06"),
        Answer("whole step", seconds_range(*found.step_range), "22a"),
    ]
    if two:
        rows.append(Answer("idle time of the pool that waits", f"{found.idle:.0%}", "19"))
    rows += [
        Answer("policy lag", f"{found.lag:.1f} versions", "22c" if streams else "06"),
        Answer("completions cut off by the limit", f"{s.law.truncated:.1%}", "22b"),
        Answer("GPU-hours", f"{number_range(*found.gpu_hours)} for {counted(s.steps, 'step')}", "22a"),
        Answer(f"cost at {money(s, f'{s.price:g}')} per GPU-hour", money(s, number_range(*found.money)), "22a"),
    ]
    return rows


def money(s: Scenario, amount: str) -> str:
    """An amount, or a range of amounts, in the reader's currency: $2, CHF 2."""
    return f"{s.currency}{' ' * s.currency.isalpha()}{amount}"


def seconds_range(low: float, high: float) -> str:
    return f"{number_range(low, high)} s"


def number_range(low: float, high: float) -> str:
    """Two numbers with three digits, or one if they are the same."""
    least, most = digits(low), digits(high)
    return least if least == most else f"{least} to {most}"


def digits(number: float) -> str:
    """The number with three digits, or all of those before its point."""
    return f"{number:,.3g}" if number < 100 else f"{number:,.0f}"


def engines_of(engine: Engine) -> str:
    """For instance "engines of 4 GPUs", or "engines of 16 GPUs (TP 8, PP 2)"."""
    plain = engine.size == engine.group and engine.context_parallel == 1
    in_words = "" if plain else f" ({layouts.layout_of(engine).words})"
    return f"engines of {counted(engine.size, 'GPU')}{in_words}"


def trainer_words(s: Scenario) -> str:
    """For instance "ZeRO 3", or "ZeRO 1, TP 2, PP 8, EP 16"."""
    training = s.parts[1]
    cut = dict(TP=training.tensor_parallel, CP=training.context_parallel, PP=training.pipeline)
    cut |= dict(EP=training.expert_parallel)
    return ", ".join([f"ZeRO {training.zero}", *(f"{name} {n}" for name, n in cut.items() if n > 1)])
