"""Completions as a map: how long to the right, how good upward, the start's in the middle, the region that people like
better than the start, the policies that went somewhere, and arrows along which reward models rise.
"""

from collections.abc import Sequence

import numpy as np

from sim.experiments import many_reward_models
from widgets.frame.drawing import scene

LEFT, RIGHT, LOW, HIGH = -3.4, 6.6, -2.3, 6.4  # standard deviations of the start that are drawn
SCALE, HEAD = 1.1, 1.1  # squares a standard deviation, and room above
WIDE, TALL = SCALE * (RIGHT - LEFT), HEAD + SCALE * (HIGH - LOW)
HALF = 1.1774  # half of a normal cloud's completions lie within so many standard deviations; closed form
REACH = 3.0  # standard deviations: how long an arrow is drawn
LEGEND = "rings: half of the completions; arrows: the direction in which reward models rise"


def place(length: float, quality: float) -> scene.Place:
    """Where on the view; what lies beyond it stands at its rim."""
    across, up = np.clip(length, LEFT + 0.3, RIGHT - 0.3), np.clip(quality, LOW + 0.3, HIGH - 0.3)
    return float(SCALE * (across - LEFT)), float(HEAD + SCALE * (HIGH - up))


def liked() -> list[scene.Place]:
    """The rim of the region where gold is above 0, an ellipse, as far as it is drawn. Closed form."""
    world = many_reward_models.world()
    height = 1 / (2 * world.kq) + world.c**2 / (2 * world.kappa) + (world.kq + world.kappa) / 2
    turn = np.linspace(0, 2 * np.pi, 73)
    quality = 1 / world.kq + np.sqrt(2 * height / world.kq) * np.cos(turn)
    length = world.c / world.kappa + np.sqrt(2 * height / world.kappa) * np.sin(turn)
    return [(SCALE * (across - LEFT), HEAD + SCALE * (HIGH - up)) for across, up in zip(length, quality.clip(max=HIGH))]


def view(
    key: str,
    alt: str,
    arrows: Sequence[tuple[float, float]],
    clouds: Sequence[tuple[float, float]] = (),
    spots: Sequence[tuple[float, float, str]] = (),
    own: bool = False,
    named: str = "",
) -> scene.View:
    """`arrows` (length, quality) are directions from the start; `clouds` and `spots` (length, quality[, role]) are
    policies, drawn as rings or as points; `own` adds the direction in which people's liking rises at the start;
    `named` names the first cloud.
    """
    marks = [
        scene.outline(liked()),
        scene.word("↑ better", (0, 0.75), "head"),
        scene.word("longer →", (WIDE, TALL - 0.15), "head", "end"),
        scene.word("people like", (place(3.85, 0)[0], HEAD + 0.6)),
        scene.word("these", (place(3.85, 0)[0], HEAD + 1.25)),
        scene.word("start", (place(0, -HALF)[0], place(0, -HALF)[1] + 0.6), "", "middle"),
        scene.oval(f"{key}start", place(0, 0), SCALE * HALF, "rest"),
    ]
    marks += [scene.oval(f"{key}c{i}", place(*cloud), SCALE * HALF, "followed") for i, cloud in enumerate(clouds)]
    if clouds:
        marks.append(name_of_cloud(f"{key}cw", clouds[0], arrows, named))
        marks.append(scene.word("arrows: reward models", (WIDE, place(0, -HALF)[1] - 0.35), "", "end"))
    for i, (length, quality) in enumerate(arrows):
        marks.append(scene.needle(f"{key}n{i}", place(0, 0), turned(length, quality), SCALE * REACH, "followed"))
    if own:
        marks.append(scene.needle(f"{key}own", place(0, 0), turned(1, 1), SCALE * REACH, "against"))
        across, down = place(REACH * np.sqrt(0.5), REACH * np.sqrt(0.5))
        marks.append(scene.word("people’s own", (across + 0.2, down - 0.3), "against"))
    marks += [scene.oval(f"{key}p{i}", place(*spot[:2]), 0.2, spot[2], True) for i, spot in enumerate(spots)]
    return scene.view(key, WIDE, TALL, alt, *marks)


def name_of_cloud(key: str, cloud: tuple[float, float], arrows: Sequence[tuple[float, float]], text: str) -> scene.Mark:
    """Above the ring of a policy, or at its left where the arrows that it follows are steep."""
    x, y = place(*cloud)
    steep = any(quality > 2 * length for length, quality in arrows)
    at = (x - SCALE * HALF - 0.2, y + 0.2) if steep else (x, y - SCALE * HALF - 0.3)
    return scene.word(text, at, "followed", "end" if steep else "middle", key)


def turned(length: float, quality: float) -> float:
    """Degrees clockwise from the right, as a page turns."""
    return float(-np.degrees(np.arctan2(quality, length)))


ROW, TOKENS = 13.0, 200  # squares that the longest completion takes, and its tokens
BESIDE, BELOW = ROW + 0.4, 5.2  # how wide and high `typical` is


def typical(key: str, tokens: float, ringed: bool, words: str) -> list[scene.Mark]:
    """A typical completion as a bar as long as it is, below that of the start; `words` stand at its ring."""
    long = ROW * min(tokens, TOKENS) / TOKENS
    return [
        scene.word("typical answer, at first: 40 tokens", (0, 0.75), "head"),
        scene.bar(f"{key}b", (0, 1.05), ROW * 40 / TOKENS, "given", 0.5),
        scene.word("now:", (0, 2.55), "head"),
        scene.word(f"{tokens:.0f} tokens", (1.7, 2.55), "strong", key=f"{key}w"),
        scene.bar(f"{key}n", (0, 2.95), long, "written", 0.5),
        scene.ring(f"{key}r", (0, 2.9), words, ringed, (long, 0.6)),
    ]
