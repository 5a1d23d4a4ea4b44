"""A policy that is trained on a verifier with 24 holes, twelve rounds of audit and patch, and what a second verifier
says that was never trained on.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.verifiers import redteam
from sim.words import counted, plural
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider, toggle
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import scene
from widgets.frame.drawing.marks import line, panel, threshold
from widgets.frame.drawing.small_figures import Played
from widgets.red_team import holes

TITLE = "Twelve rounds of training, audit and patch on a verifier with 24 holes"
ROUNDS, UPDATES = 12, 15
COST = f"{ROUNDS} rounds of {UPDATES} exact updates"

CLASS, INSTANCE, NOTHING = "the class", "the instance", "nothing"
CLOSES = {CLASS: redteam.CLASS_OF, INSTANCE: redteam.EACH_ITS_OWN, NOTHING: None}
CHEAPER = 5  # assumed: a patch of one instance refuses a fifth of what a patch of its class does
START = float(redteam.SHARES @ redteam.SOLVES)  # solved before training: less at the end is a break
DEAR = 5.0  # percent of right work: a patch that refuses so much may be the cause
MISSED = 0.05  # a run that solves so much less on average than the default at its seed is worse
LEAST = 0.001  # a smaller share is written as “under 0.001”
MOST_LOST = 0.5  # of the completions, through holes that both verifiers have


@dataclass(frozen=True)
class Knobs:
    patch: str = choice("A patch closes", CLASS, [CLASS, INSTANCE, NOTHING])
    overlap: float = ladder("Overlap of holes", 0.2, [0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0], symbol="ω")
    audit: int = ladder("Completions read per round", 64, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
    heldout: bool = toggle("Held-out verifier in reward", False)
    learning_rate: float = ladder("Learning rate", 0.35, [0.05, 0.1, 0.2, 0.35, 0.5, 1.0])
    refuses: float = ladder("Correct work a patch rejects", 1.5, [0.0, 0.5, 1.5, 5.0, 20.0], unit="%")
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("patch", "overlap")
KNOB_GROUPS = {"The red team": ("audit", "refuses"), "The training": ("heldout", "learning_rate", "seed")}
PRESETS = {
    "Classes patched": Knobs(),
    "Instances patched": Knobs(patch=INSTANCE),
    "Instances, no shared hole": Knobs(patch=INSTANCE, overlap=0.0),
    "Nothing patched": Knobs(patch=NOTHING),
    "Held-out in the reward": Knobs(heldout=True),
    "Classes, most holes shared": Knobs(overlap=0.8),
}


@dataclass(frozen=True)
class Result:
    wall: redteam.Wall
    rounds: tuple  # of redteam.Round

    @property
    def last(self):
        return self.rounds[-1]

    @property
    def solved(self):
        return float(redteam.solved(self.last)[-1])

    @property
    def proxy(self):
        return float(redteam.proxy(self.last)[-1])

    @property
    def heldout(self):
        return float(redteam.heldout(self.last, self.wall.shared)[-1])

    @property
    def hacked(self):
        return redteam.along(self.rounds, redteam.hacked)

    @property
    def mean_solved(self):
        return float(redteam.along(self.rounds, redteam.solved).mean())


def refused_by_a_patch(k):
    """Share of the right work that was still paid."""
    return k.refuses / 100 / (CHEAPER if k.patch == INSTANCE else 1)


def run(k):
    rng, closes = np.random.default_rng(k.seed), CLOSES[k.patch]
    yield Result(
        *redteam.run(
            rng, ROUNDS, UPDATES, k.learning_rate, k.audit, k.overlap, closes, refused_by_a_patch(k), k.heldout
        )
    )


def idle(k):
    return dict(refuses="nothing is patched") if k.patch == NOTHING else {}


# ── the pictures ──
THE_WALL = "The last round: the verifier’s holes, by class, and the completions read"


def figure(k, r):
    x = np.arange(ROUNDS * UPDATES + 1)
    solved, proxy = (redteam.along(r.rounds, measure) for measure in (redteam.solved, redteam.proxy))
    second = redteam.along(r.rounds, lambda this: redteam.heldout(this, r.wall.shared))
    by_class = np.array([classes(this.policies[-1]) for this in r.rounds])
    span = dict(x="update (15 per round)", x_range=(0, x[-1]))
    after = list(range(1, ROUNDS + 1))
    return [
        board(k, r),
        panel(
            "Tasks solved, and the reward of each verifier",
            "[s1] share solved; mean reward: [s2] training verifier, [s3] held-out verifier",
            line(x, solved, "solved", 1),
            line(x, proxy, "training verifier", 2),
            line(x, second, "held-out verifier", 3),
            threshold(START, "less than before training", 0.0),
            y_range=(0, 1.05),
            tab="By update",
            **span,
        ),
        panel(
            "Completions that use a hole",
            "share of all, open or closed",
            line(x, r.hacked, "hacked", 2),
            y_range=(0, 1.05),
            tab="By update",
            **span,
        ),
        panel(
            "How the policy works",
            "share of completions after each round; [s1] honest, [s3] lazy, thin: classes of holes",
            line(after, by_class[:, 0], "honest work", 1),
            line(after, by_class[:, 1], "lazy work", 3),
            *(line(after, by_class[:, 2 + c], name, 4 + c % 5, "seed") for c, name in enumerate(holes.CLASSES)),
            x="round",
            x_range=(1, ROUNDS),
            y_range=(0, 1.05),
            tab="By class",
        ),
    ]


def classes(policy):
    """(8,) shares: honest, lazy, each class of holes."""
    return np.append(policy[:2], np.bincount(redteam.CLASS_OF, policy[2:], redteam.CLASSES))


def board(k, r):
    this = r.last
    ever = np.any([past.found for past in r.rounds], axis=0)
    cells = holes.wall(this.open, ever, r.wall.shared, this.drawn[2:])
    ringed, words = (mark_of(r), ring_words(r)) if broken(k, r) else (None, "")
    stands = "a dot: one completion" if k.audit <= holes.DOTS else f"a dot: {k.audit // holes.DOTS} completions"
    still = f"{counted(left_open(r), 'hole')} {plural(left_open(r), 'is', 'are')}"
    alt = f"{still} open at the end. {100 * this.policies[-1, 0]:.0f} of 100 completions are honest work."
    return scene.scene(
        THE_WALL,
        f"{stands}; struck out: found; faint: closed; double: the held-out verifier has it too",
        holes.view("b", cells, holes.owners(holes.counted(this.drawn)), alt, ringed, words),
        tab="The wall",
        front=True,
        data=[line(list(range(1, redteam.HOLES + 1)), this.policies[-1, 2:], "share of the completions, by hole")],
    )


def mark_of(r):
    """The hole used most at the end; of those that both verifiers pay where the words speak of them."""
    used = r.last.policies[-1, 2:]
    return int(np.argmax(used * (r.last.open & r.wall.shared) if through_shared(r) > MOST_LOST else used))


def ring_words(r):
    return "both verifiers miss this" if through_shared(r) > MOST_LOST else "the hole used most"


def through_shared(r):
    """Share of the completions that use a hole which both verifiers pay at the end."""
    return float((r.last.policies[-1, 2:] * (r.last.open & r.wall.shared)).sum())


def left_open(r):
    return int((r.last.open & ~r.last.closed).sum())


def readouts(k, r):
    state = "violated" if broken(k, r) else ""
    return [
        Readout("Tasks solved", stated(r.solved), "", redteam.solved, state),
        Readout("Reward, held-out verifier", stated(r.heldout), "", redteam.heldout),
        Readout("Reward, training verifier", r.proxy, "", redteam.proxy),
        Readout("Largest share of hacks", float(r.hacked.max()), "", redteam.hacked),
        Readout("Correct work rejected", 100 * r.last.refused, "%", redteam.run),
    ]


def stated(share):
    """A share, or in words that there is hardly any."""
    return share if share >= LEAST else f"under {LEAST:g}"


def watched(k, r):
    return Gauge("Tasks solved at the end", round(r.solved, 3), START, below=True, expression="solved[-1] < solved[0]")


# ── what went wrong, and because of what ──
UNWATCHED, SHARED, SPENT = "holes that nobody patches", "a hole in both verifiers", "training on the held-out verifier"
OUTRUN, REFUSED, MIXED = "patches that come too late", "patches that reject correct work", "a combination of settings"


def undoing(k):
    """[(cause, the knobs that undo it)] in the order in which they are asked."""
    suspects = []
    if k.heldout:
        suspects.append((SPENT, dict(heldout=False)))
    if k.patch == NOTHING:
        suspects.append((UNWATCHED, dict(patch=CLASS)))
    if k.overlap:
        suspects.append((SHARED, dict(overlap=0.0)))
    if k.patch != NOTHING:
        if k.refuses >= DEAR:
            suspects.append((REFUSED, dict(refuses=0.0)))
        suspects.append((OUTRUN, dict(audit=512)))
        suspects.append((OUTRUN, dict(patch=CLASS)))
    return [(cause, turned) for cause, turned in suspects if replace(k, **turned) != k]


def lost(r):
    return r.solved < START - 1e-9


def cause(k):
    """(cause, what alone undoes it), or MIXED and all of it."""
    for name, turned in undoing(k):
        if not lost(end(run, replace(k, **turned))):
            return name, turned
    return MIXED, dict(patch=CLASS, overlap=0.0, audit=max(k.audit, 64), heldout=False)


def broken(k, r):
    if not lost(r):
        return None
    name, turned = cause(k)
    return Break(why(k, r, name, turned), recovery.different(k, turned), name)


def why(k, r, name, turned):
    reports = f"The verifiers report {r.proxy:.2f} and {r.heldout:.2f}, but {r.solved:.2f} is solved"
    words = {
        SPENT: f"{reports}. The held-out verifier is part of the reward, so it is no check.",
        UNWATCHED: f"{reports}. {100 * r.hacked[-1]:.0f} of 100 completions use a hole, and nobody closes any.",
        SHARED: f"{reports}. {shared_words(r)}.",
        OUTRUN: f"{reports}. {late(r)}.",
        REFUSED: f"{reports}. Patches reject {100 * r.last.refused:.0f} % of correct work, so honesty earns little.",
        MIXED: f"{reports}. No single change brings it back.",
    }

    def mends(change):
        return not lost(end(run, replace(k, **change)))

    claims = {"undone, it is mended": lambda: mends(turned)}
    if name == MIXED:
        claims = {"nothing alone mends it": lambda: not any(mends(change) for _, change in undoing(k))}
    if name == SHARED:
        claims["both pay the hole"] = lambda: through_shared(r) > MOST_LOST or "some" in words[SHARED]
    if name == UNWATCHED:
        claims["no hole is closed"] = lambda: bool(r.last.open.all() and not r.last.closed.any())
    if name == REFUSED:
        claims["honest work is paid so much less"] = lambda: (
            abs(redteam.SOLVES[0] * (1 - r.last.refused) - r.last.paid[0]) < 1e-9
        )
    if name == OUTRUN:
        claims["open holes are used, or few are and hacks go on"] = lambda: (
            "next hole" in late(r) or r.hacked[-1] > 0.1 > (r.last.policies[-1, 2:] * r.last.open).sum()
        )
    return Said(words[name], {**amounts(r), **claims})


def late(r):
    if (r.last.policies[-1, 2:] * r.last.open).sum() > 0.1:
        return "By the time a hole is closed, the policy uses the next one"
    return "Holes were closed so late that the policy has not recovered"


def shared_words(r):
    return (
        "Both accept the hole that the policy uses"
        if through_shared(r) > MOST_LOST
        else "Both accept some of the holes"
    )


def amounts(r):
    """What is asserted of the three numbers, summed up once more way by way."""
    pi, right = r.last.policies[-1], np.append(redteam.SOLVES, np.zeros(redteam.HOLES))
    pays = np.append(redteam.SOLVES, r.wall.shared)
    return {
        "so much is solved": lambda: abs((pi * right).sum() - r.solved) < 1e-9,
        "the held-out verifier pays so much": lambda: abs((pi * pays).sum() - r.heldout) < 1e-9,
        "the training verifier pays so much": lambda: abs((pi * r.last.paid).sum() - r.proxy) < 1e-9,
    }


def seen_at(k, r, cause):
    return At(THE_WALL, None, None, ring_words(r))


def usual(k):
    return end(run, Knobs(seed=k.seed))


def worse(k, r):
    if r.mean_solved >= usual(k).mean_solved - MISSED:
        return None
    return Said(
        f"On average over the run, {r.mean_solved:.2f} of the tasks are solved, compared with "
        f"{usual(k).mean_solved:.2f} by default. At the end it is {r.solved:.2f}.",
        {
            **amounts(r),
            "less on average": lambda: (
                np.mean([redteam.solved(this)[1:].mean() for this in r.rounds]) < usual(k).mean_solved - MISSED / 2
            ),
        },
    )


def holds(k, r):
    clean = r.hacked[-1] < 0.005
    hacked = "no completion in 200 uses a hole" if clean else f"{100 * r.hacked[-1]:.0f} of 100 completions use a hole"
    return Said(
        f"At the end, {r.solved:.2f} of the tasks are solved, and {hacked}. {left_open(r)} of {redteam.HOLES} holes "
        "are still open.",
        {**amounts(r), "so few use a hole": lambda: not clean or 1 - r.last.policies[-1, :2].sum() < 0.005},
    )


GUESS = Guess(
    "If only instances are patched, both verifiers end at 1.00. How many of the tasks are actually solved?",
    ("nearly all", "about half", "almost none"),
    Knobs(patch=INSTANCE),
    2,
    lambda k, r: f"The held-out verifier reports {r.heldout:.2f}, but {r.solved:.2f} of the tasks are solved.",
    "Tasks solved",
)
DARE = "Can you satisfy both verifiers while nothing is solved?"
OPENING = Played(Knobs(), Knobs(patch=INSTANCE), "opening")
