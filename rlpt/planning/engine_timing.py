"""What timed decode passes say about an engine: a pass as a line, a + b · sequences + c · tokens, fitted by least
squares, and the efficiency of throughput.py that a line or a single pass shows.

Closed form: least squares (Gauss 1809), and the roofline of throughput.py. Left out: a step of the line where a CUDA
graph ends, and passes that also read prompts.
"""

from collections.abc import Sequence
from itertools import product
from math import nan
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from sim.cluster import throughput
from sim.cluster.hardware import Accelerator
from sim.cluster.models import Model
from sim.cluster.throughput import Efficiency

SEQUENCES, PROMPTS = (1, 16, 64), (64, 1024, 4096)  # at which an engine is timed, and at which a line is read
BLOCK = 8  # tokens between two readings of the clock, so that a late part of a stream counts little
WORST = 30.0  # condition number beyond which noise of one percent becomes the answer
MOST = 0.95  # assumed: no engine reaches more of its chip; if it seems to, its host is faster than assumed
LEAST = 1 / 3  # assumed: of the assumed share; below it, something besides the chip takes the time
SEEN = 0.01  # share of the longest pass that reading the cache must take, or its term is noise


class Timed(NamedTuple):
    """One timed decode pass of an engine."""

    sequences: float
    context: float  # tokens in each sequence
    seconds: float
    gpus: int  # of the engine; 0 if not stated


class Line(NamedTuple):
    """Seconds of a decode pass: launch + sequence · sequences + token · tokens that they hold."""

    launch: float  # launching, and reading the weights
    sequence: float  # the host's share for each: scheduler, sampler, detokenizer
    token: float  # reading the cache; 0 if it was not seen
    gpus: int = 0  # of the engine; 0 if not stated

    @property
    def words(self) -> str:
        """The text that user_inputs.timed reads, with three decimals."""
        a, b, c = (f"{round(of, 3):.12g}" for of in (1e3 * self.launch, 1e6 * self.sequence, 1e9 * self.token))
        return f"{a} ms + {b} us a sequence + {c} ns a token{f', {self.gpus} GPUs' if self.gpus else ''}"


Timing: TypeAlias = Timed | Line


class Fit(NamedTuple):
    """A line and how well it is known."""

    line: Line
    errors: tuple[float, float, float]  # standard errors of a, b and c; nan if the points leave none, or for a 0
    off: float  # root mean square of the relative deviation of the points from the line
    worst: float  # the largest such deviation
    points: int


class Stream(NamedTuple):
    """When the parts of an answer arrived."""

    times: np.ndarray  # (parts,), in seconds
    each: float  # tokens in a part


class Pass(NamedTuple):
    """A decode pass that was seen from outside."""

    sequences: int
    tokens: float  # that these hold, all together
    seconds: float


def fit(sequences: np.ndarray, tokens: np.ndarray, seconds: np.ndarray, gpus: int = 0) -> Fit:
    """The line, none of whose terms is negative, closest to passes: arrays (passes,). Raises a
    ValueError with one sentence if these cannot separate a, b and c.
    """
    sequences, tokens, seconds = (np.asarray(of, dtype=np.float64) for of in (sequences, tokens, seconds))
    if not (np.isfinite(seconds).all() and (seconds > 0).all()):
        raise ValueError("Every pass must take more than 0 seconds.")
    design = np.column_stack([np.ones_like(sequences), sequences, tokens])
    if len(seconds) < 3 or not separable(design):
        raise ValueError(f"These passes cannot separate a, b and c: {alike(sequences, tokens)}.")
    found = least_squares(design, seconds)
    left = design @ found - seconds
    kept = found > 0
    errors, spare = np.full(3, nan), len(seconds) - int(kept.sum())
    if spare:
        most = design[:, kept].max(axis=0)
        known = np.diag(np.linalg.pinv((design[:, kept] / most).T @ (design[:, kept] / most)))
        errors[kept] = np.sqrt(known * (left**2).sum() / spare) / most
    a, b, c, *of = (float(value) for value in (*found, *errors))
    off = np.abs(left / seconds)
    return Fit(Line(a, b, c, gpus), (of[0], of[1], of[2]), float(np.sqrt((off**2).mean())), float(off.max()), len(off))


def separable(design: np.ndarray) -> bool:
    """Whether noise in a row leaves the coefficients of the columns (rows, columns) known, whatever their units."""
    most = np.abs(design).max(axis=0)
    return bool((most > 0).all() and np.linalg.cond(design / most) < WORST)


def alike(sequences: np.ndarray, tokens: np.ndarray) -> str:
    """What does not vary enough."""
    context = tokens / np.maximum(sequences, 1e-9)
    if len(set(zip(sequences, tokens))) < 3:
        return "at least three different ones are needed"
    if sequences.max() < 2 * sequences.min():
        return "all have about as many sequences, so vary that number"
    if context.max() < 2 * context.min():
        return "all sequences hold about as many tokens, so vary the length of the prompts"
    return "vary the number of sequences and the length of the prompts independently"


def least_squares(design: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The coefficients (columns,), none below 0, at which design @ coefficients is closest to the values (rows,)."""
    tried = []
    for kept in product([True, False], repeat=design.shape[1]):
        found = np.zeros(design.shape[1])
        if any(kept):
            found[list(kept)] = np.linalg.lstsq(design[:, list(kept)], values, rcond=None)[0]
        if (found >= 0).all():
            tried.append((float(((design @ found - values) ** 2).sum()), tuple(found)))
    return np.array(min(tried)[1])


def bytes_per_token(model: Model, shortest: float, longest: float, gpus: int = 1) -> float:
    """Bytes of a cache in bf16 that each GPU reads for one more token between these lengths."""
    more = model.bytes_read(longest, 2, gpus) - model.bytes_read(shortest, 2, gpus)
    return float(more / (longest - shortest))


def decode_pass(prompt: int, streams: Sequence[Stream]) -> Pass | None:
    """The pass while all streams decode, each after a prompt of so many tokens: the median over blocks of BLOCK tokens.
    None if they did not decode together for two such blocks.
    """
    start, end = max(one.times[0] for one in streams), min(one.times[-1] for one in streams)
    held, blocks = 0.0, []
    for one in streams:
        inside = (one.times >= start) & (one.times <= end)
        times = one.times[inside]
        width = max(1, round(BLOCK / one.each))
        blocks += list((times[width::width] - times[:-width:width]) / (width * one.each))
        held += prompt + one.each * (float(np.flatnonzero(inside).mean()) + 1) if inside.any() else 0
        if len(times) <= 2 * width:
            return None
    return Pass(len(streams), held, float(np.median(blocks)))


# What it says about an engine on its chip


def efficiency(one: Timing, model: Model, accelerator: Accelerator, assumed: Efficiency, **engine: Any) -> Efficiency:
    """What the engine reaches: all that a line shows, or what a single pass leaves for memory or arithmetic, whichever
    takes longer, once its host has the assumed seconds. Above 1, the timing is faster than the chip.
    """
    if isinstance(one, Line):
        return of_line(one, model, accelerator, assumed, **engine)
    shape = model, accelerator, one.sequences, one.context, one.seconds
    reached = throughput.calibrated(*shape, efficiency=assumed, **engine)
    if reached.bandwidth <= max(MOST, assumed.bandwidth) and reached.flops <= max(MOST, assumed.flops):
        return reached
    hostless = assumed._replace(sequence_seconds=0.0)
    tokens = one.sequences * one.context
    rest = throughput.iteration_seconds(*shape[:3], tokens, efficiency=hostless, **engine)
    left = float(one.seconds - rest) / one.sequences
    if left >= 0:
        return assumed._replace(sequence_seconds=left)
    return throughput.calibrated(*shape, efficiency=hostless, **engine)


def of_line(line: Line, model: Model, accelerator: Accelerator, assumed: Efficiency, **engine: Any) -> Efficiency:
    """The efficiency whose passes have this line where engines are timed. The tokens' term gives the share of the
    chip, and what reading then leaves of the other two terms belongs to launching and to the host. Experts are read in
    part for each sequence, so the formula's line is that closest to it at the same points.
    """
    sequences, context = (of.ravel() for of in np.meshgrid(np.array(SEQUENCES, float), np.array(PROMPTS, float)))
    tokens = sequences * context
    basis = np.column_stack([np.ones_like(sequences), sequences, tokens])
    bare = assumed._replace(overhead_seconds=0.0, sequence_seconds=0.0)
    one = throughput.iteration(model, accelerator, sequences, tokens, efficiency=bare, **engine)
    terms = np.linalg.lstsq(basis, np.maximum(one.memory, one.compute), rcond=None)[0]
    seen = bool(line.token and terms[2] * tokens.max() > SEEN * (basis @ terms).max())
    basis[:, 2] *= seen  # a cache that was not seen leaves the assumed share, and the terms without it
    exchange = basis @ np.linalg.lstsq(basis, one.exchange + 0 * tokens, rcond=None)[0]
    seconds, longer = basis @ line[:3] - exchange, basis @ terms
    slower = line.token / terms[2] if seen else 1.0
    slower = max(slower, assumed.bandwidth / max(MOST, assumed.bandwidth))
    slower = max(min(slower, float((seconds / longer).min())), 1e-9)  # reading takes no more than the whole pass
    launch, sequence = least_squares(basis[:, :2], seconds - slower * longer)
    flops = assumed.flops / slower if np.any(one.compute > one.memory) else assumed.flops
    return Efficiency(float(assumed.bandwidth / slower), float(flops), float(launch), float(sequence))


def understood(one: Timing, model: Model, accelerator: Accelerator, assumed: Efficiency, **engine: Any) -> str:
    """What `efficiency` found, in sentences."""
    reached = efficiency(one, model, accelerator, assumed, **engine)
    if max(reached[:2]) > 1:
        return "Your engine would be faster than its chip allows."
    host = f"{1e6 * reached.sequence_seconds:.3g} µs of the host for each sequence"
    launch = f"{1e3 * reached.overhead_seconds:.3g} ms for launching"
    if isinstance(one, Line):
        memory = f"{reached.bandwidth:.0%} of the memory bandwidth"
        if reached.bandwidth == assumed.bandwidth:
            memory += " (assumed)"
        return f"Your engine takes {launch} and {host}, and it reaches {memory}."
    shape = model, accelerator, one.sequences, one.sequences * one.context
    part = throughput.iteration(*shape, efficiency=reached, **engine)
    name, share, taken = ("memory bandwidth", reached.bandwidth, assumed.bandwidth)
    if part.bound == "compute":
        name, share, taken = ("peak arithmetic", reached.flops, assumed.flops)
    rest = float(max(part.memory, part.compute))
    exchange = " and exchanges between its GPUs" if part.exchange else ""
    said = (
        f"Of your pass of {1e3 * one.seconds:.4g} ms, {launch}{exchange} and {host} take "
        f"{1e3 * (one.seconds - rest):.3g} ms, and the remaining {1e3 * rest:.3g} ms are {share:.0%} of the {name}."
    )
    if share < LEAST * taken:
        said += (
            " That looks like a slow host or an eager engine rather than the chip. Two more passes with other numbers "
            "of sequences and tokens, joined by the word “and”, separate them, and so does rlpt calibrate --engine."
        )
    elif reached.sequence_seconds != assumed.sequence_seconds:
        said += " The host must be faster than assumed, or the pass would be faster than the chip."
    return said
