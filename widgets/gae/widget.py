"""A long answer with one decision at its first token and one reward at its end: what GAE carries back, by its λ, by the
length and by what the critic believes; and on an exact chain what a λ costs in bias and noise.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from rlpt import options
from sim.algorithms import ppo
from sim.estimators import chain_credit
from sim.experiments import long_answer
from sim.words import counted
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import scene
from widgets.frame.drawing.marks import by_update, dots, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Played
from widgets.frame.drawing.written import signed
from widgets.gae import long_answers

TITLE = "How much of a reward at the end of an answer reaches the first token"
UPDATES, START = long_answer.UPDATES, 0.25  # the share of each way before training
EVERY = 3  # updates between two pictures
WAYS = ("Guess", "Sketch", "Recall", "Derive")
BEST, RIVAL = long_answer.BEST, 1
SAME, WHOLE = "the same λ", "the whole return"
NONE, TWO = "none", "two ways confused"
OPINIONS = {NONE: long_answer.NOTHING, TWO: long_answer.CONFUSED}
SHRINKS = {"perfect": 0.0, "half right": 0.5, "knows nothing": 1.0}
GAINED = 0.27  # below this share the best way has gained nothing: 0.25 before training, and what noise adds
BEHIND = 0.68  # a tenth below what λ = 1 reaches with any critic here, 0.78 and more
CHAIN, GRID = (8, 0.5, 5), np.linspace(0, 1, 21)
LOWEST = 1e-24  # where an axis ends that has no 0
COST = f"{UPDATES * long_answer.BATCH:,} answers a run"


@dataclass(frozen=True)
class Knobs:
    lam: float = ladder("How far credit reaches back", 0.95, [0.0, 0.5, 0.8, 0.95, 0.98, 0.998, 1.0], "λ")
    length: int = ladder("Tokens per answer", 100, [20, 40, 100, 400, 1000])
    target: str = choice("Target of the critic", SAME, [SAME, WHOLE])
    opinion: str = choice("First opinion of the critic", NONE, [NONE, TWO])
    rate: float = ladder("Learning rate of the critic", 0.3, [0.0, 0.02, 0.05, 0.3])
    optimizer: str = choice("Optimizer", "SGD", ["SGD", "AdamW"])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)
    N: int = ladder("Answers per batch", 16, [1, 4, 16, 64, 512], symbol="N")
    knows: str = choice("Critic in the chain", "half right", [*SHRINKS])


KNOB_GROUPS = {
    "The critic": ("target", "opinion", "rate"),
    "The run": ("optimizer", "seed"),
    "The exact chain": ("N", "knows"),
}
PRESETS = {
    "λ = 0.95, 100 tokens": Knobs(),
    "λ = 1, 1,000 tokens": Knobs(lam=1.0, length=1000),
    "λ = 0.95, 1,000 tokens": Knobs(length=1000),
    "Two λ, 1,000 tokens": Knobs(length=1000, target=WHOLE),
    "Two ways confused": Knobs(opinion=TWO, rate=0.05),
}


@dataclass(frozen=True)
class Trace:
    frames: tuple  # of long_answer, one an update
    squared_bias: np.ndarray  # (21,) of the exact chain, by λ
    noise: np.ndarray  # (21,) variance over N

    @property
    def updates(self):
        return len(self.frames)

    @property
    def last(self):
        return self.frames[-1]

    @property
    def best(self):
        """(updates,): the share of the answers that begin with the best way."""
        return np.array([frame.policy[BEST] for frame in self.frames])

    @property
    def right(self):
        return np.array([long_answer.right(frame.policy) for frame in self.frames])


def target(k):
    return k.lam if k.target == SAME else 1.0


def idle(k):
    off = {}
    if k.lam == 1:
        off["target"] = "λ is 1 already"
    elif k.rate == 0:
        off["target"] = "the critic learns nothing"
    return off


def run(k):
    exact = chain(k.N, SHRINKS[k.knows])
    frames = []
    for frame in long_answer.run(k.length, k.lam, target(k), OPINIONS[k.opinion], k.rate, k.optimizer, k.seed):
        frames.append(frame)
        if len(frames) == 1 or len(frames) % EVERY == 0:
            yield Trace(tuple(frames), *exact)


@lru_cache(maxsize=16)
def chain(N, shrink):
    """(bias², variance over N) at each λ of the grid, (2, 21)."""
    return tuple(np.array([chain_credit.squared_error(*CHAIN, lam, N, shrink) for lam in GRID]).T)


def progress(k, r):
    return ["update", r.updates, UPDATES]


def figure(k, r):
    x = np.arange(1, r.updates + 1)
    tokens = np.arange(1, k.length + 1)
    best, right = np.append(START, r.best), np.append(RIGHT_BEFORE, r.right)
    return [
        lanes(k, r),
        by_update(
            "How the answers change",
            "exact probability after each update",
            line(np.append(0, x), right, "correct"),
            line(np.append(0, x), best, BEGIN, 2),
            threshold(GAINED, "no better than before", 0.0),
            label(UPDATES, min(right[-1], 0.92), "correct", 1, "right", below=right[-1] < best[-1]),
            label(UPDATES, min(best[-1], 0.92), BEGIN, 2, "right", below=right[-1] >= best[-1] > 0.1),
            updates=UPDATES,
            tab="The answers",
        ),
        panel(
            "What the critic expects",
            f"before each token, after update {r.updates}; dotted: how often each way is correct",
            *(line(tokens, r.last.values[way], name, way + 1) for way, name in enumerate(WAYS)),
            *(line([1, k.length], 2 * [right], f"{name} is correct", 1, "exact") for name, right in TRUE),
            *(
                label(k.length, r.last.values[way, -1], name, way + 1, "right")
                for way, name in enumerate(WAYS)
                if r.last.values[way, -1] > 0.02
            ),
            x="token",
            x_range=(1, k.length),
            y_range=(0, 1.02),
            tab="The critic",
            front=True,
        ),
        by_update(
            "Advantage of the first token",
            "mean size in 64 answers, logarithmic",
            line(x, np.maximum([frame.size[0] for frame in r.frames], LOWEST), "first token"),
            updates=UPDATES,
            y_range=(LOWEST, 10),
            log="y",
            tab="The critic",
        ),
        panel(
            "What λ costs: the squared error of a batch’s mean gradient",
            f"exact; {CHAIN[0]} tokens of which {CHAIN[2]} must be good, {counted(k.N, 'completion')}; log scale",
            line(GRID, np.maximum(r.squared_bias, 1e-6), "bias²", 2),
            line(GRID, r.noise, "noise", 3),
            line(GRID, r.squared_bias + r.noise, "both"),
            dots([k.lam], [at(r, k.lam)], "this λ", 1, "here"),
            label(0.02, max(r.squared_bias[0], 1e-6), "bias²", 2, below=True),
            label(0.02, r.noise[0], "noise", 3, below=True),
            x="λ",
            x_range=(-0.02, 1.02),
            y_range=(5e-6, 1),
            log="y",
            tab="Bias and noise",
        ),
    ]


def at(r, lam):
    """The squared error at a λ, on the line between two of the grid."""
    return float(np.interp(lam, GRID, r.squared_bias + r.noise))


LANES, BEGIN = "How the last update pushes each answer", "begin with Derive"
RIGHT_BEFORE = float(long_answer.RIGHT.mean())
TRUE = list(zip(WAYS, long_answer.RIGHT.tolist()))


def lanes(k, r):
    """A lane for each way to begin, toned by the advantages of its answers, and how many begin so."""
    rows = ways(r.last)
    return scene.scene(
        LANES,
        f"advantages added up in update {r.updates}; [above-2] pushed up, [below-2] down",
        scene.view(
            "w",
            long_answers.WIDE,
            long_answers.high(len(rows)),
            f"Answers of {k.length:,} tokens. First tokens: "
            + ", ".join(f"{row.name} {signed(row.values[0])}" for row in rows)
            + ".",
            *long_answers.marks("a", rows, "how often"),
            ring(k, r),
        ),
        tab="The answers",
        front=True,
        data=[line(np.arange(1, k.length + 1), r.last.push[BEST], "push of Derive, by token")],
    )


def ways(frame):
    return [
        long_answers.Lane(name, name[0], frame.push[way], f"{count(frame.policy[way])} of 100")
        for way, name in enumerate(WAYS)
    ]


def count(probability):
    return f"{100 * probability:.0f}"


def ring(k, r):
    blamed = stuck(r) and cause(k)
    if blamed == FADES:
        return long_answers.first_tokens("r", range(len(WAYS)), ring_words(k, r, blamed), True)
    return long_answers.first_tokens("r", [BEST], ring_words(k, r, blamed) if blamed else "", bool(blamed))


def readouts(k, r):
    state = "violated" if broken(k, r) else ""
    return [
        Readout("Correct answers", 100 * long_answer.right(r.last.policy), "of 100", long_answer.right, state),
        Readout("Answers that begin with Derive", 100 * r.last.policy[BEST], "of 100", long_answer.softmax),
        Readout("Reward that reaches token 1 at once", long_answer.reach(k.lam, k.length), "", long_answer.reach),
        Readout("Mean size of token 1’s advantage", r.last.size[0], "", long_answer.credit),
        Readout("Error of the critic at token 2", critic_off(r), "", long_answer.critic_error),
    ]


def critic_off(r):
    return long_answer.critic_error(r.last.values)


def watched(k, r):
    return Gauge(
        "Share of answers with Derive",
        float(r.last.policy[BEST]),
        GAINED,
        below=True,
        expression=f"policy[Derive] < {GAINED}",
    )


def holds(k, r):
    many, right = count(r.last.policy[BEST]), count(long_answer.right(r.last.policy))
    return Said(
        f"{right} of 100 answers are correct after update {r.updates}, and {many} begin with Derive, the best way.",
        {
            "the best way is the one most taken": lambda: r.updates < UPDATES or r.last.policy.argmax() == BEST,
            "so many are correct": lambda: (
                abs(sum(p * q for p, (_, q) in zip(r.last.policy, TRUE)) - int(right) / 100) < 0.006
            ),
        },
    )


def worse(k, r):
    """Far behind what λ = 1 reaches with the same critic, though the best way has gained."""
    right = long_answer.right(r.last.policy)
    if r.updates < UPDATES or right >= BEHIND:
        return None
    return Said(
        f"{count(right)} of 100 answers are correct after {UPDATES} updates. With λ = 1, more than 77 are.",
        {
            "the best way has gained": lambda: r.last.policy[BEST] > START,
            "more than 77 at λ = 1": lambda: end(run, replace(k, lam=1.0)).right[-1] > 0.77,
        },
    )


FADES, BELIEVED = "rewards that fade on the way", "a wrong critic that is believed"


def broken(k, r):
    if not stuck(r):
        return None

    def share_of_best(**turned):
        return end(run, replace(k, **turned)).last.policy[BEST]

    right, many = count(long_answer.right(r.last.policy)), count(r.last.policy[BEST])
    if cause(k) == FADES:
        why = Said(
            f"{right} of 100 answers are correct (45 before training), because λ = {k.lam:g} brings {share(k)} of a "
            f"reward to the first of {k.length:,} tokens.",
            {
                "no better than before": lambda: r.right[-1] < RIGHT_BEFORE + 0.02,
                "λ = 1 mends it": lambda: share_of_best(lam=1.0) > 0.5,
            },
        )
    else:
        why = Said(
            f"{many} of 100 answers begin with Derive, and {right} are correct. At λ = {k.lam:g} the policy follows a "
            "critic that prefers Sketch.",
            {
                "it prefers Sketch": lambda: OPINIONS[k.opinion].argmax() == RIVAL != BEST,
                "λ = 1 mends it": lambda: share_of_best(lam=1.0) > 0.5,
                "without the opinion more begin so": lambda: share_of_best(opinion=NONE) > r.best[-1],
            },
        )
    return Break(why, recovery.different(k, dict(lam=1.0)), cause(k))


def stuck(r):
    """Whether the best way has gained nothing at the end."""
    return bool(r.updates == UPDATES and r.last.policy[BEST] < GAINED)


def cause(k):
    return FADES if k.opinion == NONE else BELIEVED


def share(k):
    """How much of a reward reaches the first token at once, in words."""
    reach = long_answer.reach(k.lam, k.length)
    return "nothing" if reach == 0 else f"{reach:.2g}" if reach >= 0.001 else "less than a thousandth"


def seen_at(k, r, cause):
    return At(LANES, None, None, ring_words(k, r, cause))


def ring_words(k, r, cause):
    """What is seen at the ring, in at most six words."""
    if cause == BELIEVED:
        return f"{count(r.last.policy[BEST])} of 100, 25 before training"
    return "no reward has arrived" if r.last.size[0] < long_answers.STEPS[0] else "the reward came too late"


def methods(k, r):
    """Trainers have one λ for the policy and the critic."""
    if target(k) != k.lam:
        return {}
    return {"PPO": options.setting(ppo, dict(lam=k.lam, inner_epochs=1), samples=1, prompts=long_answer.BATCH)}


GUESS = Guess(
    "At λ = 1, 78 of 100 answers of 1,000 tokens are correct. How many are correct at λ = 0.95, a usual value?",
    ("78 again", "about 60", "45, as before"),
    Knobs(length=1000),
    2,
    lambda k, r: f"{count(long_answer.right(r.last.policy))} are correct: sixty updates have changed nothing.",
    "Correct answers",
)
DARE = "Can you make sixty updates change nothing?"
OPENING = Played(Knobs(lam=1.0, length=1000), Knobs(length=1000), "opening")
