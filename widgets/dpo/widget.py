"""A policy trained on pairs: what it wins against its reference, what the pairs gain, and how far it goes."""

from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np

from sim.estimators import bradley_terry, overoptimization
from sim.estimators.preference_losses import pref_loss
from sim.experiments import direct_preference
from sim.words import counted, plural
from sim.worlds import preferences
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing.marks import dots, heat, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening
from widgets.frame.drawing.written import signed

TITLE = "How often a policy trained on pairs wins, and where its probability goes"
COST = "full batches, Adam"

STEPS = 400  # of the longest run, and of the axis
BEATEN = 0.5  # wins against the reference below which training has made the policy worse than it was
BEHIND = 0.05  # wins below the default's that are said to be worse
UNLUCKY = 0.66  # wins that two of twenty seeds of the default stay below: no other labels are blamed for more
ASKED, SURE = "sampled", "the better wins"
LOSSES = {  # name on the page: name in TRL, and the price of a nat that suits it here
    "DPO": ("sigmoid", 0.4),
    "IPO": ("ipo", 0.1),
    "hinge": ("hinge", 0.4),
    "robust": ("robust", 0.4),
    "KTO": ("kto", 0.4),
    "BCO": ("bco_pair", 0.4),
    "APO-zero": ("apo_zero", 0.4),
    "DPO by token": ("sigmoid_norm", 5.0),
    "SimPO": ("simpo", 10.0),
    "ORPO": ("orpo", 0.1),
}
BETAS = [0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0]
SHOWN = slice(None, None, 2)  # of the frame's curves: every eighth step
LOWEST, HIGHEST = -10.0, 3.0  # nats on the axis of gains
FAR = 9.0  # √KL at the end of the axis
REACH, EVERY = 11.0, 2  # end of the map that is drawn, and which of its cells
DEEP = 6.0  # nats of gold at either end of its colors
LENGTHS = 20, 2000  # tokens on the axis


@dataclass(frozen=True)
class Knobs:
    loss: str = choice("Loss", "DPO", list(LOSSES))
    beta: float = ladder("KL coefficient", 0.4, BETAS, symbol="β")
    labels: str = choice("Labels", ASKED, [ASKED, SURE])
    bias: float = slider("Labelers' bonus for length", 0.0, low=0.0, high=1.5, step=0.25)
    n: int = ladder("Pairs compared", 200, [10, 12, 20, 30, 50, 100, 200, 300, 500, 1000])
    steps: int = ladder("Training steps", 400, [20, 40, 80, 150, 250, 400])
    flip: float = slider("Fraction of flipped labels", 0.0, low=0.0, high=0.4, step=0.05)
    gamma: float = ladder("Margin of SimPO", 0.5, [0.0, 0.1, 0.25, 0.5, 1.0, 1.6, 2.5, 5.0])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("beta", "labels")
PRESETS = {
    "DPO, β 0.4": Knobs(),
    "IPO, β 0.1": Knobs(loss="IPO", beta=0.1),
    "DPO, β 0.1": Knobs(beta=0.1),
    "Sure labels": Knobs(labels=SURE),
    "Labelers overvalue length": Knobs(bias=1.0),
    "SimPO, cpo_alpha 0": Knobs(loss="SimPO", beta=0.1),
}
GUESS = Guess(
    "With a KL coefficient of 1 instead of 0.4, the policy stays closer to the reference. Where does the loss end?",
    ("higher", "at the same value", "lower"),
    Knobs(beta=1.0),
    1,
    lambda k, r: (
        f"It ends at {r.course.loss[-1]:.3f}, as before: the coefficient only divides the weights of the best fit."
    ),
)


@cache
def world():
    return preferences.GridWorld()


@dataclass(frozen=True)
class Result:
    course: direct_preference.Course
    model: np.ndarray  # weights of the reward model of the same pairs, (2,)
    there: overoptimization.Outcome  # its optimum at the same price
    curve: list  # its optima at all prices


def idle(k):
    return {} if k.loss == "SimPO" else dict(gamma="only SimPO has a margin")


def run(k):
    model, curve = rival(k.labels, k.bias, k.n, k.flip, k.seed)
    reward = world().phi @ model
    policy, _ = overoptimization.tilt(world().ref, reward, k.beta)
    yield Result(course(k), model, overoptimization.outcome(world(), reward, policy), curve)


@lru_cache(maxsize=64)
def pairs(labels, bias, n, flip, seed):
    """What the labelers say of n pairs: (win, lose)."""
    rng = np.random.default_rng(seed)
    return preferences.sample_prefs(world(), n, rng, flip=flip, bias=bias, deterministic=labels == SURE)


@lru_cache(maxsize=8)
def rival(*labeling):
    """Lesson 15 on the same pairs: the weights of its reward model, and where it leads at each price."""
    model = bradley_terry.fit(world().phi, *pairs(*labeling))
    length = np.sqrt(model @ model / 2)
    prices = length / np.linspace(0.2, 7.0, 24)  # KL is the square of this distance
    return model, overoptimization.curve(world(), world().phi @ model, prices)


@lru_cache(maxsize=64)
def course(k, every=4):
    name, _ = LOSSES[k.loss]
    labeled = pairs(k.labels, k.bias, k.n, k.flip, k.seed)
    more = dict(gamma=k.gamma, label_smoothing=k.flip)
    return direct_preference.train(world(), *labeled, name, k.beta, k.steps, every, **more)


# What comes of it


def wins(k):
    """Wins at the end."""
    return float(course(k, k.steps).wins[-1])


def holding(k):
    return wins(k) >= BEATEN


def usual(k):
    """Wins of the default on pairs of the same seed."""
    return wins(Knobs(seed=k.seed))


def best(r):
    """(wins, step) where they were highest."""
    at = int(r.course.wins.argmax())
    return float(r.course.wins[at]), int(r.course.step[at])


WEAK, FREE = "too small a KL coefficient", "a loss without a reference"
CERTAIN, BENT = "labels that are surer than people", "labelers who overvalue length"
FEW, TURNED, MIXED = "too few pairs", "too many flipped labels", "a combination of settings"
ENDLESS = ("sigmoid", "sigmoid_norm", "robust")  # with sure labels a larger margin is always a lower loss
WITHOUT = ("simpo", "orpo")  # losses that know no reference


def undone(k):
    """{cause: the setting without it}, of those that are there."""
    name, home = LOSSES[k.loss]
    turned = {CERTAIN: dict(labels=ASKED), BENT: dict(bias=0.0)}
    if name in WITHOUT:
        turned[FREE] = dict(loss="DPO", beta=LOSSES["DPO"][1])
    elif home > k.beta:
        turned[WEAK] = dict(beta=home)
    turned |= {TURNED: dict(flip=0.0), FEW: dict(n=max(200, k.n))}
    settings = {cause: replace(k, **knobs) for cause, knobs in turned.items()}
    return {cause: setting for cause, setting in settings.items() if setting != k}


def cause(k):
    """The first cause that, undone alone, brings the wins back; MIXED if none does."""
    for cause, setting in undone(k).items():
        farther = cause == FREE and course(setting, k.steps).kl[-1] >= course(k, k.steps).kl[-1]
        if holding(setting) and not farther:
            return cause
    return MIXED


def fix(k, cause):
    """A larger coefficient where labels are sure, since nobody can make people waver; otherwise what is in the way."""
    dearer = [dict(beta=beta) for beta in BETAS if beta > max(k.beta, 0.7)]
    if cause == CERTAIN and k.loss == "DPO" and (back := recovery.first_of(k, dearer, holding)):
        return back
    loss = "DPO" if LOSSES[k.loss][0] in ("simpo", "orpo") else k.loss
    home = dict(loss=loss, beta=LOSSES[loss][1], labels=ASKED, bias=0.0, flip=0.0, n=200, steps=STEPS)
    default = dict(loss="DPO", beta=0.4, labels=ASKED, bias=0.0, flip=0.0, n=200, steps=STEPS, seed=0)
    return recovery.fewest(k, home, holding) or recovery.fewest(k, default, holding)


# The picture


def figure(k, r):
    return [outcome(k, r), gains(r), loss(r), distance(k, r), places(k, r), lengths(r)]


def outcome(k, r):
    x, y = r.course.step[SHOWN], r.course.wins[SHOWN]
    off_map = " · off the map" if r.course.edge[-1] > 0.01 else ""
    return panel(
        "Win rate against the reference",
        "share of comparisons, exact" + off_map,
        line(x, y, "policy", 1),
        *rival_line(k, r),
        threshold(BEATEN, "breaks below one half", 0.0),
        dots([x[-1]], [y[-1]], "end", 1, "here"),
        x="step",
        x_range=[0, STEPS + 8],
        y_range=[0, 1.04],
        tab="Run",
        front=True,
    )


def rival_line(k, r):
    """Where a reward model leads at this coefficient; β of the other losses is no price of a nat."""
    if k.loss != "DPO":
        return []
    return [
        line([0, STEPS], [r.there.wins] * 2, "reward model, same β", 2, "exact"),
        label(STEPS, 0.93, "dotted: reward model, same β", 2, "right"),
    ]


def gains(r):
    c = r.course
    return panel(
        "What the pairs have gained",
        "mean log-probability minus its start, nats",
        line(c.step[SHOWN], c.chosen[SHOWN], "winners", 1),
        line(c.step[SHOWN], c.rejected[SHOWN], "losers", 2),
        line([0, STEPS], [0, 0], "start", 8, "reference"),
        label(STEPS, 1.75, f"winners {signed(c.chosen[-1])}", 1, "right"),
        label(STEPS, 0.75, f"losers {signed(c.rejected[-1])}", 2, "right"),
        x="step",
        x_range=[0, STEPS + 8],
        y_range=[LOWEST, HIGHEST],
        tab="Run",
    )


def loss(r):
    share = r.course.loss / r.course.loss[0]
    return panel(
        "The loss of the pairs",
        "relative to its start",
        line(r.course.step[SHOWN], share[SHOWN], "loss", 1),
        label(STEPS, 1.07, f"from {r.course.loss[0]:.3f} to {r.course.loss[-1]:.3f}", 1, "right"),
        x="step",
        x_range=[0, STEPS + 8],
        y_range=[0, 1.2],
        tab="Loss and distance",
    )


def distance(k, r):
    far = np.sqrt(np.maximum(r.course.kl, 0))
    return panel(
        "Win rate by distance",
        "ring: end of the run; dot: reward model, same β",
        line(far[SHOWN], r.course.wins[SHOWN], "policy", 1),
        line([np.sqrt(o.kl) for o in r.curve], [o.wins for o in r.curve], "reward model, all β", 2, "exact"),
        *([dots([np.sqrt(r.there.kl)], [r.there.wins], "reward model, same β", 2)] if k.loss == "DPO" else []),
        dots([far[-1]], [r.course.wins[-1]], "end", 1, "here"),
        label(FAR, 0.95, "policy", 1, "right"),
        label(FAR, 0.87, "dotted: reward model", 2, "right"),
        x="√KL from the reference, √nats",
        x_range=[0, FAR],
        y_range=[0, 1.04],
        tab="Loss and distance",
    )


@cache
def ground():
    """(length, quality, gold) of the cells that are drawn; what is below −6 nats is drawn as that."""
    side = np.unique(world().q)
    within = np.abs(side) <= REACH
    gold = world().gold.reshape(len(side), len(side))[np.ix_(within, within)]
    at = side[within][::EVERY]
    return at, at, np.clip(gold[::EVERY, ::EVERY], -DEEP, DEEP)


def places(k, r):
    turn = np.linspace(0, 2 * np.pi, 61)
    radius = np.sqrt(preferences.SEEN)
    theta = r.course.theta
    goal = r.model / np.sqrt(r.model @ r.model) * np.sqrt(2 * r.there.kl)
    return panel(
        "Where the policy writes",
        "up: quality; [above-3] wanted; circle: reference",
        heat(*ground(), "gold", low=-DEEP, high=DEEP),
        line(theta[SHOWN, 1], theta[SHOWN, 0], "mean of the policy", 1),
        line(radius * np.cos(turn), radius * np.sin(turn), "reference, 99.9 %", 8, "reference"),
        *([dots([goal[1]], [goal[0]], "reward model, same β", 2)] if k.loss == "DPO" else []),
        dots([theta[-1, 1]], [theta[-1, 0]], "end", 1, "here"),
        x="length, standard deviations",
        x_range=[-5, REACH],
        y_range=[-5, REACH],
        tab="Map",
    )


def lengths(r):
    tokens = r.course.tokens
    return panel(
        "Length of the policy's completions",
        "mean, tokens, logarithmic",
        line(r.course.step[SHOWN], tokens[SHOWN], "policy", 1),
        line([0, STEPS], [tokens[0]] * 2, "reference", 8, "reference"),
        label(STEPS, 1100, f"{tokens[-1]:,.0f} at the end", 1, "right"),
        x="step",
        x_range=[0, STEPS + 8],
        y_range=LENGTHS,
        log="y",
        tab="Map",
    )


def readouts(k, r):
    c, source = r.course, direct_preference.train
    return [
        Readout("Win rate against the reference", c.wins[-1], "", source, "violated" if c.wins[-1] < BEATEN else ""),
        Readout(
            "Win rate of the reward model, same β",
            r.there.wins if k.loss == "DPO" else "–",
            "",
            overoptimization.outcome,
        ),
        Readout("KL from the reference", c.kl[-1], "nats", source),
        Readout("Log-probability gained by winners", c.chosen[-1], "nats", source),
        Readout("Completions beyond all pairs", 100 * c.off[-1], "%", source),
    ]


def watched(k, r):
    return Gauge(
        "Win rate against the reference",
        float(r.course.wins[-1]),
        BEATEN,
        below=True,
        expression=f"wins[-1] < {BEATEN:g}",
    )


def seen_at(k, r, cause):
    return At("Win rate against the reference", None, None, "win rate {y:.2f}, below its start", "policy")


def broken(k, r):
    end = float(r.course.wins[-1])
    if end >= BEATEN:
        return None
    blamed = cause(k)
    high, _ = best(r)
    ended = f"{end:.2f}" if end < 0.495 else f"{np.floor(1e4 * end) / 1e4:.4f}"
    fell = f"The win rate peaks at {high:.2f} and ends at {ended}"
    if r.course.loss[-1] < r.course.loss[0]:
        fell += ", while the loss fell"
    longer = r.course.tokens[-1] > r.course.tokens[0]
    writes = f", so the policy writes {r.course.tokens[-1]:,.0f} tokens on average" if longer else ""
    why = {
        CERTAIN: lambda: f"{fell}. {certain(k, r)}.",
        BENT: lambda: f"{fell}. Labelers overvalue length{writes}.",
        FREE: lambda: (
            f"{fell}. {k.loss} has no reference, so the policy goes {counted(f'{r.course.kl[-1]:,.0f}', 'nat')} at "
            f"β = {k.beta:g}."
        ),
        WEAK: lambda: f"{fell}. At β = {k.beta:g} the pull toward the reference is too weak.",
        TURNED: lambda: f"{fell}. Without the {100 * k.flip:.0f} % of flipped labels the policy would win.",
        FEW: lambda: f"{fell}. With 200 pairs instead of {k.n} the policy would win.",
        MIXED: lambda: f"{fell}. No single change mends it.",
    }
    return Break(Said(why[blamed](), claims(k, r, blamed)), fix(k, blamed), blamed)


def claims(k, r, cause):
    """What is asserted of a break: its course, and that it holds where the cause is undone, and nothing else is."""
    c, mended = r.course, undone(k).get(cause)
    asserted = {
        "fewer than half are won at the end": lambda: worth(c.theta[-1]) < BEATEN,
        "never were more won than is said": lambda: all(worth(theta) < best(r)[0] + 1e-6 for theta in c.theta[::10]),
    }
    if cause == MIXED:
        return asserted | {"undoing one alone mends nothing": lambda: not any(map(holding, undone(k).values()))}
    farther = {"without it, it stays nearer": lambda: course(mended).kl[-1] < c.kl[-1]}
    own = {
        CERTAIN: {"labels disagree only where they were turned round": lambda: not disagreeing(replace(k, flip=0.0))},
        BENT: {"a longer answer that is as good is paid more": lambda: k.bias > 0},
        FREE: farther,
        WEAK: farther,
    }
    return asserted | {"undone, it holds": lambda: worth(course(mended).theta[-1]) >= BEATEN} | own.get(cause, {})


def tilted(theta):
    """The policy of these weights, (9409,)."""
    weight = np.exp((logits := world().logref + world().phi @ theta) - logits.max())
    return weight / weight.sum()


def worth(theta):
    """Wins against the reference once more, by a sum over the map."""
    return float(tilted(theta) @ world().wins)


def disagreeing(k):
    """Labels against what the labelers would pay."""
    win, lose = pairs(k.labels, k.bias, k.n, k.flip, k.seed)
    pay = world().gold + k.bias * world().l
    return int((pay[win] < pay[lose] - 1e-9).sum())


def certain(k, r):
    """In words: how far sure labels agree, and whether every pair still asks for a larger margin."""
    if wrong := disagreeing(k):
        named = f"Of {k.n} labels, {wrong} {plural(wrong, 'names', 'name')} the worse one"
        return f"{named}, and sampled labels would hold the policy"
    return "Every label names the better one" + (", and every pair asks for a larger margin" if asking(k, r) else "")


def asking(k, r):
    """Whether the loss of every pair would fall on if its winner gained."""
    name, _ = LOSSES[k.loss]
    if name not in ENDLESS:
        return False
    batch, theta = direct_preference.Batch(world(), *pairs(k.labels, k.bias, k.n, k.flip, k.seed)), r.course.theta[-1]
    log_z, _ = batch.normalizer(theta)
    logref = world().logref[batch.win], world().logref[batch.lose]
    logp = logref[0] + batch.phi_w @ theta - log_z, logref[1] + batch.phi_l @ theta - log_z
    _, slope, _ = pref_loss(name, *logp, *logref, *batch.lengths, k.beta, label_smoothing=k.flip)
    return bool((slope < 0).all())


def worse(k, r):
    end, high, default = float(r.course.wins[-1]), best(r), Knobs()
    if end < BEATEN or end >= usual(k) - BEHIND:
        return None
    if high[0] - end > BEHIND and r.course.loss[-1] < r.course.loss[int(r.course.wins.argmax())]:
        return Said(
            f"The win rate was {high[0]:.2f} at step {high[1]} and ends at {end:.2f}, while the loss kept falling.",
            {
                "they were higher": lambda: max(map(worth, r.course.theta)) > worth(r.course.theta[-1]) + BEHIND - 1e-6,
                "the loss fell on": lambda: r.course.loss[-1] < r.course.loss[r.course.step == high[1]][0],
            },
        )
    as_labeled = all(getattr(k, name) == getattr(default, name) for name in ("labels", "bias", "n", "flip"))
    if not as_labeled and end > UNLUCKY:
        return None
    return Said(
        f"The win rate is {end:.2f}, while DPO at β = 0.4 reaches {usual(k):.2f} on 200 sampled pairs.",
        {
            "it wins so many": lambda: abs(worth(r.course.theta[-1]) - end) < 1e-6,
            "the default wins more": lambda: worth(course(Knobs(seed=k.seed)).theta[-1]) > end + BEHIND - 1e-6,
        },
    )


def gained(nats):
    return f"{'gained' if nats > 0 else 'lost'} {abs(nats):.1f}"


def holds(k, r):
    c = r.course
    theta = c.theta[-1]

    def of_pairs(side):
        """Mean of θ·φ of the winners, 0, or the losers, 1."""
        return (world().phi[pairs(k.labels, k.bias, k.n, k.flip, k.seed)[side]] @ theta).mean()

    nats = theta @ theta / 2  # of a Gaussian that is moved, far from the end of the map
    return Said(
        f"The policy wins {c.wins[-1]:.2f} of its comparisons, {c.kl[-1]:.1f} nats from the reference. Winners "
        f"{gained(c.chosen[-1])} nats of log-probability, and losers {gained(c.rejected[-1])}.",
        {
            "half or more are won": lambda: worth(theta) >= BEATEN,
            "it is so far": lambda: c.edge[-1] > 1e-6 or abs(nats - c.kl[-1]) < 0.05,
            "winners gained so much": lambda: c.edge[-1] > 1e-6 or abs(of_pairs(0) - nats - c.chosen[-1]) < 0.05,
            "losers gained so much": lambda: c.edge[-1] > 1e-6 or abs(of_pairs(1) - nats - c.rejected[-1]) < 0.05,
        },
    )


def methods(k, r):
    name, _ = LOSSES[k.loss]
    more = dict(robust=dict(flipped=k.flip), simpo=dict(margin=k.gamma)).get(name, {})
    return {k.loss: dict(pairs=name, price=k.beta) | more}


# Two runs on the first screen


TWO_RUNS = "sampled labels", "sure labels"


def opening(plain, other):
    named = ((plain, TWO_RUNS[0], 1), (other, TWO_RUNS[1], 2))
    return [
        panel(
            "Win rate against the model before training",
            "share of comparisons, exact",
            *(line(r.course.step[SHOWN], r.course.wins[SHOWN], name, series) for r, name, series in named),
            label(STEPS, 0.85, TWO_RUNS[0], 1, "right"),
            label(STEPS, 0.35, TWO_RUNS[1], 2, "right"),
            x="step",
            x_range=[0, STEPS],
            y_range=[0, 1.04],
        ),
        panel(
            "The loss of the pairs",
            "mean over the 200 pairs, nats",
            *(line(r.course.step[SHOWN], r.course.loss[SHOWN], name, series) for r, name, series in named),
            label(STEPS, 0.5, TWO_RUNS[0], 1, "right"),
            label(STEPS, 0.28, TWO_RUNS[1], 2, "right"),
            x="step",
            x_range=[0, STEPS],
            y_range=[0, 0.8],
        ),
    ]


OPENING = Opening(Knobs(), Knobs(labels=SURE), opening, direct_preference.train, TWO_RUNS)
