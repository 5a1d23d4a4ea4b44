"""Nouns and verbs after a number, "1 hole is open" and "3 holes are open", the first letter of a sentence, seconds
in the unit that a person would choose: grammar, not a model.

f"{counted(n, 'hole')} {plural(n, 'is', 'are')} open"
"""


def plural(n: float | str, one: str, many: str = "") -> str:
    """The word that goes with a number: `one` with 1, else `many`, by default with an s. Where a number is rounded in
    the sentence `n` is its text, for the reader sees a 1.
    """
    return one if n in (1, "1") else many or f"{one}s"


def counted(n: int | str, one: str, many: str = "") -> str:
    """A number with its noun: 1 hole, 1,240 tokens, 3 tries."""
    return f"{n if isinstance(n, str) else f'{n:,}'} {plural(n, one, many)}"


def capital(text: str) -> str:
    """A text as it begins a sentence. A symbol stays as it is written: λ is not Λ, nor is k3 K3."""
    word = text.partition(" ")[0].strip(".,:;")
    symbol = not text[:1].isascii() or (len([c for c in word if c.isalpha()]) == 1 and word != "a")
    return text if symbol else text[:1].upper() + text[1:]


UNITS = ((1.0, 90.0, "second", "s"), (60.0, 5400.0, "minute", "min"), (3600.0, 172800.0, "hour", "h"))
UNITS += ((86400.0, float("inf"), "day", "d"),)  # (seconds in one, seconds up to which it is used, name, symbol)


def duration(seconds: float, to: float | None = None, between: str = "to", short: bool = False) -> str:
    """Seconds in one unit, chosen by the first number: 45 seconds, 5.1 minutes, "5 to 11 minutes", or in `short`
    "5.1 min". The two ends of a wide range are whole numbers.
    """
    size, _, name, symbol = next(unit for unit in UNITS if seconds < unit[1])
    numbers = [seconds / size] if to is None else [seconds / size, to / size]
    wide = len(numbers) == 2 and numbers[0] >= 3 and numbers[1] >= 1.5 * numbers[0]
    said = list(dict.fromkeys(f"{n:,.0f}" if wide or n >= 9.95 else f"{n:.2g}" for n in numbers))
    text = f" {between} ".join(said)
    return f"{text} {symbol if short else plural(text, name)}"
