"""What the command lines of sim/ share: numbers within bounds, one sentence of what is wrong; no model of anything."""

import argparse
import re
from difflib import get_close_matches

LONGEST = 18  # digits that are read: more are no number anyone means, and Python refuses those of thousands


def whole(least, most):
    """A reader of whole numbers from `least` to `most`, for argparse's `type`."""

    def read(text):
        if not (text.isascii() and text.isdecimal() and len(text) <= LONGEST and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"{shortened(text)} is no whole number from {least:,} to {most:,}")
        return int(text)

    return read


def number(least, most):
    """The same of numbers."""

    def read(text):
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{shortened(text)} is no number from {least:g} to {most:g}")
        return value

    return read


def shortened(text):
    return text if len(text) <= 40 else f"{text[:40]}…"


class Parser(argparse.ArgumentParser):
    """Says one sentence of what is wrong, and nothing else; of an option that there is none of, the nearest one."""

    def error(self, message):
        unknown = re.search(r"unrecognized arguments: (--\S+)", message)
        near = get_close_matches(unknown[1], self._option_string_actions, 1) if unknown else []
        self.exit(2, f"{self.prog}: {message}{f'; did you mean {near[0]}?' if near else ''}\n")
