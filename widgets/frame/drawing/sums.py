"""Sums as the tiny language model answers them: rows of tokens, and how many of a hundred answers are correct or never
stop.
"""

from collections.abc import Sequence

from sim.experiments import written_sums
from sim.experiments.written_sums import ENDLESS, RIGHT, Written
from sim.words import plural
from sim.worlds import tasks, tinylm
from widgets.frame.drawing import scene
from widgets.frame.drawing.answers import COUNTED

FIRST, TOP = 2.5, 1.8  # where the tokens begin, in squares
T = tasks.Add.T
WALL = FIRST + T * scene.WORD
WIDE = WALL + 3.1  # room for the verdict on the right
VERDICT = ("correct", "wrong", "cut off")
IN_ANSWERS = {*range(10), tinylm.FINAL, tinylm.HMM}  # the tokens of an answer, apart from the stop


def text(token: int) -> str:
    return "Final:" if token == tinylm.FINAL else "stop" if token == tinylm.EOS else tinylm.word(token)


def row(tokens: Sequence[int], kind: int) -> list[tuple[str, str]]:
    """[(text, role)] for one completion."""
    return [(text(token), role(token, kind)) for token in tokens]


def role(token: int, kind: int) -> str:
    if token == tinylm.EOS:
        return "stop" if kind == RIGHT else "astray"
    if kind == RIGHT:
        return "yes"
    return "hmm" if token == tinylm.HMM else "no" if token in IN_ANSWERS else "rival"


def view(key: str, title: str, written: Written, looked_at: bool, brief: bool = False) -> scene.View:
    """The rows below their title. If they are `looked_at`, a ring marks where the last endless one is cut off; if also
    `brief`, it stands for all endless ones.
    """
    bottom = TOP + len(written.rows)
    marks = [
        scene.word(title, (0, 0.55), "strong", key=f"{key}t"),
        *([] if brief else [scene.word("prompt", (0, 1.4), "head"), scene.word("completion", (FIRST, 1.4), "head")]),
        *([scene.word("stray tokens", (FIRST, 1.4), "against")] if brief else []),
        scene.word(f"limit: {T}" if brief else f"{T} at most", (WALL - 0.1, 1.4), "head", "end"),
        scene.tokens(f"{key}g", [[("stop", "stop")]], 1, (WALL - 6.6, -0.1)),
        scene.word("stop" if brief else "is a stop", (WALL - 5.5, 0.55), "head"),
        scene.wall((WALL, 0.95), bottom - 0.95),
        scene.tokens(key, [row(*each) for each in zip(written.rows, written.kinds)], T, (FIRST, TOP), wide=True),
    ]
    endless = [i for i, kind in enumerate(written.kinds) if kind == ENDLESS]
    ringed = endless[-1] if endless and looked_at else None
    for i, (example, kind) in enumerate(zip(written_sums.SUMS, written.kinds)):
        marks += [
            scene.word(f"{example // 10} + {example % 10} =", (0, TOP + i + 0.66), "strong"),
            scene.word(
                "" if i == ringed or (brief and looked_at and kind == ENDLESS) else VERDICT[kind],
                (WALL + 0.25, TOP + i + 0.66),
                "sum yes" if kind == RIGHT else "sum no",
                key=f"{key}v{i}",
            ),
        ]
    place = (WALL - scene.WORD, TOP + (ringed or 0))
    marks.append(scene.ring(f"{key}r", place, "no stop", ringed is not None, (scene.WORD, 1), side="right"))
    sequences = "; ".join(" ".join(text(token) for token in tokens) for tokens in written.rows)
    right, cut = (COUNTED[written.kinds.count(kind)] for kind in (RIGHT, ENDLESS))
    alt = f"{title}: {right} of {len(written.rows)} answers correct, {cut} cut off: {sequences}."
    return scene.view(key, WIDE, bottom + 0.25, alt, *marks)


def of_a_hundred(key: str, title: str, written: Written, named: bool = True) -> scene.View:
    """A hundred answers: correct, wrong but stopped, cut off; the counts are not `named` if another hundred
    names them.
    """
    right, wrong, endless = (float(share) for share in written.shares)
    are = plural(count(right), "is", "are")
    return scene.view(
        key,
        8.2,
        5.75,
        f"{title}: of a hundred answers {count(right)} {are} correct and {count(endless)} cut off.",
        scene.word(title, (0, 0.55), "strong", key=f"{key}t"),
        scene.hundred(key, [("followed", right), ("rest", wrong), ("against", endless)], (0, 0.95)),
        scene.word(count(right), (5, 2.1), "count yes", key=f"{key}y"),
        scene.word("correct" if named else "", (5, 2.7), "head"),
        scene.word(count(endless), (5, 4.6), "count against", key=f"{key}e"),
        scene.word("cut off" if named else "", (5, 5.2), "head"),
    )


def one_share(key: str, title: str, share: float, name: str, named: bool = True) -> scene.View:
    """A hundred answers, a share of which is `name`: correct or solved; the count is not `named` if another hundred
    names it.
    """
    return scene.view(
        key,
        8.4,
        5.75,
        f"{title}: of a hundred {count(share)} {plural(count(share), 'is', 'are')} {name}.",
        scene.word(title, (0, 0.55), "strong", key=f"{key}t"),
        scene.hundred(key, [("followed", share), ("rest", 1 - share)], (0, 0.95)),
        scene.word(count(share), (5, 2.1), "count yes", key=f"{key}y"),
        scene.word(name if named else "", (5, 2.7), "head"),
    )


def count(share: float) -> str:
    return f"{100 * share:.0f}"
