"""Nouns and verbs after a number, "1 hole is open" and "3 holes are open", and the first letter of a sentence: grammar,
not a model.

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
