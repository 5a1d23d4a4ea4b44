"""`python -m rlpt.lab compare OLD NEW`: whether two runs on the same prompts differ by more than luck."""

import argparse

from rlpt.arguments import Parser, guarded
from rlpt.lab import records, runs
from sim.estimators import paired, wilson
from sim.words import counted

NOT_COMPARABLE = 3
EPILOG = """Runs are compared prompt by prompt, with the exact sign test on the prompts where their mean rewards differ.
Two runs can be compared if one of these was changed: the policy, the samples that were taken of it, or the scorer.
Status: 0 there is a verdict, real or noise; 2 bad input; 3 the runs cannot be compared, and why.
"""


def parser(program):
    made = Parser(
        prog=program,
        usage=f"{program} OLD NEW",
        description="Says whether the difference between two runs of eval is real or noise.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("old", metavar="OLD", help="folder of a run, such as runs/run_001")
    made.add_argument("new", metavar="NEW", help="folder of another run")
    return made


def main(words=None, program="python -m rlpt.lab compare"):
    made = parser(program)
    asked = made.parse_args(words)
    with guarded(made, left=0, bad=records.Bad):
        old, new = runs.read(asked.old), runs.read(asked.new)
        for run in (old, new):
            if any(score.reward is None for score in run.scores):
                made.error(f"{run.path}: its scorer broke its contract, so there is no pass rate to compare")
        if why := refusal(old.head, new.head):
            made.exit(NOT_COMPARABLE, f"{made.prog}: not comparable: {why}\n")
        print("\n".join(lines(old, new)))
        return 0


def refusal(old, new):
    """Why the two cannot be compared, or ""."""
    if old["spec"] != new["spec"]:
        return (
            f"the rules are {old['spec']} and {new['spec']}, and a pass rate under one says nothing about the other; "
            "score the older completions again by the newer rules"
        )
    differ = [what for what, same in conditions(old, new) if not same]
    if differ:
        return f"{', '.join(differ)} must be the same in both runs"
    changed = changes(old, new)
    if len(changed) > 1:
        return f"{' and '.join(changed)} changed at once; make a run in between that changes only one of them"
    return ""


def conditions(old, new):
    """(what must be the same, whether it is)."""
    taken = [len(head["sampling"]["samples"]) for head in (old, new)]
    yield "the expected answers", old["data"]["sha256"] == new["data"]["sha256"]
    yield "the prompts", old["prompts"]["sha256"] == new["prompts"]["sha256"]
    yield f"the split ({old['split']} and {new['split']})", old["split"] == new["split"]
    yield "the settings of sampling", old["sampling"]["settings"] == new["sampling"]["settings"]
    yield f"the number of samples of each prompt ({taken[0]} and {taken[1]})", taken[0] == taken[1]


def changes(old, new):
    """What was changed, in words."""
    found = []
    if old["policy"]["sha256"] != new["policy"]["sha256"]:
        found.append("the policy")
    elif old["sampling"]["samples"] != new["sampling"]["samples"]:
        found.append("the samples")
    if old["scorer"] != new["scorer"]:
        found.append("the scorer")
    return found


def lines(old, new):
    """The rates, what was changed, the prompts on which the runs differ, and the verdict."""
    for run in (old, new):
        right, n = sum(score.paid == 1 for score in run.scores), len(run.scores)
        low, high = wilson.interval(right, n)
        yield f"{run.path}  {right} of {counted(n, 'completion')}, {right / n:.3f} ({low:.3f} to {high:.3f})"
    changed = "".join(changes(old.head, new.head)) or "nothing"
    only_old, only_new, alike = sides(old, new)
    p = paired.mcnemar(only_old, only_new)
    yield f"changed    {changed}{of_parents(new)}"
    yield f"prompts    {only_old} better in the old run, {only_new} better in the new run, {alike} alike"
    yield f"sign test  fair coins are at least as uneven in {100 * p:.3g} % of all cases"
    yield f"verdict    {'real' if p < paired.LEVEL else 'noise'}{meaning(changed, p)}"
    yield "This is one comparison. If you made more than one, say how many."


def of_parents(new):
    return f"; noted: {new.head['change']}" if new.head["change"] else ""


def sides(old, new):
    """How many prompts have the higher mean reward in the old run, how many in the new one, how many are alike."""
    before, after = ({name: runs.mean(row) for name, row in runs.by_prompt(run.scores).items()} for run in (old, new))
    only_old = sum(before[name] > after[name] for name in before)
    only_new = sum(before[name] < after[name] for name in before)
    return only_old, only_new, len(before) - only_old - only_new


def meaning(changed, p):
    """What the verdict is about."""
    if p >= paired.LEVEL:
        return ": these prompts cannot tell the runs apart, which does not mean that nothing has changed"
    return {
        "the samples": ", although both runs come from one policy, so it is luck",
        "the scorer": ", and it comes from the scorer, because the completions are the same",
    }.get(changed, "")
