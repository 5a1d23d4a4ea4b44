"""One group of rewards through six algorithm files, the push each token gets, and the same loop trained with the chosen
file.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.algorithms.names import FILES
from sim.estimators import aggregation, group_baselines
from sim.experiments import one_group
from sim.experiments.standard_runs import add_run
from sim.framework.algorithm import Algorithm
from sim.worlds import tasks
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing.marks import bars, both, by_update, dots, each_run, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "Six algorithm files with the same rewards"
COST = "23,040 completions a run, more with DAPO"
NAMES = ["REIN-<br>FORCE", "PPO", "GRPO", "RLOO", "DAPO", "Dr.<br>GRPO"]  # on an axis
DIVIDED = ("GRPO", "DAPO")  # by the standard deviation of the group
LENGTHS = [3, 8, 4, 5, 3, 8, 6, 4] * 2
UPDATES, SEEDS, COMPLETIONS, EVERY = 60, 3, 128, 6
OWN = "the file's own"
LEARNED = 0.01  # a gain in the pass rate below this is none
WELL = 0.25  # a gain below this is clearly less than the 0.52 of the default
LEVEL = (-2.5, 1.5)  # of the advantages that are drawn by update
ALONE = ("REINFORCE", "PPO")  # compare no completion with the others of its group
# one pass and no KL penalty, for all alike: what differs is the advantage, the surrogate and the weights
SETTING = dict(inner_epochs=1, beta=0.0)


TRAINED = "Pass rate with this file"


@dataclass(frozen=True)
class Knobs:
    plugin: str = choice("Algorithm file", "GRPO", list(FILES))
    K: int = ladder("Completions in the group", 8, [2, 4, 8, 16], symbol="K")
    right: int = slider("Correct completions", 2, low=0, high=16, step=1)
    wrong: float = ladder("Reward for a wrong answer", 0.0, [-1.0, 0.0, 0.5, 0.9, 0.99, 0.999, 1.0])
    offset: float = slider("Constant added to rewards", 0.0, low=0.0, high=5.0, step=0.5)
    ddof: int = ladder("Deviation over K − 0 or K − 1", 1, [0, 1])
    value: float = slider("Critic’s value (PPO)", 0.33, low=0.0, high=1.0, step=0.01, symbol="V")
    weights: str = choice("Weights of the tokens", OWN, [OWN, *aggregation.MODES])
    length: int = slider("Length of the first completion", 3, low=1, high=16, step=1)
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("plugin", "wrong")
PRESETS = {
    "Two of eight correct": Knobs(),
    "REINFORCE, a lenient judge": Knobs(plugin="REINFORCE", wrong=0.9),
    "All rewards equal": Knobs(wrong=1.0),
    "Noise in the judge": Knobs(K=4, right=3, wrong=0.999),
    "REINFORCE, rewards + 5": Knobs(plugin="REINFORCE", offset=5.0),
    "Rewards −1 and 1": Knobs(wrong=-1.0),
}


@dataclass(frozen=True)
class Result:
    rewards: np.ndarray  # (K,)
    advantages: dict  # name of the file: (K,)
    push: np.ndarray  # (K,) on one token of each completion
    kept: bool
    curve: tuple  # total push with 0 to K right ones, with the deviation divided out and without, (K + 1,) each
    pass_rate: np.ndarray  # (seeds, measurements so far)
    wrong: np.ndarray  # (updates so far,) advantage of a wrong completion's token, mean of the runs

    @property
    def updates(self):
        return EVERY * (self.pass_rate.shape[1] - 1)


def run(k):
    rewards = paid(k, np.arange(k.K) < k.right)
    lengths = [k.length, *LENGTHS[1 : k.K]]
    batch = one_group.batch_of(rewards, lengths, k.value)
    chosen = Algorithm(FILES[k.plugin], SETTING, hooks(k, k.plugin))
    advantages = {
        name: one_group.advantages(Algorithm(file, None, hooks(k, name)), batch) for name, file in FILES.items()
    }
    groups = paid(k, group_baselines.outcomes(k.K) > 0)
    curve = tuple(
        one_group.total_push(a)
        for a in (group_baselines.z_score(groups, ddof=k.ddof), group_baselines.less_mean(groups))
    )
    untrained = Result(
        rewards,
        advantages,
        one_group.token_push(chosen, batch),
        bool(one_group.informative(rewards)),
        curve,
        start(SEEDS),
        np.zeros(0),
    )
    yield untrained
    runs = [trained(k, SEEDS * k.seed + i) for i in range(SEEDS)]
    pass_rates, wrong = [untrained.pass_rate], []
    for update, pushed in enumerate(zip(*map(of_wrong_ones, runs)), 1):
        wrong.append(np.mean(pushed))
        if update % EVERY == 0:
            pass_rates.append([[tasks.exact_pass(r.trainer.policy).mean()] for r in runs])
            yield replace(untrained, pass_rate=np.concatenate(pass_rates, axis=1), wrong=np.array(wrong))


def paid(k, right):
    return k.wrong + (1 - k.wrong) * right + k.offset


def hooks(k, name):
    """The functions that a knob replaces in a file."""
    changed = {}
    if name in DIVIDED and k.ddof == 0:
        changed["advantage"] = lambda R, hp, batch: group_baselines.z_score(R, ddof=0)
    if k.weights != OWN:
        changed["weights"] = lambda mask, hp, batch: aggregation.MODES[k.weights](mask)
    return changed


def trained(k, seed):
    """The loop with this file on the hundred sums; the scorer's 1 and 0 become the rewards of the knobs."""
    file = FILES[k.plugin]

    def shape_reward(reward, hp, batch):
        return file.shape_reward(k.wrong + (1 - k.wrong) * reward + k.offset, hp, batch)

    return add_run(
        file,
        seed=seed,
        K=k.K,
        groups=COMPLETIONS // k.K,
        hyper=SETTING,
        hooks={**hooks(k, k.plugin), "shape_reward": shape_reward},
        exact_every=UPDATES,
    )


def of_wrong_ones(training):
    """The mean advantage of a wrong completion's tokens, an update."""
    for event in training.iterate(UPDATES):
        if event.stage == 3:
            batch = event.summary["batch"]
        elif event.stage == 5 and batch is not None:
            share = batch.response_mask * (batch.accuracy == 0)[:, None]
            pushed = (batch.advantage * share).sum() / max(share.sum(), 1.0)
        elif event.stage == 7:
            yield pushed


def start(seeds):
    return np.full((seeds, 1), tasks.exact_pass(tasks.checkpoint("add")).mean())


def progress(k, r):
    return ["update", r.updates, UPDATES]


def figure(k, r):
    return [*training_tab(k, r), *group_tab(k, r), *token_tab(k, r)]


def group_tab(k, r):
    right = min(k.right, k.K)
    first, last = ([a[i] for a in r.advantages.values()] for i in (0, -1))
    yield panel(
        "Advantage of each completion",
        "in the chosen file, exact; correct completions first",
        bars(np.arange(1, k.K + 1), r.advantages[k.plugin], "advantage", 1),
        label(0.6, -4.0, k.plugin, 1),
        x="completion",
        x_range=(0.4, k.K + 0.6),
        y_range=(-4.2, 6.6),
        ticks=ticks(k),
        tab="One group",
    )
    yield panel(
        "Advantages in the six files",
        "for the same group, exact; a pair for each file",
        *([bars(NAMES, first, "correct", 1)] if right else []),
        *([bars(NAMES, last, "wrong", 2)] if right < k.K else []),
        *([label(5.4, 5.6, "left: a correct one", 1, "right")] if right else []),
        *([label(5.4, 4.7, "right: a wrong one", 2, "right")] if right < k.K else []),
        y_range=(-4.2, 6.6),
        tab="One group",
    )


def token_tab(k, r):
    yield panel(
        "Push on one token",
        "−dL/dlogp relative to the largest, first pass",
        bars(np.arange(1, k.K + 1), r.push / max(np.abs(r.push).max(), 1e-12), "push", 1),
        label(0.6, 1.08, k.plugin, 1),
        x="completion",
        x_range=(0.4, k.K + 0.6),
        y_range=(-1.15, 1.35),
        ticks=ticks(k),
        tab="One token",
    )
    share = np.arange(k.K + 1) / k.K
    divided, plain = r.curve
    right = min(k.right, k.K)
    rings = [dots([right / k.K], [c[right]], "here", i, "here") for i, c in enumerate(r.curve, 1)]
    yield panel(
        "Total push of a group",
        "mean |A|, exact; rings: the group shown",
        line(share, divided, "divided by the deviation", 1),
        line(share, plain, "not divided", 2),
        *rings,
        label(0.5, 1.22, "solid: divided by deviation", 1, "center"),
        label(0.5, 1.08, "dashed: not divided", 2, "center"),
        x="share of correct completions",
        x_range=(-0.02, 1.02),
        y_range=(0, 1.4),
        tab="One token",
    )


def training_tab(k, r):
    update = np.arange(r.pass_rate.shape[1]) * EVERY
    floor = r.pass_rate[0, 0]
    yield by_update(
        TRAINED,
        "on 100 sums, exact; thick: mean of 3 runs; one pass, no KL penalty",
        line(update, r.pass_rate.mean(axis=0), "mean", 1),
        each_run(update, r.pass_rate),
        threshold(floor, "broken if the mean ends here or below", 0.0, outside=True),
        label(2, 0.93, k.plugin, 1),
        updates=UPDATES,
        tab="Training",
        front=True,
    )
    yield by_update(
        "Advantage of wrong completions",
        "mean over their tokens and over the runs",
        line(np.arange(1, len(r.wrong) + 1), np.clip(r.wrong, *LEVEL), "wrong", 2),
        line([0, UPDATES], [0, 0], "no push", 8, "reference"),
        label(UPDATES, 0.1, "above: pushed up", 2, "right"),
        label(UPDATES, -0.1, "below: pushed down", 2, "right", below=True),
        updates=UPDATES,
        y_range=LEVEL,
        tab="Training",
    )


def ticks(k):
    return dict(tickvals=list(range(1, k.K + 1, 1 + k.K // 16)))


def readouts(k, r):
    own = r.advantages[k.plugin]
    return [
        Readout("Largest |A| in the group", exactly(np.abs(own).max()), "", Algorithm.compute_advantages),
        Readout("Mean A in the group", exactly(own.mean()), "", Algorithm.compute_advantages),
        Readout("Total push of the group", exactly(one_group.total_push(own)), "", one_group.total_push),
        Readout("Do the rewards differ?", "yes" if r.kept else "no", "", one_group.informative),
        Readout(
            "Pass rate, mean over runs",
            r.pass_rate[:, -1].mean(),
            "",
            tasks.exact_pass,
            "violated" if damaged(r) else "",
        ),
    ]


def exactly(x):
    """0 without the last digits of floating-point arithmetic."""
    return 0.0 if abs(x) < 1e-9 else x


def gained(r):
    return exactly(r.pass_rate[:, -1].mean() - r.pass_rate[0, 0])


def damaged(r):
    return r.updates == UPDATES and gained(r) < LEARNED


def watched(k, r):
    return Gauge(
        "Gain in pass rate",
        gained(r),
        LEARNED,
        below=True,
        expression=f"pass_rate[{UPDATES}] - pass_rate[0] < {LEARNED:g}",
    )


def seen_at(k, r, cause):
    return At(TRAINED, None, None, "hardly better than at the start", "mean")


def broken(k, r):
    if not damaged(r):
        return None
    ends = f"The pass rate went from {r.pass_rate[0, 0]:.3f} to {r.pass_rate[:, -1].mean():.3f}."
    name = CAUSES.get(k.plugin, EQUAL)
    if k.wrong == 1:
        name = CAUSES["DAPO"] if k.plugin == "DAPO" else EQUAL
    why = Said(
        f"{ends} A wrong answer earns {k.wrong + k.offset:g} and a correct one {1 + k.offset:g}, {reason(k)}.",
        {
            "undoing it mends": lambda: not damaged(end(run, replace(k, **fix(k)))),
            "alike, or not": lambda: (paid(k, True) == paid(k, False)) == (name in (EQUAL, CAUSES["DAPO"])),
            "wrong ones are pushed up": lambda: k.plugin not in ALONE or r.wrong[0] > 0,
        },
    )
    return Break(why, fix(k), name)


EQUAL = "equal rewards in every group"
CAUSES = {
    "REINFORCE": "rewards that nothing compares",
    "PPO": "a critic that learns too late",
    "DAPO": "a comparison of lengths alone",
}


def reason(k):
    if k.wrong == 1 and k.plugin in ALONE:
        return "so there is nothing to learn, yet sampled answers can rise"
    if k.plugin == "REINFORCE":
        return "but nothing compares them, so any sampled answer can rise"
    if k.plugin == "PPO":
        return "and until the critic knows that, any sampled answer can rise"
    if k.plugin == "DAPO":
        return "so this file compares only lengths, which it charges for"
    return "so within a group there is nothing to compare"


def fix(k):
    values = dict(plugin="RLOO") if k.plugin in ALONE else {}
    return values | (dict(wrong=0.0) if k.wrong == 1 else {})


def worse(k, r):
    if r.updates < UPDATES or gained(r) >= WELL:
        return None
    starts, ends = r.pass_rate[0, 0], r.pass_rate[:, -1].mean()
    plain = replace(k, plugin="GRPO", wrong=0.0, offset=0.0)
    return Said(
        f"The pass rate rose only from {starts:.3f} to {ends:.3f}, far less than with GRPO and rewards of 1 and 0.",
        {"far less": lambda: end(run, plain).pass_rate[:, -1].mean() > ends + 0.1},
    )


def holds(k, r):
    went = f"The pass rate went from {r.pass_rate[0, 0]:.3f} to {r.pass_rate[:, -1].mean():.3f}"
    own, right = r.advantages[k.plugin], min(k.right, k.K)
    if not np.abs(r.push).max() > 1e-9:
        return Said(f"{went}. The group shown pushes nothing.", {"nothing": lambda: np.abs(own).max() < 1e-9})
    if 0 < right < k.K and own[:right].mean() <= own[right:].mean():
        return Said(
            f"{went}. In the group shown, correct completions pay for their length.",
            {"in the group drawn": lambda: own[:right].mean() <= own[right:].mean()},
        )
    if 0 < right < k.K:
        return Said(
            f"{went}. Correct completions are pushed up more than wrong ones.",
            {"in the group drawn": lambda: own[:right].mean() > own[right:].mean()},
        )
    alike = "correct" if right else "wrong"
    return Said(
        f"{went}. All completions in the group shown are {alike}.",
        {"all alike": lambda: np.ptp(r.rewards) == 0 and r.rewards[0] == k.offset + (1 if right else k.wrong)},
    )


FAMILY = (
    "the means of the six files lie between 0.85 and 0.89"  # of three runs each, tests/lessons/test_04_algorithm.py
)
GUESS = Guess(
    "Correct answers earn 1, wrong ones 0. How far apart are the six files’ pass rates after 60 updates?",
    ("more than 0.3", "about 0.15", "less than 0.08"),
    Knobs(),
    2,
    lambda k, r: f"{k.plugin} ends at {r.pass_rate[:, -1].mean():.2f}. Over twenty seeds, {FAMILY}.",
)


# ── the first screen ──
TWO_RUNS = "GRPO", "REINFORCE"


def opened(plain, other):
    """The sums that the language model solves, and the advantage of its wrong completions."""
    at, update = np.arange(0, UPDATES + 1, EVERY), np.arange(1, UPDATES + 1)
    right = [100 * r.pass_rate.mean(axis=0) for r in (plain, other)]
    return [
        by_update(
            "Correct answers of a language model",
            "of 100 sums, mean of three runs",
            *both(TWO_RUNS, at, *right),
            dots([0], right[1][:1], "the same start", 1),
            label(UPDATES, right[0][-1] + 3, TWO_RUNS[0], 8, "right"),
            label(UPDATES, right[1][-1] + 3, TWO_RUNS[1], 1, "right"),
            updates=UPDATES,
            y_range=(0, 104),
        ),
        by_update(
            "Push on a wrong answer",
            "above 0: up, below 0: down",
            *both(TWO_RUNS, update, plain.wrong, other.wrong),
            line([0, UPDATES], [0, 0], "no push", 8, "other"),
            label(UPDATES, -0.55, TWO_RUNS[0], 8, "right"),
            label(UPDATES, float(other.wrong[-1]) + 0.1, TWO_RUNS[1], 1, "right"),
            updates=UPDATES,
            y_range=(-2.5, 1.5),
        ),
    ]


OPENING = Opening(Knobs(wrong=0.9), Knobs(plugin="REINFORCE", wrong=0.9), opened, tasks.exact_pass, TWO_RUNS)
