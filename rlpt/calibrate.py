"""`python -m rlpt.calibrate --config config.json`: how much of its data sheet this machine's GPU reaches on one layer
of a model, next to what the lessons assume, and as an iteration that a plan takes instead of the assumption. With
`--engine URL`, the decode passes of a running server instead, as a line that a plan takes (engine_timing.py).

Closed form: bytes over bandwidth or FLOP over peak, whichever is longer (Williams, Waterman and Patterson 2009), over
the seconds that layer_timing.py measured. Needs torch, which is not installed with sim; an engine needs only a network.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from math import isnan
from random import Random
from typing import Any, NamedTuple

import numpy as np

from rlpt import engine_client, plan
from rlpt.arguments import Parser, guarded, whole
from rlpt.planning import engine_timing, layer_timing, user_inputs
from rlpt.planning.layer_timing import Machine, Sizes, Timing
from sim.cluster import throughput, trainer
from sim.cluster.hardware import ACCELERATORS, Accelerator
from sim.cluster.models import MODELS, Model
from sim.cluster.throughput import Efficiency

# {torch's name of a device, without the vendor: row of hardware.py}
DEVICES = {
    "A100-SXM4-80GB": "a100_80",
    "H100 80GB HBM3": "h100",
    "H200": "h200",
    "H20": "h20",
    "B200": "b200",
    "GB200": "gb200",
    "Instinct MI300X": "mi300x",
    "Instinct MI355X": "mi355x",
}
STRAIGHT = 0.15  # relative deviation of a pass beyond which a line is a poor picture of an engine
BANDWIDTH, ARITHMETIC, LINK = "bandwidth", "arithmetic", "link"
ASSUMED_OF = dict(  # {name of a row: the limit of which the lessons assume a share}
    weights=BANDWIDTH, cache=BANDWIDTH, batch=ARITHMETIC, training=ARITHMETIC, attention=ARITHMETIC, host=LINK
)


class Share(NamedTuple):
    """The share of a data-sheet limit that a timing reached."""

    share: float
    of: str  # BANDWIDTH, ARITHMETIC or LINK


def share(timing: Timing, accelerator: Accelerator) -> Share | None:
    """The share of memory bandwidth or of peak arithmetic, whichever takes longer, or of the link to the host; None for
    launches, and if the data sheet has no such link.
    """
    if timing.name == "launch" or (timing.name == "host" and not accelerator.host_gb_per_second):
        return None
    if timing.name == "host":
        assert accelerator.host_gb_per_second
        return Share(timing.moved / (1e9 * accelerator.host_gb_per_second) / timing.seconds, LINK)
    reading = timing.moved / accelerator.hbm_bytes_per_second / timing.seconds
    arithmetic = timing.flop / accelerator.flops() / timing.seconds
    return Share(reading, BANDWIDTH) if reading >= arithmetic else Share(arithmetic, ARITHMETIC)


def efficiency(model: Model, shares: Mapping[str, Share], sizes: Sizes) -> Efficiency:
    """The efficiency of an engine for this model. Its bandwidth is that over the weights and the cache of all layers,
    each at its own share. What a row does not show, because the other limit took longer in it, stays as assumed. So
    does an iteration's time for launching and sampling, about which one layer says nothing.
    """
    bytes_of = {
        "weights": float(model.weight_bytes_read(sizes.sequences)),
        "cache": float(sizes.sequences * model.bytes_read(sizes.context)),
    }
    known = {name: shares[name].share for name in bytes_of if shares[name].of == BANDWIDTH}
    bandwidth = throughput.ASSUMED.bandwidth
    if known:
        bandwidth = sum(bytes_of[name] for name in known) / sum(bytes_of[name] / known[name] for name in known)
    batch = shares["batch"]
    flops = batch.share if batch.of == ARITHMETIC else throughput.ASSUMED.flops
    return throughput.ENGINE._replace(bandwidth=bandwidth, flops=flops)


def line(model: Model, accelerator: Accelerator, reached: Efficiency, sizes: Sizes) -> str:
    """The same as text that user_inputs.timed reads: an iteration of the whole model on one GPU, with weights as in its
    file. Its host's time, for launching and for each sequence, is the assumed one.
    """
    shape = (model, accelerator, sizes.sequences, sizes.sequences * sizes.context)
    seconds = float(throughput.iteration_seconds(*shape, weight_bytes=None, efficiency=reached))
    words = f"{sizes.sequences} sequences, {sizes.context} tokens, {1e3 * seconds:.6g} ms, 1 GPUs"
    return user_inputs.timed(words)[1]


# What is printed


def assumed() -> dict[str, float]:
    """What the lessons assume for each row, {name: share, or seconds of a layer}."""
    engine = throughput.ASSUMED
    return dict(
        weights=engine.bandwidth,
        cache=engine.bandwidth,
        batch=engine.flops,
        training=trainer.PRODUCTS,
        launch=trainer.LAUNCH,
        host=trainer.LINK,
        attention=trainer.ATTENTION,
    )


def what(sizes: Sizes) -> dict[str, str]:
    """{name of a row: what was timed}."""
    return dict(
        weights=f"decode: weights, {sizes.sequences:,} tokens",
        cache=f"decode: cache, {sizes.sequences:,} x {sizes.context:,} tokens",
        batch=f"decode: products, {sizes.batch:,} tokens",
        training=f"training: products, {sizes.tokens:,} tokens",
        attention=f"training: attention, {sizes.longest:,} tokens",
        launch="training: launches of a layer, forward",
        host="host to device",
    )


def measured(timing: Timing, reached: Share | None) -> dict[str, Any]:
    """A timing for programs, with the unit of its number."""
    if timing.name == "launch":
        number, unit = timing.seconds, "s"
    elif (reached.of if reached else ASSUMED_OF[timing.name]) == ARITHMETIC:
        number, unit = timing.flop / timing.seconds, "FLOP/s"
    else:
        number, unit = timing.moved / timing.seconds, "bytes/s"
    timed: dict[str, Any] = {"number": number, "unit": unit, "seconds": timing.seconds, "repeats": timing.repeats}
    timed |= {"bytes": timing.moved, "flop": timing.flop}
    of = {"share": reached.share, "of": reached.of} if reached else {}
    return {"name": timing.name, **timed, **of, "assumed": assumed()[timing.name]}


def rate(number: float, unit: str) -> str:
    if unit == "s":
        return ""
    return f"{number / 1e12:,.3g} TFLOP/s" if unit == "FLOP/s" else f"{number / 1e9:,.4g} GB/s"


def table(row: Mapping[str, Any], sizes: Sizes) -> str:
    """The results as text for people."""
    lines = [f"{row['model']}, one layer in bf16, on {row['machine']}, torch {row['torch']}"]
    for one in row["measured"]:
        of = ASSUMED_OF.get(one["name"])
        taken = f"{one['assumed']:.0%} of {of}" if of else f"{1e3 * one['assumed']:.3f} ms"
        reached = f"{one['share']:.0%} of {one['of']}" if "share" in one else ""
        shown = (
            f"  {what(sizes)[one['name']]:38}  {1e3 * one['seconds']:11.3f} ms  {rate(one['number'], one['unit']):>14}"
        )
        lines.append(f"{shown}  {reached:18}  assumed {taken}; median of {one['repeats']} runs")
    if row["timed"] is None:
        return "\n".join([*lines, "Small shapes on a CPU: they run, but nothing is calibrated."])
    engine = [
        f"{row['efficiency'][name]:.1%} of {of}{'' if row['efficiency'][name] != taken else ' (assumed)'}"
        for name, of, taken in zip(Efficiency._fields, (BANDWIDTH, ARITHMETIC), throughput.ASSUMED)
    ]
    lines.append(
        f"An engine reaches {' and '.join(engine)}. The line below has whichever takes longer, for a plan with weights "
        "as in the file and a cache in bf16:"
    )
    return "\n".join([*lines, f'--timed "{row["timed"]}"'])


def chip_of(name: str) -> Accelerator | None:
    """The row of hardware.py for a device's name, or None."""
    key = DEVICES.get(name.removeprefix("NVIDIA ").removeprefix("AMD "))
    return ACCELERATORS[key] if key else None


def arguments(program: str) -> Parser:
    parser = Parser(
        prog=program,
        description="Times one layer of a model, with random weights, on the GPU of this machine, and compares it with "
        "what the plan assumes about memory reads, matrix products, attention, kernel launches and the link to the "
        "host. Needs torch and takes a minute. With --engine, times the decode passes of a running server and needs no "
        "torch: seconds of a pass, per sequence, and per token that the sequences hold.",
        epilog=f"models: {', '.join(MODELS)}. chips: {', '.join(ACCELERATORS)}.",
    )
    add = parser.add_argument
    add(
        "--config",
        "--model",
        type=plan.config,
        help="a model's name, its config.json, or - for standard input; default: qwen2.5-7b. With --engine, the model "
        "that it serves, from which follows how fast it reads its cache",
    )
    add(
        "--chip",
        type=plan.chip,
        help=f'the data sheet to compare with, a name or numbers: "{user_inputs.CHIP_EXAMPLE}"; default: this GPU\'s',
    )
    add("--sequences", type=whole(1, 2**14), default=64, help="sequences that decode together, default %(default)s")
    add("--context", type=whole(1, 2**20), default=4096, help="tokens in each decoding sequence, default %(default)s")
    add("--batch", type=whole(1, 2**16), default=1024, help="tokens in a large decode batch, default %(default)s")
    add("--tokens", type=whole(1, 2**17), default=8192, help="tokens in a training micro-batch, default %(default)s")
    add("--longest", type=whole(1, 2**17), default=16384, help="tokens in one training sequence, default %(default)s")
    add("--cpu", action="store_true", help="time small shapes on a CPU, which shows only that they run")
    add("--json", action="store_true", help="print only the numbers, as one JSON object")
    add = parser.add_argument_group("a running engine").add_argument
    add("--engine", help="time the decode passes of this vLLM or SGLang server instead, such as http://localhost:8000")
    add("--served-model", help="which of the models that it serves; needed only if there are several")
    add("--gpus", type=whole(1, 1024), help="GPUs of the engine")
    add(
        "--at-once",
        type=several(1, 512),
        default=engine_timing.SEQUENCES,
        help='sequences that decode together, round by round, default "1 16 64"',
    )
    add(
        "--prompts",
        type=several(1, 2**20),
        default=engine_timing.PROMPTS,
        help='tokens of their prompts, default "64 1024 4096"',
    )
    add(
        "--patience",
        type=whole(1, engine_client.LONGEST),
        default=300,
        help="most seconds of a round, default %(default)s",
    )
    return parser


def several(least: int, most: int) -> Callable[[str], tuple[int, ...]]:
    """A reader of up to eight different whole numbers, for argparse's `type`."""
    one = whole(least, most)

    def read(text: str) -> tuple[int, ...]:
        found = sorted({one(word) for word in text.replace(", ", " ").split()})
        if not 1 <= len(found) <= 8:
            raise argparse.ArgumentTypeError(f"needs one to eight numbers, not {len(found)}")
        return tuple(found)

    return read


def device(parser: Parser, chosen: argparse.Namespace) -> tuple[Machine, Accelerator | None]:
    """The machine to time and the data sheet to compare it with; exits with one sentence and status 2 if
    there is none.
    """
    torch = layer_timing.found_torch()
    if torch is None:
        parser.error(
            "torch is not installed here. Run this where you train, or give the plan your own timings by --measured"
        )
    if chosen.cpu:
        torch.set_num_threads(1)  # more gain nothing for small shapes, which would wait for them on a busy machine
        return Machine(torch, "cpu"), None
    if not torch.cuda.is_available():
        parser.error("torch finds no GPU here. Run this where you train, or add --cpu to see that small shapes run")
    name = torch.cuda.get_device_name()
    accelerator = chosen.chip or chip_of(name)
    if accelerator is None:
        parser.error(
            f"there is no data sheet for {name}. Pass --chip with a name from --help, or with the chip's numbers"
        )
    return Machine(torch, "cuda"), accelerator


def row(
    machine: Machine, accelerator: Accelerator | None, model: Model, sizes: Sizes, found: Sequence[Timing]
) -> dict[str, Any]:
    """All results for programs: machine, versions, date, each number with its unit and repeats."""
    torch = machine.torch
    shares = {one.name: share(one, accelerator) if accelerator else None for one in found}
    made: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": torch.cuda.get_device_name() if accelerator else platform.processor() or platform.machine(),
        "chip": accelerator.name if accelerator else None,
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "toolkit": torch.version.cuda or torch.version.hip,
        "model": model.name,
        "sizes": sizes._asdict(),
        "measured": [measured(one, shares[one.name]) for one in found],
        "efficiency": None,
        "timed": None,
    }
    if accelerator:
        reached = efficiency(model, {name: one for name, one in shares.items() if one}, sizes)
        made |= {"efficiency": reached._asdict(), "timed": line(model, accelerator, reached, sizes)}
    return made


# A running engine


def engine(chosen: argparse.Namespace) -> dict[str, Any]:
    """Times the engine's passes, printing each, and returns all results for programs."""
    say = (lambda text: None) if chosen.json else lambda text: print(text, flush=True)
    server = engine_client.server(chosen.engine, os.environ.get("OPENAI_API_KEY", ""), chosen.served_model)
    say(f"{server.model} at {server.url}, seconds between streamed tokens:")
    passes, left_out = [], []
    for one in engine_client.passes(server, chosen.at_once, chosen.prompts, Random(), chosen.patience):
        if isinstance(one, str):
            left_out.append(one)
            say(f"  {one}")
        else:
            passes.append(one)
            say(f"  {one.sequences:5,} sequences  {one.tokens:10,.0f} tokens  {1e3 * one.seconds:10.3f} ms a pass")
    columns = np.array(passes, dtype=np.float64).reshape(-1, 3).T
    try:
        found = engine_timing.fit(*columns, gpus=chosen.gpus or 0)
    except ValueError as refusal:
        raise engine_client.EngineError(str(refusal)) from None
    made: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "engine": server.url,
        "model": server.model,
        "passes": [one._asdict() for one in passes],
        "left_out": left_out,
        "launch_seconds": found.line.launch,
        "sequence_seconds": found.line.sequence,
        "token_seconds": found.line.token,
        "standard_errors": [None if isnan(error) else error for error in found.errors],
        "off": found.off,
        "worst": found.worst,
        "cache": cache(chosen, found.line.token) if chosen.config else None,
        "timed": user_inputs.timed(found.line.words)[1],
    }
    say(meaning(found, made))
    return made


def cache(chosen: argparse.Namespace, seconds: float) -> dict[str, float | None] | None:
    """The bandwidth at which the engine reads a cache in bf16, if it was seen."""
    ends = min(chosen.prompts), max(chosen.prompts)
    if not seconds or ends[0] == ends[1]:
        return None
    read = engine_timing.bytes_per_token(chosen.config, *ends, chosen.gpus or 1)
    share = read / seconds / chosen.chip.hbm_bytes_per_second if chosen.chip else None
    return {"bytes_per_token": read, "bytes_per_second": read / seconds, "share": share}


def meaning(found: engine_timing.Fit, made: Mapping[str, Any]) -> str:
    """The line, what its terms stand for, and what a plan takes, as text for people."""
    units = ("ms", "µs", "ns")
    scaled = zip(found.line[:3], found.errors, (1e3, 1e6, 1e9), units)
    a, b, c = (
        f"{scale * term:.4g} {unit}" + ("" if isnan(error) else f" ± {scale * error:.2g}")
        for term, error, scale, unit in scaled
    )
    lines = [
        f"One pass takes a + b x sequences + c x tokens, by least squares over {found.points} passes, ± one standard "
        f"error. The line misses a pass by {found.off:.1%} (root mean square), and by {found.worst:.1%} at most.",
        f"  a = {a}: launching the pass and reading the weights",
        f"  b = {b} for each sequence: the host, which schedules, samples, detokenizes and sends its stream",
        f"  c = {c} for each token that the sequences hold: reading the cache",
    ]
    if not found.line.token:
        lines.append("The cache was too small to be seen, so a plan keeps its assumption. Longer --prompts show it.")
    if reads := made["cache"]:
        share = "" if reads["share"] is None else f", {reads['share']:.0%} of what the chip has"
        lines.append(
            f"With {reads['bytes_per_token']:,.0f} bytes of cache per token in bf16 on each GPU, c is "
            f"{reads['bytes_per_second'] / 1e12:.3g} TB/s{share}."
        )
    if found.worst > STRAIGHT:
        lines.append(
            "The passes do not lie on a line. Other users of the server, drafts, or experts, of which a small batch "
            "reads only some, bend it. Trust it only between the numbers of sequences above."
        )
    lines.append(
        "This assumes that nobody else used the server. Prompts were random tokens, so no prefix was shared. The "
        "host's share includes HTTP, which a trainer that holds its engine in the same process does not pay."
    )
    return "\n".join([*lines, f'--timed "{made["timed"]}"'])


def main(words: Sequence[str] | None = None, program: str = "python -m rlpt.calibrate") -> int:
    """Prints the measurements, the line for a plan and a row of JSON; status 0, or 2 after one sentence."""
    parser = arguments(program)
    with guarded(parser, bad=engine_client.EngineError):
        chosen = parser.parse_args(words)
        if chosen.engine is not None:
            print(json.dumps(engine(chosen)))
            return 0
        chosen.config = chosen.config or MODELS["qwen2.5-7b"]
        try:
            shape = layer_timing.shape_of(chosen.config)
        except ValueError as refusal:
            parser.error(str(refusal))
        sizes = Sizes(chosen.sequences, chosen.context, chosen.batch, chosen.tokens, chosen.longest)
        machine, accelerator = device(parser, chosen)
        if accelerator is None:
            shape, sizes = layer_timing.small(shape), layer_timing.SMALL
        try:
            timings = layer_timing.timings(machine, shape, sizes)
        except machine.torch.cuda.OutOfMemoryError:
            parser.error("this layer does not fit into the GPU's memory; pass fewer --sequences or a shorter --context")
        except RuntimeError as fault:
            parser.error(f"torch cannot time this layer: {str(fault).splitlines()[0]}")
        made = row(machine, accelerator, chosen.config, sizes, timings)
        over = [one for one in made["measured"] if one.get("share", 0.0) > 1]
        if over:
            parser.error(f"the timing of {over[0]['name']} is faster than {made['chip']} allows; pass the right --chip")
        shown = "" if chosen.json else f"{table(made, sizes)}\n"
        sys.stdout.write(f"{shown}{json.dumps(made)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
