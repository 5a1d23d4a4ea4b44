"""The small figures of lesson 10: one batch, the clip, five ways to weigh a token, one rare token's story as it is
written, tokens on a rail of their ratio, several passes with a ratio that is always 1; and the ruin of a model that
stands on the front page.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from sim.estimators import surrogate, token_weight
from sim.experiments import batch_reuse, rare_token, running_batch
from sim.words import counted
from sim.worlds import modsum
from widgets.frame.drawing import answers, scene
from widgets.frame.drawing.marks import by_update, cell, dots, each_run, grid, label, line, panel, region
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time
from widgets.frame.drawing.written import signed

NAMES = ("1", "2", "3", "stop")
FAR = 3.0
RATIO = np.linspace(0.0, FAR, 121)


@cache
def start():
    return modsum.Policy()


@cache
def passes(n):
    return tuple(running_batch.passes(n))


# ── the batch ──
def written(quantity):
    """The grid's cells hold the chosen quantity of every token."""
    last = passes(4)[-1]
    logp, A = running_batch.drawn_logp(start()), running_batch.advantage(start())
    text_and_tone = {
        "log-prob": lambda at: (signed(logp[at]), float(np.exp(logp[at]))),
        "advantage": lambda at: (signed(A[at]), float(A[at])),
        "ratio": lambda at: (f"×{last.ratio[at]:.2f}", float(np.clip(np.log(last.ratio[at]) / np.log(4), -1, 1))),
        "push left": lambda at: ("none", None) if last.dead[at] else push(A[at]),
    }[quantity]
    right = ("wrong", "correct")
    rows = [
        [
            right[int(reward)],
            [cell(NAMES[token], *text_and_tone((i, t))) for t, token in enumerate(row)],
            f"sum {total} · reward {reward:.0f}",
        ]
        for i, (row, reward, total) in enumerate(zip(running_batch.ROWS, running_batch.RIGHT, running_batch.sums()))
    ]
    return [grid(rows, diverging=quantity != "log-prob")]


def push(advantage):
    return ("↑ up" if advantage > 0 else "↓ down", float(advantage) / 2)


SAID = {
    "log-prob": "The log-probability when the token was sampled: 0 means certain, and −1.78 means one in six.",
    "advantage": "The advantage: the reward minus the reward that the critic expected before the token.",
    "ratio": "The ratio after four passes: the probability now divided by the probability when the token was sampled.",
    "push left": "The push that the clip leaves for the fifth pass: up, down or none.",
}


# ── the clip ──
def clip(eps):
    return [side(eps, 1.0, 1, "A = +1, wanted", "pushed up"), side(eps, -1.0, 2, "A = −1, unwanted", "pushed down")]


def side(eps, A, series, title, words):
    """Loss of one token against its ratio: alive, dead, and what it would be without a clip."""
    ratio = np.unique([*RATIO, 1 - eps, 1 + eps])

    def loss(ratio):
        return -np.minimum(ratio * A, np.clip(ratio, 1 - eps, 1 + eps) * A)

    dead = surrogate.removed(ratio, A, eps, eps)
    edge = 1 + eps if A > 0 else 1 - eps
    alive = ratio[~dead]
    silent = np.array([edge, FAR]) if A > 0 else np.array([0.0, edge])
    low, high = (-3.3, 0.6) if A > 0 else (-0.6, 3.3)
    return panel(
        title,
        "loss of one token",
        region(1 - eps, 1 + eps),
        line(ratio, -ratio * A, "without a clip", 8, "other"),
        line(alive, loss(alive), words, series),
        line(silent, loss(silent), "no push left", 8, "dead"),
        dots([1.0], [-A], "when sampled", series),
        label(*((0.12, 0.22) if A > 0 else (1.75, 2.2)), words, series, "left" if A > 0 else "right"),
        label(
            *((FAR, float(loss(FAR)) + 0.08, "no push left", 8, "right") if A > 0 else (0.06, 1.0, "no push left", 8))
        ),
        label(FAR, -2.75 if A > 0 else 0.1, "without a clip" if A > 0 else "", 8, "right"),
        x="ratio ρ",
        x_range=(0, FAR),
        y_range=(low, high),
    )


# ── five weights ──
WEIGHTS = {
    "REINFORCE": "Every token is pushed by its advantage, no matter how far it has moved.",
    "ratio": "A token that is three times as likely counts three times as much, without a limit.",
    "PPO": "The push ends at 1 + ε for a wanted token and at 1 − ε for an unwanted token.",
    "CISPO": "The weight stops growing at 1 + ε, but the push goes on, so no token falls silent.",
    "GSPO": "The completion has one ratio: here the seventh root, because the other six tokens have not moved.",
}
TOKENS, EPS, SEEN = 7, 0.2, 4.0


def weigh(name, ratio, A):
    return token_weight.WEIGHTS[name](ratio, A, EPS, TOKENS)


def weights(name):
    return [
        weight(name, 1.0, 1, "A = +1, wanted", "weight of the token's gradient, ε = 0.2"),
        weight(name, -1.0, 2, "A = −1, unwanted", "weight of the token's gradient, downward"),
    ]


def weight(name, A, series, title, note):
    ratio = np.unique([*np.linspace(0.001, SEEN, 161), 0.8, 0.8 - 1e-6, 1.2, 1.2 + 1e-6, 1.2**7, 1.2**7 + 1e-6])
    return panel(
        title,
        note,
        region(1 - EPS, 1 + EPS),
        *(line(ratio, weigh(other, ratio, A), other, 8, "other") for other in WEIGHTS if other != name),
        line(ratio, weigh(name, ratio, A), name, series),
        dots([1.0], [1.0], "when sampled", series),
        label(3.0, float(weigh(name, np.array([3.0]), A)[0]), name, series, "center"),
        x="ratio ρ of the token",
        x_range=(0, SEEN),
        y_range=(-0.2, 4.2),
    )


# ── the story of the 3 ──
@cache
def story(eps):
    return rare_token.passes(eps)


def growth():
    """What the batch credits in all at the place of the 3, while the 3 takes its probability from the stop."""
    rare, stop = (float(p) for p in (story(np.inf).rare[0], story(np.inf).stop[0]))
    three = np.unique([*np.linspace(0.0, rare + stop, 121), 1.2 * rare])
    ratios = three / rare, (rare + stop - three) / stop
    free, clipped = (ratios[0] + 4 * ratios[1], np.minimum(ratios[0], 1.2) + 4 * np.minimum(ratios[1], 1.2))
    return [
        panel(
            "Credit of the 3 and of the four stops",
            "sum of ρA, logarithmic",
            line(three, free, "without the clip", 1),
            line(three, clipped, "with the clip", 8, "reference"),
            label(0.98, 118, "without the clip", 1, "right"),
            label(0.62, 2.1, "with the clip", 8, "right", below=True),
            x="probability of the 3",
            x_range=(0, 1),
            y_range=(0.8, 300),
            log="y",
        )
    ]


# ── the same 3 on a line of its ratio, a hop a pass, both settings below each other ──
PASSES = tuple(range(rare_token.PASSES + 1))
SETTINGS = ("with the clip", "without it")
GATE, FARTHEST, SHOWN = 1.2, 150.0, 5  # the bound of the clip, the end of the line, the answer that is shown
BEAD = 0.72  # squares from a line up to the middle of the token on it


def setting(name):
    return story(0.2 if name == SETTINGS[0] else np.inf)


def hops(name):
    """The ratio of the 3 before the first pass and after each."""
    passes = setting(name)
    return passes.rare / passes.rare[0]


def pushes(name, i):
    """How many of the first `i` passes pushed the 3: the clip takes the push from it where it stands past the gate."""
    return int(np.sum(hops(name)[:i] <= (GATE if name == SETTINGS[0] else np.inf)))


@dataclass(frozen=True)
class Form:
    """Where things stand, in squares: with room for the whole width of a page, or on a phone."""

    key: str
    role: str
    wide: float
    line: tuple[float, float]  # from the ratio of 1 to FARTHEST
    row: float  # where the answer begins
    lanes: tuple[float, float]  # the tops of both settings
    rail: float  # from there to its line
    ticks: tuple[int, ...]

    def x(self, ratio):
        start, end = self.line
        return start + (end - start) * float(np.log(ratio) / np.log(FARTHEST))


FORMS = (
    Form("w", "roomy", 34.0, (1.6, 31.0), 4.3, (0.4, 8.1), 5.3, (2, 5, 10, 20, 50, 100)),
    Form("p", "narrow", 13.6, (0.7, 11.3), 0.0, (0.0, 8.9), 6.3, (10, 100)),
)


def opening(i):
    return [
        scene.scene(
            "One rare token, sixteen passes over its batch",
            "its probability, in multiples of the probability when sampled",
            *(both(form, i) for form in FORMS),
        )
    ]


def both(form, i):
    """The two settings in one form of the picture."""
    bottom = form.lanes[1] + form.rail
    marks = [*lane(form, SETTINGS[0], i), *lane(form, SETTINGS[1], i)]
    for ratio in (1, *form.ticks):
        marks += [
            scene.post((form.x(ratio), bottom), 0.25, "zero"),
            scene.word("1" if ratio == 1 else f"×{ratio}", (form.x(ratio), bottom + 0.9), "", "middle"),
        ]
    words = "the 3: times as likely as when it was sampled"
    marks.append(scene.word(words, (form.x(1) - 0.2, bottom + 1.75)))
    return scene.view(form.key, form.wide, bottom + 2.0, described(i), *marks, role=form.role)


def lane(form, name, i):
    """One setting: what the model writes, and below it the line on which the 3 stands after pass `i`."""
    clip = name == SETTINGS[0]
    key, role = form.key + ("c" if clip else "f"), "followed" if clip else "against"
    top, ratio = form.lanes[not clip], hops(name)
    base, x = top + form.rail, form.x(ratio[i])
    phone = form.role == "narrow"
    if clip:
        high = 3.5 if not phone else 3.6
        yield scene.bar("", (form.x(GATE), base - high), form.wide - form.x(GATE), "past", high)
        yield scene.post((form.x(GATE), base - high), high)
        yield scene.word(f"gate at ×{GATE}", (form.x(GATE) + 0.35, base - high + 0.75))
    yield scene.word(name, (0, top + 0.66), f"strong name {'yes' if clip else 'against'}")
    yield from answer(form, key, name, i, top)
    yield scene.rail((form.x(1) - 0.6, base), form.wide - form.x(1) + 0.6)
    landed = max(n for n in PASSES[: i + 1] if n == 0 or pushes(name, n) > pushes(name, n - 1))
    for n in range(1, rare_token.PASSES + 1):
        start, end = form.x(ratio[n - 1]), form.x(ratio[n])
        if pushes(name, n) > pushes(name, n - 1) and end - start > 0.5:
            tall = min(0.3 * (end - start) + 0.8, 2.5 if not phone else 1.9)
            yield scene.hop(f"{key}h{n}", (start, base), (end, base), tall, role, n == landed if clip else n <= i)
    yield scene.bead(f"{key}b", (x, base - BEAD), "3", "stop" if clip else "rival", 1.3)
    number = f"×{ratio[i]:.2f}" if ratio[i] < 10 else f"×{ratio[i]:.0f}"
    if clip:
        back = form.x(ratio[landed]) - x
        yield scene.arrow(f"{key}a", (x + back + 12 / 26, base + 0.1), min(8 / 26 - back, 0.0), "others")
        beside, after = (form.x(3.4), 3.1) if not phone else (form.x(4), 2.7)
        yield scene.word(number, (beside, base - 0.85), "count", key=f"{key}n")
        past = "past the gate: no push" if phone else "past the gate: no more push"
        where = "" if i == 0 else past if ratio[i] > GATE else "below the gate: pushed"
        yield scene.word(where, (beside + after, base - 1.3), "strong", key=f"{key}g")
        yield scene.word(pushed(name, i), (beside + after, base - 0.5), key=f"{key}p")
        below = (form.x(3.0), base + 0.75) if not phone else (form.x(1), base + 1.15)
        yield scene.word("the other tokens pull it back" if back > 0.3 else "", below, key=f"{key}o")
    else:
        yield scene.word(number, (x + 0.85, base - 0.6), "count", key=f"{key}n")
        words = "" if i < 3 else "three pushes, each stronger"
        place = (form.x(29), base - 0.6) if not phone else (form.wide / 2, base - 2.9)
        yield scene.word(words, place, "strong", "middle", key=f"{key}p")


def pushed(name, i):
    return f"{counted(pushes(name, i), 'push', 'pushes')} in {counted(i, 'pass', 'passes')}" if i else ""


def answer(form, key, name, i, top):
    """What the model writes now, and what comes of it; a ring around what follows a missed stop."""
    tokens = setting(name).written[i][SHOWN]
    ended, missed = tokens[-1] == modsum.EOS, answers.missed(tokens, rare_token.PROMPT)
    phone = form.role == "narrow"
    at = (form.row, top + (1.25 if phone else 0))
    yield scene.tokens(f"{key}t", [answers.row(tokens, rare_token.PROMPT)], modsum.T, at)
    lost = not ended and missed is not None
    words = "" if lost else f"stops at {total(tokens)}: reward {rare_token.is_right(tokens, rare_token.PROMPT):.0f}"
    if phone:
        yield scene.word(words, (form.wide, top + 0.66), "", "end", key=f"{key}v")
    else:
        yield scene.word(words, (at[0] + len(tokens) + 0.4, top + 0.66), "", key=f"{key}v")
    past = at[0] + (missed or 0) + 0.1
    size = (modsum.T - (missed or 0) - 0.2, 0.9)
    said = "never stops: reward 0" if lost else ""
    side = dict(side="close", anchor="middle") if phone else dict(side="right")
    yield scene.ring(f"{key}r", (past, at[1]), said, lost, size, **side)


def total(tokens):
    return sum(token + 1 for token in tokens if token != modsum.EOS)


def described(i):
    """The picture in words."""
    if i == 0:
        return "Before the first pass the 3 stands at 1 with the clip and without it, and the model stops at 5."
    clip, free = (f"{hops(name)[i]:.3g}" for name in SETTINGS)
    row = setting(SETTINGS[1]).written[i][SHOWN]
    ends = f"stops at {total(row)}" if row[-1] == modsum.EOS else "never stops"
    return (
        f"After {counted(i, 'pass', 'passes')} the 3 is {clip} times as likely as when it was sampled with the clip, "
        f"and {free} times without it. With the clip the model stops at 5, without it the model {ends}."
    )


# ── tokens on a rail of their ratio ──
LOW, HIGH = np.log(0.6), np.log(1.5)  # ends of a rail
RAIL, LONG = 1.0, 16.0  # where it begins, and how long it is, in squares
EPS_RAIL = 0.2
WANTED, UNWANTED = (0, 1), (1, 0)  # (row, place): a token that one step carries past the bound; one without a push
BOUNDS = ((0.8, "20 % less", ""), (1.0, "as sampled", "zero"), (1.2, "20 % more", ""))


@cache
def carried():
    return tuple(running_batch.carried(rare_token.PASSES, EPS_RAIL))


def across(log_ratio):
    return RAIL + LONG * (float(log_ratio) - LOW) / (HIGH - LOW)


def posts(bottom):
    """The two bounds and where all begins: the ratio and what it means."""
    for value, words, role in BOUNDS:
        x = across(np.log(value))
        yield scene.word(f"{value:g}", (x, 0.55), "strong", "middle")
        yield scene.word(words, (x, 1.15), "", "middle")
        yield scene.post((x, 1.4), bottom - 1.4, role)


def on_rail(key, place, i, y, others=True):
    """A token at its ratio, its own push above its middle, and what all other tokens do to it below."""
    step, wanted = carried()[i], running_batch.advantage(start())[place] > 0
    direction = "up" if wanted else "down"
    x, unit = across(np.log(step.ratio[place])), LONG / (HIGH - LOW)
    token = running_batch.ROWS[place[0]][place[1]]
    yield scene.rail((RAIL, y), LONG)
    yield scene.arrow(f"{key}o", (x, y), unit * float(step.own[place]), f"own {direction}")
    if others:
        yield scene.arrow(f"{key}t", (x, y), unit * float(step.others[place]), "others")
    yield scene.bead(f"{key}b", (x, y), NAMES[token], "silent" if step.dead[place] else direction)


def far(place, i):
    return f"{carried()[i].ratio[place]:.2f}"


COUNTS = ("a wanted 3", "an unwanted 1")


def bead(token, i):
    place = WANTED if token == COUNTS[0] else UNWANTED
    step = carried()[i]
    x = across(np.log(step.ratio[place]))
    jumped = place == WANTED and step.dead[place] and not carried()[i - 1].dead[place]
    drifts = place == UNWANTED and i >= 4
    push = "without" if step.dead[place] else "with"
    words = "past the bound" if jumped else "no push left, still moving" if drifts else ""
    return [
        scene.scene(
            "The ratio of one token, pass by pass",
            "thick arrow: its own push in the next step; thin arrow: that of the other tokens; dotted: no push left",
            scene.view(
                "v",
                18,
                4.5,
                f"{token} at {far(place, i)} times its probability, {push} a push of its own.",
                *posts(3.3),
                *on_rail("a", place, i, 2.4),
                scene.ring("r", (x - 0.46, 1.94), words, bool(words), role="look", anchor="middle"),
            ),
        )
    ]


def carried_on(token, i):
    place = WANTED if token == COUNTS[0] else UNWANTED
    dead, first = carried()[i].dead[place], next(n for n, step in enumerate(carried()) if step.dead[place])
    if i == 0:
        return (
            "Before the first pass, the ratio is 1. The two arrows together show where the next step takes the token."
        )
    if not dead:
        return f"The ratio is {far(place, i)}, and the token still has a push of its own."
    before = far(place, first - 1 if place == WANTED else first)
    if place == WANTED:
        return f"One step took it from {before} to {far(place, first)}. The clip ends the next push, not this step."
    return (
        f"It has had no push since pass {first}, but the other tokens have carried it from {before} to {far(place, i)}."
    )


def beads(i):
    """Every token of the batch, a row of it below the other."""
    marks, y = [], 2.2
    for row, tokens in enumerate(running_batch.ROWS):
        name = "correct" if running_batch.RIGHT[row] else "wrong"
        marks.append(scene.word(f"{name}:", (0, y - 0.25), "head"))
        for t in range(len(tokens)):
            y += 1.0
            marks += on_rail(f"a{row}{t}", (row, t), i, y - 0.3, others=False)
        y += 0.8
    return [
        scene.scene(
            "All fourteen tokens of the batch",
            "arrow: its own push in the next step; dotted: no push left",
            scene.view("v", 18, y + 0.7, f"{silent(i)} of 14 tokens have no push left.", *posts(y - 0.6), *marks),
        )
    ]


def silent(i):
    return int(carried()[i].dead.sum())


def fallen_silent(i):
    return (
        f"{silent(i)} of 14 tokens have no push left, but the other tokens still move them."
        if i
        else "Before the first pass, every token has a push of its own."
    )


# ── the ratio forgotten ──
SEEDS = range(5)
SEES = {
    batch_reuse.CLIP: "With the clip",
    batch_reuse.FREE: "Without the clip",
    batch_reuse.FORGOTTEN: "If the old log-probs are recomputed in every pass, so that every ratio is 1",
}


@cache
def reused(way):
    """(updates, pass rates (seeds, updates))."""
    runs = [batch_reuse.pass_rates(way, seed) for seed in SEEDS]
    return [step for step, _ in runs[0]], np.array([[rate for _, rate in run] for run in runs])


def passes_on_sums(way):
    steps, rates = reused(way)
    means = {other: 100 * reused(other)[1].mean(axis=0) for other in SEES if other != way}
    late = 100 * rates[:, [step >= 40 for step in steps]]
    low = late.max() < 40  # the name stands above all five runs, or below them where there is no room
    return [
        by_update(
            "Correct answers of the language model",
            "of 100 sums; five seeds, four passes, AdamW at 0.02",
            *(line(steps, mean, other, 8, "other") for other, mean in means.items()),
            each_run(steps, 100 * rates),
            line(steps, 100 * rates.mean(axis=0), way),
            *(label(steps[-1], mean[-1], other, 8, "right", below=mean[-1] > 20) for other, mean in means.items()),
            label(steps[-1], late.max() + 2 if low else late.min() - 2, way, 1, "right", below=not low),
            updates=steps[-1],
            y_range=(0, 104),
        )
    ]


def ended(way):
    low, high = 100 * reused(way)[1][:, -1].min(), 100 * reused(way)[1][:, -1].max()
    return f"{SEES[way]}, the five runs end with {low:.0f} to {high:.0f} of 100 sums correct."


AGAIN = "Passes over this batch"


def over_passes(start, strip, holds):
    """The time of a scene that goes through the sixteen passes."""
    return Time(
        "Pass",
        PASSES,
        tuple(f"pass {i} of {rare_token.PASSES}" for i in PASSES),
        start=start,
        ticks={i: str(i) for i in PASSES[::2]},
        strip=strip,
        holds=holds,
    )


OPENING = Figure(
    opening,
    rare_token.passes,
    None,
    None,
    replace(over_passes(rare_token.PASSES, None, {0: 900, 1: 1300, 2: 1000, 3: 1800, 8: 1000, 9: 1300}), label=AGAIN),
    stills=((0, 1), (0, 3)),
)
EPSILONS = tuple(np.round(np.arange(0.05, 1.0001, 0.05), 2).tolist())
FIGURES = {
    "opening": OPENING,
    "batch": Figure(
        written, running_batch.passes, Handle("Content of each cell", tuple(SAID), start=0, words=tuple(SAID)), SAID.get
    ),
    "clip": Figure(
        clip,
        surrogate.clipped,
        Handle("Clip range", EPSILONS, start=3, words=tuple(f"{eps:.2f}" for eps in EPSILONS), symbol="ε"),
        lambda eps: (
            f"A wanted token loses its push above ρ = {1 + eps:.2f}, and an unwanted token below ρ = {1 - eps:.2f}."
        ),
    ),
    "weights": Figure(
        weights, token_weight.ppo, Handle("Weight", tuple(WEIGHTS), start=2, words=tuple(WEIGHTS)), WEIGHTS.get
    ),
    "bead": Figure(
        bead,
        running_batch.carried,
        Handle("Token", COUNTS, start=0, words=COUNTS),
        carried_on,
        over_passes(2, None, {2: 1500, 4: 1200}),
        stills=((1, 9),),
    ),
    "beads": Figure(
        beads,
        running_batch.carried,
        None,
        fallen_silent,
        over_passes(
            rare_token.PASSES,
            Strip("Tokens without a push, of 14", lambda: [[silent(i) / 14 for i in PASSES]], lambda i: str(silent(i))),
            {},
        ),
        stills=((0, 2),),
    ),
    "growth": Figure(growth, rare_token.passes),
    "forgotten": Figure(
        passes_on_sums,
        batch_reuse.pass_rates,
        Handle("Variant of the loss", batch_reuse.WAYS, start=2, words=batch_reuse.WAYS),
        ended,
    ),
}
