"""The small figures of lesson 10a: how far the news of a reward comes by its λ, a long answer and a short reach, what
reaches the first token by length, bias against noise, and a critic that took one way for another.
"""

from functools import cache

import numpy as np

from sim.estimators import chain_credit
from sim.experiments import long_answer
from widgets.frame.drawing import scene
from widgets.frame.drawing.marks import dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time
from widgets.frame.drawing.written import signed
from widgets.gae import long_answers

WAYS = ("Guess", "Sketch", "Recall", "Derive")
BEST, RIVAL = long_answer.BEST, 1
SEED = 0


def count(probability):
    return f"{100 * probability:.0f}"


# ── a thousand tokens, with two settings ──
SETTINGS = ("λ = 1", "λ = 0.95")
LONG = 1000
UPDATES = tuple(range(0, 61, 3))
LEVEL = np.full(len(WAYS), 1 / len(WAYS))


@cache
def trained(length, lam, opinion=False, rate=0.3):
    start = long_answer.CONFUSED if opinion else long_answer.NOTHING
    return tuple(long_answer.run(length, lam, lam, start, rate, "SGD", SEED))


def setting(name):
    return trained(LONG, 1.0 if name == SETTINGS[0] else 0.95)


def policy(name, update):
    return setting(name)[update - 1].policy if update else LEVEL


def landed(name, update):
    """(4, L): what that update pushes, by way and token; before training nothing."""
    return setting(name)[update - 1].push if update else np.zeros((len(WAYS), LONG))


def lanes_of(values):
    return [
        long_answers.Lane(name, name[0], values[way], f"{10 * right:.0f} in 10")
        for way, (name, right) in enumerate(zip(WAYS, long_answer.RIGHT))
    ]


def long_and_short(name, update):
    rows = lanes_of(landed(name, update))
    empty = update > 0 and arrived(name, update) > 0
    passed = "an update has passed" if update == 1 else f"{update} updates have passed"
    return [
        scene.scene(
            "Four ways to begin an answer of 1,000 tokens",
            "[above-2] pushed up by one update, [below-2] down, [level] next to nothing; the reward comes last",
            scene.view(
                "w",
                long_answers.WIDE,
                long_answers.high(len(rows)),
                f"When {passed}, the first tokens get "
                + ", ".join(f"{row.name} {signed(row.values[0])}" for row in rows)
                + ".",
                *long_answers.marks("a", rows, "correct", f"the next {LONG - 1} tokens"),
                *long_answers.tones(len(rows)),
                long_answers.first_tokens(
                    "r", range(len(rows)), "no reward has arrived" if empty else "", empty, role="broken"
                ),
            ),
            [a_hundred(policy(name, update))],
        )
    ]


def a_hundred(policy):
    best, rival, right = float(policy[BEST]), float(policy[RIVAL]), long_answer.right(policy)
    return scene.view(
        "h",
        9.0,
        7.4,
        f"Of a hundred answers {count(best)} begin with Derive and {count(rival)} with Sketch; "
        f"{count(right)} are correct.",
        scene.word("Of a hundred answers", (0, 0.55), "strong"),
        scene.hundred("d", [("followed", best), ("rest", 1 - best - rival), ("against", rival)], (0, 0.95)),
        scene.word(count(best), (5, 2.1), "count yes", key="nb"),
        scene.word("Derive", (5, 2.7), "head"),
        scene.word("two others", (5, 3.45), "head"),
        scene.word(count(rival), (5, 4.6), "count against", key="nr"),
        scene.word("Sketch", (5, 5.2), "head"),
        scene.word(f"{count(right)} are correct", (0, 6.7), "strong", key="right"),
    )


def arrived(name, update):
    """The first token, from 0 on, whose push is large enough for a tone."""
    landing = np.flatnonzero(np.abs(landed(name, update)).max(axis=0) >= long_answers.STEPS[0])
    return int(landing[0]) if len(landing) else LONG


def sentence(name, update):
    if update == 0:
        return "Before training, all four ways to begin are equally likely."
    if (first := arrived(name, update)) > 0:
        return f"No push has reached the first {first} tokens." if first < LONG else "No token is pushed."
    return f"The first tokens are pushed, and {count(policy(name, update)[BEST])} of 100 answers begin with Derive."


OPENING = Figure(
    long_and_short,
    long_answer.credit,
    Handle("Run", SETTINGS, start=1),
    sentence,
    Time(
        "Update",
        UPDATES,
        tuple(f"update {update} of 60" for update in UPDATES),
        start=len(UPDATES) - 1,
        ticks={i: str(UPDATES[i]) for i in range(0, len(UPDATES), 5)},
        strip=Strip(
            "Correct, of 100",
            lambda: [[long_answer.right(policy(name, update)) for update in UPDATES] for name in SETTINGS],
            lambda name, update: count(long_answer.right(policy(name, update))),
        ),
        milliseconds=350,
        holds={0: 1200, 1: 1200},
    ),
    stills=((0, 1), (0, 20), (1, 1)),
)


# ── twenty tokens, by λ ──
SHORT, LAMBDAS = 20, (1.0, 0.8, 0.5, 0.0)
NEWS = tuple(range(1, 25))


def by_lambda(update):
    """The answers that begin with the best way, a lane a λ."""
    rows = [
        long_answers.Lane(f"λ = {lam:g}", WAYS[BEST][0], trained(SHORT, lam)[update - 1].push[BEST]) for lam in LAMBDAS
    ]
    return [
        scene.scene(
            "Twenty tokens, rewarded at the last one",
            "what one update pushes in answers that begin with Derive: [above-2] up, [below-2] down",
            scene.view(
                "w",
                long_answers.WIDE - 3.3,
                long_answers.high(len(rows)) - 0.6,
                f"In update {update} the news of the reward reaches "
                + ", ".join(f"{tokens(lam, update)} of 20 tokens at λ = {lam:g}" for lam in LAMBDAS)
                + ".",
                *long_answers.marks("a", rows, ""),
            ),
        )
    ]


def tokens(lam, update):
    """How many of the last tokens the news of the reward has come to, up to and with this update."""
    toned = [np.abs(frame.push[BEST]) >= long_answers.STEPS[0] for frame in trained(SHORT, lam)[:update]]
    return SHORT - int(np.argmax(np.any(toned, axis=0)))


def news(update):
    if update == 1:
        return (
            f"The first reward reaches all 20 tokens at λ = 1, the last {tokens(0.8, 1)} at 0.8, the last "
            f"{tokens(0.5, 1)} at 0.5, and only the last one at 0."
        )
    slow = tokens(0.0, update)
    reached = "has reached the first token" if slow == SHORT else f"has reached the last {slow} tokens"
    return f"At λ = 0 the news {reached}. A token fades once the critic expects the reward."


# ── what reaches the first token, by length ──
RISEN = (0.5, 0.8, 0.95, 0.98, 0.998)
LENGTHS = np.unique(np.round(np.logspace(1, 4, 61)))


def reaching(lam):
    def curve(lam):
        return np.maximum([long_answer.reach(lam, length) for length in LENGTHS], 1e-12)

    half = 1 + np.log(0.5) / np.log(lam)
    return [
        panel(
            "What is left of a reward at the first token",
            "share that one update brings there; logarithmic",
            *(line(LENGTHS, curve(other), f"λ = {other:g}", 8, "other") for other in RISEN if other != lam),
            line(LENGTHS, curve(lam), f"λ = {lam:g}"),
            *([dots([half], [0.5], "half"), label(half, 0.5, f"half at {half:.0f} tokens", 1)] if half > 10 else []),
            x="tokens of the answer",
            x_range=(10, 10_000),
            y_range=(1e-8, 1.5),
            log="xy",
        )
    ]


def left(lam):
    shares = [long_answer.reach(lam, length) for length in (100, 1000)]
    short, long = ("less than a hundred-millionth" if share < 1e-8 else f"{share:.2g}" for share in shares)
    return f"At λ = {lam:g}, {short} of a reward reaches the first of 100 tokens, and {long} the first of 1,000."


# ── a critic that took one way for another ──
PAINTED = (0, *range(5, 61, 5))


def believed(update):
    return trained(100, 0.95, True, 0.05)[update - 1]


def opinion(update):
    """(4, 100): the critic's values after an update."""
    return believed(update).values if update else np.repeat(long_answer.CONFUSED[:, None], 100, axis=1)


def begins(update):
    return believed(update).policy if update else LEVEL


def expected(update):
    """How far the critic is off, a lane for each way to begin; the square is its error after the first token."""
    off = opinion(update) - long_answer.RIGHT[:, None]
    rows = [
        long_answers.Lane(name, name[0], np.append(off[way, 1], off[way, 1:]), f"{count(begins(update)[way])} of 100")
        for way, name in enumerate(WAYS)
    ]
    late = update > 0 and begins(update)[BEST] < 0.1 and abs(off[BEST, 1]) > 0.2
    return [
        scene.scene(
            "How far the critic is off",
            "[above-2] it expects too much, [below-2] too little, [level] the right amount",
            scene.view(
                "w",
                long_answers.WIDE,
                long_answers.high(len(rows)),
                f"After update {update} the critic is off by "
                + ", ".join(f"{signed(off[way, 1])} after {name}" for way, name in enumerate(WAYS))
                + ".",
                *long_answers.marks("a", rows, "how often"),
                long_answers.first_tokens(
                    "r", [BEST], "the correction comes too late" if late else "", bool(late), "look"
                ),
            ),
        )
    ]


def corrected(update):
    sketch, derive = (f"{opinion(update)[way, 1]:.2f}" for way in (RIVAL, BEST))
    if update == 0:
        return (
            f"The critic expects {sketch} after Sketch, which is correct 5 times in 10, and {derive} after Derive, "
            "which is correct 8 times."
        )
    return (
        f"After {update} updates the critic expects {sketch} after Sketch and {derive} after Derive, and "
        f"{count(begins(update)[BEST])} of 100 answers begin with Derive."
    )


# ── bias and noise of an exact chain ──
CHAIN, GRID = (8, 0.5, 5), np.linspace(0, 1, 21)
SIZES, CRITICS = (1, 4, 16, 64, 256, 512), {"perfect": 0.0, "half right": 0.5, "knows nothing": 1.0}


@cache
def errors(N, shrink):
    return np.array([chain_credit.squared_error(*CHAIN, lam, N, shrink) for lam in GRID]).T


def batch(N):
    bias, noise = errors(N, 0.5)
    both = bias + noise
    return [
        panel(
            "Squared error of a batch's mean gradient",
            "exact; a critic that is half right; logarithmic",
            line(GRID, np.maximum(bias, 1e-6), "bias²", 2),
            line(GRID, noise, "noise", 3),
            line(GRID, both, "both"),
            dots([GRID[both.argmin()]], [both.min()], "least"),
            label(0.0, bias[0], "bias²", 2),
            label(1.0, noise[-1], "noise", 3, "right"),
            x="λ",
            x_range=(0, 1),
            y_range=(1e-5, 1),
            log="y",
        )
    ]


def best_lambda(N):
    both = errors(N, 0.5).sum(axis=0)
    many = "one answer" if N == 1 else f"{N} answers"
    return f"With {many} per batch, the error is smallest at λ = {GRID[both.argmin()]:.2g}."


def noise(name):
    """The variance by λ of each critic; the chosen one with its least."""
    by_critic = {critic: errors(1, shrink)[1] for critic, shrink in CRITICS.items()}
    chosen = by_critic[name]
    return [
        panel(
            "Noise of the gradient from one answer",
            "exact variance, without the bias",
            *(line(GRID, values, other, 8, "other") for other, values in by_critic.items() if other != name),
            line(GRID, chosen, name),
            dots([GRID[chosen.argmin()]], [chosen.min()], "least"),
            *(
                label(1.0, values[-1], critic, 1 if critic == name else 8, "right")
                for critic, values in by_critic.items()
            ),
            x="λ",
            x_range=(0, 1),
            y_range=(0, 0.27),
        )
    ]


def least(name):
    values = errors(1, CRITICS[name])[1]
    best = GRID[values.argmin()]
    return f"{name.capitalize()}: the noise is smallest at λ = {best:.2g}, where it is {values.min():.4f}."


FIGURES = {
    "opening": OPENING,
    "news": Figure(
        by_lambda,
        long_answer.credit,
        None,
        news,
        Time(
            "Update",
            NEWS,
            tuple(f"update {update}" for update in NEWS),
            ticks={i: str(NEWS[i]) for i in (0, 4, 9, 14, 19, 23)},
            holds={0: 1600},
        ),
        stills=((0, 5), (0, 23)),
    ),
    "reach": Figure(
        reaching, long_answer.reach, Handle("λ", RISEN, start=2, words=tuple(f"{lam:g}" for lam in RISEN)), left
    ),
    "confused": Figure(
        expected,
        long_answer.run,
        None,
        corrected,
        Time(
            "Update",
            PAINTED,
            tuple(f"update {update} of 60" for update in PAINTED),
            start=len(PAINTED) - 1,
            ticks={i: str(PAINTED[i]) for i in range(0, len(PAINTED), 2)},
            holds={0: 1600},
        ),
        stills=((0, 0), (0, 4)),
    ),
    "batch": Figure(
        batch,
        chain_credit.squared_error,
        Handle("Answers per batch", SIZES, start=2, words=tuple(map(str, SIZES)), symbol="N"),
        best_lambda,
    ),
    "noise": Figure(
        noise, chain_credit.bias_and_variance, Handle("Critic", tuple(CRITICS), start=0, words=tuple(CRITICS)), least
    ),
}
