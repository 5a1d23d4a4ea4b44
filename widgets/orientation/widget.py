"""Sixty iterations of the whole loop, or of a loop with one of its arrows cut: how often one completion is right, and
the best of K.
"""

from dataclasses import dataclass

import numpy as np

from sim.experiments import cut_arrows
from sim.framework.env import Verifier
from sim.framework.weight_sync import WeightSync
from sim.worlds import modsum
from widgets.frame.exercises import Guess
from widgets.frame.knobs import choice, ladder, slider
from widgets.frame.marks import dots, label, line, panel
from widgets.frame.readouts import Break, Gauge, Readout
from widgets.frame.small_figures import Opening

TITLE = "The policy and its batches over sixty iterations"
COST = f"{cut_arrows.GROUPS} groups of K completions an iteration, one step of plain SGD each; one seed"
ITERATIONS, EVERY = 60, 5
LEARNT = 0.01  # less than this gained in sixty iterations is not learning
WELL = 0.7  # right below this at the end is clearly less than the default, 0.92
APART, LAST = 0.2, 10  # weights that are right this much more often than the last batches never reached the sampler


@dataclass(frozen=True)
class Knobs:
    cut: str = choice("Arrow cut", "none", ["none", *cut_arrows.ARROWS])
    K: int = ladder("Completions a prompt", 8, [1, 2, 4, 8, 16, 32, 64], symbol="K")
    beta: float = slider("Price of a nat of KL", 0.1, 0.0, 1.0, 0.05, symbol="β")
    seed: int = slider("Seed", 0, 0, 99, 1)


PRESETS = {
    "Whole loop": Knobs(),
    "No anchor": Knobs(beta=0.0),
    "No weight sync": Knobs(cut="weight sync"),
    "Best of 64": Knobs(cut="loss_fn", K=64),
    "No reward": Knobs(cut="+reward"),
}


@dataclass(frozen=True)
class Run:
    pass_rate: np.ndarray  # (iterations + 1, 4) exact, by the trainer's weights, the start first
    kl: np.ndarray  # (iterations + 1,) nats, mean of the prompts
    measured: np.ndarray  # (iterations,) share of right completions in each batch; nan if nobody looked
    behind: int  # optimizer steps

    @property
    def done(self):
        return len(self.measured)

    @property
    def gained(self):
        return self.pass_rate[-1].mean() - self.pass_rate[0].mean()

    @property
    def counted(self):
        """Share right in the last batches, which are those of the sampler's weights."""
        return self.measured[-LAST:].mean()

    @property
    def apart(self):
        return self.pass_rate[-1].mean() - self.counted


def run(k):
    start = modsum.exact(modsum.Policy().params["theta"])["pass_rate"]
    pass_rate, kl, measured = [start], [0.0], []
    for frame in cut_arrows.frames_without(k.cut, K=k.K, beta=k.beta, seed=k.seed, iterations=ITERATIONS):
        pass_rate.append(frame.exact["pass_rate"])
        kl.append(frame.exact["kl_reference"].mean())
        measured.append(frame.accuracy)
        if len(measured) % EVERY == 0:
            yield Run(np.array(pass_rate), np.array(kl), np.array(measured), frame.lag)


def progress(k, r):
    return ["iteration", r.done, ITERATIONS]


def figure(k, r):
    x, one, best = list(range(r.done + 1)), r.pass_rate.mean(axis=1), cut_arrows.best_of(r.pass_rate, k.K).mean(axis=1)
    at = min(r.done, ITERATIONS // 3)
    return [
        panel(
            "How often the answer is right",
            "share, mean of four prompts; dots: counted in the batch",
            line(x, one, "one completion", 1),
            line(x, best, f"best of {k.K}", 2),
            dots(x[1:], r.measured, "counted in the batch", 3),
            label(x[at], one[at], "one completion", 1, below=True),
            *([label(x[at], best[at], f"best of {k.K}", 2, below=True)] if k.K > 1 else []),
            x="iteration",
            x_range=(0, ITERATIONS),
            y_range=(0, 1.08),
            front=True,
        ),
        panel(
            "KL from the start",
            "nats a completion, mean of four prompts, exact",
            line(x, r.kl, "KL", 1),
            x="iteration",
            x_range=(0, ITERATIONS),
            y_range=(0, 4),
        ),
    ]


def readouts(k, r):
    return [
        Readout(
            "Right, one completion",
            r.pass_rate[-1].mean(),
            source=modsum.exact,
            state="violated" if learned_nothing(r) else "",
        ),
        Readout("Right, best of K", cut_arrows.best_of(r.pass_rate[-1], k.K).mean(), source=cut_arrows.best_of),
        Readout(
            f"Counted in the last {LAST} batches",
            r.counted,
            source=Verifier.verify,
            state="violated" if stayed_old(r) else "",
        ),
        Readout("KL from the start", r.kl[-1], "nats", modsum.exact_kl),
        Readout("Rollout behind the trainer", r.behind, "steps", WeightSync.push),
    ]


def learned_nothing(r):
    return r.done == ITERATIONS and r.gained < LEARNT


def stayed_old(r):
    """The weights are better and what is sampled is not."""
    return r.done == ITERATIONS and r.apart > APART  # false where nobody counted


def watched(k, r):
    if stayed_old(r):
        return Gauge(
            f"Right, one completion − counted in the last {LAST} batches",
            r.apart,
            APART,
            expression=f"pass_rate[-1] - mean(counted[-{LAST}:]) > {APART}",
        )
    return Gauge(
        "Pass rate gained",
        r.gained,
        LEARNT,
        below=True,
        expression=f"pass_rate[{ITERATIONS}] - pass_rate[0] < {LEARNT}",
    )


SAID = {
    "trajs": "and none was ever scored",
    "+reward": "but no score reached the algorithm",
    "loss_fn": "but the trainer was never handed a loss",
}

CAUSES = {
    "trajs": "nothing reaches the verifier",
    "+reward": "no score reaches the algorithm",
    "loss_fn": "no loss reaches the trainer",
}


def broken(k, r):
    sampled = f"{ITERATIONS * cut_arrows.GROUPS * k.K:,} completions were sampled"
    if stayed_old(r):
        return Break(
            f"{sampled}, all by the weights of the start: the trainer's are right {100 * r.pass_rate[-1].mean():.0f} % "
            f"of the time, the last {LAST} batches {100 * r.counted:.0f} %.",
            dict(cut="none"),
            "the rollout keeps the old weights",
        )
    if not learned_nothing(r):
        return None
    now, before = (f"{100 * r.pass_rate[at].mean():.0f} % of the time" for at in (-1, 0))
    if k.cut not in SAID:
        return Break(
            f"With {k.K} a prompt at a price of {k.beta:g} a nat the noise was larger than what was learned: one "
            "is right "
            f"{now}, {before} at the start.",
            dict(K=8),
            "more noise than signal",
        )
    return Break(
        f"{sampled}, {SAID[k.cut]}: one completion is right {now}, as at the start.", dict(cut="none"), CAUSES[k.cut]
    )


def worse(k, r):
    now = r.pass_rate[-1].mean()
    if r.done < ITERATIONS or now >= WELL:
        return None
    return (
        f"One completion is right {100 * now:.0f} % of the time, {100 * r.pass_rate[0].mean():.0f} % at the start: "
        "it learns, but far less than it could."
    )


def holds(k, r):
    now, before = (r.pass_rate[at].mean() for at in (-1, 0))
    return (
        f"One completion is right {100 * now:.0f} % of the time, {100 * before:.0f} % at the start, and the batches "
        "count the same."
    )


GUESS = Guess(
    "Nothing is trained: the policy of the start answers each prompt 64 times, and the best is kept. One completion is "
    "right 0.22 of the time. And the best?",
    ("about 0.35", "about 0.6", "above 0.9"),
    Knobs(cut="loss_fn", K=64),
    2,
    lambda k, r: (
        f"It is right {cut_arrows.best_of(r.pass_rate[-1], k.K).mean():.3f} of the time, and one completion "
        f"{r.pass_rate[-1].mean():.3f}, as before."
    ),
)


# ── the first screen ──
def opened(plain, other):
    """What the log of both runs counts, and what the weights of the second can do meanwhile."""
    x = np.arange(ITERATIONS + 1)
    right = other.pass_rate.mean(axis=1)
    return [
        panel(
            "Right answers in the log",
            f"share counted in each batch of {cut_arrows.GROUPS * Knobs().K}",
            line(x[1:], plain.measured, "one setting", 8, "reference"),
            line(x[1:], other.measured, "the other", 3),
            label(ITERATIONS, 0.99, f"one setting: {plain.counted:.2f} in the last ten", 8, "right"),
            label(ITERATIONS, 0.36, f"the other: {other.counted:.2f}", 3, "right"),
            x="iteration",
            x_range=(0, ITERATIONS),
            y_range=(0, 1.1),
        ),
        panel(
            "The model of the other run",
            "probability of a right answer, exact",
            line(x, right, "its model", 1),
            line(x[1:], other.measured, "its log", 3),
            dots([0, ITERATIONS], right[[0, -1]], "its model", 1),
            label(ITERATIONS, right[-1] + 0.04, f"its model: {right[-1]:.2f}", 1, "right"),
            label(ITERATIONS, 0.34, "its log", 3, "right"),
            x="iteration",
            x_range=(0, ITERATIONS),
            y_range=(0, 1.1),
        ),
    ]


OPENING = Opening(Knobs(), Knobs(cut="weight sync"), opened, modsum.exact)
