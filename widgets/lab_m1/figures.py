"""The scenes of M1: a hundred dots in four piles while ten draws push them, and where fifty runs end under five
settings.
"""

from functools import cache

from sim.lab import arms
from widgets.frame.drawing import piles, scene
from widgets.frame.drawing.marks import Panel
from widgets.frame.drawing.small_figures import Figure, Handle, Time

SEED, RATE, DRAWS = 7, 0.4, 10
WITH, WITHOUT = "b is the mean of earlier rewards", "b is always 0"
BASELINES = {WITH: arms.running_mean, WITHOUT: arms.no_baseline}
WIDE = 18.0  # in squares, of each view of the scene
COLUMNS = (0.0, 3.0, 8.2, 12.6, WIDE)  # of the log: draw, arm, reward, b, A
FIRST, LINE = 1.75, 0.79  # of its rows: the first one, and the pitch

# ── where runs end ──
RUNS, STEPS, LOW = 50, 200, 0.7
SETTINGS = (  # name, baseline, what is added to each reward
    ("b is 0", arms.no_baseline, 0.0),
    ("b is the mean", arms.running_mean, 0.0),
    ("b is 0, 10 added", arms.no_baseline, 10.0),
    ("b is the mean, 10 added", arms.running_mean, 10.0),
    ("b begins as the first reward, 10 added", arms.warm_running_mean, 10.0),
)
LEFT, RIGHT, BROAD, PITCH = 1.3, 10.5, 18.4, 2.6  # of the second scene, in squares: its heaps, its width, its rows
ROOM = (17, 17, 36)  # dots in a row: of both heaps, and of all fifty before it is known where they end


@cache
def pushes(which: str) -> tuple[arms.Push, ...]:
    return arms.pushes(SEED, RATE, BASELINES[which], DRAWS)


def many(which: str, draw: int) -> list[int]:
    """How many of a hundred dots each arm has after so many draws."""
    return piles.hundredths(pushes(which)[draw - 1].after if draw else pushes(which)[0].before)


def owners(which: str, draw: int) -> list[int]:
    """The arm of each dot; as many as possible stay at each draw."""
    owned = [arm for arm, n in enumerate(many(which, 0)) for _ in range(n)]
    for t in range(1, draw + 1):
        owned = piles.moved(owned, many(which, t))
    return owned


def signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−") if value else "0"


def plain(value: float) -> str:
    return f"{value:.2f}" if value % 1 else f"{value:.0f}"


def policy(which: str, draw: int) -> scene.View:
    """The four piles; the arm that was drawn last has a ring."""
    last = pushes(which)[draw - 1].arm if draw else -1
    counts = many(which, draw)
    marks = [scene.word("the policy: of a hundred draws, each arm gets", (0, 0.55), "strong")]
    for arm, n in enumerate(counts):
        y = piles.TOP + piles.ROW * arm
        marks += [
            scene.word(f"arm {arm + 1}", (0, y + 0.6), "strong"),
            scene.word(str(n), (WIDE, y + 0.75), "count", "end", key=f"pn{arm}"),
        ]
    roles = ["followed" if arm == last else "rest" for arm in range(len(counts))]
    marks.append(scene.piles("p", owners(which, draw), roles, (piles.DOTS, piles.TOP), piles.ROW))
    place, size = (piles.DOTS, piles.TOP + piles.ROW * max(last, 0)), (25 * piles.DOT, 2 * piles.DOT)
    marks.append(scene.ring("pr", place, "this arm was drawn", draw > 0, size, "above", "look"))
    said = ", ".join(f"arm {arm + 1} {n}" for arm, n in enumerate(counts))
    return scene.view("p", WIDE, piles.TOP + piles.ROW * len(counts) - 0.2, f"Of a hundred draws: {said}.", *marks)


def log(which: str, draw: int) -> scene.View:
    """What each draw so far was: the arm, its reward, the baseline and their difference."""
    marks = []
    heads = ("draw", "arm", "reward", "b", "A = reward − b")
    for head, x in zip(heads, COLUMNS, strict=True):
        marks.append(scene.word(head, (x, 0.55), "strong", "end" if x == WIDE else "start"))
    for t, push in enumerate(pushes(which), 1):
        y = FIRST + LINE * (t - 1)
        cells = (str(t), str(push.arm + 1), plain(push.reward), plain(push.baseline), signed(push.advantage))
        for i, (cell, x) in enumerate(zip(cells, COLUMNS, strict=True)):
            text = cell if i == 0 or t <= draw else ""
            role = "strong" if t == draw else "head" if i == 0 else ""
            marks.append(scene.word(text, (x, y), role, "end" if x == WIDE else "start", key=f"l{t}c{i}"))
    alt = f"The log has {draw} of {DRAWS} draws." if draw else "The log is empty."
    return scene.view("l", WIDE, piles.TOP + piles.ROW * len(arms.PAY) - 0.2, alt, *marks)


def pushed(which: str, draw: int) -> list[Panel]:
    return [scene.scene("Ten draws push four piles", "a dot is a hundredth", policy(which, draw), log(which, draw))]


def told(which: str, draw: int) -> str:
    """What the last draw did to its own pile."""
    if not draw:
        return "Nothing has been drawn. Each arm has 25 of a hundred."
    push, (before, after) = pushes(which)[draw - 1], (many(which, t) for t in (draw - 1, draw))
    a, b = before[push.arm], after[push.arm]
    moved = f"has {b} instead of {a} of a hundred" if a != b else f"keeps its {a} of a hundred"
    return f"Draw {draw}: A is {signed(push.advantage)}, and arm {push.arm + 1} {moved}."


@cache
def ends(setting: int) -> list[float]:
    """The expected reward, without what was added, at the end of each run."""
    _, baseline, added = SETTINGS[setting]
    return [float(j) for j in arms.ends(range(RUNS), RATE, baseline, STEPS, added)]


def low(setting: int) -> int:
    """How many of the fifty runs end below LOW."""
    return sum(j < LOW for j in ends(setting))


def ended(shown: int) -> list[Panel]:
    """Fifty dots for each of the first `shown` settings, in two heaps."""
    marks = [
        scene.word(f"ends below {LOW}", (LEFT, 0.55), "head"),
        scene.word(f"ends at {LOW} or above", (RIGHT, 0.55), "head"),
    ]
    for i, (name, *_) in enumerate(SETTINGS):
        y, seen = 1.2 + PITCH * i, i < shown
        marks.append(scene.word(name, (LEFT, y + 0.5), "strong"))
        for key, n, x in (("l", low(i), LEFT), ("h", RUNS - low(i), RIGHT)):
            marks.append(scene.word(str(n) if seen else "", (x - 0.2, y + 1.25), "", "end", key=f"e{key}{i}"))
        dots = [0 if j < LOW else 1 for j in sorted(ends(i))] if seen else [2] * RUNS
        at = [(LEFT, y + 0.75), (RIGHT, y + 0.75), (LEFT, y + 0.75)]
        marks.append(scene.heaps(f"e{i}d", dots, ["against", "followed", "rest"], at, ROOM))
    said = [f"{name}: {low(i)} of {RUNS} end below {LOW}" for i, (name, *_) in enumerate(SETTINGS[:shown])]
    alt = "; ".join(said) + "." if said else "No setting is uncovered."
    view = scene.view("e", BROAD, 1.2 + PITCH * len(SETTINGS), alt, *marks)
    return [scene.scene("Where fifty runs end", "a dot is a run", view)]


def counted(shown: int) -> str:
    if not shown:
        return "A dot will be the end of one run of 200 pushes."
    name = SETTINGS[shown - 1][0]
    return f"With “{name}”, {low(shown - 1) or 'none'} of these fifty runs end below {LOW}."


FIGURES = {
    "piles": Figure(
        pushed,
        arms.pushes,
        Handle("Baseline", tuple(BASELINES)),
        told,
        Time(
            "draws",
            tuple(range(DRAWS + 1)),
            ("before the first draw", *(f"draw {t} of {DRAWS}" for t in range(1, DRAWS + 1))),
            ticks={0: "start", 5: "5", 10: "10"},
            milliseconds=1100,
        ),
        stills=((0, 10), (1, 10)),
    ),
    "ends": Figure(
        ended,
        arms.ends,
        None,
        counted,
        Time(
            "settings that are uncovered",
            tuple(range(len(SETTINGS) + 1)),
            ("none is uncovered", *(f"{i} of 5 are uncovered" for i in range(1, 6))),
            milliseconds=1100,
        ),
        stills=((0, 5),),
    ),
}
