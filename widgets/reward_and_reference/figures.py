"""The small figures of lesson 03: how far four completions have gone and what that costs, the best policy at each
price, and what a set of completions costs to reach.
"""

from functools import cache

import numpy as np

from sim.estimators import hacking
from sim.experiments import running_batch
from sim.worlds import modsum
from widgets.frame.drawing.marks import bars, cell, dots, grid, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle
from widgets.frame.drawing.written import signed

NAMES = ("1", "2", "3", "stop")
UPDATES, CHARGE = 100, 0.1  # a nat
HACK, SHARE = 1.5, 0.15
PENALTY = "minus the penalty"


# ── the batch ──
@cache
def logp(trained):
    return running_batch.drawn_logp(running_batch.later(UPDATES) if trained else modsum.Policy())


def gone(quantity):
    ratio = logp(True) - logp(False)

    def tone(value):
        return float(np.clip(value / 2.5, -1, 1))

    text_and_tone = {
        "at the start": lambda at: (signed(logp(False)[at]), float(np.exp(logp(False)[at]))),
        "now": lambda at: (signed(logp(True)[at]), float(np.exp(logp(True)[at]))),
        "log-ratio": lambda at: (signed(ratio[at]), tone(ratio[at])),
        PENALTY: lambda at: (signed(-CHARGE * ratio[at]), tone(-ratio[at])),
    }[quantity]
    sums = ratio.sum(axis=1)
    right = [f"{reward:.0f}" for reward in running_batch.RIGHT]
    net = running_batch.RIGHT - CHARGE * sums
    words = {
        "log-ratio": lambda i: f"sum {signed(sums[i])} · reward {right[i]}",
        PENALTY: lambda i: f"{right[i]} {'−' if sums[i] > 0 else '+'} {abs(CHARGE * sums[i]):.2f} = {net[i]:.2f}",
    }.get(quantity, lambda i: f"reward {right[i]}")
    rows = [
        [
            ("wrong", "correct")[int(running_batch.RIGHT[i])],
            [cell(NAMES[token], *text_and_tone((i, t))) for t, token in enumerate(row)],
            words(i),
        ]
        for i, row in enumerate(running_batch.ROWS)
    ]
    return [grid(rows, diverging=quantity in ("log-ratio", PENALTY))]


SAID = {
    "at the start": "Log-probability of each token under the reference.",
    "now": f"Log-probability of each token after {UPDATES} updates.",
    "log-ratio": "Now minus at the start: above 0, the token has become more likely, below 0 less likely.",
    PENALTY: "Reward minus 0.1 for each nat: a wrong row gets a refund for having become rare.",
}

# ── the best policy at each price ──
FIVE = tuple(name.replace(": ", ":<br>") for name in hacking.COMPLETIONS)
PRICES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.75, 1.0, 2.0, 5.0, 20.0)
FINE = np.geomspace(0.02, 20, 121)


def best(price):
    """KL, paid and true reward of the best policy at a price."""
    return tuple(float(v[0]) for v in hacking.frontier(REF, hacking.proxy(HACK), hacking.GOLD, [price]))


REF = hacking.reference(SHARE)


def prices(price):
    _, paid, gold = hacking.frontier(REF, hacking.proxy(HACK), hacking.GOLD, FINE)
    _, paid_here, gold_here = best(price)
    return [
        panel(
            "Mean reward of the best policy",
            "proxy and true reward, exact",
            line(FINE, paid, "proxy", 2),
            line(FINE, gold, "true", 1),
            line([0.02, 20], [REF @ hacking.GOLD] * 2, "true, reference", 8, "reference"),
            dots([price], [paid_here], "proxy", 2),
            dots([price], [gold_here], "true", 1),
            label(0.05, 1.52, "proxy", 2, "center"),
            label(0.42, 0.42, "true", 1, "right"),
            label(20, 0.06, "true, reference", 8, "right"),
            x="KL coefficient β",
            x_range=(0.02, 20),
            y_range=(0, 1.75),
            log="x",
            ticks=dict(tickvals=[0.02, 0.1, 1, 10], ticktext=["0.02", "0.1", "1", "10"]),
        ),
        panel(
            "Its answers to 7 + 5",
            "probability; [s8] the reference",
            bars(FIVE, REF, "reference", 8),
            bars(FIVE, hacking.optimum(REF, hacking.proxy(HACK), price), "best policy", 1),
            y_range=(0, 1),
        ),
    ]


def told(price):
    kl, paid, gold = best(price)
    return (
        f"At β = {price:g} the best policy has a proxy reward of {paid:.2f} and a true reward of {gold:.3f}. It is "
        f"{kl:.2f} nats from the reference."
    )


# ── the price tag ──
SHARES = (1e-6, 0.001, 0.01, 0.05, 0.15, 0.5)
SPAN, PAYS = np.geomspace(1e-6, 1, 61), np.geomspace(0.1, 100, 31)
TICKS = dict(tickvals=[1e-6, 1e-4, 0.01, 1], ticktext=["10<sup>−6</sup>", "10<sup>−4</sup>", "0.01", "1"])


def tag(share):
    nats = hacking.nats_to_reach(share)
    return [
        panel(
            "Cost of a set of answers",
            "nats, by its share under the reference",
            line(SPAN, hacking.nats_to_reach(SPAN), "−ln q"),
            dots([share], [nats], "here"),
            x="share q",
            x_range=(1e-6, 1),
            y_range=(0, 15),
            log="x",
            ticks=TICKS,
        ),
        panel(
            "The same cost, by what the answers earn",
            "nats, the same for every reward",
            line(PAYS, np.full(len(PAYS), nats), "−ln q"),
            x="reward of each answer",
            x_range=(0.1, 100),
            y_range=(0, 15),
            log="x",
            ticks=dict(tickvals=[0.1, 1, 10, 100], ticktext=["0.1", "1", "10", "100"]),
        ),
    ]


def cost(share):
    nats = hacking.nats_to_reach(share)
    return (
        f"Writing nothing else costs {nats:.2f} nats. At β = 0.1, that pays off if the mean reward rises by more than "
        f"{0.1 * nats:.2f}."
    )


FIGURES = {
    "batch": Figure(
        gone, running_batch.later, Handle("Shown in each cell", tuple(SAID), start=2, words=tuple(SAID)), SAID.get
    ),
    "prices": Figure(
        prices,
        hacking.frontier,
        Handle("KL coefficient", PRICES, start=PRICES.index(0.75), words=tuple(f"{p:g}" for p in PRICES), symbol="β"),
        told,
    ),
    "tag": Figure(
        tag,
        hacking.nats_to_reach,
        Handle(
            "Share of the set",
            SHARES,
            start=SHARES.index(SHARE),
            words=("one in a million", "0.001", "0.01", "0.05", "0.15", "0.5"),
            symbol="q",
        ),
        cost,
    ),
}
