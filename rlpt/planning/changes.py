"""What would shorten a step: every change of one thing, the best arrangement of the GPUs, and a path of changes.

Closed form: each candidate is a planner.Scenario that is timed like any other; nothing is fitted here. A change that
costs nothing leaves GPUs, task and number formats as they are, and keeps an engine within the links of a server.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import ceil, lcm
from typing import NamedTuple

from rlpt.planning import planner
from rlpt.planning.planner import Scenario, engines_of
from sim.cluster import envelope, layouts, memory, step
from sim.cluster.turns import REUSES
from sim.words import counted, plural

GAINED = 0.01  # share of a step: smaller gains do not count


class Change(NamedTuple):
    words: str
    costs: str  # what it costs
    lesson: str  # the number of the lesson that computes it
    scenario: Scenario
    seconds: float  # predicted, of a step with it

    @property
    def free(self) -> bool:
        return self.costs == FREE

    @property
    def same_job(self) -> bool:
        """Whether it has the same GPUs and completions: nothing is bought, and the task is unchanged."""
        return self.costs not in (MORE, CUT)


MORE, CUT, FREE = "twice the GPUs", "long completions are cut off", "nothing"


def changes(s: Scenario) -> list[Change]:
    """All possible changes of a single thing, whether they help or not, as [Change]: first those that cost nothing,
    then by predicted seconds.
    """
    tried = [
        Change(words, costs, lesson, there, planner.seconds(there))
        for words, costs, lesson, there in neighbors(s)
        if not planner.misfits(there)
    ]
    return sorted(tried, key=lambda change: (not change.free, change.seconds))


def worth_trying(s: Scenario) -> list[Change]:
    """The changes that each shorten the step on their own."""
    now = planner.seconds(s)
    return [change for change in changes(s) if change.seconds <= (1 - GAINED) * now]


def neighbors(s: Scenario) -> Iterator[tuple[str, str, str, Scenario]]:
    """(words, what it costs, lesson, scenario) for every knob, one rung away."""
    yield f"{2 * s.gpus:,} GPUs", MORE, "19", replace(s, gpus=2 * s.gpus)
    prices = {
        "sync": "every pool waits for the other",
        "carry-over": "completions mix policy versions",
        "one-off": "completions are one version old",
        "async": "completions are some versions old",
    }
    for overlap in step.OVERLAPS:
        if overlap != s.overlap:
            yield f"overlap: {overlap}", prices[overlap], "19", replace(s, overlap=overlap, batches=1.0)
    if s.placement == "two pools":
        for moved in (s.gpus // 32, s.gpus // 16, s.gpus // 8):
            for way in (-moved, moved):
                generating = envelope.pools(s.job)[0] + way
                if moved and 0 < generating < s.gpus:
                    yield split(s, generating), FREE, "19", replace(s, share=generating / s.gpus)
    if s.overlap == "one-off":
        more = replace(s, batches=s.batches + 1)
        yield f"{more.batches:g} batches in flight", f"completions are {more.batches:g} versions old", "22c", more
    if s.updates > 1:
        yield "1 update per step", "fewer, larger updates", "05", replace(s, updates=1)
    if not s.shared_cache and s.samples > 1:
        shared = replace(s, shared_cache=True)
        yield "store a prompt's cache once", "completions of a prompt run on one engine", "20", shared
    if s.turns > 1:
        for kept in REUSES:
            if kept != s.kept:
                yield KEPT[kept], FREE, "08", replace(s, kept=kept)
    if not s.reuse:
        yield "reuse the engine's log-probs", "the engine's rounding enters every ratio", "22a", replace(s, reuse=True)
    if s.reference:
        yield "no reference", "no KL penalty", "03", replace(s, reference=False)
    if not s.one_copy and s.model.stored_bytes(s.weight_bytes) > 1.1 * s.model.params():
        yield "fp8 weights in the engine", "sampler and trainer differ", "20", replace(s, weight_bytes=1)
    if s.kv_bytes > 1:
        yield "fp8 cache", "sampler and trainer differ", "20", replace(s, kv_bytes=1)
    yield from ((moves(s, there), spanning(s, there), "20", there) for there in engines_beside(s))
    wide = (planner.laid_out(s, at.layout) for at in planner.layouts_of(s, s.engine.pool))
    if (widest := next((there for there in wide if spanning(s, there) != FREE), None)) is not None:
        yield moves(s, widest), spanning(s, widest), "20", widest
    for field in TRAINED:  # the fastest value of each
        others = [other for other in TRAINED if other != field]
        same = [there for there in trainers(s) if all(getattr(there, other) == getattr(s, other) for other in others)]
        best = min((there for there in same if not planner.misfits(there)), key=training_seconds, default=s)
        if getattr(best, field) != getattr(s, field):
            yield moves(s, best), FREE, "22", best
    if (best := fastest(s, cuts(s))) != s:
        yield moves(s, best), FREE, "22", best
    if s.law.longest >= 2:
        half = s.law.longest // 2
        cut = replace(s, law=replace(s.law, longest=half))
        yield f"at most {half:,} tokens", CUT, "22b", cut
    if s.test_seconds:
        yield f"{2 * s.workers:,} test workers", "twice the workers", "22a", replace(s, workers=2 * s.workers)


def spanning(s: Scenario, there: Scenario) -> str:
    """What larger engines cost: nothing within the links of a server, or where the scenario's own span as many."""
    domain = s.accelerator.scaleup_domain
    if there.engine.tensor_parallel is None or there.engine.size <= max(domain, s.engine.size):
        return FREE
    return f"an engine over {ceil(there.engine.size / domain)} servers stops with any one of them"


def split(s: Scenario, generating: int) -> str:
    return f"split {generating:,} + {s.gpus - generating:,}"


def pinned(s: Scenario) -> Scenario:
    """The scenario with its engine's layout spelled out."""
    return planner.laid_out(s, layouts.layout_of(s.engine))


def engines_beside(s: Scenario) -> Iterator[Scenario]:
    """Engines with half and twice as many GPUs per group; with experts also groups, and across servers also stages."""
    now = pinned(s)
    for size in (now.tensor_parallel // 2, 2 * now.tensor_parallel):
        if size in s.model.tp_sizes():
            yield replace(now, tensor_parallel=size, context_parallel=1)
    if s.model.moe:
        for groups in (now.data_parallel // 2, 2 * now.data_parallel):
            if groups:
                yield replace(now, data_parallel=groups)
    if s.engine.size > s.accelerator.scaleup_domain:
        for stages in (now.pipeline // 2, 2 * now.pipeline):
            if stages:
                yield replace(now, pipeline=stages)


KEPT = dict(
    hold="hold caches while tools run", drop="drop caches while tools run", offload="offload caches to the host"
)
KEEPING = dict(none="keep all activations", selective="keep activations", full="recompute activations")
TRAINED = ("recompute", "training_parallel", "dealt")  # layout of a trainer on the same GPUs
SHARED = (1, 2, 4, 8)  # GPUs that share a sequence in training
DEALT = (1, 2, 4, 8, 16, 32, 64)  # GPUs over which experts are split
# (ZeRO stage, GPUs that share a layer, stages) of a trainer: FSDP; DeepSpeed; Megatron
CUTS = [(3, 1, 1), *((2, shared, 1) for shared in SHARED)]
CUTS += [(1, shared, stages) for shared in SHARED for stages in (1, 2, 4, 8, 16)]


def trainers(s: Scenario) -> Iterator[Scenario]:
    """The scenario with every way to share work and activations among its trainer's GPUs that programs offer
    for free.
    """
    training = envelope.pools(s.job)[1]
    dealt = [over for over in DEALT if s.model.moe and s.model.moe.experts % over == 0 == training % over]
    for recompute in ("selective", "full"):
        for shared in SHARED:
            for over in dealt or [1]:
                yield replace(s, recompute=recompute, training_parallel=shared, expert_parallel=over)


def most_dealt(s: Scenario, stages: int = 1) -> int:
    """The most GPUs of DEALT over which the trainer can split the experts of a layer."""
    training = envelope.pools(s.job)[1] // stages
    fit = [over for over in DEALT if s.model.moe and s.model.moe.experts % over == 0 and training % over == 0]
    return max(fit, default=1)


def cuts(s: Scenario) -> Iterator[Scenario]:
    """The scenario with every way to shard the weights that its trainer keeps."""
    for zero, shared, stages in CUTS:
        yield replace(s, zero=zero, training_tensor=shared, training_stages=stages)


def well_trained(s: Scenario) -> Scenario:
    """The scenario with its weights sharded in the fastest way that fits, and then its work laid out again."""
    for ways in (cuts, trainers):
        s = fastest(s, ways(s))
    return s


def fastest(s: Scenario, others: Iterable[Scenario]) -> Scenario:
    """The one of `others` that fits and trains fastest, if it is faster than the scenario itself. Of equally fast ones
    it is the first, because the last bit of a sum depends on the processor.
    """
    laid_out = (there for there in others if not memory.layout_misfits(s.held, s.accelerator, there.parts[1]))

    def takes(there: Scenario) -> float:
        return float(f"{training_seconds(there):.9g}")

    timed = sorted(((takes(there), i, there) for i, there in enumerate(laid_out)), key=lambda one: one[:2])
    now = float("inf") if planner.misfits(s) else takes(s)
    return next((there for least, _, there in timed if least < now and not planner.misfits(there)), s)


def well_kept(s: Scenario) -> Scenario:
    """The scenario with the fastest handling of caches while tools run, among those that fit."""
    if s.turns == 1:
        return s
    fitting = [there for there in (replace(s, kept=kept) for kept in REUSES) if not planner.misfits(there)]
    return min(fitting, key=planner.seconds, default=s)


def training_seconds(s: Scenario) -> float:
    """Seconds of an update and the log-probs before it."""
    return planner.trained(s).seconds + (s.reference + (not s.reuse)) * planner.trained(s, train=False).seconds


ALIKE = 1e-9  # share of a step's seconds: not a gain, only rounding errors of a sum


def arranged(s: Scenario) -> Change:
    """The scenario's GPUs in the arrangement that makes its step shortest, at no cost: the layout of the trainer, the
    size of an engine and the split of two pools. It tries dozens of candidates, because a step first gets shorter and
    then longer with the split.
    """
    best = Change("", FREE, "19", s, planner.seconds(s))
    whole = replace(s, zero=3, training_tensor=1, training_stages=1)
    shared, sharded = (fastest(there, trainers(there)) for there in (s, whole))
    # splitting the weights may force a worse split of pools
    for laid in dict.fromkeys((shared, sharded, well_trained(shared))):
        for sized in engines_worth_trying(well_kept(laid)):
            for there in balanced(sized) if s.placement == "two pools" else (sized,):
                if not planner.misfits(there) and (takes := planner.seconds(there)) < (1 - ALIKE) * best.seconds:
                    best = Change(moves(s, there), FREE, "19", there, takes)
    return best


WIDE = 4  # layouts with more than one group to try, each with a different number of GPUs


def engines_worth_trying(s: Scenario) -> Iterator[Scenario]:
    """The scenario with one group per engine, for every size within one server, and with the larger layouts that give
    the most tokens per second on the pool that generates now.
    """
    for size in s.model.tp_sizes():
        if size <= s.accelerator.scaleup_domain:
            yield planner.laid_out(s, layouts.Layout(size))
    sizes: set[int] = set()
    most = max(s.accelerator.scaleup_domain, s.engine.size if s.engine.tensor_parallel else 0)  # more is not free
    for at in planner.layouts_of(s, s.engine.pool):
        one_group = at.layout == layouts.Layout(at.layout.gpus)
        # stages are for what no single server holds; within one they are not tried
        inside = at.layout.gpus <= s.accelerator.scaleup_domain and (one_group or at.layout.pipeline > 1)
        if not inside and at.layout.gpus <= most and at.layout.gpus not in sizes and len(sizes) < WIDE:
            sizes.add(at.layout.gpus)
            yield planner.laid_out(s, at.layout)


def balanced(s: Scenario) -> Iterator[Scenario]:
    """The two splits, one whole engine apart, between which the trainer becomes the longer lane. Bisection finds them,
    because every additional engine leaves the trainer fewer GPUs and less time.
    """
    training = s.parts[1]
    copy = training.cut * training.context_parallel
    size = lcm(s.engine.size, copy, s.dealt * training.pipeline)  # whole engines, and whole copies of the trainer

    def divided(engines: int) -> Scenario:
        return replace(s, share=engines * size / s.gpus)

    low, high = 1, ceil(s.gpus / size) - 1
    while high - low > 1:
        middle = (low + high) // 2
        there = divided(middle)
        low, high = (low, middle) if planner.misfits(there) or waits_for_training(there) else (middle, high)
    yield from (divided(engines) for engines in sorted({low, high}) if 0 < engines * size < s.gpus)


def waits_for_training(s: Scenario) -> bool:
    times = planner.roles(s)
    return times.log_probs + times.train >= step.seconds(times, "rollout", s.overlap)


def moves(s: Scenario, there: Scenario) -> str:
    """The differences in arrangement, in words."""
    sized = s.engine.tensor_parallel is not None  # otherwise no engine holds the model, and there is none to compare
    moved = sized and layouts.layout_of(there.engine) != layouts.layout_of(s.engine)
    moves_in_words = [engines_of(there.engine)] if moved else []
    moves_in_words += [KEPT[there.kept]] if there.kept != s.kept else []
    moves_in_words += [KEEPING[there.recompute]] if there.recompute != s.recompute else []
    moves_in_words += [f"ZeRO {there.zero}"] if there.zero != s.zero else []
    stages = there.training_stages
    moves_in_words += [f"{counted(stages, 'stage')} of the trainer"] if stages != s.training_stages else []
    for now, then, words in (
        (s.training_tensor, there.training_tensor, "{} trainer {} a layer"),
        (s.training_parallel, there.training_parallel, "{} trainer {} a sequence"),
        (s.dealt, there.dealt, "experts over {} trainer {}"),
    ):
        moves_in_words += [words.format(then, plural(then, "GPU"))] if now != then else []
    generating = envelope.pools(there.job)[0]
    if there.placement == "two pools" and generating != envelope.pools(s.job)[0]:
        moves_in_words.append(split(there, generating))
    return ", ".join(moves_in_words)


def best_changes(s: Scenario, n: int = 4) -> list[Change]:
    """At most n changes of the same job, one after another, as [Change]. A better arrangement of the GPUs always comes
    first, because it is free; then the change that helps most, which may make a new arrangement worthwhile.
    """
    path: list[Change] = []
    now = planner.seconds(s)
    while len(path) < n:
        best = arranged(s)
        if best.seconds > (1 - GAINED) * now:
            paid = [change for change in changes(s) if change.same_job and not change.free]
            best = min(paid, key=lambda change: change.seconds, default=best)
        if best.seconds > (1 - GAINED) * now:
            break
        path.append(best)
        s, now = best.scenario, best.seconds
    return path
