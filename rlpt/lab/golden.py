"""`python -m rlpt.lab golden`: a scorer on the Lab's labeled cases, and somebody's own cases on mistaken scorers."""

import argparse

from rlpt.arguments import Parser, guarded
from rlpt.lab import records, scorers
from sim.lab import instruments, rows
from sim.words import counted

MOST = 10_000  # rows of somebody's own
NAMED = 5  # cases in a line
EPILOG = """A file of cases is Python whose function cases() returns rows (expected answer, completion, reward, reason):
  def cases():
      return [("323", "Final: 323", 1.0, "ok"), ("323", "Final: 0323", 0.0, "non_canonical_int")]
Status: 0 nothing is judged wrongly and no mistaken scorer survives; 1 otherwise; 2 bad input.
"""


def parser(program):
    made = Parser(
        prog=program,
        usage=f"{program} [OPTION …]",
        description="Runs a scorer on 16 right answers, 52 wrong ones and 24 exploits. With --cases, it also counts "
        "how many of eighteen scorers with one mistake each your own cases find.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add(
        "--scorer",
        default="",
        metavar="FILE:NAME",
        help="your own scorer, default: the strict one; the file is executed",
    )
    add("--spec", choices=scorers.SPECS, default="1.0.0", help="version of the strict scorer, default 1.0.0")
    add("--cases", default="", metavar="FILE", help="Python with cases(), such as test_rubric.py; the file is executed")
    return made


def main(words=None, program="python -m rlpt.lab golden"):
    made = parser(program)
    asked = made.parse_args(words)
    with guarded(made, left=0, bad=records.Bad):
        scorer = scorers.scorer(asked.scorer, asked.spec)
        own = own_rows(asked.cases) if asked.cases else None
        said, sound = suites(scorer.judge)
        if own is not None:
            more, found = mutants(own)
            said, sound = said + more, sound and found
        print("\n".join([f"scorer     {scorer.name}", *said]))
        return 0 if sound else 1


def own_rows(named):
    """The rows of a file. Raises Bad and OSError."""
    path, function = scorers.function_of(named, "a function of cases", "cases")
    try:
        return rows.read(function(), MOST)
    except (Exception, SystemExit) as fault:
        said = f"{type(fault).__name__}: {fault}".removeprefix("ValueError: ")
        raise records.Bad(f"{path}: {said[:200]}") from None


def suites(judge):
    """(lines, whether nothing is judged wrongly)."""
    labeled, wrong = instruments.gate(), instruments.leaks(judge)
    many = len(labeled.right)
    lines = [f"right      {many - len(wrong.right)} of {many} paid{named('refused', wrong.right)}"]
    for tray in ("wrong", "exploits"):
        paid = getattr(wrong, tray)
        lines.append(f"{tray:9}  {len(paid)} of {len(getattr(labeled, tray))} paid{named('paid', paid)}")
    return lines, not (wrong.right or wrong.wrong or wrong.exploits)


def named(what, cases):
    """The ids of the first cases."""
    if not cases:
        return ""
    more = f" and {len(cases) - NAMED} more" if len(cases) > NAMED else ""
    return f"; {what}: {', '.join(case.id for case in cases[:NAMED])}{more}"


def mutants(own):
    """(lines, whether all eighteen are found and the strict scorer passes every row)."""
    misread, found = instruments.misread(own), instruments.found_out(own)
    left = [name for name, at in found.items() if at is None]
    lines = [
        f"row {at + 1} is wrong: the strict scorer says {reward:g}, {reason}"
        for at, (reward, reason) in misread.items()
    ]
    lines.append(
        f"your cases find {len(found) - len(left)} of {len(found)} mistaken scorers with {counted(len(own), 'row')}"
    )
    lines += [f"not found  {instruments.mutants()[name].definition}" for name in left]
    return lines, not (left or misread)
