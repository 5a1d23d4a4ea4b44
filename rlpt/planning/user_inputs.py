"""What readers bring instead of a row of our tables, parsed from text: a model's config.json, a chip, a timed iteration
or timed roles of a step, lengths of completions.

Each function returns the parsed object, the same text in its shortest form, and one sentence on what was understood, or
raises a ValueError with one sentence. Parsing a short text gives the same object and the same text. Reading is not a
model.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from rlpt.planning import calibration
from rlpt.planning.configs import HARMLESS, model_from_config, written
from rlpt.planning.engine_timing import Line, Timed, Timing, fit
from sim.cluster import memory, step, turns
from sim.cluster.hardware import ACCELERATORS, Accelerator, custom
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS, Model

SMALLEST, LARGEST = 1e6, 1e14  # parameters; the second is a hundred times the largest published model

# keys that a shortened config keeps if anything depends on them
KEPT = {
    "model_type",
    "text_config",
    "quantization_config",
    "max_position_embeddings",
    "n_group",
    "topk_group",
    "rope_scaling",
    "rope_parameters",
}
BRACKETS = 300  # the most lists and objects in a config; published ones have a few dozen

NUMBER, WHOLE = r"(\d+(?:,\d{3})*(?:\.\d+)?(?:e\d+)?)", r"(\d+(?:,\d{3})*)"
BETWEEN = r"(?<!\d),|,(?!\d{3}(?!\d))|[;\n]+"  # separators of parts; the comma in 1,979 is not one
Quantities: TypeAlias = Mapping[str, tuple[str, float, float, str]]
CHIP: Quantities = {  # {name: (pattern, least, most, how it is written)}
    "memory": (rf"{NUMBER} ?GB", 1, 4000, "{:.12g} GB"),
    "bandwidth": (rf"{NUMBER} ?TB/s", 0.01, 200, "{:.12g} TB/s"),
    "bf16": (rf"{NUMBER} ?TFLOPS?(?:/s)?", 1, 1e5, "{:.12g} TFLOP/s"),
    "links": (rf"{NUMBER} ?GB/s", 0.1, 1e5, "{:.12g} GB/s"),
    "fp8": (rf"fp8 {NUMBER} ?TFLOPS?(?:/s)?", 1, 2e5, "fp8 {:.12g} TFLOP/s"),
    "domain": (rf"domain {WHOLE}", 1, 1e5, "domain {:.12g}"),
    "nic": (rf"nic {NUMBER} ?GB/s", 0.01, 1e5, "NIC {:.12g} GB/s"),
}
CHIP_NEEDS, CHIP_ELSE = ("memory", "bandwidth", "bf16", "links"), dict(fp8=0.0, domain=8, nic=50.0)
CHIP_EXAMPLE = "80 GB, 3.35 TB/s, 989 TFLOP/s, 450 GB/s"
TIMED: Quantities = {
    "sequences": (rf"{NUMBER} ?sequences?", 1, 1e6, "{:.12g} sequences"),
    "context": (rf"{NUMBER} ?tokens?", 0, 1e7, "{:.12g} tokens"),
    "milliseconds": (rf"{NUMBER} ?ms", 1e-3, 1e6, "{:.12g} ms"),
    "gpus": (rf"{WHOLE} ?gpus?", 1, 1024, "{:.12g} GPUs"),
}
TIMED_NEEDS, TIMED_ELSE = ("sequences", "context", "milliseconds"), dict(gpus=0)
TIMED_EXAMPLE = "64 sequences, 2048 tokens, 12 ms"
LINE_EXAMPLE = "7.1 ms + 60 us a sequence + 22 ns a token"
TERM = rf"{NUMBER} ?(ms|us|ns)(?: ?(?:/|a |per ) ?(pass|sequence|token))?"
# {what a term is for: (unit in which it is written, seconds of it, least, most)}
TERMS = {"pass": ("ms", 1e-3, 1e-3, 1e6), "sequence": ("us", 1e-6, 0, 1e5), "token": ("ns", 1e-9, 0, 1e6)}
LENGTHS_EXAMPLE = "6000 24000 60000 131072"
WIDTHS = {"bf16": 2, "fp8": 1}
STORED = "as in its file"  # bf16 if the file does not say
WEIGHTS = {STORED: None, **WIDTHS}
SWITCH = {"on": True, "off": False}
# {word: (field of planner.Scenario, allowed values)} for the job on which seconds were measured
JOB: Mapping[str, tuple[str, Any]] = {
    "model": ("model", MODELS),
    "chip": ("accelerator", ACCELERATORS),
    "gpus": ("gpus", (1, 8192)),
    "prompts": ("prompts", (1, 2**16)),
    "samples": ("samples", (1, 2**10)),
    "prompt": ("prompt", (1, 2**20)),
    "lengths": ("law", "quantiles"),
    "turns": ("turns", (1, 1000)),
    "returned": ("returned", (0, 2**20)),
    "tool_seconds": ("tool_seconds", (0.0, 1e5)),
    "kept": ("kept", {name: name for name in turns.REUSES}),
    "shared_cache": ("shared_cache", SWITCH),
    "batches": ("batches", (1.0, 64.0)),
    "updates": ("updates", (1, 2**16)),
    "group_prompts": ("grouped", SWITCH),
    "overlap": ("overlap", {name: name for name in step.OVERLAPS}),
    "share": ("share", (0.01, 0.99)),
    "tp": ("tensor_parallel", (0, 1024)),
    "dp": ("data_parallel", (1, 1024)),
    "pp": ("pipeline", (1, 1024)),
    "dcp": ("context_parallel", (0, 1024)),
    "engine_weights": ("weight_bytes", WEIGHTS),
    "cache": ("kv_bytes", WIDTHS),
    "recompute": ("recompute", {name: name for name in memory.RECOMPUTE}),
    "train_cp": ("training_parallel", (1, 1024)),
    "train_tp": ("training_tensor", (1, 1024)),
    "train_pp": ("training_stages", (1, 1024)),
    "zero": ("zero", (1, 3)),
    "train_ep": ("expert_parallel", (1, 1024)),
    "host_memory": ("host_gb", (1.0, 1e5)),
    "reference": ("reference", SWITCH),
    "reuse": ("reuse", SWITCH),
    "test_seconds": ("test_seconds", (0.0, 3600.0)),
    "workers": ("workers", (1, 2**16)),
}
TIMES = (calibration.WHOLE, *calibration.ROLES)
SHORTEST, FOREVER = 1e-6, 1e7  # seconds of a role
MEASURED_EXAMPLE = "step=342.7 update=120"
FEW, MANY, MOST = 4, 20, 10**7  # number of quantiles; smallest and largest column
LONGEST = 10**7  # tokens per completion


def model(text: str) -> tuple[Model, str, str]:
    """(Model, its config in the shortest form, sentence)."""
    try:
        if len(re.findall(r"[\[{]", text)) > BRACKETS:
            raise ValueError("deeper than the browser can follow")
        config = json.loads(text, parse_constant=no_number)
    except ValueError as fault:
        where = f"line {fault.lineno}: {fault.msg}" if isinstance(fault, json.JSONDecodeError) else str(fault)[:80]
        whole = "paste the whole of a model's config.json, from { to }"
        raise ValueError(f"This is no config, {where}; {whole}.") from None
    try:
        described, unread = model_from_config(config, "custom", "your model")
    except (ValueError, OverflowError) as refusal:
        raise ValueError(f"Not a model: {refusal}. Valid is a language model's config.json.") from None
    if not SMALLEST <= described.params() <= LARGEST:
        raise ValueError(
            f"{described.params():,.0f} parameters: that is no language model. Valid are a million to 100 trillion."
        )
    billions = described.params() / 1e9
    size = f"{billions:,.0f}" if billions >= 100 else f"{billions:.3g}"
    note = f"{size} billion parameters in {described.layers} layers, in place of the model above."
    if any(isinstance(config.get(key), dict) for key in ("vision_config", "audio_config")):
        note += " That is the text part: towers are left out."
    if described.quantized:
        stored = f"{described.stored_bytes() / 1e9:,.3g}"
        note += f" Stored as {described.quantized.method}, {stored} GB: a plan's engines hold that, training bf16."
    if unread:
        named = ", ".join(key[:40] for key in unread[:6])
        note += f" Not read: {named}{' and others' if len(unread) > 6 else ''}."
    return described, json.dumps(shortest(config, described), separators=(",", ":")), note


def no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def shortest(config: Mapping[str, Any], found: Model) -> Mapping[str, Any]:
    """The config without anything that does not affect the model: first all keys that are known to be harmless or are
    not read, then key by key.
    """

    def same(other: Mapping[str, Any]) -> bool:
        try:
            made = model_from_config(other, found.key, found.name)[0]
        except ValueError:
            return False
        return made == found and made.positions == found.positions

    inner = config.get("text_config")
    if isinstance(inner, dict):
        outer = {k: config[k] for k in ("model_type", "tie_word_embeddings", "quantization_config") if k in config}
        config = next(flat for flat in (outer | inner, {**outer, "text_config": inner}, config) if same(flat))
    if found.quantized:
        config = {**config, "quantization_config": written(found.quantized)}
    unread = set(model_from_config(config)[1]) | HARMLESS - KEPT
    few = {k: v for k, v in config.items() if k not in unread}
    config = few if same(few) else config
    for key in sorted(config):
        less = {k: v for k, v in config.items() if k != key}
        config = less if same(less) else config
    return config


def chip(text: str) -> tuple[Accelerator, str, str]:
    """(Accelerator, text, sentence) from a data sheet's numbers: dense FLOP/s, links in one direction."""
    n, short = quantities(text, CHIP, CHIP_NEEDS, CHIP_ELSE, CHIP_EXAMPLE)
    made = custom(n["memory"], n["bandwidth"], n["bf16"], n["fp8"], n["links"], int(n["domain"]), n["nic"])
    ridge = n["bf16"] / n["bandwidth"]
    return made, short, f"Your chip, {ridge:,.0f} FLOP a byte at its ridge, in place of the accelerator above."


def timed(text: str) -> tuple[Timing, str, str]:
    """(Timed or Line, text, sentence) from a decode pass, from the line of many, or from three or more passes joined by
    the word "and", to which a line is fitted.
    """
    passes = re.split(r"\s+and\s+", text.strip(), flags=re.IGNORECASE)
    if len(passes) > 1:
        return fitted([one_pass(part)[0] for part in passes])
    if re.search(r"\+|\d ?[uµμn]s\b", text):
        return line(text)
    one, short = one_pass(text)
    note = "The efficiencies above give way to the one that your iteration shows."
    return one, short, f"{note} Three, joined by the word “and”, also separate the host from memory."


def one_pass(text: str) -> tuple[Timed, str]:
    n, short = quantities(text, TIMED, TIMED_NEEDS, TIMED_ELSE, TIMED_EXAMPLE)
    return Timed(n["sequences"], n["context"], n["milliseconds"] / 1000, int(n["gpus"])), short


def fitted(passes: Sequence[Timed]) -> tuple[Line, str, str]:
    if len(gpus := {one.gpus for one in passes}) > 1:
        raise ValueError("The passes are of engines of different sizes: give as many GPUs with each.")
    sequences = np.array([one.sequences for one in passes])
    tokens = sequences * np.array([one.context for one in passes])
    found = fit(sequences, tokens, np.array([one.seconds for one in passes]), gpus.pop())
    one, short, note = line(found.line.words)
    return one, short, f"The line closest to your {len(passes)} passes misses one by {found.worst:.0%} at most. {note}"


def line(text: str) -> tuple[Line, str, str]:
    """The same from terms such as "60 us a sequence"."""
    values: dict[str, float] = {}
    gpus = 0
    for part in filter(None, (part.strip() for part in re.split(rf"{BETWEEN}|\+", re.sub("[µμ]s", "us", text)))):
        if match := re.fullmatch(rf"{WHOLE} ?gpus?", part, re.IGNORECASE):
            gpus = int(number(match[1]))
            if not 1 <= gpus <= TIMED["gpus"][2]:
                raise ValueError(f"“{part[:40]}” must lie between 1 GPUs and {TIMED['gpus'][2]:,} GPUs.")
            continue
        term = re.fullmatch(TERM, part, re.IGNORECASE)
        name = (term[3] or "pass").lower() if term else ""
        if term is None or name in values:
            wrong = "is given twice" if term else "is no term of a line"
            raise ValueError(f"“{part[:40]}” {wrong}. For example: {LINE_EXAMPLE}.")
        unit, size, least, most = TERMS[name]
        given = {unit: size for unit, size, *_ in TERMS.values()}[term[2].lower()]
        values[name] = round(number(term[1]) * given / size, 3)
        if not least <= values[name] <= most:
            raise ValueError(f"“{part[:40]}” must lie between {least:g} and {most:,.12g} {unit}.")
    if missing := [name for name in ("pass", "sequence") if name not in values]:
        raise ValueError(f"The time of a {missing[0]} is missing. For example: {LINE_EXAMPLE}.")
    a, b, c = (values.get(name, 0.0) for name in TERMS)
    one = Line(1e-3 * a, 1e-6 * b, 1e-9 * c, gpus)
    note = f"A pass takes {a:.12g} ms, {b:.12g} µs for each sequence and {c:.12g} ns for each token that they hold."
    return one, one.words, f"{note} What is assumed about the engine above gives way to that."


class Measured(NamedTuple):
    """Seconds of a step and of its roles, and the job that they are from."""

    seconds: dict[str, float]  # {name in calibration.ROLES, or "step": seconds}
    job: dict[str, Any]  # fields of planner.Scenario in which it differs from the current job


def measured(text: str) -> tuple[Measured, str, str]:
    """(Measured, text, sentence) from words such as "step=342.7 update=120 gpus=64", in any order."""
    text = re.sub(r"\s*[=:]\s*", "=", re.sub(r"(?<=\d) ?s(?![\w=])", "", text))
    by_role: dict[str, float] = {}
    job: dict[str, Any] = {}
    words: list[str] = []
    for part in filter(None, re.split(rf"{BETWEEN}|\s+", text)):
        name, _, value = part.partition("=")
        name = name.lower().replace("-", "_")
        if name not in (*TIMES, *JOB) or not value:
            raise ValueError(
                f"“{part[:40]}” is neither a time nor a property of the job. Times are {', '.join(TIMES)}; properties "
                f"are {', '.join(JOB)}. For example: {MEASURED_EXAMPLE}."
            )
        if name in by_role or name in [word.partition("=")[0] for word in words]:
            raise ValueError(f"“{part[:40]}” is given twice. For example: {MEASURED_EXAMPLE}.")
        if name in TIMES:
            by_role[name] = within(part, value, SHORTEST, FOREVER)
            words.append(f"{name}={by_role[name]!r}".removesuffix(".0"))
        else:
            field, allowed = JOB[name]
            job[field] = of_job(part, value, allowed)
            words.append(f"{name}={value.lower()}")
    if not by_role:
        raise ValueError(f"Give at least one time. For example: {MEASURED_EXAMPLE}.")
    times = ", ".join(f"{name} {seconds:.12g} s" for name, seconds in by_role.items())
    where = (
        f"on the job with {' '.join(word for word in words if word.partition('=')[0] in JOB)}" if job else "on this job"
    )
    return Measured(by_role, job), " ".join(words), f"Timed {where}: {times}."


def within(part: str, text: str, least: float, most: float) -> float:
    value = number(text) if re.fullmatch(NUMBER, text, re.IGNORECASE) else float("nan")
    if not least <= value <= most:
        raise ValueError(f"“{part[:40]}”: the number must lie between {least:g} and {most:,.12g}.")
    return value


def of_job(part: str, text: str, allowed: Any) -> Any:
    if allowed == "quantiles":
        return lengths(text.replace("/", " "))[0]
    if isinstance(allowed, tuple):
        value = within(part, text, *allowed)
        if isinstance(allowed[0], float):
            return value
        if value != int(value):
            raise ValueError(f"“{part[:40]}” is not whole.")
        return int(value)
    if text.lower() not in allowed:
        raise ValueError(f"“{part[:40]}” is not on offer: {', '.join(allowed)}.")
    return allowed[text.lower()]


def quantities(
    text: str, words: Quantities, needs: Sequence[str], otherwise: Mapping[str, float], example: str
) -> tuple[dict[str, float], str]:
    """({name: number}, text) from parts such as "80 GB", in any order, separated by commas or lines."""
    values: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in re.split(BETWEEN, text))):
        read = {name: re.fullmatch(form, part, re.IGNORECASE) for name, (form, *_) in words.items()}
        name, match = next(((name, match) for name, match in read.items() if match), ("", None))
        if match is None or name in values:
            wrong = "is given twice" if match else "is not one of the numbers that are read here"
            raise ValueError(f"“{part[:40]}” {wrong}. For example: {example}.")
        value, (_, least, most, form) = number(match[1]), words[name]
        if not least <= value <= most:
            raise ValueError(f"“{part[:40]}” must lie between {form.format(least)} and {form.format(most)}.")
        values[name] = value
    if missing := [name for name in needs if name not in values]:
        raise ValueError(f"The {missing[0]} is missing. For example: {example}.")
    return {**otherwise, **values}, ", ".join(
        form.format(values[name]) for name, (*_, form) in words.items() if name in values
    )


def number(word: str) -> float:
    return float(word.replace(",", ""))


def lengths(text: str) -> tuple[Law, str, str]:
    """(Law, text, sentence) from four quantiles, p50, p90, p99 and the longest, or from a column of lengths in tokens.
    Completions are cut off at the longest, and p99 may be beyond it.
    """
    return column([text])


def column(blocks: Iterable[str]) -> tuple[Law, str, str]:
    """The same for a text that comes in blocks of whole lines: a log of up to MOST lengths, stored as numbers."""
    parts: list[np.ndarray] = []
    count = 0
    for block in blocks:
        words = words_of(block)
        if not parts and len(words) > FEW and not is_number(words[0]):
            words = words[1:]  # the column's heading
        parts.append(numbers_of(words))
        count += len(words)
        if count > MOST:
            raise ValueError(f"There are more than {MOST:,} lengths, the most that can be read here.")
    return law_of(np.concatenate(parts) if parts else np.empty(0))


def words_of(text: str) -> list[str]:
    if "\n" in text:  # with one per line, 1,234 is a single number
        text = re.sub(r"(?m)^[ \t]*\d{1,3}(?:,\d{3})+[ \t\r]*$", lambda line: line[0].replace(",", ""), text)
    quantiles = text.split()
    if len(quantiles) == FEW and all(re.fullmatch(r"\d+|\d{1,3}(?:,\d{3})+", one) for one in quantiles):
        return [one.replace(",", "") for one in quantiles]
    return text.translate(str.maketrans(",;[]", "    ")).split()


def numbers_of(words: Sequence[str]) -> np.ndarray:
    try:
        tokens = np.array([float(word) for word in words])
        wrong = None if ((tokens >= 1) & (tokens <= LONGEST)).all() else next(w for w in words if not is_number(w))
    except ValueError:
        wrong = next(word for word in words if not is_number(word))
    if wrong is not None:
        raise ValueError(f"“{wrong[:40]}” is not a number of tokens from 1 to {LONGEST:,}.")
    return tokens


def law_of(numbers: np.ndarray) -> tuple[Law, str, str]:
    n = len(numbers)
    if n != FEW and n < MANY:
        raise ValueError(
            f"There are {n} numbers. Give four increasing quantiles (p50, p90, p99, longest), or a column of at least "
            f"{MANY} lengths."
        )
    four = numbers if n == FEW else [*np.quantile(numbers, [0.5, 0.9, 0.99]), numbers.max()]
    if list(four[:3]) != sorted(four[:3]):
        raise ValueError(f"The quantiles must increase, from p50 to p90 and p99. For example: {LENGTHS_EXAMPLE}.")
    p50, p90, p99, longest = (max(round(float(n)), 1) for n in four)
    of = f"{n:,} lengths: " if n != FEW else ""
    note = f"{of}median {p50:,}, 90 % {p90:,}, 99 % {p99:,}, longest {longest:,} tokens, in place of the knobs."
    return Law(p50, p90, p99, longest), f"{p50} {p90} {p99} {longest}", note


def is_number(word: str) -> bool:
    try:
        return isfinite(float(word)) and 1 <= float(word) <= LONGEST
    except ValueError:
        return False
