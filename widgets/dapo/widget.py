"""DAPO against GRPO on the same seeds, by updates and by completions drawn, each of DAPO's four fixes on a knob of its
own.
"""

from dataclasses import dataclass, fields

import numpy as np

from rlpt import options
from sim.algorithms import dapo, grpo
from sim.estimators import clip_entropy, equal_cost
from sim.experiments import refill
from sim.experiments.refill import GAIN, WINDOW
from sim.experiments.standard_runs import modsum_optimizer, modsum_rate
from sim.framework.algorithm import Algorithm
from sim.framework.controller import ROUNDS, Controller
from sim.words import counted
from sim.worlds import modsum
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import scene, trays
from widgets.frame.drawing.marks import band, bars, by_update, each_run, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Played

TITLE = "DAPO and GRPO from the same start, by updates and by completions sampled"
SEEDS, GROUPS, K = 3, 8, 8
COST = f"{SEEDS} seeds of each, by plain SGD unless Optimizer is set to AdamW"
GRPO_UPDATES = 125  # at most; GRPO otherwise trains until it has drawn as many completions as DAPO
LENGTHS = [15, 30, 45, 60]  # updates of DAPO
BEHIND = 0.2  # in pass rate, for as many completions
KEPT_DEAD = 0.02  # a share of the groups that were kept
WELL, SHORT = 0.7, 30  # a run of so many updates that ends below this is clearly behind the default, 0.90
PRICE = refill.BATCHES * GROUPS * K  # completions an update
PICTURES = 10
COIN_UPDATES, COIN_SEEDS = 150, 24


@dataclass(frozen=True)
class Knobs:
    updates: int = ladder("Number of DAPO updates", 30, LENGTHS)
    redraw: str = choice("Criterion for replacing groups", "accuracy", ["accuracy", "reward", "never"])
    eps_high: float = ladder("Upper clip range", 0.28, [0.2, 0.28, 0.4, 0.5, 1.0, 5.0], symbol="ε_high")
    optimizer: str = choice("Optimizer", "SGD", ["SGD", "AdamW"])
    learning_rate: float = ladder("Learning rate (AdamW: 1/100)", 4.0, [1.0, 2.0, 4.0, 10.0, 20.0])
    average: str = choice("Loss averaged over", "tokens", ["tokens", "completions"])
    L_cache: int = slider("Ramp of the length penalty", 4, low=0, high=11, step=1, symbol="L_cache", unit="tokens")
    passes: int = ladder("Passes over each batch", 4, [1, 2, 4, 8])
    grpo_rate: float = ladder("GRPO's rate relative to DAPO's", 1.0, [1.0, 2.5])
    grpo_groups: int = ladder("GRPO's groups per batch", 8, [8, 24])
    start: str = choice("Start of training", "hard prompts", ["hard prompts", "easier prompts", "too long"])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("redraw", "updates")
PRESETS = {
    "DAPO": Knobs(),
    "No refill": Knobs(redraw="never"),
    "Twice as long": Knobs(updates=60),
    "GRPO, larger batch and step": Knobs(grpo_rate=2.5, grpo_groups=24),
    "AdamW": Knobs(optimizer="AdamW", learning_rate=2.0),
    "Filter on the reward": Knobs(redraw="reward"),
}


@dataclass(frozen=True)
class Run:
    """One algorithm, a row a seed; rows of GRPO may differ in length."""

    completions: list  # (updates + 1,) each, from 0
    pass_rate: list  # (updates + 1, prompts) each, exact
    truncated: list  # (updates + 1,) each, exact, mean of the prompts
    live: list  # (updates,) each, groups
    kept: list  # (updates,) each, groups

    @property
    def mean_rate(self):
        return [rate.mean(axis=1) for rate in self.pass_rate]


@dataclass(frozen=True)
class Trace:
    dapo: Run
    grpo: Run
    drawn: refill.Drawn  # by the last update of the first seed
    coin: np.ndarray | None  # (seeds, updates + 1) entropy under coin rewards; not before the last picture

    @property
    def updates(self):
        return len(self.dapo.live[0])


def run(k):
    patched = [events(controller(k, dapo, k.passes, SEEDS * k.seed + i)) for i in range(SEEDS)]
    plain = [events(controller(k, grpo, k.passes, SEEDS * k.seed + i)) for i in range(SEEDS)]
    start = modsum.exact(policy(k.start).params["theta"])
    first = (0, start["pass_rate"], start["truncated"].mean(), 0, 0, None)
    d, g = [[first] for _ in range(SEEDS)], [[first] for _ in range(SEEDS)]
    every = max(k.updates // PICTURES, 1)
    for n in range(1, k.updates + 1):
        for i in range(SEEDS):
            d[i].append(next(patched[i]))
            while len(g[i]) <= n or (g[i][-1][0] < d[i][-1][0] and len(g[i]) <= GRPO_UPDATES):
                g[i].append(next(plain[i]))
        if n == 1 or (n % every == 0 and n < k.updates):
            yield Trace(columns(d), columns(g), d[0][-1][-1], None)
    coin = clip_entropy.coin_entropy(
        0.2,
        k.eps_high,
        k.passes,
        modsum_optimizer(k.optimizer, k.learning_rate),
        COIN_UPDATES,
        COIN_SEEDS,
        np.random.default_rng(k.seed),
    )
    yield Trace(columns(d), columns(g), d[0][-1][-1], coin)


def events(controller):
    """(completions so far, pass rates, share cut off, live groups, groups kept, what was drawn), an update each."""
    for frame, drawn in refill.updates(controller, 10**6):
        rate, cut = frame.exact["pass_rate"], frame.exact["truncated"].mean()
        yield frame.completions, rate, cut, frame.live_groups, int(drawn.kept.sum()), drawn


def columns(rows_by_seed):
    return Run(
        *(
            [np.array(column)[skip:] for column in by_seed]
            for skip, by_seed in zip((0, 0, 0, 1, 1), zip(*(zip(*(row[:5] for row in rows)) for rows in rows_by_seed)))
        )
    )


def controller(k, file, passes, seed):
    if file is dapo:
        algorithm, groups, rate = with_fixes(k, passes), GROUPS, k.learning_rate
    else:
        algorithm, groups = Algorithm(grpo, dict(inner_epochs=passes, beta=0.0)), k.grpo_groups
        rate = k.grpo_rate * k.learning_rate
    optimizer = modsum_optimizer(k.optimizer, rate)
    return Controller(algorithm, modsum.Task(), policy(k.start), optimizer, groups=groups, K=K, seed=seed)


def with_fixes(k, passes):
    """DAPO, of whose functions the knobs put some back to GRPO's."""
    shape_reward = dapo.shape_reward if k.L_cache else grpo.shape_reward

    keep = dict(accuracy=dapo.keep_group, never=grpo.keep_group, reward=refill.by_reward(shape_reward))
    hooks = dict(
        shape_reward=shape_reward,
        keep_group=keep[k.redraw],
        weights=dapo.weights if k.average == "tokens" else grpo.weights,
    )
    return Algorithm(dapo, dict(inner_epochs=passes, eps_high=k.eps_high, L_cache=k.L_cache), hooks)


def policy(start):
    if start != "too long":
        return modsum.Policy(modsum.HARD if start == "hard prompts" else modsum.DEFAULT)
    reluctant = modsum.Policy((0, 0, 0, 0))
    reluctant.params["theta"][:, :, modsum.EOS] -= (
        1.6  # assumed: nearly half of the completions are cut off at 12 tokens
    )
    return reluctant


def progress(k, r):
    return ["update", r.updates, k.updates]


def figure(k, r):
    reach = k.updates / 2  # thousand completions: eight rounds of a batch in every update
    runs = f"{SEEDS} seeds, {k.optimizer} at {modsum_rate(k.optimizer, k.learning_rate):g}"
    return [
        batch(k, r),
        by_update(
            "Pass rate by update",
            f"exact mean of 4 prompts, {runs}",
            *curves([np.arange(len(rate)) for rate in r.dapo.mean_rate], r.dapo.mean_rate, "DAPO", 1),
            *curves(
                [np.arange(r.updates + 1)] * SEEDS, [rate[: r.updates + 1] for rate in r.grpo.mean_rate], "GRPO", 2
            ),
            label(60, 0.12, "DAPO, solid", 1, "right"),
            label(60, 0.02, "GRPO, dashed", 2, "right"),
            updates=60,
            tab="By update",
        ),
        panel(
            "Pass rate by completions sampled",
            f"exact mean of 4 prompts, {runs}",
            *curves([c / 1000 for c in r.dapo.completions], r.dapo.mean_rate, "DAPO", 1),
            *curves([c / 1000 for c in r.grpo.completions], r.grpo.mean_rate, "GRPO", 2),
            label(reach, 0.12, "DAPO, solid", 1, "right"),
            label(reach, 0.02, "GRPO, dashed", 2, "right"),
            x="thousand completions sampled",
            x_range=(0, reach),
            y_range=(0, 1.02),
            tab="By completions",
        ),
        by_update(
            "Completions sampled per update",
            f"mean of the last {WINDOW} updates and {SEEDS} seeds",
            *price_curves(k, r),
            threshold(PRICE, f"{PRICE} = 4 batches: broken if nothing is gained", 560),
            label(60, k.grpo_groups * K + 6, "GRPO, dashed", 2, "right"),
            updates=60,
            y_range=(0, 560),
            tab="By completions",
        ),
        by_update(
            "Entropy under coin-flip rewards",
            f"nats, 20 actions, {COIN_SEEDS} seeds: mean and 10 to 90 %",
            *coin_curves(r),
            label(COIN_UPDATES, 0.1, "lower bound: 0.8", 1, "right"),
            updates=COIN_UPDATES,
            y_range=(0, 3.2),
            tab="Clip and length",
        ),
        by_update(
            "Completions cut off at 12 tokens",
            f"exact share, 4 prompts, {runs}",
            *curves([np.arange(len(cut)) for cut in r.dapo.truncated], r.dapo.truncated, "DAPO", 1),
            *curves([np.arange(r.updates + 1)] * SEEDS, [cut[: r.updates + 1] for cut in r.grpo.truncated], "GRPO", 2),
            label(60, 0.45, "DAPO, solid", 1, "right"),
            label(60, 0.41, "GRPO, dashed", 2, "right"),
            updates=60,
            y_range=(0, 0.5),
            tab="Clip and length",
        ),
    ]


def batch(k, r):
    """All groups that the last update of the first seed drew."""
    right, kept = r.drawn.right, r.drawn.kept
    live = int((~trays.alike(right)).sum())
    hold = "1 contains" if live == 1 else f"{live or 'none'} contain"
    return scene.scene(
        BATCH,
        f"update {r.updates}, first seed; check: correct; [above-2] better than its group; [level] alike",
        trays.refilled(
            "a",
            f"{right.size} answers in {len(right)} groups, of which {hold} a correct answer and a wrong one.",
            trays.Sorted(3, GROUPS, GROUPS * ROUNDS, smaller=3),
            right,
            kept,
            trays.for_nothing(kept, K) if r.updates == k.updates and spent(r) and not behind(k, r) else "",
        ),
        tab="By update",
        front=True,
        data=[bars(list(range(K + 1)), np.bincount(right.sum(axis=1), minlength=K + 1), "groups by correct answers")],
    )


BATCH = "Everything that one update samples"


def curves(x_by_seed, y_by_seed, name, series):
    """The mean of the seeds, as far as every seed goes, and each seed thin."""
    grid = np.linspace(0, min(x[-1] for x in x_by_seed), 121)
    mean = np.mean([np.interp(grid, x, y) for x, y in zip(x_by_seed, y_by_seed)], axis=0)
    return [line(grid, mean, name, series), each_run(x_by_seed, y_by_seed, f"{name}, single runs", series)]


def price_curves(k, r):
    x, smooth = np.arange(1, r.updates + 1), by_window(r)
    return [line(x, smooth, "DAPO", 1), line(x, np.full(len(x), float(k.grpo_groups * K)), "GRPO", 2)]


def by_window(r):
    """Completions that DAPO drew for an update, mean of the seeds and of the last updates, (updates,)."""
    drawn = np.array([np.diff(completions) for completions in r.dapo.completions]).mean(axis=0)
    return [drawn[max(n - WINDOW, 0) : n].mean() for n in range(1, len(drawn) + 1)]


def coin_curves(r):
    if r.coin is None:
        return []
    x = np.arange(r.coin.shape[1])
    low, high = np.quantile(r.coin, (0.1, 0.9), axis=0)
    return [line(x, r.coin.mean(axis=0), "mean", 1), band(x, low, high, 1)]


def readouts(k, r):
    is_broken = broken(k, r) is not None
    return [
        Readout("Pass rate of DAPO", last_rate(r.dapo), "", modsum.exact),
        Readout(
            "Pass rate of GRPO, equal updates",
            np.mean([rate[r.updates] for rate in r.grpo.mean_rate]),
            "",
            modsum.exact,
        ),
        Readout(
            "DAPO's lead at equal completions",
            ahead(r),
            "",
            equal_cost.lead,
            "violated" if is_broken and behind(k, r) else "",
        ),
        Readout(
            f"Completions per update, last {WINDOW}",
            drawn_lately(r),
            "",
            Controller.collect,
            "violated" if is_broken and not behind(k, r) else "",
        ),
        Readout(f"Pass rate gained, last {WINDOW}", 100 * gain_lately(r), "points", modsum.exact),
    ]


def last_rate(run):
    return np.mean([rate[-1] for rate in run.mean_rate])


def ahead(r):
    return equal_cost.lead(r.grpo.completions, r.grpo.mean_rate, r.dapo.completions, r.dapo.mean_rate)


def dead_share(r):
    """Of the groups that DAPO trained on."""
    return 1 - np.sum(r.dapo.live) / max(np.sum(r.dapo.kept), 1)


def live_lately(r):
    return np.mean([live[-WINDOW:] for live in r.dapo.live])


def drawn_lately(r, update=None):
    """Completions an update over the window that ends at this update, or at the last one."""
    n = r.updates if update is None else update
    first = max(n - WINDOW, 0)
    return np.mean([(drawn[n] - drawn[first]) / (n - first) for drawn in r.dapo.completions])


def gain_lately(r, update=None):
    """Pass rate gained over the same window."""
    n = r.updates if update is None else update
    return np.mean([rate[n] - rate[max(n - WINDOW, 0)] for rate in r.dapo.mean_rate])


def spent(r, update=None):
    """Whether the refill went on paying more than four batches an update and got nothing for it."""
    return bool(drawn_lately(r, update) > PRICE and gain_lately(r, update) < GAIN)


def behind(k, r):
    """Whether DAPO is far behind a GRPO of its own rate and batch; luck with a hard prompt is worth 0.17."""
    return (k.grpo_rate, k.grpo_groups) == (1, GROUPS) and bool(ahead(r) < -BEHIND)


def watched(k, r):
    if behind(k, r):
        return Gauge(
            "DAPO's lead at equal completions",
            ahead(r),
            -BEHIND,
            below=True,
            expression=f"DAPO's lead at equal completions < -{BEHIND}",
        )
    return Readout(
        f"Completions per update, gain in {WINDOW} updates",
        f"{drawn_lately(r):.0f} and {100 * gain_lately(r):.1f}".replace("-", "−"),
        f"points; breaks above {PRICE} completions if the gain is under {counted(f'{100 * GAIN:g}', 'point')}",
        Controller.collect,
    )


def seen_at(k, r, cause):
    if behind(k, r):
        return At("Pass rate by update", None, None, "behind GRPO at equal completions", "DAPO")
    return At(BATCH, None, None, trays.for_nothing(r.drawn.kept, K))


def broken(k, r):
    if r.updates < k.updates:
        return None
    if behind(k, r):
        why = Said(
            f"DAPO ends at a pass rate of {last_rate(r.dapo):.3f}, and GRPO is {-ahead(r):.2f} ahead after equally "
            "many completions: the fixes cost more than they gain.",
            {
                "more than luck with a hard prompt is worth": lambda: ahead(r) < -0.17,
                "both have one rate and one batch": lambda: k.grpo_rate == 1 and k.grpo_groups == GROUPS,
            },
        )
        return Break(why, fix(k), "a fix that does not pay")
    if spent(r):
        paying = [n for n in LENGTHS if n < k.updates and not spent(r, n)]
        why = Said(
            f"The last {WINDOW} updates moved the pass rate by {gained_lately(r)} points, although each "
            f"sampled {drawn_lately(r):.0f} completions to find {live_lately(r):.1f} live groups of {GROUPS}.",
            {
                "more than four batches each": lambda: (
                    np.mean([c[-1] - c[-11] for c in r.dapo.completions]) > 10 * PRICE
                ),
                "for less than a point": lambda: np.mean([m[-1] - m[-11] for m in r.dapo.mean_rate]) < 0.01,
                "they are drawn again": lambda: k.redraw != "never",
            },
        )
        return Break(why, dict(updates=paying[-1]) if paying else dict(redraw="never"), "resampling that gains nothing")
    return None


def gained_lately(r):
    return f"{100 * gain_lately(r):+.1f}".replace("-", "−")


def fix(k):
    """Every setting of DAPO's own that was changed; where none was, it is the luck of a seed."""
    own = ("updates", "redraw", "eps_high", "learning_rate", "average", "L_cache", "passes")
    return recovery.different(k, {f.name: f.default for f in fields(k) if f.name in own}) or dict(seed=0)


def worse(k, r):
    if r.updates < k.updates or k.updates < SHORT:
        return None
    if k.redraw == "reward" and (dead := dead_share(r)) > KEPT_DEAD:
        return Said(
            f"DAPO ends at a pass rate of {last_rate(r.dapo):.3f}: {100 * dead:.0f} % of the groups that it kept are "
            "all correct or all wrong and differ in length alone.",
            {
                "more were kept than are live": lambda: np.sum(r.dapo.kept) > np.sum(r.dapo.live),
                "length is charged": lambda: k.L_cache > 0,
            },
        )
    if last_rate(r.dapo) >= WELL:
        return None
    as_many = np.mean([rate[r.updates] for rate in r.grpo.mean_rate])
    return Said(
        f"After {k.updates} updates, DAPO has a pass rate of {last_rate(r.dapo):.3f} and GRPO of {as_many:.3f}. The "
        f"last {WINDOW} moved DAPO by {gained_lately(r)} points.",
        {"the default does better": lambda: last_rate(end(run, Knobs(seed=k.seed)).dapo) > last_rate(r.dapo)},
    )


def holds(k, r):
    return Said(
        f"DAPO ends at a pass rate of {last_rate(r.dapo):.3f}. Its last {WINDOW} updates moved it "
        f"by {gained_lately(r)} points.",
        {
            "nothing is paid for nothing": lambda: (
                r.updates < k.updates or drawn_lately(r) <= PRICE or gain_lately(r) >= GAIN
            )
        },
    )


def methods(k, r):
    more = dict(filter=k.redraw, aggregation=k.average, samples=K, completion=modsum.T)
    hyper = dict(inner_epochs=k.passes, eps_high=k.eps_high, L_cache=k.L_cache)
    return {
        "DAPO": options.setting(dapo, hyper, prompts=GROUPS, **more),
        "GRPO": options.setting(
            grpo, dict(inner_epochs=k.passes, beta=0.0), prompts=k.grpo_groups, samples=K, completion=modsum.T
        ),
    }


GUESS = Guess(
    "If GRPO gets a batch three times as large, how much of DAPO's lead after 30 updates is left?",
    ("none", "about half", "nearly all"),
    Knobs(grpo_groups=24),
    2,
    lambda k, r: (
        f"DAPO ends at {last_rate(r.dapo):.2f}, GRPO at {np.mean([rate[r.updates] for rate in r.grpo.mean_rate]):.2f}: "
        "a larger batch makes each step less noisy, but not longer."
    ),
)

DARE = "Can you make updates sample a lot and gain nothing?"
OPENING = Played(Knobs(redraw="never", updates=60), Knobs(updates=60), "opening")
