"""`python -m rlpt.pipeline --path base,sft,cot,dpo,rl`: runs the stages and prints a row for each.

The table goes to standard output, everything else to standard error. Status 2: something in the request is not
possible, and nothing was started; 3: a stage had nothing to learn from.
"""

import argparse
import io
import json
import re
import sys
import time
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

import numpy as np

from rlpt.arguments import Parser, guarded, number, whole
from rlpt.run import write_atomically
from sim.pipeline import path as paths
from sim.pipeline.report import measure
from sim.pipeline.stages import NothingToLearn, Stage
from sim.worlds.tasks import HELD, TRAIN, Chain

COLUMNS_MEAN = (
    "Columns of the table: pass@1 and @16, share of the prompts solved in 1 and in 16 attempts; thinks, share of "
    "completions with a thought; acc, share of the thoughts that end correctly; skill, probability of the next running "
    "total if those before are correct; length, tokens per completion; nats, entropy per token; KL, nats per "
    "completion from the stage before; sampled and trained, tokens; s, seconds."
)
COLUMNS = ("stage", "pass@1", "@16", "thinks", "acc", "skill", "length", "nats", "KL", "sampled", "trained", "s")
WIDTHS = (8, 16, 7, 8, 7, 7, 8, 6, 7, 9, 11, 6)
MOST_STEPS, MOST_SEEDS = 100_000, 100  # so that any request ends some day
PATIENCE = 20  # updates of RL without a live group before a warning


def chosen(words, program):
    """(the parser, the parsed arguments)."""
    usual = paths.Settings()
    made = Parser(prog=program, description="Post-trains a tiny model, stage by stage.", epilog=COLUMNS_MEAN)
    add = made.add_argument
    prompts, steps = whole(1, len(TRAIN)), whole(1, MOST_STEPS)
    add(
        "--path",
        type=stages_of,
        default="base,sft,cot,dpo,rl",
        help="base or init, then any of sft, cot, dpo, rft and rl, separated by commas; default: base,sft,cot,dpo,rl",
    )
    add("--seed", type=whole(0, 2**32 - 1), help="random seed, default 0")
    add(
        "--rare",
        type=number(0, 1),
        default=0.0,
        help="share of worked answers in the corpus of the base model, default 0",
    )
    add(
        "--demos",
        type=prompts,
        default=usual.demos,
        help="number of demonstrations in the cot stage, default %(default)s",
    )
    add("--cot-steps", type=steps, default=usual.cot_steps, help="steps of the cot stage, default %(default)s")
    add("--beta", type=number(0.001, 1000), default=usual.beta, help="β of the dpo stage, default %(default)s")
    add("--dpo-steps", type=steps, default=usual.dpo_steps, help="steps of the dpo stage, default %(default)s")
    add(
        "--nll",
        type=number(0, 1000),
        default=usual.nll,
        help="weight of the chosen answers' cross-entropy in the dpo stage, default 0",
    )
    add("--rl-steps", type=steps, default=usual.rl_steps, help="steps of the rl stage, default %(default)s")
    add("--rl-prompts", type=prompts, default=usual.rl_prompts, help="prompts of the rl stage, default: all")
    add(
        "--length-penalty",
        type=whole(1, Chain.T),
        metavar="L",
        help="number of tokens before the length limit that the rl stage penalizes, default: none",
    )
    add("--eval", type=sizes, default="300x64", help="held-out prompts x completions per prompt, default 300x64")
    add("--pretrain", action="store_true", help="train the base model, even if the shipped one would do")
    add(
        "--seeds", type=seeds, help="a range such as 0-7: print the mean, standard deviation and range over these seeds"
    )
    add("--save", type=Path, metavar="DIR", help="save the policy after each stage")
    add("--json", action="store_true", help="print one JSON object per stage, each on a line")
    add("--make-checkpoints", action="store_true", help="train the shipped policies again")
    asked = made.parse_args(words)
    if asked.seeds and (asked.json or asked.save or asked.seed is not None):
        made.error("--seeds prints a table over several seeds and cannot be combined with --seed, --json or --save")
    if asked.rare and asked.path[0] == "init":
        made.error(f"--rare {asked.rare:g} needs a --path that begins with base, because init has read no corpus")
    return made, asked


def stages_of(text):
    """The path as a tuple of stages."""
    path = tuple(text.split(","))
    if path[0] not in paths.STARTS:
        raise argparse.ArgumentTypeError(f"must begin with base or init, not {path[0] or 'nothing'}")
    for name in path[1:]:
        if name not in paths.STAGES:
            near = get_close_matches(name, paths.STAGES, 1)
            guess = f"did you mean {near[0]}? " if near else ""
            raise argparse.ArgumentTypeError(
                f'there is no stage "{name}"; {guess}the stages are {", ".join(paths.STAGES)}'
            )
    return path


def sizes(text):
    """(prompts, completions) of an evaluation."""
    match = re.fullmatch(r"(\d{1,4})x(\d{1,3})", text)
    prompts, n = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 2 <= prompts <= len(HELD) or n % 8 or not 16 <= n <= 256:
        raise argparse.ArgumentTypeError(
            f"must be prompts x completions such as 300x64, with 2 to {len(HELD):,} prompts and a multiple of 8 from "
            f"16 to 256 completions, not {text[:20]}"
        )
    return prompts, n


def seeds(text):
    """The seeds of a table."""
    match = re.fullmatch(r"(\d{1,9})-(\d{1,9})", text)
    first, last = (int(match[1]), int(match[2])) if match else (0, 0)
    if not first < last < first + MOST_SEEDS:
        raise argparse.ArgumentTypeError(f"must be a range of 2 to {MOST_SEEDS} seeds, such as 0-7, not {text[:20]}")
    return list(range(first, last + 1))


def settings_of(asked):
    return paths.Settings(
        rare=asked.rare,
        demos=asked.demos,
        cot_steps=asked.cot_steps,
        beta=asked.beta,
        dpo_steps=asked.dpo_steps,
        nll=asked.nll,
        rl_steps=asked.rl_steps,
        rl_prompts=asked.rl_prompts,
        L_cache=asked.length_penalty,
    )


def courses(asked, seed):
    """(Stage, Report, seconds) of each stage, with progress and warnings on standard error."""
    settings, before = settings_of(asked), None
    prompts, n = asked.eval
    for at, name in enumerate(asked.path):
        began, stage = time.perf_counter(), None
        try:
            for stage in (
                opened(asked, seed, settings) if at == 0 else paths.staged(name, before.policy, seed, settings)
            ):
                progress(seed, stage)
        except NothingToLearn as error:
            print(f"{name}: {error}; put sft or cot before {name} in --path", file=sys.stderr)
            raise SystemExit(3) from None
        seconds = time.perf_counter() - began
        yield stage, measure(stage.policy, before and before.policy, HELD[:prompts], n), seconds
        before = stage


def opened(asked, seed, settings):
    """The first stage: the shipped base if there is one, else a newly trained one."""
    shipped = paths.known(asked.path[:1], settings) if seed == 0 and not asked.pretrain else None
    if shipped is None:
        return paths.beginning(asked.path[0], seed, settings.rare)
    return iter([Stage("base", paths.checkpoint(shipped), 0, 0, dict(sampled_tokens=0.0, trained_tokens=0.0))])


def progress(seed, stage):
    if stage.name == "rl" and stage.step == PATIENCE and not any(stage.rows["live"]) and not stage.rows["gradient"]:
        both = "both correct and wrong completions"
        print(f"rl, seed {seed}: no group had {both} in {PATIENCE} steps, so the policy did not move", file=sys.stderr)
    if sys.stderr.isatty():
        end = "\n" if stage.step == stage.steps else ""
        print(f"\rseed {seed} {stage.name} {stage.step} of {stage.steps} ", end=end, file=sys.stderr, flush=True)


def row(stage, report, seconds):
    mean, error = report.pass_at[1]
    return (
        stage.name,
        f"{plain(mean, 3)} ± {plain(1.96 * error, 3)}",
        plain(report.pass_at[16][0], 3),
        plain(report.thinks),
        plain(report.accuracy_thinking),
        plain(report.skill),
        f"{report.length:.1f}",
        plain(report.token_entropy),
        f"{report.kl:.2f}" if np.isfinite(report.kl) else "–",
        f"{stage.rows['sampled_tokens']:,.0f}",
        f"{stage.rows['trained_tokens']:,.0f}",
        plain(seconds),
    )


def plain(value, digits=2):
    """A share without its leading zero; a dash if there is none."""
    return f"{value:.{digits}f}".removeprefix("0") if np.isfinite(value) else "–"


def line(cells):
    return "".join(f"{cell:{width}}" for cell, width in zip(cells, WIDTHS)).rstrip()


def as_object(stage, report, seconds):
    paid = {key: value for key, value in stage.rows.items() if key != "live"}
    seen = paid | dict(
        stage=stage.name,
        **{f"pass_at_{k}": mean for k, (mean, _) in report.pass_at.items()},
        pass_at_1_error=report.pass_at[1][1],
        modes=report.modes.tolist(),
        accuracy_thinking=report.accuracy_thinking,
        skill=report.skill,
        length=report.length,
        token_entropy=report.token_entropy,
        kl=report.kl,
        live8=report.live8,
        seconds=seconds,
    )
    seen = {key: value if isinstance(value, str | list) else float(value) for key, value in seen.items()}
    return {key: None if isinstance(value, float) and not np.isfinite(value) else value for key, value in seen.items()}


def keep(folder, name, params):
    file = io.BytesIO()
    np.savez(file, **params)
    write_atomically(folder / f"{name}.npz", file.getvalue())


def make_checkpoints():
    folder = Path(str(files("sim.pipeline") / "data"))
    for name in paths.SHIPPED:
        keep(folder, name, paths.made(name))
        print(folder / f"{name}.npz", file=sys.stderr)


def one_seed(asked):
    if asked.save:  # an impossible folder is reported before any work
        asked.save.mkdir(parents=True, exist_ok=True)
    if not asked.json:
        print(line(COLUMNS), flush=True)
    for at, (stage, report, seconds) in enumerate(courses(asked, asked.seed or 0)):
        print(
            json.dumps(as_object(stage, report, seconds)) if asked.json else line(row(stage, report, seconds)),
            flush=True,
        )
        if asked.save:
            keep(asked.save, f"{at}-{stage.name}", paths.in_32_bits(stage.policy))


def several_seeds(asked):
    runs = [[report for _, report, _ in courses(asked, seed)] for seed in asked.seeds]
    most = max(runs[0][0].pass_at)
    print(f"{'stage':8}{'pass@1 mean':13}{'s.d.':7}{'range':14}{f'@{most}':7}{'thinks':8}{'skill':7}".rstrip())
    for name, reports in zip(asked.path, zip(*runs)):
        rate = np.array([report.pass1 for report in reports])
        print(
            f"{name:8}{plain(rate.mean(), 3):13}{plain(rate.std(ddof=1), 3):7}"
            f"{f'{plain(rate.min(), 3)}-{plain(rate.max(), 3)}':14}"
            f"{plain(np.mean([report.pass_at[most][0] for report in reports]), 3):7}"
            f"{plain(np.mean([report.thinks for report in reports])):8}"
            f"{plain(np.mean([report.skill for report in reports]))}"
        )


def main(words=None, program="python -m rlpt.pipeline"):
    made, asked = chosen(words, program)
    with guarded(made):
        if asked.make_checkpoints:
            make_checkpoints()
        elif asked.seeds:
            several_seeds(asked)
        else:
            one_seed(asked)


if __name__ == "__main__":
    main()
