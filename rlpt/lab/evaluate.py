"""`python -m rlpt.lab eval`: scores completions and keeps the run in a folder."""

import argparse
import re

from rlpt.arguments import Parser, guarded
from rlpt.lab import records, runs, scorers
from sim.framework.evaluation import INTERVAL
from sim.words import counted

TOP = 4  # reasons on the screen
MOST = 10_000  # the highest id of a sample
TEXT = 200  # characters of a change
EPILOG = """Without files, the Lab's forty prompts and their eight frozen completions are scored. A file holds one
JSON object a line:
  examples     {"id": "d00", "split": "dev", "prompt": "Compute 17*19.", "expected_answer": "323"}
  completions  {"example_id": "d00", "sample_id": 0, "completion": "Final: 323"}
The run is a new folder run_NNN: manifest.json, raw.jsonl, scores.jsonl, summary.json and failures.md.
Status: 0 done, even if every reward is 0; 1 the scorer broke its contract; 2 bad input.
"""


def parser(program):
    made = Parser(
        prog=program,
        usage=f"{program} [OPTION …]",
        description="Scores completions with one version of the rules, and keeps the run in a folder.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("--examples", metavar="FILE", help="prompts with their expected answers, default: those of the Lab")
    add("--rollouts", metavar="FILE", help="completions of these prompts, default: those of the Lab")
    add("--spec", choices=scorers.SPECS, default="1.0.0", help="version of the rules, default 1.0.0")
    add("--scorer", default="", metavar="FILE:NAME", help="your own scorer of these rules; the file is executed")
    add("--split", choices=(*records.SPLITS, "all"), default="dev", help="prompts to score, default dev")
    add("--samples", type=ids, metavar="IDS", help="sample ids of each prompt, such as 0, 0-3 or 0,2,5; default: all")
    add("--sampling", default="", metavar="TEXT", help='settings of sampling, such as "temperature 0.7, top-p 1"')
    add("--change", default="", metavar="TEXT", help="the one thing that you changed since the parent run")
    add("--parent", default="", metavar="RUN", help="the run that this one is to be compared with, such as run_003")
    add("--allow-missing", action="store_true", help="score a completion that is missing 0 instead of refusing it")
    add("--out", default="runs", metavar="FOLDER", help="where the run's folder is made, default runs")
    return made


def ids(text):
    """[0, 1, 2, 3] of 0-3, [0, 2, 5] of 0,2,5, None of all."""
    if text == "all":
        return None
    found = []
    for part in text.split(","):
        ends = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", part.strip())
        low, high = (int(ends[1]), int(ends[2] or ends[1])) if ends else (1, 0)
        if not low <= high <= MOST:
            raise argparse.ArgumentTypeError(
                f"must be all, or ids such as 0, 0-3 or 0,2,5 up to {MOST:,}, not {text[:40]}"
            )
        found += range(low, high + 1)
    return sorted(set(found))


def main(words=None, program="python -m rlpt.lab eval"):
    made = parser(program)
    asked = made.parse_args(words)
    for name in ("change", "sampling", "parent"):
        text = getattr(asked, name)
        if len(text) > TEXT or not text.isprintable():
            made.error(f"argument --{name}: must be one line of at most {TEXT} characters")
    for name in ("examples", "rollouts"):
        if getattr(asked, name) == "":
            made.error(f"argument --{name}: names no file; leave it out for the Lab's own")
    with guarded(made, left=0, bad=records.Bad):
        head, chosen, scores, notes = evaluated(asked)
        place = runs.write(asked.out, head, chosen, scores)
        print("\n".join([str(place), *lines(scores, chosen), *notes]))
        return 1 if any(score.reward is None for score in scores) else 0


def evaluated(asked):
    """(manifest, Chosen, Scores, remarks). Raises Bad and OSError."""
    given, sampled = records.examples(asked.examples), records.completions(asked.rollouts)
    chosen = records.chosen(given, sampled, asked.split, asked.samples, asked.allow_missing)
    scorer = scorers.scorer(asked.scorer, asked.spec)
    if asked.parent:
        runs.read(f"{asked.out}/{asked.parent}")
    head = runs.manifest(chosen, given, sampled, scorer, asked.spec, asked.sampling, asked.change, asked.parent)
    unknown = [*given.unknown, *sampled.unknown]
    notes = [f"kept, and read by nothing: {records.listed(unknown)}"] if unknown else []
    return head, chosen, runs.scored(scorer, chosen), notes


def lines(scores, chosen):
    """What a person wants to know of a run."""
    found = runs.summary(scores)
    reasons = [f"{reason} {many}" for reason, many in found["reasons"].items() if reason != "ok"]
    more = f" and {len(reasons) - TOP} more" if len(reasons) > TOP else ""
    if broken := [score for score in scores if score.reward is None]:
        first = broken[0]
        yield (
            f"pass rate  none: the scorer broke its contract on {counted(len(broken), 'completion')}, first on "
            f"{first.example_id}, sample {first.sample_id}: {first.details['error']}"
        )
        return
    low, high = found["interval"]
    yield f"pass rate  {found['pass_rate']:.3f}: {found['right']} of {counted(found['completions'], 'completion')}"
    yield f"interval   {low:.3f} to {high:.3f}, {INTERVAL}"
    if found["mean_reward"] != found["pass_rate"]:
        yield f"mean       {found['mean_reward']:.3f} reward for each completion"
    yield f"not paid   {', '.join(reasons[:TOP]) + more if reasons else 'none'}"
    if len(chosen.ids) > 1:
        shares = "  ".join(f"{k}: {share:.3f}" for k, share in found["pass_at"].items())
        yield f"pass@k     {shares}, over {counted(len(chosen.prompts), 'prompt')}"
    if found[runs.MISSING]:
        yield f"missing    {found[runs.MISSING]}, scored 0"
