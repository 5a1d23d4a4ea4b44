"""How texts and numbers of a file are shown: as data, whatever they hold. Not a model."""

import re
import unicodedata

import numpy as np

from sim.rollouts.phrases import NUMBER, WIDE

NUMBERS = ("None", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve")
TEXT, NAME = 48, 40  # characters of a text that is quoted, and of a column's name


def number(n):
    """A count at the beginning of a sentence."""
    return NUMBERS[n] if n < len(NUMBERS) else f"{n:,}"


def figure(value):
    """A reward, a score or a weight."""
    if not np.isfinite(value):
        return "unknown"
    digits = ".1g" if 0 < abs(value) < 0.005 else ",.2f" if abs(value) < 1e6 else ".3g"
    return f"{value:{digits}}".replace("-", "−")


def short(value):
    return figure(value).removesuffix(".00")


def visible(text):
    """The text with what a screen would hide or obey, as its code: control characters, and characters that have no
    width or turn the direction of reading.
    """
    hidden = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    return "".join(
        f"⟨{ord(one):04X}⟩" if unicodedata.category(one) in hidden and one not in "\n\t" else one for one in text
    )


def on_a_line(text, most=TEXT):
    line = visible(text[: most + 1].replace("\n", " ⏎ "))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def quoted(text, most=TEXT):
    return f"“{on_a_line(text, most)}”"


def column(name):
    """The name of a column, which is text of a file as well."""
    return quoted(name, NAME)


def phrase_words(words, times):
    """An n-gram as it is read: “⏎ Final: #” at least twice."""
    line = " ".join("#" if word == NUMBER else word for word in words).replace("\n", "⏎")
    line = re.sub(rf" (?=[.,:;!?)])|(?<={WIDE}) (?={WIDE})", "", line)
    return f"{quoted(line)} at least twice" if times == 2 else quoted(line)


def pattern(words):
    """A regular expression that finds an n-gram in a text, but no word inside a longer one."""
    return re.compile(r"[^\S\n]*".join(whole(word) for word in words))


def whole(word):
    if word == NUMBER:
        return r"(?<!\d)\d+(?!\d)"
    letters = word.isalnum() and not re.fullmatch(WIDE, word)
    return rf"(?<![^\W\d_]){re.escape(word)}(?![^\W\d_])" if letters else re.escape(word)
