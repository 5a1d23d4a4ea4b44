"""The small figures of lesson 10: one batch, the clip, five ways to weigh a token, one rare token's story as it is
written, tokens on a rail of their ratio, several passes with a ratio that is always 1; and the ruin of a model that
stands on the front page.
"""

from functools import cache

import numpy as np

from sim.estimators import surrogate, token_weight
from sim.experiments import batch_reuse, deleted_line, rare_token, running_batch
from sim.words import counted
from sim.worlds import modsum, tinylm
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
    right = ("wrong", "right")
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
    "log-prob": "Log-probability when it was drawn: 0 is certain, −1.78 is one in six.",
    "advantage": "Advantage: the reward less what was to be expected at that token.",
    "ratio": "Ratio after four passes: how many times as likely as when it was drawn.",
    "push left": "Push that the clip leaves in the fifth pass: up, down or none.",
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
        dots([1.0], [-A], "when drawn", series),
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
    "REINFORCE": "Every token is pushed by its advantage, however far it has moved.",
    "ratio": "A token counts as often as it has become likely, without end.",
    "PPO": "The push ends at 1 + ε if wanted, at 1 − ε if unwanted, and the token is silent from there.",
    "CISPO": "The weight ends at 1 + ε, the push does not: no token falls silent.",
    "GSPO": "One ratio for the completion: here the seventh root, the other six tokens have not moved.",
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
        dots([1.0], [1.0], "when drawn", series),
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
    """How many times as likely the 3 has become; it moves on with the clip too, carried by other tokens."""
    clipped, free = (story(eps).rare / story(eps).rare[0] for eps in (0.2, np.inf))
    x = np.arange(rare_token.PASSES + 1)
    return [
        panel(
            "Ratio of the rare 3",
            "by pass, logarithmic",
            line(x, free, "without a clip", 1),
            line(x, clipped, "with the clip", 8, "reference"),
            label(rare_token.PASSES, 45, f"without: ×{free[-1]:.0f}", 1, "right"),
            label(rare_token.PASSES, 2.6, f"with: ×{clipped[-1]:.1f}", 8, "right"),
            x="pass",
            x_range=(0, rare_token.PASSES),
            y_range=(0.5, 300),
            log="y",
        )
    ]


# ── the same story as it is written, pass by pass ──
PASSES = tuple(range(rare_token.PASSES + 1))
SETTINGS = ("with the clip", "without it")


def setting(name):
    return story(0.2 if name == SETTINGS[0] else np.inf)


def written_anew(name, i):
    first_rows, rows = setting(name).written[0], setting(name).written[i]
    at = "before the first pass" if i == 0 else f"after pass {i}"
    return [
        scene.scene(
            "One batch, sixteen passes over it",
            "what the model writes for one of its prompts, eight answers, anew after each pass",
            answers.view("a", "before the first pass", first_rows, rare_token.PROMPT, "before"),
            answers.view("n", at, rows, rare_token.PROMPT, legend=True),
            [
                answers.next_token("h", "At a sum of 5, before", setting(name).following[0], rare_token.RARE),
                answers.next_token("m", "At a sum of 5, now", setting(name).following[i], rare_token.RARE),
            ],
            given="Write ones, twos and threes that add up to 5, 12, 19, …, then stop.",
        )
    ]


def seen(name, i):
    passes = setting(name)
    stops, threes = answers.hundredths(passes.stop[i]), answers.hundredths(passes.rare[i])
    right = answers.COUNTED[answers.right(passes.written[i], rare_token.PROMPT)]
    return (
        f"At a sum of 5 it stops {stops} times in 100; {counted(threes, 'time')} it goes on with a 3. "
        f"{right.capitalize()} of eight right."
    )


# ── tokens on a rail of their ratio ──
LOW, HIGH = np.log(0.6), np.log(1.5)  # ends of a rail
RAIL, LONG = 1.0, 16.0  # where it begins, and how long it is, in squares
EPS_RAIL = 0.2
WANTED, UNWANTED = (0, 1), (1, 0)  # (row, place): a token that one step carries past the bound; one without a push
BOUNDS = ((0.8, "20 % rarer", ""), (1.0, "as drawn", "zero"), (1.2, "20 % likelier", ""))


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
    words = "one step, past the bound" if jumped else "no push left, still carried" if drifts else ""
    return [
        scene.scene(
            "One token on a rail of its ratio",
            "thick: its own push, as far as the next step takes it; thin: the other tokens'; dotted: no push left",
            scene.view(
                "v",
                18,
                4.5,
                f"{token} at {far(place, i)} times its probability, {push} a push.",
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
        return "As drawn its ratio is 1. The arrows are the next step: together they say where the token goes."
    if not dead:
        return f"At {far(place, i)} times its probability it still has a push of its own."
    before = far(place, first - 1 if place == WANTED else first)
    if place == WANTED:
        return f"One step took it from {before} to {far(place, first)}: the clip ends the next push, not this step."
    return (
        f"Without a push since pass {first}, it has gone from {before} to {far(place, i)}: the other tokens carry it."
    )


def beads(i):
    """Every token of the batch, a row of it below the other."""
    marks, y = [], 2.2
    for row, tokens in enumerate(running_batch.ROWS):
        name = "right" if running_batch.RIGHT[row] else "wrong"
        marks.append(scene.word(f"{name}:", (0, y - 0.25), "head"))
        for t in range(len(tokens)):
            y += 1.0
            marks += on_rail(f"a{row}{t}", (row, t), i, y - 0.3, others=False)
        y += 0.8
    return [
        scene.scene(
            "All fourteen tokens of the batch",
            "each with its own push alone; dotted: no push left",
            scene.view("v", 18, y + 0.7, f"{silent(i)} of 14 tokens have no push left.", *posts(y - 0.6), *marks),
        )
    ]


def silent(i):
    return int(carried()[i].dead.sum())


def fallen_silent(i):
    return (
        f"{silent(i)} of 14 tokens have no push left; the others still move all of them."
        if i
        else "Every token pushes."
    )


# ── the ratio forgotten ──
SEEDS = range(5)
SEES = {
    batch_reuse.CLIP: "With the clip",
    batch_reuse.FREE: "Without it",
    batch_reuse.FORGOTTEN: "With old log-probs computed anew in every pass, every ratio is 1 and no token falls "
    "silent:",
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
            "Right answers of the language model",
            f"of 100 sums; {len(SEEDS)} seeds, four passes, AdamW at 0.02",
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
    return f"{SEES[way]} the runs end with {low:.0f} to {high:.0f} right."


# ── a model that learns sums, with one line of the loss deleted ──
LINE = ("kept", "deleted")
BEFORE, RUINED, UPDATES = 2, 4, 20  # the updates that stand side by side at rest
LOOKED = (*range(9), 10, 12, 14, 16, 18, UPDATES)
ANSWER, VERDICT, LETTERS = 2.5, 7.3, 14  # in squares: where an answer and its verdict begin; letters that fit between
TOP = 1.3


@cache
def sums(name):
    return deleted_line.run(name == "deleted", UPDATES)


def as_text(tokens):
    """What a completion reads like, the stop as its sign; a long one is cut off."""
    text = "".join("■" if token == tinylm.EOS else tinylm.TEXT[token] for token in tokens).strip()
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…"


def answered(key, title, update, role="", words=""):
    """Eight sums, each with what the model answers; a ring around all answers where there are words to say of them."""
    n = len(update.rows)
    marks = [scene.word(title, (0, 0.55), "strong", key=f"{key}t")]
    for i, (pair, tokens, right) in enumerate(zip(deleted_line.SUMS, update.rows, update.right)):
        y, color = TOP + i + 0.66, "yes" if right else "no"
        marks += [
            scene.word(f"{pair // 10} + {pair % 10} =", (0, y), "strong"),
            scene.word(as_text(tokens), (ANSWER, y), f"answer {color}", key=f"{key}a{i}"),
            scene.word("right" if right else "wrong", (VERDICT, y), f"sum {color}", key=f"{key}v{i}"),
        ]
    marks.append(scene.ring(f"{key}r", (ANSWER - 0.1, TOP), words, bool(words), (VERDICT - ANSWER - 0.1, n)))
    rows = (f"{pair // 10} + {pair % 10} = {as_text(row)}" for pair, row in zip(deleted_line.SUMS, update.rows))
    alt = f"{title}: {answers.COUNTED[sum(update.right)]} of {n} sums right: {'; '.join(rows)}."
    return scene.view(key, VERDICT + 1.6, TOP + n + 1.2, alt, *marks, role=role)


def ruined(name, i):
    """Whether hardly any of the hundred sums is right, and the model had learned more than half of them."""
    return sums(name)[i].pass_rate < 0.01 and sums(name)[BEFORE].pass_rate > 0.5


def deleted(name, i):
    update = sums(name)[i]
    return [
        scene.scene(
            "A language model learns sums. One line of its training can be deleted.",
            "eight sums of a hundred, asked again after each update",
            answered("b", f"after {BEFORE} updates", sums(name)[BEFORE], "before"),
            answered("n", after(i), update, words="no sum is right any more" if ruined(name, i) else ""),
        )
    ]


def after(i):
    return "before training" if i == 0 else f"after {counted(i, 'update')}"


def how_many(name, i):
    many, before = (answers.COUNTED[sum(sums(name)[at].right)] for at in (i, BEFORE))
    if ruined(name, i):
        return (
            f"{before.capitalize()} of the eight were right after {BEFORE} updates. Now {many} is, and none comes back."
        )
    return f"{after(i).capitalize()} {many} of the eight {'is' if many in ('none', 'one') else 'are'} right."


DELETED = Figure(
    deleted,
    deleted_line.run,
    Handle("One line of the loss", LINE, start=1, words=LINE),
    how_many,
    Time(
        "Update",
        LOOKED,
        tuple(after(i) for i in LOOKED),
        start=LOOKED.index(RUINED),
        ticks={at: str(i) for at, i in enumerate(LOOKED) if i in (0, 2, 4, 6, 8, 12, 16, 20)},
        strip=Strip(
            "Right, of 100 sums",
            lambda: [[sums(name)[i].pass_rate for i in LOOKED] for name in LINE],
            lambda name, i: answers.hundredths(sums(name)[i].pass_rate),
        ),
        holds={0: 1200, 2: 1800, 3: 1500, 4: 2400},
    ),
    stills=((0, LOOKED.index(UPDATES)),),
)


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
    written_anew,
    rare_token.passes,
    Handle("Run", SETTINGS, start=1),
    seen,
    over_passes(
        rare_token.PASSES,
        Strip(
            "Right, of 100",
            lambda: [setting(name).pass_rate for name in SETTINGS],
            lambda name, i: answers.hundredths(setting(name).pass_rate[i]),
        ),
        {1: 900, 2: 1500, 3: 2400},
    ),
    stills=((1, 3), (0, rare_token.PASSES)),
)
EPSILONS = tuple(np.round(np.arange(0.05, 1.0001, 0.05), 2).tolist())
FIGURES = {
    "opening": OPENING,
    "deleted": DELETED,
    "batch": Figure(
        written, running_batch.passes, Handle("In each cell", tuple(SAID), start=0, words=tuple(SAID)), SAID.get
    ),
    "clip": Figure(
        clip,
        surrogate.clipped,
        Handle("Clip range", EPSILONS, start=3, words=tuple(f"{eps:.2f}" for eps in EPSILONS), symbol="ε"),
        lambda eps: f"A wanted token is let go at ρ = {1 + eps:.2f}, an unwanted one at {1 - eps:.2f}.",
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
            Strip("Without a push, of 14", lambda: [[silent(i) / 14 for i in PASSES]], lambda i: str(silent(i))),
            {},
        ),
        stills=((0, 2),),
    ),
    "growth": Figure(growth, rare_token.passes),
    "forgotten": Figure(
        passes_on_sums,
        batch_reuse.pass_rates,
        Handle("The loss has", batch_reuse.WAYS, start=2, words=batch_reuse.WAYS),
        ended,
    ),
}
