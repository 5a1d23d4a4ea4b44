"""A student's own texts as a teacher grades them: rows of tokens, toned by how much likelier or rarer the teacher holds
each, and below a token what the teacher would have written there.
"""

from collections.abc import Sequence

from sim.experiments.distilled import Written
from sim.worlds import tinylm
from sim.worlds.tasks import HELD, Chain
from sim.worlds.tinylm import EOS, FINAL
from widgets.frame.drawing import scene, vocabulary

SHOWN, DRAWN_BY = HELD[[1, 4, 0]], 1  # the prompts in the picture, and what their texts are drawn by
FIRST, TOP, APART = 2.9, 1.2, 2.05  # in squares: where the tokens begin, the first row, from row to row
WALL = FIRST + Chain.T * scene.WORD
WIDE = WALL + 2.9  # room for the verdict at the right
STEPS = (0.5, 1.5, 3.0, 5.0)  # nats from which on a grade has a tone, and a darker one
NEVER = 1e-4  # a token of less is drawn in none of some thousand texts
LEGEND = "[above-2] likelier to the teacher, [below-2] less likely; below: what the teacher would write"
Place = tuple[int, int]


def role(grade: float) -> str:
    """How a grade is toned."""
    step = sum(abs(grade) >= at for at in STEPS)
    return vocabulary.toned(step if grade > 0 else -step)


def word(token: int) -> str:
    return "Final:" if token == FINAL else tinylm.word(token)


def verdict(text: Written) -> str:
    """Of a text: correct, wrong, or that it holds no answer."""
    if text.right:
        return "correct"
    return "wrong" if FINAL in text.tokens and text.tokens[-1] == EOS else "no answer"


def wanted(text: Written) -> list[tuple[int, int]]:
    """[(place, what the teacher would write there)]"""
    return list(enumerate(text.wanted[: len(text.tokens)]))


def silenced(texts: Sequence[Written]) -> Place | None:
    """(row, place) of the last text that stops where the teacher would go on to the answer, which is never drawn."""
    at = [
        (row, len(text.tokens) - 1)
        for row, text in enumerate(texts)
        if text.tokens[-1] == EOS and text.wanted[-1] == FINAL and text.chance[-1] < NEVER
    ]
    return at[-1] if at else None


def view(key: str, texts: Sequence[Written], ringed: Place | None, words: str) -> scene.View:
    """The texts to the prompts SHOWN below each other; `ringed` is the (row, place) of the last token of one of them,
    at which `words` are said.
    """
    bottom = TOP + APART * len(texts) - 0.25
    taught = next((i for i, text in enumerate(texts) if any(text.tokens[p] != w for p, w in wanted(text))), None)
    marks = [
        scene.word("add up", (0, 0.75), "head"),
        scene.word("student writes", (FIRST, 0.75), "head"),
        scene.word("likelier,", (WALL - 7.6, 0.75), "followed", "end"),
        scene.word("less likely to the teacher", (WALL - 0.15, 0.75), "against", "end"),
        scene.wall((WALL, 0.3), bottom - 0.3),
    ]
    for i, (text, example) in enumerate(zip(texts, SHOWN.tolist(), strict=True)):
        y, outcome = TOP + APART * i, verdict(text)
        squares = [(word(token), role(grade)) for token, grade in zip(text.tokens, text.grade)]
        marks += [
            scene.word(" ".join(f"{example:04}"), (0, y + 0.66), "strong"),
            scene.tokens(f"{key}{i}", [squares], Chain.T, (FIRST, y), wide=True),
            scene.word("teacher:" if i == taught else "", (FIRST - 0.25, y + 1.5), "", "end", f"{key}{i}t"),
            scene.word(
                "" if ringed and i == ringed[0] else outcome,
                (WALL + 0.25, y + 0.66),
                "sum yes" if text.right else "sum no",
                key=f"{key}{i}v",
            ),
        ]
        for place in range(Chain.T):
            differs = place < len(text.tokens) and text.tokens[place] != text.wanted[place]
            middle = (FIRST + scene.WORD * place + (scene.WORD - 0.1) / 2, y + 1.5)
            below = word(text.wanted[place]) if differs else ""
            marks.append(scene.word(below, middle, "", "middle", f"{key}{i}w{place}"))
    row, place = ringed or (0, 0)
    at, size = (FIRST + scene.WORD * place, TOP + APART * row), (scene.WORD - 0.1, 1.0)
    marks.append(scene.ring(f"{key}r", at, words, ringed is not None, size, side="right"))
    alt = "; ".join(f"{' '.join(map(word, text.tokens))}, {verdict(text)}" for text in texts)
    return scene.view(key, WIDE, bottom, f"What the student writes: {alt}.", *marks)
