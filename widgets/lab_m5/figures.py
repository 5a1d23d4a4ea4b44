"""The scene of M5: one text before nine checks, eight of which can be paid for nothing."""

from sim.verifiers import checkers
from widgets.frame.drawing import doors, scene
from widgets.frame.drawing.marks import Panel
from widgets.frame.drawing.small_figures import Figure, Handle

EXPECTED = "323"
RULES = {  # of the checks of sim/verifiers/checkers.py, each in a few words
    "strict": "one exact line",
    "substring": "the number occurs",
    "last_int": "the last digits match",
    "any_line": "any line is right",
    "format_bonus": "half a point for the form",
    "eval_expr": "computes what is written",
    "verbosity": "pays for words, too",
    "float_eq": "compares as floats",
    "unicode_int": "digits of any script",
}
TEXTS = {
    "a right line": "Final: 323",
    "a wrong line": "Final: 324",
    "a guess": "I do not know. Anyway, 323",
    "a plus": "Final: +323",
    "a sum": "Final: 300+23",
}


def rewards(text: str) -> dict[str, float]:
    """What each of the nine checks pays for a text."""
    example = {"expected_answer": EXPECTED}
    return {name: checkers.reward_of(check, example, text)[0] for name, check in checkers.CHECKERS.items()}


def knocked(which: str) -> list[Panel]:
    text, paid = TEXTS[which], rewards(TEXTS[which])
    opened = [RULES[name] for name, reward in paid.items() if reward]
    alt = f"The text {text} before nine checks. It is paid by {len(opened)}: {', '.join(opened) or 'none'}."
    cells = [(name.replace("_", " "), RULES[name], reward) for name, reward in paid.items()]
    return [scene.scene("One text, nine checks", "a filled door has paid", doors.view("d", alt, EXPECTED, text, cells))]


def counted(which: str) -> str:
    paid = rewards(TEXTS[which])
    flawed = sum(reward > 0 for name, reward in paid.items() if name != "strict")
    if paid["strict"]:
        return "This answer is right, and all nine checks pay for it."
    others = f"{flawed} of the eight others {'does' if flawed == 1 else 'do'}"
    return f"The strict check pays nothing for this text, and {others}."


FIGURES = {
    "doors": Figure(knocked, checkers.report, Handle("Text", tuple(TEXTS), start=list(TEXTS).index("a plus")), counted)
}
