"""Two GPUs on which the book's assumptions were timed: shares of one layer, and whole models next to the formulas.

Data, not a model, and its comparison with the formulas. data/one_layer.jsonl has rows printed by calibrate.py,
data/whole_model.jsonl rows printed by bench/whole_model.py, on an H100 and an H200 on 2026-11-26; random weights, torch
2.11.0 and transformers 5.17.0. None of the book's assumptions were changed afterwards. `python -m
rlpt.planning.calibrated` prints both tables.
"""

import json
import sys
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from rlpt import calibrate
from rlpt.planning.layer_timing import Sizes
from sim.cluster import throughput, trainer
from sim.cluster.hardware import Accelerator
from sim.cluster.models import MODELS, Model
from sim.cluster.throughput import Efficiency


@cache
def rows(name: str) -> tuple[dict[str, Any], ...]:
    """The rows of a file in rlpt/planning/data, one per line."""
    text = (files("rlpt.planning") / "data" / f"{name}.jsonl").read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


def chip(machine: str) -> Accelerator:
    key = calibrate.chip_of(machine)
    assert key, machine
    return key


class Pass(NamedTuple):
    """A timed pass of a whole model, and what the formulas predict for it."""

    accelerator: Accelerator
    what: str  # "decode" or "update"
    model: Model
    sequences: int
    tokens: int  # tokens of each sequence
    recompute: bool
    fused_norms: bool  # each norm as one kernel, instead of transformers' own
    seconds: float  # timed
    assumed: float  # seconds at the shares assumed everywhere
    calibrated: float | None  # seconds at the shares that one layer of the model reached; None for an update

    @property
    def ratio(self) -> float:
        """Timed over predicted seconds."""
        return self.seconds / self.assumed


@cache
def passes() -> tuple[Pass, ...]:
    """All timed passes. An update is its forward and backward passes, without the optimizer's step."""
    reached = {(one["machine"], one["model"]): Efficiency(**one["efficiency"]) for one in rows("one_layer")}
    measured = []
    for one in rows("whole_model"):
        model, accelerator = MODELS[one["model"]], chip(one["machine"])
        sequences, tokens = one["sequences"], one["tokens"]
        calibrated = None
        if one["what"] == "decode":
            shape = (model, accelerator, sequences, sequences * tokens)
            own = reached[one["machine"], model.name]
            assumed = float(throughput.iteration_seconds(*shape, weight_bytes=None))
            calibrated = float(throughput.iteration_seconds(*shape, weight_bytes=None, efficiency=own))
        else:
            batch = trainer.Batch(sequences * tokens, sequences, tokens)
            made = trainer.pass_seconds(model, accelerator, trainer.Trainer(1, recompute=one["recompute"]), batch)
            assumed = made.seconds - made.state
        job = (accelerator, one["what"], model, sequences, tokens, one["recompute"], one.get("fused_norms", False))
        measured.append(Pass(*job, one["seconds"], assumed, calibrated))
    return tuple(sorted(measured, key=lambda p: (p.what, p.accelerator.name, p.model.layers * p.model.hidden)))


def layers_table() -> str:
    """The timings of one layer as lines of a Markdown table: what is assumed, and the least and most that four models
    reached on both chips. A row in which reading took longer says nothing about arithmetic.
    """
    shown: dict[str, list[float]] = {}
    for row in rows("one_layer"):
        for one in row["measured"]:
            if "share" not in one or one["of"] == calibrate.ASSUMED_OF[one["name"]]:
                shown.setdefault(one["name"], []).append(one.get("share", 1e3 * one["seconds"]))
    what = calibrate.what(Sizes(**rows("one_layer")[0]["sizes"]))
    lines = []
    for name, assumed in calibrate.assumed().items():
        values, unit = shown[name], 1e3 if name == "launch" else 1
        words = what[name] + ", ms" * (name == "launch")
        lines.append(f"| {words} | {unit * assumed:.2f} | {min(values):.2f} to {max(values):.2f} |")
    return "\n".join(lines)


def passes_table() -> str:
    """Whole models as lines of a Markdown table: job, then milliseconds timed and their ratio to the prediction, by
    chip.
    """
    chips = list(dict.fromkeys(p.accelerator.name for p in passes()))
    jobs: dict[str, dict[str, str]] = {}
    for p in passes():
        kind = f"{p.what}{', recomputed' * p.recompute}{', fused norms' * p.fused_norms}"
        job = f"{p.model.name}, {kind}, {p.sequences}×{p.tokens:,}"
        jobs.setdefault(job, {})[p.accelerator.name] = f"{1e3 * p.seconds:,.1f}: {p.ratio:.2f}"
    return "\n".join(
        f"| {job} | {' | '.join(ratios.get(chip, '') for chip in chips)} |" for job, ratios in jobs.items()
    )


if __name__ == "__main__":
    sys.stdout.write(f"{layers_table()}\n\n{passes_table()}\n")
