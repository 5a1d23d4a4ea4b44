"""A training whose answers were drawn by another policy, an engine at another temperature, older weights, or both: what
each way to count them makes of a batch, and of the run.
"""

from dataclasses import dataclass, replace

import numpy as np

from rlpt import options
from sim.algorithms import grpo
from sim.estimators import importance, off_policy
from sim.experiments import mismatch
from sim.experiments.mismatch import UPDATES, WAYS
from sim.worlds import tasks, tinylm
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import scene, sums
from widgets.frame.drawing.marks import by_update, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Played
from widgets.off_policy import pushes

TITLE = "How much each token counts if a different policy sampled it"
COST = f"{UPDATES} batches of 128 answers"
SEEN = 8  # updates between two pictures
HALF = 0.5  # a run that ends with fewer right answers is broken
WELL = 0.8  # one that ends with fewer is clearly behind the default
NONE, CUT, WHOLE, MEAN, BAD, CLIP, DECOUPLED = (
    "none",
    "token ratio, at most 2",
    "answer ratio, whole",
    "answer mean, 0.8 to 1.25",
    "bad answers masked",
    "clip around the engine",
    "decoupled",
)
SAME, HOT, COLD = "as the trainer", "temperature 1.5", "temperature 0.7"
TEMPERATURE = {SAME: 1.0, HOT: 1.5, COLD: 0.7}


@dataclass(frozen=True)
class Knobs:
    correction: str = choice("Correction of the loss", CUT, list(WAYS))
    engine: str = choice("Engine that samples", HOT, list(TEMPERATURE))
    lag: int = ladder("Lag, in updates", 0, [0, 2, 4, 8])
    passes: int = ladder("Passes over each batch", 1, [1, 4])
    optimizer: str = choice("Optimizer", "AdamW", ["AdamW", "SGD"])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("correction", "engine")
KNOB_GROUPS = {"Age": ("lag", "passes"), "The run": ("optimizer", "seed")}
PRESETS = {
    "Token ratio, at most 2": Knobs(),
    "Clip around the engine": Knobs(correction=CLIP),
    "Lag 8, no correction": Knobs(correction=NONE, engine=SAME, lag=8),
    "Lag 8, bad answers masked": Knobs(correction=BAD, engine=SAME, lag=8),
    "Lag 8, whole answers, SGD": Knobs(correction=WHOLE, engine=SAME, lag=8, optimizer="SGD", seed=1),
    "Lag 8, four passes": Knobs(engine=SAME, lag=8, passes=4),
}


AMPLIFIES = {  # the spread of nine starts 1e-12 apart
    "Clip around the engine": {
        "Correct answers": 6.0,
        "Mean |log ratio|, last batch": 0.03,
        "Mean effective share": 1.1,
        "Mean share without push": 0.5,
    },
    "Lag 8, four passes": {"Correct answers": 0.04, "Mean |log ratio|, last batch": 0.005},
}


@dataclass(frozen=True)
class Trace:
    at: tuple  # updates after which the pass rate is known, 0 for before training
    right: tuple  # exact, at these
    gap: np.ndarray  # of each update: mean |log ratio| at its first pass, nats a token
    effective: np.ndarray  # effective share of the tokens
    silenced: np.ndarray  # of the tokens with an advantage, the share without a gradient
    largest: float  # weight of a token so far
    spread: float  # standard deviation of a token's log ratio in the last batch
    answers: tuple  # six of the last batch, as they are counted

    @property
    def updates(self):
        return len(self.gap)


def run(k):
    at, right, history, largest = [0], [mismatch.before_training()], [], 0.0
    for update in mismatch.run(TEMPERATURE[k.engine], k.lag, k.correction, k.passes, k.optimizer, k.seed):
        history.append((update.gap, update.effective, update.silenced))
        largest = max(largest, update.largest)
        if update.right is not None:
            at.append(update.number)
            right.append(update.right)
        if update.number == 1 or update.number % SEEN == 0 or update.number == UPDATES:
            own = update.batch.response_mask > 0
            shown = pushes.answers(update.batch, update.weight, pushes.typical(update.batch, update.weight))
            spread = float(update.log_ratio[own].std())
            yield Trace(tuple(at), tuple(right), *np.array(history).T.round(12), largest, spread, tuple(shown))


def progress(k, r):
    return ["update", r.updates, UPDATES]


def seconds(k):
    return 1.0 * k.passes + 0.5


def done(r):
    return r.updates == UPDATES


def final(r):
    return r.right[-1]


# ── the pictures ──
BATCH = "What the last update did with the answers it got"


def figure(k, r):
    x = np.arange(1, r.updates + 1)
    return [
        board(k, r),
        by_update(
            "Correct answers",
            "exact pass rate at temperature 1, 100 sums",
            line(r.at, r.right, "right"),
            line([0, UPDATES], [r.right[0]] * 2, "before training", 8, "reference"),
            label(UPDATES, r.right[0], "before training", 8, "right", below=True),
            threshold(HALF, f"broken if it ends below {HALF:g}", 0.0),
            updates=UPDATES,
            tab="The batch",
        ),
        by_update(
            "What is left of a batch",
            "shares of tokens at the first pass",
            line(x, r.effective, "effective share"),
            line(x, r.silenced, "no push", 2),
            label(UPDATES, 1.14, "effective share of the weights", 1, "right"),
            label(UPDATES, 1.02, "tokens without a push", 2, "right"),
            updates=UPDATES,
            y_range=(0, 1.3),
            tab="Weights",
        ),
        by_update(
            "How far trainer and engine are apart",
            "mean |log ratio| per token at the first pass, nats",
            line(x, r.gap, "apart"),
            updates=UPDATES,
            y_range=(-0.03, 2.0),
            tab="Weights",
        ),
        by_length(k, r),
    ]


def board(k, r):
    break_ = broken(k, r)
    ringed = pushes.hushed(r.answers) if break_ and break_.cause == CENTER else None
    return scene.scene(
        BATCH,
        pushes.WHAT,
        pushes.view("b", f"six answers of batch {r.updates}", r.answers, ringed, SILENCED),
        tab="The batch",
        front=True,
        data=[line(r.at, r.right, "right answers, by update")],
    )


LENGTHS = np.geomspace(1, 32_000, 60)


def by_length(k, r):
    sigma = r.spread if r.spread > 1e-9 else 0.0
    share = off_policy.effective_share(sigma, LENGTHS)
    return panel(
        "Effective share if answers counted as products",
        "of answers with T independent tokens, e^(−σ²T)",
        line(LENGTHS, off_policy.effective_share(0.01, LENGTHS), "0.01 per token", 8, "reference"),
        line(LENGTHS, share, "this run"),
        label(30_000, 0.86, "σ = 0.01", 8, "right"),
        label(1.1, 1.03, f"σ of the last batch: {sigma:.3f} nats per token", 1),
        x="tokens of an answer",
        x_range=(1, 32_000),
        y_range=(0, 1.16),
        log="x",
        tab="Length",
    )


def readouts(k, r):
    state = "violated" if broken(k, r) else ""
    return [
        Readout("Correct answers", 100 * final(r), "of 100", tasks.exact_pass, state),
        Readout("Mean |log ratio|, last batch", r.gap[-1], "nats per token", tinylm.Policy.token_logp),
        Readout("Mean effective share", 100 * r.effective.mean(), "% of tokens", importance.effective_sample_size),
        Readout("Mean share without push", 100 * r.silenced.mean(), "% of tokens", mismatch.first_pass),
        Readout("Largest weight of a token", r.largest, "", mismatch.first_pass),
    ]


def watched(k, r):
    return Gauge(
        f"Correct answers after {UPDATES} updates",
        final(r),
        HALF,
        below=True,
        expression=f"right < {HALF:g} after {UPDATES}",
    )


# ── what went wrong, and because of what ──
CENTER, OLD, LARGE, AGED = (
    "a clip around another policy",
    "old answers, used as new",
    "one weight too large",
    "too old for its weights",
)
SILENCED = "wanted or not: no push left"


def aged(k):
    return k.lag > 0 or k.passes > 1


def too_late(k):
    """Whether a clip is not the only harm, but age too: a weight alone mends late answers in one pass, and in four with
    SGD, but not in four with AdamW.
    """
    return k.lag > 0 and k.passes > 1 and k.optimizer == "AdamW"


def cause(k):
    if k.correction == NONE:
        return OLD
    # around a colder engine four passes do no harm under the clip alone, but with late answers they do
    if k.correction == CLIP and k.engine != SAME and not (k.engine == COLD and too_late(k)):
        return CENTER
    if k.correction in (CLIP, WHOLE) and k.optimizer == "SGD":
        return LARGE
    return AGED


def undone(k):
    """A setting without this cause."""
    if cause(k) == OLD and k.lag:
        return dict(correction=BAD)
    if cause(k) in (OLD, LARGE):
        return dict(correction=CUT)
    if cause(k) == CENTER:
        return dict(correction=CUT) | (dict(lag=0) if too_late(k) else {})
    return dict(lag=0, passes=1)


def broken(k, r):
    if not done(r) or final(r) >= HALF:
        return None
    return Break(why(k, r), recovery.different(k, undone(k)), cause(k))


def why(k, r):
    ends = f"{of_100(final(r))} answers are correct, {sums.count(r.right[0])} before training"
    claims = {"undoing it mends": lambda: final(end(run, replace(k, **undone(k)))) >= HALF}
    blamed = cause(k)
    if blamed == CENTER:
        late = ", and answers are late" if too_late(k) else ""
        return Said(
            f"{ends}. The clip around the engine silences {100 * r.silenced[0]:.0f} % of the tokens that should move "
            f"in batch 1{late}.",
            claims | {"before any step": lambda: r.silenced[0] > 0},
        )
    if blamed == OLD:
        return Said(
            f"{ends}, because each answer counts as if the present policy had sampled it.",
            claims | {"all count alike": lambda: r.largest == 1 and r.effective.min() > 0.999},
        )
    if blamed == LARGE:
        return Said(
            f"{ends}, because one token weighs {r.largest:,.0f} times as much as a fresh one.",
            claims | {"so large": lambda: r.largest > 3},
        )
    return Said(
        f"{ends}. {age(k)}, and this correction does not make up for that.",
        claims | {"there is a weight": lambda: k.correction != NONE, "it is old": lambda: aged(k)},
    )


def age(k):
    late = f"{k.lag} updates late" if k.lag else ""
    again = f"used {k.passes} times" if k.passes > 1 else ""
    return f"The answers are {' and '.join(filter(None, (late, again)))}"


def seen_at(k, r, cause):
    if cause == CENTER and pushes.hushed(r.answers):
        return At(BATCH, None, None, SILENCED)
    return At("Correct answers", None, None, f"{of_100(final(r))} correct", "right")


def worse(k, r):
    if not done(r) or final(r) >= WELL:
        return None
    fresh = replace(k, correction=CUT, engine=SAME, lag=0, passes=1)
    return Said(
        f"{of_100(final(r))} answers are correct: fewer than if the trainer’s own policy had sampled fresh answers.",
        {
            "it learns": lambda: final(r) > r.right[0] + 0.1,
            "those teach more": lambda: final(end(run, fresh)) > final(r) + 0.01,
        },
    )


def holds(k, r):
    ends = f"{of_100(final(r))} answers are correct after update {r.at[-1]}, {sums.count(r.right[0])} before training"
    if not done(r):
        return Said(f"{ends}.", {})
    silent = 100 * r.silenced.mean()
    return Said(
        f"{ends}. {'No' if silent == 0 else f'{silent:.1f} % of the'} tokens that should move got no push.",
        {
            "it learns": lambda: final(r) > r.right[0] + 0.3,
            "only a mask or a clip silences": lambda: (
                silent == 0 or "mask" in k.correction or k.correction in (MEAN, CLIP, DECOUPLED)
            ),
        },
    )


def of_100(share):
    return f"{sums.count(share)} of 100"


def methods(k, r):
    """A weight without a clip; only where a way has the clip is there one."""
    way, more = k.correction, {}
    if way != DECOUPLED:
        more = dict(surrogate=None) if way == CLIP else dict(surrogate=None, clip=None, dual_clip=None)
        way += options.EACH_PASS if k.passes > 1 and way != CLIP else ""
    batch = dict(samples=8, prompts=16)
    return {"GRPO": options.setting(grpo, dict(inner_epochs=k.passes, beta=0.0), **batch, **more, correction=way)}


GUESS = Guess(
    "The engine samples at temperature 1.5, the trainer uses 1. How many answers are correct without any correction?",
    ("about 20 of 100", "about 50", "about 93"),
    Knobs(correction=NONE),
    2,
    lambda k, r: f"{of_100(final(r))}, because nothing was silenced.",
    "Correct answers",
)
DARE = "Can you make fewer than half of the answers correct?"
OPENING = Played(Knobs(), Knobs(correction=CLIP), "opening")
