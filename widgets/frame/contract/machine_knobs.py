"""The knobs shared by the pages about machines, so that a job is the same on all of them: what a reader brings, and
what is assumed.

A page that has them uses these names, beside model, accelerator, p50, p90, p99 and longest. Its own knobs come first if
their class is listed last, because fields are collected from the last base to the first:

    class Knobs(machine_knobs.Brought, machine_knobs.Assumed, Own): ...
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rlpt.planning import engine_timing, user_inputs
from sim.cluster import throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import Law
from sim.cluster.memory import ONE_GPU, Engine
from sim.cluster.models import MODELS
from widgets.frame.contract.knobs import PASTED, pasted, slider

# The knobs that define a job: the part of a setting that follows the reader from page to page
JOB = ["model", "accelerator", "gpus", "prompts", "samples", "prompt", "p50", "p90", "p99", "longest"]
JOB += ["config", "chip", "log", "timed"]
COLUMN = 8 * 2**16  # characters in a log, i.e. 65,536 lengths of up to seven digits; the terminal reads longer ones

CONFIG_EXAMPLE = (
    '{"model_type":"qwen3","num_hidden_layers":40,"hidden_size":5120,"num_attention_heads":40,'
    '"num_key_value_heads":8,"head_dim":128,"intermediate_size":17408,"vocab_size":151936}'
)


@lru_cache(maxsize=64)
def understood(read: Callable[[str], tuple[Any, str, str]], text: str) -> tuple[Any, str, str]:
    """The result of `read` from rlpt/planning/user_inputs.py for a text, the text as short as possible, and a
    sentence.
    """
    return read(text)


def field(label: str, read: Callable[[str], tuple[Any, str, str]], example: str, most: int = PASTED) -> Any:
    return pasted(label, lambda text: understood(read, text)[1:], example, most)


def config() -> Any:
    return field("Your model: paste or drop its config.json", user_inputs.model, CONFIG_EXAMPLE)


def chip() -> Any:
    return field("Your chip: memory, its speed, dense bf16, links one way", user_inputs.chip, user_inputs.CHIP_EXAMPLE)


def timed(example: str = user_inputs.TIMED_EXAMPLE) -> Any:
    return field("One decode iteration that you timed", user_inputs.timed, example)


def measured() -> Any:
    return field("Seconds that you timed, for a step or its roles", user_inputs.measured, user_inputs.MEASURED_EXAMPLE)


@dataclass(frozen=True)
class Assumed:
    """What an engine achieves on its chip."""

    bandwidth: float = slider(
        "Bandwidth reached (assumed)", throughput.ASSUMED.bandwidth, low=0.05, high=1, step=0.01, symbol="η_W"
    )
    flops: float = slider(
        "Arithmetic reached (assumed)", throughput.ASSUMED.flops, low=0.05, high=1, step=0.01, symbol="η_F"
    )
    overhead: float = slider(
        "Launching an iteration (assumed)",
        1e3 * throughput.ASSUMED.overhead_seconds,
        low=0,
        high=20,
        step=0.1,
        symbol="t_0",
        unit="ms",
    )


@dataclass(frozen=True)
class AssumedOfTraining(Assumed):
    """The same, and what its trainer achieves."""

    mfu: float = slider("MFU of training (assumed)", throughput.MFU, low=0.05, high=1, step=0.01, symbol="MFU")


@dataclass(frozen=True)
class Brought:
    """What a reader can bring to a page that has lengths."""

    config: str = config()
    chip: str = chip()
    log: str = field(
        "Your lengths: p50, p90, p99, longest, or a column of them",
        user_inputs.lengths,
        user_inputs.LENGTHS_EXAMPLE,
        COLUMN,
    )
    timed: str = timed()


def model(k: Any) -> Any:
    return understood(user_inputs.model, k.config)[0] if k.config else MODELS[k.model]


def accelerator(k: Any) -> Any:
    return understood(user_inputs.chip, k.chip)[0] if k.chip else ACCELERATORS[k.accelerator]


def names(k: Any) -> tuple[str, str]:
    """(name of the model, name of the chip), of what is in force."""
    return model(k).name, accelerator(k).name


def law(k: Any) -> Law:
    return understood(user_inputs.lengths, k.log)[0] if k.log else Law(k.p50, k.p90, k.p99, k.longest)


def efficiency(k: Any, engine: Engine = ONE_GPU) -> throughput.Efficiency:
    """What the engine reaches of its chip: as assumed, or as the iteration shows that was timed, at the widths of this
    engine. Above 1 it is faster than the chip, which `memory.fits` says.
    """
    assumed = throughput.Efficiency(k.bandwidth, k.flops, 1e-3 * k.overhead)
    if not k.timed:
        return assumed
    one = understood(user_inputs.timed, k.timed)[0]
    timed_on = engine.split | dict(tensor_parallel=one.gpus or 1)
    if timed_on["tensor_parallel"] != engine.tensor_parallel:
        timed_on["context_parallel"] = 1  # it splits copies that only the page's engine has
    return engine_timing.efficiency(one, model(k), accelerator(k), assumed, **timed_on)
