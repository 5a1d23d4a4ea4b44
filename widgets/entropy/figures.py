"""The small figures of lesson 13a: eight runs with and without what keeps them from certainty, what a bonus pushes
each way by, coins under three lower bounds, and a hundred sums after four passes a batch.
"""

from functools import cache

import numpy as np

from sim.estimators import entropy
from sim.experiments import lost_prompts, rare_prize
from sim.experiments.rare_prize import COMMON, PRIZE, UPDATES
from widgets.entropy import sum_table
from widgets.frame.drawing import runs, scene
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time
from widgets.frame.drawing.written import signed

SEED, SHOWN = 0, 8
ODDS = 200


@cache
def trained(alpha):
    """Frames of 24 runs with SGD, from before training on."""
    rng = np.random.default_rng(SEED)
    return tuple(rare_prize.run(rare_prize.prize(ODDS), alpha, 0.0, 0.2, 0.2, rare_prize.optimizer("SGD"), rng))


# ── the opening: eight runs, one prompt ──
SETTINGS = ("entropy bonus of 0.1", "no bonus")
BONUS = {SETTINGS[0]: 0.1, SETTINGS[1]: 0.0}
MOMENTS = tuple(range(0, UPDATES + 1, 5))
NAMED = (
    ("rare answer, counted below", "followed", 0),
    ("common answer", "against", 10),
    ("48 wrong answers", "", 16.2),
)
WHAT = "[against] a common answer, correct half of the time; [followed] a rare one, always; [rest] 48 others, never"


def frame(setting, moment):
    return trained(BONUS[setting])[moment]


def shares(pi):
    prize, common = float(pi[PRIZE]), float(pi[COMMON])
    return [("followed", prize), ("against", common), ("rest", 1 - prize - common)]


def opening(setting, moment):
    pi = frame(setting, moment).pi[:SHOWN]
    never_drawn = bool(pi[:, PRIZE].max() < GONE)
    return [
        scene.scene(
            "A hundred answers from each of eight runs",
            WHAT,
            runs.view(
                "o",
                f"After update {moment} the rare answer is sampled "
                + ", ".join(runs.one_in(p) for p in pi[:, PRIZE])
                + ".",
                "",
                [runs.Run(shares(one), runs.one_in(one[PRIZE])) for one in pi],
                SHOWN - 1 if never_drawn else None,
                "always correct, no longer sampled",
                NAMED,
            ),
        )
    ]


GONE = 1 / (20 * rare_prize.DRAWS)  # drawn once in more than twenty updates


def told(setting, moment):
    current = frame(setting, moment)
    if moment == 0:
        return f"Before training, one answer in {ODDS} is the rare one."
    many = int(rare_prize.found(current).sum())
    return f"{many or 'None'} of 24 runs prefer{'s' * (many == 1)} the rare answer."


OPENING = Figure(
    opening,
    rare_prize.run,
    Handle("Run", SETTINGS, start=1),
    told,
    Time(
        "Update",
        MOMENTS,
        tuple(f"update {moment} of {UPDATES}" for moment in MOMENTS),
        start=len(MOMENTS) - 1,
        ticks={i: str(moment) for i, moment in enumerate(MOMENTS) if moment % 10 == 0},
        strip=Strip(
            "Correct, of 100",
            lambda: [[float(frame(setting, moment).right.mean()) for moment in MOMENTS] for setting in SETTINGS],
            lambda setting, moment: f"{100 * frame(setting, moment).right.mean():.0f}",
        ),
        holds={0: 1500},
    ),
    stills=((0, 0), (0, len(MOMENTS) - 1)),
)

# ── what a bonus pushes each way by ──
WHENS = (0, 5, 20, 60)


def middle(update):
    """(50,) the policy of the middle run after an update without a bonus, by the chance of the prize."""
    pi = trained(0.0)[update].pi
    return pi[np.argsort(pi[:, PRIZE])[len(pi) // 2]]


NAMES, ZERO, SCALE, FAR = 0.0, 14.0, 7.0, 24.4  # in squares: the names, no push, a push of 1, the numbers


def pushed(update):
    slope = entropy.bonus(middle(update))
    others = float(slope.sum() - slope[PRIZE] - slope[COMMON])
    rows = [
        ("the common way", "against", float(slope[COMMON])),
        ("the prize", "followed", float(slope[PRIZE])),
        ("48 others, together", "rest", others),
    ]
    marks = [scene.post((ZERO, 0.2), 4.6, "zero")]
    for i, (name, role, push) in enumerate(rows):
        y, wide = 0.6 + 1.5 * i, SCALE * abs(push)
        marks.append(scene.word(name, (NAMES, y + 0.65), "strong"))
        marks.append(scene.bar(f"b{i}", (ZERO - wide if push < 0 else ZERO, y), wide, role, 0.9))
        marks.append(scene.word(signed(push, 4), (FAR, y + 0.65), "", "end", key=f"n{i}"))
    pushes = ", ".join(f"{name} {signed(push, 4)}" for name, _, push in rows)
    return [
        scene.scene(
            "How hard a bonus pushes each way",
            "slope of the entropy; to the left: down, to the right: up",
            scene.view("p", FAR, 5.0, f"Pushes: {pushes}.", *marks),
        )
    ]


def share_of_push(update):
    """Of all that the bonus pushes up, the part that the prize gets."""
    slope = entropy.bonus(middle(update))
    return float(slope[PRIZE] / slope[slope > 0].sum())


def pushed_said(update):
    slope, pi = entropy.bonus(middle(update)), middle(update)
    return f"The prize has a probability of {runs.one_in(pi[PRIZE])}, and the bonus pushes it by {slope[PRIZE]:.2g}."


# ── coins ──
LOWER = (0.1, 0.2, 1.0)
COIN_UPDATES, COIN_RATE = 150, 4.0


@cache
def coins(eps_low):
    """The last frame of 24 runs."""
    world, rng = rare_prize.coins(), np.random.default_rng(SEED)
    training = rare_prize.run(
        world, 0.0, 0.0, eps_low, 0.2, rare_prize.optimizer("SGD", COIN_RATE), rng, updates=COIN_UPDATES
    )
    *_, last = training
    return last


def flipped(eps_low):
    pi = coins(eps_low).pi[:SHOWN]
    certain = pi.max(axis=1) > 0.9
    likeliest = [
        runs.Run(
            [("against", float(one.max())), ("rest", 1 - float(one.max()))], f"way {one.argmax() + 1}: {many(one)}"
        )
        for one in pi
    ]
    return [
        scene.scene(
            "Eight runs with twenty ways, rewarded by a coin flip",
            f"[against] the likeliest way after {COIN_UPDATES} updates; [rest] the other nineteen",
            runs.view(
                "c",
                f"The likeliest ways are sampled {', '.join(many(one) for one in pi)} times in 100.",
                "below each: its likeliest way, and how often in 100 it is sampled",
                likeliest,
                SHOWN - 1 if certain.mean() > 0.5 else None,
                "certain, and nothing was learned",
            ),
        )
    ]


def many(pi):
    return f"{100 * pi.max():.0f}"


def coins_said(eps_low):
    ways = rare_prize.ways_left(coins(eps_low))
    return f"With a lower clip range of {eps_low:g}, {ways:.1f} of the twenty ways are left in a run on average."


# ── a hundred sums ──
RUNS = {
    "clip 0.2": (0.2, 0.0, 0.0),
    "no clip": (lost_prompts.WIDE, 0.0, 0.0),
    "bonus": (lost_prompts.WIDE, 0.0, 0.1),
    "KL penalty": (lost_prompts.WIDE, 0.1, 0.0),
}


@cache
def chances(name):
    return lost_prompts.trained(*RUNS[name], seed=SEED)


def sums(name):
    right = chances(name)
    lost = np.flatnonzero(lost_prompts.lost(right))
    return [
        scene.scene(
            "How often each of a hundred sums is answered correctly",
            "[above-4] nearly always; [below-3] less than once in a hundred samples",
            sum_table.view(
                "s",
                f"{len(lost)} of 100 sums are answered correctly less than once in a hundred samples.",
                right,
                lost_prompts.LOST,
                int(lost[-1]) if len(lost) else None,
                "64 samples, none correct" if len(lost) and right[lost[-1]] < 0.001 else "hardly ever correct",
            ),
        )
    ]


def sums_said(name):
    right = chances(name)
    lost = int(lost_prompts.lost(right).sum())
    return (
        f"Pass@1 is {100 * right.mean():.0f} of 100, and pass@64 is "
        f"{100 * lost_prompts.pass_at(right, 64):.0f} of 100. Lost sums: {lost or 'none'}."
    )


FIGURES = {
    "opening": OPENING,
    "push": Figure(
        pushed,
        entropy.bonus,
        Handle("Run without bonus, after", WHENS, start=0, words=("0", "5", "20", "60 updates")),
        pushed_said,
    ),
    "coins": Figure(
        flipped, rare_prize.run, Handle("Lower clip range", LOWER, start=2, words=("0.1", "0.2", "1, off")), coins_said
    ),
    "sums": Figure(
        sums, lost_prompts.trained, Handle("Trained with", tuple(RUNS), start=1, words=tuple(RUNS)), sums_said
    ),
}
