"""A fixed number of completions split into groups: how training goes, which groups teach anything, and what each
advantage makes of the gradient.
"""

from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from rlpt import options
from sim.algorithms import grpo
from sim.estimators import group_baselines
from sim.experiments import group_batches
from sim.experiments.standard_runs import modsum_optimizer, modsum_rate, modsum_run
from sim.framework.controller import Controller
from sim.worlds import modsum
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import scene, trays
from widgets.frame.drawing.marks import band, bars, dots, each_run, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Played

TITLE = "Three runs of GRPO on the same number of completions, and the groups they are made of"
COMPLETIONS, BATCH, SEEDS = 3840, 64, 3
COST = f"{SEEDS * COMPLETIONS:,} completions a run"
GAIN = 0.02  # a run that has learned less than this is broken
WELL = 0.9  # a run on mixed prompts that ends below this is clearly worse than the default
LARGE = 32  # completions a prompt, from which on the updates are few
PROMPTS = {"mixed": modsum.DEFAULT, "hard": modsum.HARD, "almost never right": group_batches.RARE}
ADVANTAGES = ("z-score", "less the mean", "less the others' mean")


@dataclass(frozen=True)
class Knobs:
    K: int = ladder("Completions a prompt", 8, [2, 4, 8, 16, 32, 64], symbol="K")
    prompts: str = choice("Prompts", "mixed", list(PROMPTS))
    optimizer: str = choice("Optimizer", "SGD", ["SGD", "AdamW"])
    learning_rate: float = ladder("Learning rate (AdamW: a hundredth)", 2.0, [0.5, 1.0, 2.0, 5.0, 10.0, 20.0])
    advantage: str = choice("Advantage", "z-score", list(ADVANTAGES))
    p: float = ladder(
        "Pass rate of the prompt looked at",
        0.1,
        [0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98, 0.995, 0.999],
        symbol="p",
    )
    eps: float = ladder("Added to the standard deviation", 1e-6, [1e-8, 1e-6, 1e-4, 1e-2, 1e-1], symbol="δ")
    deviation: str = choice("Standard deviation", "sample", ["sample", "population"])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


PRESETS = {
    "TRL's group": Knobs(),
    "DeepSeekMath's group": Knobs(K=64),
    "Pairs": Knobs(K=2),
    "Almost never right": Knobs(K=4, prompts="almost never right"),
    "Almost never right, one group each": Knobs(K=64, prompts="almost never right"),
    "Almost never right, AdamW": Knobs(K=4, prompts="almost never right", optimizer="AdamW"),
}


@dataclass(frozen=True)
class Trace:
    completions: np.ndarray  # (updates,) drawn so far
    pass_rate: np.ndarray  # (seeds, updates) exact, mean of the prompts
    live: np.ndarray  # (seeds, updates) share of groups with different rewards
    batch: tuple  # of the last update of the run that ends in the middle: what is right, and advantages, (4, n) each
    way: dict | None = None  # {knob: value} of a way back, of a whole run that ended poorly
    undone: float = float("nan")  # where the same run ends on that way


def groups(k):
    """Groups a batch: 64 completions, or one group for each of the four prompts where that takes more."""
    return max(len(modsum.TARGETS), BATCH // k.K)


def updates(k):
    return COMPLETIONS // (groups(k) * k.K)


def advantage_of(k, name=None):
    return {
        "z-score": partial(group_baselines.z_score, eps=k.eps, ddof=int(k.deviation == "sample")),
        "less the mean": group_baselines.less_mean,
        "less the others' mean": group_baselines.leave_one_out,
    }[name or k.advantage]


def run(k):
    every = max(1, updates(k) // 12)
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
        modsum_run(
            grpo,
            seed=SEEDS * k.seed + i,
            optimizer=modsum_optimizer(k.optimizer, k.learning_rate),
            groups=groups(k),
            K=k.K,
            c=PROMPTS[k.prompts],
            hyper=dict(beta=0.0),
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


LONG, MANY = dict(learning_rate=20.0), dict(K=16)  # a longer step, and as many completions in more updates


def undoing(k):
    """What is turned to see whether a run is held back by few updates, or else by a short step."""
    return recovery.different(k, MANY if k.K >= LARGE else LONG)


def everything(k):
    return recovery.different(k, dict(**MANY, **LONG, advantage="z-score", eps=1e-6))


def progress(k, r):
    return ["update", len(r.completions), updates(k)]


@cache
def prompts_at_start(prompts):
    """(4,) exact pass rates before the first update."""
    return modsum.exact(modsum.Policy(PROMPTS[prompts]).params["theta"])["pass_rate"]


def start(prompts):
    return prompts_at_start(prompts).mean()


def figure(k, r):
    return [*training_tab(k, r), *estimate_tab(k), *group_tab(k, r)]


GROUPS = "The last batch, in its groups"
NOTHING = "all wrong: nothing to compare"


def batch(k, r):
    """What the last update learned from: at most sixteen answers to each prompt, of a larger group a part."""
    right, advantage = sixteen(r)
    update, K = len(r.completions), min(k.K, trays.SIXTEEN)
    of = f"{trays.SIXTEEN} of the {k.K} to each prompt" if k.K > trays.SIXTEEN else f"{right.size} answers"
    return scene.scene(
        GROUPS,
        f"middle run of {runs(k)}; a check: right; [above-2] pushed up, [below-2] down",
        trays.in_groups(
            "g",
            f"batch {update}: {of}",
            [f"add up to {target}" for target in modsum.TARGETS],
            right,
            advantage,
            K,
            SHOWN_SIZES,
            (len(right) - 1, NOTHING) if not r.batch[0].any() else None,
        ),
        tab="Training",
        front=True,
        data=[bars([str(t) for t in modsum.TARGETS], r.batch[0].sum(axis=1), "right answers of each prompt")],
    )


SHOWN_SIZES = (2, 4, 8, 16)


def sixteen(r):
    """Right and advantage of at most sixteen answers to each prompt, (4, 16) each. Of a larger group those that are
    chosen have its share of right ones, and at least one of each kind where there is one.
    """
    rows = []
    for right, advantage in zip(*r.batch):
        if right.size > trays.SIXTEEN:
            share = int(np.round(trays.SIXTEEN * right.mean()))
            many = int(np.clip(share, right.any(), trays.SIXTEEN - (not right.all())))
            chosen = np.sort(np.append(np.flatnonzero(right)[:many], np.flatnonzero(~right)[: trays.SIXTEEN - many]))
            right, advantage = right[chosen], advantage[chosen]
        rows.append((right, advantage))
    return [np.array(each) for each in zip(*rows)]


def runs(k):
    return f"{SEEDS} seeds, {k.optimizer} at {modsum_rate(k.optimizer, k.learning_rate):g}"


def training_tab(k, r):
    line_at = start(k.prompts) + GAIN
    yield batch(k, r)
    yield panel(
        "Right completions",
        f"exact, {runs(k)}",
        line(r.completions, r.pass_rate.mean(axis=0), "mean of the runs"),
        each_run(r.completions, r.pass_rate),
        threshold(line_at, "", 0),
        label(COMPLETIONS, line_at, "nothing learned below", 8, "right"),
        x="completions drawn",
        x_range=(0, COMPLETIONS),
        y_range=(0, 1.02),
        tab="Training",
    )


def over_a_few(k, r):
    """Completions drawn, and % of the groups that are live in the updates up to there, mean of the runs."""
    window = max(1, len(r.completions) // 12) if len(r.completions) > 12 else 1
    return r.completions[window - 1 :], np.convolve(100 * r.live.mean(axis=0), np.ones(window) / window, "valid")


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
        "Mean estimate over the true gradient",
        "exact, every outcome of a group counted",
        *(line(logit(GRID), curve, name, i) for i, (name, curve) in enumerate(zip(ADVANTAGES, curves), 1)),
        label(0, max(curves[0][30], 1.6) + 0.2, "z-score", 1, "center"),
        label(-EDGE, 1.05, "less the others' mean", 3),
        label(EDGE, (k.K - 1) / k.K, "less the mean", 2, "right", below=True),
        dots([logit(k.p)], [at_p], "here", 1, "here"),
        **P_AXIS,
        y_range=(0, 8.2),
        tab="Estimate",
    )
    wrong, right = (100 * share for share in group_baselines.dead_probability(GRID, k.K))
    x = logit(GRID).tolist()
    middle = 0.5 ** (1 / k.K)  # where half of the groups are all right; 1 - middle where half are all wrong
    yield panel(
        "What a group turns out to be",
        "% of groups, exact",
        band(x, [0] * len(x), wrong.tolist(), 8),
        band(x, (100 - right).tolist(), [100] * len(x), 2),
        line(x, wrong, "all wrong", 8),
        line(x, 100 - right, "not all right", 2),
        line([logit(k.p)] * 2, [0, 100], "p", 1, "reference"),
        label(logit(k.p), 90, f"p = {k.p:g}", 8, "left" if k.p < 0.5 else "right"),
        label(max(logit(1 - middle) - 1.2, -EDGE), 20, "all wrong", 8, "right" if k.K < 32 else "left"),
        label(0, 48, "live", 1, "center"),
        label(min(logit(middle) + 1.2, EDGE), 76, "all right", 2, "left" if k.K < 32 else "right"),
        **P_AXIS,
        y_range=(0, 100),
        tab="Estimate",
    )


def group_tab(k, r):
    yield panel(
        "Live groups",
        f"% of the groups, mean of {runs(k)}",
        line(*over_a_few(k, r), "live groups"),
        x="completions drawn",
        x_range=(0, COMPLETIONS),
        y_range=(0, 102),
        tab="Groups",
    )
    signal = partial(group_baselines.signal_to_noise_per_completion, advantage=advantage_of(k))
    yield panel(
        "Signal to noise of one completion",
        "squared mean over variance, over K, log, exact",
        line(logit(GRID), signal(GRID, k.K), f"K = {k.K}"),
        line(logit(GRID), signal(GRID, 2), "K = 2", 8, "reference"),
        label(EDGE, 0.2, "K = 2", 8, "right"),
        dots([logit(k.p)], [signal(k.p, k.K)], "here", 1, "here"),
        **P_AXIS,
        y_range=(1e-4, 300),
        log="y",
        tab="Groups",
    )


def readouts(k, r):
    hardest = prompts_at_start(k.prompts).min(), k.K, advantage_of(k)
    return [
        Readout(
            "Pass rate at the end", r.pass_rate[:, -1].mean(), "", modsum.exact, "violated" if broken(k, r) else ""
        ),
        Readout("Live groups, whole run", 100 * r.live.mean(), "%", Controller.iterate),
        Readout(
            "Estimate over true gradient, hardest prompt",
            group_baselines.share_of_gradient(*hardest),
            "",
            group_baselines.share_of_gradient,
        ),
        Readout(
            "Signal to noise of a completion, same prompt",
            group_baselines.signal_to_noise_per_completion(*hardest),
            "",
            group_baselines.signal_to_noise_per_completion,
        ),
    ]


def watched(k, r):
    return Gauge(
        "Pass rate gained by the whole run",
        gain(k, r),
        GAIN,
        below=True,
        expression=f"pass_rate[-1] - pass_rate[0] < {GAIN}",
    )


def gain(k, r):
    return r.pass_rate[:, -1].mean() - start(k.prompts)


def seen_at(k, r, cause):
    if not r.batch[0].any():
        return At(GROUPS, None, None, NOTHING)
    return At("Right completions", None, None, "hardly anything learned", "mean of the runs")


def broken(k, r):
    if len(r.completions) < updates(k) or gain(k, r) >= GAIN:
        return None
    from_to = f"from {start(k.prompts):.4f} to {start(k.prompts) + gain(k, r):.4f}"
    dead = f"{100 * (1 - r.live.mean()):.1f} % of the groups had {k.K} equal rewards"
    mends = {"that way it learns": lambda: well(replace(k, **r.way))}
    if r.way == MANY:
        why = Said(
            f"{updates(k)} updates are too few, the pass rate went {from_to}: in groups of {MANY['K']} the same number "
            f"of completions reaches {r.undone:.3f}.",
            mends | {"as many in more updates": lambda: updates(replace(k, **MANY)) > updates(k)},
        )
        return Break(why, r.way, "too few updates")
    if r.way == LONG:
        why = Said(
            f"{dead}, and the step is too short for the rest: it went {from_to}, at a rate of {long_rate(k)} to "
            f"{r.undone:.3f}.",
            mends | {"it is shorter": lambda: k.learning_rate < LONG["learning_rate"]},
        )
        return Break(why, r.way, "the step is too short")
    why = Said(
        f"{dead}, and the pass rate went {from_to} in {updates(k)} updates.",
        {"hardly more": lambda: r.pass_rate[:, -1].mean() - r.pass_rate[:, 0].mean() < 0.03},
    )
    return Break(why, r.way, "hardly anything learned")


def well(k):
    """Whether the whole run at these knobs does not end poorly."""
    return not poor(k, end(run, k))


def long_rate(k):
    return f"{modsum_rate(k.optimizer, LONG['learning_rate']):g}"


def worse(k, r):
    ends = r.pass_rate[:, -1].mean()
    if len(r.completions) < updates(k) or k.prompts != "mixed" or ends >= WELL:
        return None
    mends = {"that way it does": lambda: well(replace(k, **r.way))}
    if r.way == MANY:
        return Said(
            f"The pass rate ends at {ends:.3f}: {updates(k)} updates are too few. In groups of {MANY['K']} as many "
            f"completions reach {r.undone:.3f}.",
            mends | {"as many in more updates": lambda: updates(replace(k, **MANY)) > updates(k)},
        )
    if r.way == LONG:
        reach = f"At a rate of {long_rate(k)} it reaches {r.undone:.3f}."
        return Said(
            f"The pass rate ends at {ends:.3f}: the step is too short. {reach}",
            mends | {"it is shorter": lambda: k.learning_rate < LONG["learning_rate"]},
        )
    return Said(
        f"The pass rate ends at {ends:.3f}, where the default ends above {WELL}.",
        {"it does": lambda: end(run, Knobs(seed=k.seed)).pass_rate[:, -1].mean() > WELL},
    )


def holds(k, r):
    live = f"{100 * r.live.mean():.0f} % of the groups are live"
    return Said(
        f"{live}, and the pass rate went from {start(k.prompts):.3g} to {r.pass_rate[:, -1].mean():.3f}.",
        {"it rose": lambda: len(r.completions) < updates(k) or r.pass_rate[:, -1].mean() > start(k.prompts)},
    )


def methods(k, r):
    estimator = {"less the others' mean": "leave-one-out"}.get(k.advantage, k.advantage)
    more = dict(estimator=estimator, samples=k.K, prompts=groups(k))
    if k.advantage == "z-score":
        more |= dict(deviation=k.deviation, added=k.eps)
    return {"GRPO": options.setting(grpo, dict(beta=0.0), **more)}


GUESS = Guess(
    "64 completions a prompt, not 8: more groups are live. After the same 3,840 completions, is the run ahead?",
    ("ahead", "level", "behind"),
    Knobs(K=64),
    2,
    lambda k, r: (
        f"Behind: it ends at {r.pass_rate[:, -1].mean():.2f}, with {100 * r.live.mean():.0f} % of the groups live. "
        f"{COMPLETIONS:,} completions make {updates(k)} such updates."
    ),
)


OPENING = Played(Knobs(K=16, prompts="almost never right"), Knobs(K=4, prompts="almost never right"), "opening")
