"""`python -m rlpt.plan --config config.json --gpus 64`: what a run takes, as a table or as JSON. The arguments
and their words; not a model, which is in planner.py.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any, TypeVar

from rlpt.arguments import Parser, guarded, number, whole
from rlpt.planning import planner, user_inputs
from sim.cluster import envelope, layouts, memory, step, trainer, turns
from sim.cluster.hardware import ACCELERATORS, Accelerator
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS, Model

S = TypeVar("S")
T = TypeVar("T")
BLOCK = 2**20  # characters
NOT_READ = "Not read"
LENGTHS = (720, 2000, 4600, 8192)
WIDTHS, WEIGHTS = user_inputs.WIDTHS, user_inputs.WEIGHTS


def config(text: str) -> Model:
    """A Model: of a name in our table, of a config.json, or of one from standard input ("-")."""
    if text in MODELS:
        return MODELS[text]
    model, _, notes = refused(user_inputs.model, argparse.FileType(encoding="utf-8")(text).read())
    if NOT_READ in notes:
        sys.stderr.write(f"{notes[notes.index(NOT_READ) :]}\n")
    return model


def chip(text: str) -> Accelerator:
    return ACCELERATORS[text] if text in ACCELERATORS else refused(user_inputs.chip, text)[0]


def law(text: str) -> Law:
    """A Law: of its quantiles, of a column in a file, or of one from standard input ("-")."""
    if text != "-" and not Path(text).is_file():
        return refused(user_inputs.lengths, text)[0]
    with argparse.FileType(encoding="utf-8")(text) as file:
        return refused(user_inputs.column, blocks(file))[0]


def blocks(file: IO[str]) -> Iterator[str]:
    """Its text, some thousands of lines at a time."""
    while lines := file.readlines(BLOCK):
        yield "".join(lines)


def measured(text: str) -> user_inputs.Measured:
    return refused(user_inputs.measured, text)[0]


def refused(read: Callable[[S], T], text: S) -> T:
    """What `read` makes of a text; its refusal in argparse's words."""
    try:
        return read(text)
    except ValueError as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None


def arguments(program: str) -> Parser:
    parser = Parser(
        prog=program,
        description="What a run of reinforcement learning takes: memory, seconds of a step, GPU-hours, and which "
        "changes would pay. Seconds are a range: that of published steps, or of a job that you timed.",
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
    add(
        "--lengths",
        type=law,
        default=Law(*LENGTHS),
        help='"p50 p90 p99 longest" of the completions, in tokens; or a file with a column of them, or - for one',
    )
    add("--limit", type=whole(1, 10**7), help="tokens at which completions are cut, where that is less")
    add("--turns", type=whole(1, 1000), default=1, help="in which the model writes a completion; lengths are of all")
    add("--returned", type=whole(0, 2**20), default=1000, help="tokens that a tool answers between two turns")
    add("--tool-seconds", type=number(0, 1e5), default=20.0, help="that a tool takes for it")
    add("--kept", choices=turns.REUSES, default=turns.HOLD, help="what becomes of a cache while its tool runs")
    add("--shared-cache", action="store_true", help="completions of a prompt run together and hold it once")
    add("--overlap", choices=step.OVERLAPS, default="sync", help="the first two in one pool, the others in two")
    add("--share", type=number(0.01, 0.99), default=0.5, help="of two pools, the share that generates")
    add("--batches", type=number(1, 64), default=1.0, help="in flight at a time, with one-off")
    add("--updates", type=whole(1, 2**16), default=1, help="optimizer steps of a step")
    add("--group-prompts", action="store_true", help="train on a prompt once for all of its completions")
    add(
        "--tp",
        type=whole(1, 1024),
        default=0,
        help="GPUs of an engine; default: the fewest of a server that hold it well, else the best layout of several",
    )
    add("--dp", type=whole(1, 1024), default=1, help="groups of --tp GPUs in an engine, which share its experts")
    add("--pp", type=whole(1, 1024), default=1, help="stages of an engine, each of --dp groups")
    add(
        "--dcp",
        type=whole(0, 1024),
        default=1,
        help="GPUs of a group that cut copies of its cache; 0: all that have one",
    )
    add("--weights", choices=WEIGHTS, default=user_inputs.STORED, help="in the engine")
    add("--cache", choices=WIDTHS, default="bf16")
    add("--utilization", type=number(0.02, 0.98), default=memory.HBM_SHARE, help="of the memory, the engine's share")
    add("--recompute", choices=memory.RECOMPUTE, default="full", help="activations")
    add("--train-cp", type=whole(1, 1024), default=1, help="GPUs that share a sequence while training")
    add("--train-tp", type=whole(1, 1024), default=1, help="GPUs that share a layer while training")
    add("--train-pp", type=whole(1, 1024), default=1, help="stages of the trainer")
    add("--train-ep", type=whole(1, 1024), default=1, help="GPUs over which the trainer deals out a layer's experts")
    add(
        "--zero",
        type=int,
        choices=(1, 2, 3),
        default=3,
        help="of training state, 1 shards the optimizer, 2 the gradients too, 3 the weights too",
    )
    add("--host-memory", type=number(1, 1e5), default=1000.0, help="GB of a server of eight GPUs")
    add("--reference", action="store_true", help="with a reference model")
    add("--reuse", action="store_true", help="train on the engine's log-probs")
    add("--test-seconds", type=number(0, 3600), default=0.0, help="of one completion's test")
    add("--workers", type=whole(1, 2**16), default=64, help="that test")
    add("--timed", help=f'one decode iteration that you timed: "{user_inputs.TIMED_EXAMPLE}"')
    add(
        "--measured",
        type=measured,
        help=f'seconds that you timed: "{user_inputs.MEASURED_EXAMPLE}", of {", ".join(user_inputs.TIMES)}; with them '
        f"what the job had that they were timed on, where it was another: {', '.join(user_inputs.JOB)}",
    )
    add("--steps", type=whole(1, 10**6), default=500)
    add("--price", type=number(0, 1e4), default=2.0, help="dollars for an hour of a GPU")
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
        turns=chosen.turns,
        returned=chosen.returned,
        tool_seconds=chosen.tool_seconds,
        kept=chosen.kept,
        shared_cache=chosen.shared_cache,
        batches=chosen.batches,
        updates=chosen.updates,
        grouped=chosen.group_prompts,
        overlap=chosen.overlap,
        share=chosen.share,
        tensor_parallel=chosen.tp,
        data_parallel=chosen.dp,
        pipeline=chosen.pp,
        context_parallel=chosen.dcp,
        weight_bytes=WEIGHTS[chosen.weights],
        kv_bytes=WIDTHS[chosen.cache],
        hbm_share=chosen.utilization,
        recompute=chosen.recompute,
        training_parallel=chosen.train_cp,
        training_tensor=chosen.train_tp,
        training_stages=chosen.train_pp,
        zero=chosen.zero,
        expert_parallel=chosen.train_ep,
        host_gb=chosen.host_memory,
        reference=chosen.reference,
        reuse=chosen.reuse,
        test_seconds=chosen.test_seconds,
        longest_test=chosen.test_seconds,
        workers=chosen.workers,
        steps=chosen.steps,
        price=chosen.price,
    )
    try:
        made = planner.known(made, user_inputs.timed(chosen.timed)[0] if chosen.timed else None, chosen.measured)
    except ValueError as refusal:
        parser.error(str(refusal))
    if misfits := planner.misfits(made):
        parser.error(f"this job does not fit: {misfits[0].what}")
    return made


def table(found: planner.Plan, path: Sequence[planner.Change], alone: Sequence[planner.Change]) -> str:
    """What is printed."""
    s, now = found.scenario, planner.seconds(found.scenario)
    head = f"{s.model.name} on {s.gpus:,} {s.accelerator.name}, {s.prompts:,} x {s.samples:,} completions, {s.overlap}"
    rows = [(answer.question, answer.words, f"lesson {answer.lesson}") for answer in planner.answers(found)]
    before = now
    for change in path:
        rows.append((f"then {change.words}", worth(change, before), f"lesson {change.lesson}"))
        before = change.seconds
    rows += [(f"alone {change.words}", worth(change, now), f"lesson {change.lesson}") for change in alone]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"  {a:{widths[0]}}  {b:{widths[1]}}  {c}" for a, b, c in rows]
    reached = (*s.efficiency[:2], trainer.PRODUCTS, trainer.ATTENTION)
    foot = "Assumed: of an engine bandwidth {:.0%}, arithmetic {:.0%} of peak, of a trainer products {:.0%}, attention "
    foot += "{:.0%}. Range: {}."
    return "\n".join([head, *lines, foot.format(*reached, planner.spread(s).words)])


def worth(change: planner.Change, before: float) -> str:
    return f"a step of {change.seconds:,.0f} s, {before / change.seconds:.2f} x; costs: {change.costs}"


def numbers(found: planner.Plan, path: Sequence[planner.Change], alone: Sequence[planner.Change]) -> dict[str, Any]:
    """The same for a program."""
    s = found.scenario

    def listed(changes):
        return [{"change": c.words, "costs": c.costs, "step_seconds": c.seconds, "lesson": c.lesson} for c in changes]

    return {
        "model": s.model.name,
        "accelerator": s.accelerator.name,
        "gpus": s.gpus,
        "completions": s.completions,
        "peak_bytes": found.peak.needs,
        "peak_moment": found.peak.moment,
        "gpus_per_engine": found.engine.size,
        "layout_of_an_engine": layouts.layout_of(found.engine).words,
        "layout_of_the_trainer": planner.trainer_words(s),
        "sequences_in_flight_per_engine": float(found.live),
        "tokens_of_a_completion": {"trained": s.session.trained, "written": s.session.written, "read": s.session.read},
        "engine_of_sessions": planner.at_once(s, found.live)._asdict() if s.turns > 1 else None,
        "role_seconds": {"predicted": asdict(found.predicted), "fast": asdict(found.fast), "slow": asdict(found.slow)},
        "step_seconds": found.step_range,
        "range": planner.spread(s).words,
        "idle": found.idle,
        "lag": found.lag,
        "truncated": s.law.truncated,
        "gpu_hours": found.gpu_hours,
        "money": found.money,
        "changes": listed(path),
        "alone": listed(alone),
    }


def main(words: Sequence[str] | None = None, program: str = "python -m rlpt.plan") -> int:
    """Prints a plan; status 0, or 2 after one sentence on standard error."""
    parser = arguments(program)
    with guarded(parser):
        chosen = parser.parse_args(words)
        made = scenario(parser, chosen)
        answered = planner.plan(made), planner.best_changes(made), planner.worth_trying(made)
        sys.stdout.write((json.dumps(numbers(*answered), indent=2) if chosen.json else table(*answered)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
