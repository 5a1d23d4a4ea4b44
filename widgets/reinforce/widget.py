"""What is subtracted from the reward, and what it does to a tiny language model that learns sums, beside the same runs
with nothing subtracted; to the noise of a sample; and to five answers that can be enumerated.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from rlpt import options
from sim.algorithms import reinforce
from sim.estimators import gradient_noise
from sim.estimators.gradient_noise import LOGITS, REWARD
from sim.experiments.standard_runs import add_run
from sim.worlds import bandit, tasks
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing.marks import band, bars, both, by_update, dots, each_run, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "A language model learns sums with REINFORCE and a baseline of your choice"
UPDATES, SEEDS, BATCH = 150, 3, 128
COST = f"{SEEDS * UPDATES * BATCH:,} completions per setting, and as many for comparison"
EVERY = 10  # updates between two pictures
TIMES = 1.5  # as many sums wrong as with nothing subtracted, at the end: broken
WELL = 4.0  # wrong sums; the default ends below 3
J = gradient_noise.expected_reward(LOGITS, REWARD)
SUBTRACTED = {  # maps the rewards of a batch, (prompts, K), to what is taken from each
    "group mean": bandit.batch_mean,
    "leave-one-out": bandit.leave_one_out,
    "batch mean": lambda R: np.full_like(R, R.mean()),
}


@dataclass(frozen=True)
class Knobs:
    baseline: str = choice("Baseline", "none", ["none", "constant", *SUBTRACTED], symbol="b")
    constant: float = slider("Constant baseline", 0.0, low=-2, high=10, step=0.1)
    offset: float = slider("Constant added to every reward", 0.0, low=-2, high=10, step=0.5)
    learning_rate: float = ladder("Learning rate", 0.02, [0.003, 0.005, 0.01, 0.02, 0.03, 0.05])
    K: int = ladder("Completions per prompt", 8, [2, 4, 8, 16, 32], symbol="K")
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("baseline", "offset")
PRESETS = {
    "REINFORCE": Knobs(),
    "Two completions a prompt": Knobs(K=2),
    "Right ½, wrong −½": Knobs(offset=-0.5),
    "Group mean": Knobs(baseline="group mean"),
    "Rewards near 10": Knobs(offset=10.0),
}


@dataclass(frozen=True)
class Trace:
    wrong: np.ndarray  # (2, seeds, pictures so far) of 100 sums, exact; the setting first, then nothing subtracted
    rates: np.ndarray  # (100,) how often each sum is right now, exact, ascending; first run of the setting

    @property
    def updates(self):
        return EVERY * (self.wrong.shape[2] - 1)


def run(k):
    arms = [k] if plain(k) else [k, Knobs(learning_rate=k.learning_rate, K=k.K, seed=k.seed)]
    runs = [[training(arm, SEEDS * k.seed + i) for i in range(SEEDS)] for arm in arms]
    start = tasks.exact_pass(tasks.checkpoint("add"))
    wrong = [np.full((len(arms), SEEDS), 100 * (1 - start.mean()))]
    for frames in zip(*(trained.frames(UPDATES) for arm in runs for trained in arm)):
        if (frames[0].step + 1) % EVERY == 0:
            rates = [[tasks.exact_pass(trained.trainer.policy) for trained in arm] for arm in runs]
            wrong.append(100 * (1 - np.mean(rates, axis=2)))
            so_far = np.stack(wrong, axis=2)
            yield Trace(np.broadcast_to(so_far, (2, *so_far.shape[1:])), np.sort(rates[0][0]))


def plain(k):
    """Whether nothing is subtracted from rewards of 1 and 0."""
    return k.baseline not in SUBTRACTED and by_hand(k) == 0


def constant(k):
    return k.constant if k.baseline == "constant" else 0.0


def by_hand(k):
    """What a constant takes in all from rewards of 1 and 0."""
    return constant(k) - k.offset


def training(k, seed):
    def shape_reward(reward, hp, batch):
        return reward + k.offset

    def advantage(R, hp, batch):
        A = reinforce.advantage(R, hp, batch)
        return A - (SUBTRACTED[k.baseline](R) if k.baseline in SUBTRACTED else constant(k))

    return add_run(
        reinforce,
        seed=seed,
        learning_rate=k.learning_rate,
        groups=BATCH // k.K,
        K=k.K,
        hooks=dict(shape_reward=shape_reward, advantage=advantage),
        exact_every=UPDATES,
    )


def seconds(k):
    """Measured: the three runs of the setting, and the three in gray beside them."""
    return 2.3 if plain(k) else 5.0


def progress(k, r):
    return ["update", r.updates, UPDATES]


def figure(k, r):
    return [*training_tab(k, r), *five_answers_tab(k), *baselines_tab(k)]


def training_tab(k, r):
    x, (own, bare) = EVERY * np.arange(r.wrong.shape[2]), r.wrong
    limit = TIMES * bare[:, -1].mean()
    yield by_update(
        "Wrong sums",
        f"of 100, exact, logarithmic; thick: mean of {SEEDS} runs",
        line(x, bare.mean(axis=0), "nothing subtracted", 8, "reference"),
        line(x, own.mean(axis=0), "mean of the runs"),
        each_run(x, own),
        label(UPDATES, 0.6, "nothing subtracted", 8, "right"),
        threshold(limit, "", 150),
        label(3, limit, f"above: over {TIMES:g} times “nothing subtracted”", 0, below=True),
        updates=UPDATES,
        y_range=(0.5, 150),
        log="y",
        tab="Training",
        front=True,
    )
    tens = r.rates.reshape(10, -1).mean(axis=1)
    yield panel(
        "Noise of one sample, two answers",
        "variance, log; dots: ten sums each at their mean p",
        line(P, seen(gradient_noise.two_answer_noise(P, 0.0)), "no baseline", 2),
        line(P, seen(gradient_noise.two_answer_noise(P, P)), "mean p", 3),
        *(
            []
            if k.baseline in SUBTRACTED or plain(k)
            else [line(P, seen(in_force(k, P)), "the constant set", 4), label(0.5, 20, "the constant set", 4, "center")]
        ),
        dots(tens, seen(in_force(k, tens)), "ten sums each"),
        label(0.30, 0.2, "no baseline", 2),
        label(0.99, 0.16, "mean p", 3, "right"),
        x="probability p of the right answer",
        x_range=(0, 1),
        y_range=(1e-6, 100),
        log="y",
        tab="Training",
    )


P = np.linspace(0, 1, 81)


def in_force(k, p):
    """Noise of a sample with two answers, right with probability p, under the baseline set."""
    return gradient_noise.two_answer_noise(p, p if k.baseline in SUBTRACTED else by_hand(k))


def seen(noise):
    """As a logarithmic axis has it, which has no 0."""
    return np.maximum(noise, 1e-6)


# ── five answers that can be enumerated ──
def baseline_of_five(k, offset):
    """The baseline in force, for the five answers; a sampled mean is near the exact one, which stands for it."""
    return J + offset if k.baseline in SUBTRACTED else constant(k)


SQUEEZED = [-20, -5, -1, -0.2, 0, 0.2, 1, 5, 20]
SQUEEZED_TICKS = dict(
    tickvals=np.arcsinh(10 * np.array(SQUEEZED)), ticktext=[f"{v:g}".replace("-", "−") for v in SQUEEZED]
)
FAR = np.arcsinh(300.0)


def squeezed(v):
    return np.arcsinh(10 * v)


def five_answers_tab(k):
    reward, b = REWARD + k.offset, baseline_of_five(k, k.offset)
    pi, along = gradient_noise.softmax(LOGITS), gradient_noise.progress_along_gradient(LOGITS, reward, b)
    mean, spread = pi @ along, np.sqrt(pi @ along**2 - (pi @ along) ** 2)
    low, high = squeezed(mean - spread / np.sqrt(BATCH)), squeezed(mean + spread / np.sqrt(BATCH))
    stems = [line([squeezed(v)] * 2, [0, p], f"answer {i + 1}") for i, (v, p) in enumerate(zip(along, pi))]
    yield panel(
        "Progress along the gradient",
        "probability of each answer's estimate; shaded: batch mean ± 1 standard deviation",
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
    sampled = gradient_noise.sampled_gradient(LOGITS, reward, b, BATCH, np.random.default_rng(k.seed))
    names = ["1", "2", "3", "4", "5"]
    yield panel(
        "The gradient, exact and from one batch",
        "one number per logit; the seed chooses the batch",
        bars(names, gradient_noise.policy_gradient(LOGITS, REWARD), "exact", 1),
        bars(names, sampled, "one batch", 2),
        label(names[0], 0.94, "exact", 1),
        label(names[0], 0.8, "one batch", 2),
        x="answer",
        y_range=(-1.1, 1.1),
        tab="Five answers",
    )


CONSTANTS = np.linspace(-2, 20, 111)
OFFSETS = np.linspace(-2, 10, 49)


@cache
def noise_by_constant(offset):
    return [gradient_noise.noise(LOGITS, REWARD + offset, b) for b in CONSTANTS]


def needed(k, offset):
    return gradient_noise.samples_for_signal(LOGITS, REWARD + offset, baseline_of_five(k, offset))


@cache
def needed_by_offset(baseline, constant):
    k = Knobs(baseline=baseline, constant=constant)
    return [needed(k, offset) for offset in OFFSETS]


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
        label(best, 0.02, f"best: {best:.3f}".replace("-", "−"), 3, "left" if k.offset < 2 else "center"),
        dots([k.constant], [noise(k.constant)], "the constant set", 1, "here"),
        x="constant baseline b",
        x_range=(-2.5, 20.5),
        y_range=(0.01, 1000),
        log="y",
        tab="Baselines",
    )
    samples = needed(k, k.offset)
    yield panel(
        "Samples until signal equals noise",
        "logarithmic, exact, five answers",
        line(OFFSETS, needed_by_offset(k.baseline, k.constant), f"baseline: {k.baseline}"),
        line(
            OFFSETS[[0, -1]],
            [gradient_noise.samples_for_signal(LOGITS, REWARD, J)] * 2,
            "mean reward as baseline",
            8,
            "reference",
        ),
        line(OFFSETS[[0, -1]], [BATCH] * 2, "one batch", 2, "exact"),
        label(10, BATCH, f"one batch: {BATCH}", 2, "right"),
        dots([k.offset], [samples], f"{samples:,.0f} samples", 1, "here"),
        label(10, 2.2, "baseline: mean reward", 8, "right"),
        x="constant added to every reward",
        x_range=(-2, 10),
        y_range=(1, 1e5),
        log="y",
        tab="Baselines",
    )


# ── what is told of a run ──
def readouts(k, r):
    own, bare = ends(r)
    return [
        Readout("Wrong sums at the end", own, "of 100", tasks.exact_pass, "violated" if broken(k, r) else ""),
        Readout("With nothing subtracted", bare, "of 100", tasks.exact_pass),
        Readout("Sums with a pass rate above ⅔", int((r.rates > 2 / 3).sum()), "of 100", tasks.exact_pass),
        Readout(
            "Noise of a sample, two answers, p = 0.9", float(in_force(k, 0.9)), "", gradient_noise.two_answer_noise
        ),
    ]


def ends(r):
    """Wrong sums of 100 now, mean of the runs: of the setting, and with nothing subtracted."""
    return r.wrong[:, :, -1].mean(axis=1)


def watched(k, r):
    own, bare = ends(r)
    return Gauge(
        "Wrong sums, relative to nothing subtracted",
        own / bare,
        TIMES,
        "×",
        expression=f"wrong >= {TIMES} * wrong_with_nothing_subtracted after {UPDATES} updates",
    )


HIGH, OFF = "a high baseline on solved prompts", "a constant outside the rewards"


def seen_at(k, r, cause):
    return At("Wrong sums", None, None, "{y:.1f} of 100 still wrong", "mean of the runs")


def broken(k, r):
    own, bare = ends(r)
    if r.updates < UPDATES or own < TIMES * bare:
        return None
    other_seeds = replace(k, seed=(k.seed + 50) % 100)
    claims = {
        "as many on the same seeds": lambda: r.wrong[0, :, -1].sum() >= 1.5 * r.wrong[1, :, -1].sum(),
        "more on others too": lambda: np.divide(*ends(end(run, other_seeds))) > 1.2,
    }
    noise = gradient_noise.two_answer_noise
    if cause(k) == OFF:
        why = f"{own:.0f} of 100 sums end wrong. Every reward is off by {-by_hand(k):+g}, so every sample is noisier."
        everywhere = np.array([0.1, 0.5, 0.9])
        claims |= {"every sample": lambda: bool((noise(everywhere, by_hand(k)) > noise(everywhere, 0.0)).all())}
    else:
        why = (
            f"{own:.1f} of 100 sums end wrong, and {bare:.1f} with nothing subtracted: {named(k)} is the noisier "
            "choice once most sums are solved."
        )
        solved = 0.98
        claims |= {"once most are solved": lambda: in_force(k, solved) > noise(solved, 0.0)}
    return Break(Said(why.replace("-", "−"), claims), fix(k), cause(k))


def cause(k):
    """With two answers the best baseline is 1 - p: a constant b below 0 or above 2 is noisier than none at every p, one
    between them only above p = 1 - b/2.
    """
    return HIGH if k.baseline in SUBTRACTED or 0 < by_hand(k) < 2 else OFF


def named(k):
    means = {"group mean": "the group's mean", "leave-one-out": "the others' mean", "batch mean": "the batch's mean"}
    return means.get(k.baseline, f"a baseline of {by_hand(k):g}")


def fix(k):
    return recovery.different(k, dict(baseline="none", offset=0.0))


def worse(k, r):
    own, bare = ends(r)
    if r.updates < UPDATES or own < WELL:
        return None
    return Said(
        f"{own:.1f} of 100 sums end wrong, and {bare:.1f} with nothing subtracted. The default run ends below 3.",
        {"it does": lambda: ends(end(run, Knobs(seed=k.seed)))[0] < 3},
    )


def holds(k, r):
    own, bare = ends(r)
    beside = "" if plain(k) else f" ({bare:.1f} with nothing subtracted)"
    return Said(
        f"{own:.1f} of 100 sums end wrong{beside}. At the start, {r.wrong[0, 0, 0]:.0f} were wrong.",
        {
            "fewer than at the start": lambda: r.updates == 0 or own < r.wrong[0, 0, 0],
            "the same where nothing is subtracted": lambda: own == bare or bool(beside),
        },
    )


def methods(k, r):
    """What a constant takes away, or is added to every reward, is a reward function's and no trainer's option."""
    names = {"group mean": "minus the mean", "leave-one-out": "leave-one-out", "batch mean": "minus the batch's mean"}
    estimator = names.get(k.baseline, "reward")
    return {"REINFORCE": options.setting(reinforce, estimator=estimator, samples=k.K, prompts=BATCH // k.K)}


GUESS = Guess(
    "With rewards of 1 and 0, 2.5 of 100 sums end wrong. How many end wrong with rewards of ½ and −½?",
    ("about 1", "about 2.5", "about 3.5"),
    Knobs(offset=-0.5),
    2,
    lambda k, r: f"{ends(r)[0]:.1f} of 100 end wrong. Now wrong answers are pushed down too, but that does not help.",
)


# ── the first screen ──
TWO_RUNS = "no baseline", "group mean"


def opened(plain, other):
    """Wrong sums of both settings, and how many times as many the second has."""
    x, (own, bare) = EVERY * np.arange(plain.wrong.shape[2]), [r.wrong[0].mean(axis=0) for r in (other, plain)]
    return [
        panel(
            "Wrong answers of a language model",
            f"of 100 sums, logarithmic, mean of {SEEDS} runs",
            *both(TWO_RUNS, x, bare, own),
            dots([0], own[:1], "the same start", 1),
            label(2, own[0] * 1.06, f"both: {own[0]:.0f}", 0),
            label(UPDATES, bare[-1] / 1.75, f"{TWO_RUNS[0]}: {bare[-1]:.1f}", 8, "right"),
            label(UPDATES, own[-3] * 1.15, f"{TWO_RUNS[1]}: {own[-1]:.1f}", 1, "right"),
            x="update",
            x_range=(0, UPDATES),
            y_range=(1, 100),
            log="y",
            y_ticks=dict(tickvals=[1, 2, 5, 10, 20, 50, 100], ticktext=["1", "2", "5", "10", "20", "50", "100"]),
        ),
        by_update(
            "Wrong answers relative to no baseline",
            "wrong answers with the group mean over those without",
            line(x, own / bare, "ratio of both"),
            threshold(TIMES, f"{TIMES:g} times", 3),
            updates=UPDATES,
            y_range=(0, 3),
        ),
    ]


OPENING = Opening(Knobs(), Knobs(baseline="group mean"), opened, tasks.exact_pass, TWO_RUNS)
