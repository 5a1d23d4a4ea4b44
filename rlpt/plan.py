"""`python -m rlpt.plan --config config.json --gpus 64`: what a run needs, as a table or as JSON. The arguments and
their words; not a model, which is in planner.py.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import IO, Any, NoReturn, TypeVar

from rlpt.arguments import Parser, guarded, number, whole
from rlpt.planning import changes, engine_timing, far_off, planner, refusals, user_inputs
from sim.cluster import envelope, fabric, layouts, memory, step, throughput, trainer, turns
from sim.cluster.hardware import ACCELERATORS, Accelerator
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS, Model
from sim.words import counted

S = TypeVar("S")
T = TypeVar("T")
BLOCK = 2**20  # characters
NOT_READ = "Not read"
LENGTHS = (720, 2000, 4600, 8192)
SHARING = dict(zip(("in-turn", "engine-sleeps", "both-stay", "one-copy"), planner.SHARING))
WIDTHS, WEIGHTS = user_inputs.WIDTHS, user_inputs.WEIGHTS


def config(text: str) -> Model:
    """A Model from a name in our table, from a config.json, or from one on standard input ("-")."""
    named = text.lower().rpartition("/")[2]
    if named in MODELS and not Path(text).is_file():
        return MODELS[named]
    if text != "-" and not Path(text).is_file():
        what = f"“{text[:80]}” is neither a model in the list nor a file"
        raise argparse.ArgumentTypeError(what + meant(named.removesuffix("-instruct"), MODELS))
    model, _, notes = refused(user_inputs.model, argparse.FileType(encoding="utf-8")(text).read())
    if NOT_READ in notes:
        sys.stderr.write(f"{notes[notes.index(NOT_READ) :]}\n")
    return model


def chip(text: str) -> Accelerator:
    named = re.sub(r"[\s-]", "_", text.lower())
    if named in ACCELERATORS:
        return ACCELERATORS[named]
    if not re.search(r"\d ?GB", text, re.IGNORECASE) or "," not in text:  # a name, not numbers with units
        must = f"Use a name from --help, or numbers, for example: {user_inputs.CHIP_EXAMPLE}"
        raise argparse.ArgumentTypeError(f"no chip is called “{text[:40]}”{meant(named, ACCELERATORS)}. {must}")
    return refused(user_inputs.chip, text)[0]


def meant(text: str, names: Iterable[str]) -> str:
    near = get_close_matches(text, names, 1, 0.4) or [name for name in names if text in name][:1]
    return f"; did you mean {near[0]}" if near else " (see --help)"


def law(text: str) -> Law:
    """A Law from its quantiles, from a column in a file, or from one on standard input ("-")."""
    if text != "-" and not Path(text).is_file():
        return refused(user_inputs.lengths, text)[0]
    with argparse.FileType(encoding="utf-8")(text) as file:
        return refused(user_inputs.column, blocks(file))[0]


def blocks(file: IO[str]) -> Iterator[str]:
    """The text of a file in blocks of whole lines, BLOCK characters or slightly more each."""
    while lines := file.readlines(BLOCK):
        yield "".join(lines)


def timed(text: str) -> engine_timing.Timing:
    return refused(user_inputs.timed, text)[0]


def measured(text: str) -> user_inputs.Measured:
    return refused(user_inputs.measured, text)[0]


def refused(read: Callable[[S], T], text: S) -> T:
    """The result of `read` for a text, with its ValueError turned into argparse's error."""
    try:
        return read(text)
    except ValueError as refusal:
        raise argparse.ArgumentTypeError(str(refusal)) from None


def arguments(program: str) -> Parser:
    parser = Parser(
        prog=program,
        description="Predicts what a run of reinforcement learning needs: memory, seconds per step and GPU-hours. Says "
        "which changes would make a step faster. Seconds are given as a range, taken from published steps or from a "
        "job that you have timed.",
        epilog=f"models: {', '.join(MODELS)}. chips: {', '.join(ACCELERATORS)}.",
    )
    add = parser.add_argument
    add(
        "--config",
        "--model",
        type=config,
        default="qwen2.5-7b",
        help="a model's name, its config.json, or - for standard input",
    )
    add("--chip", type=chip, default="h100", help=f'a name, or numbers: "{user_inputs.CHIP_EXAMPLE}"')
    add("--gpus", type=whole(1, envelope.MOST), default=64, help="number of GPUs")
    add("--prompts", type=whole(1, 2**16), default=512, help="prompts per step")
    add("--samples", type=whole(1, 2**10), default=16, help="completions per prompt")
    add("--prompt", type=whole(1, 2**20), default=512, help="tokens per prompt")
    add(
        "--lengths",
        type=law,
        default=Law(*LENGTHS),
        help='completion lengths in tokens: "p50 p90 p99 longest", or a file with one length per line, or - for '
        "standard input",
    )
    add("--limit", type=whole(1, 10**7), help="tokens after which a completion is cut off, if below the longest")
    add(
        "--turns",
        type=whole(1, 1000),
        default=1,
        help="turns per completion; --lengths counts the tokens of all turns together",
    )
    add("--returned", type=whole(0, 2**20), default=1000, help="tokens that a tool returns between two turns")
    add("--tool-seconds", type=number(0, 1e5), default=20.0, help="seconds that a tool call takes")
    add(
        "--kept",
        choices=turns.REUSES,
        default=turns.HOLD,
        help="what to do with a sequence's cache while its tool runs",
    )
    add("--shared-cache", action="store_true", help="store a prompt's cache once for all of its completions")
    add(
        "--overlap",
        choices=step.OVERLAPS,
        default="sync",
        help="what runs at the same time; the first two share one pool of GPUs, the others use two",
    )
    add(
        "--share",
        type=number(0.01, 0.99),
        default=0.5,
        help="fraction of the GPUs that generate, if there are two pools",
    )
    add("--batches", type=number(1, 64), default=1.0, help="batches in flight at a time, with --overlap one-off")
    add("--updates", type=whole(1, 2**16), default=1, help="optimizer steps per training step")
    add("--group-prompts", action="store_true", help="compute a prompt once for all of its completions in training")
    add(
        "--tp",
        type=whole(1, 1024),
        default=0,
        help="GPUs per engine; default: the fewest in one server that hold the model well, otherwise the best layout "
        "over several",
    )
    add("--dp", type=whole(1, 1024), default=1, help="groups of --tp GPUs per engine, which share its experts")
    add("--pp", type=whole(1, 1024), default=1, help="pipeline stages per engine, each of --dp groups")
    add(
        "--dcp",
        type=whole(0, 1024),
        default=1,
        help="GPUs of a group that split a cache they would otherwise each hold; 0: as many as possible",
    )
    add("--weights", choices=WEIGHTS, default=user_inputs.STORED, help="format of the weights in the engine")
    add("--cache", choices=WIDTHS, default="bf16", help="format of the KV cache")
    add(
        "--utilization",
        type=number(0.02, 0.98),
        default=memory.HBM_SHARE,
        help="fraction of GPU memory that the engine may fill",
    )
    add(
        "--recompute",
        choices=memory.RECOMPUTE,
        default="full",
        help="which activations to recompute in the backward pass",
    )
    add("--train-cp", type=whole(1, 1024), default=1, help="GPUs that split each sequence in training")
    add("--train-tp", type=whole(1, 1024), default=1, help="GPUs that split each layer in training")
    add("--train-pp", type=whole(1, 1024), default=1, help="pipeline stages in training")
    add("--train-ep", type=whole(1, 1024), default=1, help="GPUs over which training spreads the experts of a layer")
    add(
        "--zero",
        type=int,
        choices=(1, 2, 3),
        default=3,
        help="what training shards: 1 the optimizer state, 2 also the gradients, 3 also the weights",
    )
    add(
        "--lora",
        type=whole(1, 1024),
        default=0,
        metavar="RANK",
        help="train LoRA adapters of this rank, not the weights",
    )
    add(
        "--four-bits",
        action="store_true",
        help="with --lora: store the weights below the adapters in NF4, as QLoRA does",
    )
    add("--adam-bits", type=int, choices=(32, 8), default=32, help="bits of each of Adam's moments")
    add(
        "--on-host",
        choices=memory.KEPT_ON_HOST,
        default=memory.KEPT_ON_HOST[0],
        help="training state that stays in host memory while it is used",
    )
    add(
        "--sharing",
        choices=SHARING,
        help="with one pool of GPUs: the training state leaves them while the engine generates (in-turn), only the "
        "engine sleeps while training runs (engine-sleeps, as TRL with its sleep mode), both stay (both-stay), or one "
        "copy of the weights serves both (one-copy, as Unsloth); default: as --program does it, or the first that fits",
    )
    add(
        "--program",
        choices=planner.PROGRAMS,
        default="any",
        help="the program that trains; it says what --sharing is by default, and whether sequences are packed",
    )
    add(
        "--transfer",
        choices=fabric.TRANSFERS,
        default="broadcast",
        help="how the weights get from one pool to the other",
    )
    add(
        "--logits",
        choices=("chunks", "whole"),
        default="chunks",
        help="compute the loss on the logits of a micro-batch in chunks, or on all of them at once",
    )
    add("--unpacked", action="store_true", help="train on one sequence per micro-batch")
    add("--host-memory", type=number(1, 1e5), default=2000.0, help="GB of host memory per server of eight GPUs")
    add("--reference", action="store_true", help="keep a reference model for a KL penalty")
    add("--reuse", action="store_true", help="train on the engine's log-probs instead of recomputing them")
    add("--test-seconds", type=number(0, 3600), default=0.0, help="seconds to verify one completion")
    add("--workers", type=whole(1, 2**16), default=64, help="number of verifier workers")
    add(
        "--timed",
        type=timed,
        help=f'a decode pass that you timed: "{user_inputs.TIMED_EXAMPLE}", three or more of them joined by the word '
        f'"and", or the line that rlpt calibrate --engine prints: "{user_inputs.LINE_EXAMPLE}"',
    )
    add(
        "--measured",
        type=measured,
        help=f'seconds that you timed: "{user_inputs.MEASURED_EXAMPLE}". Times: {", ".join(user_inputs.TIMES)}. If you '
        f"timed a different job, add what was different: {', '.join(user_inputs.JOB)}",
    )
    add("--steps", type=whole(1, 10**6), default=500, help="training steps, for the cost of the whole run")
    add("--price", type=number(0, 1e4), default=2.0, help="price per GPU-hour")
    add("--currency", choices=planner.CURRENCIES, default="$", help="the currency of the price: only a label")
    add("--json", action="store_true", help="print numbers as JSON instead of a table")
    return parser


def scenario(parser: Parser, chosen: argparse.Namespace) -> planner.Scenario:
    """The planner.Scenario; exits with one sentence and status 2 if it is impossible."""
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
        adapters=chosen.lora,
        four_bits=chosen.four_bits and chosen.lora > 0,
        moment_bits=chosen.adam_bits,
        on_host=chosen.on_host,
        logits_chunk=None if chosen.logits == "whole" else planner.LOGITS_CHUNK,
        transfer=chosen.transfer,
        expert_parallel=chosen.train_ep,
        host_gb=chosen.host_memory,
        reference=chosen.reference,
        reuse=chosen.reuse,
        test_seconds=chosen.test_seconds,
        longest_test=chosen.test_seconds,
        workers=chosen.workers,
        steps=chosen.steps,
        price=chosen.price,
        currency=chosen.currency,
    )
    made = as_chosen(made, chosen)
    if chosen.unpacked:
        made = replace(made, packed=False)
    try:
        made = planner.known(made, chosen.timed, chosen.measured)
    except ValueError as refusal:
        parser.error(str(refusal))
    if chosen.sharing == "one-copy" and not chosen.lora:
        parser.error("--sharing one-copy shares the weights below adapters: add --lora RANK")
    if chosen.four_bits and not chosen.lora:
        parser.error("--four-bits stores the weights below adapters: add --lora RANK")
    return made


def as_chosen(s: planner.Scenario, chosen: argparse.Namespace) -> planner.Scenario:
    """The scenario with the program and the sharing that were chosen."""
    return planner.by_program(s, chosen.program, SHARING[chosen.sharing] if chosen.sharing else None)


def ignored(chosen: argparse.Namespace, s: planner.Scenario) -> list[str]:
    """A sentence for each option that was typed and changes nothing in this job."""
    without = {
        "batches": (chosen.batches != 1 and chosen.overlap != "one-off", f"--overlap {chosen.overlap}"),
        "kept": (chosen.kept != turns.HOLD and chosen.turns == 1, "one turn"),
        "train-ep": (chosen.train_ep > 1 and not s.model.moe, "a model without experts"),
        "dp": (chosen.dp > 1 and not s.model.moe, "a model without experts"),
    }
    return [f"note: --{option} changes nothing with {what}" for option, (idle, what) in without.items() if idle]


def table(found: planner.Plan, path: Sequence[changes.Change], alone: Sequence[changes.Change]) -> str:
    """The text to print."""
    s, now = found.scenario, planner.seconds(found.scenario)
    batch = f"{counted(s.prompts, 'prompt')} x {counted(s.samples, 'completion')} per step"
    rows = {
        f"{s.model.name} on {s.gpus:,} {s.accelerator.name}, {batch}, overlap: {s.overlap}": [
            (answer.question, answer.words, answer.lesson) for answer in planner.answers(found)
        ],
        "What to change, one after the other:": [
            (f"{i}. {change.words}", faster(change, before, " again" * (i > 1)), change.lesson)
            for i, (change, before) in enumerate(zip(path, (now, *(each.seconds for each in path))), 1)
        ],
        "What each change does by itself:": [(change.words, faster(change, now), change.lesson) for change in alone],
    }
    lines: list[str] = []
    for head, section in rows.items():
        wide = max((len(words) for words, *_ in section), default=0)
        lines += [head] if section else []
        lines += [f"  {words:{wide}}  {answer} (lesson {lesson})" for words, answer, lesson in section]
    host = 1e6 * s.efficiency.sequence_seconds
    reached = (*s.efficiency[:2], host, trainer.products_share(s.accelerator), trainer.ATTENTION)
    foot = (
        "Assumed: an engine reaches {:.0%} of the peak memory bandwidth and {:.0%} of the peak arithmetic, and its "
        "host takes {:.3g} µs for each sequence of a pass; a trainer reaches {:.0%} of the peak in matrix products and "
        "{:.0%} in attention. Range of the step: {}."
    )
    return "\n".join([*lines, *far_off.sentences(s), foot.format(*reached, planner.spread(s).words)])


# {option: field of planner.Scenario} of what refusals.py proposes
PROPOSED = dict(gpus="gpus", prompts="prompts", overlap="overlap", kept="kept", recompute="recompute", zero="zero")
PROPOSED |= dict(train_cp="training_parallel", train_tp="training_tensor", train_pp="training_stages", lora="adapters")
PROPOSED |= dict(train_ep="expert_parallel", on_host="on_host")


def typed(s: planner.Scenario, there: planner.Scenario, chosen: argparse.Namespace) -> str:
    """The options that, typed after those that were chosen, change one scenario into another."""
    words = [
        f"--{option.replace('_', '-')} {getattr(there, field)}"
        for option, field in PROPOSED.items()
        if getattr(there, field) != getattr(s, field)
    ]
    words += ["--four-bits"] if there.four_bits and not s.four_bits else []
    words += [f"--limit {there.law.longest:.0f}"] if there.law.longest != s.law.longest else []
    words += [f"--chip {there.accelerator.key}"] if there.accelerator != s.accelerator else []
    words += ["--logits chunks"] if there.logits_chunk and not s.logits_chunk else []
    if there.placement == "one pool" and as_chosen(there, chosen).sharing != there.sharing:
        words += [f"--sharing {next(name for name, way in SHARING.items() if way == there.sharing)}"]
    return " ".join(words)


def near(s: planner.Scenario, chosen: argparse.Namespace) -> Iterator[tuple[refusals.Fitting, str]]:
    """Jobs that fit, nearest first, with the seconds by the reader's timings, and the options that lead there."""
    timed = chosen.timed or chosen.measured
    for one in refusals.nearest(s, refusals.NEAREST * (2 if timed else 1)):
        try:
            there = planner.known(one.scenario, chosen.timed, chosen.measured)
        except ValueError:
            continue
        if not planner.misfits(there):
            yield one._replace(seconds=planner.seconds(there)), typed(s, one.scenario, chosen)


def refused_job(parser: Parser, s: planner.Scenario, why: str, chosen: argparse.Namespace) -> NoReturn:
    """Ends with status 2: one sentence on standard error, and the nearest jobs that fit, with the options to add; as
    JSON on standard output.
    """
    nearest = list(islice(near(s, chosen), refusals.NEAREST))
    if chosen.json:
        listed = [
            {"change": f.words, "options": options, "costs": f.costs, "step_seconds": f.seconds}
            for f, options in nearest
        ]
        sys.stdout.write(json.dumps({"fits": False, "why": why, "would_fit": listed}, indent=2) + "\n")
    fitting = [f"  {options}: {f.words}; a step {f.seconds:,.0f} s; trade-off: {f.costs}" for f, options in nearest]
    would = ["what would fit, with these options:", *fitting] if fitting else []
    parser.error("\n".join([f"this job does not fit: {why}", *would]))


def faster(change: changes.Change, before: float, again: str = "") -> str:
    price = "no trade-off" if change.free else f"trade-off: {change.costs}"
    return f"step {change.seconds:,.0f} s, {before / change.seconds:.2f} times as fast{again}; {price}"


def numbers(found: planner.Plan, path: Sequence[changes.Change], alone: Sequence[changes.Change]) -> dict[str, Any]:
    """The same for programs."""
    s = found.scenario

    def listed(changes):
        return [{"change": c.words, "costs": c.costs, "step_seconds": c.seconds, "lesson": c.lesson} for c in changes]

    return {
        "fits": True,
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
        "far_off": far_off.sentences(s),
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
        if misfits := planner.misfits(made):
            refused_job(parser, made, misfits[0].what, chosen)
        sys.stderr.write("".join(f"{note}\n" for note in ignored(chosen, made)))
        answered = planner.plan(made), changes.best_changes(made), changes.worth_trying(made)
        untimed = replace(made, efficiency=throughput.ENGINE)
        engine = planner.understood(untimed, chosen.timed) if chosen.timed else None
        if chosen.json:
            sys.stdout.write(json.dumps(numbers(*answered) | {"timed": engine}, indent=2) + "\n")
        else:
            sys.stdout.write("\n".join([table(*answered), *([engine] if engine else [])]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
