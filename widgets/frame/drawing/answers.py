"""Completions of MODSUM as shown in a scene: rows of tokens with their reward and their sum."""

from collections.abc import Callable, Sequence

from sim.experiments import rare_token
from sim.words import counted
from sim.worlds import modsum
from widgets.frame.drawing import scene

FIRST, TOP = 2.0, 1.8  # where the tokens begin, in squares
WIDE = FIRST + modsum.T + 1.9  # room for the sum on the right
BELOW = 1.05  # room for the words of a ring below
SHORT = 8  # tokens per row if two columns stand side by side
COUNTED = ("none", "one", "two", "three", "four", "five", "six", "seven", "all")


Row = list[tuple[str, str]]


def judged(tokens: Sequence[int], prompt: int) -> Row:
    """[(text, role)] for one completion, marked correct or wrong as a whole."""
    color, stop = ("yes", "stop") if rare_token.is_right(tokens, prompt) else ("no", "astray")
    return [("stop", stop) if token == modsum.EOS else (str(token + 1), color) for token in tokens]


def row(tokens: Sequence[int], prompt: int) -> Row:
    """The same, but in a wrong completion the token that went on after a correct sum is marked."""
    if rare_token.is_right(tokens, prompt):
        return judged(tokens, prompt)
    past = missed(tokens, prompt)
    return [
        ("stop", "astray")
        if token == modsum.EOS
        else (str(token + 1), "no" if past is None or i < past else "rival" if i == past else "after")
        for i, token in enumerate(tokens)
    ]


def missed(tokens: Sequence[int], prompt: int) -> int | None:
    """The index of the first token written when the sum was already correct: the stop was missed there."""
    sums = rare_token.running_sums(tokens)
    target = modsum.TARGETS[prompt]
    went_on = (i for i, total in enumerate(sums) if total % modsum.MODULUS == target and tokens[i] != modsum.EOS)
    return next(went_on, None)


def right(written: Sequence[Sequence[int]], prompt: int) -> int:
    return sum(rare_token.is_right(tokens, prompt) for tokens in written)


def view(
    key: str,
    title: str,
    written: Sequence[Sequence[int]],
    prompt: int,
    role: str = "",
    legend: bool = False,
    longest: int = modsum.T,
    spelled: Callable[[Sequence[int], int], Row] = row,
) -> scene.View:
    """The rows below their title; `legend` adds what a stop looks like. Only the first `longest` tokens of a row are
    drawn, so that it can take less room than the limit.
    """
    many, bottom, limited = len(written), TOP + len(written), longest == modsum.T
    wide = WIDE if limited else FIRST + longest + 1.4
    sign = wide - (5.3 if limited else 3.5)
    marks = [
        scene.word(title, (0, 0.55), "strong", key=f"{key}t"),
        scene.word("reward", (0, 1.4), "head"),
        scene.word("completion", (FIRST, 1.4), "head"),
        scene.tokens(key, [spelled(tokens, prompt)[:longest] for tokens in written], longest, (FIRST, TOP)),
    ]
    if limited:
        marks += [
            scene.word(f"{modsum.T} at most", (FIRST + modsum.T - 0.1, 1.4), "head", "end"),
            scene.wall((FIRST + modsum.T, 0.95), bottom - 0.95),
        ]
    if legend:
        marks += [
            scene.tokens(f"{key}g", [[("stop", "stop")]], 1, (sign, -0.1)),
            scene.word("is a stop", (sign + 1.1, 0.55), "head"),
        ]
    for i, tokens in enumerate(written):
        paid = rare_token.is_right(tokens, prompt)
        ended = tokens[-1] == modsum.EOS
        total = rare_token.running_sums(tokens)[-1]
        color = "yes" if paid else "no"
        marks += [
            scene.word(str(int(paid)), (0.8, TOP + i + 0.66), f"reward {color}", "middle", f"{key}p{i}"),
            scene.word(
                f"{'… ' * (len(tokens) > longest)}= {total}" if ended else "no stop" if limited else "…",
                (FIRST + min(len(tokens), longest) + 0.2, TOP + i + 0.66),
                f"sum {color}",
                key=f"{key}s{i}",
            ),
        ]
    if spelled is row:
        marks.append(no_stop(f"{key}b", written, prompt))
    rows = "; ".join("".join("123"[token] if token < modsum.EOS else " stop" for token in tokens) for tokens in written)
    alt = f"{title}: {COUNTED[right(written, prompt)]} of {many} answers correct: {rows}."
    return scene.view(key, wide, bottom + BELOW, alt, *marks, role=role)


def no_stop(key: str, written: Sequence[Sequence[int]], prompt: int) -> scene.Mark:
    """A ring where the last row that went on should have stopped, if at most one row is correct."""
    went_on = [(i, place) for i, tokens in enumerate(written) if (place := missed(tokens, prompt)) is not None]
    if not went_on or right(written, prompt) > 1:
        return scene.ring(key, (FIRST, TOP), "", False)
    i, place = went_on[-1]
    digits = [token + 1 for token in written[i][:place]]
    words = f"{' + '.join(map(str, digits))} = {sum(digits)}: no stop"
    return scene.ring(key, (FIRST + place, TOP + i), words)


def around_rewards(view: scene.View, words: str) -> scene.View:
    """The same rows with a ring around all of their rewards if there are words for it."""
    rows = view["high"] - TOP - BELOW
    ring = scene.ring(f"{view['key']}w", (0.25, TOP), words, bool(words), (1.15, rows))
    return view | dict(marks=[*view["marks"], ring])


def unpaid(view: scene.View) -> scene.View:
    """The same rows before anyone has graded them: without rewards."""
    marks = [mark | dict(text="–") if "reward" in mark.get("role", "").split() else mark for mark in view["marks"]]
    return view | dict(marks=marks)


def next_token(key: str, title: str, probability: Sequence[float], rival: int) -> scene.View:
    """A hundred samples at one position: the stop, one digit that may take its place, and the others."""
    stop, instead = float(probability[modsum.EOS]), float(probability[rival])
    name, rest = str(rival + 1), max(0, 100 - int(hundredths(stop)) - int(hundredths(instead)))
    return scene.view(
        key,
        7.1,
        5.65,
        f"{title}: of a hundred draws {hundredths(stop)} stop and {hundredths(instead)} write a {name}.",
        scene.word(title, (0, 0.55), "strong", key=f"{key}t"),
        scene.hundred(key, [("followed", stop), ("rest", 1 - stop - instead), ("against", instead)], (0, 0.95)),
        scene.word(hundredths(stop), (5, 2.1), "count yes", key=f"{key}s"),
        scene.word("stop", (5, 2.7), "head"),
        scene.word(counted(rest, "other"), (5, 3.5), "head", key=f"{key}o"),
        scene.word(hundredths(instead), (5, 4.6), "count against", key=f"{key}r"),
        scene.word(f"write a {name}", (5, 5.2), "head", key=f"{key}w"),
    )


def hundredths(probability: float) -> str:
    return f"{100 * probability:.0f}"
