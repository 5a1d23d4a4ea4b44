"""The small figures of lesson 19a: a batch of an engine at another temperature with two corrections, one old batch
counted in five ways, what is left of long answers, a limit for a ratio, and a ladder that lags.
"""

from functools import cache

import numpy as np

from sim.estimators import off_policy
from sim.experiments import lagging_ladder, mismatch, written_sums
from widgets.frame.drawing import scene, sums
from widgets.frame.drawing.marks import bars, dots, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle, Strip, Time
from widgets.off_policy import pushes

SEED = 0
HOT = 1.5  # temperature of the engine

# ── the opening: what two corrections make of the same draws ──
SETTINGS = ("weighted by the ratio", "clipped")
WAY = {SETTINGS[0]: "token ratio, at most 2", SETTINGS[1]: "clip around the engine"}
SHOWN = 5  # answers
MOMENTS = (1, 5, 9, 13, 17, 25, 33, 45, 57, 69, 81, 100)  # updates after which the pass rate is known


def weights(update, way):
    """(N, T) what the tokens of a batch would count, before the first step on it."""
    batch = update.batch
    logp = batch.old_logp + update.log_ratio
    return mismatch.WAYS[way](mismatch.Read(logp, batch.old_logp, logp, batch.advantage, batch.response_mask))


@cache
def followed(setting):
    """{update: (its mismatch.Update, the answers shown)}"""
    by_moment = {}
    for update in mismatch.run(HOT, 0, WAY[setting], 1, "AdamW", SEED):
        if update.number in MOMENTS:
            rows = pushes.typical(update.batch, weights(update, WAY[SETTINGS[1]]), SHOWN)
            by_moment[update.number] = update, pushes.answers(update.batch, update.weight, rows)
    return by_moment


@cache
def start():
    return mismatch.before_training()


def silenced_here(setting, moment):
    """Where the ring stands: a token without a push, if the batch has many."""
    update, shown = followed(setting)[moment]
    return pushes.hushed(shown) if update.silenced > 0.1 else None


def opening(setting, moment):
    update, shown = followed(setting)[moment]
    words = "no push, before any step" if moment == 1 else "no push"
    return [
        scene.scene(
            "What an update does with the answers it gets",
            pushes.WHAT,
            pushes.view("b", "five answers", shown, silenced_here(setting, moment), words, True),
            [
                sums.one_share("h", "100 before training", start(), "correct", False),
                sums.one_share("m", f"100 after update {moment}", update.right, "correct"),
            ],
        )
    ]


OPENING = Figure(
    opening,
    mismatch.run,
    Handle("Run", SETTINGS, start=1),
    None,
    Time(
        "Update",
        MOMENTS,
        tuple(f"update {moment} of {mismatch.UPDATES}" for moment in MOMENTS),
        start=len(MOMENTS) - 1,
        ticks={i: str(moment) for i, moment in enumerate(MOMENTS) if moment in (1, 9, 25, 45, 69, 100)},
        strip=Strip(
            "Correct, of 100",
            lambda: [[followed(setting)[moment][0].right for moment in MOMENTS] for setting in SETTINGS],
            lambda setting, moment: sums.count(followed(setting)[moment][0].right),
        ),
        holds={0: 1800},
    ),
    stills=((1, 0), (0, len(MOMENTS) - 1)),
)

# ── one old batch, counted in five ways ──
LAG, OLD = 8, 28  # updates late, and which batch of that run
FIVE = {
    "token ratio": "token ratio, at most 2",
    "token mask": "token mask, 0.5 to 2",
    "answer mask": "answer mask, at most 3",
    "bad answers": "bad answers masked",
    "clip": "clip around the engine",
}


@cache
def old():
    """The batch of a run whose engine is eight updates behind, read but not yet trained on."""
    *_, update = mismatch.run(1.0, LAG, "token ratio, at most 2", 1, "AdamW", SEED, OLD)
    return update


def counted(name):
    """(N, T) the weights of the old batch."""
    return weights(old(), FIVE[name])


@cache
def shown_rows():
    """Six answers, wrong ones first. Three kinds have their share of the six: what "bad answers" masks, what else the
    answer mask masks, and the rest.
    """
    pushed, right = old().batch.advantage[:, 0] != 0, old().batch.accuracy > 0
    bad, long = (pushed & ~(counted(name) > 0).any(axis=1) for name in ("bad answers", "answer mask"))
    kinds = [np.flatnonzero(kind) for kind in (bad, long & ~bad, pushed & ~bad & ~long)]
    counts = written_sums.largest_remainders([len(kind) for kind in kinds], pushes.ROWS)
    rows = [kind[int((i + 0.5) / count * len(kind))] for kind, count in zip(kinds, counts) for i in range(count)]
    return tuple(sorted((int(row) for row in rows), key=lambda row: bool(right[row])))


def ways(name):
    shown = pushes.answers(old().batch, counted(name), shown_rows())
    return [
        scene.scene(
            "Six answers, eight updates old",
            pushes.WHAT,
            pushes.view("w", f"counted by the {FIVE[name]}" if name != "bad answers" else "bad answers masked", shown),
        )
    ]


def share_silent(name):
    """Of the tokens with an advantage, those without a push."""
    own = (old().batch.response_mask > 0) & (old().batch.advantage != 0)
    return float((counted(name)[own] == 0).mean())


def ways_said(name):
    return f"In the whole batch, {100 * share_silent(name):.0f} of 100 tokens that should move get no push."


# ── what is left of long answers ──
LENGTHS = (100, 1000, 4000, 16_000, 32_000)
SIGMAS = (0.001, 0.01, 0.05)


def left(length):
    columns = []
    for i, sigma in enumerate(SIGMAS):
        share = float(off_policy.effective_share(sigma, length))
        columns.append(
            scene.view(
                f"l{i}",
                7.2,
                6.9,
                f"At {sigma:g} nats per token, {sums.count(share)} of a hundred answers are left.",
                scene.word(f"{100 * sigma:g} % per token", (0, 0.55), "strong"),
                scene.hundred(f"l{i}d", [("followed", share), ("rest", 1 - share)], (0, 0.95)),
                scene.word(f"{sums.count(share)} left", (0, 6.3), "strong", key=f"l{i}n"),
            )
        )
    return [
        scene.scene(
            "A hundred answers, each weighted by its product", "colored: so many equal answers tell as much", *columns
        )
    ]


def left_said(length):
    share = float(off_policy.effective_share(0.01, length))
    return f"If the ratios differ by 1 %, answers of {length:,} tokens leave an effective {sums.count(share)} of 100."


# ── a limit for a ratio ──
PI, MU = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.1, 0.3, 0.4, 0.2])
REWARD, BASELINE = np.array([1.0, 0.5, 0.2, 0.0]), 0.3
LIMITS = (1.0, 1.5, 2.0, 3.0, 5.0)


def at_limit(C):
    """(length of the bias, standard deviation) of the policy gradient from one draw."""
    _, bias, variance = off_policy.estimator(PI, MU, REWARD, np.minimum(PI / MU, C), BASELINE)
    return bias, float(np.sqrt(variance))


def limit(C):
    bias, noise = np.transpose([at_limit(at) for at in LIMITS])
    return [
        panel(
            "Error on average",
            "length of the bias; the largest ratio is 4",
            line(LIMITS, bias, "bias"),
            dots([C], [at_limit(C)[0]], "this limit", 1, "here"),
            x="limit C of the ratio",
            x_range=(0.8, 5.2),
            y_range=(0, 0.5),
        ),
        panel(
            "Error by chance",
            "standard deviation of one sample",
            line(LIMITS, noise, "noise", 2),
            dots([C], [at_limit(C)[1]], "this limit", 2, "here"),
            x="limit C of the ratio",
            x_range=(0.8, 5.2),
            y_range=(0, 1.5),
        ),
    ]


def limit_said(C):
    bias, noise = at_limit(C)
    return (
        f"With a limit of {C:g}, the gradient is off by {bias:.2f} on average and by {noise:.2f} from sample to sample."
    )


# ── a ladder of three answers ──
LAGS = (0, 4, 8, 16, 32)


@cache
def ends(lag, way):
    """(policies, smallest effective shares) of 32 runs with SGD."""
    return lagging_ladder.lagged(lag, way, np.random.default_rng(SEED))


def still_there(lag):
    names = tuple(lagging_ladder.WEIGHTS)
    many = [int(lagging_ladder.on_the_second(ends(lag, way)[0]).sum()) for way in names]
    share = [float(np.median(ends(lag, way)[1])) for way in names]
    return [
        panel(
            "Runs still on the second answer",
            f"of {lagging_ladder.RUNS} runs, SGD at 1, 300 updates",
            bars(names, many, "runs", 1, text=[str(n) for n in many]),
            y_range=(0, 36),
        ),
        panel(
            "Smallest effective share",
            "of a batch, median run",
            bars(names, share, "share", 2, text=[f"{s:.2f}" for s in share]),
            y_range=(0, 1.15),
        ),
    ]


def still_there_said(lag):
    none, cut = (int(lagging_ladder.on_the_second(ends(lag, way)[0]).sum()) for way in ("none", "at most 2"))
    return f"At a lag of {lag} updates, {none} of 32 runs are stuck without a weight, and {cut} with a weight."


FIGURES = {
    "opening": OPENING,
    "ways": Figure(ways, mismatch.run, Handle("Rule", tuple(FIVE), start=0, words=tuple(FIVE)), ways_said),
    "length": Figure(
        left,
        off_policy.effective_share,
        Handle("Length of an answer, tokens", LENGTHS, start=3, words=tuple(f"{n:,}" for n in LENGTHS)),
        left_said,
    ),
    "limit": Figure(
        limit,
        off_policy.estimator,
        Handle("Limit of the ratio", LIMITS, start=2, words=tuple(f"{C:g}" for C in LIMITS), symbol="C"),
        limit_said,
    ),
    "ladder": Figure(
        still_there,
        lagging_ladder.lagged,
        Handle("Lag, in updates", LAGS, start=4, words=tuple(map(str, LAGS))),
        still_there_said,
    ),
}
