"""`python -m rlpt.doctor FILE…`: what a run's log shows, in a terminal or as JSON. No model: words in, lines out."""

import json
import sys
from pathlib import Path

from rlpt import logs, metric_names
from rlpt.arguments import Parser, guarded, whole
from rlpt.doctor import completions, report, words
from rlpt.doctor.files import Files

PROGRAM = "python -m rlpt.doctor"


def arguments(program):
    parser = Parser(
        prog=program,
        description=(
            "Reads the log of a training run and says what went wrong first, which option to change, and what to "
            "expect then; events and facts follow. If the completions are there, too, what `rlpt rollouts` finds in "
            "them stands among the events. Exit status: 0 if nothing was found, 1 for an alarm or a sign, 2 if the log "
            "cannot be read."
        ),
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help=f"or the folder of a run; - for standard input. {logs.READABLE}"
    )
    parser.add_argument("--run", default="", metavar="NAME", help="which run to read if a file holds several")
    parser.add_argument("--heldout", default="", metavar="NAME", help="the column of a score that was not trained on")
    parser.add_argument("--k", type=whole(0, 10**6), default=0, help="completions per prompt")
    parser.add_argument("--updates", type=whole(1, 10**6), default=1, metavar="U", help="updates per batch")
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="Q=NAME",
        help=f"read the quantity Q from the column NAME; Q is one of {', '.join(metric_names.QUANTITIES)}",
    )
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")
    return parser


def settings(given=None, program=PROGRAM):
    parser = arguments(program)
    chosen = parser.parse_args(given)
    try:
        chosen.map = dict(pair(text) for text in chosen.map)
    except ValueError as fault:
        parser.error(str(fault))
    return chosen


def pair(text):
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"NAME=VALUE is expected, not {text}")
    return name, value


def command(given, opened, program=PROGRAM):
    """(lines to print, lines for those who wait, status); `opened` yields the pieces of a file."""
    chosen = settings(given, program)
    try:
        files = Files(chosen.run, [*chosen.map.values(), chosen.heldout])
        closed = []
        for name in chosen.files:
            folder = name != "-" and Path(name).is_dir()
            closed += files.of_folder(name, opened) if folder else [files.whole(name, opened(name))]
        brought = files.together(closed)
        of_log = report(brought.log, chosen.heldout, chosen.map, chosen.k, chosen.updates)
        done = completions.added(of_log, brought)
    except logs.Unreadable as fault:
        return [], [str(fault)], 2
    except OSError as fault:
        return [], [f"{fault.filename} cannot be read: {fault.strerror}."], 2
    lines = [json.dumps(words.as_dict(done), ensure_ascii=False)] if chosen.json else list(words.lines(done))
    return lines, [], done.status


def main(given=None, program=PROGRAM):
    def opened(name):
        with sys.stdin.buffer if name == "-" else open(name, "rb") as file:
            while piece := file.read(1 << 16):
                yield piece

    with guarded(arguments(program)):
        lines, faults, status = command(given, opened, program)
        print("\n".join(lines), end="\n" if lines else "")
        print("\n".join(faults), end="\n" if faults else "", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
