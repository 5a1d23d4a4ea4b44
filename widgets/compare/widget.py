"""Any two of the algorithm files, or of the recipes made of them, on the same task from the same seeds, by updates and
by completions drawn.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from rlpt import options
from sim.algorithms import dapo
from sim.algorithms.names import FILES
from sim.algorithms.recipes import NAMED, Recipe
from sim.estimators import equal_cost
from sim.experiments.standard_runs import modsum_optimizer, modsum_rate, modsum_run
from sim.framework.controller import Controller
from sim.framework.trainer import Trainer
from sim.worlds import modsum
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing.marks import both, by_update, each_run, label, line, panel
from widgets.frame.drawing.small_figures import Opening

TITLE = "Two algorithms on one task, from the same seeds"
COST = "3 seeds of both, with the optimizer and the rates of the knobs"
UPDATES, SEEDS, GROUPS, K = 60, 3, 8, 8
EVERY = 4  # updates between two pictures
CHOICES = [*FILES, *NAMED]
LOST = 0.05  # a prompt that in some run ends this much less often right than it began is lost
WELL = 0.6  # a run that ends below this learned little
RATES = [0.5, 1.0, 2.0, 4.0, 8.0, 12.0, 24.0, 40.0]


@dataclass(frozen=True)
class Knobs:
    a: str = choice("First algorithm", "GRPO", CHOICES)
    b: str = choice("Second algorithm", "Dr.GRPO", CHOICES)
    optimizer: str = choice("Optimizer", "AdamW", ["SGD", "AdamW"])
    rate_a: float = ladder("First learning rate (AdamW: ÷ 100)", 8.0, RATES)
    rate_b: float = ladder("Second learning rate (AdamW: ÷ 100)", 8.0, RATES)
    passes: str = choice("Passes over each batch", "as in the file", ["as in the file", "1", "4", "16"])
    start: str = choice("Prompts to start from", "easier prompts", ["easier prompts", "hard prompts"])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


PRESETS = {
    "GRPO and Dr.GRPO": Knobs(),
    "One rate, plain SGD": Knobs(optimizer="SGD", rate_a=2.0, rate_b=2.0),
    "Each its own rate, plain SGD": Knobs(optimizer="SGD", rate_a=4.0, rate_b=40.0),
    "GRPO at a rate of 24": Knobs(b="PPO", optimizer="SGD", rate_a=24.0, rate_b=24.0),
    "GRPO and DAPO, hard": Knobs(b="DAPO", start="hard prompts"),
    "GRPO at PPO's rate": Knobs(b="PPO", optimizer="SGD", rate_a=40.0, rate_b=40.0),
}


@dataclass(frozen=True)
class Run:
    """Three runs of one file, a row a seed."""

    steps: int  # of the optimizer
    completions: np.ndarray  # (seeds, updates + 1) drawn
    trained_on: np.ndarray  # (seeds, updates + 1) of them, each counted once however many passes are made
    pass_rate: np.ndarray  # (seeds, updates + 1) exact, mean of the prompts
    gain: np.ndarray  # (seeds, prompts) in pass rate since the start
    entropy: np.ndarray  # (seeds, updates + 1) exact, nats a completion
    kl_step: np.ndarray  # (seeds, updates) exact, nats, mean of the prompts
    clip_fraction: np.ndarray  # (seeds, updates) at the last pass


def run(k):
    pair = [
        [events(built(k, name, rate, SEEDS * k.seed + i)) for i in range(SEEDS)]
        for name, rate in ((k.a, k.rate_a), (k.b, k.rate_b))
    ]
    start = modsum.exact(modsum.Policy(initial(k.start)).params["theta"])
    so_far = [], []  # of each algorithm the updates, and of each update (frame, completions trained on) of every seed
    for _ in range(UPDATES):
        with np.errstate(all="ignore"):  # a run may leave the range of its numbers, which is then what is shown
            for updates, runs in zip(so_far, pair):
                updates.append([next(frames) for frames in runs])
        if len(so_far[0]) == 1 or len(so_far[0]) % EVERY == 0:
            yield tuple(collected(updates, start, passes(k, name)) for updates, name in zip(so_far, (k.a, k.b)))


def events(controller):
    """(Frame, completions trained on), an update each."""
    for event in controller.iterate(UPDATES):
        if event.stage == 3:
            trained_on = 0 if event.summary["batch"] is None else len(event.summary["batch"].tokens)
        if event.stage == 7:
            yield event.summary["frame"], trained_on


def built(k, name, rate, seed):
    recipe = recipe_of(name)
    return modsum_run(
        recipe.file,
        seed=seed,
        optimizer=modsum_optimizer(k.optimizer, rate),
        groups=GROUPS,
        K=K,
        c=initial(k.start),
        hyper={**recipe.hyper, "inner_epochs": passes(k, name)},
        hooks=recipe.hooks,
    )


def passes(k, name):
    recipe = recipe_of(name)
    return {**recipe.file.HP, **recipe.hyper}["inner_epochs"] if k.passes == "as in the file" else int(k.passes)


def recipe_of(name):
    """A row of sim/algorithms/recipes.py; a file by itself is the recipe that exchanges nothing."""
    return NAMED.get(name) or Recipe(FILES[name])


def initial(start):
    return modsum.HARD if start == "hard prompts" else modsum.DEFAULT


def collected(updates, start, passes):
    def column(value, first=None):
        rows = np.array([[value(frame) for frame, _ in frames] for frames in zip(*updates)])
        return rows if first is None else np.concatenate([np.full((len(rows), 1), first), rows], axis=1)

    trained_on = np.cumsum([[trained_on for _, trained_on in frames] for frames in zip(*updates)], axis=1)
    return Run(
        passes * len(updates),
        column(lambda f: f.completions, 0),
        np.concatenate([np.zeros((len(trained_on), 1)), trained_on], axis=1),
        column(lambda f: f.exact["pass_rate"].mean(), start["pass_rate"].mean()),
        np.array([frame.exact["pass_rate"] - start["pass_rate"] for frame, _ in updates[-1]]),
        column(lambda f: f.exact["completion_entropy"].mean(), start["completion_entropy"].mean()),
        np.nan_to_num(column(lambda f: f.exact["kl_step"].mean()), nan=np.inf),
        column(lambda f: f.clip_fraction),
    )


def progress(k, r):
    return ["update", r[0].kl_step.shape[1], UPDATES]


def figure(k, r):
    updates = [np.broadcast_to(np.arange(runs.pass_rate.shape[1]), runs.pass_rate.shape) for runs in r]
    thousands = [runs.completions / 1000 for runs in r]
    rates = [runs.pass_rate for runs in r]
    reach = 31 if dapo in (recipe_of(k.a).file, recipe_of(k.b).file) else 4  # eight rounds of a batch in every update
    rate_a, rate_b = (f"{modsum_rate(k.optimizer, rate):g}" for rate in (k.rate_a, k.rate_b))
    setting = f"3 seeds, {k.optimizer} at {rate_a} and {rate_b}"
    names = f"{k.a}, solid", f"{k.b}, dashed"

    def both(x, y, low, high, end):
        lines = *curves(x[0], y[0], k.a, 1), *curves(x[1], y[1], k.b, 2)
        return [*lines, label(end, high, names[0], 1, "right"), label(end, low, names[1], 2, "right")]

    steps = [np.maximum(runs.kl_step, 1e-5) for runs in r]  # a logarithmic axis has no 0
    return [
        by_update(
            "Pass rate by update",
            f"probability, exact, mean of 4 prompts, {setting}",
            *both(updates, rates, 0.02, 0.1, UPDATES),
            updates=UPDATES,
            tab="Training",
            front=True,
        ),
        by_update(
            "Distance of each update",
            "KL from the sampler, nats per completion, 3 seeds",
            *both([x[:, 1:] for x in updates], steps, 1.6e-7, 1e-6, UPDATES),
            updates=UPDATES,
            y_range=(1e-7, 100),
            log="y",
            tab="Training",
        ),
        panel(
            "Pass rate by completions sampled",
            f"probability, exact, mean of 4 prompts, {setting}",
            *both(thousands, rates, 0.02, 0.1, reach),
            x="thousand completions sampled",
            x_range=(0, reach),
            y_range=(0, 1.02),
            tab="By completions",
        ),
        by_update(
            "Entropy",
            "nats per completion, exact, 4 prompts, 3 seeds",
            *both(updates, [runs.entropy for runs in r], 6.0, 6.5, UPDATES),
            updates=UPDATES,
            y_range=(0, 7),
            tab="By completions",
        ),
    ]


def curves(x, y, name, series):
    """The mean of the seeds, as far as every seed goes, and each seed thin."""
    grid = np.linspace(x[:, 0].max(), x[:, -1].min(), 61)
    mean = np.mean([np.interp(grid, xs, ys) for xs, ys in zip(x, y)], axis=0)
    return [line(grid, mean, name, series), each_run(x, y, f"{name}, single runs", series)]


def readouts(k, r):
    states = ["violated" if lost(runs) else "" for runs in r] if finished(r) else ["", ""]
    used = [f"{runs.trained_on[:, -1].mean():,.0f} of {runs.completions[:, -1].mean():,.0f}" for runs in r]
    return [
        Readout("Pass rate of the first", r[0].pass_rate[:, -1].mean(), "", modsum.exact, states[0]),
        Readout("Pass rate of the second", r[1].pass_rate[:, -1].mean(), "", modsum.exact, states[1]),
        Readout("Optimizer steps, first and second", f"{r[0].steps} and {r[1].steps}", "", Trainer.step),
        Readout("Completions trained on, of those sampled", " and ".join(used), "", Controller.collect),
        Readout("Lead of the second at equal completions", ahead(r), "", equal_cost.lead),
    ]


def ahead(r):
    first, second = r
    return equal_cost.lead(first.completions, first.pass_rate, second.completions, second.pass_rate)


def finished(r):
    return r[0].kl_step.shape[1] == UPDATES


def lost(runs):
    """Whether some run left the range of its numbers, or ends with a prompt less often right than at the start."""
    return not bool((runs.gain >= -LOST).all())


def watched(k, r):
    return Gauge(
        "Gain of the prompt that gained least",
        min(runs.gain.min() for runs in r),
        -LOST,
        below=True,
        expression=f"gain of any prompt in any run < -{LOST}",
    )


def seen_at(k, r, cause):
    name = next(name for name, runs in zip((k.a, k.b), r) if lost(runs))
    words = "no numbers from here on" if cause == OVERFLOW else "one prompt ends below its start"
    return At("Pass rate by update", None, None, words, name)


OVERFLOW = "an exponential that overflows"


def broken(k, r):
    hurt = [i for i, runs in enumerate(r) if lost(runs)]
    if not finished(r) or not hurt:
        return None
    first = hurt[0]
    (name, rate), (other, _) = ((k.a, k.rate_a), (k.b, k.rate_b))[:: -1 if first else 1]
    at = f"{name} with {k.optimizer} at {modsum_rate(k.optimizer, rate):g}"
    claims = {"undoing it mends": lambda: not any(map(lost, end(run, replace(k, **fix(k, hurt)))))}
    if not np.isfinite(r[first].gain).all():
        why = f"{at} ends in NaN, because a token became so unlikely that the exponential in the loss overflowed."
        cause = OVERFLOW
        recipe = recipe_of(name)
        claims |= {"it has one, of k3": lambda: {**recipe.file.HP, **recipe.hyper}["beta"] > 0}
    else:
        ends = f"{at} ends {-r[first].gain.min():.2f} below its initial pass rate on one prompt"
        if len(hurt) == 1 and k.rate_a == k.rate_b and k.a != k.b and r[1 - first].pass_rate[:, -1].mean() >= WELL:
            why, cause = f"{ends}, because this rate suits only {other}.", "one rate for two files"
            claims |= {
                "it suits the other": lambda: bool((r[1 - first].gain >= -LOST).all()),
                "the rate alone is too high": lambda: not any(map(lost, end(run, slower(k, hurt)))),
            }
        elif rate > SLOW:
            why, cause = f"{ends}, because its rate is too high.", "a rate that is too high"
            claims |= {"the rate alone is": lambda: not any(map(lost, end(run, slower(k, hurt))))}
        else:
            why, cause = f"{ends}, after {r[first].steps} steps on {UPDATES} batches.", "too many steps on a batch"
        claims |= {"that much": lambda: r[first].gain.min() < -0.05}
    return Break(Said(why, claims), fix(k, hurt), cause)


SLOW = 2.0  # a rate at which no file loses a prompt


def slower(k, hurt):
    rates = [("rate_a", "rate_b")[i] for i in hurt]
    return replace(k, **{rate: SLOW for rate in rates if getattr(k, rate) > SLOW})


def fix(k, hurt):
    """Two at each rate, with the passes of the file."""
    mended = replace(slower(k, hurt), passes="as in the file") if k.passes == "16" else slower(k, hurt)
    return {f.name: getattr(mended, f.name) for f in fields(k) if getattr(mended, f.name) != getattr(k, f.name)}


def worse(k, r):
    ends = [runs.pass_rate[:, -1].mean() for runs in r]
    if not finished(r) or min(ends) >= WELL:
        return None
    slow, fast = sorted(zip(ends, (k.a, k.b)))
    return Said(
        f"{slow[1]} ends at a pass rate of {slow[0]:.3f} and {fast[1]} at {fast[0]:.3f}. No prompt is lost, but "
        f"{slow[1]} learned little.",
        {
            "none is": lambda: min(runs.gain.min() for runs in r) >= -0.05,
            "little": lambda: min(runs.pass_rate[:, -1].mean() for runs in r) < 0.6,
        },
    )


def holds(k, r):
    first, second = (runs.pass_rate[:, -1].mean() for runs in r)
    return Said(
        f"{k.a} ends at a pass rate of {first:.3f} and {k.b} at {second:.3f}, and neither lost a prompt.",
        {"neither did": lambda: not finished(r) or min(runs.gain.min() for runs in r) >= -0.05},
    )


def methods(k, r):
    settings = {}
    for name in (k.a, k.b):
        recipe = recipe_of(name)
        hyper = {**recipe.hyper, "inner_epochs": passes(k, name)}
        more = dict(samples=K, prompts=GROUPS, completion=modsum.T)
        settings[name] = options.setting(recipe.file, hyper, recipe.hooks, **more)
    return settings


# ── the first screen ──
TWO_RUNS = "learning rate 4", "learning rate 24"


def opened(plain, other):
    """One algorithm in two settings, and how far each of its updates goes."""
    x = np.arange(UPDATES + 1)
    right = [first.pass_rate.mean(axis=0) for first, _ in (plain, other)]
    far = [np.clip(first.kl_step, 1e-5, FARTHEST).mean(axis=0) for first, _ in (plain, other)]
    return [
        by_update(
            "Pass rate",
            "probability, exact, mean of 4 prompts and 3 seeds",
            *both(TWO_RUNS, x, *right),
            label(UPDATES, right[0][-1] + 0.02, f"{TWO_RUNS[0]}: {right[0][-1]:.2f}", 8, "right"),
            label(UPDATES, right[1][-1] + 0.04, f"{TWO_RUNS[1]}: {right[1][-1]:.2f}", 1, "right"),
            updates=UPDATES,
            y_range=(0, 1.15),
        ),
        by_update(
            "Distance of each update",
            f"nats, logarithmic, mean of 3 seeds; cut off at {FARTHEST:g}",
            *both(TWO_RUNS, x[1:], *far),
            updates=UPDATES,
            y_range=(1e-5, 3 * FARTHEST),
            log="y",
        ),
    ]


FARTHEST = 100  # nats, beyond which nothing is drawn
OPENING = Opening(
    Knobs(b="PPO", optimizer="SGD", rate_a=4.0, rate_b=24.0),
    Knobs(b="PPO", optimizer="SGD", rate_a=24.0, rate_b=24.0),
    opened,
    modsum.exact,
    TWO_RUNS,
)
