"""The hundred sums of two digits as a table, a cell a sum, toned by how often it is answered rightly."""

from collections.abc import Sequence

from widgets.frame.drawing import scene, vocabulary

PITCH, LEFT, TOP = 1.0, 1.6, 1.6
STEPS = (0.1, 0.5, 0.8, 0.95)  # from here on a sum is a tone darker
WIDE, HIGH = LEFT + 10 * PITCH, TOP + 10 * PITCH + 1.2


def role(chance: float, lost: float) -> str:
    return vocabulary.toned(-3 if chance < lost else sum(chance >= step for step in STEPS))


def view(key: str, alt: str, chances: Sequence[float], lost: float, ringed: int | None, words: str) -> scene.View:
    """`ringed` is the sum that is pointed at, ten times its first digit and its second."""
    marks = [scene.word("first digit in rows, second in columns", (0, 0.55), "head")]
    marks += [scene.word(str(n), (LEFT + PITCH * n + 0.3, TOP - 0.3), "head") for n in range(10)]
    for n in range(10):
        y = TOP + PITCH * n
        marks.append(scene.word(str(n), (0.6, y + 0.65), "head"))
        row = [role(chance, lost) for chance in chances[10 * n : 10 * n + 10]]
        marks.append(scene.parts(f"{key}{n}p", row, (LEFT, y), PITCH))
    first, second = divmod(ringed or 0, 10)
    marks.append(
        scene.ring(
            f"{key}r",
            (LEFT + PITCH * second, TOP + PITCH * first),
            words,
            ringed is not None,
            (0.92, 0.9),
            anchor="start" if second < 4 else "end",
        )
    )
    return scene.view(key, WIDE, HIGH, alt, *marks)
