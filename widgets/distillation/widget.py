"""A student writes, a teacher grades each token: whose texts become right, and which student loses what it could do.
What the teacher sends, the direction of the divergence and a cold start decide.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sim.estimators import distillation
from sim.experiments import distilled
from sim.pipeline import path, report
from sim.worlds.optimizer import SGD, AdamW
from widgets.distillation import graded
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import scene
from widgets.frame.drawing.marks import dots, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Played

TITLE = "A teacher grades every token of a student's own texts"
COST = "32 prompts per update; measured on 1,200 texts for 300 held-out prompts"

LITTLE, ONCE, OVER, BETTER = "thinks a little", "answers at once", "overfitted", "RL-trained"
ALL, LIKELIEST, DRAWN, K1 = "all logits", "likeliest k", "drawn token, as advantage", "drawn token, differentiated"
REVERSE, JSD, FORWARD = "reverse", "JSD", "forward"
FALLEN = 0.05  # right texts lost since the start: a student that was to be taught has been harmed
USUAL, SHORT_OF = 0.61, 0.5  # what the default ends with, mean of twenty seeds, and less than any of them
RL = {2_560: 0.36, 12_800: 0.53}  # own texts: right, by RL from the student that thinks a little, mean of twenty seeds
LOOKS = 20  # of a run at most
# a push of the same size at every drawn token has no direction, and its noise adds up: the spread of twenty seeds
AMPLIFIES = {"Log-ratio differentiated": {"Correct texts": 10.0, "KL to the teacher": 6.0}}
VOCABULARY, WIDTH = 151_936, 5_120  # of Qwen3-32B


@dataclass(frozen=True)
class Knobs:
    student: str = choice("Student", LITTLE, [LITTLE, ONCE, OVER, BETTER])
    cold: int = ladder("Cold start", 0, [0, 50, 100, 200], unit="updates")
    teacher: str = choice("Teacher", BETTER, [BETTER, LITTLE])
    signal: str = choice("What the teacher sends", ALL, [ALL, LIKELIEST, DRAWN, K1])
    direction: str = choice("Divergence", REVERSE, [REVERSE, JSD, FORWARD])
    k: int = ladder("Likeliest tokens sent", 5, [1, 2, 3, 5, 10, 20], symbol="k")
    K: int = ladder("Completions per prompt", 1, [1, 2, 4, 8], symbol="K")
    optimizer: str = choice("Optimizer", "AdamW", ["AdamW", "SGD"])
    updates: int = ladder("Updates", 100, [40, 100, 200, 400, 800])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("student", "cold")
KNOB_GROUPS = {"The teacher": ("teacher", "signal", "direction", "k"), "The run": ("K", "optimizer", "updates", "seed")}
PRESETS = {
    "Thinks a little": Knobs(),
    "Answers at once": Knobs(student=ONCE),
    "Answers at once, cold start": Knobs(student=ONCE, cold=200),
    "Better than its teacher": Knobs(student=BETTER, teacher=LITTLE),
    "Log-ratio differentiated": Knobs(signal=K1),
    "Its five likeliest tokens": Knobs(signal=LIKELIEST),
}


@dataclass(frozen=True)
class Trace:
    frames: tuple  # of distilled, from before training on
    updates: int  # that it is to have
    teacher: float  # the share of the teacher's own texts that is right

    @property
    def start(self):
        return self.frames[0]

    @property
    def last(self):
        return self.frames[-1]


def policy(name):
    return distilled.teacher() if name == BETTER else path.checkpoint(distilled.STUDENTS[name])


def signal(k):
    """The slope of the loss by the student's logits."""
    if k.signal == ALL:
        return distilled.everywhere(
            {
                REVERSE: distillation.reverse,
                JSD: lambda logp, teacher_logp: distillation.jsd(logp, teacher_logp, 0.5),
                FORWARD: distillation.forward,
            }[k.direction]
        )
    if k.signal == LIKELIEST:
        return distilled.everywhere(lambda logp, teacher_logp: distillation.likeliest(logp, teacher_logp, k.k))
    return distilled.as_advantage if k.signal == DRAWN else distilled.differentiated_k1


def optimizer(k):
    return AdamW(0.02, clip=1.0) if k.optimizer == "AdamW" else SGD(1.0)


@lru_cache(maxsize=8)
def of_teacher(name, seed):
    """The share of the teacher's texts that is right."""
    return distilled.look(policy(name), policy(name), seed, 0, 0, 0).right


def run(k):
    for name in (LITTLE, ONCE, OVER, BETTER):  # before the first frame: the snapshot keeps what was read, no files
        policy(name)
    teacher_right = of_teacher(k.teacher, k.seed)
    every = max(distilled.LOOK, k.updates // LOOKS)
    training = distilled.run(
        policy(k.student), policy(k.teacher), signal(k), optimizer(k), k.seed, k.updates, k.K, k.cold, every
    )
    frames = []
    for frame in training:
        frames.append(frame)
        yield Trace(tuple(frames), k.updates, teacher_right)


def seconds(k):
    """Measured: 0.07 a look, 0.002 an update and 0.0004 for each further text of a prompt, 0.004 one of imitation."""
    looks = 2 + k.cold // distilled.COLD_LOOK + min(k.updates // distilled.LOOK, LOOKS)
    return 0.1 + 0.07 * looks + k.updates * (0.002 + 0.0004 * (k.K - 1)) + 0.004 * k.cold


def progress(k, r):
    return ["update", max(r.last.update, 0), r.updates]


def done(r):
    return r.last.update == r.updates


def idle(k):
    reasons = {} if k.signal == ALL else dict(direction="only with all logits")
    return reasons if k.signal == LIKELIEST else reasons | dict(k="only with the likeliest k")


# ── the pictures ──
THE_TEXTS, CORRECT = "Three of the student's texts", "Correct texts"


def figure(k, r):
    x = [frame.update for frame in r.frames]
    right = [frame.right for frame in r.frames]
    span = dict(x="update (below 0: the cold start)", x_range=(-k.cold, r.updates))
    kinds = np.array([frame.modes for frame in r.frames])
    return [
        board(k, r),
        panel(
            CORRECT,
            "share of texts for 300 held-out prompts, 4 each",
            line(x, right, "the student", 1),
            dots(x[-1:], right[-1:], "the student", 1),
            line([-k.cold, r.updates], [r.teacher] * 2, "its teacher", 8, "reference"),
            label(r.updates, r.teacher, "its teacher", 8, "right"),
            threshold(r.start.right - FALLEN, "fewer than before training", 0.0),
            y_range=(0, 1),
            tab="The texts",
            **span,
        ),
        panel(
            "KL to the teacher",
            "at the student's own tokens; nats per token, logarithmic",
            line(x, [max(float(frame.kl), 1e-4) for frame in r.frames], "KL", 4),
            y_range=(1e-4, 100),
            log="y",
            tab="By update",
            **span,
        ),
        panel(
            "Kinds of texts",
            "share of all texts",
            line(x, kinds[:, 0] + kinds[:, 1], "answer after a thought", 1),
            line(x, kinds[:, 2] + kinds[:, 3], "answer at once", 2),
            line(x, kinds[:, 4], "no answer", 3),
            label(-k.cold, 1.1, "solid: thought first; dashed: at once; dotted: no answer"),
            y_range=(0, 1.2),
            tab="By update",
            **span,
        ),
        by_texts(k, r),
    ]


def by_texts(k, r):
    graded_ones = [frame for frame in r.frames if frame.own_texts]
    paid = (
        [dots(list(RL), list(RL.values()), "RL", 2), label(2_560, RL[2_560] - 0.02, "RL, twenty seeds", 2, below=True)]
        if k.student == LITTLE
        else []
    )
    return panel(
        "Correct texts, by the number of texts graded",
        "share of all texts; the student's own texts, logarithmic",
        line([frame.own_texts for frame in graded_ones], [frame.right for frame in graded_ones], "the student", 1),
        line([100, 300_000], [r.teacher] * 2, "its teacher", 8, "reference"),
        label(100, r.teacher, "its teacher", 8),
        *paid,
        x="own texts graded, logarithmic",
        x_range=(100, 300_000),
        y_range=(0, 1),
        log="x",
        tab="By texts",
    )


def board(k, r):
    texts, break_ = written(k, r), broken(k, r)
    ringed, words = ring(texts, r, break_.cause) if break_ else (None, "")
    return scene.scene(
        THE_TEXTS,
        graded.LEGEND,
        graded.view("b", texts, ringed, words),
        tab="The texts",
        front=True,
        data=[line([1, 2, 3], [sum(text.grade) / len(text.grade) for text in texts], "mean grade of a token, by text")],
    )


def written(k, r):
    """The texts in the picture, always by the same random numbers."""
    return distilled.written(r.last.policy, policy(k.teacher), graded.SHOWN, np.random.default_rng(graded.DRAWN_BY))


def ring(texts, r, cause):
    """((row, place), words) of what is seen."""
    silenced = graded.silenced(texts)
    if cause == NEVER and silenced:
        return silenced, "wants Final:, never sampled"
    row = int(np.argmin([text.grade[-1] for text in texts]))
    last = (row, len(texts[row].tokens) - 1)
    if cause == PULLS:
        return last, f"graded {texts[row].grade[-1]:+.1f}, pushed like all others".replace("-", "−")
    return last, f"{of_100(r.last.right)} texts are correct"


def readouts(k, r):
    state = "violated" if broken(k, r) else ""
    return [
        Readout("Correct texts", 100 * r.last.right, "of 100", distilled.look, state),
        Readout("Correct texts of the teacher", 100 * r.teacher, "of 100", distilled.look),
        Readout("KL to the teacher", float(r.last.kl), "nats per token", report.entropy_and_kl),
        Readout("Own texts graded", r.last.own_texts, "", distilled.run),
        Readout("Sent per token by a 32B teacher", sent(k), "B", distillation.bytes_per_token),
    ]


def sent(k):
    bytes_of = distillation.bytes_per_token(k.k, VOCABULARY, WIDTH)
    return bytes_of["drawn token" if k.signal in (DRAWN, K1) else k.signal]


def watched(k, r):
    low = r.start.right - FALLEN
    return Gauge("Share of correct texts", r.last.right, low, below=True, expression="right < right before - 0.05")


# ── what went wrong, and because of what ──
NEVER, TAUGHT, PULLS = "a token that is never written", "a teacher that is worse", "a push that ignores the teacher"
HALFWAY = "a run that stopped halfway"


def scaled(k):
    """Whether the push on a token carries the student's own probability of it."""
    return k.signal == DRAWN or (k.signal == ALL and k.direction != FORWARD)


def faults(k):
    """{cause: (what undoes it, its words)} of all that may do harm at this setting."""
    causes = {}
    if k.signal == K1:
        causes[PULLS] = (dict(signal=DRAWN), "a differentiated log-ratio pushes every token alike")
    if k.student == BETTER and k.teacher == LITTLE:
        causes[TAUGHT] = (dict(teacher=BETTER), "its teacher is correct less often")
    if k.student == ONCE and not k.cold and (scaled(k) or k.signal == K1):
        causes[NEVER] = (dict(cold=200), "what the student never writes gets hardly any push")
    return causes or {HALFWAY: (dict(updates=400), "the student is halfway to a different way of writing")}


def undone(k):
    return {name: value for knobs, _ in faults(k).values() for name, value in knobs.items()}


def broken(k, r):
    if not done(r) or r.last.right >= r.start.right - FALLEN:
        return None
    return Break(why(k, r), recovery.different(k, undone(k)), next(iter(faults(k))))


def why(k, r):
    words = " and ".join(words for _, words in faults(k).values())
    return Said(
        f"{of_100(r.last.right)} texts are correct, {of_100(r.start.right)} were before. "
        f"{words[0].upper()}{words[1:]}.",
        {
            "so many": lambda: abs(float(r.last.modes[0] + r.last.modes[2]) - r.last.right) < 1e-9,
            "without it more are right": lambda: end(run, replace(k, **undone(k))).last.right > r.last.right + 0.03,
            "a worse teacher": lambda: TAUGHT not in faults(k) or r.teacher < r.start.right - 0.1,
        },
    )


def seen_at(k, r, cause):
    return At(THE_TEXTS, None, None, ring(written(k, r), r, cause)[1])


def worse(k, r):
    if not done(r) or r.last.right >= SHORT_OF:
        return None

    def usual():
        return end(run, Knobs(seed=k.seed)).last.right

    return Said(
        f"{of_100(r.last.right)} texts are correct, {of_100(r.start.right)} were before training (default: about 61).",
        {
            "the default has more": lambda: usual() > r.last.right + 0.01,
            "about 61": lambda: abs(usual() - USUAL) < 0.05,
        },
    )


def holds(k, r):
    return Said(
        f"{of_100(r.last.right)} texts are correct, {of_100(r.start.right)} were before training. "
        f"Of the teacher's texts, {of_100(r.teacher)} are.",
        {
            "so many": lambda: abs(float(r.last.modes[0] + r.last.modes[2]) - r.last.right) < 1e-9,
            "so many were": lambda: abs(float(r.start.modes[0] + r.start.modes[2]) - r.start.right) < 1e-9,
        },
    )


def of_100(share):
    return f"{100 * share:.0f} of 100"


def methods(k, r):
    signal = f"{ALL}, {k.direction}" if k.signal == ALL else k.signal
    likeliest = dict(k=k.k) if k.signal == LIKELIEST else {}
    return {"Distillation": dict(sent=signal, samples=k.K, prompts=distilled.P, **likeliest)}


GUESS = Guess(
    "If the teacher sends only its likeliest token instead of all logits, how many texts end up correct?",
    ("fewer", "about as many", "more"),
    Knobs(signal=LIKELIEST, k=1),
    2,
    lambda k, r: f"More: {of_100(r.last.right)} are correct, compared with 61 with all logits (both with AdamW).",
)
DARE = "Can you make a student forget what it could do?"
OPENING = Played(Knobs(), Knobs(student=ONCE), "opening")
