"""`python -m sim.cluster.plan --config config.json --gpus 64`: what a run takes, as a table or as JSON. The arguments
and their words; not a model, which is in planner.py.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeVar

from sim.arguments import Parser, guarded, number, whole
from sim.cluster import envelope, memory, planner, step, user_inputs
from sim.cluster.hardware import ACCELERATORS, Accelerator
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS, Model

T = TypeVar("T")
NOT_READ = "Not read"
LENGTHS = (720, 2000, 4600, 8192)
WIDTHS = {"bf16": 2, "fp8": 1}


def config(text: str) -> Model:
    """A Model: of a name in our table, of a config.json, or of one from standard input ("-")."""
    if text in MODELS:
        return MODELS[text]
    model, _, said = refused(user_inputs.model, argparse.FileType(encoding="utf-8")(text).read())
    if NOT_READ in said:
        sys.stderr.write(f"{said[said.index(NOT_READ) :]}\n")
    return model


def chip(text: str) -> Accelerator:
    return ACCELERATORS[text] if text in ACCELERATORS else refused(user_inputs.chip, text)[0]


def law(text: str) -> Law:
    return refused(user_inputs.lengths, text)[0]


def refused(read: Callable[[str], T], text: str) -> T:
    """What `read` makes of a text; its refusal in argparse's words."""
    try:
        return read(text)
    except ValueError as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None


def arguments(program: str) -> Parser:
    parser = Parser(
        prog=program,
        description="What a run of reinforcement learning takes: memory, seconds of a step, GPU-hours, and which "
        "changes would pay. Seconds are a range, from the assumed efficiencies to those of the slowest published run.",
        epilog=f"models: {', '.join(MODELS)}. chips: {', '.join(ACCELERATORS)}.",
    )
    add = parser.add_argument
    add(
        "--config",
        "--model",
        type=config,
        default="qwen2.5-7b",
        help="a model's config.json, - for standard input, or a name",
    )
    add("--chip", type=chip, default="h100", help=f'a name, or numbers: "{user_inputs.CHIP_EXAMPLE}"')
    add("--gpus", type=whole(1, envelope.MOST), default=64)
    add("--prompts", type=whole(1, 2**16), default=512, help="of a step")
    add("--samples", type=whole(1, 2**10), default=16, help="completions of each prompt")
    add("--prompt", type=whole(1, 2**20), default=512, help="tokens of a prompt")
    add("--lengths", type=law, default=Law(*LENGTHS), help='"p50 p90 p99 longest" of the completions, in tokens')
    add("--limit", type=whole(1, 10**7), help="tokens at which completions are cut, where that is less")
    add("--overlap", choices=step.OVERLAPS, default="sync", help="the first two in one pool, the others in two")
    add("--share", type=number(0.01, 0.99), default=0.5, help="of two pools, the share that generates")
    add("--tp", type=whole(1, 1024), default=0, help="GPUs of an engine; default: the fewest that hold it well")
    add("--weights", choices=WIDTHS, default="bf16", help="in the engine")
    add("--cache", choices=WIDTHS, default="bf16")
    add("--utilization", type=number(0.02, 0.98), default=memory.HBM_SHARE, help="of the memory, the engine's share")
    add("--recompute", choices=memory.RECOMPUTE, default="full", help="activations")
    add("--train-tp", type=whole(1, 1024), default=1, help="GPUs that share a sequence while training")
    add("--reference", action="store_true", help="with a reference model")
    add("--reuse", action="store_true", help="train on the engine's log-probs")
    add("--test-seconds", type=number(0, 3600), default=0.0, help="of one completion's test")
    add("--workers", type=whole(1, 2**16), default=64, help="that test")
    add("--timed", help=f'one decode iteration that you timed: "{user_inputs.TIMED_EXAMPLE}"')
    add("--update-seconds", type=number(0.001, 1e6), help="one update of this job that you timed")
    add("--steps", type=whole(1, 10**6), default=500)
    add("--price", type=number(0, 1e4), default=2.0, help="of a GPU for an hour")
    add("--json", action="store_true", help="numbers instead of a table")
    return parser


def scenario(parser: Parser, chosen: argparse.Namespace) -> planner.Scenario:
    """planner.Scenario; one sentence and status 2 where there is none."""
    lengths = chosen.lengths
    made = planner.Scenario(
        model=chosen.config,
        accelerator=chosen.chip,
        law=replace(lengths, longest=min(chosen.limit or lengths.longest, lengths.longest)),
        gpus=chosen.gpus,
        prompts=chosen.prompts,
        samples=chosen.samples,
        prompt=chosen.prompt,
        overlap=chosen.overlap,
        share=chosen.share,
        tensor_parallel=chosen.tp,
        weight_bytes=WIDTHS[chosen.weights],
        kv_bytes=WIDTHS[chosen.cache],
        hbm_share=chosen.utilization,
        recompute=chosen.recompute,
        training_parallel=chosen.train_tp,
        reference=chosen.reference,
        reuse=chosen.reuse,
        test_seconds=chosen.test_seconds,
        longest_test=chosen.test_seconds,
        workers=chosen.workers,
        steps=chosen.steps,
        price=chosen.price,
    )
    try:
        timed = user_inputs.timed(chosen.timed)[0] if chosen.timed else None
        made = planner.measured(made, timed, chosen.update_seconds)
    except ValueError as refusal:
        parser.error(str(refusal))
    if found := planner.misfits(made):
        parser.error(f"this job does not fit: {found[0].what}")
    return made


def table(found: planner.Plan, path: Sequence[planner.Change]) -> str:
    """What is printed."""
    s = found.scenario
    head = f"{s.model.name} on {s.gpus} {s.accelerator.name}, {s.prompts} x {s.samples} completions, {s.overlap}"
    rows = [(answer.question, answer.words, f"lesson {answer.lesson}") for answer in planner.answers(found)]
    before = found.step_range[0]
    for change in path:
        gain = f"a step of {change.seconds:,.0f} s, {before / change.seconds:.2f} x; costs: {change.costs}"
        rows.append((f"then {change.words}", gain, f"lesson {change.lesson}"))
        before = change.seconds
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"  {a:{widths[0]}}  {b:{widths[1]}}  {c}" for a, b, c in rows]
    foot = "Assumed: bandwidth {:.0%}, arithmetic {:.0%}, MFU {:.0%} of peak; the slow end is {} and {} times slower."
    return "\n".join([head, *lines, foot.format(*s.efficiency[:2], s.mfu, *planner.spread(s))])


def numbers(found: planner.Plan, path: Sequence[planner.Change]) -> dict[str, Any]:
    """The same for a program."""
    s = found.scenario
    return {
        "model": s.model.name,
        "accelerator": s.accelerator.name,
        "gpus": s.gpus,
        "completions": s.completions,
        "peak_bytes": found.peak.needs,
        "peak_moment": found.peak.moment,
        "gpus_per_engine": found.engine.tensor_parallel,
        "sequences_in_flight_per_engine": float(found.live),
        "role_seconds": {"fast": asdict(found.fast), "slow": asdict(found.slow)},
        "step_seconds": found.step_range,
        "idle": found.idle,
        "lag": found.lag,
        "truncated": s.law.truncated,
        "gpu_hours": found.gpu_hours,
        "money": found.money,
        "changes": [{"change": c.words, "costs": c.costs, "step_seconds": c.seconds, "lesson": c.lesson} for c in path],
    }


def main(words: Sequence[str] | None = None, program: str = "python -m sim.cluster.plan") -> int:
    """Prints a plan; status 0, or 2 after one sentence on standard error."""
    parser = arguments(program)
    with guarded(parser):
        chosen = parser.parse_args(words)
        made = scenario(parser, chosen)
        found, path = planner.plan(made), planner.best_changes(made)
        sys.stdout.write((json.dumps(numbers(found, path), indent=2) if chosen.json else table(found, path)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
