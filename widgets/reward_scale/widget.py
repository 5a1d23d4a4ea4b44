"""One batch paid by a checker and by a reward model, what each completion's push becomes by what the rewards are
divided by, and what a hundred updates of such batches make of both halves of the sums.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from rlpt import options
from sim.algorithms import dr_grpo
from sim.estimators import normalizers
from sim.experiments import after_sft, mixed_rewards
from sim.experiments.mixed_rewards import CHECKER, GROUPS, MODEL, K
from sim.worlds import tasks
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import scene, trays
from widgets.frame.drawing.marks import by_update, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Played

TITLE = "What a hundred batches with two sources of reward teach"
UPDATES, EVERY = 100, 5  # updates between two pictures
COST = f"{UPDATES * GROUPS * K:,} completions per run"
START = float(after_sft.start())  # share of the sums that are right before training
LOW = 0.45  # right at the end: below, most of what training gives is gone
# what a default run ends with by each optimizer, and how far below it a half is starved: twenty seeds differ by less
USUAL, STARVED, BEHIND = {"AdamW": 0.91, "SGD": 0.69}, 0.12, 0.06
APART = 0.08  # the model's half above the checker's
AS_IT_SHOULD = "as it should"
PARTS = dict(zip(("none", "group", "batch", "source"), (normalizers.NONE, *normalizers.PARTS)))
SAID = {"none": "nothing", "group": "its group's standard deviation", "batch": "the batch's standard deviation"}
SAID |= {"source": "its source's standard deviation"}


@dataclass(frozen=True)
class Knobs:
    outlier: str = choice("Reward of one answer", AS_IT_SHOULD, [AS_IT_SHOULD, "3", "10", "30", "100"])
    over: str = choice("Divisor: standard deviation of", "batch", ["none", "group", "batch", "source"])
    limit: str = choice("Clip of the rewards", "off", ["off", "10", "1"], symbol="±")
    scale: float = ladder("Reward model's scale", 1.0, [1.0, 3.0, 10.0, 30.0])
    noise: float = ladder("Reward model's relative noise", 0.0, [0.0, 0.5, 1.0])
    c: float = ladder("Factor on all rewards", 1.0, [0.01, 0.1, 1.0, 10.0, 100.0], symbol="c")
    price: float = ladder("KL coefficient, in the reward", 0.0, [0.0, 0.0004, 0.04], symbol="β")
    optimizer: str = choice("Optimizer", "AdamW", ["AdamW", "SGD"])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("outlier", "over")
KNOB_GROUPS = {
    "The rewards": ("scale", "noise", "c"),
    "Before the division": ("limit", "price"),
    "The run": ("optimizer", "seed"),
}
PRESETS = {
    "Batch's standard deviation": Knobs(),
    "One reward of 100": Knobs(outlier="100"),
    "Reward of 100, clipped at 1": Knobs(outlier="100", limit="1"),
    "Reward model on a scale of 30": Knobs(scale=30.0),
    "Scale 30, divided by source": Knobs(scale=30.0, over="source"),
    "Rewards times 0.01, KL penalty": Knobs(c=0.01, price=0.04),
}


@dataclass(frozen=True)
class Trace:
    updates: int
    at: np.ndarray  # (n,) updates after which `right` was computed, from 0
    right: np.ndarray  # (n, 2) exact, of the checker's and of the model's sums
    share: np.ndarray  # (updates,) of the squared advantage, the checker's
    wanted: np.ndarray  # (updates,) mean advantage of a right answer
    last: mixed_rewards.Update


def run(k):
    task = mixed_rewards.MixedAdd(k.scale, k.noise, paid(k), k.c, k.seed)
    limit = np.inf if k.limit == "off" else float(k.limit)
    training = mixed_rewards.run(
        PARTS[k.over],
        task,
        mixed_rewards.optimizer(k.optimizer),
        limit=limit,
        price=k.price,
        seed=k.seed,
        updates=UPDATES,
        every=EVERY,
    )
    at, right = [0], [mixed_rewards.halves(tasks.exact_pass(tasks.checkpoint("add")))]
    share, wanted = [], []
    for update in training:
        share.append(update.shares[CHECKER])
        wanted.append(update.wanted)
        if update.right is not None:
            at.append(update.step)
            right.append(update.right)
            yield Trace(update.step, *map(np.array, (at, right, share, wanted)), update)


def paid(k):
    return None if k.outlier == AS_IT_SHOULD else float(k.outlier)


def progress(k, r):
    return ["update", r.updates, UPDATES]


def idle(k):
    largest = k.c * max(1.0, k.scale, paid(k) or 0.0)
    beyond = k.noise > 0 or (k.limit != "off" and largest > float(k.limit)) or (k.limit == "off" and largest > 1)
    return {} if beyond else dict(limit="no reward is beyond it")


def figure(k, r):
    x = np.arange(1, r.updates + 1)
    p = np.linspace(0.01, 0.99, 99)
    return [
        board(k, r),
        by_update(
            RIGHT,
            "share of the hundred sums, exact",
            line(r.at, r.right.mean(axis=1), "all sums", 1),
            line(r.at, r.right[:, CHECKER], "graded by the checker", 2),
            line(r.at, r.right[:, MODEL], "graded by the model", 3),
            line([0, UPDATES], [START] * 2, "before training", 8, "reference"),
            label(UPDATES, START - 0.01, "before training", 8, "right", below=True),
            label(UPDATES, 0.02, "dashed: checker's half, dotted: model's half", 0, "right"),
            threshold(LOW, "lost, if all end below", 0.0, outside=True),
            updates=UPDATES,
            tab="Training",
            front=True,
        ),
        by_update(
            "Share of the squared advantage",
            "the checker's half of each batch, logarithmic",
            line(x, np.maximum(r.share, 1e-5), "checker's share", 2),
            line([0, UPDATES], [0.5] * 2, "half", 8, "reference"),
            label(UPDATES, 0.5, "half", 8, "right"),
            updates=UPDATES,
            y_range=(1e-5, 2),
            log="y",
            tab="Whose gradient",
        ),
        by_update(
            "Advantage of a correct answer",
            "mean of a batch's correct answers",
            line(x, r.wanted, "correct answers", 1),
            line([0, UPDATES], [0, 0], "no push", 8, "reference"),
            label(UPDATES, 0, "no push", 8, "right"),
            updates=UPDATES,
            y_range=(-1.0, 2.5),
            tab="Whose gradient",
        ),
        panel(
            "Weight of a prompt",
            "mean push over the true gradient, exact; 1 at a pass rate of 0.5",
            *(
                line(p, weight(part, p), f"divided by {SAID[part]}", 8, "reference")
                for part in ("group", "batch")
                if part != k.over
            ),
            line(p, weight(k.over, p), f"divided by {SAID[k.over]}", 1),
            label(0.5, 2.2, f"divided by {SAID[k.over]}", 1, "center"),
            x="pass rate of the prompt",
            x_range=(0, 1),
            y_range=(0, 3),
            tab="A prompt",
        ),
    ]


RIGHT = "Correct answers"


def weight(part, p):
    """Relative to a prompt that is right one time in two."""
    return normalizers.prompt_weight(p, K, PARTS[part]) / normalizers.prompt_weight(0.5, K, PARTS[part])


def board(k, r):
    """The last batch, in trays."""
    batch, loud = r.last.batch, r.last.loud
    A, right = of_groups(batch.advantage[:, 0]), of_groups(batch.accuracy)
    prompts = trays.sums(batch.example[::K])
    many = int(right.sum())
    words = f"their mean advantage is {trays.pushed(r.wanted[-1])}"
    return scene.scene(
        "The batch of this update",
        trays.WHAT,
        trays.view(
            "b",
            f"{many} of {right.size} completions are correct, and {words}.",
            trays.by_source(GROUPS),
            prompts,
            A,
            right,
            None if loud is None else (loud, f"reward {k.outlier}"),
            [f"{many} of {right.size} correct, {words}"],
        ),
        tab="Training",
        data=[line(np.arange(A.size), A.ravel(), "advantage")],
    )


def of_groups(values):
    return np.asarray(values).reshape(-1, K)


def readouts(k, r):
    all_right, (of_checker, of_model) = final(r), r.right[-1]
    state = "violated" if broken(k, r) else ""
    return [
        Readout("Pass rate, all sums", all_right, "", tasks.exact_pass, state),
        Readout("Pass rate, checker's half", of_checker, "", mixed_rewards.halves),
        Readout("Pass rate, model's half", of_model, "", mixed_rewards.halves),
        Readout("Advantage of a correct answer", r.wanted[-1], "", normalizers.normalized),
        Readout("Checker's share of squared advantage", 100 * r.share[-1], "%", normalizers.shares),
    ]


def final(r):
    return float(r.right[-1].mean())


def done(r):
    return r.updates == UPDATES


def watched(k, r):
    return Gauge("Pass rate, all sums", final(r), LOW, below=True, expression=f"right[-1] < {LOW}")


# ── what went wrong, and because of what ──
ONE, SCALE, PRICE, STEP = (
    "one reward that dominates the batch",
    "a source that takes the gradient",
    "a KL penalty above the reward",
    "a scale that sets the step",
)


# ratios of pay from which each does harm, below what the knobs reach: seen at 10 and 0.4 over the twenty seeds of
# lesson 14a, at 3 over four
LOUD, APART_IN_PAY, DEAR = 5.0, 2.0, 0.2


def pays(k):
    """(pay of a right answer by the checker, by the model, of the one loud answer), as divided."""
    limit = np.inf if k.limit == "off" else float(k.limit)
    return tuple(min(k.c * pay, limit) for pay in (1.0, k.scale, paid(k) or 0.0))


def faults(k):
    """{cause: (the knobs without it, its words)} of all that does harm at this setting; each source's own deviation
    mends two of them, so it comes last.
    """
    harmful = {}
    of_checker, of_model, loud = pays(k)
    if k.over != "group" and loud >= LOUD * of_model:
        harmful[ONE] = (dict(outlier=AS_IT_SHOULD), f"one reward is {loud / of_checker:g} times too large")
    if k.optimizer == "SGD" and k.over == "none" and (of_checker < 1 or max(of_model, loud) > 1):
        harmful[STEP] = (dict(over="batch"), "rewards set SGD’s step")
    if k.over in ("none", "batch") and of_model >= APART_IN_PAY * of_checker:
        harmful[SCALE] = (dict(over="source"), f"the model pays {of_model / of_checker:g} times as much")
    if k.price >= DEAR * of_checker:
        harmful[PRICE] = (dict(price=0.0), f"a nat costs {k.price / of_checker:g} correct answers")
    return harmful


def damaged(r, k):
    """Most of the sums are lost, or the checker's half is left behind."""
    of_checker, of_model = r.right[-1]
    starved = of_checker < USUAL[k.optimizer] - STARVED and of_model > of_checker + APART
    return done(r) and (final(r) < LOW or starved)


def broken(k, r):
    harmful = faults(k)
    if not damaged(r, k) or not harmful:
        return None
    if SCALE in harmful and final(r) >= LOW:  # the checker's half alone is behind: no step is too large
        harmful = {cause: fault for cause, fault in harmful.items() if cause != STEP}
    return Break(why(k, r, harmful), way_back(k, harmful), first(k, r, harmful))


def first(k, r, harmful):
    """The cause that is named: where only the checker's half is behind, the scale."""
    if SCALE in harmful and final(r) >= LOW:
        return SCALE
    return next(cause for cause in (STEP, PRICE, ONE, SCALE) if cause in harmful)


def why(k, r, harmful):
    ends, push, (of_checker, _, loud) = f"The pass rate ends at {final(r):.2f}", trays.pushed(wanted(r)), pays(k)
    claims = {"without it more": lambda: worse_by(r, without(k, harmful)) > 0.05}
    if len(harmful) > 1:
        listed = ", ".join(words for _, words in harmful.values())
        of_each = {f"harm by: {cause}": partial(harms, k, r, harmful, cause) for cause in harmful}
        return Said(f"The pass rate ends at {final(r):.2f}: {listed}.", claims | of_each)
    sentences = {
        ONE: f"{ends}. One reward in 128 is {loud / of_checker:g} times too large, which leaves correct answers a mean "
        f"advantage of {push}.",
        SCALE: f"The checker's half ends at {r.right[-1, CHECKER]:.2f} and the model's at {r.right[-1, MODEL]:.2f}. "
        f"The checker has only {100 * np.nanmean(r.share):.1f} % of the squared advantage.",
        PRICE: f"{ends}, compared with {START:.2f} before training. A nat of KL costs as much as "
        f"{k.price / of_checker:g} correct answers.",
        STEP: f"{ends}. Nothing divides the rewards, so their scale sets the length of SGD's steps.",
    }
    (cause,) = harmful
    return Said(sentences[cause], claims)


def without(k, harmful):
    return replace(k, **{name: value for knobs, _ in harmful.values() for name, value in knobs.items()})


def worse_by(r, knobs):
    """How much more of the sums, or of the checker's half, ends right at other knobs."""
    better = end(run, knobs)
    return max(final(better) - final(r), better.right[-1, CHECKER] - r.right[-1, CHECKER])


def harms(k, r, harmful, cause):
    """Whether one of several faults does harm: undone it mends something, or it does harm alone."""
    alone = {other: fault for other, fault in harmful.items() if other != cause}
    return worse_by(r, without(k, {cause: harmful[cause]})) > 0.02 or (
        worse_by(end(run, without(k, alone)), without(k, harmful)) > 0.02
    )


def wanted(r):
    return float(np.nanmean(r.wanted))


def way_back(k, harmful):
    """A remedy where there is one; for several faults at once, what mends each of them."""
    turned = {}
    if PRICE in harmful:
        turned["c"] = 1.0
    if STEP in harmful:
        turned["over"] = "batch"
    if SCALE in harmful:
        turned["over"] = "source"
    if ONE in harmful:
        turned |= dict(limit="1") if replace(k, **turned).c >= 1 else dict(over="group")  # below 1 it cuts too little
    return recovery.different(k, turned)


def seen_at(k, r, cause):
    if cause == SCALE:
        return At(RIGHT, None, None, "the checker's end at {y:.2f}", "graded by the checker")
    return At(RIGHT, None, None, "{y:.2f} at the end", "all sums")


def worse(k, r):
    usual = USUAL[k.optimizer]
    if not done(r) or final(r) >= usual - BEHIND:
        return None
    return Said(
        f"The pass rate ends at {final(r):.2f}, compared with {START:.2f} before training and about {usual:g} at the "
        "default settings.",
        {
            "the default does better": lambda: usually(k) > final(r) + 0.01,
            "it ends near what is said": lambda: abs(usually(k) - usual) < 0.05,
        },
    )


def usually(k):
    """Where the default ends with this optimizer and seed."""
    return final(end(run, Knobs(seed=k.seed, optimizer=k.optimizer)))


def holds(k, r):
    of_checker, of_model = r.right[-1]
    return Said(
        f"{final(r):.2f} of the sums are correct after {r.updates} updates: {of_checker:.2f} of the checker's half and "
        f"{of_model:.2f} of the model's half.",
        {
            "a mean of two halves": lambda: abs(of_checker + of_model - 2 * final(r)) < 1e-9,
            "more than before": lambda: not done(r) or final(r) > START,
        },
    )


def methods(k, r):
    names = {"none": "minus the mean", "group": "z-score", "batch": "over the batch's deviation"}
    if k.over not in names:
        return {}
    priced = dict(kl="in the reward", beta=k.price) if k.price else {}
    more = dict(estimator=names[k.over], samples=K, prompts=GROUPS)
    return {"The setting above": options.setting(dr_grpo, dict(inner_epochs=1), **more, **priced)}


GUESS = Guess(
    "One answer in 128 gets a reward of 100, the others 1 or 0. The pass rate starts at 0.33. Where does it end?",
    ("about 0.9", "about 0.6", "below 0.2"),
    Knobs(outlier="100"),
    2,
    lambda k, r: f"It ends at {final(r):.2f}. Correct answers had a mean advantage of {trays.pushed(wanted(r))}.",
    "Pass rate, all sums",
)
DARE = "Can you make the model unlearn its sums?"
OPENING = Played(Knobs(), Knobs(outlier="100"), "opening")
