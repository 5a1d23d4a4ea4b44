"""The knobs that the pages about machines share, so that a job is the same on all of them: what a reader brings, and
what is assumed.

A page that has them names them as here: config, chip, log, timed, bandwidth, flops, overhead, mfu, beside model,
accelerator, p50, p90, p99 and longest.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sim.cluster import throughput, user_inputs
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.memory import Misfit
from sim.cluster.models import MODELS
from widgets.frame.knobs import pasted, slider

# What a job is, by the names of its knobs: the part of a setting that goes with the reader from page to page
JOB = ["model", "accelerator", "gpus", "prompts", "samples", "prompt", "p50", "p90", "p99", "longest"]
JOB += ["config", "chip", "log", "timed"]

CONFIG_EXAMPLE = (
    '{"model_type":"qwen3","num_hidden_layers":40,"hidden_size":5120,"num_attention_heads":40,'
    '"num_key_value_heads":8,"head_dim":128,"intermediate_size":17408,"vocab_size":151936}'
)


@lru_cache(maxsize=64)
def understood(read: Callable[[str], tuple[Any, str, str]], text: str) -> tuple[Any, str, str]:
    """What `read` of sim/cluster/user_inputs.py makes of a text, the text as short as it can be, and a sentence."""
    return read(text)


def field(label: str, read: Callable[[str], tuple[Any, str, str]], example: str) -> Any:
    return pasted(label, lambda text: understood(read, text)[1:], example)


def config() -> Any:
    return field("Your model: paste or drop its config.json", user_inputs.model, CONFIG_EXAMPLE)


def chip() -> Any:
    return field("Your chip: memory, its speed, dense bf16, links one way", user_inputs.chip, user_inputs.CHIP_EXAMPLE)


def log() -> Any:
    return field(
        "Your lengths: p50, p90, p99, longest, or a column of them", user_inputs.lengths, user_inputs.LENGTHS_EXAMPLE
    )


def timed() -> Any:
    return field("One decode iteration that you timed", user_inputs.timed, user_inputs.TIMED_EXAMPLE)


def bandwidth() -> Any:
    return slider(
        "Bandwidth reached (assumed)", throughput.ASSUMED.bandwidth, low=0.05, high=1, step=0.01, symbol="η_W"
    )


def flops() -> Any:
    return slider("Arithmetic reached (assumed)", throughput.ASSUMED.flops, low=0.05, high=1, step=0.01, symbol="η_F")


def overhead() -> Any:
    milliseconds = 1e3 * throughput.ASSUMED.overhead_seconds
    return slider("Launching an iteration (assumed)", milliseconds, low=0, high=20, step=0.1, symbol="t_0", unit="ms")


def mfu() -> Any:
    return slider("MFU of training (assumed)", throughput.MFU, low=0.05, high=1, step=0.01, symbol="MFU")


def model(k: Any) -> Any:
    return understood(user_inputs.model, k.config)[0] if k.config else MODELS[k.model]


def accelerator(k: Any) -> Any:
    return understood(user_inputs.chip, k.chip)[0] if k.chip else ACCELERATORS[k.accelerator]


def names(k: Any) -> tuple[str, str]:
    """(name of the model, name of the chip), of what is in force."""
    return model(k).name, accelerator(k).name


def law(k: Any) -> user_inputs.Law:
    return understood(user_inputs.lengths, k.log)[0] if k.log else user_inputs.Law(k.p50, k.p90, k.p99, k.longest)


def out_of_order(k: Any) -> list[Misfit]:
    """[Misfit] of quantiles that no batch has."""
    if k.log or k.p50 <= k.p90 <= k.p99:
        return []
    what = f"quantiles of {k.p50:,}, {k.p90:,} and {k.p99:,} tokens: they rise in every batch"
    return [Misfit(what, max(k.p50, k.p90), min(k.p90, k.p99), "Quantiles that rise.", "input")]


def in_order(k: Any) -> dict[str, int]:
    """{knob: value} of quantiles that rise, the median kept."""
    p90 = max(k.p50, k.p90)
    return dict(p90=p90, p99=max(p90, k.p99))


def efficiency(k: Any) -> throughput.Efficiency:
    """What the engine reaches of its chip: as assumed, or as the iteration shows that was timed. Above 1 it is faster
    than the chip, which `memory.fits` says.
    """
    assumed = throughput.Efficiency(k.bandwidth, k.flops, 1e-3 * k.overhead)
    if not k.timed:
        return assumed
    one = understood(user_inputs.timed, k.timed)[0]
    shape = (model(k), accelerator(k), one.sequences, one.context, one.seconds)
    return throughput.calibrated(*shape, efficiency=assumed, tensor_parallel=one.gpus)
