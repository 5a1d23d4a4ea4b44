"""A run before it is begun: whether it fits, what a step and all steps take, and which changes would pay most.

Closed form: every number is asked of the module that owns it, memory, throughput, step, lengths, envelope or topology.
What no module knows is how far a real system stays behind, so seconds are a range: from the efficiencies that are
assumed down to those that published runs came to, sim/cluster/validation.py. plan.py is the
same for a terminal.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any, NamedTuple

from sim.cluster import envelope, memory, step, throughput, topology
from sim.cluster.hardware import Accelerator
from sim.cluster.lengths import Law
from sim.cluster.memory import Engine, Training
from sim.cluster.models import Model
from sim.cluster.user_inputs import Timed

# How many times as long as predicted at the assumed efficiencies a published step took at most, of dense models and of
# those with experts, rounded up to a tenth: `validation.slowest`. The one calibration.
SLOWER = {"dense": 1.8, "experts": 4.8}
GAINED = 0.01  # of a step: a change that gains less is none
WAYS = {  # what lesson 19 calls them
    "sync": topology.COLOCATED,
    "carry-over": topology.CARRY,
    "one-off": topology.ONE_OFF,
    "async": topology.ASYNC,
}
LOGITS_CHUNK = 1024  # assumed: tokens whose logits are there at a time while training


@dataclass(frozen=True)
class Scenario:
    """What is to be run, on what, and how."""

    model: Model
    accelerator: Accelerator
    law: Law  # of the lengths, with a limit
    gpus: int = 64
    prompts: int = 512  # of a step
    samples: int = 16  # completions of each
    prompt: int = 512  # tokens
    overlap: str = "sync"  # of step.OVERLAPS: one pool for the first two, two pools for the others
    share: float = 0.5  # of two pools, that of the engines
    tensor_parallel: int = 0  # GPUs of an engine; 0: the fewest that hold it well
    weight_bytes: float = 2
    kv_bytes: float = 2
    hbm_share: float = memory.HBM_SHARE
    recompute: str = "full"
    training_parallel: int = 1  # GPUs that share a sequence while training
    reference: bool = False
    reuse: bool = False  # the engine's log-probs stand for the old ones
    test_seconds: float = 0.0  # of one completion's test, on average
    longest_test: float = 0.0
    workers: int = 64
    steps: int = 500
    price: float = 2.0  # of a GPU for an hour, in any currency: the reader's assumption
    efficiency: throughput.Efficiency = throughput.ASSUMED
    mfu: float = throughput.MFU
    engine_timed: bool = False  # `efficiency` comes from an iteration that was timed
    update_timed: bool = False  # `mfu` comes from an update that was timed

    @property
    def completions(self) -> int:
        return self.prompts * self.samples

    @property
    def longest(self) -> int:
        """Tokens of the longest sequence, its prompt included."""
        return ceil(self.prompt + self.law.longest)

    @property
    def placement(self) -> str:
        return "one pool" if self.overlap in ("sync", "carry-over") else "two pools"

    @cached_property
    def job(self) -> envelope.Job:
        """The same as `envelope` asks for it."""
        engine = Engine(
            self.gpus,
            self.tensor_parallel,
            self.longest,
            hbm_share=self.hbm_share,
            weight_bytes=self.weight_bytes,
            kv_bytes=self.kv_bytes,
        )
        training = Training(
            self.gpus,
            reference=self.reference,
            tokens=self.longest,  # assumed: a micro-batch is one sequence of the longest
            length=self.longest,
            recompute=self.recompute,
            logits_chunk=LOGITS_CHUNK,
            tensor_parallel=self.training_parallel,
        )
        placement = "two pools" if self.placement == "two pools" else envelope.PLACEMENTS[0]
        return envelope.Job(self.gpus, training, engine, placement, self.share)

    @cached_property
    def parts(self) -> tuple[Engine, Training]:
        """(memory.Engine, memory.Training), each of its own pool, the engine with its size."""
        engine, training = envelope.parts(self.model, self.accelerator, self.job)
        assert engine is not None, "a scenario generates"
        return engine, training

    @property
    def engine(self) -> Engine:
        return self.parts[0]

    def engines(self, gpus: int) -> int:
        return gpus // self.engine.size

    @property
    def slots(self) -> float:
        """Sequences that the cache of one engine holds at once, on average."""
        return memory.sequences(self.model, self.accelerator, self.law.context(self.prompt), self.engine)


def measured(s: Scenario, timed: Timed | None = None, update_seconds: float | None = None) -> Scenario:
    """The scenario with the efficiencies that one timed iteration (user_inputs.Timed) and one timed update show."""
    if timed:
        shape = (s.model, s.accelerator, timed.sequences, timed.context, timed.seconds)
        split: dict[str, Any] = dict(tensor_parallel=timed.gpus, weight_bytes=s.weight_bytes, kv_bytes=s.kv_bytes)
        reached = throughput.calibrated(*shape, efficiency=s.efficiency, **split)
        s = replace(s, efficiency=reached, engine_timed=True)
    if update_seconds:
        tokens = s.completions * (s.prompt + s.law.mean)
        gpus = envelope.pools(s.job)[1]
        mfu = throughput.attained_mfu(s.model, s.accelerator, gpus, tokens, update_seconds)
        s = replace(s, mfu=mfu, update_timed=True)
    return s


def misfits(s: Scenario) -> list[memory.Misfit]:
    """What of it is impossible: [memory.Misfit]."""
    contradictions = memory.fits(s.model, s.accelerator, mfu=s.mfu, efficiency=s.efficiency)
    return contradictions or envelope.misfits(s.model, s.accelerator, s.job)


def spread(s: Scenario) -> tuple[float, float]:
    """By how much (what engines do, what trainers do) may take longer than the efficiencies say: 1 for what the reader
    has timed.
    """
    slower = SLOWER["experts" if s.model.moe else "dense"]
    return 1.0 if s.engine_timed else slower, 1.0 if s.update_timed else slower


def roles(s: Scenario, slower: tuple[float, float] = (1.0, 1.0)) -> step.Roles:
    """Seconds of each role, step.Roles, with engines and trainers so many times slower than their efficiencies say."""
    engines, trainers = slower
    engine, training = s.parts
    bandwidth, flops, overhead = s.efficiency
    reached = throughput.Efficiency(bandwidth / engines, flops / engines, overhead * engines)
    verify = step.verify_seconds(s.completions, s.workers, s.test_seconds, max(s.longest_test, s.test_seconds))
    shape = (s.model, s.accelerator, engine.pool, training.gpus, engine.size, s.completions, s.law, verify)
    found = step.roles_from_config(
        *shape, s.reference, s.reuse, reached, s.mfu / trainers, s.prompt, s.samples, replace(engine, gpus=None)
    )
    if s.placement == "one pool":
        return replace(found, sync=0.0, switch=trainers * topology.switch_seconds(s))
    return replace(found, sync=trainers * found.sync)


def step_seconds(s: Scenario, found: step.Roles) -> float:
    """Seconds between two updates; generation pauses while the weights of a stream change."""
    return step.step_time(found, step.pausing(s.overlap))


@dataclass(frozen=True)
class Plan:
    scenario: Scenario
    peak: envelope.Peak  # the fullest moment
    engine: Engine
    live: float  # sequences that decode together on one engine
    fast: step.Roles  # at the efficiencies that are assumed
    slow: step.Roles  # at those of the slowest published run of this kind
    idle: float  # share of the step in which the less busy of two pools waits
    lag: float  # versions between a completion's first token and its update

    @property
    def step_range(self) -> tuple[float, float]:
        return step_seconds(self.scenario, self.fast), step_seconds(self.scenario, self.slow)

    @property
    def gpu_hours(self) -> tuple[float, float]:
        """Of all steps, (least, most)."""
        s = self.scenario
        least, most = self.step_range
        return least * s.gpus * s.steps / 3600, most * s.gpus * s.steps / 3600

    @property
    def money(self) -> tuple[float, float]:
        least, most = self.gpu_hours
        return least * self.scenario.price, most * self.scenario.price


def plan(s: Scenario) -> Plan:
    """The answers for a scenario in which nothing is impossible, -> Plan; ValueError otherwise."""
    if found := misfits(s):
        raise ValueError(f"This job does not fit: {found[0].what}.")
    engine, fast = s.engine, roles(s)
    live = step.live_sequences(s.model, s.accelerator, engine.pool, engine.size, s.completions, s.law, s.prompt, engine)
    return Plan(
        s,
        envelope.peak(s.model, s.accelerator, s.job),
        engine,
        live,
        fast,
        roles(s, spread(s)),
        step.idle_share(fast, step.pausing(s.overlap)),
        topology.lag(s, WAYS[s.overlap], engine.pool, (fast.log_probs + fast.train) / step_seconds(s, fast)),
    )


class Answer(NamedTuple):
    question: str
    words: str
    lesson: str  # the number of the lesson that computes it


def answers(found: Plan) -> list[Answer]:
    """A Plan as a table: [Answer]."""
    s, fast, slow = found.scenario, found.fast, found.slow
    streams = s.overlap in step.NO_TAIL
    needs, (generating, training) = found.peak.needs / 1e9, envelope.pools(s.job)
    two = s.placement == "two pools"
    rows = [
        Answer("fullest GPU", f"{needs:,.1f} of {needs / found.peak.share:,.1f} GB ({found.peak.moment})", "22"),
        Answer("generate, train", f"{generating} + {training} GPUs" if two else f"{generating} GPUs in turn", "19"),
        Answer(
            f"in flight, engine of {found.engine.tensor_parallel}",
            f"{found.live:,.0f} of {s.completions / s.engines(generating):,.0f}",
            "20",
        ),
        Answer("rollout", seconds_range(*(step.seconds(r, "rollout", s.overlap) for r in (fast, slow))), "22b"),
    ]
    if fast.verify:
        rows.append(Answer("tests", seconds_range(fast.verify, slow.verify), "22a"))
    rows += [
        Answer("log-probs", seconds_range(fast.log_probs, slow.log_probs), "22a"),
        Answer("update", seconds_range(fast.train, slow.train), "22a"),
        Answer("weights to the engines", seconds_range(fast.sync + fast.switch, slow.sync + slow.switch), "06"),
        Answer("a step", seconds_range(*found.step_range), "22a"),
    ]
    if two:
        rows.append(Answer("a pool waits", f"{found.idle:.0%}", "19"))
    rows += [
        Answer("versions behind", f"{found.lag:.1f}", "22c" if streams else "06"),
        Answer("cut by the limit", f"{s.law.truncated:.1%}", "22b"),
        Answer("GPU-hours", number_range(*found.gpu_hours), "22a"),
        Answer("money, your price", number_range(*found.money), "22a"),
    ]
    return rows


def seconds_range(low: float, high: float) -> str:
    return f"{number_range(low, high)} s"


def number_range(low: float, high: float) -> str:
    """Two numbers of three digits, or one where they are the same."""
    least, most = (f"{number:,.3g}" if number < 100 else f"{number:,.0f}" for number in (low, high))
    return least if least == most else f"{least} to {most}"


# What would pay


class Change(NamedTuple):
    words: str
    costs: str  # what is given for it
    lesson: str  # the number of the lesson that computes it
    scenario: Scenario
    seconds: float  # of a step with it, at the efficiencies that are assumed

    @property
    def same_job(self) -> bool:
        """On the same GPUs and with the same completions: neither bought nor another task."""
        return self.costs not in (MORE, CUT)


MORE, CUT, FREE = "twice the GPUs", "long completions are cut", "nothing"


def changes(s: Scenario) -> list[Change]:
    """Every change of one thing, whether it pays or not, impossible ones left out, what pays most first: [Change]."""
    tried = [
        Change(words, costs, lesson, there, step_seconds(there, roles(there)))
        for words, costs, lesson, there in neighbors(s)
        if not misfits(there)
    ]
    return sorted(tried, key=lambda change: (change.seconds, change.costs != FREE))


def neighbors(s: Scenario) -> Iterator[tuple[str, str, str, Scenario]]:
    """(words, what it costs, lesson, scenario) of every knob one rung further."""
    yield f"{2 * s.gpus} GPUs", MORE, "19", replace(s, gpus=2 * s.gpus)
    prices = {
        "sync": "every pool waits for the other",
        "carry-over": "completions of several versions",
        "one-off": "completions one version old",
        "async": "completions some versions old",
    }
    for overlap in step.OVERLAPS:
        if overlap != s.overlap:
            yield f"overlap: {overlap}", prices[overlap], "19", replace(s, overlap=overlap)
    if s.placement == "two pools":
        for moved in (s.gpus // 32, s.gpus // 16, s.gpus // 8):
            for way in (-moved, moved):
                generating = envelope.pools(s.job)[0] + way
                if moved and 0 < generating < s.gpus:
                    words = f"split {generating} + {s.gpus - generating}"
                    yield words, FREE, "19", replace(s, share=generating / s.gpus)
    if not s.reuse:
        yield "reuse the engine's log-probs", "its rounding is in every ratio", "22a", replace(s, reuse=True)
    if s.reference:
        yield "no reference", "no KL penalty", "03", replace(s, reference=False)
    if s.weight_bytes > 1:
        yield "fp8 weights in the engine", "another policy samples", "20", replace(s, weight_bytes=1)
    if s.kv_bytes > 1:
        yield "fp8 cache", "another policy samples", "20", replace(s, kv_bytes=1)
    present = s.engine.size
    for size in (present // 2, 2 * present):
        if size in s.model.tp_sizes():
            yield f"engines of {size} {memory.plural(size)}", FREE, "20", replace(s, tensor_parallel=size)
    if s.law.longest >= 2:
        half = s.law.longest // 2
        cut = replace(s, law=replace(s.law, longest=half))
        yield f"at most {half:,} tokens", CUT, "22b", cut
    if s.test_seconds:
        yield f"{2 * s.workers} test workers", "twice the workers", "22a", replace(s, workers=2 * s.workers)


def best_changes(s: Scenario, n: int = 3) -> list[Change]:
    """At most n changes of the same job, each the one that pays most after those before it: [Change]. What pays nothing
    alone may pay behind another.
    """
    path: list[Change] = []
    seconds = step_seconds(s, roles(s))
    while len(path) < n:
        best = next((change for change in changes(s) if change.same_job), None)
        if best is None or best.seconds > (1 - GAINED) * seconds:
            break
        path.append(best)
        s, seconds = best.scenario, best.seconds
    return path
