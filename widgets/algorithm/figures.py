"""The small figures of lesson 04: six files and one group, their six functions, the total push, a lenient judge."""

from functools import cache

import numpy as np

from sim.algorithms.names import FILES, FUNCTIONS, differing
from sim.estimators import group_baselines
from sim.experiments import one_group
from sim.experiments.standard_runs import add_run
from sim.framework.algorithm import Algorithm
from sim.worlds import tasks
from widgets.frame.drawing.marks import bars, dots, label, line, panel, region
from widgets.frame.drawing.small_figures import Figure, Handle
from widgets.frame.drawing.written import decimal

NAMES = ("REIN-<br>FORCE", "PPO", "GRPO", "RLOO", "DAPO", "Dr.<br>GRPO")  # two lines under a narrow bar
K, VALUE = 8, 0.33  # completions of the group; what PPO's critic says of each token


# ── six files ──
@cache
def credit(right):
    """{file: advantages of a group with so many right ones, which come first}."""
    batch = one_group.batch_of(np.arange(K) < right, [4] * K, VALUE)
    return {name: one_group.advantages(Algorithm(file), batch) for name, file in FILES.items()}


def six(right):
    first, last = ([A[i] for A in credit(right).values()] for i in (0, -1))
    return [
        panel(
            "Advantages of one group in six files",
            "a correct and a wrong completion",
            *([bars(NAMES, first, "a correct one", 1)] if right else []),
            *([bars(NAMES, last, "a wrong one", 2)] if right < K else []),
            line(NAMES, [0] * len(NAMES), "", 8, "reference"),
            *([label("Dr.<br>GRPO", 3.45, "left: " * (right < K) + "a correct one", 1, "right")] if right else []),
            *([label("Dr.<br>GRPO", 2.75, "right: " * (right > 0) + "a wrong one", 2, "right")] if right < K else []),
            y_range=(-2.7, 4.2),
        )
    ]


def credited(right):
    dead = sum(np.abs(A).max() < 1e-9 for A in credit(right).values())
    if dead:
        return f"All eight are {'correct' if right else 'wrong'}: {dead} of the six files push nothing."
    A = credit(right)
    credits = "; ".join(
        f"{name} {decimal(A[name][0])} and {decimal(A[name][-1])}" for name in ("REINFORCE", "RLOO", "GRPO")
    )
    return f"{right} of 8 correct. Advantages of a correct and a wrong completion: {credits}."


# ── six functions ──
BASE = "REINFORCE"
TITLES = {"shape_reward": "who gets credit?", "surrogate": "how far to move?"}
WRITTEN = {  # what each function says, in short; DAPO's clip goes up to 1.28
    "shape_reward": dict.fromkeys(FILES, "R") | {"DAPO": "R − a fee for length"},
    "keep_group": dict.fromkeys(FILES, "every group") | {"DAPO": "no dead group"},
    "advantage": {
        "REINFORCE": "R",
        "PPO": "R − V",
        "GRPO": "(R − mean) / deviation",
        "RLOO": "R − mean of the others",
        "DAPO": "(R − mean) / deviation",
        "Dr.GRPO": "R − mean",
    },
    "surrogate": dict.fromkeys(FILES, "A ρ, until ρ has moved 0.2")
    | dict.fromkeys(["REINFORCE", "RLOO"], "A")
    | {"DAPO": "A ρ, until 0.2 down or 0.28 up"},
    "weights": dict.fromkeys(["REINFORCE", "RLOO"], "1 / completions")
    | dict.fromkeys(["PPO", "DAPO"], "1 / tokens of the batch")
    | {"GRPO": "1 / its own tokens / completions", "Dr.GRPO": "1 / longest possible / completions"},
    "kl_term": dict.fromkeys(FILES, "none") | {"GRPO": "a KL penalty"},
}


def functions(name):
    changed, marks, y = differing(FILES[name], FILES[BASE]), [], 8.0
    for function in FUNCTIONS:
        if function in TITLES:
            marks.append(label(0, y, TITLES[function]))
            y -= 1
        lit = function in changed
        if lit:
            marks.append(region(y - 0.22, y + 0.72, axis="y"))
        series = 1 if lit else 8
        marks += [label(0.03, y, function, series), label(0.33, y, WRITTEN[function][name], series)]
        y -= 1
    return [
        panel(
            "The six functions of a file",
            "highlighted: different from REINFORCE",
            *marks,
            x_range=(0, 1),
            y_range=(0.6, 9.0),
            bare=True,
        )
    ]


def edited(name):
    changed = differing(FILES[name], FILES[BASE])
    if not changed:
        return "The simplest file: the advantage is the reward, and the push is the advantage."
    many = "one function" if len(changed) == 1 else f"{len(changed)} functions"
    return f"{name} differs from REINFORCE in {many}: {', '.join(changed)}."


# ── the total push ──
DIVIDED, PLAIN = "divided by the deviation", "not divided"
MADE = {DIVIDED: group_baselines.z_score, PLAIN: group_baselines.less_mean}


@cache
def pushes(how):
    return one_group.total_push(MADE[how](group_baselines.outcomes(K)))


def push(how):
    (other,) = set(MADE) - {how}
    share = np.arange(K + 1) / K
    return [
        panel(
            "Total push of a group",
            "mean of |A| over its eight completions",
            line(share, pushes(other), other, 8, "other"),
            line(share, pushes(how), how, 1),
            dots(share, pushes(how), how, 1),
            label(0.5, float(pushes(how)[K // 2]) + 0.04, how, 1, "center"),
            x="share of correct completions",
            x_range=(-0.02, 1.02),
            y_range=(0, 1.2),
        )
    ]


def pulled(how):
    lone, half = pushes(how)[1], pushes(how)[K // 2]
    return f"One correct of eight: {lone:.2f}. Four correct of eight: {half:.2f}, {half / lone:.1f} times as much."


# ── a lenient judge ──
UPDATES, RUNS = 60, 3
LEVELS = (0.0, 0.9, 1.0)


@cache
def ended(name, wrong):
    """The exact pass rate after 60 updates, mean of three runs, where a wrong answer is paid `wrong`."""
    file = FILES[name]
    paid = {"shape_reward": lambda reward, hp, batch: file.shape_reward(wrong + (1 - wrong) * reward, hp, batch)}
    ends = []
    for seed in range(RUNS):
        run = add_run(
            file, seed=seed, hyper=dict(inner_epochs=1, beta=0.0), hooks=paid, groups=16, K=K, exact_every=UPDATES
        )
        for _ in run.frames(UPDATES):
            pass
        ends.append(tasks.exact_pass(run.trainer.policy).mean())
    return float(np.mean(ends))


@cache
def start():
    return float(tasks.exact_pass(tasks.checkpoint("add")).mean())


def level(wrong):
    ends = [ended(name, wrong) for name in FILES]
    return [
        panel(
            "Six files under the same judge",
            "pass rate after 60 updates, mean of three runs",
            bars(NAMES, ends, "after 60 updates", 1, text=[f"{rate:.2f}" for rate in ends]),
            line(NAMES, [start()] * len(NAMES), "start", 8, "reference"),
            label("Dr.<br>GRPO", 0.93, "line: the start, 0.33", 8, "right"),
            y_range=(0, 1.08),
        )
    ]


def judged(wrong):
    lost = [name for name in FILES if ended(name, wrong) < start() - 0.01]
    stay = [name for name in FILES if abs(ended(name, wrong) - start()) < 1e-9]
    paid = f"If a wrong answer earns {wrong:g}, "
    if stay:
        return f"{paid}{len(lost)} files end far below the start, and {len(stay)} never leave it."
    if lost:
        return f"{paid}{', '.join(lost)} ends below its start."
    low, high = (f"{f(ended(name, wrong) for name in FILES):.2f}" for f in (min, max))
    return f"{paid}the six files end between {low} and {high}."


FIGURES = {
    "files": Figure(
        six,
        one_group.advantages,
        Handle("Correct", tuple(range(K + 1)), start=1, words=tuple(f"{n} of {K}" for n in range(K + 1))),
        credited,
    ),
    "functions": Figure(functions, differing, Handle("File", tuple(FILES), start=2, words=tuple(FILES)), edited),
    "push": Figure(
        push, one_group.total_push, Handle("Advantage", (DIVIDED, PLAIN), start=0, words=(DIVIDED, PLAIN)), pulled
    ),
    "level": Figure(
        level,
        tasks.exact_pass,
        Handle("Reward for a wrong answer", LEVELS, start=1, words=tuple(f"{wrong:g}" for wrong in LEVELS)),
        judged,
    ),
}
