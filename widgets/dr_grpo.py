"""GRPO's two divisors on their own statistics: lengths that nobody rewards, the weight of a prompt by its pass rate,
and a run on noise alone.
"""

from dataclasses import dataclass
from itertools import islice

import numpy as np

from sim.algorithms import dapo, dr_grpo, grpo
from sim.estimators import length_bias, std_weight
from sim.experiments.runs import modsum_run
from sim.worlds import modsum
from widgets.frame.contract import Break, Readout, choice, ladder, slider, toggle
from widgets.frame.marks import each_run, label, line, panel, threshold

TITLE = "What GRPO's two divisors do where nothing asks for it"
UPDATES, SEEDS, EVERY = 150, 16, 15  # updates between two pictures
NOISE_SEEDS, NOISE_GROUPS, NOISE_K = 4, 8, 8
APART = 3.0  # wrong completions this many times as long as right ones: broken
ENTROPY_LEFT = 0.75  # less than this share of the entropy left: broken
FILES = {"1/|o|": grpo, "token mean": dapo, "constant": dr_grpo}


@dataclass(frozen=True)
class Knobs:
    divisor: str = choice("Divide the tokens by", "token mean", ["1/|o|", "token mean", "constant"])
    std: bool = toggle("Divide by the deviation", True)
    K: int = ladder("Completions a prompt", 8, [2, 3, 4, 8, 16, 64], symbol="K")
    noise: float = ladder("Reward nothing but noise of", 0.0, [0.0, 1e-4, 1e-3, 1e-2], symbol="σ")
    answer_learns: bool = toggle("The answer learns too", False)
    p: float = slider("Right at the start", 0.3, low=0.05, high=0.95, step=0.05, symbol="p")
    h: float = ladder("Stops after a token with", 0.1, [0.05, 0.1, 0.2, 0.5], symbol="h")
    groups: int = ladder("Prompts a batch", 16, [1, 4, 16, 64])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


PRESETS = {
    "Token mean (DAPO)": Knobs(),
    "GRPO, 2024": Knobs(divisor="1/|o|"),
    "Dr.GRPO": Knobs(divisor="constant", std=False),
    "GRPO on noise": Knobs(divisor="1/|o|", noise=1e-3),
    "Dr.GRPO on noise": Knobs(divisor="constant", std=False, noise=1e-3),
    "K = 2": Knobs(K=2),
}


@dataclass(frozen=True)
class Trace:
    lengths: length_bias.Lengths
    noise: list  # a list of frames for every seed of the noise run; empty without noise


def run(k):
    lengths = length_bias.train(
        k.p, k.h, k.K, k.std, k.divisor, k.answer_learns, k.groups, UPDATES, SEEDS, np.random.default_rng(k.seed), EVERY
    )
    beside = zip(
        *(noise_run(k, NOISE_SEEDS * k.seed + i).frames(UPDATES) for i in range(NOISE_SEEDS if k.noise else 0))
    )
    noise = []
    for so_far in lengths:
        noise.extend(islice(beside, so_far.updates - len(noise)))
        yield Trace(so_far, list(zip(*noise)))


def noise_run(k, seed):
    rng = np.random.default_rng(seed)
    hooks = dict(
        shape_reward=lambda reward, hp, batch: k.noise * rng.normal(size=len(reward)),
        advantage=(grpo if k.std else dr_grpo).advantage,
        weights=FILES[k.divisor].weights,
    )
    # assumed: 4 for GRPO; twice that without the division by about 1/2, three times that with 1/12 in place of about
    # 1/4
    rate = 4.0 * (1 if k.std else 2) * (3 if k.divisor == "constant" else 1)
    return modsum_run(
        grpo,
        seed=seed,
        learning_rate=rate,
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
    return [
        panel(
            "Length of right and wrong",
            "tokens, expected, logarithmic, 16 seeds; dotted: no length is rewarded",
            line(x, right.mean(axis=0), "right", 1),
            line(x, wrong.mean(axis=0), "wrong", 2),
            line([0, UPDATES], [true_length] * 2, "truth", 1, "exact"),
            each_run(x[::2], right[:6, ::2]),
            each_run(x[::2], wrong[:6, ::2], series=2),
            label(UPDATES, 70, "wrong, dashed", 2, "right"),
            label(UPDATES, 0.42, "right, solid", 1, "right"),
            x="update",
            x_range=(0, UPDATES),
            y_range=(0.4, 100),
            log="y",
            tab="Length",
        ),
        panel(
            "Wrong over right",
            "ratio of the mean lengths, logarithmic, 16 seeds",
            line(x, wrong.mean(axis=0) / right.mean(axis=0), "ratio", 1),
            threshold(APART, f"breaks above {APART:g}", 100),
            x="update",
            x_range=(0, UPDATES),
            y_range=(0.5, 100),
            log="y",
            tab="Length",
            front=True,
        ),
        panel(
            "Weight of a prompt",
            "exact, 1 at a pass rate of 0.5; thick: the K chosen",
            line(p, pushed[k.K] / pushed[k.K][49], f"K = {k.K}", 1),
            *(line(p, pushed[K] / pushed[K][49], f"K = {K}", 1, "seed") for K in (2, 4, 16, 64)),
            line(p, std_weight.limit_weight(p) / 2, "K without end", 1, "exact"),
            label(0.5, 4.6, "dotted: K without end", 0, "center"),
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
        panel(
            "Right completions",
            "probability, exact, 4 seeds; drawn once σ is above 0",
            *noise_curves(r, "pass_rate"),
            line([0, UPDATES], [J] * 2, "start", 1, "exact"),
            label(UPDATES, J, "start", 0, "right"),
            x="update",
            x_range=(0, UPDATES),
            y_range=(0, 0.5),
            tab="Only noise",
        ),
        panel(
            "Entropy",
            "nats a completion, exact, 4 seeds",
            *noise_curves(r, "completion_entropy"),
            threshold(ENTROPY_LEFT * H, "", 0),
            label(UPDATES, 0.2, "broken: three quarters or less", 0, "right"),
            label(UPDATES, H, "start", 0, "right"),
            line([0, UPDATES], [H] * 2, "start", 1, "exact"),
            x="update",
            x_range=(0, UPDATES),
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
    x, y = np.array([step for step, _ in exact[0]]), np.array([[value for _, value in one] for one in exact])
    return [line(x, y.mean(axis=0), "mean", 1), each_run(x, y)]


def readouts(k, r):
    drift = length_bias.expected_drift(k.p, k.h, k.K, k.std, k.divisor, k.groups)
    ratio = float(std_weight.std_weight(0.02, k.K) / std_weight.std_weight(0.5, k.K)) if k.std else 1.0
    return [
        Readout(
            "Wrong length over right, at the end",
            apart(r),
            "",
            length_bias.train,
            "violated" if apart(r) > APART else "",
        ),
        Readout(
            "Expected push on a stop, first update",
            0.0 if abs(drift) < 1e-12 else drift,
            "",
            length_bias.expected_drift,
        ),
        Readout("Tokens of a wrong completion", r.lengths.wrong[:, -1].mean(), "tokens", length_bias.expected_length),
        Readout("Weight of a prompt at 0.02, over one at 0.5", ratio, "", std_weight.std_weight),
        Readout(
            "Entropy left after noise", 100 * entropy_left(r), "%", modsum.exact, "violated" if collapsed(r) else ""
        ),
    ]


def apart(r):
    return r.lengths.wrong[:, -1].mean() / r.lengths.right[:, -1].mean()


def entropy_left(r):
    """The last exact entropy over the start's, mean of the seeds; 1 without a noise run."""
    start = modsum.exact(modsum.Policy().params["theta"])["completion_entropy"].mean()
    last = [[f.exact["completion_entropy"].mean() for f in frames if f.exact][-1] for frames in r.noise]
    return np.mean(last) / start if last else 1.0


def collapsed(r):
    return bool(r.noise) and len(r.noise[0]) == UPDATES and entropy_left(r) < ENTROPY_LEFT


def watched(k, r):
    now = f"{apart(r):.2f} and {100 * entropy_left(r):.0f} %"
    return Readout(
        f"wrong / right length > {APART:g} or entropy left < {100 * ENTROPY_LEFT:.0f} %", now, "", length_bias.train
    )


def broken(k, r):
    if collapsed(r):
        return Break(
            f"The reward is noise of {k.noise:g} and nothing else, but divided by its own deviation it counts "
            "like a right answer: "
            f"{100 * (1 - entropy_left(r)):.0f} % of the entropy was spent on learning it.",
            " ".join(["Divide by the deviation: off.", *([way_back(k)] if apart(r) > APART else [])]),
        )
    if apart(r) > APART:
        return Break(
            "No length is rewarded and the true gradient is 0, yet wrong completions have "
            f"{r.lengths.wrong[:, -1].mean():.1f} tokens and "
            f"right ones {r.lengths.right[:, -1].mean():.1f}: {cause(k)}.",
            way_back(k),
        )
    return None


def way_back(k):
    """The constant divisor; on a batch of one prompt the token mean is half of the way."""
    return "Divide the tokens by: constant." if k.groups > 1 or k.divisor == "1/|o|" else "Prompts a batch: 16."


def cause(k):
    if k.divisor == "1/|o|":
        return "divided by its own length, a long failure is punished less"
    return "in so small a batch the sum of the lengths is still large when one of them is"
