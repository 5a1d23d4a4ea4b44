"""The scene of M0.5: eight completions of each of forty prompts, and which one a picker chooses among the first few."""

from functools import cache

from sim.lab import packs, selection
from sim.verifiers import checkers
from widgets.frame.drawing import picks, scene
from widgets.frame.drawing.marks import Panel
from widgets.frame.drawing.small_figures import Figure, Handle, Time
from widgets.lab_m05.editable import PICKERS, SIZES


@cache
def table(picker: str) -> tuple[selection.Picked, ...]:
    """What a picker reports and what is correct, for each number of samples."""
    return selection.table(selection.first_best, PICKERS[picker], SIZES)


def rows(picker: str, sampled: int) -> list[picks.Row]:
    """Each prompt with its pick among the first samples."""
    found = table(picker)[SIZES.index(sampled)]
    out = []
    for example, row, why, pick in zip(packs.examples(), packs.rollouts(), packs.reasons(), found.ids, strict=True):
        correct = [reason == "ok" for reason in why]
        answer = {"expected_answer": example.expected_answer}
        paid = checkers.reward_of(PICKERS[picker], answer, row[pick].completion)[0] > 0
        state = "unrewarded" if not paid else "fair" if correct[pick] else "fooled"
        wrong = "wrong number" if why[pick] == "wrong_value" else "wrong form"
        word = {"fair": "", "fooled": wrong, "unrewarded": "no reward"}[state]
        out.append(picks.Row(example.expected_answer, correct, pick, row[pick].completion, state, word))
    return out


def counts(picker: str, sampled: int) -> tuple[int, int]:
    """(picks that are reported as correct, picks that are correct)."""
    found = table(picker)[SIZES.index(sampled)]
    return round(found.reported), found.right


def trays(picker: str, sampled: int) -> list[Panel]:
    """The scene after so many samples for each prompt."""
    reported, right = counts(picker, sampled)
    many = len(packs.examples())
    alt = (
        f"{many} prompts with {samples(sampled)}; the picker “{picker}” chooses one for each. "
        f"{reported} picks are reported as correct, and {right} are correct."
    )
    numbers = scene.counts(
        "c",
        (f"{reported} of {many}", "picks reported as correct", "broken" if reported > right else ""),
        (f"{right} of {many}", "picks correct", ""),
    )
    drawing = picks.view("p", alt, rows(picker, sampled), sampled)
    return [scene.scene("Forty prompts, one pick for each", "filled: correct; ringed: the pick", [numbers, drawing])]


def samples(many: int) -> str:
    return "one sample each" if many == 1 else f"{many} samples each"


def said(picker: str, sampled: int) -> str:
    """What the picker reports, and what is correct."""
    reported, right = counts(picker, sampled)
    among = "With one sample" if sampled == 1 else f"Among {sampled} samples"
    if reported == right:
        return f"{among} for each prompt, {reported} picks are reported as correct, and all of them are."
    return f"{among} for each prompt, {reported} picks are reported as correct, but only {right} are."


FIGURES = {
    "trays": Figure(
        trays,
        selection.table,
        Handle("Picker", tuple(PICKERS), words=tuple(f"picker: {name}" for name in PICKERS)),
        said,
        Time(
            "samples for each prompt",
            SIZES,
            ("1 sample", "2 samples", "4 samples", "8 samples"),
            ticks={i: str(size) for i, size in enumerate(SIZES)},
            milliseconds=1400,
        ),
        stills=((0, 3), (1, 3)),
    )
}
