"""Training on completions of older weights beside the same run with fresh ones: how far they drift apart, what a ratio
mends, what a delivery costs.
"""

from dataclasses import dataclass, replace
from itertools import tee

import numpy as np

from sim.estimators import importance, precision
from sim.experiments import stale_policy
from sim.framework.algorithm import Algorithm
from sim.framework.controller import LOG_RATIO_EDGES
from sim.framework.rollout import RolloutEngine
from sim.framework.weight_sync import transfer_seconds
from sim.words import counted
from sim.worlds import tasks
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing.marks import band, bars, both, dots, label, line, panel, region, threshold
from widgets.frame.drawing.small_figures import Opening
from widgets.frame.drawing.written import figures

TITLE = "A run on old completions, compared with a run on fresh ones"
UPDATES = 120
COST = f"{UPDATES * 128:,} completions in each of two runs"
EVERY = 10  # updates between two pictures
LOST = 0.25  # a pass rate this far below the run with fresh weights counts as broken
COSTS = 0.05  # farther below than this is clearly worse, if seeds do not differ as much by themselves
# of the end on fresh weights by learning rate: standard deviation over the seeds 200 to 219
SPREAD = {0.003: 0.003, 0.01: 0.008, 0.02: 0.011, 0.03: 0.012, 0.05: 0.062}
APART = 2.6 * 2**0.5  # standard deviations: 99 of 100 pairs of seeds are nearer than this times the spread
NEVER = 128  # deliveries this rare do not happen within the run
BILLION = 1e9


@dataclass(frozen=True)
class Knobs:
    lag: int = ladder("Lag, in updates", 0, [0, 1, 2, 4, 8, 16, 32])
    correction: str = choice("Correction of the loss", "ratio and clip", list(importance.CORRECTIONS))
    every: int = ladder("Updates between deliveries", 1, [1, 2, 4, 8, 16, 32, 64, NEVER])
    learning_rate: float = ladder("Learning rate", 0.02, [0.003, 0.01, 0.02, 0.03, 0.05])
    form: str = choice("Number format in the engine", "fp32", list(precision.MANTISSA_BITS))
    size: float = ladder(
        "Size of the delivered model", 8.0, [0.5, 1.5, 8.0, 32.0, 70.0, 235.0, 671.0, 1000.0], unit="billion parameters"
    )
    width: int = ladder("Bytes per parameter", 2, [1, 2])
    link: float = ladder("Bandwidth of the link", 50.0, [1.0, 5.0, 12.5, 25.0, 50.0, 100.0, 400.0, 900.0], unit="GB/s")
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


PRESETS = {
    "Synchronous": Knobs(),
    "One step off": Knobs(lag=1),
    "Lag 8": Knobs(lag=8),
    "Lag 8, no correction": Knobs(lag=8, correction="none"),
    "Never delivered": Knobs(every=NEVER),
    "Files, every 8": Knobs(every=8, link=5.0),
}


@dataclass(frozen=True)
class Trace:
    pass_rate: list  # exact, at these updates, of both runs
    fresh: list
    at: list
    drifts: list  # a stale.Drift an update
    mismatch: dict  # mean |difference| of log-probs by number format, under the weights before training


def run(k):
    settings = dict(learning_rate=k.learning_rate, seed=k.seed)
    rounding = {
        form: precision.mismatch(*first_completions(), form)[0] for form in precision.MANTISSA_BITS if form != "fp32"
    }
    ours, fresh, at, drifts = [], [], [], []
    late = stale_policy.updates(k.correction, UPDATES, lag=k.lag, every=k.every, form=k.form, **settings)
    late, beside = tee(late) if synchronous(k) else (late, stale_policy.updates("ratio and clip", UPDATES, **settings))
    for drift, synced in zip(late, beside):
        drifts.append(drift)
        if drift.frame.exact:
            at.append(len(drifts))
            ours.append(drift.frame.exact["pass_rate"].mean())
            fresh.append(synced.frame.exact["pass_rate"].mean())
        if len(drifts) == 1 or len(drifts) % EVERY == 0:
            yield Trace(list(ours), list(fresh), list(at), list(drifts), rounding)


def synchronous(k):
    """Whether ours is the run on fresh completions itself."""
    return (k.lag, k.correction, k.every, k.form) == (0, "ratio and clip", 1, "fp32")


def first_completions():
    """The policy before training, and two completions of each prompt."""
    policy = tasks.checkpoint("add")
    return policy, RolloutEngine(policy).generate(tasks.Add(), tasks.PAIRS, 2, np.random.default_rng(0))[0]


def progress(k, r):
    return ["update", len(r.drifts), UPDATES]


def column(r, of):
    return np.array([of(drift) for drift in r.drifts])


def figure(k, r):
    x, edge = np.arange(1, len(r.drifts) + 1), dict(x="update", x_range=(0, UPDATES))
    share, clipped = column(r, lambda d: d.effective), column(r, lambda d: d.frame.clip_fraction)
    trainer, rollout = column(r, lambda d: d.trainer_version), column(r, lambda d: d.rollout_version)
    counts = r.drifts[-1].frame.log_ratio_counts
    return [
        panel(
            "Correct completions",
            "exact probability, 100 prompts, one seed",
            line(r.at, r.pass_rate, "this run"),
            line(r.at, r.fresh, "fresh weights", 8, "reference"),
            threshold(max(r.fresh[-1] - LOST, 0), f"breaks {LOST:g} below fresh", 0, outside=True),
            label(UPDATES, 1.02, "fresh weights", 8, "right"),
            **edge,
            y_range=(0, 1.14),
            tab="Training",
            front=True,
        ),
        panel(
            "What is left of a batch",
            "shares of its tokens, one seed",
            line(x, share, "effective sample"),
            line(x, clipped, "clipped", 2),
            label(UPDATES, 1.2, "effective sample size", 1, "right"),
            label(UPDATES, 1.02, "clipped tokens", 2, "right"),
            **edge,
            y_range=(0, 1.38),
            tab="Training",
        ),
        panel(
            "Versions",
            "optimizer steps made before each update",
            band([0, *x], [0, *rollout], [0, *trainer], 2),
            line(x, trainer, "trainer", 1, "step"),
            line(x, rollout, "rollout", 2, "step"),
            label(2, 110, "trainer", 1),
            label(2, 92, "rollout; shaded: the lag", 2),
            **edge,
            y_range=(0, 128),
            tab="Versions",
        ),
        panel(
            "Ratios in the last batch",
            "% of its tokens; shaded: the clip range",
            bars(
                LOG_RATIO_EDGES[:-1] / 2 + LOG_RATIO_EDGES[1:] / 2,
                100 * counts / counts.sum(),
                "tokens",
                1,
                "histogram",
            ),
            region(np.log(1 - importance.EPS), np.log(1 + importance.EPS)),
            x="ratio, trainer over rollout",
            x_range=(-2.1, 2.1),
            y_range=(0.01, 400),
            log="y",
            ticks=dict(tickvals=np.log([0.2, 0.5, 1, 2, 5]), ticktext=["0.2", "0.5", "1", "2", "5"]),
            tab="Versions",
        ),
        transfer(k),
        panel(
            "Log-probs under rounded weights",
            "mean change before training, thousandths of a nat",
            bars(
                list(r.mismatch),
                [1000 * v for v in r.mismatch.values()],
                "distance",
                1,
                text=[f"{1000 * v:.1f}" for v in r.mismatch.values()],
            ),
            y_range=(0, 70),
            tab="Delivery",
        ),
    ]


def transfer(k):
    size = np.geomspace(0.4, 1200, 60)
    seconds = transfer_seconds(size * BILLION, k.width, k.link)
    at_this_size = transfer_seconds(k.size * BILLION, k.width, k.link)
    return panel(
        "Minimum time of one delivery",
        "seconds, bytes over bandwidth; both axes logarithmic",
        line(size, seconds, "this link"),
        dots([k.size], [at_this_size], "this model", 1, "here"),
        label(0.45, 1500, f"{k.link:g} GB/s, {counted(k.width, 'byte')} per parameter", 1),
        x="billion parameters",
        x_range=(0.4, 1200),
        y_range=(3e-4, 5000),
        log="xy",
        tab="Delivery",
    )


def readouts(k, r):
    distance, share = r.drifts[-1].distance, 100 * r.drifts[-1].effective
    return [
        Readout("Pass rate", r.pass_rate[-1], "", tasks.exact_pass, "violated" if lost(r) else ""),
        Readout("Mean |log ratio|, last batch", distance if distance > 1e-12 else 0.0, "nats", stale_policy.updates),
        Readout("Effective sample size, last batch", round(share, 9), "% of tokens", importance.effective_sample_size),
        Readout(
            "Clipped tokens, mean of all updates",
            100 * column(r, lambda d: d.frame.clip_fraction).mean(),
            "%",
            Algorithm.compute_loss,
        ),
        Readout(
            "Minimum time of one delivery", transfer_seconds(k.size * BILLION, k.width, k.link), "s", transfer_seconds
        ),
    ]


def gap(r):
    return r.fresh[-1] - r.pass_rate[-1]


def lost(r):
    """Certain only at the end: a run may catch up."""
    return len(r.drifts) == UPDATES and gap(r) > LOST


def watched(k, r):
    return Gauge(
        "Pass rate behind fresh weights", round(gap(r), 9), LOST, expression=f"fresh_pass_rate - pass_rate > {LOST}"
    )


def seen_at(k, r, cause):
    return At("Correct completions", None, None, "{y:.2f}, far below fresh weights", "this run")


def broken(k, r):
    if not lost(r):
        return None
    why = f"It ends at {r.pass_rate[-1]:.3f} (fresh weights: {r.fresh[-1]:.3f}). {reason(k, r)}."
    return Break(Said(why, claims(k, r)), fix(k), cause(k, r))


def claims(k, r):
    """What is asserted of a break: without what is blamed the run is not lost, and the mechanism shows in it."""
    fresh = dict(lag=0, every=1) | (dict(form="fp32") if by_rounding(k) else {})
    asserted = {"without it the run ends as with fresh weights": lambda: not lost(end(run, replace(k, **fresh)))}
    if cause(k, r) == CLIPPED:
        return asserted | {"much of it is outside": lambda: r.drifts[-1].frame.clip_fraction > 0.1}
    if cause(k, r) == FEW:
        return asserted | {"few count": lambda: min(d.effective for d in r.drifts) < 0.5}
    return asserted


def stale(k):
    return k.lag > 0 or k.every > 1


def by_rounding(k):
    """Whether the break is, or may be, one of rounding: with fresh deliveries alone two of eight seeds are lost in e5m2
    under a clip at a rate of 0.05, and none elsewhere.
    """
    alone = k.form == "e5m2" and k.correction == "ratio and clip" and k.learning_rate > 0.03
    return not stale(k) or alone


def cause(k, r):
    """What is blamed: fresh weights undo it, as the reference run shows."""
    if not stale(k):
        return "samples from rounded weights"
    if by_rounding(k):
        return "samples from old and rounded weights"
    if k.correction == "none":
        return "old samples, used as new"
    if k.correction == "truncated ratio":
        return CUT
    return CLIPPED if mostly_clipped(k, r) else FEW


CLIPPED, FEW, CUT = "old samples that get clipped", "a few dominant old samples", "old samples with truncated weights"


def mostly_clipped(k, r):
    return k.correction == "ratio and clip" and clipped_share(r) > 0.2


def clipped_share(r):
    return np.mean([d.frame.clip_fraction for d in r.drifts[-20:]])


def reason(k, r):
    lag = max(d.trainer_version - d.rollout_version for d in r.drifts)
    late = [f"up to {counted(lag, 'update')} old"] * (lag > 0)
    rounded = [f"rounded to {k.form}"] * (k.form != "fp32" and by_rounding(k))
    wrote = f"weights {' and '.join(late + rounded)}"
    if k.correction == "none":
        return f"Samples from {wrote} were treated as if the present weights had written them"
    if k.correction == "truncated ratio":
        return f"The ratios of samples from {wrote} were truncated at 2"
    if mostly_clipped(k, r):
        return f"{100 * clipped_share(r):.0f} % of the last tokens are clipped, because they come from {wrote}"
    effective = 100 * min(d.effective for d in r.drifts)
    return f"Only {figures(effective)} % of one batch was effective, because it came from {wrote}"


def fix(k):
    few = k.lag <= 8 and k.every <= 8 and k.lag + k.every <= 9 and k.learning_rate <= 0.02
    values = dict(correction="ratio and clip") if k.correction == "none" else {}
    if not (few and k.correction == "none"):
        values = dict(lag=0, every=1) | values
    if not few:
        values |= dict(form="fp32")
    return recovery.different(k, values)


def worse(k, r):
    if len(r.drifts) < UPDATES or gap(r) <= max(COSTS, APART * SPREAD[k.learning_rate]):
        return None
    old, rounded = stale(k), k.form != "fp32"
    cost = "Age and rounding of the samples cost" if old and rounded else f"{'Old' if old else 'Rounded'} weights cost"
    fresh = dict(lag=0, every=1, form="fp32")
    return Said(
        f"It ends at {r.pass_rate[-1]:.3f} (fresh weights: {r.fresh[-1]:.3f}). {cost} more than seeds explain.",
        {
            "more than 99 of 100 pairs of seeds": lambda: gap(r) > 3.67 * SPREAD[k.learning_rate],
            "undoing it gives the run beside": lambda: abs(gap(end(run, replace(k, **fresh)))) < 0.005,
            "there is something to undo": lambda: replace(k, **fresh) != k,
        },
    )


def holds(k, r):
    ends = f"It ends at {r.pass_rate[-1]:.3f}, and the run with fresh weights ends at {r.fresh[-1]:.3f}"
    if len(r.drifts) == UPDATES and gap(r) > COSTS:
        return Said(
            f"{ends}. At this learning rate, two seeds can differ by as much.",
            {"they do": lambda: gap(r) <= 3.68 * SPREAD[k.learning_rate]},
        )
    return Said(f"{ends}.", {"no farther behind than a little": lambda: len(r.drifts) < UPDATES or gap(r) <= COSTS})


DARE = "Can you make the run end far below the run with fresh weights?"
GUESS = Guess(
    "With fresh batches, a run ends at a pass rate of 0.93. Where does it end if its batches are eight updates old?",
    ("about 0.35", "about 0.6", "about 0.85"),
    Knobs(lag=8),
    2,
    lambda k, r: f"It ends at {r.pass_rate[-1]:.2f}, and the run with fresh weights ends at {r.fresh[-1]:.2f}.",
)


# ── the first screen ──
TOGETHER = 5  # updates of which the first screen draws the mean


TWO_RUNS = "ratio and clip", "no correction"


def opened(plain, other):
    """The pass rate of both runs, and how much of their batches is left."""
    share = [column(r, lambda d: d.effective).reshape(-1, TOGETHER).mean(axis=1) for r in (plain, other)]
    at = np.arange(TOGETHER, UPDATES + 1, TOGETHER)
    edge = dict(x="update", x_range=(0, UPDATES))
    return [
        panel(
            "Correct completions",
            f"exact probability, 100 prompts, {UPDATES} updates",
            line(plain.at, plain.pass_rate, TWO_RUNS[0], 8, "reference"),
            line(other.at, other.pass_rate, TWO_RUNS[1], 1),
            label(UPDATES, plain.pass_rate[-1] + 0.06, TWO_RUNS[0], 8, "right"),
            label(UPDATES, other.pass_rate[-1] + 0.06, TWO_RUNS[1], 1, "right"),
            **edge,
            y_range=(0, 1.05),
        ),
        panel(
            "Effective share of a batch",
            f"of its token ratios, mean of {TOGETHER} updates",
            *both(TWO_RUNS, at, *share),
            label(UPDATES, 0.97, TWO_RUNS[0], 8, "right"),
            label(UPDATES, 0.12, TWO_RUNS[1], 1, "right"),
            **edge,
            y_range=(0, 1.05),
        ),
    ]


OPENING = Opening(Knobs(lag=8), Knobs(lag=8, correction="none"), opened, stale_policy.updates, TWO_RUNS)
