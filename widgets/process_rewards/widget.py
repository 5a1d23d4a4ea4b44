"""A scorer of steps, trained on labels that endings give: which labels find the first error. And a policy that is paid
by assumed scores of its steps: which form of payment finishes the work. The two are not joined.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.estimators import step_labels
from sim.estimators.step_labels import AGREE, ANY, MORE, PEOPLE, PERSON, RULES, SHARE
from sim.experiments import step_rewards, step_scorer
from sim.experiments.step_rewards import FORMS, MIN, NEED, PROGRESS, SUM, UPDATES, H
from sim.worlds import step_chain
from sim.worlds.optimizer import SGD, AdamW
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import scene
from widgets.frame.drawing.marks import by_update, dots, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Played
from widgets.frame.drawing.written import figures
from widgets.process_rewards import step_rows

TITLE = "Labels train a scorer of steps, and step rewards train a policy"
COST = f"{UPDATES} updates of 64 chains; a scorer trained on 2,000 chains"
EVERY = 20  # updates between two pictures
LOST, NONE = 0.45, 0.05  # F1 and share solved below which a run is broken
POOR, SHORT_OF = 0.6, 0.9  # and below which the outcome is clearly worse
LONG = 1.4 * NEED  # steps of a chain, from which they are clearly more than it needs
FEW = 2.0  # steps: a chain of fewer has stopped before it began
SEEN_AS_NONE = 0.001  # a smaller share of the chains is not written as a number
RATES = np.arange(1, 17)
AT = 3  # the step whose labels the picture shows
BEST, HALF = "best", "½"


@dataclass(frozen=True)
class Knobs:
    form: str = choice("Reward of a step", PROGRESS, list(FORMS))
    K: int = ladder("Completions per step", 2, [1, 2, 4, 8, 16], symbol="K")
    rule: str = choice("Rule for good steps", ANY, list(RULES))
    part: float = ladder("Part that must be correct", 0.25, [0.25, 0.5])
    rescue: float = ladder("Flawed steps rescued", 0.05, [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3])
    threshold: str = choice("Threshold of the scorer", BEST, [BEST, HALF])
    less: float = ladder("Subtracted from each step", 0.0, [0.0, 0.5, 0.8, 0.9, 0.95, 1.0, 1.2])
    filler: float = ladder("Score of filler", 0.95, [0.0, 0.5, 0.8, 0.95])
    optimizer: str = choice("Optimizer", "AdamW", ["AdamW", "SGD"])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("form", "K")
KNOB_GROUPS = {
    "Labels of steps": ("rule", "part", "rescue", "threshold"),
    "Rewards of steps": ("less", "filler", "optimizer"),
    "The run": ("seed",),
}
PRESETS = {
    "Progress, two completions": Knobs(),
    "Scores, added up": Knobs(form=SUM),
    "1.2 off each step": Knobs(form=SUM, less=1.2),
    "Any of 16": Knobs(K=16),
    "More than a quarter of 16": Knobs(K=16, rule=MORE),
    "Share, read at ½": Knobs(K=16, rule=SHARE, threshold=HALF),
}


@dataclass(frozen=True)
class Trace:
    scorer: step_scorer.Scorer
    at: tuple  # updates of which a picture was taken, from 0 on
    solved: tuple  # exact, at these
    steps: tuple  # exact mean of a chain, at these
    rewards: np.ndarray  # of each batch so far: mean of a chain
    batch: step_rewards.Batch  # the last
    rows: tuple  # of it, in the picture

    @property
    def reward(self):
        """Mean over the last batches; before training of the first."""
        return float(self.rewards[-EVERY:].mean()) if self.at[-1] else self.start

    @property
    def start(self):
        return float(self.rewards[0])


def optimizer(k):
    return AdamW(0.05, clip=1.0) if k.optimizer == "AdamW" else SGD(0.3)


def scorer(k):
    return step_scorer.run(k.rule, k.K, k.part, k.rescue, seed=k.seed)


def run(k):
    judged = scorer(k)
    at, solved, steps, rewards = [], [], [], []
    for update in step_rewards.train(k.form, np.random.default_rng(k.seed), optimizer(k), k.filler, k.less):
        rewards.append(update.reward)
        if update.number % EVERY == 0:
            right, length = step_rewards.outlook(update.logits)
            at.append(update.number)
            solved.append(right)
            steps.append(length)
            rows = tuple(step_rows.typical(update.batch, right))
            yield Trace(judged, tuple(at), tuple(solved), tuple(steps), np.array(rewards), update.batch, rows)


def progress(k, r):
    return ["update", r.at[-1], UPDATES]


def done(r):
    return r.at[-1] == UPDATES


def in_force(k, r):
    """The scorer's first errors at the threshold that is set."""
    return r.scorer.at(r.scorer.best if k.threshold == BEST else step_scorer.HALF)


def at_best(r):
    return r.scorer.at(r.scorer.best).F1


def idle(k):
    reasons = {} if k.form in (SUM, MIN) else dict(filler="only if scores are rewarded")
    reasons |= {} if k.form == SUM else dict(less="only if scores are added up")
    reasons |= {} if k.rule == MORE else dict(part="only with more than a part")
    return reasons | (dict(K="a person writes none") if k.rule == PEOPLE else {})


# ── the pictures ──
CHAINS, FOUND = "Eight of the 64 chains of a batch", "First errors found, by threshold"
FIRST_TAB = "Chains, scorer"


def figure(k, r):
    V = step_chain.chain_values(rescue=k.rescue)[AT]
    good, bad = rates(k, V[1]), rates(k, V[0], flawed=True)
    cut = in_force(k, r)
    curve = [r.scorer.at(at).F1 for at in CUTS]
    ringed, words = ring(k, r)
    return [
        scene.scene(
            CHAINS,
            step_rows.LEGEND,
            step_rows.view("b", f"update {r.at[-1]} of {UPDATES}", r.batch, list(r.rows), ringed, words),
            tab=FIRST_TAB,
            front=True,
            data=[line(r.at, r.steps, "steps per chain, by update")],
        ),
        panel(
            FOUND,
            f"F1 of a scorer; broken if its best is below {LOST:g}",
            line(CUTS, curve, "F1", 1),
            dots([cut.threshold], [cut.F1], "the threshold", 1, "here"),
            threshold(LOST, "", 0.0),
            x="a step is called flawed if it scores below",
            x_range=(0, 1),
            y_range=(0, 1),
            tab=FIRST_TAB,
        ),
        panel(
            f"Labels of step {AT}",
            f"{'mean label' if k.rule == SHARE else 'probability of being called good'}; {flawed(k)}: "
            f"{100 * r.scorer.false_positives:.0f} % called good",
            line(RATES, good, "a sound step"),
            line(RATES, bad, "a flawed step", 2),
            dots([k.K], [good[k.K - 1]], "a sound step", 1, "here"),
            dots([k.K], [bad[k.K - 1]], "a flawed step", 2, "here"),
            label(16, 1.26, "solid: a sound step", 1, "right"),
            label(16, 1.1, "dashed: a flawed step", 2, "right"),
            x="completions per step, K",
            x_range=(0.5, 16.5),
            y_range=(0, 1.42),
            tab="The labels",
        ),
        by_update(
            "Chains solved",
            "share of all chains, exact",
            line(r.at, r.solved, "solved"),
            dots(r.at[-1:], r.solved[-1:], "solved"),
            threshold(NONE, "hardly any", 0.0),
            updates=UPDATES,
            tab="By update",
        ),
        by_update(
            "Reward per chain",
            "mean of a batch of 64 chains",
            line(np.arange(len(r.rewards)), r.rewards, "reward", 3),
            updates=UPDATES,
            y_range=(-6, 13),
            tab="By update",
        ),
    ]


def ring(k, r):
    """(the row that is ringed or None, its words) where chains are what is broken."""
    break_ = broken(k, r)
    if break_ and break_.cause == PADDED:
        return step_rows.endless(r.batch, list(r.rows)), NO_STOP
    if break_ and break_.cause == QUITS:
        return 0, TOO_SOON
    return None, NO_STOP


CUTS = np.arange(0.02, 0.985, 0.04).round(2)


def rates(k, p, flawed=False):
    """(16,) how often a step with this chance of a right ending is called good, by K endings; a share's mean."""
    if k.rule == MORE:
        return np.array([step_labels.more_than_rate(p, int(K), k.part) for K in RATES])
    person = PERSON if flawed else 1 - PERSON
    if k.rule == SHARE:
        return np.full(len(RATES), p)
    if k.rule == PEOPLE:
        return np.full(len(RATES), person)
    called = step_labels.any_rates(p, RATES)
    if k.rule == AGREE:
        return called * person / (called * person + (1 - called) * (1 - person))
    return called


def readouts(k, r):
    break_ = broken(k, r)
    cause = break_.cause if break_ else ""
    cut = in_force(k, r)
    return [
        Readout("Chains solved", share(r), "%", step_rewards.outlook, "violated" if cause in UNPAID else ""),
        Readout("Steps per chain", r.steps[-1], "", step_rewards.outlook),
        Readout("Reward per chain", r.reward, "", step_rewards.credit),
        Readout("F1 of first errors", cut.F1, "", step_scorer.first_errors, "violated" if cause in MISLABELLED else ""),
        Readout("Called good (sound, flawed steps)", labelled(r), "%", step_labels.labels),
    ]


def flawed(k):
    """What the share of flawed steps that are called good is of."""
    return "kept flawed steps" if k.rule == AGREE else "all flawed steps"


def labelled(r):
    return f"{100 * r.scorer.true_positives:.0f}, {100 * r.scorer.false_positives:.0f}"


def watched(k, r):
    """F1 where the sentence is about it: where the chains are solved, and it is below what a run may have."""
    if solves(r) and min(at_best(r), in_force(k, r).F1) < POOR:
        return Gauge("F1 at its best threshold", at_best(r), LOST, below=True, expression=f"best F1 < {LOST:g}")
    solved = round(r.solved[-1], 3)
    return Gauge("Share of chains solved", solved, NONE, below=True, expression=f"solved < {NONE:g} after {UPDATES}")


def solves(r):
    """Whether the chains are solved as they should be, in hardly more steps than they need."""
    return r.solved[-1] >= SHORT_OF and r.steps[-1] <= LONG


# ── what went wrong, and because of what ──
PADDED, QUITS = "a reward for every step", "a cost for every tried step"
RESCUED, FEW_ASKED = "lucky endings that count as proof", "a rule that asks too little"
DROPPED = "agreement that drops early errors"
UNPAID, MISLABELLED = (PADDED, QUITS), (RESCUED, FEW_ASKED, DROPPED)
BY_RULE = {  # what a rule has wrong where its scorer finds hardly a first error, and what undoes that
    ANY: (RESCUED, dict(rule=SHARE)),
    MORE: (FEW_ASKED, dict(part=0.5)),
    AGREE: (DROPPED, dict(rule=PEOPLE)),
}
NO_STOP, TOO_SOON = "no stop", "stops too soon"


def cause(k, r):
    if not done(r):
        return None
    if r.solved[-1] < NONE:
        return QUITS if r.steps[-1] < FEW else PADDED
    return BY_RULE[k.rule][0] if at_best(r) < LOST else None


def broken(k, r):
    name = cause(k, r)
    if not name:
        return None
    undone = (dict(form=PROGRESS) if name in UNPAID else {}) | (BY_RULE[k.rule][1] if at_best(r) < LOST else {})
    return Break(why(k, r, name), recovery.different(k, undone), name)


def why(k, r, name):
    if name in MISLABELLED:
        return mislabelled(k, r, name)
    mends = {
        "paid by progress it is solved": lambda: end(run, replace(k, form=PROGRESS)).solved[-1] > 0.9,
        "so few": lambda: abs(step_rewards.outlook(final_logits(k))[0] - r.solved[-1]) < 1e-12,
    }
    if name == QUITS and k.form == MIN:
        return Said(
            f"After {UPDATES} updates, {percent(r)} of chains are solved, in {r.steps[-1]:.1f} steps. A chain without "
            "steps gets 1, and trying a filler loses it.",
            mends
            | {
                "an empty chain is paid 1": lambda: abs(r.reward - 1) < 0.1,
                "filler that is scored higher mends it": lambda: end(run, replace(k, filler=0.95)).solved[-1] > 0.9,
            },
        )
    if name == QUITS:
        low, step = min((step_rewards.RATED, "a piece of work"), (k.filler, "a filler"))
        cost = k.less - low
        return Said(
            f"After {UPDATES} updates, {percent(r)} of chains are solved, in {r.steps[-1]:.1f} steps. Trying {step} "
            f"costs {cost:.2f} at once, and the 1 comes only at the end.",
            mends
            | {
                "it costs that": lambda: abs(k.less - cost - min(k.filler, step_rewards.RATED)) < 1e-9,
                "it costs something": lambda: cost > 0,
            },
        )
    step = "A filler step" if k.filler > step_rewards.RATED else "A step that does no work"
    return Said(
        f"The reward rose from {tenths(r.start)} to {tenths(r.reward)}, but {percent(r)} of chains are solved. {step} "
        "earns a reward too, so chains do not stop.",
        mends
        | {
            "filler pays": lambda: max(k.filler, step_rewards.RATED) > k.less,
            "the reward is twice the start's": lambda: r.reward > 2 * r.start,
            "chains do not stop": lambda: r.steps[-1] > H - 1,
        },
    )


def mislabelled(k, r, name):
    good, ends = f"{100 * r.scorer.false_positives:.0f} %", f"At its best threshold, F1 is {at_best(r):.2f}."
    claims = {
        "without rescue it finds more": lambda: best_of(replace(k, rescue=0.0)) > at_best(r) + 0.1,
        "what is turned back mends it": lambda: best_of(replace(k, **BY_RULE[k.rule][1])) > at_best(r) + 0.1,
    }
    if name == DROPPED:
        return Said(f"{ends} {dropped(r)}.", claims | early_first(k, r))
    claims["more than people do"] = lambda: r.scorer.false_positives > 2 * PERSON
    if name == FEW_ASKED:
        return Said(
            f"{ends} {good} of {flawed(k)} are called good, because rescues make more than {k.part:g} of their endings "
            "correct.",
            claims,
        )
    return Said(f"{ends} {good} of {flawed(k)} are called good, because an ending from them was rescued.", claims)


def dropped(r):
    """Of the labels of flawed steps, how many are lost where endings and the person have to agree."""
    return (
        f"{100 * (1 - r.scorer.kept_flawed):.0f} % of flawed steps lose their label, early ones first, because a "
        "rescued ending contradicts the person"
    )


def early_first(k, r):
    good = step_labels.any_rates(step_chain.chain_values(rescue=k.rescue)[1:, 0], k.K)
    return {
        "early ones first": lambda: (np.diff(good) < 0).all(),
        "and most of the early ones": lambda: ((1 - PERSON) * good + PERSON * (1 - good))[0] > 0.5,
        "a person alone finds more": lambda: best_of(replace(k, rule=PEOPLE)) > at_best(r) + 0.1,
    }


def tenths(value):
    return f"{round(value, 1) + 0:.1f}".replace("-", "−")


def final_logits(k):
    *_, last = step_rewards.train(k.form, np.random.default_rng(k.seed), optimizer(k), k.filler, k.less)
    return last.logits


def best_of(k):
    """F1 at the best threshold, at other knobs."""
    elsewhere = scorer(k)
    return elsewhere.at(elsewhere.best).F1


def seen_at(k, r, cause):
    if cause in MISLABELLED:
        cut = r.scorer.best
        return At(FOUND, cut, at_best(r), f"F1 is {at_best(r):.2f} at best", "F1")
    if cause == PADDED:
        return At(CHAINS, None, None, NO_STOP)
    return At(CHAINS, None, None, TOO_SOON)


def worse(k, r):
    if not done(r):
        return None
    if not solves(r):
        return Said(
            f"{percent(r)} of the chains are solved, in {r.steps[-1]:.1f} steps. With a reward for progress it is "
            "about 99 %.",
            {
                "progress solves more, or in fewer steps": lambda: better(end(run, replace(k, form=PROGRESS)), r),
                "by default it does": lambda: abs(end(run, Knobs(seed=k.seed)).solved[-1] - 0.99) < 0.02,
            },
        )
    cut = in_force(k, r)
    if cut.F1 < POOR and at_best(r) > cut.F1 + 0.05:
        return Said(
            f"F1 is {cut.F1:.2f}, because the scorer is read at {cut.threshold:g}, which does not suit its labels. At "
            f"{r.scorer.best:.2f} it is {at_best(r):.2f}.",
            {"another threshold finds more": lambda: max(r.scorer.at(at).F1 for at in CUTS) > cut.F1 + 0.04},
        )
    if cut.F1 < POOR and k.rule == AGREE:
        return Said(f"F1 is {cut.F1:.2f}. {dropped(r)}.", early_first(k, r))
    if cut.F1 < POOR:
        return Said(
            f"F1 is {cut.F1:.2f}, because {100 * r.scorer.false_positives:.0f} % of {flawed(k)} are called good.",
            {"the share of the same endings finds more": lambda: best_of(replace(k, rule=SHARE)) > cut.F1 + 0.05},
        )
    return None


def better(other, r):
    return other.solved[-1] > r.solved[-1] + 0.01 or other.steps[-1] < r.steps[-1] - 0.3


def holds(k, r):
    cut = in_force(k, r)
    if not done(r):
        return Said(f"{percent(r)} of the chains are solved after {r.at[-1]} updates.", {})
    return Said(
        f"{percent(r)} of chains are solved, in {r.steps[-1]:.1f} steps. The scorer names {100 * cut.found:.0f} % of "
        f"first errors and passes {100 * cut.passed:.0f} % of clean chains.",
        {
            "F1 is the harmonic mean of both": lambda: (
                abs(2 / (1 / cut.found + 1 / cut.passed) - in_force(k, r).F1) < 1e-9
            ),
            "it is solved": lambda: abs(step_rewards.outlook(final_logits(k))[0] - r.solved[-1]) < 1e-12,
        },
    )


def share(r):
    """Per cent of the chains that are solved, or that there are hardly any."""
    return "under 0.1" if r.solved[-1] < SEEN_AS_NONE else 100 * r.solved[-1]


def percent(r):
    solved = share(r)
    return f"{solved if isinstance(solved, str) else figures(solved)} %"


GUESS = Guess(
    "Two completions per step become sixteen, and any correct one makes a step good. F1 was 0.81. What is it now?",
    ("0.9", "0.8", "0.3"),
    Knobs(K=16),
    2,
    lambda k, r: (
        f"F1 is {in_force(k, r).F1:.2f}, because {100 * r.scorer.false_positives:.0f} % of all flawed steps are called "
        "good."
    ),
    "F1 of first errors",
)
DARE = "Can you make the model solve almost no chains?"
OPENING = Played(Knobs(), Knobs(form=SUM), "opening")
