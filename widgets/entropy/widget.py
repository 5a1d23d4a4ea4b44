"""Twenty-four runs with one prompt: whether they find the rare way to answer, which is always correct, before they are
certain of the common way, which is correct half of the time. The entropy bonus, the KL penalty, the clip and the
optimizer decide.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from rlpt import options
from sim.algorithms import grpo
from sim.estimators import entropy
from sim.experiments import rare_prize
from sim.experiments.rare_prize import COMMON, PRIZE, RUNS, UPDATES
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import runs, scene
from widgets.frame.drawing.marks import by_update, each_run, label, line, threshold
from widgets.frame.drawing.small_figures import Played

TITLE = "Which of 24 runs find the rare way to answer that is always correct"
EVERY = 3  # updates between two pictures
SHOWN, PICTURED = 8, 4  # runs that are drawn thin, and of these the ones in the picture
COST = f"{RUNS} runs of {UPDATES} updates, 64 answers per update"
LOW = 0.55  # right at the end: below, no more than the common way alone, and a twentieth
USUAL, SHORT = 0.945, 0.88  # what the default ends with, mean of twenty seeds, and less than any of them
COIN_UPDATES, COIN_RATES = 150, dict(SGD=4.0, AdamW=0.1)


@dataclass(frozen=True)
class Knobs:
    alpha: float = ladder("Entropy bonus", 0.1, [0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5], symbol="α")
    odds: int = ladder("Prize: one sample in", 200, [50, 200, 500])
    beta: float = ladder("KL coefficient", 0.0, [0.0, 0.05, 0.1, 0.2, 0.5], symbol="β")
    eps_low: float = ladder("Lower clip range", 0.2, [0.1, 0.2, 1.0], symbol="ε_low")
    eps_high: float = ladder("Upper clip range", 0.2, [0.1, 0.2, 0.28, 0.5, 5.0], symbol="ε_high")
    optimizer: str = choice("Optimizer", "SGD", ["SGD", "AdamW"])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("alpha", "odds")
KNOB_GROUPS = {"The objective": ("beta",), "The clip": ("eps_low", "eps_high"), "The run": ("optimizer", "seed")}
PRESETS = {
    "Bonus of 0.1": Knobs(),
    "No bonus": Knobs(alpha=0.0),
    "Bonus of 0.5": Knobs(alpha=0.5),
    "Bonus and KL penalty of 0.5": Knobs(beta=0.5),
    "Prize one in 500": Knobs(odds=500),
    "No bonus, AdamW": Knobs(alpha=0.0, optimizer="AdamW"),
}


@dataclass(frozen=True)
class Trace:
    frames: tuple  # of rare_prize, from before training on
    coins: np.ndarray | None  # (runs, updates + 1) entropy where coins are paid; not before the last picture

    @property
    def updates(self):
        return len(self.frames) - 1

    @property
    def last(self):
        return self.frames[-1]

    @property
    def right(self):
        """(updates + 1,) mean over the runs."""
        return np.array([frame.right.mean() for frame in self.frames])


def run(k):
    training = rare_prize.run(
        rare_prize.prize(k.odds),
        k.alpha,
        k.beta,
        k.eps_low,
        k.eps_high,
        rare_prize.optimizer(k.optimizer),
        np.random.default_rng(k.seed),
    )
    frames = []
    for frame in training:
        frames.append(frame)
        if len(frames) % EVERY == 1 and len(frames) <= UPDATES:
            yield Trace(tuple(frames), None)
    yield Trace(tuple(frames), coin_entropy(k.eps_low, k.eps_high, k.optimizer, k.seed))


@lru_cache(maxsize=8)
def coin_entropy(eps_low, eps_high, optimizer, seed):
    training = rare_prize.run(
        rare_prize.coins(),
        0.0,
        0.0,
        eps_low,
        eps_high,
        rare_prize.optimizer(optimizer, COIN_RATES[optimizer]),
        np.random.default_rng(seed),
        updates=COIN_UPDATES,
    )
    return np.stack([frame.entropy for frame in training], axis=1)


def progress(k, r):
    return ["update", r.updates, UPDATES]


def done(r):
    return r.updates == UPDATES


def many_found(r):
    return int(rare_prize.found(r.last).sum())


def final(r):
    return float(r.last.right.mean())


# ── the pictures ──
THE_RUNS = "Four of the 24 runs, a hundred answers each"
WHAT = "[against] common way, correct half of the time; [followed] the prize, always; [rest] 48 others, never"


def figure(k, r):
    x = np.arange(r.updates + 1)
    nats = np.array([frame.entropy for frame in r.frames])  # (updates + 1, runs)
    chance = np.array([frame.pi[:, PRIZE] for frame in r.frames])
    return [
        board(k, r),
        by_update(
            "Correct answers",
            "share of answers, mean of 24 runs; thin: eight runs",
            each_run(x, np.array([frame.right[:SHOWN] for frame in r.frames]).T),
            line(x, r.right, "all runs", 1),
            threshold(LOW, "broken below this", 0.0),
            label(UPDATES, min(r.right[-1], 0.9), "all runs", 1, "right", below=r.right[-1] > 0.9),
            updates=UPDATES,
            tab="The runs",
        ),
        by_update(
            "Entropy",
            "nats, mean of 24 runs; thin: eight runs",
            each_run(x, nats[:, :SHOWN].T),
            line(x, nats.mean(axis=1), "all runs", 1),
            line([0, UPDATES], [np.log(50)] * 2, "50 equal ways", 8, "reference"),
            label(UPDATES, np.log(50) - 0.05, "50 equal ways", 8, "right", below=True),
            updates=UPDATES,
            y_range=(0, 4.2),
            tab="Entropy",
        ),
        by_update(
            "Probability of the prize",
            "logarithmic, median of 24 runs; thin: eight runs",
            each_run(x, chance[:, :SHOWN].T),
            line(x, np.median(chance, axis=1), "median run", 1),
            line([0, UPDATES], [1 / 64] * 2, "once in a batch", 8, "reference"),
            label(UPDATES, 1 / 64, "once in a batch", 8, "right"),
            updates=UPDATES,
            y_range=(1e-7, 2),
            log="y",
            tab="Entropy",
        ),
        coin_panel(k, r),
    ]


def coin_panel(k, r):
    nats = np.full((RUNS, 1), np.log(rare_prize.COINS)) if r.coins is None else r.coins
    x = np.arange(nats.shape[1])
    return by_update(
        "Entropy when a coin flip rewards each answer",
        f"nats; 20 ways, no bonus; 24 runs, {k.optimizer} at {COIN_RATES[k.optimizer]:g}",
        each_run(x[::5], nats[:SHOWN, ::5]),
        line(x, nats.mean(axis=0), "all runs", 1),
        line([0, COIN_UPDATES], [np.log(rare_prize.COINS)] * 2, "20 equal ways", 8, "reference"),
        label(COIN_UPDATES, np.log(rare_prize.COINS), "20 equal ways", 8, "right"),
        updates=COIN_UPDATES,
        y_range=(0, 3.5),
        tab="Coins",
    )


def board(k, r):
    pi, break_ = r.last.pi[:PICTURED], broken(k, r)
    return scene.scene(
        THE_RUNS,
        WHAT,
        runs.view(
            "b",
            f"Samples of the prize in four runs after update {r.updates}: "
            + ", ".join(runs.one_in(one[PRIZE]) for one in pi)
            + ".",
            "below each: how often the prize is sampled",
            [runs.Run(shares(one), runs.one_in(one[PRIZE])) for one in pi],
            worst(r, break_.cause) if break_ else None,
            seen(r, break_.cause) if break_ else "",
        ),
        tab="The runs",
        front=True,
        data=[line(np.arange(1, PICTURED + 1), pi[:, PRIZE], "probability of the prize, by run")],
    )


def shares(pi):
    """The dots of a run: the prize first, then the common way, then all others."""
    prize, common = float(pi[PRIZE]), float(pi[COMMON])
    return [("followed", prize), ("against", common), ("rest", 1 - prize - common)]


def readouts(k, r):
    state = "violated" if broken(k, r) else ""
    return [
        Readout("Runs that found the prize", many_found(r), "of 24", rare_prize.found),
        Readout("Correct answers", 100 * final(r), "of 100", rare_prize.frame, state),
        Readout("Entropy", r.last.entropy.mean(), "nats", entropy.entropy),
        Readout("Ways left", rare_prize.ways_left(r.last), "", rare_prize.ways_left),
        Readout("Samples that are never correct", 100 * others(r), "of 100", rare_prize.frame),
    ]


def others(r):
    """The share of draws that go to ways that are never right."""
    return float(1 - r.last.pi[:, [COMMON, PRIZE]].sum(axis=1).mean())


def watched(k, r):
    return Gauge("Share of correct answers", final(r), LOW, below=True, expression=f"right < {LOW}")


# ── what went wrong, and because of what ──
SOON, LATE = "certainty that comes too early", "too few updates for the prize"
TIED, NOISE = "a penalty that holds the start", "a bonus that pays for noise"
TIGHT = 0.1  # a price that alone may be too high


def close(k):
    """Whether the lower bound itself keeps ways in play, as 0.1 does with SGD."""
    return k.optimizer == "SGD" and k.eps_low == 0.1


def much(k):
    """A bonus from which on ways that are never right may take most of the draws, at no price."""
    return (0.2 if k.eps_high == 0.1 else 0.3) if close(k) else 0.5


def needed(k):
    """The least bonus of the page with which most runs find the prize, at no price."""
    unheld = k.eps_low == 1
    if k.optimizer == "AdamW":
        return 0.02 if k.odds == 500 else 0.0
    return {50: 0.05 if unheld else 0.0, 200: 0.2 if unheld else 0.1, 500: 0.2}[k.odds]


def enough(k):
    """A bonus with which nearly all runs find it, by either optimizer."""
    return 0.2 if k.odds == 500 or k.eps_low == 1 else 0.1


def in_play(k):
    """Whether the bonus, though less than `needed`, keeps the prize in play: twice as many updates then find it."""
    return k.alpha >= 0.1 and k.eps_low < 1


def faults(k):
    """{cause: (what undoes it, its words)} of all that may do harm at this setting."""
    causes = {}
    bound = dict(eps_low=0.2) if close(k) else {}
    if k.alpha >= much(k):
        causes[NOISE] = (dict(alpha=enough(k)) | bound, f"a bonus of {k.alpha:g} outweighs the reward")
    elif k.alpha < needed(k):
        words = f"a bonus of {k.alpha:g} is too small" if k.alpha else "there is no bonus"
        causes[LATE if in_play(k) else SOON] = (dict(alpha=enough(k)) | bound, words)
    if k.beta >= TIGHT or (k.beta > 0 and (not causes or k.eps_high == 0.1)):  # at 0.1 the steps up are short
        causes[TIED] = (dict(beta=0.0), f"each nat away from the start costs {k.beta:g}")
    return causes


def broken(k, r):
    causes = faults(k)
    if not done(r) or final(r) >= LOW or not causes:
        return None
    turned = {name: value for knobs, _ in causes.values() for name, value in knobs.items()}
    return Break(why(k, r, causes, turned), recovery.different(k, turned), first(causes))


def first(causes):
    """The cause that is named: more updates do not help where a price holds the runs."""
    return TIED if {LATE, TIED} <= set(causes) else next(iter(causes))


def why(k, r, causes, turned):
    ends = f"{many_found(r)} of 24 runs find the prize, and {of_100(final(r))} answers are correct"
    claims = {
        "so many": lambda: sum(pi[PRIZE] > 0.5 for pi in r.last.pi) == many_found(r),
        "without it more are right": lambda: final(end(run, replace(k, **turned))) > final(r) + 0.1,
    }
    if len(causes) > 1:
        words = ", and ".join(words for _, words in causes.values())
        return Said(f"{ends}. {words[0].upper()}{words[1:]}.", claims)
    (cause,) = causes
    if cause == NOISE:
        return Said(
            f"{ends}. The bonus pays for every rare way, so {of_100(others(r))} samples go to wrong ways.",
            claims | {"fewer without it": lambda: others(end(run, replace(k, **turned))) < others(r) - 0.1},
        )
    if cause == TIED:
        return Said(
            f"{ends}. The prize is {np.log(k.odds):.1f} nats from the start, and each nat costs {k.beta:g}.",
            claims | {"so far": lambda: abs(distance(k) - np.log(k.odds)) < 1e-9},
        )
    if cause == LATE:
        return Said(
            f"{ends}. The bonus keeps a prize of one in {k.odds} in play, but {UPDATES} updates are too few.",
            claims | {"twice as many find it": lambda: longer(k).right.mean() > LOW},
        )
    return Said(
        f"{ends}. The runs settled on the common way before they sampled the prize often enough.",
        claims | {"settled": lambda: settled(r)},
    )


def longer(k):
    """The last frame after twice as many updates."""
    world, rng = rare_prize.prize(k.odds), np.random.default_rng(k.seed)
    step = rare_prize.optimizer(k.optimizer)
    *_, last = rare_prize.run(world, k.alpha, k.beta, k.eps_low, k.eps_high, step, rng, updates=2 * UPDATES)
    return last


def settled(r):
    """Whether nine of ten draws of the middle run are of one way."""
    return bool(np.median(r.last.pi.max(axis=1)) > 0.9)


def distance(k):
    """KL to the start of a policy that always draws the prize."""
    start, only = rare_prize.prize(k.odds).start, np.eye(rare_prize.WAYS)[PRIZE]
    return float(np.sum(only * (np.log(only + entropy.TINY) - np.log(start))))


def seen_at(k, r, cause):
    return At(THE_RUNS, None, None, seen(r, cause))


def worst(r, cause):
    """Which of the runs in the picture shows it best."""
    pi = r.last.pi[:PICTURED]
    return int(np.argmin(pi[:, [COMMON, PRIZE]].sum(axis=1) if cause == NOISE else pi[:, PRIZE]))


def seen(r, cause):
    """What is seen at the ring, in at most six words."""
    pi = r.last.pi[worst(r, cause)]
    if cause == NOISE:
        return f"{of_100(1 - pi[COMMON] - pi[PRIZE])} are never correct"
    return f"the prize: {runs.one_in(pi[PRIZE])}"


def worse(k, r):
    if not done(r) or final(r) >= SHORT:
        return None

    def usual():
        return final(end(run, Knobs(seed=k.seed)))

    return Said(
        f"{many_found(r)} of 24 runs find the prize, and {of_100(final(r))} answers are correct. The default setting "
        "reaches about 95.",
        {"the default has more": lambda: usual() > final(r) + 0.01, "about 95": lambda: abs(usual() - USUAL) < 0.05},
    )


def holds(k, r):
    return Said(
        f"After update {r.updates}, {many_found(r)} of 24 runs have found the prize, and {of_100(final(r))} answers "
        "are correct.",
        {
            "so many": lambda: int((r.last.pi.argmax(axis=1) == PRIZE).sum()) >= many_found(r),
            "so much": lambda: abs((r.last.pi[:, PRIZE] + r.last.pi[:, COMMON] / 2).mean() - final(r)) < 1e-9,
        },
    )


def of_100(share):
    return f"{100 * share:.0f} of 100"


def methods(k, r):
    """Trainers add the bonus to the mean entropy of a token: a number for one choice does not carry over."""
    priced = dict(kl="in the loss, with the gradient of the KL", beta=k.beta) if k.beta else {}
    batch = dict(samples=rare_prize.K, prompts=rare_prize.DRAWS // rare_prize.K)
    clip = dict(clip=(k.eps_low, k.eps_high), bonus=k.alpha, aggregation=None)
    hyper = dict(inner_epochs=rare_prize.PASSES, beta=0.0)
    return {"GRPO": options.setting(grpo, hyper, **batch, **clip, **priced)}


GUESS = Guess(
    "Without a bonus, but with an upper clip range of 0.28, how many of 24 runs find the prize (one sample in 200)?",
    ("none", "about 8", "about 20"),
    Knobs(alpha=0.0, eps_high=0.28),
    0,
    lambda k, r: (
        f"{many_found(r) or 'None'}. Clip-higher cannot bring back a way that is not sampled. "
        f"{of_100(final(r))} answers are correct."
    ),
    "Runs that found the prize",
)
DARE = "Can you make most runs miss the prize?"
OPENING = Played(Knobs(), Knobs(alpha=0.0), "opening")
