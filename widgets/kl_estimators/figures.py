"""The small figures of lesson 03a: a token that fell, what one token says, how hard it is pushed, and one log."""

from functools import cache

import numpy as np

from sim.estimators import kl
from sim.words import counted
from widgets.frame.drawing.marks import bars, dots, label, line, panel, region
from widgets.frame.drawing.small_figures import Figure, Handle
from widgets.frame.drawing.written import decimal

REF, POLICY = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.1, 0.8])  # three tokens, before and after some training
FELL = float(np.log(POLICY[0] / REF[0]))  # the log-ratio of token 1
ELL = np.linspace(-2.2, 2.2, 89)
AXIS = dict(x="log-ratio ℓ of the token", x_range=(-2.2, 2.2))


# ── a token that fell ──
SIDE, FAR = "ℓ, with its sign", "ℓ²/2, a distance"
CHARGED = {SIDE: kl.k1, FAR: kl.k2}


def fallen(how):
    (other,) = set(CHARGED) - {how}
    return [
        panel(
            "The penalty’s push on a token",
            "above 0: pushed down; below 0: raised",
            region(-2.2, 0.0),
            line(ELL, CHARGED[other](ELL, 0.0), other, 8, "other"),
            line([-2.2, 2.2], [0, 0], "no push", 8, "reference"),
            line(ELL, CHARGED[how](ELL, 0.0), how, 1),
            dots([FELL], [CHARGED[how](FELL, 0.0)], "token 1", 1),
            label(FELL + 0.1, float(CHARGED[how](FELL, 0.0)), "token 1", 1, below=how == SIDE),
            label(-2.1, 0.2 if how == SIDE else -2.3, "now less likely", 8),
            label(2.1, -2.3, "now more likely", 8, "right"),
            **AXIS,
            y_range=(-2.5, 2.7),
        )
    ]


def charged(how):
    push = float(CHARGED[how](FELL, 0.0))
    effect = "it is raised again" if push < 0 else "it is pushed down again"
    return f"Token 1 fell from {REF[0]} to {POLICY[0]}. It is charged {decimal(push)}, so {effect}."


# ── what one token says ──
RATIOS = (0.125, 0.2, 0.25, 1 / 3, 0.5, 2 / 3, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
SPOTS = {"k1": (-2.1, -1.9), "k2": (1.9, 2.2), "k3": (-1.75, 3.6)}


def token(ratio):
    at = float(np.log(ratio))
    return [
        panel(
            "Estimates from one token",
            "nats",
            *(line(ELL, value(ELL, 0.0), name, i) for i, (name, value) in enumerate(kl.VALUE.items(), 1)),
            *(dots([at], [value(at, 0.0)], name, i) for i, (name, value) in enumerate(kl.VALUE.items(), 1)),
            *(
                label(x, y, name, i, "right" if name == "k2" else "left")
                for i, (name, (x, y)) in enumerate(SPOTS.items(), 1)
            ),
            **AXIS,
            y_range=(-2.5, 6.2),
        )
    ]


def says(ratio):
    values = ", ".join(f"{name} {decimal(float(value(np.log(ratio), 0.0)))}" for name, value in kl.VALUE.items())
    return f"For a token {'as' if ratio == 1 else f'{ratio:.3g} times as'} likely as under the reference: {values}."


# ── how hard it is pushed ──
PLACES = {"in the reward": "reward", "as a loss": "loss", "loss × ratio": "loss × ratio"}
AT = {  # where each curve has its name: x, y, whether below
    "in the reward": {"k1": (-1.3, -1.6, True), "k2": (-2.15, 2.4, False), "k3": (-1.8, 4.6, False)},
    "as a loss": {"k1": (-2.15, 1.0, False), "k2": (-1.9, -1.4, False), "k3": (-1.45, -3.4, True)},
    "loss × ratio": {"k1": (-0.75, 0.8, False), "k2": (-2.15, 0.3, False), "k3": (-2.15, -2.3, True)},
}


def weights(place):
    by_estimator = {name: kl.gradient_weight(ELL, 0.0, ELL, name, PLACES[place]) for name in kl.VALUE}
    wanted = ELL[4:-4:10]
    return [
        panel(
            "Weight on a sampled token",
            "above 0: pushed down; below 0: raised; dots: wanted",
            line([-2.2, 2.2], [0, 0], "no push", 8, "reference"),
            *(line(ELL, weight, name, i) for i, (name, weight) in enumerate(by_estimator.items(), 1)),
            dots(wanted, wanted, "wanted", 8),
            *(label(x, y, name, i, below=below) for i, (name, (x, y, below)) in enumerate(AT[place].items(), 1)),
            **AXIS,
            y_range=(-4.6, 6.2),
        )
    ]


def weighed(place):
    (right,) = (n for n in kl.VALUE if np.allclose(kl.gradient_weight(ELL, 0.0, ELL, n, PLACES[place]), ELL))
    where = "As a loss times the ratio" if "ratio" in place else f"{place[0].upper()}{place[1:]}"
    return f"{where}, one of the three estimators has the weight that we want: {right}."


# ── one log ──
COUNTS = tuple(4**i for i in range(7))


@cache
def logged():
    """Running means of k1, k2, k3 over one stream of the policy's tokens, (3, 4096)."""
    tokens = np.random.default_rng(0).choice(len(POLICY), COUNTS[-1], p=POLICY)
    values = np.array([value(np.log(POLICY), np.log(REF))[tokens] for value in kl.VALUE.values()])
    return np.cumsum(values, axis=1) / np.arange(1, COUNTS[-1] + 1)


def log(n):
    names, means = list(kl.VALUE), logged()[:, n - 1]
    exact = kl.divergence(POLICY, REF)
    return [
        panel(
            "Mean of each estimator",
            "over the sampled tokens, nats",
            line(names, [exact] * 3, "exact", 8, "reference"),
            bars(names, means, "mean", 1),
            *(label(name, -0.46, decimal(mean), 0, "center") for name, mean in zip(names, means)),
            label("k3", 1.66, f"line: the exact KL, {exact:.3f}", 8, "right"),
            y_range=(-0.5, 2.0),
        )
    ]


def averaged(n):
    spread = np.sqrt(kl.k_moments(POLICY, REF, POLICY).variance / n)
    errors = ", ".join(f"{name} {sd:.2g}" for name, sd in zip(kl.VALUE, spread))
    return f"Standard error of the mean of {counted(n, 'token')}, in nats: {errors}."


FIGURES = {
    "fallen": Figure(fallen, kl.k2, Handle("Charge", (SIDE, FAR), start=1, words=(SIDE, FAR)), charged),
    "token": Figure(
        token,
        kl.k3,
        Handle("Policy over reference", RATIOS, start=1, words=tuple(f"× {ratio:.3g}" for ratio in RATIOS)),
        says,
    ),
    "log": Figure(
        log,
        kl.k_moments,
        Handle("Tokens", COUNTS, start=3, words=tuple(f"{n:,}" for n in COUNTS), symbol="n"),
        averaged,
    ),
    "weights": Figure(
        weights, kl.gradient_weight, Handle("Place", tuple(PLACES), start=0, words=tuple(PLACES)), weighed
    ),
}
