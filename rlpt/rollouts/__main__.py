"""`rlpt rollouts FILE…`: what the completions of a run show, as text or JSON. No model: files in, lines out."""

import json
import sys
from pathlib import Path

from rlpt import rollouts
from rlpt.arguments import Parser, guarded, whole
from rlpt.rollouts import exported, sentences, shown, words
from rlpt.rollouts import seen as steps
from sim.rollouts import pushes, report
from sim.words import counted

PROGRAM = "python -m rlpt.rollouts"
RULES = {"grpo": "GRPO", "rloo": "RLOO", "dr_grpo": "Dr. GRPO", "reinforce": "batch mean", "whitened": "whitened"}
ENDINGS = {".parquet", ".jsonl", ".json", ".csv"}
ROLES = ("step", "prompt", "completion", "reward", "advantage")


def arguments(program):
    parser = Parser(
        prog=program,
        description=(
            "Reads the completions that a trainer kept, and says what the average of the rewards hides: which groups "
            "taught nothing, which phrase is paid, what was paid and is not correct, and what an algorithm pushes. "
            "Exit status: 0 if no finding, 1 for at least one, 2 if the files cannot be read."
        ),
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help=f"or a folder. {rollouts.READABLE}")
    parser.add_argument(
        "--step",
        type=whole(0, 10**9),
        metavar="N",
        help="the step to show; by default the one where reward and unpaid score differ most",
    )
    parser.add_argument(
        "--group",
        type=whole(1, 10**6),
        metavar="N",
        help="print the texts of the step's Nth group, the one with the lowest reward first",
    )
    parser.add_argument(
        "--as",
        dest="rule",
        choices=RULES,
        default="grpo",
        help="the algorithm whose push --group shows, by default grpo",
    )
    parser.add_argument("--per", choices=("completion", "token"), help="what has equal weight in the loss")
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="ROLE=NAME",
        help=f"read one of {', '.join(ROLES)} from the column NAME, for files of any other program",
    )
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")
    return parser


def settings(given=None, program=PROGRAM):
    parser = arguments(program)
    chosen = parser.parse_args(given)
    pairs = [text.partition("=") for text in chosen.map]
    for role, equals, _ in pairs:
        if not equals or role not in ROLES:
            parser.error(f"--map takes ROLE=NAME, where ROLE is {', '.join(ROLES)}; it was given {role}{equals}")
    chosen.map = {role: name for role, _, name in pairs}
    return chosen


def found(names):
    """The files that are named, and those in folders that are named."""
    for name in names:
        path = Path(name)
        yield from (
            (str(file) for file in sorted(path.rglob("*")) if file.suffix in ENDINGS and file.is_file())
            if path.is_dir()
            else [name]
        )


def opened(name):
    with open(name, "rb") as file:
        while piece := file.read(1 << 18):
            yield piece


def command(given, program=PROGRAM):
    """(lines to print, lines for those who wait, status)."""
    chosen = settings(given, program)
    try:
        names = list(found(chosen.files))
        if not names:
            raise rollouts.Unreadable(f"{chosen.files[0]} holds no file that ends in {', '.join(sorted(ENDINGS))}.")
        read = rollouts.read([(name, opened(name)) for name in names], chosen.map)
    except rollouts.Unnamed as fault:
        return [], [f"{fault} Name each as in --map completion=NAME."], 2
    except rollouts.Unreadable as fault:
        return [], [str(fault)], 2
    except OSError as fault:
        return [], [f"{fault.filename} cannot be read: {fault.strerror}."], 2
    done = report.report(read.rollouts)
    known = [one.step for one in done.steps]
    if chosen.step is not None and chosen.step not in known:
        there = f"They have {counted(len(known), 'step')}, from {known[0]} to {known[-1]}."
        return [], [f"The files have no step {chosen.step}. {there}"], 2
    seen = steps.seen(done, steps.widest(done) if chosen.step is None else chosen.step)
    groups = seen.order
    if chosen.group and chosen.group > len(groups):
        return [], [f"--group is {chosen.group}, but step {seen.step} has only {counted(len(groups), 'group')}."], 2
    if chosen.json:
        lines = [json.dumps(exported.as_dict(read, done, seen))]
    elif chosen.group:
        lines = list(of_group(seen, groups[chosen.group - 1], RULES[chosen.rule], chosen.per))
    else:
        lines = list(of_run(read, done, seen))
    return lines, [], 1 if done.findings else 0


def of_run(read, done, seen):
    r = done.rollouts
    sizes = counted(len(r), "completion"), counted(len(r.prompts), "group"), counted(len(done.steps), "step")
    yield f"{read.format}: {sizes[0]} in {sizes[1]}, {sizes[2]}."
    yield from (f"! {note}" for note in read.notes)
    yield from (f"! {name} is left out. {why}" for name, why in read.left_out.items())
    yield ""
    yield " ".join(filter(None, words.headline(seen)))
    for fact in words.facts(seen):
        more = f" ({fact.more})" if fact.more else ""
        yield f"{'!' if fact.alarm else ' '} {fact.big:>6} {fact.says}{more}"
    yield ""
    kind, forms = words.forms(seen)
    yield from ([f"{kind}:"] if forms else ())
    yield from (f"{count:>10}  {shown.quoted(text, 160)} ({then})" for count, text, then in forms)
    yield ""
    yield from table(done)
    yield ""
    yield from (f"{sentences.title(one)}. {sentences.sentence(one)}" for one in done.findings)
    if not done.findings:
        yield "No findings."
    if apart := sentences.apart(done):
        yield apart


def table(done):
    """The numbers of every step."""
    scores = list(done.rollouts.scores)
    names = [shown.on_a_line(name, 14) for name in scores]
    heads = ["step", "reward", *names, "dead", "teach", "texts", "same", "cut off", "tokens"]
    rows = [heads]
    for one in done.steps:
        tied = "" if one.tied is None else f"{sum(one.tied.values())}/{one.groups}"
        rows.append(
            [
                str(one.step),
                "" if one.reward is None else shown.figure(one.reward),
                *(shown.figure(one.scores[name]) for name in scores),
                tied,
                "" if one.effective is None else str(one.effective),
                str(one.distinct),
                str(one.commonest),
                "" if one.cut is None else str(one.cut),
                "" if one.tokens is None else f"{one.tokens:.1f}",
            ]
        )
    kept = [i for i in range(len(heads)) if any(row[i] for row in rows[1:])]
    wide = {i: max(len(row[i]) for row in rows) for i in kept}
    for row in rows:
        yield "  ".join(f"{row[i]:>{wide[i]}}" for i in kept)


def of_group(seen, group, rule, per):
    """The texts of a group, each with its share of the step's push."""
    r = seen.report.rollouts
    unit = f"per {per}" if per else pushes.PER_COMPLETION if r.tokens is None else pushes.PER_TOKEN
    held = pushes.shares(r.at(seen.step), rule, unit)
    here = seen.of_group(group)
    yield f"Step {seen.step}, {shown.on_a_line(steps.prompts(seen)[group])}: {rule}, {unit}."
    for i in here:
        share = f"{words.push(float(held[i])):>8}  " if held is not None else ""
        yield f"{share}{words.paid(seen, seen.rows[i])}"
        yield from (f"          {line}" for line in shown.visible(r.completions[seen.rows[i]]).split("\n"))
    if held is None:
        yield words.unknown(seen, unit)
    else:
        yield from (f"{big:>8}  {text}" for big, text in words.sums(seen, held, here))


def main(given=None, program=PROGRAM):
    with guarded(arguments(program)):
        lines, faults, status = command(given, program)
        lines, faults = ([shown.visible(line) for line in each] for each in (lines, faults))
        print("\n".join(lines), end="\n" if lines else "")
        print("\n".join(faults), end="\n" if faults else "", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
