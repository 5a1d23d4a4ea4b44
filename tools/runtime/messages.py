"""What the builder tells whoever started it: how far it is, and one sentence when it cannot go on."""

import sys
import time


class Stop(Exception):
    """The builder cannot go on; the message is the one sentence that says why and what to do."""


def say(words):
    print(words, flush=True)


class Progress:
    """How far a copy or download is, from its first second on: a line that is rewritten on a terminal, or first and
    last only.
    """

    def __init__(self, name, total=None):
        self.name, self.total, self.done = name, total, 0
        self.started = self.shown = time.monotonic()

    def add(self, size):
        self.done += size
        now = time.monotonic()
        if sys.stdout.isatty() and now - self.started > 1 and now - self.shown > 0.1:
            self.shown = now
            print(f"\r{self}", end="", flush=True)

    def close(self):
        if sys.stdout.isatty() and self.shown != self.started:
            print("\r" + " " * len(str(self)), end="\r")
        say(f"{self.name}: {megabytes(self.done)} in {time.monotonic() - self.started:.1f} s")

    def __str__(self):
        return f"{self.name}: {megabytes(self.done)}" + (f" of {megabytes(self.total)}" if self.total else "")


def megabytes(size):
    return f"{size / 1e6:.1f} MB"
