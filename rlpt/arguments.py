"""What the commands of sim/ share: numbers within bounds, one sentence instead of a traceback; not a model.

A command is a module with `main(words=None, program="python -m …")`: it reads the words (None: those of the process),
calls itself `program` in its messages, and returns its status or exits with it.
"""

import argparse
import os
import re
import sys
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module

import numpy as np

LONGEST = 18  # the most digits to read: nobody means more, and Python refuses thousands
GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def whole(least, most):
    """A reader of whole numbers from `least` to `most`, for argparse's `type`."""

    def read(text):
        digits = ungrouped(text)
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= LONGEST and least <= int(digits) <= most):
            must = f"must be a whole number from {least:,} to {most:,}, not {shortened(text)}"
            raise argparse.ArgumentTypeError(must + of_comma(digits))
        return int(digits)

    return read


def number(least, most):
    """The same for any numbers."""

    def read(text):
        digits = ungrouped(text)
        try:
            value = float(digits)
        except ValueError:
            value = float("nan")
        if not least <= value <= most:
            must = f"must be a number from {least:g} to {most:,.12g}, not {shortened(text)}"
            raise argparse.ArgumentTypeError(must + of_comma(digits))
        return value

    return read


def ungrouped(text):
    """1,024 without its commas, as pages accept it; any other text unchanged."""
    return text.replace(",", "") if GROUPED.fullmatch(text) else text


def of_comma(digits):
    return "; commas are for groups of three digits (1,024) and a point for decimals (1.5)" if "," in digits else ""


def shortened(text):
    return text if len(text) <= 32 else f"{text[:32]}…"


class Parser(argparse.ArgumentParser):
    """Reports an error in one sentence and nothing else; for an unknown option it suggests the nearest one."""

    def error(self, message):
        unknown = re.search(r"unrecognized arguments: (--\S+)", message)
        near = get_close_matches(unknown[1], self._option_string_actions, 1) if unknown else []
        self.exit(2, f"{self.prog}: {message}{f'; did you mean {near[0]}?' if near else ''}\n")


def dispatched(commands, words, program):
    """Passes the other words to the command that the first one names, and returns its status. `commands` is
    {name: (module, what it does)}.
    """
    command, *others = (sys.argv[1:] if words is None else words) or [""]
    if command in ("-h", "--help"):
        listed = "\n".join(f"  {name:10} {does}" for name, (_, does) in commands.items())
        help_text = (
            f"usage: {program} COMMAND …\n\n{listed}\n\n{program} COMMAND --help lists the options of a command.\n"
        )
        sys.stdout.write(help_text)
        return 0
    if command not in commands:
        near = get_close_matches(command, commands, 1)
        guess = f"did you mean {near[0]}?" if near else f"the commands are {', '.join(commands)}"
        sys.stderr.write(
            f"{program}: {f'there is no command {command[:40]}' if command else 'a command is missing'}; {guess}\n"
        )
        return 2
    return import_module(commands[command][0]).main(others, f"{program} {command}")


@contextmanager
def guarded(parser, stopped=lambda: "stopped", left=1, bad=()):
    """Turns whatever stops a command into a sentence and a status: `stopped()` is the message after Ctrl-C, `left` the
    status if the reader of the output leaves, and `bad` the class of exceptions whose text says what is wrong with the
    input.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # a run may diverge, and its numbers show it
            yield
        sys.stdout.flush()
    except bad as fault:
        parser.error(str(fault))
    except BrokenPipeError:  # the reader of the output has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(left)
    except OSError as fault:
        if not fault.filename:  # drops the remaining output, or the exit would fail on it again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        parser.error(f"{fault.filename or 'standard output'} cannot be written or read: {fault.strerror}")
    except KeyboardInterrupt:
        sys.stderr.write(f"\n{stopped()}\n")
        sys.exit(130)
