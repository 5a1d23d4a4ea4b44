"""RLOO beside a twin with another group baseline: how far they part, how many different completions reuse leaves, and
the advantages of one group.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from rlpt import options
from sim.algorithms import rloo
from sim.estimators import completion_ratio, gradient_noise, group_baselines, kl, surrogate
from sim.experiments.standard_runs import modsum_run
from sim.worlds import modsum
from sim.worlds.optimizer import SGD, AdamW
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider, toggle
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing.marks import bars, both, by_update, each_run, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "RLOO beside a twin with a different group baseline"
UPDATES, SEEDS, GROUPS = 60, 3, 4
LEFT = 1.2  # fewer different completions of a prompt than this, e^H, at the end count as broken
FEW = 3.0  # and fewer than this is clearly less than the default, 16
EVERY = 4  # updates between two pictures
ADAM = 1 / 40  # Adam's steps have the size of the learning rate itself, whatever the gradient
TWINS = {"minus the mean": group_baselines.less_mean, "z-score": group_baselines.z_score}
GROUP = {
    "one right": lambda K: np.arange(K) < 1.0,
    "one wrong": lambda K: np.arange(K) < K - 1.0,
    "graded": lambda K: np.arange(K)[::-1] / (K - 1),
    "all equal": lambda K: np.ones(K),
}


@dataclass(frozen=True)
class Knobs:
    K: int = ladder("Completions per prompt", 4, [2, 4, 8, 16], symbol="K")
    twin: str = choice("Advantage of the twin", "minus the mean", list(TWINS))
    optimizer: str = choice("Optimizer", "SGD", ["SGD", "Adam"])
    passes: int = ladder("Passes over each batch", 1, [1, 2, 4, 8, 16])
    learning_rate: float = ladder("Learning rate (Adam: a fortieth)", 2.0, [1.0, 2.0, 4.0, 8.0, 20.0, 60.0])
    ratio: str = choice("Ratio, clipped at 0.2", "none", ["none", "per token", "per completion"])
    rescaled: bool = toggle("Rescaled learning rate for twin", False)
    group: str = choice("Rewards in the tab Group", "one right", list(GROUP))
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("passes", "learning_rate")
PRESETS = {
    "RLOO": Knobs(),
    "Pairs": Knobs(K=2),
    "Adam": Knobs(optimizer="Adam"),
    "16 passes": Knobs(passes=16, learning_rate=8.0),
    "Learning rate 60": Knobs(learning_rate=60.0),
    "TRL's clip, 16 passes": Knobs(passes=16, learning_rate=8.0, ratio="per completion"),
}


@dataclass(frozen=True)
class Trace:
    pass_rate: np.ndarray  # (2, seeds, updates) exact, mean of the prompts; RLOO first
    kl_step: np.ndarray  # (2, seeds, updates) exact, nats a completion, mean of the prompts
    entropies: np.ndarray  # (seeds, updates) exact, nats a completion, mean of the prompts, of the RLOO runs
    cosine: float  # of the first updates that move anything; they see the same batches

    @property
    def updates(self):
        return self.pass_rate.shape[2]

    @property
    def entropy(self):
        return self.entropies[:, -1].mean()


def run(k):
    estimators = group_baselines.leave_one_out, TWINS[k.twin]
    pairs = [
        [
            training(k, SEEDS * k.seed + i, kind, k.K / (k.K - 1) if k.rescaled and kind is not estimators[0] else 1.0)
            for i in range(SEEDS)
        ]
        for kind in estimators
    ]
    history, aligned = [], np.nan
    for frames in zip(*(r.frames(UPDATES) for runs in pairs for r in runs)):
        history.append(frames)
        if np.isnan(aligned):  # nothing has moved yet while every group was dead
            aligned = kl.cosine(*(np.concatenate([moved(r) for r in runs]) for runs in pairs))
        if len(history) == 1 or len(history) % EVERY == 0:
            yield trace(history, aligned)


def training(k, seed, kind, scale):
    def advantage(R, hp, batch):
        return kind(R)

    rate = k.learning_rate * scale
    return modsum_run(
        rloo,
        seed=seed,
        groups=GROUPS,
        K=k.K,
        optimizer=SGD(rate) if k.optimizer == "SGD" else AdamW(rate * ADAM, clip=None),
        hyper=dict(inner_epochs=k.passes),
        hooks=dict(advantage=advantage, **surrogates(k)),
    )


def surrogates(k):
    if k.ratio == "none":
        return {}
    if k.ratio == "per completion":
        return dict(surrogate=lambda logp, old_logp, A, hp, batch: completion_ratio.clipped(logp, old_logp, A, 0.2))
    return dict(surrogate=lambda logp, old_logp, A, hp, batch: surrogate.clipped(logp, old_logp, A, 0.2, 0.2))


def moved(controller):
    return (controller.trainer.policy.params["theta"] - controller.start.params["theta"]).ravel()


def trace(history, aligned):
    def column(of):
        return np.array([[of(frame) for frame in frames] for frames in zip(*history)]).reshape(2, SEEDS, -1)

    return Trace(
        column(lambda f: f.exact["pass_rate"].mean()),
        column(lambda f: f.exact["kl_step"].mean()),
        column(lambda f: f.exact["completion_entropy"].mean())[0],
        aligned,
    )


def progress(k, r):
    return ["update", r.updates, UPDATES]


def apart(r):
    """The largest distance of the two pass rates, over seeds and updates."""
    return np.abs(r.pass_rate[0] - r.pass_rate[1]).max()


def figure(k, r):
    return [*training_tab(k, r), *group_tab(k), noise_tab(k), distance(r)]


def training_tab(k, r):
    x = np.arange(1, r.updates + 1)
    ours, twin = r.pass_rate
    yield by_update(
        "Different completions left",
        "e^H per prompt, exact, logarithmic; thick: 3 runs of RLOO together",
        line(x, np.exp(r.entropies.mean(axis=0)), "RLOO"),
        each_run(x, np.exp(r.entropies)),
        threshold(LEFT, "", 0.5),
        label(UPDATES, 0.56, f"fewer than {LEFT:g}", 0, "right"),
        updates=UPDATES,
        y_range=(0.5, 300),
        log="y",
        tab="Training",
        front=True,
    )
    yield by_update(
        "Correct completions",
        "exact probability, mean of 4 prompts and 3 seeds",
        line(x, ours.mean(axis=0), "RLOO"),
        each_run(x, ours, "RLOO, single runs"),
        line(x, twin.mean(axis=0), f"twin: {k.twin}", 2),
        label(UPDATES, 0.1, "solid: RLOO", 1, "right"),
        label(UPDATES, 0.02, f"dashed: {k.twin}", 2, "right"),
        updates=UPDATES,
        tab="Training",
    )


def distance(r):
    x = np.arange(1, r.updates + 1)
    return by_update(
        "Distance of each update",
        "KL from the sampling policy, nats, exact; 3 seeds",
        line(x, np.maximum(r.kl_step[0].max(axis=0), 1e-5), "farthest run"),  # a logarithmic axis has no 0
        each_run(x, np.maximum(r.kl_step[0], 1e-5)),
        updates=UPDATES,
        y_range=(1e-5, 200),
        log="y",
        tab="Noise, distance",
    )


def group_tab(k):
    rewards = np.asarray(GROUP[k.group](k.K), float)
    names = list(range(1, k.K + 1))
    z, mean, loo = (
        advantage(rewards[None])[0]
        for advantage in (group_baselines.z_score, group_baselines.less_mean, group_baselines.leave_one_out)
    )
    yield panel(
        "Advantages of one group",
        "three baselines, for the rewards in the next panel",
        bars(names, loo, "RLOO", 1),
        bars(names, mean, "minus the mean", 2),
        bars(names, z, "z-score", 3),
        label(k.K + 0.6, 3.2, "RLOO", 1, "right"),
        label(k.K + 0.6, 2.4, "minus the mean", 2, "right"),
        label(k.K + 0.6, 1.6, "z-score", 3, "right"),
        x="completion",
        x_range=(0.4, k.K + 0.6),
        y_range=(-4, 4),
        tab="Group",
    )
    yield panel(
        "Rewards of the group",
        "K completions; RLOO: K/(K − 1) × “minus the mean”",
        bars(names, rewards, "reward"),
        x="completion",
        x_range=(0.4, k.K + 0.6),
        y_range=(0, 1.1),
        tab="Group",
    )


P = np.linspace(0.02, 0.98, 97)


@cache
def noise_of(K):
    return 1 / group_baselines.signal_to_noise_per_completion(P, K, group_baselines.leave_one_out)


def noise_tab(k):
    exact_mean, none = (gradient_noise.two_answer_noise(P, b) / (P * (1 - P)) ** 2 for b in (P, 0.0))
    return panel(
        "Noise of a completion",
        "variance over squared gradient, log; two answers, correct with probability p",
        line(P, noise_of(k.K), f"RLOO, K = {k.K}"),
        line(P, none, "no baseline", 2),
        line(P, np.maximum(exact_mean, 1e-3), "exact mean", 3, "exact"),
        label(0.78, 1.3 * noise_of(k.K)[76], f"RLOO, K = {k.K}", 1, "right"),
        label(0.98, 0.008, "no baseline", 2, "right"),
        label(0.44, 0.012, "exact mean", 3, "right"),
        x="probability p of a correct completion",
        x_range=(0, 1),
        y_range=(0.005, 100),
        log="y",
        tab="Noise, distance",
    )


def readouts(k, r):
    state = "violated" if broken(k, r) else ""
    return [
        Readout("Different completions left, e^H", left(r), "per prompt", modsum.exact, state),
        Readout("Correct completions of RLOO", r.pass_rate[0, :, -1].mean(), "", modsum.exact),
        Readout("Largest KL of one update", r.kl_step[0].max(), "nats", modsum.exact_kl),
        Readout("Largest pass-rate gap of the twins", round(apart(r), 9), "", modsum.exact),
        Readout("Cosine of the twins' first updates", round(r.cosine, 6), "", kl.cosine),
    ]


def left(r):
    """e^H: how many equally likely completions of a prompt have the entropy that the RLOO runs have now."""
    return np.exp(r.entropy)


def right(r):
    """The pass rate of RLOO, in words."""
    share = 100 * r.pass_rate[0, :, -1].mean()
    return "over 99 %" if 99.5 <= share < 100 else f"{share:.0f} %"


def watched(k, r):
    return Gauge(
        "Different completions left", left(r), LEFT, below=True, expression=f"e^H < {LEFT:g} after {UPDATES} updates"
    )


def seen_at(k, r, cause):
    return At("Different completions left", None, None, "{y:.2f} different completions left", "RLOO")


def broken(k, r):
    if r.updates < UPDATES or left(r) >= LEFT:
        return None
    blamed = cause(k)
    why = Said(
        f"A prompt has {left(r):.2f} different completions left ({right(r)} correct). {reason(k)}.",
        {"undoing it mends": lambda: left(end(run, replace(k, **undone(k)[blamed]))) >= LEFT},
    )
    return Break(why, fix(k), blamed)


LONG, FREE, SPITE = "steps that are too long", "many passes without a ratio", "many passes despite the ratio"
BOTH, STEEP = "many steps that are too long", 8.0  # above this rate one pass can be enough


def cause(k):
    if k.passes == 1:
        return LONG
    if k.learning_rate > STEEP:
        return BOTH
    return FREE if k.ratio == "none" else SPITE


def undone(k):
    """{cause: the knobs without it}."""
    slow, once = dict(learning_rate=2.0), dict(passes=1)
    return {LONG: slow, FREE: dict(ratio="per token"), SPITE: once, BOTH: once | slow}


def reason(k):
    rate = f"{k.learning_rate:g}" if k.optimizer == "SGD" else f"{k.learning_rate * ADAM:g} (Adam)"
    if k.passes == 1:
        return f"Steps at a learning rate of {rate} were too long"
    ratio = "without a ratio" if k.ratio == "none" else f"despite a ratio {k.ratio}"
    return f"{k.passes} passes at rate {rate}, {ratio}, destroyed the rest"


def fix(k):
    return recovery.different(k, undone(k)[cause(k)])


def worse(k, r):
    if r.updates < UPDATES or left(r) >= FEW:
        return None
    return Said(
        f"A prompt has {left(r):.2f} different completions left, and {right(r)} of all samples are correct. "
        "Nearly all variety is gone.",
        {"the default keeps several times as many": lambda: left(end(run, Knobs(seed=k.seed))) > 3 * left(r)},
    )


def holds(k, r):
    return Said(
        f"A prompt has {left(r):.1f} different completions left, and {right(r)} of all samples are correct.",
        {"fewer would be told": lambda: r.updates < UPDATES or np.log(FEW) <= r.entropies[:, -1].mean()},
    )


def methods(k, r):
    ratio = {} if k.ratio == "none" else dict(surrogate=k.ratio, clip=(0.2, 0.2), dual_clip="off")
    return {"RLOO": options.setting(rloo, dict(inner_epochs=k.passes), samples=k.K, prompts=GROUPS, **ratio)}


DARE = "Can you make a run lose nearly all its variety?"
GUESS = Guess(
    "The twin divides by each group’s deviation. How close is the direction of its first update to RLOO’s?",
    ("a cosine of 0.5", "a cosine of 0.9", "a cosine above 0.99"),
    Knobs(twin="z-score"),
    2,
    lambda k, r: f"The cosine is {r.cosine:.4f}: a different length, but nearly the same direction.",
)


# ── the first screen ──
TWO_RUNS = "with the ratio", "without it"


def opened(plain, other):
    """The pass rate under both settings, and how many different completions are left in each."""
    x = np.arange(1, UPDATES + 1)
    right = [r.pass_rate[0].mean(axis=0) for r in (plain, other)]
    different = [np.exp(r.entropies.mean(axis=0)) for r in (plain, other)]
    return [
        panel(
            "Different completions of a prompt",
            "number left, logarithmic, 16 passes over each batch",
            *both(TWO_RUNS, x, *different),
            threshold(LEFT, "", 0.3),
            label(UPDATES, 4, f"{TWO_RUNS[0]}: {different[0][-1]:.1f}", 8, "right"),
            label(UPDATES, 0.36, f"{TWO_RUNS[1]}: {different[1][-1]:.1f}", 1, "right"),
            x="update",
            x_range=(0, UPDATES),
            y_range=(0.3, 200),
            log="y",
            y_ticks=dict(tickvals=[1, 2, 5, 10, 20, 50, 100], ticktext=["1", "2", "5", "10", "20", "50", "100"]),
        ),
        by_update(
            "Correct completions",
            f"probability, mean of {SEEDS} runs on 4 prompts",
            *both(TWO_RUNS, x, *right),
            label(UPDATES, 0.3, f"{TWO_RUNS[0]}: {right[0][-1]:.2f}", 8, "right"),
            label(UPDATES, 0.16, f"{TWO_RUNS[1]}: {right[1][-1]:.2f}", 1, "right"),
            updates=UPDATES,
            y_range=(0, 1.05),
        ),
    ]


OPENING = Opening(
    Knobs(passes=16, learning_rate=8.0, ratio="per token"),
    Knobs(passes=16, learning_rate=8.0),
    opened,
    modsum.exact,
    TWO_RUNS,
)
