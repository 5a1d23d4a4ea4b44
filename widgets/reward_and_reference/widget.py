"""What a price on the distance from the reference buys: a tiny model trained at that price, and the best policy."""

from dataclasses import dataclass, replace

import numpy as np

from sim.estimators import hacking
from sim.experiments import kl_anchor
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing.marks import bars, both, by_update, dots, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "A model trained with a KL penalty, and the best policy for that penalty"
COST = "12,800 completions a run"
UPDATES, EVERY = 100, 8
PRICES = np.geomspace(20, 0.02, 70)
NAMES = ["Final:<br>12", "Final:<br>13", "Final:<br>11", "12", "hmm …"]  # on an axis
COPY, ALIAS = "frozen copy", "the policy itself"
OWN = hacking.SHARES[-1]  # of the hack in the demonstrations of the trained model, whatever the knob says
LOST = 0.5  # a model that keeps less than this share of its true reward is broken


TRAINED = "A tiny model trained with this penalty"


@dataclass(frozen=True)
class Knobs:
    beta: float = ladder(
        "KL coefficient",
        1.0,
        [0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.75, 1.0, 2.0, 5.0, 20.0],
        symbol="β",
    )
    hack: float = slider("Reward of the hack", 1.5, low=0.0, high=3.0, step=0.1, symbol="h")
    mass: float = ladder("Share of hack (formula only)", 0.15, [0.001, 0.01, 0.05, 0.15, 0.3, 0.5], symbol="q")
    source: str = choice("Judge", "reward model", ["verifier", "reward model"])
    reference: str = choice("Reference", COPY, [COPY, ALIAS])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("beta", "source")
PRESETS = {
    "Leaky reward model": Knobs(),
    "Sound verifier, no penalty": Knobs(beta=0.0, source="verifier"),
    "Leaky, β of R1": Knobs(beta=0.001),
    "Reference is no copy": Knobs(reference=ALIAS),
    "Hack earns less, no penalty": Knobs(beta=0.0, hack=0.9),
}


@dataclass(frozen=True)
class Result:
    ref: np.ndarray  # (5,)
    policy: np.ndarray  # (5,) the best one at the price that is really paid
    paid: float
    gold: float
    kl: float
    sweep: tuple  # KL, paid and true reward of the best policy at each of PRICES
    points: tuple  # of the training run so far


def run(k):
    ref, reward, beta = hacking.reference(k.mass), hacking.proxy(pay(k)), price(k)
    (kl,), (paid,), (gold,) = hacking.frontier(ref, reward, hacking.GOLD, [beta])
    policy = hacking.optimum(ref, reward, beta)
    sweep = hacking.frontier(ref, reward, hacking.GOLD, [*PRICES, 0.0])
    points = []
    for point in kl_anchor.train(pay(k), k.beta, k.reference == ALIAS, k.seed, UPDATES):
        points.append(point)
        if point.update % EVERY == 0 or point.update == UPDATES:
            yield Result(ref, policy, paid, gold, kl, sweep, tuple(points))


def pay(k):
    """What the hack earns: a verifier pays it nothing."""
    return k.hack if k.source == "reward model" else 0.0


def price(k):
    """A reference that is the policy itself charges nothing."""
    return k.beta if k.reference == COPY else 0.0


def progress(k, r):
    return ["update", r.points[-1].update, UPDATES]


def figure(k, r):
    return [*training_tab(k, r), *price_tab(k, r)]


def price_tab(k, r):
    distance, paid, gold = r.sweep
    floor, top, right = r.ref @ hacking.GOLD, 1.35 * max(1.5, k.hack), max(2.3, 1.15 * hacking.nats_to_reach(k.mass))
    wall, at = hacking.nats_to_reach(k.mass), 0.02 * right
    curves = [line(distance, gold, "true", 1), dots([r.kl], [r.gold], "true, here", 1, "here")]
    if pay(k) > 0:
        curves += [
            line(distance, paid, "proxy", 2),
            dots([r.kl], [r.paid], "proxy, here", 2, "here"),
            label(at, 0.91 * top, "dashed: proxy", 2),
        ]
    yield panel(
        "Mean reward of the best policy",
        "exact; ring: this β; right end: no penalty",
        *curves,
        label(at, 0.8 * top, "solid: true", 1),
        line([0, right], [floor, floor], "true, reference", 8, "reference"),
        label(at, floor, "true, of the reference", 8, below=True),
        line([wall, wall], [0, top], "−ln q", 8, "reference"),
        label(wall + at, 0.02 * top, "−ln q", 8),
        x="KL from the reference, nats",
        x_range=(0, right),
        y_range=(0, top),
        tab="Best policy",
    )
    yield panel(
        "The best policy’s answers to 7 + 5",
        "probability, exact; the hack: hmm …",
        bars(NAMES, r.ref, "reference", 2),
        bars(NAMES, r.policy, "best policy", 1),
        label(2, 1.18, "left: the reference", 2, "center"),
        label(2, 1.06, "right: the best policy", 1, "center"),
        y_range=(0, 1.3),
        tab="Best policy",
    )


def training_tab(k, r):
    update, start, top = [p.update for p in r.points], r.points[0].gold, 1.35 * max(1.5, k.hack)
    yield by_update(
        TRAINED,
        f"true: mean of 100 sums; proxy: mean of 128 completions; hack at first {OWN:g}",
        line(update, [p.gold for p in r.points], "true", 1),
        line(update, [p.proxy for p in r.points], "proxy", 2),
        line([0, UPDATES], [start, start], "start", 8, "reference"),
        threshold(LOST * start, "broken if true ends below", 0.0),
        label(2, 0.935 * top, "dashed: proxy", 2),
        label(2, 0.845 * top, "solid: true", 1),
        label(2, 0.755 * top, "true, at the start", 8),
        updates=UPDATES,
        y_range=(0, top),
        tab="Training",
        front=True,
    )
    logged = [line(update, [p.kl_logged for p in r.points], "in the log", 2)] if k.beta > 0 else []
    yield by_update(
        "KL of the model from its start",
        "nats per completion, mean over 128",
        line(update, [p.kl for p in r.points], "from the start", 1),
        *logged,
        label(2, 7.3, "solid: from the start", 1),
        label(2, 6.4, "dashed: in the log" if logged else "no reference, no log", 2),
        updates=UPDATES,
        y_range=(-0.3, 8.2),
        tab="Training",
    )


def readouts(k, r):
    last, lost = r.points[-1], damaged(r)
    bad = "violated" if lost else ""
    logged = none_left(last.kl_logged) if k.beta > 0 else "none"
    return [
        Readout("True reward of the trained model", none_left(last.gold), "", kl_anchor.train, bad),
        Readout("KL in the run’s log, nats", logged, "", kl_anchor.nats, bad if no_copy(k, r) else ""),
        Readout("True reward of the best policy", none_left(r.gold), "", hacking.frontier),
        Readout("Proxy reward of the best policy", r.paid, "", hacking.frontier),
        Readout("KL of the best policy", r.kl, "nats", hacking.distance),
    ]


def none_left(x):
    """0 for a share of less than one in ten thousand, which a figure does not show."""
    return 0.0 if abs(x) < 1e-4 else x


def watched(k, r):
    return Gauge(
        "True reward, end divided by start",
        none_left(r.points[-1].gold / r.points[0].gold),
        LOST,
        "×",
        below=True,
        expression=f"true reward at the end / at the start < {LOST:g}",
    )


def damaged(r):
    return r.points[-1].update == UPDATES and r.points[-1].gold < LOST * r.points[0].gold


def no_copy(k, r):
    """Whether the log says 0 while the policy has left, at a price that a copy would have charged enough."""
    unseen = any(abs(p.kl_logged) < 1e-9 and p.kl > 0.1 for p in r.points)
    return unseen and k.reference == ALIAS and k.beta >= enough(k)


def seen_at(k, r, cause):
    return At(TRAINED, None, None, "true reward fell to {y:.2f}", "true")


def broken(k, r):
    if not damaged(r):
        return None
    last, start, ref = r.points[-1], r.points[0], hacking.reference(OWN)
    fell = f"The true reward fell from {start.gold:.3f} to {last.gold:.3f}."
    best = hacking.optimum(ref, hacking.proxy(pay(k)), price(k)) @ hacking.GOLD
    if no_copy(k, r):
        far = max(p.kl for p in r.points)
        claims = {
            "the log says 0 all the way": lambda: max(abs(p.kl_logged) for p in r.points) < 0.0005,
            "a copy mends it": lambda: not damaged(end(run, replace(k, reference=COPY))),
        }
        why = (
            f"{fell} The penalty compares the policy with itself, so the log says 0.000 nats at a distance of "
            f"{far:.2f} nats."
        )
        cause = "a reference that is no copy"
    elif best < ref @ hacking.GOLD:
        at = f"β = {k.beta:g} without a copy" if k.reference == ALIAS and k.beta > 0 else f"β = {k.beta:g}"
        claims = {
            "the best policy is worse than the start": lambda: best < start.gold,
            "the price is lower than the pay": lambda: hacking.nats_to_reach(OWN) * price(k) < pay(k),
            "without its pay nothing falls": lambda: not damaged(end(run, replace(k, source="verifier"))),
            "it is paid for what is not right": lambda: last.proxy > last.gold + 0.2,
        }
        why = (
            f"{fell} At {at}, the hack costs {hacking.nats_to_reach(OWN):.2f} nats but earns more: the mean proxy "
            f"reward is {last.proxy:.2f}."
        )
        cause = "a hack that pays for itself"
    else:
        claims = {
            "the best policy is better than the start": lambda: best > start.gold,
            "it is paid for what is not right": lambda: last.proxy > 2 * last.gold,
            "without its pay nothing falls": lambda: not damaged(end(run, replace(k, source="verifier"))),
        }
        why = (
            f"{fell} The best policy at β = {k.beta:g} would be correct {100 * best:.0f} % of the time, but training "
            "found the hack first."
        )
        cause = "training that meets the hack first"
    return Break(Said(why, claims), fix(k), cause)


def fix(k):
    """A copy and a price clearly above the crossover; without either on offer, a reward that cannot be hacked."""
    rungs = Knobs.__dataclass_fields__["beta"].metadata["rungs"]
    values = dict(reference=COPY) if k.reference == ALIAS else {}
    if k.beta < enough(k):
        values |= dict(beta=next(rung for rung in rungs if rung >= enough(k)))
    return recovery.different(k, values or dict(source="verifier"))


def enough(k):
    """A price clearly above the crossover."""
    return max(0.35, 1.5 * hacking.crossover(hacking.reference(OWN), pay(k)))


def worse(k, r):
    start, last = r.points[0], r.points[-1]
    if last.gold >= start.gold:
        return None
    return Said(
        f"The true reward fell from {start.gold:.3f} to {last.gold:.3f}, so more than half is left. The proxy reward "
        f"is {last.proxy:.2f}.",
        {"not lost": lambda: last.update < UPDATES or last.gold >= start.gold / 2},
    )


def holds(k, r):
    start, last = r.points[0], r.points[-1]
    return Said(
        f"The true reward rose from {start.gold:.3f} to {last.gold:.3f}, and the model ends {last.kl:.2f} nats from "
        "its start.",
        {
            "it has not fallen": lambda: r.points[-1].gold >= r.points[0].gold,
            "it was there at the start": lambda: r.points[0].kl < 0.005,
        },
    )


GUESS = Guess(
    "Now a sound verifier gives the reward, 1 or 0. Which KL coefficient leads to the highest pass rate?",
    ("none at all", "0.3", "1"),
    Knobs(beta=0.0, source="verifier"),
    0,
    lambda k, r: (
        f"Without a penalty it ends at {r.points[-1].gold:.2f}, because a penalty charges the model for what it learns."
    ),
)


TWO_RUNS = "KL coefficient 1", "KL coefficient 0.001"


def opening(plain, other):
    """The true reward and the paid reward of both runs."""
    update = [p.update for p in plain.points]
    right = [[100 * p.gold for p in r.points] for r in (plain, other)]
    paid = [[p.proxy for p in r.points] for r in (plain, other)]
    yield by_update(
        "Correct answers of a language model",
        "expected number of 100 sums",
        *both(TWO_RUNS, update, *right),
        dots([0], right[1][:1], "the same start", 1),
        label(UPDATES, right[0][-1] + 3, TWO_RUNS[0], 8, "right"),
        label(UPDATES, right[1][-1] + 3, TWO_RUNS[1], 1, "right"),
        updates=UPDATES,
        y_range=(0, 104),
    )
    yield by_update(
        "Mean reward of the two runs",
        "proxy reward; a correct answer earns 1",
        *both(TWO_RUNS, update, *paid),
        label(UPDATES, min(paid[0][-4:]) - 0.03, TWO_RUNS[0], 8, "right", below=True),
        label(UPDATES, 1.56, TWO_RUNS[1], 1, "right"),
        updates=UPDATES,
        y_range=(0, 1.8),
    )


OPENING = Opening(Knobs(), Knobs(beta=0.001), lambda *both: list(opening(*both)), kl_anchor.train, TWO_RUNS)
