"""GRPO's two divisors on their own statistics: lengths that nobody rewards, the weight of a prompt by its pass rate,
and a run on noise alone.
"""

from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from rlpt import options
from sim.algorithms import dapo, dr_grpo, grpo
from sim.estimators import length_bias, std_weight
from sim.experiments.standard_runs import modsum_optimizer, modsum_rate, modsum_run
from sim.worlds import modsum
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider, toggle
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing.marks import both, by_update, each_run, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "GRPO's two divisors, tested where they should change nothing"
UPDATES, SEEDS, EVERY = 150, 16, 15  # updates between two pictures
NOISE_SEEDS, NOISE_GROUPS, NOISE_K = 4, 8, 8
APART = 3.0  # wrong completions this many times as long as right ones: broken
DRIFT = 2.0  # fewer times as long is the noise of three runs
LEVEL = 1.1  # times the length at the start up to which nothing is said to grow
FILES = {"1/|o|": grpo, "token mean": dapo, "constant": dr_grpo}
NOISE_RATE = {"SGD": 4.0, "AdamW": 2.0}  # times the knob: what GRPO trains at in the tab Only noise


@dataclass(frozen=True)
class Knobs:
    divisor: str = choice("Length divisor", "token mean", ["1/|o|", "token mean", "constant"])
    std: bool = toggle("Divide by standard deviation", True)
    optimizer: str = choice("Optimizer", "SGD", ["SGD", "AdamW"])
    learning_rate: float = ladder("Learning rate (AdamW: 1/100)", 1.0, [0.5, 1.0, 3.0])
    K: int = ladder("Completions per prompt", 8, [2, 3, 4, 8, 16, 64], symbol="K")
    noise: float = ladder("Noise as the only reward", 0.0, [0.0, 1e-4, 1e-3, 1e-2], symbol="σ")
    answer_learns: bool = toggle("Train the answer too", False)
    p: float = slider("Pass rate at the start", 0.3, low=0.05, high=0.95, step=0.05, symbol="p")
    h: float = ladder("Stop probability per token", 0.1, [0.05, 0.1, 0.2, 0.5], symbol="h")
    groups: int = ladder("Prompts per batch", 16, [1, 4, 16, 64])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


PRESETS = {
    "Token mean (DAPO)": Knobs(),
    "GRPO, 2024": Knobs(divisor="1/|o|"),
    "Dr.GRPO": Knobs(divisor="constant", std=False),
    "One prompt per batch": Knobs(groups=1),
    "Dr.GRPO on noise, AdamW": Knobs(divisor="constant", std=False, noise=1e-3, optimizer="AdamW"),
    "K = 2": Knobs(K=2),
}


@dataclass(frozen=True)
class Trace:
    lengths: length_bias.Lengths
    noise: list  # a list of frames for every seed of the noise run; empty without noise


def run(k):
    rng, optimizer = np.random.default_rng(k.seed), modsum_optimizer(k.optimizer, length_rate(k))
    lengths = length_bias.train(
        k.p, k.h, k.K, k.std, k.divisor, k.answer_learns, k.groups, UPDATES, SEEDS, rng, EVERY, optimizer
    )
    on_noise = zip(
        *(noise_run(k, NOISE_SEEDS * k.seed + i).frames(UPDATES) for i in range(NOISE_SEEDS if k.noise else 0))
    )
    noise = []
    for so_far in lengths:
        noise.extend(islice(on_noise, so_far.updates - len(noise)))
        yield Trace(so_far, list(zip(*noise)))


def length_rate(k):
    """The knob's rate for 1/|o|; for the other divisors SGD gets the rate that matches, and AdamW the same."""
    return k.learning_rate * (length_bias.RATES[k.divisor] if k.optimizer == "SGD" else 1)


def noise_rate(k):
    """GRPO's. Under SGD twice that without the division by a deviation of about 1/2, and three times that where 1/12
    takes the place of one over a length of about 4: steps as long as GRPO's.
    """
    matched = (1 if k.std else 2) * (3 if k.divisor == "constant" else 1) if k.optimizer == "SGD" else 1
    return NOISE_RATE[k.optimizer] * k.learning_rate * matched


def noise_run(k, seed):
    rng = np.random.default_rng(seed)
    hooks = dict(
        shape_reward=lambda reward, hp, batch: k.noise * rng.normal(size=len(reward)),
        advantage=(grpo if k.std else dr_grpo).advantage,
        weights=FILES[k.divisor].weights,
    )
    return modsum_run(
        grpo,
        seed=seed,
        optimizer=modsum_optimizer(k.optimizer, noise_rate(k)),
        groups=NOISE_GROUPS,
        K=NOISE_K,
        hyper=dict(beta=0.0),
        hooks=hooks,
        exact_every=3,
    )


def progress(k, r):
    return ["update", r.lengths.updates, UPDATES]


def figure(k, r):
    x = np.arange(0, r.lengths.updates + 1, 2)
    right, wrong = r.lengths.right[:, ::2], r.lengths.wrong[:, ::2]
    p = np.linspace(0.01, 0.99, 99)
    pushed = {K: std_weight.std_weight(p, K) if k.std else np.full(len(p), (K - 1) / K) for K in (2, 4, 16, 64, k.K)}
    start = modsum.exact(modsum.Policy().params["theta"])
    J, H = start["pass_rate"].mean(), start["completion_entropy"].mean()
    true_length = length_bias.expected_length(k.h)
    lengths_at, noise_at = (
        f"{k.optimizer} at {modsum_rate(k.optimizer, rate):g}" for rate in (length_rate(k), noise_rate(k))
    )
    return [
        by_update(
            "Length of correct and wrong answers",
            f"tokens, log, 16 seeds, {lengths_at}; dotted: start",
            line(x, right.mean(axis=0), "correct", 1),
            line(x, wrong.mean(axis=0), "wrong", 2),
            line([0, UPDATES], [true_length] * 2, "truth", 1, "exact"),
            each_run(x[::2], right[:6, ::2]),
            each_run(x[::2], wrong[:6, ::2], series=2),
            label(UPDATES, 70, "wrong, dashed", 2, "right"),
            label(UPDATES, 0.42, "correct, solid", 1, "right"),
            updates=UPDATES,
            y_range=(0.4, 100),
            log="y",
            tab="Length",
        ),
        by_update(
            "Length of wrong over correct answers",
            f"ratio of mean lengths, log, 16 seeds, {lengths_at}",
            line(x, wrong.mean(axis=0) / right.mean(axis=0), "ratio", 1),
            threshold(APART, f"breaks above {APART:g}", 100),
            updates=UPDATES,
            y_range=(0.5, 100),
            log="y",
            tab="Length",
            front=True,
        ),
        panel(
            "Weight of a prompt",
            "exact, 1 at a pass rate of 0.5; thick: chosen K",
            line(p, pushed[k.K] / pushed[k.K][49], f"K = {k.K}", 1),
            *(line(p, pushed[K] / pushed[K][49], f"K = {K}", 1, "seed") for K in (2, 4, 16, 64)),
            line(p, std_weight.limit_weight(p) / 2 if k.std else np.ones(len(p)), "infinite K", 1, "exact"),
            label(0.5, 4.6, "dotted: infinite K", 0, "center"),
            x="pass rate of the prompt",
            x_range=(0, 1),
            y_range=(0, 5),
            tab="Difficulty",
        ),
        panel(
            "Mean push on a prompt",
            "exact; dotted: the true gradient p(1 − p)",
            line(p, p * (1 - p) * pushed[k.K], f"K = {k.K}", 1),
            line(p, p * (1 - p), "truth", 1, "exact"),
            x="pass rate of the prompt",
            x_range=(0, 1),
            y_range=(0, 0.55),
            tab="Difficulty",
        ),
        by_update(
            "Pass rate",
            f"exact, 4 seeds, {noise_at}; shown if σ is above 0",
            *noise_curves(r, "pass_rate"),
            line([0, UPDATES], [J] * 2, "start", 1, "exact"),
            label(UPDATES, J, "start", 0, "right"),
            updates=UPDATES,
            y_range=(0, 0.5),
            tab="Only noise",
        ),
        by_update(
            "Entropy",
            f"nats per completion, exact, 4 seeds, {noise_at}",
            *noise_curves(r, "completion_entropy"),
            label(UPDATES, H, "start", 0, "right"),
            line([0, UPDATES], [H] * 2, "start", 1, "exact"),
            updates=UPDATES,
            y_range=(0, 6.5),
            tab="Only noise",
        ),
    ]


def noise_curves(r, name):
    if not r.noise:
        return []
    exact = [
        [(frame.step + 1, frame.exact[name].mean()) for frame in frames if name in frame.exact] for frames in r.noise
    ]
    x, y = np.array([step for step, _ in exact[0]]), np.array([[value for _, value in points] for points in exact])
    return [line(x, y.mean(axis=0), "mean", 1), each_run(x, y)]


def readouts(k, r):
    drift = length_bias.expected_drift(k.p, k.h, k.K, k.std, k.divisor, k.groups)
    return [
        Readout(
            "Wrong over correct length, end", apart(r), "", length_bias.train, "violated" if apart(r) > APART else ""
        ),
        Readout(
            "Expected push on a stop, first update",
            0.0 if abs(drift) < 1e-12 else drift,
            "",
            length_bias.expected_drift,
        ),
        Readout("Length of wrong completions", r.lengths.wrong[:, -1].mean(), "tokens", length_bias.expected_length),
        Readout("Weight, pass rate 0.02 over 0.5", prompt_weight(k), "", std_weight.std_weight),
        Readout("Entropy after noise over start", entropy_left(r), "×", modsum.exact),
    ]


def prompt_weight(k):
    return float(std_weight.std_weight(0.02, k.K) / std_weight.std_weight(0.5, k.K)) if k.std else 1.0


def apart(r):
    return r.lengths.wrong[:, -1].mean() / r.lengths.right[:, -1].mean()


def entropy_left(r):
    """The last exact entropy over the start's, mean of the seeds; 1 without a noise run."""
    start = modsum.exact(modsum.Policy().params["theta"])["completion_entropy"].mean()
    last = [[f.exact["completion_entropy"].mean() for f in frames if f.exact][-1] for frames in r.noise]
    return np.mean(last) / start if last else 1.0


def watched(k, r):
    return Gauge("Wrong over correct length", apart(r), APART, "×", expression=f"wrong / correct length > {APART:g}")


def seen_at(k, r, cause):
    return At("Length of wrong over correct answers", None, None, "wrong ones {y:.0f} times as long", "ratio")


def broken(k, r):
    if apart(r) <= APART:
        return None
    wrong, right = ends(r)
    lengths = f"Wrong completions have {wrong:.1f} tokens and correct ones {right:.1f}"
    grew = {
        "the two began alike": lambda: np.allclose(r.lengths.wrong[:, 0], r.lengths.right[:, 0]),
        "most runs parted": lambda: (r.lengths.wrong[:, -1] > r.lengths.right[:, -1]).mean() > 0.5,
        "a constant mends it": lambda: apart(other(k, divisor="constant")) < apart(r) / 1.5,
    }
    if k.divisor == "1/|o|":
        why = Said(f"{lengths}. Divided by its own length, a long failure is punished less per token.", grew)
        return Break(why, dict(divisor="constant"), "a weaker push on long failures")
    more = {"a larger batch mends it": lambda: apart(other(k, groups=64)) < DRIFT}
    why = Said(f"{lengths}. In so small a batch, one long completion dominates the divisor.", grew | more)
    back = recovery.different(k, dict(divisor="constant")) or dict(groups=64)
    return Break(why, back, "one long completion in the divisor")


def other(k, **turned):
    """The end of the same run without its noise run, which has no length."""
    return end(run, replace(k, noise=0.0, **turned))


def ends(r):
    """Tokens of a wrong and of a right completion now, mean of the seeds."""
    return r.lengths.wrong[:, -1].mean(), r.lengths.right[:, -1].mean()


def worse(k, r):
    if apart(r) <= DRIFT:
        return None
    return Said(
        f"Wrong completions are {apart(r):.1f} times as long as correct ones. The drift is slow, but no reward "
        "causes it.",
        {
            "a constant drifts less": lambda: apart(other(k, divisor="constant")) < apart(r) / 1.2,
            "it is slow": lambda: r.lengths.updates < UPDATES or ends(r)[0] < APART * ends(r)[1],
        },
    )


def holds(k, r):
    (wrong, right), start = ends(r), length_bias.expected_length(k.h)
    grown = max(wrong, right) / start
    words = "nothing grows" if grown < LEVEL else "little grows"
    return Said(
        f"No length is rewarded, and {words}. Wrong completions have {wrong:.1f} tokens and correct ones {right:.1f}, "
        f"compared with {start:.1f} at the start.",
        {
            "that many at the start": lambda: np.allclose(r.lengths.right[:, 0], start),
            "no more than said": lambda: max(ends(r)) / r.lengths.wrong[0, 0] < (LEVEL if grown < LEVEL else DRIFT),
        },
    )


def methods(k, r):
    over = {"1/|o|": "completions", "token mean": "tokens", "constant": "a constant"}[k.divisor]
    estimator = "z-score" if k.std else "minus the mean"
    batch = dict(samples=k.K, prompts=k.groups)
    itself = options.setting(dr_grpo, dict(inner_epochs=1), **batch)
    above = options.setting(dr_grpo, dict(inner_epochs=1), estimator=estimator, aggregation=over, **batch)
    return {"Dr.GRPO": itself} | ({} if above == itself else {"The setting above": above})


GUESS = Guess(
    "Rewards are only noise of 0.001. With neither divisor, how much entropy is left after 150 updates of AdamW?",
    ("all of it", "about 95 %", "below 85 %"),
    Knobs(divisor="constant", std=False, noise=1e-3, optimizer="AdamW"),
    2,
    lambda k, r: f"{100 * entropy_left(r):.0f} % is left, because AdamW also divides by the gradient's own size.",
)


# ── the first screen ──
TWO_RUNS = "constant divisor", "divided by length"


def opened(plain, other):
    """Wrong completions of both settings, and how many times as long as right ones they get."""
    x = np.arange(UPDATES + 1)
    wrong = [r.lengths.wrong.mean(axis=0) for r in (plain, other)]
    ratio = [w / r.lengths.right.mean(axis=0) for w, r in zip(wrong, (plain, other))]
    return [
        by_update(
            "Tokens of a wrong answer",
            f"expected, mean of {SEEDS} seeds; length is not rewarded",
            *both(TWO_RUNS, x, *wrong),
            label(UPDATES, wrong[0][-1] + 2, f"{TWO_RUNS[0]}: {wrong[0][-1]:.0f}", 8, "right"),
            label(UPDATES, wrong[1][-1] + 2, f"{TWO_RUNS[1]}: {wrong[1][-1]:.0f}", 1, "right"),
            updates=UPDATES,
            y_range=(0, 66),
        ),
        by_update(
            "Length of wrong over correct answers",
            "ratio, logarithmic",
            *both(TWO_RUNS, x, *ratio),
            label(UPDATES, 1.2, TWO_RUNS[0], 8, "right"),
            label(UPDATES, 14, TWO_RUNS[1], 1, "right"),
            updates=UPDATES,
            y_range=(0.5, 100),
            log="y",
        ),
    ]


OPENING = Opening(Knobs(divisor="constant"), Knobs(divisor="1/|o|"), opened, length_bias.train, TWO_RUNS)
