"""A job that does not fit: the nearest jobs that do.

Closed form: each candidate differs from the job in one thing, is laid out again where that is not enough, and is put to
the same test as the job, planner.misfits. Nearest first: what changes neither the task nor the GPUs, then what changes
least of them.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from math import ceil
from typing import Any, NamedTuple

from rlpt.planning import changes, planner
from rlpt.planning.planner import Scenario
from sim.cluster import envelope, memory
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.turns import HOLD
from sim.words import counted

RANK = 32  # of the adapters that are proposed
LEAST = 0.5  # share of the longest completion below which fewer tokens are a different task
NEAREST = 3


class Fitting(NamedTuple):
    """A job that fits."""

    words: str  # what is different
    costs: str
    scenario: Scenario
    seconds: float  # predicted, of a step


def nearest(s: Scenario, n: int = NEAREST) -> list[Fitting]:
    """At most n jobs that fit, each different in kind."""
    found: list[Fitting] = []
    for words, costs, candidates in kinds(s):
        there = next((there for there in candidates if there != s and not planner.misfits(there)), None)
        if there is not None:
            found.append(Fitting(words(there), costs, there, planner.seconds(there)))
        if len(found) == n:
            break
    return found


def kinds(s: Scenario) -> Iterator[tuple]:
    """(words of a scenario, what it costs, candidates) of each kind of change, nearest first."""
    fewest = next((gpus for gpus in more_gpus(s) if not planner.misfits(replace(s, gpus=gpus))), None)
    few = fewest is not None and fewest <= 2 * s.gpus
    more = (lambda there: f"{counted(there.gpus, 'GPU')}", "more GPUs", [replace(s, gpus=fewest)] if fewest else [])
    part = planner.impossible(s)[0].part if planner.impossible(s) else "input"
    if part == "input":
        return
    if part in planner.TOO_FEW:
        yield lambda there: batch_words(there), "a larger batch", filled(s)
    yield lambda there: f"another layout: {laid_out(s, there)}", "nothing", rearranged(s)
    if s.placement == "one pool":
        ways = [replace(s, sharing=way) for way in planner.SHARING[:2] if way != s.sharing]
        yield lambda there: SHARED[there.sharing], "nothing", ways
    if s.turns > 1 and s.kept != HOLD:
        yield lambda there: changes.KEPT[there.kept], "a smaller batch in the engine", [replace(s, kept=HOLD)]
    if s.placement == "two pools":
        yield lambda there: "all GPUs in one pool", "generating and training take turns", [replace(s, overlap="sync")]
    if s.on_host != "all":
        yield lambda there: kept_words(s, there), "a slower update", kept_on_host(s)
    if few:
        yield more
    shorter = shortened(s)
    if shorter and shorter.law.longest >= LEAST * s.law.longest:
        yield lambda there: cut_words(there), "longer completions are cut off", [shorter]
    what = "frozen weights in four bits, or shared with the engine" if s.adapters else "adapters instead of all weights"
    if not (s.adapters and s.four_bits and s.one_copy):
        yield lambda there: adapter_words(s, there), what, chain(adapted(s, s.four_bits), adapted(s, True))
    if not few:
        yield more
    if shorter and shorter.law.longest < LEAST * s.law.longest:
        yield lambda there: cut_words(there), "longer completions are cut off", [shorter]
    yield lambda there: f"{there.accelerator.name} chips", "other chips", on_larger_chips(s)


KEPT = {"optimizer": "the optimizer's state in host memory", "all": "the weights and the optimizer in host memory"}
SHARED = {
    planner.SHARING[0]: "the training state in host memory while the engine generates",
    planner.SHARING[1]: "the training state on the GPUs while the engine generates",
}


def laid_out(s: Scenario, there: Scenario) -> str:
    """How the trainer is laid out otherwise."""
    chunks = "logits in chunks" if there.logits_chunk and not s.logits_chunk else ""
    return ", ".join(filter(None, (changes.moves(s, there), chunks)))


def also(s: Scenario, there: Scenario) -> str:
    """The same behind what else is different."""
    layout = laid_out(replace(s, on_host=there.on_host, adapters=there.adapters, four_bits=there.four_bits), there)
    return f", {layout}" if layout else ""


def kept_words(s: Scenario, there: Scenario) -> str:
    kept = memory.host_bytes(there.model, there.parts[1]) * min(there.parts[1].gpus, planner.SERVER) / 1e9
    what = "the frozen weights in host memory" if there.adapters else KEPT[there.on_host]
    return f"{what} ({kept:,.0f} GB a server){also(s, there)}"


def cut_words(there: Scenario) -> str:
    return f"completions of at most {there.law.longest:,.0f} tokens"


def adapter_words(s: Scenario, there: Scenario) -> str:
    kind = f"QLoRA of rank {there.adapters}" if there.four_bits else f"LoRA of rank {there.adapters}"
    shared = there.placement == "one pool" and there.sharing == envelope.ONE_COPY
    return f"{kind}{', one copy of the weights for engine and trainer' if shared else ''}{also(s, there)}"


def batch_words(there: Scenario) -> str:
    updates = counted(there.updates, "update")
    return (
        f"{counted(there.prompts, 'prompt')} and {updates} a step"
        if there.updates > 1
        else f"{there.prompts:,} prompts"
    )


def filled(s: Scenario) -> Iterator[Scenario]:
    """Prompts for every update, and a completion for every engine."""
    engines = s.engines(s.engine.pool)
    yield replace(s, prompts=max(s.prompts, s.updates, ceil(engines / s.samples)))


def rearranged(s: Scenario) -> Iterator[Scenario]:
    """The same job and GPUs in other layouts of the trainer, with all activations recomputed."""
    least = replace(s, recompute="full", logits_chunk=s.logits_chunk or planner.LOGITS_CHUNK)
    yield least
    for shared in changes.SHARED:
        yield replace(least, training_parallel=shared)
        for zero, tensor, stages in changes.CUTS:
            for over in {1, changes.most_dealt(s, stages)}:
                cut: dict[str, Any] = dict(
                    zero=zero, training_tensor=tensor, training_stages=stages, expert_parallel=over
                )
                yield replace(least, training_parallel=shared, **cut)


def kept_on_host(s: Scenario) -> Iterator[Scenario]:
    """With nothing else changed if that is enough, as the page's button does it."""
    kept = [replace(s, on_host=kept) for kept in (memory.KEPT_ON_HOST[1:] if not s.adapters else ("all",))]
    yield from kept
    for there in kept:
        yield from rearranged(there)


def adapted(s: Scenario, four_bits: bool) -> Iterator[Scenario]:
    there = replace(s, adapters=s.adapters or RANK, four_bits=four_bits, zero=3, training_tensor=1, training_stages=1)
    yield there
    if s.placement == "one pool" and s.gpus == 1:  # Unsloth's
        yield replace(there, sharing=envelope.ONE_COPY)
    yield from rearranged(there)


def more_gpus(s: Scenario) -> Iterator[int]:
    """More GPUs, one by one up to a server, then in whole servers; then the fewest at all, which may be less."""
    yield from range(s.gpus + 1, min(planner.SERVER, 2 * s.gpus) + 1)
    servers = s.gpus // planner.SERVER
    yield from (planner.SERVER * n for n in range(servers + 1, servers + 9))
    fewest = planner.fewest_gpus(s)
    if fewest and fewest > s.gpus:
        yield planner.SERVER * ceil(fewest / planner.SERVER)
        yield fewest


def shortened(s: Scenario) -> Scenario | None:
    """The longest completions that fit, in multiples of 256 tokens, by bisection."""

    def cut(units: int) -> Scenario:
        return replace(s, law=replace(s.law, longest=256 * units))

    low, high = 0, int(min(s.law.longest, 2**24) // 256)
    if not high or planner.misfits(cut(1)):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if planner.misfits(cut(middle)) else (middle, high)
    return cut(low) if low else None


def on_larger_chips(s: Scenario) -> Iterator[Scenario]:
    """Chips with more memory, the smallest first; they keep the number of GPUs."""
    larger = [chip for chip in ACCELERATORS.values() if chip.hbm_gb > s.accelerator.hbm_gb and chip.verified]
    for chip in sorted(larger, key=lambda chip: chip.hbm_gb):
        yield replace(s, accelerator=chip)
