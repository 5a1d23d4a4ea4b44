"""A policy that chooses among honest and dishonest ways to answer, trained on what a check pays: five kinds of task,
four checks of each, chance errors, and what the task solves.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.verifiers import checkers, strategies
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider, toggle
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing.marks import bars, both, by_update, dots, each_run, heat, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "A policy chooses how to answer, and a check rewards it, in six runs"

UPDATES, RUNS = 400, 6
PROMPTS, K = 16, 8  # of a grouped update
COST = f"{RUNS} × {UPDATES} updates of {PROMPTS * K} completions"
LOST = 0.1  # a run that solves so much less at the end than at its peak is broken
BEHIND = 0.15  # so far behind the best honest way is worse
GROUPED, NATURAL, SOFTMAX = "grouped, sampled", "natural, exact", "softmax, exact"
CALLED = {
    "substring": "answer occurs",
    "eval_expr": "computes it",
    "last_int": "last number",
    "strict": "one exact line",
}
GRADERS = {"strict": "exact types", "strict+hidden": "hidden tests"}  # of code, as the page calls them


@dataclass(frozen=True)
class Knobs:
    archetype: str = choice("Task", "mathematics", list(strategies.STRATEGIES))
    check: int = ladder("Strictness of check", 4, [1, 2, 3, 4])
    prior: float = ladder("Share of the rarest way", 0.05, [0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2], symbol="q")
    passed: int = slider("Wrong answers passed", 0, low=0, high=70, step=5, unit="%")
    failed: int = slider("Correct answers failed", 0, low=0, high=70, step=5, unit="%")
    sealed: bool = toggle("Expected state sealed", False)
    beta: float = ladder("KL coefficient", 0.0, [0.0, 0.03, 0.1, 0.2, 0.3, 1.0], symbol="β")
    method: str = choice("Kind of update", GROUPED, [GROUPED, NATURAL, SOFTMAX])
    learning_rate: float = ladder("Learning rate", 1.0, [0.05, 0.1, 0.2, 0.5, 1.0])
    seed: int = slider("Seed", 0, low=0, high=99, step=1)


LEAD = ("check", "passed")
PRESETS = {
    "Exact line": Knobs(),
    "Last number": Knobs(check=3),
    "Answer occurs": Knobs(check=1),
    "Exact state of a tool": Knobs(archetype="tool use"),
    "Six tenths pass by chance": Knobs(check=3, passed=60, failed=70),
}


@dataclass(frozen=True)
class Result:
    check: str  # its name in strategies.CHECKS
    verdict: np.ndarray  # (S,) what the check pays each way, without chance errors
    proxy: np.ndarray  # (S,) with them
    true: np.ndarray  # (S,) how often each way solves the task
    run: strategies.Run


def check_of(k):
    """The name of the check in force; a judge has three."""
    checks = strategies.CHECKS[k.archetype]
    return checks[min(k.check, len(checks)) - 1]


def called(archetype, check):
    return CALLED.get(check, check) if archetype == "mathematics" else GRADERS.get(check, check).replace("_", " ")


def simulate(k):
    verdict, true = strategies.payoffs(k.archetype, check_of(k), k.sealed)
    proxy = strategies.noisy(verdict, 1 - k.failed / 100, k.passed / 100)
    pi0 = strategies.start(k.archetype, k.prior)
    step = {
        GROUPED: lambda: strategies.grouped(proxy, np.random.default_rng(k.seed), pi0, k.beta, PROMPTS, K),
        NATURAL: lambda: strategies.natural(proxy, pi0, k.beta),
        SOFTMAX: lambda: strategies.softmax_gradient(proxy, pi0, k.beta),
    }[k.method]()
    runs = RUNS if k.method == GROUPED else 1
    run = strategies.run_policy(proxy, true, pi0, step, k.learning_rate, UPDATES, runs)
    return Result(check_of(k), verdict, proxy, true, run)


def run(k):
    yield simulate(k)


def figure(k, r):
    return [*training_tab(k, r), *check_tab(k, r)]


BOTH = "Reward and tasks solved"
EVERY = 2  # a curve has every second update, a map every sixteenth
AT = np.arange(0, UPDATES + 1, EVERY)
COLUMNS = np.arange(0, UPDATES + 1, 16)
NO_TICKS = dict(tickvals=[], ticktext=[])  # ways are named inside the plot, where their words have room


def training_tab(k, r):
    solved, paid = r.run.true[::EVERY], r.run.proxy[::EVERY]
    ends = float(paid[-1, 0]), float(solved[-1, 0])
    apart = abs(ends[0] - ends[1]) > 0.08
    runs = f"{RUNS} runs" if k.method == GROUPED else "one run"
    yield by_update(
        BOTH,
        f"share; {runs}; dashed: 0.1 below the peak",
        line(AT, solved[:, 0], "solved", 1),
        *([each_run(AT, solved[:, 1:].T)] if k.method == GROUPED else []),
        line(AT, paid[:, 0], "reward", 2),
        label(UPDATES, ends[0] + 0.01, "reward" if apart else "reward and solved", 2 if apart else 0, "right"),
        *([label(UPDATES, ends[1] + 0.01, "solved", 1, "right")] if apart else []),
        threshold(max(peak(r) - LOST, 0.0), "", 0.0),
        updates=UPDATES,
        y_range=(0, 1.1),
        tab="Training",
        front=True,
    )
    names = strategies.names(k.archetype)
    rows = list(range(len(names)))[::-1]
    yield panel(
        "How the policy answers",
        "share of each way; a stronger color means more",
        heat(COLUMNS, rows, r.run.policies[COLUMNS, 0].T, "share", 0.0, 1.0),
        *named(names, -12, 0.26),
        x="update",
        x_range=(-220, UPDATES + 8),
        y_range=(-0.5, len(names) - 0.5),
        ticks=dict(tickvals=[0, 200, 400]),
        y_ticks=NO_TICKS,
        tab="Training",
    )


def named(names, x, up):
    """The name of each way at the left of its row, the first at the top."""
    return [label(x, row - up, name, 0, "right") for row, name in zip(reversed(range(len(names))), names)]


def check_tab(k, r):
    names = strategies.names(k.archetype)
    rows = list(range(len(names)))[::-1]
    yield panel(
        "Reward of each way, and what it solves",
        f"circles: solved; squares: reward by “{called(k.archetype, r.check)}”",
        dots(r.proxy, [row - 0.13 for row in rows], "paid", 2),
        dots(r.true, [row + 0.13 for row in rows], "solved", 1),
        *named(names, -0.06, 0.2),
        x="share of attempts",
        x_range=(-0.36, 1.06),
        y_range=(-0.6, len(names) - 0.4),
        ticks=dict(tickvals=[0, 0.5, 1]),
        y_ticks=NO_TICKS,
        tab="The check",
    )
    reports = [checkers.report(checkers.CHECKERS[name]) for name in strategies.CHECKS["mathematics"]]
    paid = [len(report.paid) for report in reports]
    yield panel(
        "Exploits accepted",
        f"of {reports[0].exploits} in mathematics; all {reports[0].correct} correct answers pass",
        bars([1, 2, 3, 4], paid, "exploits accepted", 2, text=[str(n) for n in paid]),
        x="check",
        x_range=(0.4, 4.6),
        y_range=(0, reports[0].exploits),
        ticks=dict(tickvals=[1, 2, 3, 4], ticktext=["1", "2", "3", "4"]),
        tab="The check",
    )


def peak(r):
    return float(r.run.true.max(axis=0).mean())


def lost(r):
    mean = float(strategies.lost(r.run).mean())
    return mean if mean > 1e-12 else 0.0  # 6e-17 is rounding


def end(r):
    return float(r.run.true[-1].mean())


def paid_for_nothing(r):
    """Which ways solve nothing and are paid as well as the best honest one or better, (S,)."""
    honest = r.verdict[r.true > 0].max()
    return (r.true == 0) & (r.verdict >= honest) & (r.verdict > 0)


def readouts(k, r):
    return [
        Readout("Reward at the end", float(r.run.proxy[-1].mean()), "", strategies.run_policy),
        Readout("Tasks solved at the end", end(r), "", strategies.run_policy, "violated" if broken(k, r) else ""),
        Readout("Tasks solved at the peak", peak(r), "", strategies.run_policy),
        Readout("Worthless ways rewarded", float(((r.true == 0) & (r.verdict > 0)).sum()), "", strategies.payoffs),
        Readout("TPR minus FPR", judgment(k), "", strategies.noisy),
    ]


def judgment(k):
    """True positive rate less false positive rate of the chance errors."""
    return (100 - k.failed - k.passed) / 100


def watched(k, r):
    code = f"(solved.max(axis=0) - solved[-1]).mean() > {LOST:g}"
    return Gauge("Loss of solved tasks since the peak", lost(r), LOST, "", expression=code)


PAID, DOOR, CHANCE, MIXED = (
    "a check that rewards wrong answers",
    "an expected answer within reach",
    "random errors that outweigh the check",
    "a combination of settings",
)
GONE = 0.02  # of the answers: a way with less has died out


def cause(k, r):
    """The one thing that alone keeps what is solved where it is undone, or MIXED where none does."""
    in_reach = k.archetype == "tool use" and not k.sealed and r.check == "exact_state"
    of_check = DOOR if in_reach else PAID
    undoing = {of_check: stricter(k, r), CHANCE: dict(passed=0, failed=0)}
    order = (CHANCE, of_check) if judgment(k) <= 0 else (of_check, CHANCE)
    for name in order:
        elsewhere = replace(k, **undoing[name])
        if elsewhere != k and lost(simulate(elsewhere)) <= LOST:
            return name
    return MIXED


def seen_at(k, r, cause):
    return At(BOTH, None, None, "{y:.2f} solved, far below its peak", "solved")


def broken(k, r):
    if lost(r) <= LOST:
        return None
    name = cause(k, r)
    return Break(why(k, r, name), fix(k, r), name)


def why(k, r, name):
    paid, solved = f"{r.run.proxy[-1].mean():.2f}", f"{end(r):.2f}"
    words = {
        PAID: f"The reward is {paid}, but {solved} is solved. {thief(k, r)}.",
        DOOR: f"The reward is {paid}, but {solved} is solved. The policy reads the state that it is compared with.",
        CHANCE: f"{solved} is solved, compared with {peak(r):.2f} at the peak. {k.passed} % of wrong answers pass, "
        f"and {100 - k.failed} % of correct ones.",
        MIXED: f"The reward is {paid}, and {solved} is solved, compared with {peak(r):.2f} at the peak. No single "
        "change brings it back.",
    }
    fell = {"less is solved than at its peak": lambda: solves(k, r) < r.run.true.max(axis=0).mean() - LOST + 1e-9}
    return Said(words[name], {**amounts(k, r), **fell, **causing(k, r, name)})


def solves(k, r):
    """Solved at the end, once more: the ways in use by how often each solves the task."""
    return float((r.run.policies[-1] * strategies.true_rewards(k.archetype)).sum(axis=1).mean())


def amounts(k, r):
    """What is asserted of reward and solved: a right verdict passes but for k.failed, a wrong one by k.passed."""
    noisy = (r.verdict * (100 - k.failed) + (1 - r.verdict) * k.passed) / 100
    return {
        "so much is paid": lambda: abs((r.run.policies[-1] @ noisy).mean() - r.run.proxy[-1].mean()) < 1e-9,
        "so much is solved": lambda: abs(solves(k, r) - end(r)) < 1e-9,
    }


def causing(k, r, name):
    """What is asserted of a cause: undone it mends, and it is at work."""

    def mends(turned):
        return replace(k, **turned) != k and lost(simulate(replace(k, **turned))) <= LOST

    exact = dict(passed=0, failed=0)
    if name == MIXED:
        return {"nothing alone mends it": lambda: not mends(stricter(k, r)) and not mends(exact)}
    claims = {"undone, it is mended": lambda: mends(exact if name == CHANCE else stricter(k, r))}
    if name == CHANCE:
        return claims | {"the check errs by chance": lambda: k.passed or k.failed}
    if name == DOOR:
        reads = strategies.names(k.archetype).index("read answer")
        return claims | {"it reads what it is compared with": lambda: r.run.policies[-1, :, reads].mean() > BEHIND}
    share = ((r.true == 0) & (r.verdict > 0)) * r.run.policies[-1].mean(axis=0)
    return claims | {"worthless ways are paid and used": lambda: share.max() > GONE}


def thief(k, r):
    """The worthless way that the check pays and the policy uses most, and how much."""
    share = np.where((r.true == 0) & (r.verdict > 0), r.run.policies[-1].mean(axis=0), 0.0)
    way = int(share.argmax())
    if not share[way]:
        return "The check rewards what does not solve the task"
    name = strategies.names(k.archetype)[way]
    return f"{100 * share[way]:.0f} % of the answers are “{name}”, which earns a reward and solves nothing"


def stricter(k, r):
    """The nearest check that pays no worthless way as well as an honest one, and a seal where that needs one."""
    for check in range(k.check, 5):
        sealed = k.sealed or (k.archetype == "tool use" and check == 4)
        verdict, true = strategies.payoffs(k.archetype, check_of(replace(k, check=check)), sealed)
        if not paid_for_nothing(replace(r, verdict=verdict, true=true)).any():
            break
    return dict(check=check, sealed=sealed)


def fix(k, r):
    """A check that pays no worthless way as well as an honest one, a sealed state, and no chance errors, as needed."""
    return recovery.different(k, stricter(k, r) | (dict(passed=0, failed=0) if judgment(k) < 0.4 else {}))


def worse(k, r):
    best, first = float(r.true[r.verdict > 0].max()), float(r.run.true[0].mean())
    if end(r) < first - max(0.02, 2 * r.run.true[-1].std()):
        return Said(
            f"{end(r):.2f} is solved at the end, compared with {first:.2f} before training. The loss is too "
            "small for a break.",
            amounts(k, r)
            | {"less than before": lambda: solves(k, r) < strategies.start(k.archetype, k.prior) @ r.true},
        )
    paid = float((r.run.policies[-1] @ r.verdict).mean())  # without chance errors
    if r.run.proxy[-1].mean() - end(r) > BEHIND + 0.05 and paid - end(r) > BEHIND:
        return Said(
            f"The reward is {r.run.proxy[-1].mean():.2f}, but {end(r):.2f} is solved. The check rewards what does "
            "not solve the task.",
            amounts(k, r) | {"it pays more than is solved": lambda: unearned(r) > BEHIND},
        )
    if end(r) < best - BEHIND - 0.02:
        return Said(
            f"{end(r):.2f} is solved at the end. The best way that earns a reward solves {best:.2f}, and "
            "training has not reached it.",
            amounts(k, r)
            | {
                "one that is paid solves so much": lambda: (
                    best in r.true[r.verdict > 0] and best > solves(k, r) + BEHIND
                )
            },
        )
    return None


def unearned(r):
    """Mean over the answers of what the check pays beyond what is solved, less what it withholds."""
    return float(sum((share * (r.verdict - r.true)).sum() for share in r.run.policies[-1]) / len(r.run.policies[-1]))


def holds(k, r):
    honest = np.flatnonzero(r.true > 0)
    best = honest[r.true[honest].argmax()]
    names, shares = strategies.names(k.archetype), r.run.policies[-1].mean(axis=0)
    ends = f"The reward is {r.run.proxy[-1].mean():.2f}, and {end(r):.2f} is solved."
    if r.verdict[best] == 0:
        share = float(shares[best])
        fate = "dies out" if share < GONE else f"keeps a share of {share:.2f}"
        return Said(
            f"{ends} “{names[best]}” would solve {r.true[best]:.2f}, but this check never pays it. It {fate}.",
            amounts(k, r)
            | {
                "it solves most": lambda: r.true[best] == r.true.max(),
                "this check never calls it right": lambda: (
                    not strategies.payoffs(k.archetype, r.check, k.sealed)[0][best]
                ),
                "its share is so much": lambda: share < GONE or f"{r.run.policies[-1, :, best].mean():.2f}" in fate,
            },
        )
    if (wanting := np.flatnonzero(paid_for_nothing(r))).size:
        way = wanting[r.proxy[wanting].argmax()]
        return Said(
            f"{ends} “{names[way]}” would earn {r.proxy[way]:.2f}, but its share is only {shares[way]:.3f}.",
            amounts(k, r) | {"it solves nothing, and is paid": lambda: r.true[way] == 0 < r.verdict[way]},
        )
    return Said(
        f"{ends} The way that earns the most also solves the most.",
        amounts(k, r)
        | {"the best paid solves most": lambda: r.true[np.isclose(r.proxy, r.proxy.max())].max() == r.true.max()},
    )


GUESS = Guess(
    "At random, 30 % of wrong answers pass and 30 % of correct ones fail. How many tasks are solved at the end?",
    ("half as many", "a fifth fewer", "nearly as many"),
    Knobs(passed=30, failed=30),
    2,
    lambda k, r: f"{end(r):.2f} is solved, compared with {end(simulate(Knobs())):.2f} if the check never errs.",
)


DARE = "Can you raise the reward while nothing is solved?"
TWO_RUNS = "strict check", "loose check"


def opening(plain, other):
    """Tasks solved, and the reward that a log would show."""
    for title, note, curves in (
        (
            "Products solved",
            "share of the tasks in the first of six runs",
            [r.run.true[::EVERY, 0] for r in (plain, other)],
        ),
        ("Mean reward", "as the training log shows it", [r.run.proxy[::EVERY, 0] for r in (plain, other)]),
    ):
        solved = title == "Products solved"
        yield by_update(
            title,
            note,
            *both(TWO_RUNS, AT, *curves),
            label(UPDATES, float(curves[0][-1]) + 0.02, TWO_RUNS[0], 8, "right"),
            label(UPDATES, float(curves[1][-1]) + 0.02, TWO_RUNS[1], 1, "right"),
            updates=UPDATES,
            y_range=(0, 0.8 if solved else 1.12),
        )


OPENING = Opening(Knobs(), Knobs(check=1), lambda *both: list(opening(*both)), strategies.run_policy, TWO_RUNS)
