"""Several reward models fitted to the same labelers' comparisons and made into one, the policy that is best for it, and
how often people prefer what that policy writes: sixteen draws of everything.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from sim.estimators import overoptimization, reward_ensemble
from sim.experiments import many_reward_models
from sim.experiments.many_reward_models import HOWS, ONE, OUT, SQUARES, STRAIGHT, all_agree
from sim.words import plural
from sim.worlds import preferences
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import scene
from widgets.frame.drawing.marks import dots, each_run, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Played
from widgets.reward_models import completion_map

TITLE = "Several reward models made into one, and what people prefer"
RUNS = 16
COST = f"{RUNS} runs, each with its own pairs, models and policy"
HALF, MANY = 0.5, 3  # wins, and how many of sixteen runs below it are a break even where the mean is above
BEHIND = 0.05  # of wins under the default that are called clearly behind
MOST = 10  # models
LOWEST, UNCERTAINTY = "lowest", "uncertainty"
DISTANCES = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0]


@dataclass(frozen=True)
class Knobs:
    how: str = choice("Way to combine the models", LOWEST, list(HOWS))
    bias: float = slider("Labelers' bonus for length", 0.0, low=0.0, high=2.0, step=0.25)
    pairs: int = ladder("Pairs compared", 200, [20, 30, 50, 100, 200, 500, 1000, 3000])
    features: str = choice("Features of the reward models", STRAIGHT, [STRAIGHT, SQUARES])
    kl: float = ladder("KL from the start", 8.0, DISTANCES, unit="nats")
    E: int = ladder("Number of models", 5, [2, 3, 5, 7, MOST])
    lam: float = slider("Charge for variance", 0.5, low=0.0, high=3.0, step=0.25)
    seed: int = slider("Block of 16 seeds", 0, low=0, high=9, step=1)


LEAD = ("how", "bias")
KNOB_GROUPS = {"The labels": ("pairs",), "The models": ("features", "E", "lam"), "The policy": ("kl", "seed")}
PRESETS = {
    "Lowest of five": Knobs(),
    "Labelers overvalue length": Knobs(bias=1.0),
    "Length taken out": Knobs(how=OUT, bias=1.0),
    "30 pairs, mean of five": Knobs(how="mean", pairs=30, features=SQUARES, kl=16.0),
    "30 pairs, uncertainty": Knobs(how=UNCERTAINTY, pairs=30, features=SQUARES, kl=16.0),
    "Honest labels, length taken out": Knobs(how=OUT, features=SQUARES),
}


@dataclass(frozen=True)
class Result:
    runs: tuple  # of many_reward_models.Run, one a draw

    @property
    def wins(self):
        """(runs,) to six digits: they are interpolated."""
        return np.round([run.outcome.wins for run in self.runs], 6)

    @property
    def mean(self):
        return float(self.wins.mean())

    @property
    def below(self):
        """How many draws end with a policy that people like less than the start."""
        return int((self.wins < HALF).sum())

    @property
    def middle(self):
        """The run whose wins are in the middle."""
        return self.runs[int(np.argsort(self.wins)[len(self.runs) // 2])]

    @property
    def tokens(self):
        """Of a typical completion, in the mean of the runs' log-lengths."""
        return float(40 * 2 ** (np.mean([run.centre[1] for run in self.runs]) / 2))

    def agreeing(self, of):
        return float(np.mean([getattr(run, of) for run in self.runs]))


def idle(k):
    return dict(E="one model is fitted", lam="one model is fitted") if single(k) else {}


def single(k):
    return k.how in (ONE, OUT)


def run(k):
    seeds = range(RUNS * k.seed, RUNS * (k.seed + 1))
    runs = ()
    for ended in many_reward_models.run(k.how, k.features, k.pairs, k.bias, k.kl, k.E, k.lam, seeds):
        runs += (ended,)
        yield Result(runs)


def progress(k, r):
    return ["run", len(r.runs), RUNS]


def done(r):
    return len(r.runs) == RUNS


# ── the pictures ──
BOARD, WINS = f"Where {RUNS} policies went", "How often people prefer the policy to its start"
BELOW, LIKED = "below the start", "all the models like this"


def figure(k, r):
    return [board(k, r), by_run(k, r), along_length(k, r), agreement(k, r)]


def board(k, r):
    break_ = broken(k, r)
    spots = [(one.centre[1], one.centre[0], "followed" if wins < HALF else "rest") for one, wins in zip(r.runs, r.wins)]
    spots += [(0.0, 0.0, "rest")] * (RUNS - len(spots))
    arrows = [(theta[1], theta[0]) for theta in r.middle.theta[:, :2]]
    arrows += arrows[-1:] * (MOST - len(arrows))
    alt = f"People like the completions of {r.below} of {len(r.runs)} policies less than those of the start."
    return scene.scene(
        BOARD,
        "each point: a policy; [followed] people prefer the start; arrows: one run's models",
        completion_map.view("m", alt, arrows, spots=spots),
        scene.view(
            "t",
            completion_map.BESIDE,
            completion_map.BELOW,
            f"A typical completion has {r.tokens:.0f} tokens, and one of the start has 40.",
            *completion_map.typical("t", r.tokens, bool(break_ and break_.cause == SAME), liked(k)),
        ),
        tab="Runs",
        front=True,
        data=[
            dots([one.centre[1] for one in r.runs], [one.centre[0] for one in r.runs], "mean log-length and quality")
        ],
    )


def liked(k):
    return "the model likes this" if single(k) else LIKED


def by_run(k, r):
    number = np.arange(1, len(r.runs) + 1)
    low = r.wins < HALF
    return panel(
        WINS,
        f"share of comparisons; {RUNS} runs",
        dots(number[~low], r.wins[~low], "above the start"),
        dots(number[low], r.wins[low], BELOW),
        line([1, RUNS], [r.mean] * 2, "mean", 8, "reference"),
        label(RUNS, r.mean, "mean", 8, "right"),
        threshold(HALF, "below: people prefer the start", 0.0, outside=True),
        x="run",
        x_range=(0, RUNS + 1),
        y_range=(0, 1.02),
        tab="Runs",
    )


def along_length(k, r):
    """At average quality what each model of the run in the middle pays for length, and what they are made into."""
    world = many_reward_models.world()
    paid = many_reward_models.rewards(r.middle.theta)
    at = (world.q == 0) & (world.l >= -3) & (world.l <= 7)
    length = world.l[at]
    marks = [line(length, world.gold[at], "people’s own reward", 8, "exact")]
    if single(k):
        marks.append(line(length, paid[0, at], "the model", 1))
    else:
        marks.append(each_run(length, paid[:, at], "single models"))
        for series, how in enumerate(("mean", LOWEST, UNCERTAINTY), 1):
            reward = reward_ensemble.aggregate(paid, how, k.lam)[at]
            marks.append(line(length, reward, how, series))
            marks.append(label(-2.9, 15.5 - 1.9 * series, how, series))
    return panel(
        "Reward by length of the completion",
        "nats, average quality, median run; dotted: people’s",
        *marks,
        x="length, standard deviations of the start",
        x_range=(-3, 7),
        y_range=(-12, 16),
        tab="Models",
    )


def agreement(k, r):
    number = np.arange(1, len(r.runs) + 1)
    none = [label((RUNS + 1) / 2, 0.5, "one model has no other to agree with", 8, "center")]
    return panel(
        "Pairs on which all models agree",
        "share of 1,000 pairs",
        *(
            none
            if single(k)
            else [
                dots(number, [one.agree_start for one in r.runs], "pairs from the start", 8),
                dots(number, [one.agree_policy for one in r.runs], "pairs of policy and start", 1),
                label(RUNS, 0.02, "pairs from the start", 8, "right"),
                label(RUNS, 0.1, "pairs of policy and start", 1, "right"),
            ]
        ),
        x="run",
        x_range=(0, RUNS + 1),
        y_range=(0, 1.02),
        tab="Models",
    )


def readouts(k, r):
    state = "violated" if broken(k, r) else ""
    agree, percent = ("–", "–"), ""
    if not single(k):
        agree, percent = [100 * r.agreeing(of) for of in ("agree_start", "agree_policy")], "%"
    return [
        Readout("Win rate over the start, mean", r.mean, "", overoptimization.outcome, state),
        Readout("Runs below the start", r.below, f"of {len(r.runs)}", many_reward_models.run),
        Readout("Length of a typical completion", r.tokens, "tokens", many_reward_models.run),
        Readout("Agreement, pairs from the start", agree[0], percent, all_agree),
        Readout("Agreement, policy and start", agree[1], percent, all_agree),
    ]


# ── verdicts ──
SAME, SHAPE, OWN, FAR, MIXED = (
    "labelers who overvalue length",
    "models that cannot bend",
    "each model’s own errors",
    "a policy far from its start",
    "a combination of settings",
)


def watched(k, r):
    if r.mean >= HALF and r.below:
        expression = f"runs >= {MANY}"
        return Gauge(f"Runs of {RUNS} below the start", r.below, MANY - 1, "runs", expression=expression)
    return Gauge("Win rate over the start, mean", r.mean, HALF, below=True, expression=f"wins < {HALF}")


def damaged(r):
    return r.mean < HALF or r.below >= MANY


def sound(k):
    return not damaged(end(run, k))


def broken(k, r):
    if not done(r) or not damaged(r):
        return None
    fix, name = fix_and_cause(k)
    return Break(why(k, r, name), fix, name)


def undone(k):
    """(what undoes it, the cause that this would show), one thing at a time."""
    same = [(dict(bias=0.0), SAME)]
    bent = [(dict(features=SQUARES), SHAPE)]
    near = [(dict(kl=at), FAR) for at in reversed(DISTANCES) if at < k.kl]
    own = [(dict(how=UNCERTAINTY), OWN)] + [(dict(pairs=n), OWN) for n in (200, 1000) if n > k.pairs]
    return [*same, *bent, *near] if end(run, k).mean < HALF else [*own, *same, *bent, *near]


@cache
def fix_and_cause(k):
    """The knobs to turn until it holds, {name: value}, and the cause that this shows."""
    for change, cause in undone(k):
        if (turned := recovery.different(k, change)) and sound(replace(k, **turned)):
            return turned, cause
    nearer = [dict(bias=0.0, kl=at) for at in (8.0, 4.0, 2.0)]
    certain = [dict(bias=0.0, how=UNCERTAINTY, kl=at) for at in (8.0, 4.0, 2.0)]
    more = [dict(bias=0.0, pairs=1000, kl=at) for at in (8.0, 4.0, 2.0)]
    plain = [dict(how=OUT, features=STRAIGHT, pairs=1000, kl=8.0)]
    return recovery.first_of(k, [*nearer, *certain, *more, *plain], sound), MIXED


def why(k, r, cause):
    ends = f"{r.below} of {RUNS} runs {plural(r.below, 'ends', 'end')} below the start"
    mends = {"undoing it mends": lambda: sound(replace(k, **fix_and_cause(k)[0]))}
    if cause == SAME:
        agree = not single(k) and r.agreeing("agree_policy") > 0.9
        who = "The model learned from" if single(k) else f"All {k.E} models learned from the same"
        return Said(
            f"{ends}. {who} labelers, who overvalue length{', so they agree' if agree else ''}.",
            mends
            | {
                "labelers pay for length": lambda: k.bias > 0 and fix_and_cause(k)[0] == dict(bias=0.0),
                "they agree": lambda: not agree or min(one.agree_policy for one in r.runs) > 0.5,
                "so many": lambda: r.below == sum(preferred(k, one) < HALF for one in range(RUNS)) or near_half(r),
            },
        )
    if cause == OWN:
        return Said(
            f"{ends}, although the mean win rate is {r.mean:.2f}. With {k.pairs:,} pairs, each model errs in its "
            "own way.",
            mends | {"the mean is above the start": lambda: r.mean >= HALF, "few are enough": lambda: r.below >= MANY},
        )
    if cause == SHAPE:
        return Said(
            f"{ends}. At {k.kl:g} {plural(k.kl, 'nat')} people’s own reward has bent down, but linear models cannot "
            "bend.",
            mends
            | {
                "the models are straight": lambda: k.features == STRAIGHT,
                "liking has turned down": lambda: end(run, replace(k, kl=DISTANCES[0])).mean > r.mean,
            },
        )
    if cause == FAR:
        nearer = fix_and_cause(k)[0]["kl"]
        return Said(
            f"{ends} at a distance of {k.kl:g} {plural(k.kl, 'nat')}. At {nearer:g} they win.",
            mends | {"nearer it holds": lambda: nearer < k.kl},
        )
    return Said(
        f"{ends}, and the mean win rate is {r.mean:.2f}. No single change mends it.",
        mends
        | {
            "one thing alone does not": lambda: (
                not any(sound(replace(k, **change)) for change, _ in undone(k) if recovery.different(k, change))
            )
        },
    )


def near_half(r):
    """Whether a run is so near to one half that drawn pairs may put it on the other side."""
    return bool((np.abs(r.wins - HALF) < 0.02).any())


def preferred(k, draw):
    """Wins of one run once more, from completions that are drawn."""
    world, seed = many_reward_models.world(), RUNS * k.seed + draw
    theta = many_reward_models.fitted(k.how, k.features, k.pairs, k.bias, k.E, seed)
    reward = many_reward_models.made_into_one(many_reward_models.rewards(theta), k.how, k.lam)
    policy = overoptimization.at_distance(world.ref, reward, k.kl)
    rng = np.random.default_rng(7)
    own, start = (rng.choice(len(p), 20_000, p=p / p.sum()) for p in (policy, world.ref))
    return float(preferences.sigmoid(world.gold[own] - world.gold[start]).mean())


def seen_at(k, r, cause):
    if cause == SAME:
        return At(BOARD, None, None, liked(k))
    return At(WINS, None, None, f"{r.below} of {RUNS} below the start", BELOW)


def worse(k, r):
    if not done(r):
        return None
    if k.how == OUT and k.bias == 0:
        with_it = end(run, replace(k, how=ONE))
        if with_it.mean > r.mean + BEHIND and not damaged(with_it):
            return Said(
                f"The policies win {of_100(r.mean)} comparisons, compared with {of_100(with_it.mean, '')} if length "
                "stays in, because people like some length.",
                {"people like some of it": lambda: many_reward_models.world().c > 0 and k.bias == 0},
            )
    usual = end(run, Knobs(seed=k.seed)).mean
    if r.mean > usual - BEHIND:
        return None
    return Said(
        f"The policies win {of_100(r.mean)} comparisons with the start, compared with {of_100(usual, '')} at the "
        "default.",
        {"the default is ahead": lambda: end(run, Knobs(seed=k.seed)).mean > r.mean + BEHIND - 1e-9},
    )


def holds(k, r):
    end_below = plural(r.below, "ends", "end")
    some = f"{r.below} of {len(r.runs)} runs {end_below} below the start" if r.below else "no run ends below it"
    return Said(
        f"The policies of {len(r.runs)} runs win {of_100(r.mean)} comparisons with the start on average, and {some}.",
        {
            "so often it is preferred": lambda: (
                abs(np.mean([preferred(k, one) for one in range(len(r.runs))]) - r.mean) < 0.01
            ),
            "so few are below": lambda: r.below < MANY,
        },
    )


def of_100(share, of=" of 100"):
    return f"{100 * share:.0f}{of}"


GUESS = Guess(
    "Labelers overvalue length, and one model’s policy has a win rate of 0.39. What does the lowest of five reach?",
    ("about 0.40", "about 0.60", "about 0.80"),
    Knobs(bias=1.0),
    0,
    lambda k, r: f"It reaches {r.mean:.2f}, because all five models learned from the same labelers.",
    "Win rate over the start, mean",
)
DARE = "Can you make people change sides between policy and start?"
OPENING = Played(Knobs(how=OUT, bias=1.0), Knobs(bias=1.0), "opening")
