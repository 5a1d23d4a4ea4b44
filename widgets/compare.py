"""Any two of the algorithm files, or of the recipes made of them, on the same task from the same seeds, by updates and
by completions drawn.
"""

from dataclasses import dataclass

import numpy as np

from sim.algorithms import FILES, dapo
from sim.algorithms.recipes import RECIPES, Recipe
from sim.estimators import equal_cost
from sim.experiments.runs import modsum_run
from sim.worlds import modsum
from widgets.frame.contract import Break, Readout, choice, ladder, slider
from widgets.frame.marks import each_run, label, line, panel, threshold

TITLE = "Two algorithms, one task, the same seeds"
UPDATES, SEEDS, GROUPS, K = 60, 3, 8, 8
EVERY = 4  # updates between two pictures
CHOICES = [*FILES, *RECIPES]
NATS = 1.0  # an update farther than this from the policy that sampled its batch counts as broken


@dataclass(frozen=True)
class Knobs:
    a: str = choice("First", "GRPO", CHOICES)
    b: str = choice("Second", "Dr.GRPO", CHOICES)
    rate_a: float = ladder("Learning rate of the first", 2.0, [0.5, 1.0, 2.0, 4.0, 8.0, 12.0, 24.0, 40.0])
    rate_b: float = ladder("Learning rate of the second", 2.0, [0.5, 1.0, 2.0, 4.0, 8.0, 12.0, 24.0, 40.0])
    passes: str = choice("Passes over each batch", "as in the file", ["as in the file", "1", "4", "16"])
    start: str = choice("Start", "easier prompts", ["easier prompts", "hard prompts"])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


PRESETS = {
    "GRPO and Dr.GRPO": Knobs(),
    "Steps matched": Knobs(rate_b=12.0),
    "REINFORCE and RLOO": Knobs(a="REINFORCE", b="RLOO"),
    "GRPO and DAPO, hard": Knobs(b="DAPO", rate_a=4.0, rate_b=4.0, start="hard prompts"),
    "PPO and RLOO, 16 passes": Knobs(a="PPO", b="RLOO", rate_a=8.0, rate_b=8.0, passes="16"),
}


@dataclass(frozen=True)
class Run:
    """Three runs of one file, a row a seed."""

    completions: np.ndarray  # (seeds, updates + 1)
    pass_rate: np.ndarray  # (seeds, updates + 1) exact, mean of the prompts
    entropy: np.ndarray  # (seeds, updates + 1) exact, nats a completion
    kl_step: np.ndarray  # (seeds, updates) exact, nats, mean of the prompts
    clip_fraction: np.ndarray  # (seeds, updates) at the last pass


def run(k):
    pair = [
        [built(k, name, rate, SEEDS * k.seed + i).frames(UPDATES) for i in range(SEEDS)]
        for name, rate in ((k.a, k.rate_a), (k.b, k.rate_b))
    ]
    start = modsum.exact(modsum.Policy(initial(k.start)).params["theta"])
    seen = [], []
    for _ in range(UPDATES):
        with np.errstate(all="ignore"):  # a run may leave the range of its numbers, which is then what is shown
            for kept, runs in zip(seen, pair):
                kept.append([next(frames) for frames in runs])
        if len(seen[0]) == 1 or len(seen[0]) % EVERY == 0:
            yield tuple(collected(kept, start) for kept in seen)


def built(k, name, rate, seed):
    recipe, passes = recipe_of(name), {} if k.passes == "as in the file" else dict(inner_epochs=int(k.passes))
    return modsum_run(
        recipe.file,
        seed=seed,
        learning_rate=rate,
        groups=GROUPS,
        K=K,
        c=initial(k.start),
        hyper={**recipe.hyper, **passes},
        hooks=recipe.hooks,
    )


def recipe_of(name):
    """A row of sim/algorithms/recipes.py; a file by itself is the recipe that exchanges nothing."""
    return RECIPES.get(name) or Recipe(FILES[name])


def initial(start):
    return modsum.HARD if start == "hard prompts" else modsum.DEFAULT


def collected(seen, start):
    def column(of, first=None):
        rows = np.array([[of(frame) for frame in frames] for frames in zip(*seen)])
        return rows if first is None else np.concatenate([np.full((len(rows), 1), first), rows], axis=1)

    return Run(
        column(lambda f: f.completions, 0),
        column(lambda f: f.exact["pass_rate"].mean(), start["pass_rate"].mean()),
        column(lambda f: f.exact["completion_entropy"].mean(), start["completion_entropy"].mean()),
        np.nan_to_num(column(lambda f: f.exact["kl_step"].mean()), nan=np.inf),
        column(lambda f: f.clip_fraction),
    )


def progress(k, r):
    return ["update", r[0].kl_step.shape[1], UPDATES]


def figure(k, r):
    updates = [np.broadcast_to(np.arange(one.pass_rate.shape[1]), one.pass_rate.shape) for one in r]
    thousands = [one.completions / 1000 for one in r]
    rates = [one.pass_rate for one in r]
    reach = 20 if k.start == "hard prompts" or dapo in (recipe_of(k.a).file, recipe_of(k.b).file) else 4
    names = f"{k.a}, solid", f"{k.b}, dashed"

    def both(x, y, low, high, end, bottom):
        drawn = *curves(x[0], y[0], k.a, 1), *curves(x[1], y[1], k.b, 2)
        return [*drawn, label(end, high, names[0], 1, "right"), label(end, low, names[1], 2, "right"), *bottom]

    steps = [np.maximum(one.kl_step, 1e-5) for one in r]  # a logarithmic axis has no 0
    return [
        panel(
            "Right completions by update",
            "probability, exact, mean of 4 prompts, 3 seeds",
            *both(updates, rates, 0.02, 0.1, UPDATES, []),
            x="update",
            x_range=(0, UPDATES),
            y_range=(0, 1.02),
            tab="Training",
        ),
        panel(
            "Distance of each update",
            "KL from the policy that sampled, nats a completion, exact, 3 seeds",
            *both(
                [x[:, 1:] for x in updates],
                steps,
                1.6e-7,
                1e-6,
                UPDATES,
                [threshold(NATS, f"breaks above {NATS:g} nat", 100)],
            ),
            x="update",
            x_range=(0, UPDATES),
            y_range=(1e-7, 100),
            log="y",
            tab="Training",
            front=True,
        ),
        panel(
            "Right completions by completions drawn",
            "probability, exact, mean of 4 prompts, 3 seeds",
            *both(thousands, rates, 0.02, 0.1, reach, []),
            x="thousand completions drawn",
            x_range=(0, reach),
            y_range=(0, 1.02),
            tab="By completions",
        ),
        panel(
            "Entropy",
            "nats a completion, exact, mean of 4 prompts, 3 seeds",
            *both(updates, [one.entropy for one in r], 6.0, 6.5, UPDATES, []),
            x="update",
            x_range=(0, UPDATES),
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
    first, second = (one.pass_rate[:, -1].mean() for one in r)
    gap = np.abs(r[0].pass_rate - r[1].pass_rate).max()
    farthest = max(one.kl_step.max() for one in r)
    return [
        Readout("Pass rate of the first", first, "", modsum.exact),
        Readout("Pass rate of the second", second, "", modsum.exact),
        Readout("Largest gap at any update", gap, "", modsum.exact),
        Readout("Second ahead, as many completions", ahead(r), "", equal_cost.lead),
        Readout("Largest KL of one update", farthest, "nats", modsum.exact_kl, "violated" if farthest > NATS else ""),
    ]


def ahead(r):
    first, second = r
    return equal_cost.lead(first.completions, first.pass_rate, second.completions, second.pass_rate)


def watched(k, r):
    return Readout(f"max(kl_step) > {NATS}", max(one.kl_step.max() for one in r), "nats", modsum.exact_kl)


def broken(k, r):
    distance = [one.kl_step.max() for one in r]
    if max(distance) <= NATS:
        return None
    far = int(np.argmax(distance))
    name, rate = ((k.a, k.rate_a), (k.b, k.rate_b))[far]
    if not np.isfinite(distance[far]):
        return Break(
            f"{name} at learning rate {rate:g} left the range of its numbers: a token became so unlikely that the "
            "exponential in its loss overflowed.",
            f"Learning rate of the {('first', 'second')[far]}: 2.",
        )
    again = "" if k.passes in ("as in the file", "1") else f" and {k.passes} passes over each batch"
    return Break(
        f"{name} at learning rate {rate:g}{again} went {distance[far]:.1f} nats in one update, farther than its "
        "batch says anything about.",
        "Passes over each batch: 1." if again else f"Learning rate of the {('first', 'second')[far]}: 2.",
    )
