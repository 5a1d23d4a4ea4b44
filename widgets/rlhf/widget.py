"""A reward model fitted to comparisons, a policy optimized for it, and how often people prefer what it writes to what
the model before training writes.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from sim.estimators import bradley_terry, overoptimization
from sim.estimators.overoptimization import Outcome, outcome
from sim.worlds import preferences
from sim.worlds.preferences import GridWorld
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider, toggle
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing.marks import both, by_update, dots, heat, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "A policy optimized for a learned reward, and what people prefer"
OPTIMUM, UPDATES, FREE, BEST, ADAPTIVE = "best at β", "updates at β", "updates at β = 0", "best of N", "adaptive β"
RATE, ALL = 0.5, 60  # of mirror ascent: its step, and the updates of a run
HELD_OUT = 20_000  # pairs that the reward model has not seen
HALF, FEW, LATE = 0.5, 5, 12  # wins, completions, and the last updates of the controller that are looked at
BEHIND = 0.05  # of wins under the default that are called clearly behind
UNLUCKY = 0.66  # wins that two of twenty seeds of the default stay below: no other labels are blamed for more
FARTHEST, HIGHEST = 6.0, 10.0  # of the axes: root of KL, and reward in nats


@dataclass(frozen=True)
class Knobs:
    beta: float = ladder(
        "KL coefficient",
        0.4,
        [0.001, 0.003, 0.01, 0.03, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.7, 1.0, 2.0, 5.0],
        symbol="β",
    )
    pairs: int = ladder("Pairs compared", 200, [20, 30, 50, 100, 200, 500, 1000, 2000, 3000])
    flip: float = slider("Fraction of flipped labels", 0.0, low=0.0, high=0.4, step=0.05)
    how: str = choice("Optimizer", OPTIMUM, [OPTIMUM, UPDATES, FREE, BEST, ADAPTIVE])
    perfect: bool = toggle("Perfect reward", False)
    N: int = ladder("Samples in best of N", 16, [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 1_000_000])
    updates: int = ladder("Number of updates", 60, [1, 2, 3, 4, 5, 6, 8, 10, 13, 20, 30, 60])
    target: float = ladder("Target KL", 4.4, [0.5, 1.0, 2.0, 4.4, 8.0, 15.0, 30.0], unit="nats")
    gain: float = ladder("Gain of the controller", 0.1, [0.01, 0.03, 0.1, 0.3, 0.9, 2.0, 4.0])
    kappa: float = slider("Saturation of length", 1.0, low=0.0, high=2.0, step=0.25)
    features: str = choice("Features of the reward model", "q and length", ["q and length", "their squares too"])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("beta", "how")
PRESETS = {
    "200 pairs, β = 0.4": Knobs(),
    "Five updates, no penalty": Knobs(how=FREE, updates=5),
    "Best of 256": Knobs(how=BEST, N=256),
    "Lower KL coefficient": Knobs(beta=0.15),
    "Perfect reward, tiny penalty": Knobs(perfect=True, beta=0.003),
    "Controller with gain 4": Knobs(how=ADAPTIVE, gain=4.0),
}


@dataclass(frozen=True)
class Result:
    here: Outcome
    curve: list  # of Outcomes, the optimum at falling prices
    best: list  # of Outcomes, best of N for every N on offer; empty under another optimizer
    path: list  # of Outcomes, before the first update and after each; empty without updates
    held_out: float  # accuracy of the reward on pairs that it has not seen
    ceiling: float  # accuracy of gold on the same pairs
    centre: np.ndarray  # (2,) mean of the policy's quality and log-length
    spread: np.ndarray  # (2, 2) their covariance
    uphill: np.ndarray  # (2,) where the reward rises from the reference's mean
    law: tuple  # alpha and b of gold = alpha d - b d^2; empty where the reward is not linear


@cache
def worlds(kappa):
    """The map, and held-out pairs as people would label them."""
    world = GridWorld(kappa=kappa)
    return world, preferences.sample_prefs(world, HELD_OUT, np.random.default_rng(12345))


def idle(k):
    of = dict(N=[BEST], updates=[UPDATES, FREE], target=[ADAPTIVE], gain=[ADAPTIVE])
    of |= dict(beta=[OPTIMUM, UPDATES, ADAPTIVE])
    perfect = dict.fromkeys(("pairs", "flip", "features", "seed"), "nothing is learned") if k.perfect else {}
    return perfect | {knob: "used by another optimizer" for knob, hows in of.items() if k.how not in hows}


def run(k):
    world, held_out = worlds(k.kappa)
    reward, theta = learned(k, world)
    policy, path = optimized(k, world, reward)
    centre = policy @ world.phi
    away = world.phi - centre
    linear = k.features == "q and length" and not k.perfect
    yield Result(
        path[-1] if k.how == ADAPTIVE else outcome(world, reward, policy),
        curve(world, reward, linear),
        family(world, reward) if k.how == BEST else [],
        path,
        float(preferences.accuracy(reward, *held_out)),
        float(preferences.accuracy(world.gold, *held_out)),
        centre,
        (policy * away.T) @ away,
        theta[:2],
        overoptimization.coefficients(world, theta) if linear else (),
    )


def learned(k, world):
    """The reward that is optimized, (9409,), and its coefficients."""
    if k.perfect:
        return world.gold, np.array([1.0, world.c])
    features = world.phi if k.features == "q and length" else world.phi5
    pairs = preferences.sample_prefs(world, k.pairs, np.random.default_rng(k.seed), flip=k.flip)
    theta = bradley_terry.fit(features, *pairs)
    return features @ theta, theta


def optimized(k, world, reward):
    """The policy in force, and what it was before and after each update on the way."""
    if k.how == BEST:
        return overoptimization.best_of_n(world.ref, reward, k.N)[0], []
    if k.how == OPTIMUM:
        return overoptimization.tilt(world.ref, reward, k.beta)[0], []
    policies = steered(k, world, reward) if k.how == ADAPTIVE else climbed(k, world, reward)
    return policies[-1], [outcome(world, reward, policy) for policy in policies]


def climbed(k, world, reward):
    """Mirror ascent from the reference, with the price of KL or without."""
    logp, price = [world.logref], k.beta if k.how == UPDATES else 0.0
    for _ in range(k.updates):
        logp.append(overoptimization.mirror_step(logp[-1], reward, world.logref, price, RATE))
    return np.exp(logp)


def steered(k, world, reward):
    """A controller of the price; assumed: each update ends at the optimum for the price in force."""
    policies, beta = [world.ref], k.beta
    for _ in range(ALL):
        policy, kl = overoptimization.tilt(world.ref, reward, beta)
        # a controller that swings amplifies the last bit: with six digits of the price every machine runs the same run
        beta = float(f"{overoptimization.controlled(beta, kl, k.target, k.gain):.6g}")
        policies.append(policy)
    return policies


def family(world, reward):
    """Best of N for every N on offer."""
    return [outcome(world, reward, overoptimization.best_of_n(world.ref, reward, N)[0]) for N in rungs("N")]


def curve(world, reward, linear):
    """The optimum at prices that reach the end of the axis, as far as the map goes."""
    spread = np.sqrt(world.ref @ (reward - world.ref @ reward) ** 2)
    distance = np.linspace(0.15, FARTHEST, 40)
    if not linear:  # a reward that bends is farther or nearer than its spread says
        distance = np.concatenate([distance[::2], np.geomspace(7, 1500, 24)])
    outcomes = overoptimization.curve(world, reward, spread / (np.sqrt(2) * distance))
    return [o for o in outcomes if not o.edge]


def rungs(name):
    return Knobs.__dataclass_fields__[name].metadata["rungs"]


# ── what is shown ──
def figure(k, r):
    return [wins_by_distance(k, r), rewards_by_distance(k, r), *updates(k, r), landscape(k, r)]


ROOT = "distance from the start, √KL"


def wins_by_distance(k, r):
    d = [np.sqrt(o.kl) for o in r.curve]
    return panel(
        "How often people prefer the policy to its start",
        "share of comparisons" + ("; diamonds: best of N" if r.best else ""),
        line([0, *d], [0.5, *[o.wins for o in r.curve]], "best at each coefficient", 1),
        *([dots([np.sqrt(o.kl) for o in r.best], [o.wins for o in r.best], "best of N", 3)] if r.best else []),
        *here(r, r.here.wins, 1),
        *farther(r, 0.93),
        threshold(HALF, "worse than before training", 0.0, outside=True),
        x=ROOT,
        x_range=(0, FARTHEST),
        y_range=(0, 1.02),
        tab="By distance",
        front=True,
    )


def rewards_by_distance(k, r):
    d = [np.sqrt(o.kl) for o in r.curve]
    marks = [
        line([0, *d], [0, *[o.proxy for o in r.curve]], "the reward model’s score", 2),
        line([0, *d], [0, *[o.gold for o in r.curve]], "people’s own reward", 1),
        *here(r, r.here.proxy, 2),
        *here(r, r.here.gold, 1),
        label(0.15, 9.1, "the reward model’s score", 2),
        label(0.15, 8.2, "gold: people’s own reward", 1),
    ]
    if r.law:
        x = np.linspace(0, FARTHEST, 49)
        marks.append(line(x, overoptimization.gao_best_of_n(x, *r.law), "closed form", 1, "exact"))
    return panel(
        "Two rewards of the policy, 0 at the start",
        "nats" + ("; dotted: closed form of gold" if r.law else ""),
        *marks,
        x=ROOT,
        x_range=(0, FARTHEST),
        y_range=(-4.5, HIGHEST),
        tab="By distance",
    )


def here(r, value, series):
    d = np.sqrt(r.here.kl)
    return [dots([d], [value], "this setting", series, "here")] if d <= FARTHEST else []


def farther(r, y):
    d = np.sqrt(r.here.kl)
    return [label(FARTHEST, y, f"this setting: {d:.1f}, beyond the axis", 0, "right")] if d > FARTHEST else []


def updates(k, r):
    at = np.arange(len(r.path))
    none = [] if r.path else [label(ALL / 2, 0.75, f"“{k.how}” makes no updates", 8, "center")]
    yield by_update(
        "How often people prefer the policy, by update",
        "share of comparisons with the start",
        *([line(at, [o.wins for o in r.path], "wins", 1)] if r.path else none),
        threshold(HALF, "worse than before training", 0.0, outside=True),
        updates=ALL,
        tab="By update",
    )
    yield by_update(
        "KL from the start, by update",
        "nats, logarithmic",
        *([line(at[1:], [max(o.kl, 0.01) for o in r.path[1:]], "KL", 2)] if r.path else []),
        *([line([0, ALL], [k.target] * 2, "target", 8, "reference")] if k.how == ADAPTIVE else []),
        *([label(ALL, k.target, "target", 8, "right")] if k.how == ADAPTIVE else []),
        updates=ALL,
        y_range=(0.01, 1000),
        log="y",
        tab="By update",
    )


LOW, HIGH = -4.0, 12.0  # of the map that is drawn


def landscape(k, r):
    world, _ = worlds(k.kappa)
    side = np.unique(world.l)
    shown = (side >= LOW) & (side <= HIGH) & (side * 2 % 1 == 0)  # every second cell
    gold = world.gold.reshape(len(side), -1)[np.ix_(shown, shown)]
    turn = np.linspace(0, 2 * np.pi, 49)
    ring = np.sqrt(preferences.SEEN) * np.stack([np.cos(turn), np.sin(turn)])
    values, vectors = np.linalg.eigh(r.spread)
    policy = r.centre[:, np.newaxis] + vectors @ (np.sqrt(np.maximum(values, 0))[:, np.newaxis] * ring)
    tip = 3 * r.uphill / np.sqrt(r.uphill @ r.uphill)
    return panel(
        "Where the policy went",
        "gold: [below-4] −4 to [above-4] 4 nats; rings: 99.9 %",
        heat(side[shown], side[shown], np.clip(gold, -4, 4), "gold, nats", -4, 4),
        line(ring[1], ring[0], "the start", 8),
        line(policy[1], policy[0], "the policy", 1),
        line([0, tip[1]], [0, tip[0]], "the reward’s slope", 2),
        dots(tip[1:], tip[:1], "the reward’s slope", 2),
        label(0, -3.9, "start", 8, "center"),
        label(min(r.centre[1], HIGH - 2), min(r.centre[0], HIGH - 1) - 0.4, "policy", 1, "center"),
        x="length, standard deviations of the start",
        x_range=(LOW, HIGH),
        y_range=(LOW, HIGH),
        y_ticks=dict(title=dict(text="quality")),
        tab="Map",
    )


def readouts(k, r):
    break_ = broken(k, r)
    cause = break_.cause if break_ else ""
    return [
        Readout(
            "Win rate against the start",
            lowest(k, r.here, r.path),
            f"lowest of {LATE} updates" if k.how == ADAPTIVE else "",
            outcome,
            "violated" if break_ and cause != ONE else "",
        ),
        Readout("The reward model’s score", r.here.proxy, "nats", outcome),
        Readout("KL from the start", f"over {r.here.kl:.0f}" if r.here.edge else r.here.kl, "nats", outcome),
        Readout(
            "Held-out accuracy, of the maximum",
            f"{100 * r.held_out:.1f} of {100 * r.ceiling:.1f}",
            "%",
            preferences.accuracy,
        ),
        Readout(
            "Different completions", np.exp(r.here.entropy), "e^entropy", outcome, "violated" if cause == ONE else ""
        ),
    ]


# ── verdicts ──
FAR, ONE, SWING, ASTRAY, OVERSHOT, MIXED = (
    "a policy beyond the compared pairs",
    "an optimizer that leaves one completion",
    "a KL coefficient that swings",
    "too few labels, or wrong ones",
    "a step that overshoots the optimum",
    "a combination of settings",
)
CALM = 0.1
NEARER = {  # what each optimizer is held back by, the textbook value first
    OPTIMUM: ("beta", [0.4, 0.7, 1.0, 2.0, 5.0]),
    UPDATES: ("beta", [0.4, 0.7, 1.0, 2.0]),
    FREE: ("updates", [5, 3, 1]),
    BEST: ("N", [16, 4]),
    ADAPTIVE: ("target", [4.4, 2.0, 1.0, 0.5]),
}
RELABELED = dict(pairs=200, flip=0.0)


def lowest(k, here, path):
    """The wins that count: the lowest of the last twelve updates where a controller runs, else those of the policy.

    To six digits: wins are interpolated, and the reference's against itself are 0.49999988.
    """
    return round(counted(k, here, path).wins, 6)


def counted(k, here, path):
    """The outcome that has these wins."""
    return min(path[-LATE:], key=lambda o: o.wins) if k.how == ADAPTIVE else here


def few(here):
    """Hardly a different completion left, and not because the map ends there."""
    return np.exp(here.entropy) < FEW and not here.edge


def watched(k, r):
    break_ = broken(k, r)
    if break_.cause == ONE if break_ else k.perfect:
        completions, code = float(np.exp(r.here.entropy)), f"exp(entropy) < {FEW}"
        if r.here.edge:  # few, because the map ends there
            return Readout("Different completions", completions, "e^entropy", outcome)
        return Gauge("Different completions", completions, FEW, "", below=True, expression=code)
    title = f"Lowest win rate, last {LATE} updates" if k.how == ADAPTIVE else "Win rate against the start"
    return Gauge(title, lowest(k, r.here, r.path), HALF, below=True, expression=f"wins < {HALF}")


def seen_at(k, r, cause):
    words = "few different completions are left" if few(r.here) else "{y:.2f} prefer it to its start"
    title = "How often people prefer the policy to its start"
    if here(r, r.here.wins, 1):
        return At(title, None, None, words, "this setting")
    return At(title, FARTHEST, r.here.wins, words.format(y=r.here.wins))  # beyond the axis


def broken(k, r):
    low = lowest(k, r.here, r.path)
    if low >= HALF and not few(r.here):
        return None
    fix, name = fix_and_cause(k)
    return Break(why(k, r, low, name), recovery.different(k, fix), name)


def below_half(low):
    """Wins below one half, never rounded to it."""
    return f"{low:.2f}" if low < 0.495 else f"{np.floor(1e4 * low) / 1e4:.4f}"


def why(k, r, low, cause):
    if cause == ONE:
        return Said(
            f"Only {np.exp(r.here.entropy):.1f} different completions are left, because one completion has the highest "
            "reward and the KL penalty hardly counts.",
            {
                "hardly a completion is left": lambda: np.sum(policy_of(k) > 0.01) <= 2 * FEW,
                "one is the best": lambda: np.sum(np.isclose(reward := reward_of(k), reward.max(), atol=1e-9)) == 1,
                "it is among what is written": lambda: policy_of(k)[reward_of(k).argmax()] > 0.1,
                "a policy that is nearer to its start is mended": lambda: mends(k, r),
            },
        )
    if cause == OVERSHOT:
        return Said(
            f"The win rate is {below_half(low)}. Coefficient {k.beta:g} times step {RATE:g} is above 2, so each update "
            "overshoots the optimum by more.",
            {
                "the step is too large for its price": lambda: k.beta * RATE > 2,
                "the last updates move farther from the optimum": lambda: grows(k, r),
                "the optimum itself holds": lambda: keeps(replace(k, how=OPTIMUM)),
            },
        )
    if cause == SWING:
        wins, nats = ([getattr(o, of) for o in r.path[-LATE:]] for of in ("wins", "kl"))
        return Said(
            f"In the last {LATE} updates the win rate swings from {low:.2f} to {max(wins):.2f}, because the "
            "coefficient and the KL overshoot each other.",
            {
                "the distance overshoots its target both ways": lambda: min(nats) < k.target < max(nats),
                "wins go up and down": lambda: low == round(min(wins), 6) and max(wins) - low > BEHIND,
                "a calm controller mends it": lambda: keeps(replace(k, gain=CALM)) and k.gain > CALM,
            },
        )
    if cause == ASTRAY:
        name, values = NEARER[k.how]
        spoken = dict(beta="coefficient", updates="number of updates", N="N", target="target")[name]
        return Said(
            f"The win rate is {below_half(low)}. No {spoken} that was tried helps, unless 200 pairs are compared and "
            "none is flipped.",
            {
                "wins are below one half": lambda: float(below_half(low)) < HALF,
                "nothing that was tried helps": lambda: not any(keeps(replace(k, **{name: at})) for at in values),
                "other labels mend it": lambda: mends(k, r) and not k.perfect,
            },
        )
    at = counted(k, r.here, r.path)
    if cause == MIXED:
        return Said(
            f"The win rate is {below_half(low)}, so people prefer the start. No single change mends it.",
            {
                "people prefer its start": lambda: preferred(k, at) < HALF + 0.01,
                "one thing alone does not": lambda: (
                    not any(keeps(replace(k, **{name: value})) for name, value in [("gain", CALM), *held_back(k)])
                ),
            },
        )
    score = f"over {at.proxy:.0f}" if at.edge else f"{at.proxy:.1f}"
    when = f"The lowest win rate in {LATE} updates is" if k.how == ADAPTIVE else "The win rate is"
    scored = f"{when} {below_half(low)}, although the score is {score}"
    claims = {
        "a reward model was learned": lambda: not k.perfect,
        "it scores it above its start": lambda: at.proxy > 0,
        "people prefer its start": lambda: preferred(k, at) < HALF + 0.01,
        "nearer to its start it is mended": lambda: mends(k, r),
    }
    if at.off < 0.005:
        return Said(f"{scored}. Closer to its start, the policy would win.", claims)
    far = {"so much of it is there": lambda: 0.005 <= at.off <= 1}
    return Said(
        f"{scored}. {100 * at.off:.0f} % of its completions lie where the start hardly ever writes.", claims | far
    )


@cache
def fix_and_cause(k):
    """The knobs to turn until it holds, {name: value}, and the cause of the break."""
    here, path = ended(k)
    last = [o.wins for o in path[-LATE:]]
    if k.how == ADAPTIVE and k.gain > CALM and max(last) - min(last) > BEHIND and keeps(replace(k, gain=CALM)):
        return dict(gain=CALM), SWING
    if k.how == UPDATES and k.beta * RATE > 2 and keeps(replace(k, how=OPTIMUM)):
        return next({"beta": value} for _, value in held_back(k) if keeps(replace(k, beta=value))), OVERSHOT
    nearer = [{name: value} for name, value in held_back(k)]
    priced = [{"beta": Knobs.beta, **s} for s in nearer] if k.how == ADAPTIVE else []  # a controller begins at a price
    for settings in [*nearer, *priced]:
        if keeps(replace(k, **settings)):
            return settings, ONE if lowest(k, here, path) >= HALF else FAR
    calm = [{"gain": CALM, **s} for s in [*nearer, *priced]] if k.how == ADAPTIVE else []
    for settings in calm:
        if keeps(replace(k, **settings)):
            return settings, MIXED
    return next({**RELABELED, **s} for s in [*nearer, *priced, *calm] if keeps(replace(k, **RELABELED, **s))), ASTRAY


def held_back(k):
    """(knob, value) of what would hold this optimizer nearer to its start."""
    name, values = NEARER[k.how]
    return [(name, value) for value in values if value != getattr(k, name)]


def keeps(k):
    here, path = ended(k)
    return lowest(k, here, path) >= HALF and not few(here)


@cache
def ended(k):
    """The policy in force and its path, without the curves around it."""
    world, _ = worlds(k.kappa)
    policy, path = optimized(k, world, reward_of(k))
    return path[-1] if k.how == ADAPTIVE else outcome(world, reward_of(k), policy), path


def mends(k, r):
    """Whether the way back leads to a policy that people prefer to its start, and that writes more than one thing."""
    elsewhere = replace(k, **fix_and_cause(k)[0])
    here, path = ended(elsewhere)
    return preferred(elsewhere, counted(elsewhere, here, path)) > HALF - 0.01 and not few(here)


def reward_of(k):
    return learned(k, worlds(k.kappa)[0])[0]


def policy_of(k):
    return optimized(k, worlds(k.kappa)[0], reward_of(k))[0]


def grows(k, r):
    """Whether the updates end farther from the optimum at this price than they were."""
    goal = ended(replace(k, how=OPTIMUM))[0].gold
    return abs(r.path[-1].gold - goal) > abs(r.path[len(r.path) // 2].gold - goal) or r.here.edge


def preferred(k, at):
    """Wins of an outcome once more, from pairs that are drawn: the mean chance that people choose its completion.

    Of a policy in the middle of a path, which is not kept, the wins that were computed.
    """
    if k.how == ADAPTIVE:
        return at.wins
    world, _ = worlds(k.kappa)
    rng = np.random.default_rng(7)
    policy = policy_of(k)
    own, start = (rng.choice(len(p), 20_000, p=p / p.sum()) for p in (policy, world.ref))
    return float(preferences.sigmoid(world.gold[own] - world.gold[start]).mean())


def worse(k, r):
    """Better than the start, and clearly behind the default: on the same labels, or behind what it has by any seed."""
    wins, usual = r.here.wins, ended(Knobs(seed=k.seed))[0].wins
    if r.here.edge:
        return Said(
            "The policy has reached the edge of the map. A larger map would show different numbers.",
            {"a part of it is at the end": lambda: policy_of(k) @ worlds(k.kappa)[0].at_the_edge > 0.01},
        )
    paired = (k.pairs, k.flip, k.features) == (Knobs.pairs, Knobs.flip, Knobs.features)
    if wins > usual - BEHIND or (not paired and wins > UNLUCKY):
        return None
    return Said(
        f"The policy wins {100 * wins:.0f} of 100 comparisons with its start, compared with {100 * usual:.0f} at the "
        "default with this seed.",
        {
            "so often it is preferred": lambda: abs(preferred(k, r.here) - wins) < 0.015,
            "the default more often": lambda: preferred(Knobs(seed=k.seed), None) > wins + BEHIND - 0.015,
        },
    )


def holds(k, r):
    return Said(
        f"The policy wins {100 * r.here.wins:.0f} of 100 comparisons with its start. {100 * r.here.off:.0f} % of its "
        "completions lie where the start hardly ever writes.",
        {
            "so often it is preferred": lambda: abs(preferred(k, r.here) - r.here.wins) < 0.015,
            "no less often than its start": lambda: r.here.wins > HALF - 1e-5,
            "so much lies outside of the ring": lambda: (
                abs(1 - policy_of(k) @ ~worlds(k.kappa)[0].off - r.here.off) < 1e-6
            ),
        },
    )


def rise_and_fall(r):
    wins = [o.wins for o in r.best]
    top = int(np.argmax(wins))
    return f"It rises to {wins[top]:.2f} at N = {rungs('N')[top]} and falls to {wins[-1]:.2f} at a million."


GUESS = Guess(
    "Keep the best-scored of N samples. How does the win rate change as N goes from 1 to a million?",
    ("it keeps rising", "it rises and levels off", "it rises, then falls"),
    Knobs(how=BEST, N=1_000_000),
    2,
    lambda k, r: rise_and_fall(r),
)


# ── the first screen ──
TWO_RUNS = "KL coefficient 0.4", "KL coefficient 0.15"


def opened(plain, other):
    """Wins and the reward model's score after each update, of both settings."""
    x = np.arange(ALL + 1)
    wins = [[o.wins for o in r.path] for r in (plain, other)]
    score = [[o.proxy for o in r.path] for r in (plain, other)]
    return [
        by_update(
            "How often people prefer the policy to its start",
            f"share of comparisons, after each of {ALL} updates",
            *both(TWO_RUNS, x, *wins),
            dots([0], [0.5], "the same start", 1),
            label(ALL, wins[0][-1] + 0.01, TWO_RUNS[0], 8, "right"),
            label(ALL, wins[1][-1] + 0.02, TWO_RUNS[1], 1, "right"),
            updates=ALL,
        ),
        by_update(
            "Score of the policy on the reward model",
            "nats; 0 is the start",
            *both(TWO_RUNS, x, *score),
            label(ALL, score[0][-1] + 0.1, TWO_RUNS[0], 8, "right"),
            label(ALL, score[1][-1] + 0.1, TWO_RUNS[1], 1, "right"),
            updates=ALL,
            y_range=(0, HIGHEST),
        ),
    ]


OPENING = Opening(Knobs(how=UPDATES), Knobs(how=UPDATES, beta=0.15), opened, outcome, TWO_RUNS)
