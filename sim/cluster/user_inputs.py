"""What a reader brings instead of a row of our tables, read from text: a model's config.json, a chip, an iteration that
was timed, lengths of completions.

Each function returns what it made, the same text as short as it can be, and one sentence on what was understood; or it
raises a ValueError of one sentence. A short text reads as what it was made from, and as itself. Reading
is not a model.
"""

import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from sim.cluster.configs import HARMLESS, model_from_config
from sim.cluster.hardware import Accelerator, custom
from sim.cluster.lengths import Law
from sim.cluster.models import Model

SMALLEST, LARGEST = 1e6, 1e14  # parameters; the second is a hundred times the largest model that is published

BRACKETS = 300  # lists and objects in a config; published ones have a few dozen

NUMBER, WHOLE = r"(\d+(?:,\d{3})*(?:\.\d+)?(?:e\d+)?)", r"(\d+(?:,\d{3})*)"
BETWEEN = r"(?<!\d),|,(?!\d{3}(?!\d))|[;\n]+"  # parts; the comma of 1,979 is none
Quantities: TypeAlias = Mapping[str, tuple[str, float, float, str]]
CHIP: Quantities = {  # name: (pattern, least, most, how it is written)
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
TIMED_NEEDS, TIMED_ELSE = ("sequences", "context", "milliseconds"), dict(gpus=1)
TIMED_EXAMPLE = "64 sequences, 2048 tokens, 12 ms"
LENGTHS_EXAMPLE = "6000 24000 60000 131072"
FEW, MANY, LONGEST = 4, 20, 10**7  # quantiles, or a column of at least so many; tokens of the longest completion


def model(text: str) -> tuple[Model, str, str]:
    """(Model, its config as short as it can be, sentence)."""
    try:
        if len(re.findall(r"[\[{]", text)) > BRACKETS:
            raise ValueError("deeper than the browser can follow")
        config = json.loads(text, parse_constant=no_number)
    except ValueError:
        raise ValueError("This is no config: paste the whole of a model's config.json, from { to }.") from None
    try:
        found, unread = model_from_config(config, "custom", "your model")
    except (ValueError, OverflowError) as refusal:
        raise ValueError(f"Not a model: {refusal}. Valid is a language model's config.json.") from None
    if not SMALLEST <= found.params() <= LARGEST:
        raise ValueError(
            f"{found.params():,.0f} parameters: that is no language model. Valid are a million to 100 trillion."
        )
    billions = found.params() / 1e9
    size = f"{billions:,.0f}" if billions >= 100 else f"{billions:.3g}"
    said = f"{size} billion parameters in {found.layers} layers, in place of the model above."
    if unread:
        named = ", ".join(key[:40] for key in unread[:6])
        said += f" Not read: {named}{' and others' if len(unread) > 6 else ''}."
    return found, json.dumps(shortest(config, found), separators=(",", ":")), said


def no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def shortest(config: Mapping[str, Any], found: Model) -> Mapping[str, Any]:
    """The config without what changes nothing of the model: first all that is known to be harmless or is not read, then
    key by key.
    """

    def same(other: Mapping[str, Any]) -> bool:
        try:
            return model_from_config(other, found.key, found.name)[0] == found
        except ValueError:
            return False

    inner = config.get("text_config")
    if isinstance(inner, dict):
        outer = {k: config[k] for k in ("model_type", "tie_word_embeddings") if k in config}
        config = next(flat for flat in (outer | inner, {**outer, "text_config": inner}, config) if same(flat))
    unread = set(model_from_config(config)[1]) | HARMLESS - {"model_type", "text_config"}
    few = {k: v for k, v in config.items() if k not in unread}
    config = few if same(few) else config
    for key in sorted(config):
        less = {k: v for k, v in config.items() if k != key}
        config = less if same(less) else config
    return config


def chip(text: str) -> tuple[Accelerator, str, str]:
    """(Accelerator, text, sentence) of a data sheet's numbers: dense FLOP/s, links in one direction."""
    n, short = quantities(text, CHIP, CHIP_NEEDS, CHIP_ELSE, CHIP_EXAMPLE)
    made = custom(n["memory"], n["bandwidth"], n["bf16"], n["fp8"], n["links"], int(n["domain"]), n["nic"])
    ridge = n["bf16"] / n["bandwidth"]
    return made, short, f"Your chip, {ridge:,.0f} FLOP a byte at its ridge, in place of the accelerator above."


class Timed(NamedTuple):
    """One decode iteration of an engine that was timed."""

    sequences: float
    context: float  # tokens of each
    seconds: float
    gpus: int  # of the engine


def timed(text: str) -> tuple[Timed, str, str]:
    """(Timed, text, sentence)."""
    n, short = quantities(text, TIMED, TIMED_NEEDS, TIMED_ELSE, TIMED_EXAMPLE)
    said = "The efficiencies above give way to the one that your iteration shows."
    return Timed(n["sequences"], n["context"], n["milliseconds"] / 1000, int(n["gpus"])), short, said


def quantities(
    text: str, words: Quantities, needs: Sequence[str], otherwise: Mapping[str, float], example: str
) -> tuple[dict[str, float], str]:
    """({name: number}, text) of parts such as "80 GB", in any order, separated by commas or lines."""
    found: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in re.split(BETWEEN, text))):
        read = {name: re.fullmatch(form, part, re.IGNORECASE) for name, (form, *_) in words.items()}
        name, match = next(((name, match) for name, match in read.items() if match), ("", None))
        if match is None or name in found:
            again = "is said twice" if match else "is not understood"
            raise ValueError(f"“{part[:40]}” {again}; valid is for example: {example}.")
        value, (_, least, most, form) = number(match[1]), words[name]
        if not least <= value <= most:
            raise ValueError(f"“{part[:40]}” is out of range: {form.format(least)} to {form.format(most)}.")
        found[name] = value
    if missing := [name for name in needs if name not in found]:
        raise ValueError(f"The {missing[0]} is missing; valid is for example: {example}.")
    return {**otherwise, **found}, ", ".join(
        form.format(found[name]) for name, (*_, form) in words.items() if name in found
    )


def number(word: str) -> float:
    return float(word.replace(",", ""))


def lengths(text: str) -> tuple[Law, str, str]:
    """(Law, text, sentence) of four quantiles, p50, p90, p99 and the longest, or of a column of lengths in tokens."""
    if "\n" in text:  # one in a line may be written 1,234
        text = re.sub(r"(?m)^[ \t]*\d{1,3}(?:,\d{3})+[ \t\r]*$", lambda line: line[0].replace(",", ""), text)
    words = [word for word in re.split(r"[\s,;\[\]]+", text) if word]
    if words and len(words) > FEW and not is_number(words[0]):
        words = words[1:]  # the heading of a column
    wrong = next((word for word in words if not is_number(word)), None)
    if wrong is not None:
        raise ValueError(f"“{wrong[:40]}” is no number of tokens from 1 to {LONGEST:,}.")
    if len(words) != FEW and len(words) < MANY:
        raise ValueError(
            f"{len(words)} numbers: valid are four quantiles that rise (p50, p90, p99, longest), or a column of {MANY} "
            "lengths or more."
        )
    numbers = np.array([float(word) for word in words])
    many = len(words) != FEW
    four = [*np.quantile(numbers, [0.5, 0.9, 0.99]), numbers.max()] if many else numbers
    if list(four) != sorted(four):
        raise ValueError(f"Quantiles rise: p50, then p90, p99 and the longest, as in {LENGTHS_EXAMPLE}.")
    p50, p90, p99, longest = (max(round(float(n)), 1) for n in four)
    of = f"{len(words):,} lengths: " if many else ""
    said = f"{of}median {p50:,}, 90 % {p90:,}, 99 % {p99:,}, longest {longest:,} tokens, in place of the knobs."
    return Law(p50, p90, p99, longest), f"{p50} {p90} {p99} {longest}", said


def is_number(word: str) -> bool:
    try:
        return isfinite(float(word)) and 1 <= float(word) <= LONGEST
    except ValueError:
        return False
