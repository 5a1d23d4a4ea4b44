"""The scene of M0: thirty completions on their way through eleven checks, and what the checks hold of all 240."""

from collections import Counter

from sim.lab import packs
from sim.worlds import scorer
from widgets.frame.drawing import gates, scene
from widgets.frame.drawing.marks import Panel
from widgets.frame.drawing.small_figures import Figure, Handle, Time

NAMES = tuple(name.replace("_", " ").replace("ascii", "ASCII") for name, _, _ in scorer.CHECKS)
REASONS = {
    "bad_example": "no expected answer",
    "not_text": "not text",
    "too_long": "too long",
    "empty": "empty",
    "multi_line": "several lines",
    "forbidden_char": "other characters",
    "no_prefix": "no “Final:” first",
    "bad_int": "no integer",
    "extra_text": "more than an integer",
    "bad_spacing": "not one space",
    "non_canonical_int": "not canonical",
    "wrong_value": "wrong number",
    "ok": "",
}
POSTS = [name for name, _, _ in scorer.CHECKS]
ASKED = range(len(NAMES) + 1)
WORDS = ("no check yet", *(f"{name}: check {i} of {len(NAMES)}" for i, name in enumerate(NAMES, 1)))


def stop(reason: str) -> int:
    """The index of the check that gives this reason; the number of checks for "ok"."""
    if reason == "ok":
        return len(POSTS)
    return next(
        i for i, (_, why, _) in enumerate(scorer.CHECKS) if why == ("bad_int" if reason == "extra_text" else reason)
    )


def rows() -> list[gates.Row]:
    """Sample 0 of each dev prompt."""
    return [
        gates.Row(example.expected_answer, row[0].completion, stop(why[0]), REASONS[why[0]])
        for example, row, why in zip(packs.examples("dev"), packs.rollouts("dev"), packs.reasons("dev"), strict=True)
    ]


def held() -> list[int]:
    """How many of all 240 dev completions each check stops; at the end, how many are paid."""
    counted = Counter(stop(why) for row in packs.reasons("dev") for why in row)
    return [counted[post] for post in range(len(POSTS) + 1)]


def through(which: str, asked: int) -> list[Panel]:
    """The scene after so many checks."""
    every = which == "all 240"
    stops = held() if every else [sum(row.stop == post for row in rows()) for post in range(len(POSTS) + 1)]
    out, many = sum(stops[:asked]), sum(stops)
    end = f"{many - out} are paid." if asked == len(NAMES) else f"{many - out} are still in play."
    alt = f"{many} completions after {asked} of {len(NAMES)} checks: {out} are stopped, {end}"
    drawing = gates.view("g", alt, NAMES, rows(), asked, stops if every else (), "240 answers, eight to each prompt")
    return [scene.scene("Thirty answers, eleven checks", "a thread ends where an answer is stopped", drawing)]


def counted(which: str, asked: int) -> str:
    """How many are stopped so far, and where most of them are."""
    stops = (
        held() if which == "all 240" else [sum(row.stop == post for row in rows()) for post in range(len(POSTS) + 1)]
    )
    many, out = sum(stops), sum(stops[:asked])
    if asked < len(NAMES):
        return f"{out} of {many} are stopped, and {many - out} are still in play."
    form = out - stops[POSTS.index("value")]
    return (
        f"{many - out} of {many} are paid. Of the {out} others, {form} were stopped before their number was compared "
        f"with the expected one."
    )


FIGURES = {
    "gates": Figure(
        through,
        scorer.score,
        Handle("Completions", ("the first of each prompt", "all 240")),
        counted,
        Time(
            "checks",
            tuple(ASKED),
            WORDS,
            ticks={0: "start", 4: "not empty", 7: "prefix", 11: "value"},
            milliseconds=700,
        ),
        stills=((0, 11), (1, 11)),
    )
}
