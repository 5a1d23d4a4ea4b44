"""A fixed number of answers to four sums, split into groups: what training makes of them, and what each advantage makes
of the gradient.
"""

from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from rlpt import options
from sim.algorithms import grpo
from sim.estimators import group_baselines
from sim.experiments import group_batches
from sim.experiments.group_batches import RARE, RATE, SUMS
from sim.framework.controller import Controller
from sim.worlds import tasks
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import scene, sum_groups
from widgets.frame.drawing.marks import bars, dots, each_run, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Played

TITLE = "Three GRPO runs on the same number of answers, compared in groups"
COMPLETIONS, BATCH, SEEDS = 3840, 64, 3
COST = f"{SEEDS * COMPLETIONS:,} completions per run"
GAIN = 0.05  # a run whose pass rate has risen by less than this is broken
WELL = 0.9  # a run on mixed sums that ends below this is clearly worse than the default
LARGE = 32  # answers per sum, from which on the updates are few
ADVANTAGES = ("z-score", "minus the mean", "minus the others' mean")


@dataclass(frozen=True)
class Knobs:
    K: int = ladder("Group size", 8, [2, 4, 8, 16, 32, 64], symbol="K")
    prompts: str = choice("Sums", "mixed", list(SUMS))
    optimizer: str = choice("Optimizer", "SGD", ["SGD", "AdamW"])
    learning_rate: float = ladder("Learning rate (AdamW: a hundredth)", RATE, [0.01, 0.02, 0.04, 0.1, 0.2])
    advantage: str = choice("Advantage", "z-score", list(ADVANTAGES))
    p: float = ladder(
        "Pass rate marked in the curves",
        0.1,
        [0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98, 0.995, 0.999],
        symbol="p",
    )
    eps: float = ladder("Constant added to standard deviation", 1e-6, [1e-8, 1e-6, 1e-4, 1e-2, 1e-1], symbol="δ")
    deviation: str = choice("Standard deviation", "sample", ["sample", "population"])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


PRESETS = {
    "TRL's group size": Knobs(),
    "DeepSeekMath's group size": Knobs(K=64),
    "Pairs": Knobs(K=2),
    "Hard sums, fours": Knobs(K=4, prompts=RARE),
    "Hard sums, one group each": Knobs(K=64, prompts=RARE),
    "Hard sums, fours, AdamW": Knobs(K=4, prompts=RARE, optimizer="AdamW"),
}


@dataclass(frozen=True)
class Trace:
    completions: np.ndarray  # (updates,) sampled so far
    pass_rate: np.ndarray  # (seeds, updates) exact, mean of the sums
    live: np.ndarray  # (seeds, updates) share of groups with different rewards
    batch: (
        tuple  # of the last update of the run that ends in the middle: answers, correct ones, advantages, (4, n) each
    )
    way: dict | None = None  # {knob: value} of a way back, of a whole run that ended poorly
    undone: float = float("nan")  # where the same run ends on that way


def groups(k):
    """Groups per batch: 64 completions, or one group for each of the four sums where that takes more."""
    return max(len(SUMS[k.prompts]), BATCH // k.K)


def updates(k):
    return COMPLETIONS // (groups(k) * k.K)


def advantage_of(k, name=None):
    return {
        "z-score": partial(group_baselines.z_score, eps=k.eps, ddof=int(k.deviation == "sample")),
        "minus the mean": group_baselines.less_mean,
        "minus the others' mean": group_baselines.leave_one_out,
    }[name or k.advantage]


def run(k):
    every = max(1, updates(k) // 30)
    for history, batches in trained(k):
        if len(history) < updates(k) and (len(history) == 1 or len(history) % every == 0):
            yield trace(k, history, batches)
    yield undone(k, trace(k, history, batches))


def trained(k):
    """After each update: the frames of all runs so far, a list that grows, and the batches of this update."""
    chosen, history = advantage_of(k), []

    def advantage(R, hp, batch):
        return chosen(R)

    runs = [
        group_batches.trained(
            k.K,
            k.prompts,
            groups=groups(k),
            seed=SEEDS * k.seed + i,
            learner=group_batches.optimizer(k.optimizer, k.learning_rate),
            hooks=dict(advantage=advantage),
        )
        for i in range(SEEDS)
    ]
    for by_run in zip(*(group_batches.followed(r, updates(k)) for r in runs)):
        frames, batches = zip(*by_run)
        history.append(frames)
        yield history, batches


def trace(k, history, batches):
    def column(of):
        return np.array([[of(frame) for frame in frames] for frames in zip(*history)])

    pass_rate = column(lambda f: f.exact["pass_rate"].mean())
    return Trace(
        np.array([frames[0].completions for frames in history]),
        pass_rate,
        column(lambda f: f.live_groups / groups(k)),
        group_batches.by_prompt(batches[middle(pass_rate)]),
    )


def middle(pass_rate):
    """The run of the three that is in the middle now."""
    return int(np.argsort(pass_rate[:, -1], kind="stable")[SEEDS // 2])


def undone(k, r):
    """The whole run with the way back that mends it, if it ended poorly: so a cause is named where it is one."""
    if not poor(k, r):
        return r
    for change in (undoing(k), everything(k)):
        if not change:
            continue
        changed = replace(k, **change)
        *_, last = trained(changed)
        mended = trace(changed, *last)
        if not poor(changed, mended):
            return replace(r, way=change, undone=mended.pass_rate[:, -1].mean())
    return r


def poor(k, r):
    ends = r.pass_rate[:, -1].mean()
    return ends - start(k.prompts) < GAIN or (k.prompts == "mixed" and ends < WELL)


LONG, MANY = dict(learning_rate=0.2), dict(K=16)  # a longer step, and as many completions in more updates


def undoing(k):
    """What is turned to see whether a run is held back by few updates, or else by a short step."""
    return recovery.different(k, MANY if k.K >= LARGE else LONG)


def everything(k):
    return recovery.different(k, dict(**MANY, **LONG, advantage="z-score", eps=1e-6))


def seconds(k):
    """Measured: an update of the three runs, and the way back from a poor one, which is run too."""
    return updates(k) * (0.008 + 0.00002 * groups(k) * k.K) + 0.3


def progress(k, r):
    return ["update", len(r.completions), updates(k)]


@cache
def prompts_at_start(prompts):
    """(4,) exact pass rates before the first update."""
    return group_batches.start(prompts)


def start(prompts):
    return prompts_at_start(prompts).mean()


def figure(k, r):
    return [*training_tab(k, r), *estimate_tab(k)]


GROUPS = "Answers of the last batch, in groups"


def batch(k, r):
    """What the last update learned from: at most sixteen answers to each sum, of a larger group a part."""
    answers, right, advantage = sixteen(r)
    update, K = len(r.completions), min(k.K, sum_groups.SIXTEEN)
    of = f"{sum_groups.SIXTEEN} of the {k.K} answers to each sum, " if k.K > sum_groups.SIXTEEN else ""
    return scene.scene(
        GROUPS,
        f"{of}batch {update} of {updates(k)}; filled: correct; ↑ push",
        *sum_groups.views(
            [f"{example // 10} + {example % 10} =" for example in SUMS[k.prompts]],
            answers,
            right,
            advantage,
            K,
            SHOWN_SIZES,
        ),
        tab="Training",
        front=True,
        data=[
            bars(
                [f"{example // 10} + {example % 10}" for example in SUMS[k.prompts]],
                r.batch[1].sum(axis=1),
                "correct answers to each sum",
            )
        ],
    )


SHOWN_SIZES = (2, 4, 8, 16)


def sixteen(r):
    """Answers, correct ones and advantages of at most sixteen answers to each sum, (4, 16) each. Of a larger group
    those that are chosen have its share of correct ones, and at least one of each kind where there is one.
    """
    rows = []
    for answers, right, advantage in zip(*r.batch):
        if right.size > sum_groups.SIXTEEN:
            share = int(np.round(sum_groups.SIXTEEN * right.mean()))
            many = int(np.clip(share, right.any(), sum_groups.SIXTEEN - (not right.all())))
            wrong = np.flatnonzero(~right)[: sum_groups.SIXTEEN - many]
            chosen = np.sort(np.append(np.flatnonzero(right)[:many], wrong))
            answers, right, advantage = answers[chosen], right[chosen], advantage[chosen]
        rows.append((answers, right, advantage))
    return [np.array(each) for each in zip(*rows)]


def runs(k):
    return f"{SEEDS} seeds, {k.optimizer} at {group_batches.rate(k.optimizer, k.learning_rate):g}"


CORRECT = "Pass rate, mean of the four sums"


def training_tab(k, r):
    line_at = start(k.prompts) + GAIN
    yield batch(k, r)
    yield panel(
        CORRECT,
        f"exact, {runs(k)}",
        line(r.completions, r.pass_rate.mean(axis=0), "mean of the runs"),
        each_run(r.completions, r.pass_rate),
        threshold(line_at, "", 0),
        label(COMPLETIONS, line_at, "hardly anything learned", 8, "right", below=True),
        x="completions sampled",
        x_range=(0, COMPLETIONS),
        y_range=(0, 1.02),
        tab="Training",
    )


def logit(p):
    return np.log(p / (1 - np.asarray(p)))


EDGE = logit(0.9995)
GRID = 1 / (1 + np.exp(-np.linspace(-EDGE, EDGE, 61)))
TICKS = (0.001, 0.02, 0.1, 0.5, 0.9, 0.98, 0.999)
P_AXIS = dict(
    x="pass rate p (logistic axis)",
    x_range=(-EDGE, EDGE),
    ticks=dict(tickvals=logit(np.array(TICKS)), ticktext=[f"{t:g}" for t in TICKS]),
)


@cache
def shares(K, eps, deviation):
    k = Knobs(K=K, eps=eps, deviation=deviation)
    return [group_baselines.share_of_gradient(GRID, K, advantage_of(k, name)) for name in ADVANTAGES]


def estimate_tab(k):
    curves = shares(k.K, k.eps, k.deviation)
    at_p = group_baselines.share_of_gradient(k.p, k.K, advantage_of(k))
    yield panel(
        "Mean step divided by the true gradient",
        "exact, over all outcomes of a group",
        *(line(logit(GRID), curve, name, i) for i, (name, curve) in enumerate(zip(ADVANTAGES, curves), 1)),
        label(0, max(curves[0][30], 1.6) + 0.2, "z-score", 1, "center"),
        label(-EDGE, 1.05, "minus the others' mean", 3),
        label(EDGE, (k.K - 1) / k.K, "minus the mean", 2, "right", below=True),
        dots([logit(k.p)], [at_p], "here", 1, "here"),
        **P_AXIS,
        y_range=(0, 8.2),
        tab="Estimate",
    )
    signal = partial(group_baselines.signal_to_noise_per_completion, advantage=advantage_of(k))
    yield panel(
        "Signal to noise of one completion",
        "squared mean / (variance × K), exact",
        line(logit(GRID), signal(GRID, k.K), f"K = {k.K}"),
        line(logit(GRID), signal(GRID, 2), "K = 2", 8, "reference"),
        label(EDGE, 0.2, "K = 2", 8, "right"),
        dots([logit(k.p)], [signal(k.p, k.K)], "here", 1, "here"),
        **P_AXIS,
        y_range=(1e-4, 300),
        log="y",
        tab="Estimate",
    )


def readouts(k, r):
    return [
        Readout(
            "Pass rate after training",
            r.pass_rate[:, -1].mean(),
            "",
            tasks.exact_pass,
            "violated" if broken(k, r) else "",
        ),
        Readout("Live groups, whole run", 100 * r.live.mean(), "%", Controller.iterate),
        Readout("Push on a lone correct answer", alone(k), "", FUNCTION[k.advantage]),
    ]


def alone(k):
    """The advantage of a correct answer whose group has no other."""
    return advantage_of(k)(np.array([[1.0] + [0.0] * (k.K - 1)]))[0, 0]


FUNCTION = dict(zip(ADVANTAGES, (group_baselines.z_score, group_baselines.less_mean, group_baselines.leave_one_out)))


def watched(k, r):
    return Gauge(
        "Pass rate gained in the whole run",
        gain(k, r),
        GAIN,
        below=True,
        expression=f"pass_rate[-1] - pass_rate[0] < {GAIN}",
    )


def gain(k, r):
    return r.pass_rate[:, -1].mean() - start(k.prompts)


def seen_at(k, r, cause):
    if not r.batch[1].any():
        return At(GROUPS, None, None, sum_groups.NOTHING)
    return At(CORRECT, None, None, "hardly anything learned", "mean of the runs")


def broken(k, r):
    if len(r.completions) < updates(k) or gain(k, r) >= GAIN:
        return None
    ends = of_100(r.pass_rate[:, -1].mean())
    only = f"Only {ends} of 100 answers are correct after training"
    mends = {"that way it learns": lambda: well(replace(k, **r.way))}
    if r.way == MANY:
        why = Said(
            f"{only}. The run makes {updates(k)} updates; groups of {MANY['K']} make "
            f"{updates(replace(k, **MANY))} and reach {of_100(r.undone)}.",
            mends | {"as many in more updates": lambda: updates(replace(k, **MANY)) > updates(k)},
        )
        return Break(why, r.way, "too few updates")
    if r.way == LONG:
        why = Said(
            f"{only}. {dead(r)} % of the groups were dead, and the others made short steps. A rate of {long_rate(k)} "
            f"reaches {of_100(r.undone)}.",
            mends | {"it is shorter": lambda: k.learning_rate < LONG["learning_rate"]},
        )
        return Break(why, r.way, "a step that is too short")
    why = Said(
        f"{only}. {dead(r)} % of the groups were dead.",
        {"hardly more": lambda: r.pass_rate[:, -1].mean() - r.pass_rate[:, 0].mean() < GAIN + 0.01},
    )
    return Break(why, r.way, "too little to compare")


def of_100(rate):
    return f"{100 * rate:.1f}"


def dead(r):
    return f"{100 * (1 - r.live.mean()):.0f}"


def well(k):
    """Whether the whole run at these knobs does not end poorly."""
    return not poor(k, end(run, k))


def long_rate(k):
    return f"{group_batches.rate(k.optimizer, LONG['learning_rate']):g}"


def worse(k, r):
    ends = r.pass_rate[:, -1].mean()
    if len(r.completions) < updates(k) or k.prompts != "mixed" or ends >= WELL:
        return None
    mends = {"that way it does": lambda: well(replace(k, **r.way))}
    solves = f"{of_100(ends)} of 100 answers are correct after training"
    if r.way == MANY:
        return Said(
            f"{solves}. The run makes {updates(k)} updates; groups of {MANY['K']} make {updates(replace(k, **MANY))} "
            f"and reach {of_100(r.undone)}.",
            mends | {"as many in more updates": lambda: updates(replace(k, **MANY)) > updates(k)},
        )
    if r.way == LONG:
        return Said(
            f"{solves}, because each step is short. At a rate of {long_rate(k)} it reaches {of_100(r.undone)}.",
            mends | {"it is shorter": lambda: k.learning_rate < LONG["learning_rate"]},
        )
    return Said(
        f"{solves}. The default setting ends above {100 * WELL:.0f}.",
        {"it does": lambda: end(run, Knobs(seed=k.seed)).pass_rate[:, -1].mean() > WELL},
    )


def holds(k, r):
    return Said(
        f"The pass rate rose from {start(k.prompts):.3f} to {r.pass_rate[:, -1].mean():.3f}. "
        f"{100 * r.live.mean():.0f} % of the groups were live.",
        {"it rose": lambda: len(r.completions) < updates(k) or r.pass_rate[:, -1].mean() > start(k.prompts)},
    )


def methods(k, r):
    estimator = dict(zip(ADVANTAGES, ("z-score", "minus the mean", "leave-one-out")))[k.advantage]
    more = dict(estimator=estimator, samples=k.K, prompts=groups(k))
    if k.advantage == "z-score":
        more |= dict(deviation=k.deviation, added=k.eps)
    return {"GRPO": options.setting(grpo, dict(beta=0.0), **more)}


DARE = "Can you make 3,840 answers teach the model nothing?"
GUESS = Guess(
    "Groups of 64 are live more often than groups of 8. After the same 3,840 answers, which run is ahead?",
    ("groups of 64", "neither", "groups of 8"),
    Knobs(K=64),
    2,
    lambda k, r: (
        f"Groups of 8. In {updates(k)} updates, which is all that {COMPLETIONS:,} answers allow, groups of 64 "
        f"reach {r.pass_rate[:, -1].mean():.2f}."
    ),
)


OPENING = Played(Knobs(K=16, prompts=RARE), Knobs(K=4, prompts=RARE), "opening")
