"""A constant added to every reward: what it does to training, to the noise of one sample, and which baseline takes it
out again.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from sim.algorithms import reinforce
from sim.estimators import gradient_noise
from sim.estimators.gradient_noise import LOGITS, REWARD
from sim.experiments.runs import modsum_run
from sim.worlds import modsum
from widgets.frame.contract import Break, Gauge, Readout, choice, ladder, slider
from widgets.frame.marks import band, bars, dots, each_run, label, line, panel, threshold

TITLE = "Four runs of REINFORCE, and the noise of a sample by what is added to the reward"
UPDATES, SEEDS, GROUPS = 100, 4, 8
PASSED = 0.6  # a mean pass rate below this after all updates counts as broken
WELL = 0.85  # the worst run of the default is above it
EVERY = 10  # updates between two pictures
OFFSETS = np.linspace(-2, 20, 89)
J = gradient_noise.expected_reward(LOGITS, REWARD)


@dataclass(frozen=True)
class Knobs:
    offset: float = slider("Added to every reward", 0.0, low=-2, high=20, step=0.5)
    baseline: str = choice("Baseline", "none", ["none", "constant", "batch mean", "exact mean"], symbol="b")
    constant: float = slider("The constant baseline", 0.0, low=-2, high=20, step=0.1)
    completions: int = ladder("Completions a batch", 64, [8, 16, 32, 64, 128, 256], symbol="N")
    learning_rate: float = slider("Learning rate", 2.0, low=1, high=5, step=0.5)
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


PRESETS = {
    "REINFORCE": Knobs(),
    "Rewards near 10": Knobs(offset=10.0),
    "Rewards near 10, batch mean": Knobs(offset=10.0, baseline="batch mean"),
    "Rewards −1 and 0": Knobs(offset=-1.0),
}


@dataclass(frozen=True)
class Trace:
    pass_rate: np.ndarray  # (seeds, updates so far) exact, mean of the prompts
    entropy: np.ndarray  # (seeds,) exact, nats a completion, now

    @property
    def updates(self):
        return self.pass_rate.shape[1]


def run(k):
    runs, seen = [training(k, SEEDS * k.seed + i) for i in range(SEEDS)], []
    for frames in zip(*(r.frames(UPDATES) for r in runs)):
        seen.append([f.exact["pass_rate"].mean() for f in frames])
        if len(seen) == 1 or len(seen) % EVERY == 0:
            yield Trace(np.array(seen).T, np.array([f.exact["completion_entropy"].mean() for f in frames]))


def training(k, seed):
    def shape_reward(reward, hp, batch):
        return reward + k.offset

    def advantage(R, hp, batch):
        return R - baseline(R, batch)

    def baseline(R, batch):
        if k.baseline == "batch mean":
            return R.mean()
        if k.baseline == "exact mean":  # of each prompt, under the policy that sampled
            pass_rate = modsum.exact(controller.trainer.policy.params["theta"])["pass_rate"]
            return k.offset + pass_rate[batch.example].reshape(R.shape)
        return constant(k)

    controller = modsum_run(
        reinforce,
        seed=seed,
        learning_rate=k.learning_rate,
        groups=GROUPS,
        K=k.completions // GROUPS,
        hooks=dict(shape_reward=shape_reward, advantage=advantage),
    )
    return controller


def constant(k):
    return k.constant if k.baseline == "constant" else 0.0


def progress(k, r):
    return ["update", r.updates, UPDATES]


def follows_the_reward(k):
    return k.baseline.endswith("mean")


def baseline_of_five(k, offset):
    """The baseline in force, for the five answers; the mean of a batch is near the exact one, which stands for both."""
    return J + offset if follows_the_reward(k) else constant(k)


def needed(k, offset):
    return gradient_noise.samples_for_signal(LOGITS, REWARD + offset, baseline_of_five(k, offset))


@cache
def needed_by_offset(baseline, constant):
    k = Knobs(baseline=baseline, constant=constant)
    return [needed(k, offset) for offset in OFFSETS]


@cache
def noise_by_constant(offset):
    return [gradient_noise.noise(LOGITS, REWARD + offset, b) for b in CONSTANTS]


def figure(k, r):
    return [*training_tab(k, r), *five_answers_tab(k), *baselines_tab(k)]


def training_tab(k, r):
    x = np.arange(1, r.updates + 1)
    yield panel(
        "Right completions",
        "probability, exact, mean of 4 prompts, 4 seeds",
        line(x, r.pass_rate.mean(axis=0), "mean of the runs"),
        each_run(x, r.pass_rate),
        threshold(PASSED, "broken if it ends here", 0),
        x="update",
        x_range=(0, UPDATES),
        y_range=(0, 1.02),
        tab="Training",
        front=True,
    )
    here = needed(k, k.offset)
    yield panel(
        "Samples until signal equals noise",
        "log scale, exact, five answers; a batch mean taken as exact",
        line(OFFSETS, needed_by_offset(k.baseline, k.constant), f"baseline: {k.baseline}"),
        line(
            OFFSETS[[0, -1]],
            [gradient_noise.samples_for_signal(LOGITS, REWARD, J)] * 2,
            "mean reward as baseline",
            8,
            "reference",
        ),
        line(OFFSETS[[0, -1]], [k.completions] * 2, "one batch", 2, "exact"),
        label(20, k.completions, f"one batch: {k.completions}", 2, "right"),
        dots([k.offset], [here], f"{here:,.0f} samples", 1, "here"),
        label(20, 2.2, "baseline: mean reward", 8, "right"),
        x="added to every reward",
        x_range=(-2, 20),
        y_range=(1, 1e5),
        log="y",
        tab="Training",
    )


SQUEEZED = [-20, -5, -1, -0.2, 0, 0.2, 1, 5, 20]
SQUEEZED_TICKS = dict(
    tickvals=np.arcsinh(10 * np.array(SQUEEZED)), ticktext=[f"{v:g}".replace("-", "−") for v in SQUEEZED]
)
FAR = np.arcsinh(300.0)


def five_answers_tab(k):
    reward, b = REWARD + k.offset, baseline_of_five(k, k.offset)
    pi, along = gradient_noise.softmax(LOGITS), gradient_noise.progress_along_gradient(LOGITS, reward, b)
    mean, spread = pi @ along, np.sqrt(pi @ along**2 - (pi @ along) ** 2)
    squeezed = lambda v: np.arcsinh(10 * v)
    low, high = squeezed(mean - spread / np.sqrt(k.completions)), squeezed(mean + spread / np.sqrt(k.completions))
    stems = [line([squeezed(v)] * 2, [0, p], f"answer {i + 1}") for i, (v, p) in enumerate(zip(along, pi))]
    yield panel(
        "Progress along the gradient",
        "probability of each answer's estimate; shaded: mean of one batch ± 1 standard deviation",
        band([low, high], [0, 0], [0.5, 0.5], 2),
        *stems,
        dots(squeezed(along), pi, "one sample"),
        *(label(squeezed(v) + 0.2, p - 0.01, f"{i + 1}", 1) for i, (v, p) in enumerate(zip(along, pi))),
        line([squeezed(mean)] * 2, [0, 0.5], "the mean", 3, "exact"),
        label(squeezed(mean), 0.46, f"mean {mean:.3f}", 3),
        x="step along the gradient (squeezed axis)",
        x_range=(-FAR, FAR),
        y_range=(0, 0.5),
        ticks=SQUEEZED_TICKS,
        tab="Five answers",
    )
    drawn = gradient_noise.sampled_gradient(LOGITS, reward, b, k.completions, np.random.default_rng(k.seed))
    names = ["1", "2", "3", "4", "5"]
    yield panel(
        "The gradient, exact and from one batch",
        "a number a logit; the batch is drawn with the seed",
        bars(names, gradient_noise.policy_gradient(LOGITS, REWARD), "exact", 1),
        bars(names, drawn, "one batch", 2),
        label(names[0], 0.42, "exact", 1),
        label(names[0], 0.36, "one batch", 2),
        x="answer",
        y_range=(-0.5, 0.5),
        tab="Five answers",
    )


CONSTANTS = np.linspace(-2, 20, 111)
P = np.linspace(0, 1, 81)


def baselines_tab(k):
    reward = REWARD + k.offset

    def noise(b):
        return gradient_noise.noise(LOGITS, reward, b)

    best = gradient_noise.best_baseline(LOGITS, reward)
    yield panel(
        "Noise by constant baseline",
        "trace of one sample's covariance, logarithmic, exact, five answers",
        line(CONSTANTS, noise_by_constant(k.offset), "noise"),
        dots([0.0], [noise(0.0)], "no baseline", 2),
        dots([best], [noise(best)], "best", 3),
        label(0.4, 1.1 * noise(0.0), "none", 2),
        label(best, 0.02, f"best: {best:.3f}", 3, "left" if k.offset < 2 else "center"),
        dots([k.constant], [noise(k.constant)], "the constant set", 1, "here"),
        x="constant baseline b",
        x_range=(-2.5, 20.5),
        y_range=(0.01, 1000),
        log="y",
        tab="Baselines",
    )
    own = gradient_noise.two_answer_noise(P, k.constant)
    set_by_hand = [line(P, own, "the constant set", 4), label(0.98, 0.095, f"constant {k.constant:g}", 4, "right")]
    yield panel(
        "Two answers, right pays 1",
        "variance of one sample's estimate, exact",
        line(P, gradient_noise.two_answer_noise(P, 0.0), "no baseline", 2),
        line(P, gradient_noise.two_answer_noise(P, P), "mean reward p", 1),
        *(set_by_hand if k.constant else []),
        label(0.3, 0.103, "no baseline", 2),
        label(0.79, 0.06, "mean p", 1),
        line([2 / 3] * 2, [0, 0.12], "p = 2/3", 8, "reference"),
        label(2 / 3, 0.11, "p = 2/3", 8),
        x="probability p of the right answer",
        x_range=(0, 1),
        y_range=(0, 0.12),
        tab="Baselines",
    )


def readouts(k, r):
    final = r.pass_rate[:, -1]
    five = LOGITS, REWARD + k.offset, baseline_of_five(k, k.offset)
    return [
        Readout("Pass rate, mean of the runs", final.mean(), "", modsum.exact, "violated" if broken(k, r) else ""),
        Readout("Pass rate, worst and best run", f"{final.min():.3f} – {final.max():.3f}", "", modsum.exact),
        Readout("Completion entropy", r.entropy.mean(), "nats", modsum.exact),
        Readout(
            "Five answers: signal to noise of a batch",
            gradient_noise.signal_to_noise(*five, k.completions),
            "",
            gradient_noise.signal_to_noise,
        ),
    ]


def watched(k, r):
    return Gauge(
        "Pass rate, mean of the runs",
        r.pass_rate[:, -1].mean(),
        PASSED,
        below=True,
        expression=f"mean(pass_rate) < {PASSED} at the end",
    )


def broken(k, r):
    final = r.pass_rate[:, -1]
    if r.updates < UPDATES or final.mean() >= PASSED:
        return None
    left, ends = k.offset - constant(k), f"between {final.min():.3f} and {final.max():.3f}"
    if follows_the_reward(k) or abs(left) < 2:
        return Break(
            f"{k.completions} completions a batch are too few for learning rate {k.learning_rate:g}: the runs end "
            f"{ends}.",
            "Completions a batch: 64, Learning rate: 2.",
            "too few completions a batch",
        )
    times = gradient_noise.noise(LOGITS, REWARD + left, 0.0) / gradient_noise.noise(LOGITS, REWARD, 0.0)
    return Break(
        f"Every reward is off by {left:+g}: the mean gradient is the same, but one sample is {times:,.0f} times "
        "as noisy, "
        f"and the runs end {ends}.".replace("-", "−"),
        "Baseline: batch mean.",
        "every reward off by a constant",
    )


def worse(k, r):
    final = r.pass_rate[:, -1]
    if r.updates < UPDATES or final.min() >= WELL:
        return None
    return (
        f"The runs end between {final.min():.3f} and {final.max():.3f}: the noise costs, but their mean is "
        f"above {PASSED}."
    )


def holds(k, r):
    final = r.pass_rate[:, -1]
    ends = f"between {final.min():.3f} and {final.max():.3f}"
    return f"The runs end {ends}, at {r.entropy.mean():.2f} nats of entropy: close to each other."
