"""Nouns and verbs after a number, "1 hole is open" and "3 holes are open": grammar, not a model.

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
