"""Five completions of one prompt: what imitation and reinforcement learning make of their probabilities, and of a tiny
language model.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.algorithms import reinforce
from sim.experiments.runs import add_run
from sim.worlds import bandit, tasks
from sim.worlds.optimizer import AdamW
from widgets.frame.contract import Break, Readout, choice, ladder, slider
from widgets.frame.marks import bars, dots, each_run, label, line, panel, threshold

TITLE = "What a policy over five completions becomes, from its demonstrations on"
COST = "32,000 completions of the five, 7,680 of the language model"

ARMS = ["Final: 12", "Final: 13", "Final: 11", "12", "hmm …"]  # completions of 7 + 5 =
OTHERS = np.array([0.15, 0.15, 0.25, 0.15]) / 0.70  # assumed: how demonstrations that are not right go wrong
STEPS, RUNS, EVERY = 200, 20, 5  # a curve has every fifth update
EARLY = np.arange(0, 61, 2)  # the updates of one run that are shown completion by completion
UPDATES, GROUPS, K, FRAME = 60, 16, 8, 10  # of the language model; updates between two pictures
# a run whose right completion ends below the first has failed; a larger share of such runs than the second is broken
PASSING, TOO_MANY = 0.5, 0.2
BASELINES = {"none": bandit.no_baseline, "mean": bandit.batch_mean, "leave-one-out": bandit.leave_one_out}
SFT, RL, EXACT = "SFT", "RL, sampled", "RL, exact gradient"
SAMPLED = "; the gradient is sampled here"


@dataclass(frozen=True)
class Knobs:
    method: str = choice("Method", RL, [SFT, RL, EXACT])
    baseline: str = choice("Baseline", "leave-one-out", list(BASELINES), symbol="b")
    offset: int = slider("Added to every reward", 0, low=0, high=10, step=1, symbol="c")
    learning_rate: float = ladder("Learning rate", 1.0, [0.03, 0.1, 0.3, 1.0, 3.0])  # below 4 imitation always descends
    shown: float = ladder("Right among the demonstrations", 0.3, [0.0, 0.01, 0.05, 0.1, 0.3, 0.6, 0.9], symbol="P")
    samples: int = ladder("Completions an update", 8, [2, 4, 8, 16, 32, 64], symbol="N")
    partial: float = slider("Reward of a bare 12", 0.0, low=0.0, high=1.0, step=0.1)
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


PRESETS = {
    "RL": Knobs(),
    "SFT": Knobs(method=SFT),
    "Exact gradient": Knobs(method=EXACT),
    "Every reward + 10, no baseline": Knobs(offset=10, baseline="none"),
    "Nothing to amplify": Knobs(shown=0.0),
}


@dataclass(frozen=True)
class Result:
    start: np.ndarray  # (arms,) before the first update
    policies: np.ndarray  # (steps + 1, runs, arms)
    J: np.ndarray  # (steps + 1, runs) expected reward, without the constant: `right`, unless a bare 12 is paid too
    drawn: np.ndarray  # (arms,) how often the first run's first update drew each
    pushed: np.ndarray  # (arms,) what that update added to the logits, over the learning rate
    expected: np.ndarray  # (arms,) the same in the mean over all batches
    variance: float  # of an update's push at the start, the sum over the logits
    language: list  # (update, exact pass rate of the language model) so far
    sampled: list  # (update, share right among its completions)

    @property
    def right(self):
        """Probability of the right completion, (steps + 1, runs)."""
        return self.policies[:, :, 0]


def run(k):
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
        expected, variance = bandit.policy_gradient(start, reward), noise(k, start, reward)
    else:
        gradient = (
            (lambda pi: bandit.imitation_gradient(pi, shown))
            if k.method == SFT
            else (lambda pi: bandit.policy_gradient(pi, reward))
        )
        policies = bandit.path(logits[None], gradient, k.learning_rate, STEPS)
        pushed = expected = gradient(start)
        variance = 0.0
    result = Result(
        start, policies, bandit.expected_reward(policies, reward), drawn, pushed, expected, variance, [], []
    )
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
    yield 0, tasks.exact_pass(tasks.checkpoint("add")).mean(), np.nan
    if k.method == SFT:
        policy, rng, optimizer = tasks.checkpoint("add"), np.random.default_rng(k.seed), AdamW(0.005, clip=1.0)
        for update in range(1, UPDATES + 1):
            prompt, tokens, mask = tasks.add_demonstrations(GROUPS * K, rng)
            optimizer.step(
                policy.params, policy.backward(policy.token_logp(prompt, tokens, mask)[2], -mask / mask.sum())
            )
            if update % FRAME == 0:
                yield update, tasks.exact_pass(policy).mean(), np.nan
        return
    baseline = BASELINES[k.baseline]
    hooks = dict(
        shape_reward=lambda reward, hp, batch: reward + k.offset, advantage=lambda R, hp, batch: R - baseline(R)
    )
    trained = add_run(reinforce, seed=k.seed, groups=GROUPS, K=K, hooks=hooks, exact_every=UPDATES)
    for frame in trained.frames(UPDATES):
        if (frame.step + 1) % FRAME == 0:
            yield frame.step + 1, tasks.exact_pass(trained.trainer.policy).mean(), frame.accuracy


def progress(k, r):
    return ["update", r.language[-1][0], UPDATES]


def figure(k, r):
    return [*runs_tab(k, r), *update_tab(k, r), *language_tab(k, r)]


def runs_tab(k, r):
    step = np.arange(0, STEPS + 1, EVERY)
    yield panel(
        "The right completion",
        f"probability; thick: the mean of {RUNS} runs when they are sampled",
        line(step, r.right[::EVERY].mean(axis=1), "mean"),
        each_run(step, r.right[::EVERY].T),
        *([line(step, r.J[::EVERY].mean(axis=1), "paid", 3)] if k.partial else []),
        *([label(STEPS, 0.86, "dotted: paid, mean", 3, "right")] if k.partial else []),
        line([0, STEPS], [k.shown] * 2, "demonstrations", 2, "exact"),
        # below where the threshold has its words above
        label(STEPS, k.shown, f"demonstrations, {k.shown:g}", 2, "right", below=k.shown == 0.3),
        threshold(PASSING, f"an RL run that ends below {PASSING:g} has failed", 0),
        x="update",
        x_range=(0, STEPS),
        y_range=(0, 1.05),
        tab="Runs",
        front=True,
    )
    shares = r.policies[EARLY, 0]
    tops = shares[0].cumsum()
    yield panel(
        "One run, completion by completion",
        "probability, stacked, the first 60 updates; SFT starts from equal shares",
        *(bars(EARLY, share, arm, i) for i, (arm, share) in enumerate(zip(ARMS, shares.T), 1)),
        *(
            label(-2, top - share / 2 - 0.04, arm, i, "right")
            for i, (arm, top, share) in enumerate(zip(ARMS, tops, shares[0]), 1)
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
        "probability before and after; the number: how often the completion was drawn",
        bars(ARMS, r.start, "before", 8),
        bars(ARMS, after, "after", 1, text=[f"{n:.0f}×" if k.method == RL else "" for n in r.drawn]),
        label(ARMS[4], 0.93, "before", 8, "right"),
        label(ARMS[4], 0.82, "after", 1, "right"),
        y_range=(0, 1),
        tab="One update",
    )
    reach = 0.4 + (0.6 * k.offset if k.baseline == "none" else 0)
    yield panel(
        "Its push on each logit",
        "what the update drew, and the mean over all it could have drawn",
        bars(ARMS, r.pushed, "this update", 1),
        bars(ARMS, r.expected, "expected", 2),
        label(ARMS[4], 0.86 * reach, "this update", 1, "right"),
        label(ARMS[4], 0.72 * reach, "expected", 2, "right"),
        y_range=(-reach, reach),
        tab="One update",
    )


def language_tab(k, r):
    at, pass_rate = np.array(r.language).T
    yield panel(
        "A language model on sums of two digits",
        f"exact pass rate, all 100 prompts; dots: the share right in a batch of 128{SAMPLED * (k.method == EXACT)}",
        line(at, pass_rate, "pass rate"),
        dots(*np.array(r.sampled).T, "batch", 1),
        line([0, UPDATES], [pass_rate[0]] * 2, "imitation", 2, "exact"),
        label(UPDATES, pass_rate[0], "as imitation left it", 2, "right"),
        x="update",
        x_range=(0, UPDATES),
        y_range=(0, 1.02),
        tab="Language model",
    )


def readouts(k, r):
    ends, size = r.right[-1], np.sqrt((r.expected**2).sum())
    reached = np.flatnonzero(r.right.mean(axis=1) > 0.9)
    return [
        Readout("Right at the end, mean", ends.mean(), "", bandit.path),
        Readout(
            "Runs that end below 0.5",
            100 * (ends < PASSING).mean(),
            "%",
            bandit.path,
            "violated" if broken(k, r) else "",
        ),
        Readout(
            "Variance of the first update",
            r.variance,
            "",
            bandit.leave_one_out_variance if k.baseline != "none" else bandit.gradient_variance,
        ),
        Readout(
            "Its signal to noise",
            size / np.sqrt(r.variance) if r.variance else np.inf if size else np.nan,
            "",
            bandit.policy_gradient,
        ),
        Readout("Mean above 0.9 from update", float(reached[0]) if len(reached) else "never", "", bandit.path),
    ]


def watched(k, r):
    return Readout(
        f"RL: share of runs that end with right < {PASSING} is > {TOO_MANY}",
        "imitates" if k.method == SFT else (r.right[-1] < PASSING).mean(),
        "",
        bandit.path,
    )


def broken(k, r):
    failed = r.right[-1] < PASSING
    if k.method == SFT or failed.mean() <= TOO_MANY:
        return None
    return Break(
        reason(k, r, f"{failed.sum()} of {len(failed)} runs end" if k.method == RL else "the run ends")
        + f" with the right completion below {PASSING:g}.",
        way_back(k),
        cause(k, r),
    )


def cause(k, r):
    if r.right.max() < 1e-6:
        return "it is never drawn"
    if uncompared(k):
        return "nothing is taken off"
    return "a wrong answer is paid" if settled_on_the_bare(k, r) else "it is too rare"


def settled_on_the_bare(k, r):
    return k.partial and r.policies[-1, :, 3].mean() > r.policies[0, :, 3].mean()


def reason(k, r, ends):
    if r.right.max() < 1e-6:
        return (
            "The right completion has probability 0, so it is never drawn and never pushed, RL can only "
            f"amplify what the policy samples: {ends}"
        )
    if uncompared(k):
        return (
            f"With {k.offset} added to every reward and nothing taken off, what was drawn more often than its share "
            f"rose, right or not: {ends}"
        )
    if settled_on_the_bare(k, r):
        return f"A bare 12 is paid {k.partial:g}, and the policy settled on it: {ends}"
    return f"The right completion started at probability {k.shown:g}, too rare for {STEPS} steps of this size: {ends}"


def uncompared(k):
    return k.method == RL and k.baseline == "none" and k.offset > 0


def way_back(k):
    told = {
        "Baseline: leave-one-out": uncompared(k),
        "Right among the demonstrations: 0.3": k.shown < 0.3,
        "Reward of a bare 12: 0": k.partial > 0,
    }
    return f"{', '.join(words for words, needed in told.items() if needed)}."
