"""The small figures of lesson 14a: a row in which one reward is loud, a batch in trays, two sources on two scales, what
a divisor makes of a prompt's weight, and a price beside rewards of several sizes.
"""

from functools import cache

import numpy as np

from sim.estimators import normalizers
from sim.estimators.normalizers import BATCH, GROUP, NONE
from sim.experiments import after_sft, mixed_rewards
from sim.experiments.mixed_rewards import CHECKER, GROUPS, MODEL, K
from sim.words import plural
from widgets.frame.drawing import answers, scene, trays
from widgets.frame.drawing.marks import dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time

# ── the opening: the batch of every tenth update, under two settings ──
MOMENTS = tuple(range(0, 101, 10))
SETTINGS = ("rewards of 0 and 1", "one reward of 100")
SEED = 0
START = float(after_sft.start())
LOUD = {SETTINGS[0]: None, SETTINGS[1]: 100.0}


def groups_of(values):
    """(128,) -> (groups, K)"""
    return np.asarray(values).reshape(-1, K)


@cache
def trained(outlier):
    task = mixed_rewards.MixedAdd(outlier=outlier, seed=SEED)
    optimizer = mixed_rewards.optimizer("AdamW")
    return tuple(mixed_rewards.run(BATCH, task, optimizer, seed=SEED, updates=MOMENTS[-1] + 1, every=1))


def rate(setting, moment):
    """Right answers after that many updates, exact."""
    return float(trained(LOUD[setting])[moment - 1].right.mean()) if moment else START


def batch_of(setting, moment):
    """The update that follows: the batch that it draws."""
    return trained(LOUD[setting])[moment]


def opening(setting, moment):
    update = batch_of(setting, moment)
    A, right = groups_of(update.batch.advantage[:, 0]), groups_of(update.batch.accuracy)
    alone = update.loud is not None and abs(A.ravel()[update.loud]) > 5
    are = plural(right.sum(), "is", "are")
    return [
        scene.scene(
            "A batch: sixteen sums, eight answers to each",
            trays.WHAT,
            trays.view(
                "b",
                f"After {moment} updates, {right.sum():.0f} of {right.size} answers {are} correct.",
                trays.by_source(GROUPS),
                trays.sums(update.batch.example[::K]),
                A,
                right,
                (update.loud, "pushed hardest" if right.ravel()[update.loud] else "wrong, pushed hardest")
                if alone
                else None,
                last=True,
            ),
        )
    ]


def told(setting, moment):
    update = batch_of(setting, moment)
    many = int(update.batch.accuracy.sum())
    return f"The {many} correct answers in this batch have a mean advantage of {trays.pushed(update.wanted)}."


OPENING = Figure(
    opening,
    mixed_rewards.run,
    Handle("Run", SETTINGS, start=1),
    told,
    Time(
        "Update",
        MOMENTS,
        tuple(f"after update {moment}" for moment in MOMENTS),
        start=len(MOMENTS) - 1,
        ticks={i: str(moment) for i, moment in enumerate(MOMENTS) if moment % 20 == 0},
        strip=Strip(
            "Correct, of 100",
            lambda: [[rate(setting, moment) for moment in MOMENTS] for setting in SETTINGS],
            lambda setting, moment: answers.hundredths(rate(setting, moment)),
        ),
        holds={0: 1500},
    ),
    stills=((0, len(MOMENTS) - 1), (1, len(MOMENTS) - 1)),
)

# ── a row of sixteen ──
WAYS = ("paid 0", "paid 100", "paid 100, cut at 1")
LABELS = dict(zip(WAYS, ("reward 0", "reward 100", "reward 100, clipped at 1")))


def row(way):
    """Rewards (1, 16): fifteen of 1 or 0, and that of a wrong answer."""
    paid = np.array([[1.0, 0.0] * 7 + [1.0, 0.0 if way == WAYS[0] else 100.0]])
    return normalizers.clipped(paid, 1.0) if way == WAYS[2] else paid


def whitened_row(way):
    return normalizers.normalized(row(way), np.zeros(1))


def one_row(way):
    A = whitened_row(way)
    right = np.arange(16) % 2 == 0
    return [
        scene.scene(
            "Sixteen answers to one question",
            trays.WHAT,
            trays.view(
                "r",
                said_of(way),
                [("alternately correct and wrong", range(1))],
                [""],
                A,
                right[None],
                (15, LABELS[way]) if way != WAYS[0] else None,
            ),
        )
    ]


def said_of(way):
    A = whitened_row(way)[0]
    right, wrong, last = (trays.pushed(A[i]) for i in (0, 1, -1))
    return f"A correct answer has an advantage of {right}, a wrong one has {wrong}, and the last one has {last}."


# ── the whole batch ──
PAYS = (None, 3.0, 10.0, 30.0, 100.0)


@cache
def first_batch():
    """(accuracy (16, 8), prompts, the row that is paid too much) of the first batch of the opening."""
    update = trained(100.0)[0]
    return groups_of(update.batch.accuracy), tuple(update.batch.example[::K]), update.loud


SOURCE = np.repeat([CHECKER, MODEL], 8)


def advantage(scale=1.0, outlier=None, over=BATCH):
    right, _, loud = first_batch()
    paid = right * np.where(SOURCE == MODEL, scale, 1.0)[:, None]
    if outlier is not None:
        paid[np.divmod(loud, K)] = outlier
    return normalizers.normalized(paid, SOURCE, GROUP, over)


def in_trays(A, alt, ring):
    right, prompts, _ = first_batch()
    return [
        scene.scene(
            "The first batch of the page: sixteen sums, eight answers to each",
            trays.WHAT,
            trays.view("b", alt, trays.by_source(GROUPS), trays.sums(prompts), A, right, ring),
        )
    ]


def tray(outlier):
    A = advantage(outlier=outlier)
    return in_trays(A, loud_said(outlier), None if outlier is None else (first_batch()[2], f"reward {outlier:g}"))


def loud_said(outlier):
    A, (right, _, loud) = advantage(outlier=outlier).ravel(), first_batch()
    others_right = np.delete(np.where(right.ravel() == 1, A, np.nan), loud)
    mean = f"The other correct answers have a mean advantage of {trays.pushed(np.nanmean(others_right))}"
    return f"{mean}. The answer with a reward of {outlier:g} has {trays.pushed(A[loud])}." if outlier else f"{mean}."


SCALES = (1.0, 3.0, 10.0, 30.0)


def sources(scale):
    return in_trays(advantage(scale), share_said(scale), None)


def share_said(scale):
    share = normalizers.shares(advantage(scale), SOURCE)[CHECKER]
    return f"The checker's eight sums have {percent(share)} of the squared advantage."


def percent(share):
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


# ── batch or group ──
DIVISORS = {"nothing": NONE, "the group's": GROUP, "the batch's": BATCH}
BATCH_DEVIATION = 0.4  # assumed: of a batch in which four of five answers are wrong
P = np.linspace(0.01, 0.99, 99)


def weights(name):
    curves = {other: normalizers.prompt_weight(P, K, DIVISORS[other], BATCH_DEVIATION) for other in DIVISORS}
    return [
        panel(
            "Weight of a prompt",
            "mean push over the true gradient, exact, 8 completions",
            *(line(P, curves[other], other, 8, "other") for other in DIVISORS if other != name),
            line(P, curves[name], name, 1),
            dots([0.05, 0.5], np.interp([0.05, 0.5], P, curves[name]), "a hard and a medium prompt", 1),
            label(0.5, float(np.interp(0.5, P, curves[name])) + 0.08, f"divided by {name}", 1, "center"),
            x="pass rate of the prompt",
            x_range=(0, 1),
            y_range=(0, 3.4),
        )
    ]


def weighed(name):
    hard, medium = normalizers.prompt_weight(np.array([0.05, 0.5]), K, DIVISORS[name], BATCH_DEVIATION)
    many = f"{hard / medium:.2f} times as much" if hard / medium > 1.005 else "just as much"
    divided = "Without a divisor" if name == "nothing" else f"With {name} standard deviation"
    return f"{divided}, a prompt solved one time in 20 counts {many} as a prompt solved every other time."


# ── a price beside rewards of several sizes ──
SIZES = (0.01, 0.1, 1.0, 10.0, 100.0)
PRICE, SEEDS = 0.04, range(3)


@cache
def ended(c):
    """(seeds,) right at the end, exact."""
    ends = []
    for seed in SEEDS:
        task = mixed_rewards.MixedAdd(c=c, seed=seed)
        optimizer = mixed_rewards.optimizer("AdamW")
        *_, last = mixed_rewards.run(BATCH, task, optimizer, price=PRICE, seed=seed, every=100)
        ends.append(last.right.mean())
    return np.array(ends)


def price():
    ends = np.array([ended(c) for c in SIZES])
    return [
        panel(
            "Pass rate after 100 updates",
            f"KL coefficient {PRICE}; {len(SEEDS)} seeds",
            line(SIZES, ends.mean(axis=1), "mean", 1),
            *(dots(SIZES, of_seed, "a seed", 1) for of_seed in ends.T),
            line([SIZES[0], SIZES[-1]], [START] * 2, "before training", 8, "reference"),
            label(100, START, "before training", 8, "right"),
            x="factor on all rewards c",
            x_range=(0.007, 140),
            y_range=(0, 1.02),
            log="x",
        )
    ]


FIGURES = {
    "opening": OPENING,
    "row": Figure(
        one_row, normalizers.normalized, Handle("Last answer", WAYS, start=1, words=tuple(LABELS.values())), said_of
    ),
    "tray": Figure(
        tray,
        normalizers.normalized,
        Handle("Reward of one answer", PAYS, start=4, words=("as it should", "3", "10", "30", "100")),
        loud_said,
    ),
    "sources": Figure(
        sources,
        normalizers.shares,
        Handle("Reward model's scale", SCALES, start=3, words=tuple(f"{s:g}" for s in SCALES)),
        share_said,
    ),
    "weights": Figure(
        weights,
        normalizers.prompt_weight,
        Handle("Divided by", tuple(DIVISORS), start=1, words=tuple(DIVISORS)),
        weighed,
    ),
    "price": Figure(price, mixed_rewards.run),
}
