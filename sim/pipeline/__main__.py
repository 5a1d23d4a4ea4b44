"""`python -m sim.pipeline --path base,sft,cot,dpo,rl`: runs the stages and prints a row for each.

The table goes to standard output, everything else to standard error. Status 2: something asked for is not possible, and
nothing was begun; 3: a stage had nothing to learn from.
"""

import argparse
import io
import json
import os
import re
import sys
import time
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

import numpy as np

from sim.pipeline import path as paths
from sim.pipeline.report import measure
from sim.pipeline.stages import NothingToLearn, Stage
from sim.worlds.tasks import HELD, TRAIN

COLUMNS = ("stage", "pass@1", "@16", "thinks", "acc", "skill", "length", "nats", "KL", "sampled", "trained", "s")
WIDTHS = (8, 16, 7, 8, 7, 7, 8, 6, 7, 9, 11, 6)
PATIENCE = 20  # updates of RL without a live group before a word is said


class Parser(argparse.ArgumentParser):
    def error(self, message):
        """One line and status 2; of a flag that there is none of, the nearest one."""
        unknown = re.search(r"unrecognized arguments: (\S+)", message)
        near = get_close_matches(unknown[1], self._option_string_actions, 1) if unknown else []
        refuse(message + (f"; did you mean {near[0]}?" if near else ""))


def refuse(sentence, status=2):
    print(sentence, file=sys.stderr)
    raise SystemExit(status)


def chosen(words=None):
    usual = paths.Settings()
    parser = Parser(prog="python -m sim.pipeline", description="Post-training of a tiny model, stage by stage.")
    add = parser.add_argument
    add("--path", default="base,sft,cot,dpo,rl", help="base or init, then any of sft cot dpo rft rl")
    add("--seed", type=int, default=0)
    add("--rare", type=float, default=0.0, help="share of worked answers in the corpus")
    add("--demos", type=int, default=usual.demos, help="demonstrations of cot")
    add("--cot-steps", type=int, default=usual.cot_steps)
    add("--beta", type=float, default=usual.beta, help="of dpo")
    add("--dpo-steps", type=int, default=usual.dpo_steps)
    add("--nll", type=float, default=usual.nll, help="weight of the chosen's cross-entropy in dpo")
    add("--rl-steps", type=int, default=usual.rl_steps)
    add("--rl-prompts", type=int, default=usual.rl_prompts)
    add("--length-penalty", type=int, default=None, metavar="L", help="tokens before the limit that rl charges for")
    add("--eval", default="300x64", help="held-out prompts x completions")
    add("--pretrain", action="store_true", help="train the base, also where a shipped one would do")
    add("--seeds", default=None, help="0-7: a table of mean, standard deviation and range")
    add("--save", type=Path, default=None, metavar="DIR", help="keep the policy after each stage")
    add("--json", action="store_true", help="an object a stage, a line each")
    add("--make-checkpoints", action="store_true", help="make the shipped policies again")
    asked = parser.parse_args(words)
    asked.path, asked.eval, asked.seeds = stages_of(asked.path), sizes(asked.eval), seeds_of(asked)
    refuse_the_impossible(asked)
    return asked


def stages_of(text):
    """The path as a tuple of stages."""
    path = tuple(text.split(","))
    if path[0] not in paths.STARTS:
        refuse(f"--path {text}: it begins with base or init, not {path[0] or 'nothing'}; stages may follow")
    for name in path[1:]:
        if name not in paths.STAGES:
            near = get_close_matches(name, paths.STAGES, 1)
            guess = f"did you mean {near[0]}? " if near else ""
            refuse(f'--path {text}: no stage "{name}"; {guess}stages: {" ".join(paths.STAGES)}')
    return path


def sizes(text):
    """(prompts, completions) of an evaluation."""
    found = re.fullmatch(r"(\d+)x(\d+)", text)
    if not found:
        refuse(f"--eval {text}: prompts x completions, such as 300x64")
    prompts, n = int(found[1]), int(found[2])
    if not 2 <= prompts <= len(HELD) or n % 8 or not 16 <= n <= 256:
        refuse(f"--eval {text}: 2 to {len(HELD):,} prompts, and completions in eights from 16 to 256")
    return prompts, n


def seeds_of(asked):
    if asked.seeds is None:
        return [asked.seed]
    found = re.fullmatch(r"(\d+)-(\d+)", asked.seeds)
    if not found or int(found[1]) >= int(found[2]):
        refuse(f"--seeds {asked.seeds}: the first and the last, such as 0-7")
    if asked.json or asked.save:
        refuse(f"--seeds {asked.seeds}: a table of several seeds goes with neither --json nor --save")
    return list(range(int(found[1]), int(found[2]) + 1))


def refuse_the_impossible(asked):
    """Whatever cannot be run, before any of it is."""
    allowed = [
        ("--seed", asked.seed, 0, None, "at least 0"),
        ("--rare", asked.rare, 0, 1, "a share from 0 to 1"),
        ("--demos", asked.demos, 1, len(TRAIN), f"1 to {len(TRAIN):,}, the prompts that may be trained on"),
        ("--cot-steps", asked.cot_steps, 1, None, "at least 1; or leave cot out of --path"),
        ("--dpo-steps", asked.dpo_steps, 1, None, "at least 1; or leave dpo out of --path"),
        ("--nll", asked.nll, 0, None, "at least 0"),
        ("--rl-steps", asked.rl_steps, 1, None, "at least 1; or leave rl out of --path"),
        ("--rl-prompts", asked.rl_prompts, 1, len(TRAIN), f"1 to {len(TRAIN):,}, the prompts that may be trained on"),
        ("--length-penalty", asked.length_penalty, 1, 8, "1 to 8 tokens"),
    ]
    for flag, value, low, high, words in allowed:
        if value is not None and not (low <= value and (high is None or value <= high)):
            refuse(f"{flag} {value}: {words}")
    if not 0 < asked.beta < np.inf:
        refuse(f"--beta {asked.beta}: above 0")
    if asked.rare and asked.path[0] == "init":
        refuse(f"--rare {asked.rare}: init has read no corpus; begin --path with base")


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
    """(Stage, Report, seconds) of each stage, progress and a warning on standard error."""
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
            refuse(f"{name}: {error}; put sft or cot before it", status=3)
        seconds = time.perf_counter() - began
        yield stage, measure(stage.policy, before and before.policy, HELD[:prompts], n), seconds
        before = stage


def opened(asked, seed, settings):
    """The first stage: the shipped base where there is one, else it is trained."""
    shipped = paths.known(asked.path[:1], settings) if seed == 0 and not asked.pretrain else None
    if shipped is None:
        return paths.beginning(asked.path[0], seed, settings.rare)
    return iter([Stage("base", paths.checkpoint(shipped), 0, 0, dict(sampled_tokens=0.0, trained_tokens=0.0))])


def progress(seed, stage):
    if stage.name == "rl" and stage.step == PATIENCE and not any(stage.rows["live"]):
        print(f"rl: no group of seed {seed} had both outcomes in {PATIENCE} steps, so nothing moves", file=sys.stderr)
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
    """A share without its zero; a dash where there is none."""
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
    """Written beside and then renamed: what is there is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    held = io.BytesIO()
    np.savez(held, **params)
    beside = folder / f".{name}.npz"
    beside.write_bytes(held.getvalue())
    os.replace(beside, folder / f"{name}.npz")


def make_checkpoints():
    folder = Path(str(files("sim.pipeline") / "data"))
    for name in paths.SHIPPED:
        keep(folder, name, paths.made(name))
        print(folder / f"{name}.npz", file=sys.stderr)


def one_seed(asked):
    if not asked.json:
        print(line(COLUMNS), flush=True)
    for at, (stage, report, seconds) in enumerate(courses(asked, asked.seed)):
        print(
            json.dumps(as_object(stage, report, seconds)) if asked.json else line(row(stage, report, seconds)),
            flush=True,
        )
        if asked.save:
            keep(asked.save, f"{at}-{stage.name}", paths.in_32_bits(stage.policy))


def several_seeds(asked):
    runs = [[report for _, report, _ in courses(asked, seed)] for seed in asked.seeds]
    print(f"{'stage':8}{'pass@1 mean':13}{'s.d.':7}{'range':14}{'@64':7}{'thinks':8}{'skill':7}".rstrip())
    for name, reports in zip(asked.path, zip(*runs)):
        rate = np.array([report.pass1 for report in reports])
        most = max(reports[0].pass_at)
        print(
            f"{name:8}{plain(rate.mean(), 3):13}{plain(rate.std(ddof=1), 3):7}"
            f"{f'{plain(rate.min(), 3)}-{plain(rate.max(), 3)}':14}"
            f"{plain(np.mean([report.pass_at[most][0] for report in reports]), 3):7}"
            f"{plain(np.mean([report.thinks for report in reports])):8}"
            f"{plain(np.mean([report.skill for report in reports]))}"
        )


if __name__ == "__main__":
    asked = chosen()
    if asked.make_checkpoints:
        make_checkpoints()
    elif len(asked.seeds) > 1:
        several_seeds(asked)
    else:
        one_seed(asked)
