"""A fixed number of completions split into groups: how training goes, which groups teach anything, and what each
advantage makes of the gradient.
"""

from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from sim.algorithms import grpo, options
from sim.estimators import group_baselines
from sim.experiments.standard_runs import modsum_optimizer, modsum_rate, modsum_run
from sim.framework.controller import Controller
from sim.worlds import modsum
from widgets.frame import recovery
from widgets.frame.exercises import Guess
from widgets.frame.knobs import choice, ladder, slider
from widgets.frame.marks import band, dots, each_run, label, line, panel, threshold
from widgets.frame.readouts import Break, Gauge, Readout
from widgets.frame.small_figures import Opening

TITLE = "Three runs of GRPO on the same number of completions, and the groups they are made of"
COMPLETIONS, BATCH, SEEDS = 3840, 64, 3
COST = f"{SEEDS * COMPLETIONS:,} completions a run"
GAIN = 0.02  # a run that has learned less than this is broken
WELL = 0.9  # a run on mixed prompts that ends below this is clearly worse than the default
LARGE = 32  # completions a prompt, from which on the updates are few
PROMPTS = {"mixed": modsum.DEFAULT, "hard": modsum.HARD, "almost never right": (-3, -3, -3, -3)}
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
    for seen in trained(k):
        if len(seen) < updates(k) and (len(seen) == 1 or len(seen) % every == 0):
            yield trace(k, seen)
    yield undone(k, trace(k, seen))


def trained(k):
    """The frames of all runs, after each update: the list grows."""
    chosen, seen = advantage_of(k), []

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
    for frames in zip(*(r.frames(updates(k)) for r in runs)):
        seen.append(frames)
        yield seen


def trace(k, seen):
    def column(of):
        return np.array([[of(frame) for frame in frames] for frames in zip(*seen)])

    return Trace(
        np.array([frames[0].completions for frames in seen]),
        column(lambda f: f.exact["pass_rate"].mean()),
        column(lambda f: f.live_groups / groups(k)),
    )


def undone(k, r):
    """The whole run with the way back that mends it, if it ended poorly: so a cause is named where it is one."""
    if not poor(k, r):
        return r
    for change in (undoing(k), everything(k)):
        if not change:
            continue
        there = replace(k, **change)
        *_, seen = trained(there)
        other = trace(there, seen)
        if not poor(there, other):
            return replace(r, way=change, undone=other.pass_rate[:, -1].mean())
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
    return [*training_tab(k, r), *estimate_tab(k), *group_tab(k)]


def training_tab(k, r):
    line_at = start(k.prompts) + GAIN
    drawn, live = over_a_few(k, r)
    runs = f"{SEEDS} seeds, {k.optimizer} at {modsum_rate(k.optimizer, k.learning_rate):g}"
    yield panel(
        "Right completions",
        f"probability, exact, mean of 4 prompts, {runs}",
        line(r.completions, r.pass_rate.mean(axis=0), "mean of the runs"),
        each_run(r.completions, r.pass_rate),
        threshold(line_at, "", 0),
        label(COMPLETIONS, line_at, "nothing learned below", 8, "right"),
        x="completions drawn",
        x_range=(0, COMPLETIONS),
        y_range=(0, 1.02),
        tab="Training",
        front=True,
    )
    yield panel(
        "Live groups",
        f"% of the groups, over a few updates, mean of {runs}",
        line(drawn, live, "live groups"),
        x="completions drawn",
        x_range=(0, COMPLETIONS),
        y_range=(0, 102),
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
    here = group_baselines.share_of_gradient(k.p, k.K, advantage_of(k))
    yield panel(
        "Mean estimate over the true gradient",
        "exact, every outcome of a group counted",
        *(line(logit(GRID), curve, name, i) for i, (name, curve) in enumerate(zip(ADVANTAGES, curves), 1)),
        label(0, max(curves[0][30], 1.6) + 0.2, "z-score", 1, "center"),
        label(-EDGE, 1.05, "less the others' mean", 3),
        label(EDGE, (k.K - 1) / k.K, "less the mean", 2, "right", below=True),
        dots([logit(k.p)], [here], "here", 1, "here"),
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


def group_tab(k):
    right = np.arange(1, k.K)
    A = advantage_of(k)(group_baselines.outcomes(k.K)[1:-1])
    yield panel(
        "Advantages in a group",
        "by how many of its K completions are right",
        line(right, A[:, 0], "right", 1),
        line(right, A[:, -1], "wrong", 2),
        dots(right, A[:, 0], "right", 1),
        dots(right, A[:, -1], "wrong", 2),
        label(k.K, 1.2, "a right one", 1, "right"),
        label(k.K, -4, "a wrong one", 2, "right"),
        x="right completions",
        x_range=(0, k.K),
        y_range=(-8.2, 8.2),
        tab="Group",
    )
    signal = partial(group_baselines.signal_to_noise_per_completion, advantage=advantage_of(k))
    yield panel(
        "Signal to noise of one completion",
        "squared mean over variance of a group's estimate, over K, logarithmic, exact",
        line(logit(GRID), signal(GRID, k.K), f"K = {k.K}"),
        line(logit(GRID), signal(GRID, 2), "K = 2", 8, "reference"),
        label(EDGE, 0.2, "K = 2", 8, "right"),
        dots([logit(k.p)], [signal(k.p, k.K)], "here", 1, "here"),
        **P_AXIS,
        y_range=(1e-4, 300),
        log="y",
        tab="Group",
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


def broken(k, r):
    if len(r.completions) < updates(k) or gain(k, r) >= GAIN:
        return None
    from_to = f"from {start(k.prompts):.4f} to {start(k.prompts) + gain(k, r):.4f}"
    dead = f"{100 * (1 - r.live.mean()):.1f} % of the groups had {k.K} equal rewards"
    if r.way == MANY:
        return Break(
            f"{updates(k)} updates are too few, the pass rate went {from_to}: in groups of {MANY['K']} the same number "
            f"of completions reaches {r.undone:.3f}.",
            r.way,
            "too few updates",
        )
    if r.way == LONG:
        return Break(
            f"{dead}, and the step is too short for the rest: it went {from_to}, at a rate of {long_rate(k)} to "
            f"{r.undone:.3f}.",
            r.way,
            "the step is too short",
        )
    return Break(f"{dead}, and the pass rate went {from_to} in {updates(k)} updates.", r.way, "hardly anything learned")


def long_rate(k):
    return f"{modsum_rate(k.optimizer, LONG['learning_rate']):g}"


def worse(k, r):
    ends = r.pass_rate[:, -1].mean()
    if len(r.completions) < updates(k) or k.prompts != "mixed" or ends >= WELL:
        return None
    if r.way == MANY:
        return (
            f"The pass rate ends at {ends:.3f}: {updates(k)} updates are too few. In groups of {MANY['K']} as many "
            f"completions reach {r.undone:.3f}."
        )
    if r.way == LONG:
        reach = f"At a rate of {long_rate(k)} it reaches {r.undone:.3f}."
        return f"The pass rate ends at {ends:.3f}: the step is too short. {reach}"
    return f"The pass rate ends at {ends:.3f}, where the default ends above {WELL}."


def holds(k, r):
    live = f"{100 * r.live.mean():.0f} % of the groups are live"
    return f"{live}, and the pass rate went from {start(k.prompts):.3g} to {r.pass_rate[:, -1].mean():.3f}."


def methods(k, r):
    estimator = {"less the others' mean": "leave-one-out"}.get(k.advantage, k.advantage)
    more = dict(estimator=estimator, samples=k.K, prompts=groups(k))
    if k.advantage == "z-score":
        more |= dict(deviation=k.deviation, added=k.eps)
    return {"GRPO": options.setting(grpo, dict(beta=0.0), **more)}


GUESS = Guess(
    f"Sixty-four completions a prompt in place of eight: more of the groups are live. After the same {COMPLETIONS:,} "
    "completions, at the same rate, is the run ahead?",
    ("ahead", "level", "behind"),
    Knobs(K=64),
    2,
    lambda k, r: (
        f"Behind: it ends at {r.pass_rate[:, -1].mean():.2f}, with {100 * r.live.mean():.0f} % of the groups live. "
        f"{COMPLETIONS:,} completions make {updates(k)} such updates."
    ),
)


# ── the first screen ──
def opened(plain, other):
    """Both runs by completions drawn: what is learned, and how many groups teach anything."""
    pairs = OPENING.plain
    ends = [r.pass_rate[:, -1].mean() for r in (plain, other)]
    live = [over_a_few(pairs, r) for r in (plain, other)]
    return [
        panel(
            "Right completions",
            f"probability, exact, mean of 4 prompts and {SEEDS} seeds",
            line(plain.completions, plain.pass_rate.mean(axis=0), "one setting", 8, "reference"),
            line(other.completions, other.pass_rate.mean(axis=0), "the other", 1),
            label(COMPLETIONS, 1.0, f"one setting: {ends[0]:.2f}", 8, "right"),
            label(COMPLETIONS, ends[1] - 0.25, f"the other: {ends[1]:.2f}", 1, "right", below=True),
            x="completions drawn",
            x_range=(0, COMPLETIONS),
            y_range=(0, 1.1),
        ),
        panel(
            "Groups that teach something",
            "% of the groups, over a few updates",
            line(*live[0], "one setting", 8, "reference"),
            line(*live[1], "the other", 1),
            label(COMPLETIONS, 32, "the other", 1, "right"),
            label(COMPLETIONS, 12, "one setting", 8, "right"),
            x="completions drawn",
            x_range=(0, COMPLETIONS),
            y_range=(0, 50),
        ),
    ]


OPENING = Opening(Knobs(K=2, learning_rate=10.0), Knobs(K=2), opened, modsum.exact)
