"""Five completions of one prompt: what imitation and reinforcement learning make of their probabilities, and of a tiny
language model.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sim.experiments import after_sft
from sim.experiments.five_answers import ANSWERS, SHOWN
from sim.worlds import bandit
from sim.worlds.policies import POLICIES
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing import piles, scene
from widgets.frame.drawing.marks import bars, by_update, dots, each_run, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Played

TITLE = "Probabilities of five completions during training"
COST = "20 runs with five answers; 7,680 completions of the language model"

OTHERS = SHOWN[1:] / SHOWN[1:].sum()  # how demonstrations that are not right go wrong
STEPS, RUNS, EVERY = 200, 20, 5  # a curve has every fifth update
EARLY = np.arange(0, 61, 2)  # the updates of one run that are shown completion by completion
UPDATES, FRAME = 60, 10  # of the language model; updates between two pictures
# a run whose right completion ends below the first has failed; a larger share of such runs than the second is broken
PASSING, TOO_MANY = 0.5, 0.2
ENDS_BELOW = f"Runs that end below {PASSING:g}"
GOOD, LEARNED = 0.9, 0.77  # the default ends above both at each of the seeds: the mean of its runs, the language model
BASELINES = {"none": bandit.no_baseline, "mean": bandit.batch_mean, "leave-one-out": bandit.leave_one_out}
SFT, RL, EXACT = "SFT", "RL, sampled", "RL, exact gradient"
SAMPLED = "; sampled here"


@dataclass(frozen=True)
class Knobs:
    method: str = choice("Method", RL, [SFT, RL, EXACT])
    baseline: str = choice("Baseline", "leave-one-out", list(BASELINES), symbol="b")
    offset: int = slider("Constant added to rewards", 0, low=0, high=10, step=1, symbol="c")
    shown: float = ladder("Correct demonstrations", 0.3, [0.0, 0.01, 0.05, 0.1, 0.3, 0.6, 0.9], symbol="P")
    learning_rate: float = ladder("Learning rate", 1.0, [0.03, 0.1, 0.3, 1.0, 3.0])  # below 4 imitation always descends
    samples: int = ladder("Completions per update", 8, [2, 4, 8, 16, 32, 64], symbol="N")
    policy: str = choice("Language model", "window", list(POLICIES))
    partial: float = slider("Reward for a bare 12", 0.0, low=0.0, high=1.0, step=0.1)
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("baseline", "offset")
PRESETS = {
    "RL": Knobs(),
    "SFT": Knobs(method=SFT),
    "Exact gradient": Knobs(method=EXACT),
    "Every reward + 10, no baseline": Knobs(offset=10, baseline="none"),
    "Nothing to amplify": Knobs(shown=0.0),
    "A bare 12 is rewarded too": Knobs(shown=0.1, partial=1.0),
}


@dataclass(frozen=True)
class Result:
    start: np.ndarray  # (arms,) before the first update
    policies: np.ndarray  # (steps + 1, runs, arms)
    J: np.ndarray  # (steps + 1, runs) expected reward, without the constant: `right`, unless a bare 12 is paid too
    drawn: np.ndarray  # (arms,) how often the first run's first update drew each
    pushed: np.ndarray  # (arms,) what that update added to the logits, over the learning rate
    variance: float  # of an update's push at the start, the sum over the logits
    language: list  # (update, exact pass rate of the language model) so far
    sampled: list  # (update, share right among its completions)

    @property
    def right(self):
        """Probability of the right completion, (steps + 1, runs)."""
        return self.policies[:, :, 0]


def run(k):
    for start in POLICIES.values():  # before the first frame: the page's snapshot has what that has read, and no files
        start()
    shown, reward = demonstrations(k), np.array([1.0, 0, 0, k.partial, 0])
    logits = np.zeros(5) if k.method == SFT else logs(shown)
    start, baseline = bandit.softmax(logits), BASELINES[k.baseline]
    drawn = np.zeros(5)
    if k.method == RL:
        paid, policies = reward + k.offset, sampled_runs(k)
        first = bandit.draw(np.tile(start, (RUNS, 1)), k.samples, np.random.default_rng(k.seed))
        arms = first[0]  # what the first update drew
        drawn, pushed = np.bincount(arms, minlength=5), bandit.push(start, arms, paid[arms] - baseline(paid[arms]))
        variance = noise(k, start, reward)
    else:

        def gradient(pi):
            return bandit.imitation_gradient(pi, shown) if k.method == SFT else bandit.policy_gradient(pi, reward)

        policies = bandit.path(logits[None], gradient, k.learning_rate, STEPS)
        pushed, variance = gradient(start), 0.0
    result = Result(start, policies, bandit.expected_reward(policies, reward), drawn, pushed, variance, [], [])
    for at, pass_rate, sampled in language_model(k):
        result = replace(result, language=[*result.language, (at, pass_rate)], sampled=[*result.sampled, (at, sampled)])
        yield result


def sampled_runs(k):
    """(steps + 1, runs, arms) policies of the sampled runs."""
    rng, paid = np.random.default_rng(k.seed), np.array([1.0, 0, 0, k.partial, 0]) + k.offset
    return bandit.path(
        np.tile(logs(demonstrations(k)), (RUNS, 1)),
        lambda pi: bandit.sampled_gradient(pi, paid, BASELINES[k.baseline], k.samples, rng),
        k.learning_rate,
        STEPS,
    )


def demonstrations(k):
    """Shares of the five completions among what is shown; the wrong ones keep their proportions."""
    return np.array([k.shown, *(1 - k.shown) * OTHERS])


def logs(pi):
    return np.log(np.where(pi > 0, pi, 1)) + np.where(pi > 0, 0, -np.inf)


def noise(k, pi, reward):
    if k.baseline == "none":
        return bandit.gradient_variance(pi, reward + k.offset) / k.samples
    # the batch mean is the leave-one-out step, shortened
    shrunk = ((k.samples - 1) / k.samples) ** 2 if k.baseline == "mean" else 1.0
    return shrunk * bandit.leave_one_out_variance(pi, reward, k.samples)


def language_model(k):
    """(update, exact pass rate, share right of what was sampled) now and then, from the supervised policy of the task
    `Add`.
    """
    yield 0, after_sft.start(k.policy), np.nan
    if k.method == SFT:
        yield from ((*point, np.nan) for point in after_sft.imitated(UPDATES, FRAME, k.seed, k.policy))
    else:
        yield from after_sft.rewarded(UPDATES, FRAME, BASELINES[k.baseline], k.offset, k.seed, k.policy)


def progress(k, r):
    return ["update", r.language[-1][0], UPDATES]


def figure(k, r):
    return [*runs_tab(k, r), *update_tab(k, r), *language_tab(k, r)]


def runs_tab(k, r):
    yield worst(k, r)
    step = np.arange(0, STEPS + 1, EVERY)
    yield by_update(
        "Probability of the correct completion",
        f"thin: each run; thick: mean of {RUNS} runs",
        line(step, r.right[::EVERY].mean(axis=1), "mean"),
        each_run(step, r.right[::EVERY].T),
        *([line(step, r.J[::EVERY].mean(axis=1), "mean reward", 3)] if k.partial else []),
        *([label(STEPS, 0.86, "dotted: mean reward", 3, "right")] if k.partial else []),
        line([0, STEPS], [k.shown] * 2, "demonstrations", 2, "exact"),
        # below where the threshold has its words above
        label(STEPS, k.shown, f"demonstrations, {k.shown:g}", 0, "right", below=k.shown == 0.3),
        threshold(PASSING, "an RL run that ends here has failed", 0),
        updates=STEPS,
        y_range=(0, 1.05),
        tab="Runs",
    )


def worst(k, r):
    """A hundred answers of the run that is least often right at the end, and how many runs end so."""
    pi, many, lost = r.policies[-1, r.right[-1].argmin()], len(r.right[-1]), int(failed(r).sum())
    right = piles.hundredths(pi)[0]
    words = "the correct answer is gone" if right < 2 else f"correct {right} times in 100"
    ends = f"{lost} of {many} runs end with the correct answer below one half." if many > 1 else "It is the only run."
    counts = [
        scene.word(str(lost) if many > 1 else str(right), (0.8, 1.5), "count", key="c"),
        scene.word(f"of {many} runs end" if many > 1 else "correct answers", (0.8, 2.4), "strong", key="d"),
        scene.word("wrong more often" if many > 1 else "in a hundred in", (0.8, 3.15), "strong", key="e"),
        scene.word("than right" if many > 1 else "the only run", (0.8, 3.9), "strong", key="f"),
    ]
    return scene.scene(
        WORST,
        "the worst run; each dot is an answer",
        piles.view(
            "n", f"after update {STEPS}", piles.FIVE, SHOWN, pi, (0, words, "broken") if too_many(k, r) else None
        ),
        scene.view("m", 6.3, 4.3, ends, *counts),
        given=piles.ASKED,
        tab="Runs",
        front=True,
        data=[bars(ANSWERS, pi, "probability in the run that does worst")],
    )


WORST = "A hundred answers to 7 + 5"


def update_tab(k, r):
    after = bandit.softmax(logs(r.start) + k.learning_rate * r.pushed)
    yield panel(
        "The first update of the first run",
        "probability before and after; how often each was sampled",
        bars(ANSWERS, r.start, "before", 8),
        bars(ANSWERS, after, "after", 1, text=[f"{n:.0f}×" if k.method == RL else "" for n in r.drawn]),
        label(ANSWERS[4], 0.93, "before", 8, "right"),
        label(ANSWERS[4], 0.82, "after", 1, "right"),
        x="completion",
        y_range=(0, 1),
        tab="One run",
    )
    shares = r.policies[EARLY, 0]
    tops = shares[0].cumsum()
    yield panel(
        "The first run, completion by completion",
        "probability, stacked; SFT starts from equal shares",
        *(bars(EARLY, share, arm, i) for i, (arm, share) in enumerate(zip(ANSWERS, shares.T), 1)),
        *(
            label(-2, top - share / 2 - 0.04, arm, i, "right")
            for i, (arm, top, share) in enumerate(zip(ANSWERS, tops, shares[0]), 1)
            if share > 0.08
        ),
        x="update",
        x_range=(-27, 61),
        y_range=(0, 1.05),
        stacked=True,
        ticks=dict(tickvals=[0, 20, 40, 60]),
        tab="One run",
    )


def language_tab(k, r):
    at, pass_rate = np.array(r.language).T
    yield by_update(
        f"A {'language model' if k.policy == 'window' else k.policy} on sums of two digits",
        "pass rate, exact; dots: in a batch" + SAMPLED * (k.method == EXACT),
        line(at, pass_rate, "pass rate"),
        dots(*np.array(r.sampled).T, "batch", 1),
        line([0, UPDATES], [pass_rate[0]] * 2, "imitation", 2, "exact"),
        label(UPDATES, pass_rate[0], "as imitation left it", 2, "right"),
        updates=UPDATES,
        tab="Language model",
    )


def readouts(k, r):
    reached = np.flatnonzero(r.right.mean(axis=1) > GOOD)
    return [
        Readout("Final pass rate, mean over runs", r.right[-1].mean(), "", bandit.path),
        Readout(ENDS_BELOW, 100 * failed(r).mean(), "%", bandit.path, "violated" if broken(k, r) else ""),
        Readout(
            f"First update with mean above {GOOD:g}", float(reached[0]) if len(reached) else "never", "", bandit.path
        ),
        Readout(
            "Variance of the first update",
            r.variance,
            "",
            bandit.leave_one_out_variance if k.baseline != "none" else bandit.gradient_variance,
        ),
        Readout(
            "Sums the language model solves",
            100 * r.language[-1][1],
            "of 100",
            after_sft.imitated if k.method == SFT else after_sft.rewarded,
        ),
    ]


def failed(r):
    """Which runs end with the right completion below one half, (runs,)."""
    return r.right[-1] < PASSING


def watched(k, r):
    label, limit = ENDS_BELOW, 100 * TOO_MANY
    if k.method == SFT:
        return Readout(label, "not asked of SFT", "", bandit.path)
    code = f"(right[-1] < {PASSING:g}).mean() > {TOO_MANY:g}"
    return Gauge(label, 100 * failed(r).mean(), limit, "%", expression=code)


def seen_at(k, r, cause):
    lost = failed(r)
    words = f"{lost.sum()} of {len(lost)} runs below {PASSING:g}" if k.method == RL else f"ends below {PASSING:g}"
    return At(WORST, None, None, words)


def too_many(k, r):
    return k.method != SFT and failed(r).mean() > TOO_MANY


def broken(k, r):
    lost = failed(r)
    if not too_many(k, r):
        return None
    ends = f"{lost.sum()} of {len(lost)} runs end" if k.method == RL else "the run ends"
    blamed = cause(k)
    claims = {
        "so many end there": lambda: (r.policies[-1, :, 0] < 0.5).mean() > 0.2,
        "undoing it mends": lambda: (
            blamed == SEVERAL or not failed(end(run, replace(k, **UNDONE[blamed]))).mean() > 0.2
        ),
        "none of several is enough": lambda: (
            blamed != SEVERAL or (len(present(k)) > 1 and not any(mended(k, **UNDONE[one]) for one in present(k)))
        ),
    }
    if blamed == PAID:
        claims |= {"it has more of it": lambda: r.policies[-1, lost, 3].mean() > r.policies[0, lost, 3].mean()}
    if r.right.max() <= 1e-6:
        claims |= {"it is never drawn": lambda: not r.right.any()}
    happened = f"{ends} with a pass rate below {PASSING:g}. {why(k, r, blamed)}."
    return Break(Said(happened[0].upper() + happened[1:], claims), fix(k), blamed)


CHANCE, RARE = "chance, without a baseline", "a correct answer too rarely sampled"
PAID = "a wrong answer that earns rewards"
SMALL, SEVERAL = "steps that are too small", "several faults at once"
UNDONE = {CHANCE: dict(baseline="leave-one-out"), RARE: dict(shown=0.3), PAID: dict(partial=0.0)}
UNDONE |= {SMALL: dict(learning_rate=1.0)}


def cause(k):
    """The likeliest fault if undoing it alone mends the runs, else the first of the other faults that does."""
    if by_the_mean_step(k, 0.0) < PASSING:
        likely = RARE
    elif by_the_mean_step(k, k.partial) < PASSING:
        likely = PAID
    else:
        likely = CHANCE if uncompared(k) else PAID if k.partial else RARE
    likely_first = sorted(present(k), key=lambda fault: fault != likely)
    return next((fault for fault in likely_first if mended(k, **UNDONE[fault])), SEVERAL)


def present(k):
    faults = {CHANCE: uncompared(k), RARE: k.shown < 0.3, PAID: k.partial > 0, SMALL: k.learning_rate < 1.0}
    return [fault for fault, is_present in faults.items() if is_present]


def mended(k, **turned):
    """Whether the setting with these knobs turned would not be broken."""
    return lost_share(replace(k, **turned, policy="window")) <= TOO_MANY


@lru_cache(maxsize=64)
def lost_share(k):
    if k.method == RL:
        return (sampled_runs(k)[-1, :, 0] < PASSING).mean()
    return float(by_the_mean_step(k, k.partial) < PASSING)


def by_the_mean_step(k, partial):
    """Where the exact gradient ends, if a bare 12 is paid `partial`."""
    reward = np.array([1.0, 0, 0, partial, 0])
    start = logs(demonstrations(k))[None]
    return bandit.path(start, lambda pi: bandit.policy_gradient(pi, reward), k.learning_rate, STEPS)[-1, 0, 0]


def settled(r):
    """Whether a lost run gives most of its probability to a bare 12."""
    return r.policies[-1, failed(r), 3].mean() > 0.5


def why(k, r, blamed):
    if blamed == SEVERAL:
        facts = {
            CHANCE: f"{k.offset} added without a baseline",
            RARE: f"a start at {k.shown:g}",
            PAID: f"{k.partial:g} for a bare 12",
            SMALL: f"a rate of {k.learning_rate:g}",
        }
        *first, last = (facts[fault] for fault in present(k))
        return f"The faults are {', '.join(first)} and {last}"
    return {
        CHANCE: f"With {k.offset} added to every reward, chance decides which completion gains, right or wrong",
        PAID: f"A bare 12 earns {k.partial:g}, and the policy {'settled on it' if settled(r) else 'turned to it'}",
        SMALL: f"{STEPS} steps of this size are too few",
        RARE: f"The correct completion starts at {k.shown:g}, which is too rare for {STEPS} steps of this size"
        if r.right.max() > 1e-6
        else "The correct completion is never sampled, so nothing pushes it",
    }[blamed]


def worse(k, r):
    """Damage against the default that is too little, or of another kind, than what the break is about."""
    if k.method == SFT:
        return None
    mean, paid, lost = r.right[-1].mean(), r.J[-1].mean(), failed(r).sum()
    if mean < GOOD and paid - mean > 0.05:
        bare = r.policies[-1, :, 3].mean()
        return Said(
            f"The mean reward is {paid:.2f}, but the pass rate is {mean:.2f}. A bare 12 earns {k.partial:g}, and its "
            f"probability is {bare:.2f}.",
            {"that pays the difference": lambda: abs(paid - mean - k.partial * bare) < 1e-9},
        )
    if lost:
        break_at = f"More than {TOO_MANY * RUNS:.0f} would be a break."
        return Said(
            f"{lost} of {len(r.right[-1])} runs end with a pass rate below {PASSING:g}. {break_at}",
            {"so many": lambda: 0 < (r.policies[-1, :, 0] < 0.5).sum() <= 4 and r.policies.shape[1] == RUNS},
        )
    if mean < GOOD:
        few = f": {STEPS} steps of this size are too few" if by_the_mean_step(k, k.partial) < GOOD else ""
        return Said(
            f"No run ends below {PASSING:g}, but the mean pass rate ends at {mean:.2f}{few}.",
            {
                "none": lambda: r.policies[-1, :, 0].min() >= 0.5,
                "larger steps are enough": lambda: (
                    not few or by_the_mean_step(replace(k, learning_rate=10 * k.learning_rate), k.partial) >= GOOD
                ),
            },
        )
    if r.language[-1][0] == UPDATES and r.language[-1][1] < LEARNED:
        sums = 100 * r.language[-1][1]
        usual = Knobs(policy=k.policy, seed=k.seed)
        return Said(
            f"The runs of five logits work, but the language model ends at {sums:.0f} of 100 sums instead of about 85.",
            {
                "about 85 otherwise": lambda: 0.77 < end(run, usual).language[-1][1] < 0.93,
                "they hold": lambda: r.right[-1].mean() >= GOOD,
            },
        )
    return None


def holds(k, r):
    end_at = r.right[-1].mean()
    if k.method != SFT:
        runs = (
            "The exact gradient ends at a pass rate of"
            if k.method == EXACT
            else f"No run ends below {PASSING:g}. The mean pass rate of {len(r.right[-1])} runs ends at"
        )
        return Said(
            f"{runs} {end_at:.3f}, above the demonstrations' {k.shown:g}.",
            {
                "none ends there": lambda: r.policies[-1, :, 0].min() >= 0.5,
                "past them": lambda: r.policies[-1, :, 0].mean() > k.shown,
            },
        )
    distance = np.abs(r.right[:, 0] - k.shown)
    if abs(end_at - k.shown) > 0.01:
        return Said(
            f"After {STEPS} updates, imitation has a pass rate of {end_at:.2f}, on its way to its demonstrations' "
            f"{k.shown:g}.",
            {"every update goes there": lambda: bool((np.diff(distance) < 0).all())},
        )
    return Said(
        f"Imitation ends at a pass rate of {end_at:.2f}, as good as its demonstrations. That is a ceiling, not damage.",
        {
            "it is there": lambda: distance[-1] < 0.015,
            "and never beyond": lambda: bool((np.diff(distance) < 1e-9).all()),
        },
    )


def uncompared(k):
    return k.method == RL and k.baseline == "none" and k.offset > 0


def fix(k):
    comparing_is_enough = uncompared(k) and not k.partial and by_the_mean_step(k, 0.0) >= GOOD
    values = dict(baseline="leave-one-out") if uncompared(k) else {}
    if k.shown < 0.3 and not comparing_is_enough:
        values |= dict(shown=0.3)
    values |= dict(partial=0.0) if k.partial > 0 else {}
    return recovery.different(k, values if mended(k, **values) else values | UNDONE[SMALL])


GUESS = Guess(
    "Without a baseline, each sample is weighted by its reward alone, 0 or 1. How many of 20 runs end mostly correct?",
    ("none", "about half", "all 20"),
    Knobs(baseline="none"),
    2,
    lambda k, r: (
        f"{(r.right[-1] > PASSING).sum()} of {len(r.right[-1])} do, and their mean pass rate ends at "
        f"{r.right[-1].mean():.3f}."
    ),
    ENDS_BELOW,
)
DARE = "Can you make runs end on a wrong answer?"
OPENING = Played(Knobs(baseline="none"), Knobs(baseline="none", offset=10), "opening")
