"""One run of eighty steps: what its log shows, what a scorer sees that it was not trained on, and which tests fire."""

from dataclasses import dataclass, fields, replace
from functools import lru_cache

import numpy as np

from sim.algorithms import published
from sim.algorithms.published import PUBLISHED
from sim.estimators import diagnosis
from sim.experiments import tracelab
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing.marks import bars, both, dots, heat, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "One run: its log, a held-out scorer, and seven tests in their order"
ENDS, GOOD = 0.9, 0.95  # of the right answers that any policy reaches: less is broken, if a cause is seen, or worse
LONG, LONGER = 3000, 3.0  # tokens a right answer, where the default takes 560, and length over that at the start
NAMES = {recipe.name: key for key, recipe in PUBLISHED.items()}
DIVISIONS = {"deviation": "deviation", "nothing": "mean"}


@dataclass(frozen=True)
class Knobs:
    learning_rate: float = ladder("Learning rate", 4.0, [0.5, 1.0, 1.5, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0])
    epochs: int = slider("Passes over each batch", 2, low=1, high=4, step=1)
    entropy_bonus: float = ladder("Entropy bonus", 0.05, [0.0, 0.01, 0.02, 0.05, 0.1, 0.2])
    hack: float = ladder(
        *("Reward for the trick", 0.0, [0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.999, 1.0, 1.001, 1.01, 1.2, 1.5, 2.0])
    )
    lag: int = ladder("Lag of the samples", 0, [0, 1, 2, 4, 8, 12, 16], symbol="Δ", unit="steps")
    mismatch: float = ladder("Error in the sampler’s logits", 0.0, [0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0])
    length_reward: float = ladder("Reward for doubling the length", 0.0, [0.0, 0.001, 0.01, 0.05, 0.1, 0.15, 0.2, 0.3])
    pass_scale: float = ladder("Multiplier of success rates", 1.0, [0.005, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 60.0])
    eps_low: float = ladder("Lower clip range", 0.2, [0.1, 0.2, 0.5, 0.99], symbol="ε_low")
    eps_high: float = ladder("Upper clip range", 0.28, [0.1, 0.2, 0.28, 0.5, 1.0, 10.0], symbol="ε_high")
    beta: float = ladder("KL coefficient", 0.0, [0.0, 0.01, 0.03, 0.1, 0.2, 0.5], symbol="β")
    division: str = choice("Divisor of group rewards", "deviation", list(DIVISIONS))
    recipe: str = choice("Recipe A", "InstructGPT", list(NAMES))
    against: str = choice("Recipe B", "DAPO", list(NAMES))
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("hack", "mismatch")
KNOB_GROUPS = {
    "Updates": ("learning_rate", "epochs", "eps_low", "eps_high", "beta", "division", "entropy_bonus"),
    "Samples": ("lag",),
    "Task": ("length_reward", "pass_scale"),
    "Recipes side by side": ("recipe", "against"),
    "Seed": ("seed",),
}
PRESETS = {
    "Default run": Knobs(),
    "Trick earns 1.01": Knobs(hack=1.01),
    "Rate 60, 4 passes, wide clip": Knobs(learning_rate=60.0, epochs=4, entropy_bonus=0.0, eps_low=0.99, eps_high=10.0),
    "Rate 1.5, 1 pass, no bonus": Knobs(learning_rate=1.5, epochs=1, entropy_bonus=0.0),
    "0.15 per doubling": Knobs(length_reward=0.15),
    "Success rates × 0.01": Knobs(pass_scale=0.01),
}
GUESS = Guess(
    "The sampler’s logits have a random error of 0.3. What share of answers is right at the end?",
    ("about 0.95", "about 0.8", "about 0.5"),
    Knobs(mismatch=0.3),
    0,
    lambda k, r: (
        f"It is {r.found['held_out']:.3f}, as without the error, although the first test fires at a gap of "
        f"{r.found['gap_first']:.2f} nats."
    ),
)


@dataclass(frozen=True)
class Result:
    trace: dict  # {quantity: (steps,)}
    found: dict  # what the tests look at
    seen: diagnosis.Diagnosis  # with the held-out score
    unseen: diagnosis.Diagnosis  # without it


def run(k):
    trace = traced(setting(k), k.seed)
    features = tracelab.features(trace)
    yield Result(trace, features, tracelab.classify(features), tracelab.classify(features, use_held_out=False))


@lru_cache(maxsize=32)
def traced(setting, seed):
    return tracelab.trace(setting, seed)


def setting(k):
    own = {f.name: getattr(k, f.name) for f in fields(tracelab.Setting) if hasattr(k, f.name)}
    return tracelab.Setting(**own, advantage=DIVISIONS[k.division])


# ── the picture ──
STEPS = np.arange(1, tracelab.Setting.steps + 1)
LEAST, MOST = 0.001, 100.0  # times a threshold
SHORT = ("1 first gap", "2 later gap", "3 equal groups", "4 held-out", "5 early KL", "6 length", "7 entropy")


def figure(k, r):
    return [scores(k, r), tested(r), distances(r), multiples(r), recipes(k), shares(k)]


def scores(k, r):
    proxy, right = r.trace["proxy"], r.trace["right"]
    apart = abs(proxy[-1] - right[-1]) > 0.15
    return panel(
        "Reward in the log, and right answers",
        "batch mean; exact share of all answers",
        line(STEPS, proxy, "reward", 8, "reference"),
        line(STEPS, right, "right answers", 1),
        threshold(ENDS * best(k), "stuck, if right answers end below", 0.0, outside=best(k) < 0.3),  # no room below
        label(80, float(proxy[-1]) + 0.04, "reward", 8, "right") if apart else label(80, 1.02, "both", 1, "right"),
        *([label(80, float(right[-1]) + 0.03, "right answers", 1, "right")] if apart else []),
        x="step",
        x_range=(0, 80),
        y_range=(-0.05, 2.2),
        tab="Run",
        front=True,
    )


def tested(r):
    """A row a test: how many times its threshold; the last tests are the lowest."""
    rows = len(SHORT) - np.arange(len(SHORT))
    times = np.clip([test.times(r.found) for test in tracelab.TESTS], LEAST, MOST)
    fires = np.array([test.fires(r.found) for test in tracelab.TESTS])
    marks = []
    for chosen, words, series in ((~fires, "quiet", 1), (fires, "fires", 2)):
        stems = np.array([[(LEAST, y), (at, y), (np.nan, np.nan)] for at, y in zip(times[chosen], rows[chosen])])
        marks.append(line(*stems.reshape(-1, 2).T, words, series))
        marks.append(dots(times[chosen], rows[chosen], words, series))
    return panel(
        "Seven tests, in their order",
        "each value divided by its threshold; [s2] fires",
        *marks,
        line([1, 1], [0.5, 7.9], "threshold", 8, "reference"),
        *(label(LEAST * 1.3, y + 0.06, words) for words, y in zip(SHORT, rows)),
        x="times its threshold",
        x_range=(LEAST, MOST),
        y_range=(0.5, 8.0),
        log="x",
        tab="Run",
        y_ticks=dict(tickvals=[], ticktext=[]),
    )


def distances(r):
    gap = np.maximum(r.trace["gap"], NATS[0])
    kl = np.maximum(r.trace["kl"], NATS[0])
    level = r.trace["gap"].max() > 0
    return panel(
        "KL to the start, and the gap",
        "nats; gap between sampler and trainer",
        line(STEPS, kl, "KL to the start", 1),
        line(STEPS, gap, "gap", 2),
        label(80, 1.25 * float(kl[-1]), "KL to the start", 1, "right"),
        label(80, 1.25 * float(gap[-1]) if level else 1.1 * NATS[0], "gap" if level else "gap: 0", 2, "right"),
        x="step",
        x_range=(0, 80),
        y_range=NATS,
        log="y",
        tab="Gauges",
    )


NATS = (1e-3, 30.0)


def multiples(r):
    start = tracelab.REFERENCE
    length = r.trace["length"] / (start[1] @ tracelab.LENGTHS)
    narrow = r.trace["entropy"] / tracelab.entropy(start[0])
    return panel(
        "Length, entropy, equal groups",
        "relative to the start; equal groups as a share",
        line(STEPS, length, "length", 3),
        line(STEPS, narrow, "entropy", 1),
        line(STEPS, r.trace["zero_variance"], "equal groups", 2),
        *told([("length", length, 3), ("entropy", narrow, 1), ("equal groups", r.trace["zero_variance"], 2)]),
        x="step",
        x_range=(0, 80),
        y_range=(0, 6),
        tab="Gauges",
    )


def told(curves, room=0.42):
    """Names of curves at their right ends, from the lowest up, none over another."""
    out, least = [], 0.0
    for words, curve, series in sorted(curves, key=lambda each: each[1][-1]):
        at = max(float(curve[-1]) + 0.06, least)
        out.append(label(80, at, words, series, "right"))
        least = at + room
    return out


BRIEF = ["IGPT", "R1-0", "R1", "Tülu", "Q2.5", "Q2.5M", "Q3", "Kimi", "DAPO", "OLMo", "M1", "V3.2", "GLM5"]


def recipes(k):
    """Share of the comparable factors in which two recipes differ."""
    numbers = list(range(1, len(PUBLISHED) + 1))
    pair = [list(NAMES).index(name) + 1 for name in (k.against, k.recipe)]
    changed, both, _ = published.diff(NAMES[k.recipe], NAMES[k.against])
    return panel(
        "Share of factors in which recipes differ",
        f"full tone: all; ring: {changed} of {both}",
        heat(numbers, numbers, published.distance_matrix(), "share that differs", 0, 1),
        dots(pair[:1], pair[1:], "the two", 2, "here"),
        x="recipe, numbered from the top",
        x_range=(0.5, len(PUBLISHED) + 0.5),
        y_range=(len(PUBLISHED) + 0.5, 0.5),
        tab="Recipes",
        ticks=dict(tickvals=numbers, ticktext=[str(number) for number in numbers]),
        y_ticks=dict(tickvals=numbers, ticktext=BRIEF),
    )


def shares(k):
    """Of eleven factors, in how many the recipe differs from each other one, agrees, or one of the two says nothing."""
    counts = np.array([published.diff(NAMES[k.recipe], key)[:2] for key in PUBLISHED])
    differ, both = counts.T
    numbers = list(range(1, len(PUBLISHED) + 1))
    return panel(
        f"{k.recipe} against each recipe",
        "11 factors; hatched: one report is silent",
        bars(numbers, differ.tolist(), "differ", 1),
        bars(numbers, (both - differ).tolist(), "agree", 3, "histogram"),
        bars(numbers, (len(published.FACTORS) - both).tolist(), "not reported", 8, "waste"),
        label(0.6, 11.2, "from below: differ, agree"),
        x="recipe, same numbers",
        x_range=(0.4, len(PUBLISHED) + 0.6),
        y_range=(0, 12.5),
        tab="Recipes",
        stacked=True,
        ticks=dict(tickvals=numbers, ticktext=[str(number) for number in numbers]),
    )


# ── what comes of it ──
WORDS = {
    "healthy": "healthy",
    "undertrained": "slow",
    "logprob_mismatch": "first gap",
    "stale_rollouts": "old samples",
    "zero_variance": "equal groups",
    "reward_hacking": "hacked",
    "kl_explosion": "jumped",
    "length_inflation": "longer",
    "entropy_collapse": "narrowed",
}


def readouts(k, r):
    blamed = cause(k, r)
    return [
        Readout(
            *("Right answers at the end", r.found["held_out"], "", tracelab.right),
            state="violated" if blamed not in (None, PADDED) else "",
        ),
        Readout("Reward at the end", float(r.trace["proxy"][-10:].mean()), "", tracelab.scored),
        Readout("Diagnosis by the seven tests", WORDS[r.seen.verdict], "", tracelab.classify),
        Readout("Diagnosis without held-out score", WORDS[r.unseen.verdict], "", tracelab.classify),
        Readout(
            *("Tokens per right answer", tokens(r) if tokens(r) < 1e5 else "> 99k", "tokens"),
            tracelab.tokens_per_right_answer,
            state="violated" if blamed == PADDED else "",
        ),
    ]


def tokens(r):
    return tracelab.tokens_per_right_answer(r.trace)


HACKED, JUMPED = "a scorer that rewards wrong answers", "first steps that go too far"
NARROWED, STARVED = "settling before the search is done", "groups with nothing to compare"
STALE, PADDED = "samples that are too old", "a reward for length"
APART, MIXED = "a sampler with different probabilities", "a combination of settings"
UNDONE = {  # the knobs whose defaults undo a cause
    HACKED: ("hack",),
    JUMPED: ("learning_rate", "epochs", "entropy_bonus", "eps_low", "eps_high"),
    NARROWED: ("entropy_bonus", "learning_rate", "epochs"),
    STARVED: ("pass_scale",),
    STALE: ("lag",),
    APART: ("mismatch",),
    PADDED: ("length_reward",),
}


def best(k):
    """Right answers of the best policy there is."""
    return tracelab.ceiling(k.pass_scale)


def signs(k, r):
    """What a damaged outcome may come from, by what the run shows; empty where none is damaged or nothing shows."""
    at = r.found
    if at["held_out_gain"] < -0.1 and at["gain"] > 0.1:
        return [HACKED]
    if at["held_out"] < ENDS * best(k):
        seen = {
            JUMPED: at["kl_early"] > 0.5,
            NARROWED: at["entropy"] < 0.35,
            STARVED: at["zero_variance"] > 0.6,
            APART: at["gap_first"] > 0.02,  # before any update: no age of samples makes it
            STALE: at["gap_late"] > 0.1 and k.lag > 0,
        }
        return [words for words, applies in seen.items() if applies]
    return [PADDED] if tokens(r) > LONG and at["length_ratio"] > LONGER else []


def cause(k, r):
    """What mends the outcome where it is undone, what the run shows of it first; MIXED where nothing does, None without
    a sign.
    """
    signs_found = signs(k, r)
    if not signs_found:
        return None
    more = [words for words in shown(k, r) if words not in signs_found]
    return next((words for words in (*signs_found, *more) if mends(k, words)), MIXED)


def mends(k, words):
    setting = undone(k, words)
    return setting != k and mended(setting)


def undone(k, words):
    return replace(k, **{name: getattr(Knobs(), name) for name in UNDONE[words]})


def mended(k):
    r = next(run(k))
    return not signs(k, r) and r.found["held_out"] >= ENDS * best(k)


def seen_at(k, r, cause):
    title = "Reward in the log, and right answers"
    if cause == PADDED:
        return At(title, None, None, "length earns a reward too", "reward")
    return At(title, None, None, "{y:.2f} right at the end", "right answers")


def broken(k, r):
    blamed = cause(k, r)
    return None if blamed is None else Break(why(blamed, k, r), fix(blamed, k), blamed)


def why(cause, k, r):
    at = r.found
    ends = f"The share of right answers ends at {at['held_out']:.2f}"
    words = {
        HACKED: f"{ends} while the reward rises by {at['gain']:.2f}, because the scorer rewards a trick.",
        JUMPED: f"{ends}. After three steps, the policy was {at['kl_early']:.1f} nats from its start and no longer "
        "searched.",
        NARROWED: f"{ends}. The policy settled too early: only {at['entropy']:.2f} nats of entropy are left.",
        STARVED: f"{ends}, because in {100 * at['zero_variance']:.0f} % of the groups all rewards are equal.",
        STALE: f"{ends}. The samples are {k.lag} steps old, so they are {at['gap_late']:.2f} nats off.",
        APART: f"{ends}. Sampler and trainer are {at['gap_first']:.2f} nats apart before any update.",
        MIXED: f"{ends}. No single cause in the log explains it.",
        PADDED: f"A right answer takes {tokens(r):,.0f} tokens, because longer answers get a higher reward.",
    }
    return Said(words[cause], {**damaged(k, r, cause), **at_work(k, r, cause)})


def damaged(k, r, cause):
    """What is asserted of the outcome: right answers of the last ten steps, or tokens for each."""
    last = r.trace["right"][-10:].mean()
    if cause == PADDED or (cause == MIXED and PADDED in signs(k, r)):
        return {
            "so many tokens a right answer": lambda: np.mean(r.trace["length"][-10:] / r.trace["right"][-10:]) > LONG
        }
    return {
        "so many are right at the end": lambda: abs(last - r.found["held_out"]) < 1e-9,
        "that is too few": lambda: last < ENDS * best(k) or last < r.trace["right"][0] - 0.1,
    }


def at_work(k, r, cause):
    """What is asserted of a cause: undone it mends, it is turned on, and the run shows it."""
    if cause == MIXED:
        return {"nothing that shows mends it alone": lambda: not any(mends(k, words) for words in shown(k, r))}
    return {"undone, it is mended": lambda: mends(k, cause), "the run shows it": lambda: cause in shown(k, r)}


def shown(k, r):
    """The causes that are turned on and that the curves of the run show."""
    seen = {
        HACKED: k.hack > 0 and r.trace["proxy"][-10:].mean() > r.trace["proxy"][:5].mean() + 0.1,
        JUMPED: r.trace["kl"][2] > 0.5,
        NARROWED: r.trace["entropy"][-10:].mean() < tracelab.entropy(tracelab.REFERENCE[0]),
        STARVED: np.mean(r.trace["zero_variance"][:10]) > 0.5,
        STALE: k.lag > 0 and r.trace["gap"][5:].mean() > r.trace["gap"][0],
        APART: k.mismatch > 0 and r.trace["gap"][0] > 0,
        PADDED: k.length_reward > 0 and r.trace["length"][-10:].mean() > 2 * r.trace["length"][0],
    }
    return [words for words, applies in seen.items() if applies]


def fix(cause, k):
    """The defaults of the knobs that undo the cause; where there is no single one, as few of all that are enough."""
    if cause != MIXED:
        return recovery.different(k, {name: getattr(Knobs(), name) for name in UNDONE[cause]})
    every = {f.name: f.default for f in fields(k) if f.name not in ("seed", "recipe", "against")}
    return recovery.fewest(k, every, mended) or recovery.different(k, every)


def worse(k, r):
    """Not enough learned in eighty steps, with no cause that the outcomes show."""
    if r.found["held_out"] >= GOOD * best(k):
        return None
    return Said(
        f"The share of right answers ends at {r.found['held_out']:.2f}, but the best policy has {best(k):.2f}.",
        {
            "so many are right at the end": lambda: abs(r.trace["right"][-10:].mean() - r.found["held_out"]) < 1e-9,
            "no more can be": lambda: r.trace["right"].max() <= best(k) + 1e-9,
            "it is behind": lambda: r.trace["right"][-10:].mean() < GOOD * best(k),
        },
    )


def holds(k, r):
    gap = r.found["gap_first"]
    besides = f", despite a gap of {gap:.2f} nats before any update" if gap > 0.02 else ""
    return Said(
        f"The share of right answers rises from {r.trace['right'][0]:.2f} to {r.found['held_out']:.2f}{besides}.",
        {
            "they end so": lambda: abs(r.trace["right"][-10:].mean() - r.found["held_out"]) < 1e-9,
            "hardly more can be": lambda: r.trace["right"][-10:].mean() >= GOOD * best(k),
            "the gap is there at once": lambda: abs(r.trace["gap"][0] - gap) < 1e-9 and (gap < 0.02 or k.mismatch > 0),
        },
    )


def watched(k, r):
    if cause(k, r) == PADDED:
        taken, limit = tokens(r) / 1000, LONG / 1000
        predicate = f"mean(length / right) > {LONG}"
        return Gauge("Tokens per right answer", taken, limit, "thousand tokens", expression=predicate)
    named, right, least = "Right answers at the end", r.found["held_out"], ENDS * best(k)
    if right < least and cause(k, r) is None:
        return Readout(named, right)  # no cause is seen, so that this is worse and not broken
    return Gauge(named, right, least, below=True, expression=f"right[-10:].mean() < {ENDS} * best")


# ── the first screen ──
TWO_RUNS = "trick earns nothing", "trick earns 1.01"


def opened(plain, other):
    right = [r.trace["right"] for r in (plain, other)]
    reward = [r.trace["proxy"] for r in (plain, other)]
    ends = [float(curve[-10:].mean()) for curve in reward]
    return [
        panel(
            "Right answers",
            "exact share, by a held-out scorer",
            *both(TWO_RUNS, STEPS, *right),
            label(80, 0.8, TWO_RUNS[0], 8, "right"),
            label(80, 0.03, f"{TWO_RUNS[1]}: {right[1][9]:.3f} after ten steps", 1, "right"),
            x="step",
            x_range=(0, 80),
            y_range=(0, 1.1),
        ),
        panel(
            "Reward in the log",
            "mean of the batch",
            *both(TWO_RUNS, STEPS, *reward),
            label(80, 0.74, f"{TWO_RUNS[0]}: {ends[0]:.2f}", 8, "right"),
            label(80, 1.03, f"{TWO_RUNS[1]}: {ends[1]:.2f}", 1, "right"),
            x="step",
            x_range=(0, 80),
            y_range=(0, 1.1),
        ),
    ]


OPENING = Opening(Knobs(), Knobs(hack=1.01), opened, tracelab.run, TWO_RUNS)
