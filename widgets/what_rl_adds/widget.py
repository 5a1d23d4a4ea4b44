"""Five completions of one prompt: what imitation and reinforcement learning make of their probabilities, and of a tiny
language model.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.experiments import after_sft
from sim.experiments.five_answers import ANSWERS, SHOWN
from sim.worlds import bandit
from sim.worlds.policies import POLICIES
from widgets.frame.exercises import Guess
from widgets.frame.knobs import choice, ladder, slider
from widgets.frame.marks import bars, both, by_update, dots, each_run, label, line, panel, threshold
from widgets.frame.readouts import Break, Gauge, Readout
from widgets.frame.small_figures import Opening

TITLE = "What a policy over five completions becomes, from its demonstrations on"
COST = "32,000 completions of the five, 7,680 of the language model"

OTHERS = SHOWN[1:] / SHOWN[1:].sum()  # how demonstrations that are not right go wrong
STEPS, RUNS, EVERY = 200, 20, 5  # a curve has every fifth update
EARLY = np.arange(0, 61, 2)  # the updates of one run that are shown completion by completion
UPDATES, FRAME = 60, 10  # of the language model; updates between two pictures
# a run whose right completion ends below the first has failed; a larger share of such runs than the second is broken
PASSING, TOO_MANY = 0.5, 0.2
GOOD, LEARNED = 0.9, 0.77  # the default ends above both at each of the seeds: the mean of its runs, the language model
BASELINES = {"none": bandit.no_baseline, "mean": bandit.batch_mean, "leave-one-out": bandit.leave_one_out}
SFT, RL, EXACT = "SFT", "RL, sampled", "RL, exact gradient"
SAMPLED = "; sampled here"


@dataclass(frozen=True)
class Knobs:
    method: str = choice("Method", RL, [SFT, RL, EXACT])
    baseline: str = choice("Baseline", "leave-one-out", list(BASELINES), symbol="b")
    offset: int = slider("Added to rewards", 0, low=0, high=10, step=1, symbol="c")
    shown: float = ladder("Teachers right", 0.3, [0.0, 0.01, 0.05, 0.1, 0.3, 0.6, 0.9], symbol="P")
    learning_rate: float = ladder("Learning rate", 1.0, [0.03, 0.1, 0.3, 1.0, 3.0])  # below 4 imitation always descends
    samples: int = ladder("Completions an update", 8, [2, 4, 8, 16, 32, 64], symbol="N")
    policy: str = choice("Language model", "window", list(POLICIES))
    partial: float = slider("Reward of a bare 12", 0.0, low=0.0, high=1.0, step=0.1)
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


PRESETS = {
    "RL": Knobs(),
    "SFT": Knobs(method=SFT),
    "Exact gradient": Knobs(method=EXACT),
    "Every reward + 10, no baseline": Knobs(offset=10, baseline="none"),
    "Nothing to amplify": Knobs(shown=0.0),
    "A bare 12 is paid too": Knobs(shown=0.1, partial=1.0),
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
        rng = np.random.default_rng(k.seed)
        paid = reward + k.offset
        policies = bandit.path(
            np.tile(logits, (RUNS, 1)),
            lambda pi: bandit.sampled_gradient(pi, paid, baseline, k.samples, rng),
            k.learning_rate,
            STEPS,
        )
        first = bandit.draw(np.tile(start, (RUNS, 1)), k.samples, np.random.default_rng(k.seed))
        arms = first[0]  # what the first update drew
        drawn, pushed = np.bincount(arms, minlength=5), bandit.push(start, arms, paid[arms] - baseline(paid[arms]))
        variance = noise(k, start, reward)
    else:
        gradient = (
            (lambda pi: bandit.imitation_gradient(pi, shown))
            if k.method == SFT
            else (lambda pi: bandit.policy_gradient(pi, reward))
        )
        policies = bandit.path(logits[None], gradient, k.learning_rate, STEPS)
        pushed, variance = gradient(start), 0.0
    result = Result(start, policies, bandit.expected_reward(policies, reward), drawn, pushed, variance, [], [])
    for at, pass_rate, sampled in language_model(k):
        result = replace(result, language=[*result.language, (at, pass_rate)], sampled=[*result.sampled, (at, sampled)])
        yield result


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
        yield from ((*seen, np.nan) for seen in after_sft.imitated(UPDATES, FRAME, k.seed, k.policy))
    else:
        yield from after_sft.rewarded(UPDATES, FRAME, BASELINES[k.baseline], k.offset, k.seed, k.policy)


def progress(k, r):
    return ["update", r.language[-1][0], UPDATES]


def figure(k, r):
    return [*runs_tab(k, r), *update_tab(k, r), *language_tab(k, r)]


def runs_tab(k, r):
    step = np.arange(0, STEPS + 1, EVERY)
    yield by_update(
        "The right completion",
        f"probability; thick: mean of {RUNS} runs",
        line(step, r.right[::EVERY].mean(axis=1), "mean"),
        each_run(step, r.right[::EVERY].T),
        *([line(step, r.J[::EVERY].mean(axis=1), "paid", 3)] if k.partial else []),
        *([label(STEPS, 0.86, "dotted: paid, mean", 3, "right")] if k.partial else []),
        line([0, STEPS], [k.shown] * 2, "demonstrations", 2, "exact"),
        # below where the threshold has its words above
        label(STEPS, k.shown, f"demonstrations, {k.shown:g}", 0, "right", below=k.shown == 0.3),
        threshold(PASSING, "an RL run that ends here has failed", 0),
        updates=STEPS,
        y_range=(0, 1.05),
        tab="Runs",
        front=True,
    )
    shares = r.policies[EARLY, 0]
    tops = shares[0].cumsum()
    yield panel(
        "One run, completion by completion",
        "probability, stacked; SFT from equal shares",
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
        tab="Runs",
    )


def update_tab(k, r):
    after = bandit.softmax(logs(r.start) + k.learning_rate * r.pushed)
    yield panel(
        "The first update of that run",
        "probability before and after; how often it was drawn",
        bars(ANSWERS, r.start, "before", 8),
        bars(ANSWERS, after, "after", 1, text=[f"{n:.0f}×" if k.method == RL else "" for n in r.drawn]),
        label(ANSWERS[4], 0.93, "before", 8, "right"),
        label(ANSWERS[4], 0.82, "after", 1, "right"),
        x="completion",
        y_range=(0, 1),
        tab="One update",
    )


def language_tab(k, r):
    at, pass_rate = np.array(r.language).T
    yield by_update(
        f"A {'language model' if k.policy == 'window' else k.policy} on sums of two digits",
        "share right, exact; dots: in a batch" + SAMPLED * (k.method == EXACT),
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
        Readout("Right at the end, mean", r.right[-1].mean(), "", bandit.path),
        Readout(
            f"Runs that end below {PASSING:g}",
            100 * failed(r).mean(),
            "%",
            bandit.path,
            "violated" if broken(k, r) else "",
        ),
        Readout(f"Mean above {GOOD:g} from update", float(reached[0]) if len(reached) else "never", "", bandit.path),
        Readout(
            "Variance of the first update",
            r.variance,
            "",
            bandit.leave_one_out_variance if k.baseline != "none" else bandit.gradient_variance,
        ),
        Readout(
            "Language model, right",
            100 * r.language[-1][1],
            "of 100 sums",
            after_sft.imitated if k.method == SFT else after_sft.rewarded,
        ),
    ]


def failed(r):
    """Which runs end with the right completion below one half, (runs,)."""
    return r.right[-1] < PASSING


def watched(k, r):
    what, limit = f"Runs that end below {PASSING:g}", 100 * TOO_MANY
    if k.method == SFT:
        return Readout(what, "not asked of SFT", "", bandit.path)
    code = f"(right[-1] < {PASSING:g}).mean() > {TOO_MANY:g}"
    return Gauge(what, 100 * failed(r).mean(), limit, "%", 0, 100, expression=code)


def broken(k, r):
    lost = failed(r)
    if k.method == SFT or lost.mean() <= TOO_MANY:
        return None
    ends = f"{lost.sum()} of {len(lost)} runs end" if k.method == RL else "the run ends"
    found = cause(k, r)
    return Break(f"{why(k, r, found)}: {ends} with the right completion below {PASSING:g}.", fix(k), found)


CHANCE, RARE, PAID = "chance decides what rises", "too rare to grow", "a wrong answer is paid too"


def cause(k, r):
    """Of several the one that alone would do: too rare even for the mean step, then the pay, then chance."""
    if by_the_mean_step(k, 0.0) < PASSING:
        return RARE
    if by_the_mean_step(k, k.partial) < PASSING:
        return PAID
    return CHANCE if uncompared(k) else PAID if k.partial else RARE


def by_the_mean_step(k, partial):
    """Where the exact gradient ends, if a bare 12 is paid `partial`."""
    reward = np.array([1.0, 0, 0, partial, 0])
    gradient = lambda pi: bandit.policy_gradient(pi, reward)
    return bandit.path(logs(demonstrations(k))[None], gradient, k.learning_rate, STEPS)[-1, 0, 0]


def why(k, r, found):
    return {
        CHANCE: f"With {k.offset} added to every reward, what is drawn more than its share is lifted, right or wrong",
        PAID: f"A bare 12 is paid {k.partial:g}, and the policy settled on it",
        RARE: f"The right completion starts at {k.shown:g}, too rare for {STEPS} steps of this size"
        if r.right.max() > 1e-6
        else "The right completion is never drawn and never pushed",
    }[found]


def worse(k, r):
    """Damage against the default that is too little, or of another kind, than what the break is about."""
    if k.method == SFT:
        return None
    mean, paid, lost = r.right[-1].mean(), r.J[-1].mean(), failed(r).sum()
    if mean < GOOD and paid - mean > 0.05:
        bare = r.policies[-1, :, 3].mean()
        return (
            f"Paid {paid:.2f}, right {mean:.2f}: a bare 12 is paid {k.partial:g}, and the policy gives it {bare:.2f}."
        )
    if lost:
        break_at = f"More than {TOO_MANY * RUNS:.0f} would be a break."
        return f"{lost} of {len(r.right[-1])} runs end below {PASSING:g}. {break_at}"
    if mean < GOOD:
        few = f": {STEPS} steps of this size are too few" if by_the_mean_step(k, k.partial) < GOOD else ""
        return f"No run ends below {PASSING:g}, but the mean ends at {mean:.2f}{few}."
    if r.language[-1][0] == UPDATES and r.language[-1][1] < LEARNED:
        sums = 100 * r.language[-1][1]
        return f"The small runs hold. The language model ends at {sums:.0f} of 100 sums instead of about 85."
    return None


def holds(k, r):
    end = r.right[-1].mean()
    if k.method != SFT:
        runs = (
            "The exact gradient"
            if k.method == EXACT
            else f"No run ends below {PASSING:g}: the mean of {len(r.right[-1])}"
        )
        return f"{runs} ends at {end:.3f}, past the demonstrations' {k.shown:g}."
    if abs(end - k.shown) > 0.01:
        return f"Imitation is at {end:.2f} after {STEPS} updates, on its way to the demonstrations' {k.shown:g}."
    return f"Imitation ends at {end:.2f}, where its demonstrations are: a ceiling, no damage."


def uncompared(k):
    return k.method == RL and k.baseline == "none" and k.offset > 0


def fix(k):
    comparing_is_enough = uncompared(k) and not k.partial and by_the_mean_step(k, 0.0) >= GOOD
    values = dict(baseline="leave-one-out") if uncompared(k) else {}
    if k.shown < 0.3 and not comparing_is_enough:
        values |= dict(shown=0.3)
    return values | (dict(partial=0.0) if k.partial > 0 else {})


GUESS = Guess(
    "One demonstration in a hundred is right. After imitation, 200 updates with the checker: how often is it right?",
    ("about 0.01", "about 0.5", "above 0.9"),
    Knobs(shown=0.01),
    2,
    lambda k, r: f"The mean of {len(r.right[-1])} runs ends at {r.right[-1].mean():.2f}, from {k.shown:g}.",
)


def opening(plain, other):
    """The sums that the language model gets right, and how many of the small runs are below one half."""
    at, step = np.arange(0, UPDATES + 1, FRAME), np.arange(STEPS + 1)
    right = [[100 * rate for _, rate in r.language] for r in (plain, other)]
    below = [100 * (r.right < PASSING).mean(axis=1) for r in (plain, other)]
    yield by_update(
        "Right answers of a language model",
        "of 100 sums, on average, over 60 updates",
        *both(at, *right),
        dots([0], right[1][:1], "the same start", 1),
        label(UPDATES, right[0][-1] + 2, "one setting", 8, "right"),
        label(UPDATES, right[1][-1] + 2, "the other", 1, "right"),
        updates=UPDATES,
        y_range=(0, 104),
    )
    yield by_update(
        "Runs that are wrong more often than right",
        f"% of {RUNS} runs of a model with five answers",
        *both(step, *below),
        label(STEPS, 2, "one setting", 8, "right"),
        label(STEPS, below[1][-1] - 12, "the other", 1, "right"),
        threshold(100 * TOO_MANY, "too many", 104),
        updates=STEPS,
        y_range=(0, 104),
    )


OPENING = Opening(
    Knobs(baseline="none"),
    Knobs(baseline="none", offset=10),
    lambda *both: list(opening(*both)),
    after_sft.rewarded,
    "Same code, same seed. One setting differs between the two, and neither is the default.",
)
