"""Which kernel repays its weeks in a given step, and how many sequences still count when sampler and trainer round
differently.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sim.cluster import kernels
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.kernels import Workload
from sim.cluster.models import MODELS
from sim.experiments import rounding_net
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing.marks import band, bars, dots, each_run, label, line, panel, region, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "What each kernel saves, and how many sequences still count"

MODEL, CHIP = MODELS["qwen2.5-7b"], ACCELERATORS["h100"]
LENGTHS = [2**n for n in range(6, 17)]
CURVE = np.unique(np.round(2.0 ** np.linspace(3, 17, 57)).astype(np.int64))
WALK = np.unique(np.round(np.linspace(1, 4096, 65)).astype(np.int64))
HALF = 50.0  # % of the sequences
FAR = 0.35  # nats of a sequence: half of the samples would not count if they were weighed (s² / 2 with e^(−s²) = 1/2)
BEST, FAMOUS = "by return, again after each", "prefix attention first"
ONCE = "once"
SHORT = ("prefix", "log-prob", "packing", "sync", "paging", "turns")


@dataclass(frozen=True)
class Knobs:
    mode: str = choice("Number format of the sampler", "fp16", list(rounding_net.MODES))
    completion: int = ladder("Completion length", 4096, LENGTHS, unit="tokens")
    prompt: int = ladder("Prompt length", 1024, LENGTHS, unit="tokens")
    turns: int = ladder("Turns per completion", 1, [1, 2, 5, 10, 20, 50])
    weeks: int = slider("Weeks of engineering", 12, low=0, high=24, step=1)
    layers: int = ladder("Layers of the network", 8, list(rounding_net.DEPTHS))
    weighing: str = choice("What each ratio weights", rounding_net.WEIGHINGS[0], list(rounding_net.WEIGHINGS))
    order: str = choice("Order of writing kernels", BEST, [BEST, FAMOUS])
    samples: int = ladder("Completions per prompt", 16, [1, 2, 4, 8, 16, 32, 64], symbol="K")
    groups: int = ladder("Concurrent prompts per GPU", 16, [1, 2, 4, 8, 16, 24, 32, 64])
    cached: str = choice("Caching of a shared prompt", "for each completion", ["for each completion", ONCE])
    spread: float = slider("Relative spread of lengths", 1.0, low=0.0, high=2.0, step=0.1)
    micro_batch: int = ladder("Sequences per micro-batch", 8, [1, 2, 4, 8, 16, 32])
    rollout: float = slider("Rollout share of the step", 0.70, low=0.0, high=1.0, step=0.01)
    logp: float = slider("Log-prob share of the step", 0.08, low=0.0, high=0.5, step=0.01)
    train: float = slider("Training share of the step", 0.14, low=0.0, high=1.0, step=0.01)
    sync: float = slider("Sync share of the step", 0.05, low=0.0, high=1.0, step=0.01)
    scale: float = slider("Multiplier of assumed weeks", 1.0, low=0.5, high=3.0, step=0.5)


AGENTS = Knobs(completion=8192, prompt=8192, turns=20, groups=2, logp=0.06, train=0.10, sync=0.04)
KNOB_GROUPS = {
    "Rounding": ("layers", "weighing"),
    "Batch": ("prompt", "turns", "samples", "groups", "cached", "spread", "micro_batch"),
    "Writing kernels": ("weeks", "order", "scale"),
    "Shares of a step": ("rollout", "logp", "train", "sync"),
}
PRESETS = {
    "Prompts of 1,024": Knobs(),
    "Prompts of 256": Knobs(completion=8192, prompt=256, groups=8),
    "Agents, 20 turns": AGENTS,
    "A slow weight sync": Knobs(rollout=0.50, sync=0.25),
    "bf16, 4,096 tokens": Knobs(mode="bf16"),
    "24 prompts at a time": Knobs(groups=24),
}
GUESS = Guess(
    "16 completions of 8,192 tokens share a prompt of 256. How much of the step is saved by reading it only once?",
    ("nearly half", "a seventh", "a fortieth"),
    PRESETS["Prompts of 256"],
    2,
    lambda k, r: f"It saves {100 * r.surfaces[0].gain:.1f} %, because 256 tokens are few compared with 8,192.",
)


@dataclass(frozen=True)
class Result:
    gap: np.ndarray  # Δ of sampled tokens
    share: float  # of the sequences, that counts
    far: float  # nats of a sequence that no weight makes good
    surfaces: list
    names: list  # in the order that they are written
    steps: list  # what is left of the step after each
    best: float  # the least that any set of kernels leaves which these weeks pay for
    needs: float  # bytes
    room: float
    running: int


def work(k):
    shares = np.array([k.rollout, k.logp, k.train, k.sync])
    shares = shares / max(shares.sum(), 1.0)  # the five of a step come to one
    return Workload(
        k.prompt, k.completion, k.samples, k.groups, k.turns, k.spread, k.micro_batch, *(float(s) for s in shares)
    )


def run(k):
    gap = rounding_net.gaps()[k.mode, k.layers]
    surfaces = kernels.surfaces(MODEL, CHIP, work(k), [k.scale * w for w in kernels.WEEKS])
    by_return = kernels.best_first(surfaces)
    first = [kernels.SURFACES[0]] if k.order == FAMOUS else []
    names = afforded(surfaces, [*first, *(n for n in by_return if n not in first)], k.weeks)
    steps, _ = kernels.bought(surfaces, names)
    needs, room, running = kernels.fits(MODEL, CHIP, work(k), k.cached == ONCE)
    yield Result(
        gap,
        float(rounding_net.effective_share(gap, k.completion, k.weighing)),
        rounding_net.uncorrected(gap, k.completion, k.weighing),
        surfaces,
        names,
        steps,
        least_left(surfaces, k.weeks),
        needs,
        room,
        running,
    )


def afforded(surfaces, names, weeks):
    """Those that the weeks pay for, in this order."""
    price = {s.name: s.weeks for s in surfaces}
    bought = []
    for name in names:
        if price[name] <= weeks:
            bought.append(name)
            weeks -= price[name]
    return bought


def affordable(surfaces, weeks):
    """All sets of kernels that the weeks pay for."""
    sets = (chosen for n in range(len(surfaces) + 1) for chosen in combinations(surfaces, n))
    return [chosen for chosen in sets if sum(s.weeks for s in chosen) <= weeks]


def least_left(surfaces, weeks):
    """What is left of the step with the best of all affordable sets: by return alone can end behind it."""
    return min(kernels.bought(surfaces, [s.name for s in chosen])[0][-1] for chosen in affordable(surfaces, weeks))


# What is drawn


def figure(k, r):
    return [counting(k, r), walks(k, r), returns(k, r), purchases(k, r), ratios(k, r), memory(k, r)]


WHOLE, TOKENS, _ = rounding_net.WEIGHINGS
COUNT = "Sequences out of 100 that still count"


def counting(k, r):
    """Sequences that count, by length."""
    marks = []
    for mode in rounding_net.MODES:
        if mode != k.mode:
            gap = rounding_net.gaps()[mode, k.layers]
            marks.append(line(CURVE, 100 * rounding_net.effective_share(gap, CURVE, k.weighing), mode, 8, "reference"))
            if mode != "bf16, fp32 head" and k.weighing == WHOLE:
                marks.append(label(0.6 * rounding_net.half_life(gap), 62, mode, 8, "right"))
    marks += [
        line(CURVE, 100 * rounding_net.effective_share(r.gap, CURVE, k.weighing), k.mode, 1),
        dots([k.completion], [100 * r.share], "here", role="here"),
    ]
    return panel(
        COUNT if k.weighing != TOKENS else "Tokens out of 100 that still count",
        f"effective sample size; [s8] other formats; {k.layers} layers",
        *marks,
        threshold(HALF, "fewer than half", 0),
        x="tokens in a sequence",
        log="x",
        x_range=[8, 2**17],
        y_range=[0, 105],
        tab="Rounding",
        front=True,
    )


def walks(k, r):
    """The log-ratio of a few sequences as they get longer, and where the normal law has them."""
    sums = rounding_net.drift(r.gap, WALK, 8, np.random.default_rng(0))
    variance = float(r.gap.var())
    middle, around = -WALK * variance / 2, np.sqrt(WALK * variance)
    return panel(
        "Log-ratio of a sequence, trainer over sampler",
        "nats; 8 sequences; band: −tσ²/2 ± √t σ",
        band(WALK, np.clip(middle - around, -30, 10), np.clip(middle + around, -30, 10)),
        each_run(WALK, np.clip(sums, -30, 10)),
        line(WALK, np.clip(middle, -30, 10), "−tσ²/2", 2, "exact"),
        x="tokens, t",
        x_range=[0, 4096],
        y_range=[-30, 10],
        tab="Rounding",
    )


def returns(k, r):
    """What each kernel saves of the step a week of work."""
    places = list(range(len(r.surfaces)))
    gains = [100 * s.by_week for s in r.surfaces]
    return panel(
        "Share of the step saved per week of work",
        "%; weeks are assumed; above each bar, its whole saving",
        bars(places, gains, "% per week", 1),
        *(label(n, g + 0.1, f"{100 * s.gain:.1f}", 1, "center") for n, (s, g) in enumerate(zip(r.surfaces, gains))),
        x="kernel",
        x_range=[-0.6, 5.6],
        y_range=[0, 16],
        tab="Savings",
        ticks=dict(tickvals=places, ticktext=list(SHORT), tickangle=0),
    )


def purchases(k, r):
    """The step as kernels are written one after the other."""
    price = {s.name: s.weeks for s in r.surfaces}
    by_return = kernels.best_first(r.surfaces)
    marks = [stairs(r.surfaces, by_return, price, "by return", "reference")]
    marks.append(stairs(r.surfaces, r.names, price, "as chosen", "step"))
    week, last, foot = 0.0, -9.0, 0.0
    for name, rest in zip(r.names, r.steps[1:]):
        week += price[name]
        foot = max(100 * rest + 1, foot + 9) if week - last < 5 and foot - 100 * rest < 9 else 100 * rest + 1
        last = week
        marks.append(label(week + 0.2, foot, SHORT[kernels.SURFACES.index(name)], 1))  # not on the one before
    marks.append(dots([k.weeks], [100 * r.steps[-1]], "here", role="here"))
    return panel(
        "Length of the step after each kernel",
        "% of today’s step; [s8] best order, with enough weeks",
        *marks,
        x="weeks of work",
        x_range=[0, 26],
        y_range=[0, 112],
        tab="Savings",
    )


def stairs(surfaces, names, price, called, role):
    steps, _ = kernels.bought(surfaces, names)
    weeks = np.cumsum([0.0, *(price[name] for name in names)])
    return line(np.repeat(weeks, 2)[1:], 100 * np.repeat(steps, 2)[:-1], called, 8 if role == "reference" else 1, role)


def ratios(k, r):
    """Ratios of single tokens."""
    edges = np.linspace(0.5, 1.5, 41)
    counts, _ = np.histogram(np.exp(r.gap), edges)
    return panel(
        "Per-token ratios",
        f"share of {len(r.gap):,} tokens, 4 random networks; band: a usual clip",
        region(0.8, 1.2),
        bars((edges[1:] + edges[:-1]) / 2, counts / len(r.gap), "share of tokens", 1, "histogram"),
        x="trainer’s over sampler’s probability",
        x_range=[0.5, 1.5],
        y_range=[0, 1],
        tab="Tokens, memory",
    )


def memory(k, r):
    """Weights and cache of a GPU, by prompts at a time."""
    groups = [1, 2, 4, 8, 16, 24, 32, 64]
    top, chosen, beside = 320, (1, ""), (8, "reference")
    works = [Workload(k.prompt, k.completion, k.samples, many) for many in groups]
    needs = [[kernels.fits(MODEL, CHIP, w, kept_once)[0] / 1e9 for w in works] for kept_once in (False, True)]
    each, once = np.minimum(needs, top)
    return panel(
        "Weights and cache of a GPU",
        f"GB; {MODEL.name} on {CHIP.name}, at the mean context",
        line(groups, each, "a prompt for each completion", *(beside if k.cached == ONCE else chosen)),
        line(groups, once, "a prompt kept once", *(chosen if k.cached == ONCE else beside)),
        dots([k.groups], [min(r.needs / 1e9, top)], "here", role="here"),
        threshold(r.room / 1e9, "no room", top),
        x="concurrent prompts",
        x_range=[0, 66],
        y_range=[0, top],
        tab="Tokens, memory",
    )


# What is said


def readouts(k, r):
    fits, enough = r.needs <= r.room, r.share >= HALF / 100
    life = f"{rounding_net.half_life(r.gap):,.0f}" if k.weighing == WHOLE else "unlimited"
    lost = "" if enough else "violated"
    return [
        Readout("Effective sample size", 100 * r.share, "%", rounding_net.effective_share, lost),
        Readout("Length at which half count", life, "tokens", rounding_net.half_life),
        Readout("Kernel to write first", (kernels.ranked(r.surfaces) or ["none"])[0], "", kernels.ranked, "assumed"),
        Readout("Step after these kernels", 100 * r.steps[-1], "%", kernels.bought),
        Readout(
            "Weights and cache",
            f"{r.needs / 1e9:,.1f} of {r.room / 1e9:,.1f}",
            "GB",
            kernels.fits,
            "" if fits or not enough else "violated",
        ),
    ]


def watched(k, r):
    if r.needs > r.room and r.share >= HALF / 100:
        return Gauge("Memory needed on a GPU", 100 * min(r.needs / r.room, 10), 100.0, "%", expression="needs > room")
    return Gauge(
        "Effective sample size",
        100 * r.share,
        HALF,
        "%",
        below=True,
        expression="(mean(ratio)² / mean(ratio²)) ** length < 0.5",
    )


ROUNDING, FULL = "different rounding in sampler and trainer", "a cache that does not fit"


def seen_at(k, r, cause):
    if cause == ROUNDING:
        return At(COUNT, None, None, "only {y:.0f} of 100 count", "here")
    return At("Weights and cache of a GPU", None, None, "more than the GPU has", "here")


def broken(k, r):
    if r.share < HALF / 100:
        count = max(100 * r.share, 0.0)
        digits = f"{count:.0f}" if count < 49.5 else f"{count:.2f}"
        why = (
            f"Only {digits} of 100 sequences count after {k.completion:,} tokens, because the sampler in {k.mode} is a "
            "different policy."
        )
        claims = {
            "fewer than half count": lambda: log_share(r.gap, k) < np.log(HALF / 100),
            "so many count": lambda: abs(100 * np.exp(log_share(r.gap, k)) - count) < 1e-6,
            "its tokens have other probabilities": lambda: r.gap.std() > 0,
            "without rounding all would count": lambda: log_share(0 * r.gap, k) == 0,
        }
        return Break(Said(why, claims), unrounded(k), ROUNDING)
    if r.needs > r.room:
        why = (
            f"Only {r.running:,} of {k.groups * k.samples:,} sequences can run at once, because weights and cache need "
            f"{r.needs / 1e9:,.1f} GB of {r.room / 1e9:.1f} GB."
        )
        prompts = k.groups * k.prompt * (1 if k.cached == ONCE else k.samples)
        tokens = prompts + k.groups * k.samples * k.completion / 2
        each = (r.room - 2 * MODEL.params()) / MODEL.kv_bytes_per_token() * k.groups * k.samples / tokens
        claims = {
            "so much is asked": lambda: np.isclose(
                r.needs, 2 * MODEL.params() + MODEL.kv_bytes_per_token() * tokens, rtol=1e-6
            ),
            "more than there is": lambda: r.needs > r.room,
            "so many run at once": lambda: (
                r.running <= each + 1e-6 < r.running + 1 and r.running < k.groups * k.samples
            ),
        }
        return Break(Said(why, claims), emptied(k), FULL)
    return None


def log_share(gap, k):
    """Log of the share of sequences that count, computed another way: a sequence is weighed by exp(Σ Δ)."""
    if k.weighing == WHOLE:
        return k.completion * (2 * np.log(np.exp(gap).mean()) - np.log(np.exp(2 * gap).mean()))
    weights = np.minimum(np.exp(gap), 2.0) if k.weighing == rounding_net.WEIGHINGS[1] else np.ones(len(gap))
    return np.log(weights.sum() ** 2 / len(gap) / (weights**2).sum())


def in_force(k):
    """Whether at this setting enough sequences count, and all of them run."""
    enough = rounding_net.effective_share(rounding_net.gaps()[k.mode, k.layers], k.completion, k.weighing) >= HALF / 100
    return enough and roomy(k)


def roomy(k):
    needs, room, _ = kernels.fits(MODEL, CHIP, work(k), k.cached == ONCE)
    return needs <= room


SURELY = dict(prompt=1024, samples=16, groups=1, layers=8, completion=4096, mode="fp16")


def unrounded(k):
    return recovery.one_knob(k, ("mode", "completion", "layers", "weighing"), in_force) or recovery.fewest(
        k, SURELY, in_force
    )


def emptied(k):
    order = ("cached", "groups", "samples", "completion", "prompt")
    return recovery.one_knob(k, order, in_force) or recovery.fewest(k, SURELY, in_force)


def worse(k, r):
    if r.far > FAR:
        return Said(
            f"{r.far:,.1f} nats per sequence stay uncorrected, because no ratio weights a whole sequence.",
            {
                "no sequence is weighed as a whole": lambda: k.weighing != rounding_net.WEIGHINGS[0],
                "so far are the two apart": lambda: np.isclose(r.far, k.completion * np.var(r.gap) / 2) and r.far > FAR,
            },
        )
    if r.steps[-1] > 1.05 * r.best:
        written = sum(map(saved, (s for s in r.surfaces if s.name in r.names)))
        most = max(sum(map(saved, chosen)) for chosen in affordable(r.surfaces, k.weeks))
        return Said(
            f"{100 * r.steps[-1]:.0f} % of the step is left, but the best set of kernels would leave only "
            f"{100 * r.best:.0f} %.",
            {
                "so much is left": lambda: np.isclose(1 - written, r.steps[-1]),
                "so much would be": lambda: np.isclose(1 - most, r.best) and most > written,
            },
        )
    return None


def saved(surface):
    """Of the step, by this kernel alone."""
    return surface.share * (1 - 1 / surface.speedup)


def holds(k, r):
    by_week = {s.name: saved(s) / s.weeks for s in r.surfaces}
    counted = {
        "so many count": lambda: abs(np.exp(log_share(r.gap, k)) - r.share) < 1e-8 and r.share >= HALF / 100,
        "all of them run": lambda: r.running == k.groups * k.samples,
    }
    if not (best := kernels.ranked(r.surfaces)):
        return Said(
            f"{100 * r.share:.0f} of 100 sequences count, but no kernel shortens this step.",
            counted | {"none saves anything": lambda: max(by_week.values()) < 1e-9},
        )
    return Said(
        f"{100 * r.share:.0f} of 100 sequences count, and {best[0]} saves most per week of work.",
        counted | {"none pays more a week": lambda: by_week[best[0]] >= max(by_week.values()) - 1e-12},
    )


# The first screen


TWO_RUNS = "fp16", "bf16"


def two_formats(plain, other):
    """Sequences that count by their length, and the log-ratio of one as it gets longer."""
    named = ((plain, TWO_RUNS[0], 8, "reference"), (other, TWO_RUNS[1], 1, ""))
    rng = np.random.default_rng(0)
    walks = [rounding_net.drift(r.gap, WALK, 1, rng)[0] for r in (plain, other)]
    return [
        panel(
            COUNT,
            "by their length",
            *(
                line(WALK, 100 * rounding_net.effective_share(r.gap, WALK), name, series, role)
                for r, name, series, role in named
            ),
            label(4096, 89, TWO_RUNS[0], 8, "right"),
            label(1000, 62, TWO_RUNS[1], 1),
            threshold(HALF, "fewer than half", 0),
            x="tokens in a sequence",
            x_range=[0, 4096],
            y_range=[0, 105],
        ),
        panel(
            "Distance between trainer and sampler",
            "log-ratio of one sequence, nats",
            *(line(WALK, walk, name, series, role) for walk, (_, name, series, role) in zip(walks, named)),
            label(4096, 0.35, TWO_RUNS[0], 8, "right"),
            label(4096, -1.75, TWO_RUNS[1], 1, "right"),
            x="tokens in a sequence",
            x_range=[0, 4096],
            y_range=[-3, 2],
        ),
    ]


OPENING = Opening(Knobs(), Knobs(mode="bf16"), two_formats, rounding_net.logp_gap, TWO_RUNS)
