"""What to optimize in a given number of weeks, and how to find out what is slow."""

from dataclasses import dataclass

import numpy as np

from sim.synthesis import budget, diagnosis
from sim.synthesis.budget import MENU, NAMES, ROLES
from sim.words import counted
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider, toggle
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing.marks import bars, dots, heat, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "What weeks of work buy, and how to find what is slow"

BEST, OWN = "best set", "your own"
RULES = {"by return": "return", "by gain": "gain", "by speed-up": "speed-up"}  # the words of a knob: of the model
BEHIND = 0.10  # of the best set's step
NOTED = 0.03  # likewise: said, and no more
WASTED = 4  # weeks without effect
SLOW = 60  # expected minutes
MOST = 40  # weeks on the axis
NEXT_TO_NOTHING = 1e-4  # of the first step: a set that takes away all that there is
HIGH = 1.6  # of the axis of steps
ORDERS = {
    "playbook": diagnosis.PLAYBOOK,
    "profiler first": ("profiler", "wall clock", "utilization", "memory", "Nsight", "ratios"),
    "Nsight first": ("Nsight", "wall clock", "utilization", "profiler", "memory", "ratios"),
    "backwards": diagnosis.PLAYBOOK[::-1],
}


def share(name, of):
    return slider(f"{name} share (assumed)", of, low=0, high=90, step=1, unit="%")


def bought(name):
    weeks = next(option.weeks for option in MENU if option.name == name)
    return toggle(f"{name.capitalize()} ({counted(weeks, 'week')})", False)


@dataclass(frozen=True)
class Knobs:
    rule: str = choice("Rule for buying", BEST, [BEST, *RULES, OWN])
    weeks: int = slider("Weeks of work", 8, low=0, high=40, step=1)
    cause: str = choice("Actual cause", "long tail", list(diagnosis.CAUSES))
    order: str = choice("Order of the tests", "playbook", list(ORDERS))
    scale: float = slider("Scale of all speed-ups (assumed)", 1.0, low=0.25, high=2, step=0.25)
    batch_tuning: bool = bought("batch tuning")
    shared_prefixes: bool = bought("shared prefixes")
    mismatch_fix: bool = bought("mismatch fix")
    fp8_rollout: bool = bought("rollout in fp8")
    drafted_tokens: bool = bought("drafted tokens")
    partial_rollouts: bool = bought("partial rollouts")
    packing: bool = bought("packing")
    fused_logprobs: bool = bought("fused log-probs")
    less_recomputation: bool = bought("less recomputation")
    no_reference: bool = bought("no reference")
    fast_sync: bool = bought("fast weight sync")
    checkers: bool = bought("pool of checkers")
    asynchrony: bool = bought("asynchrony")
    extra: float = slider("Updates with uncorrected samples (assumed)", 2.0, low=1, high=4, step=0.1, unit="×")
    rollout: int = share("Rollout", 43)
    tail: int = share("Tail", 25)
    train: int = share("Training", 17)
    reference: int = share("Reference", 5)
    sync: int = share("Weight sync", 5)
    verify: int = share("Checking", 3)
    other: int = share("Remaining", 2)
    gpus: int = ladder("GPUs that asynchrony splits", 64, [2**n for n in range(3, 13)], symbol="G")


OWN_KNOBS = dict(
    zip(
        NAMES,
        (
            *("batch_tuning", "shared_prefixes", "mismatch_fix", "fp8_rollout", "drafted_tokens", "partial_rollouts"),
            *("packing", "fused_logprobs", "less_recomputation", "no_reference", "fast_sync", "checkers", "asynchrony"),
        ),
    )
)
KNOB_GROUPS = {
    "Diagnosis": ("cause", "order"),
    "Items of your own choice": (
        "batch_tuning",
        "shared_prefixes",
        "mismatch_fix",
        "fp8_rollout",
        "drafted_tokens",
        "partial_rollouts",
        "packing",
        "fused_logprobs",
        "less_recomputation",
        "no_reference",
        "fast_sync",
        "checkers",
        "asynchrony",
    ),
    "Shares of a step": ("rollout", "tail", "train", "reference", "sync", "verify", "other"),
    "Other assumptions": ("scale", "extra", "gpus"),
}
PRESETS = {
    "8 weeks, the best set": Knobs(),
    "8 weeks, by return": Knobs(rule="by return"),
    "12 weeks, the best set": Knobs(weeks=12),
    "fp8, batch and packing": Knobs(rule=OWN, fp8_rollout=True, batch_tuning=True, packing=True, weeks=7),
    "Asynchrony after a fast sync": Knobs(
        rule=OWN, fast_sync=True, mismatch_fix=True, asynchrony=True, batch_tuning=True, weeks=16
    ),
    "Agents, 8 weeks": Knobs(rollout=30, tail=30, train=10, reference=3, sync=4, verify=21, other=2),
}
GUESS = Guess(
    "With eight weeks, buying by return ends 13 % behind the best set. How far behind does it end with twenty weeks?",
    ("at most 5 %", "13 % again", "25 %"),
    Knobs(rule="by return", weeks=20),
    2,
    lambda k, r: (
        f"{100 * r.behind:.0f} %: the step falls to {r.step:.3f} of the original, but the best set for {k.weeks} weeks "
        f"brings it to {r.best:.3f}."
    ),
)


@dataclass(frozen=True)
class Result:
    names: tuple  # what is bought, in this order
    spent: np.ndarray  # weeks, from 0 on
    times: np.ndarray  # step after each purchase, in units of the start
    quality: float  # time to quality, in the same units
    best: float  # the best set's step for as many weeks
    frontier: np.ndarray  # of 0 to MOST weeks
    idle: tuple  # names that bought nothing
    before: np.ndarray  # what each role takes alone
    after: np.ndarray
    session: list  # [(minutes, causes left)]
    expected: float  # minutes

    @property
    def step(self):
        return float(self.times[-1])

    @property
    def behind(self):
        return self.step / max(self.best, NEXT_TO_NOTHING) - 1


def shares(k):
    """Of the roles, together 1."""
    percent = np.array([k.rollout, k.tail, k.train, k.reference, k.sync, k.verify, k.other], float)
    return tuple((percent / max(percent.sum(), 1.0)).tolist())


def chosen(k):
    """Names in the order in which they are bought."""
    if k.rule == BEST:
        return budget.best(k.weeks, shares(k), k.gpus, k.scale)
    if k.rule == OWN:
        return tuple(name for name, knob in OWN_KNOBS.items() if getattr(k, knob))
    return budget.in_order(RULES[k.rule], k.weeks, shares(k), k.gpus, k.scale)


def weeks_allowed(k, names):
    """Weeks that the best set may take: the knob's, or those that were spent where the reader chooses what to buy."""
    return sum(option.weeks for option in MENU if option.name in names) if k.rule == OWN else k.weeks


def idle(k):
    if k.rule == OWN:
        return dict(weeks="you choose the items")
    return dict.fromkeys(OWN_KNOBS.values(), "the rule chooses the items")


def run(k):
    names, of_roles, menu = chosen(k), shares(k), budget.scaled(MENU, k.scale)
    spent, times = budget.course(names, of_roles, k.gpus, k.scale)
    row = np.array([[False] * len(NAMES), [name in names for name in NAMES]])
    before, after = budget.remaining(row, of_roles, menu)
    order = ORDERS[k.order]
    best = budget.best(weeks_allowed(k, names), of_roles, k.gpus, k.scale)
    yield Result(
        names,
        spent,
        times,
        budget.time_to_quality(names, of_roles, k.gpus, menu, k.extra),
        budget.step_time(best, of_roles, k.gpus, menu),
        budget.frontier(MOST, of_roles, k.gpus, k.scale),
        budget.idle(names, of_roles, k.gpus, menu),
        before,
        after,
        diagnosis.session(k.cause, order),
        diagnosis.expected_minutes(order),
    )


# ── the picture ──


def figure(k, r):
    return [by_week(k, r), roles(k, r), causes(k, r), bill(k, r)]


def by_week(k, r):
    end = (int(r.spent[-1]), r.quality)
    marks = [
        line(np.arange(MOST + 1), r.frontier, "best set", 8, "reference"),
        line(r.spent, r.times, "bought", 1, "step"),
        threshold(1, "slower than at the start", HIGH),
        dots([end[0]], [min(end[1], HIGH - 0.03)], "here", role="here"),
        label(MOST, r.frontier[-1], "the best set for that many weeks", 8, "right"),
    ]
    return panel(
        "Time to the same quality",
        "start = 1; line: step; ring: step × updates",
        *marks,
        x="weeks spent",
        x_range=[0, MOST],
        y_range=[0, HIGH],
        tab="Budget",
        front=True,
    )


SHORT = ("roll.", "tail", "train", "ref.", "sync", "check", "rest")


def roles(k, r):
    after = r.after.copy()
    if budget.ASYNC in r.names:  # both are hidden
        after[ROLES.index("tail")] = after[ROLES.index("sync")] = 0.0
    return panel(
        "How a step is spent",
        "% of the first step; outlined: before buying",
        bars(list(SHORT), 100 * r.before, "before", 8, "free"),
        bars(list(SHORT), 100 * after, "now", 1),
        y_range=[0, 100],
        tab="Budget",
        ticks=dict(
            tickangle=0, tickvals=list(SHORT), ticktext=[f"{'<br>' * (n % 2)}{name}" for n, name in enumerate(SHORT)]
        ),
    )


def causes(k, r):
    """What is still possible after each test, a row a cause."""
    names = list(diagnosis.CAUSES)
    possible = [[1.0 if name in causes_left else 0.0 for _, causes_left in r.session] for name in names]
    steps = list(range(len(r.session)))
    tests = ORDERS[k.order][: len(steps) - 1]
    wide = max(len(diagnosis.TESTS), 1)
    return panel(
        "Causes that are left",
        "after " + ", ".join(SHORTER.get(test, test) for test in tests),
        heat(steps, list(range(len(names))), possible, "possible", 0.0, 1.4),
        *[label(wide + 2.1, n - 0.3, name, 0, "right") for n, name in enumerate(names)],
        x="number of tests made",
        x_range=[-0.5, wide + 2.2],
        y_range=[-0.6, len(names) - 0.4],
        tab="Diagnose",
        ticks=dict(tickvals=steps, ticktext=[str(n) for n in steps], tickangle=0),
        y_ticks=dict(tickvals=[]),
    )


SHORTER = {"wall clock": "wall", "utilization": "util.", "profiler": "prof.", "memory": "mem.", "ratios": "ρ"}


def bill(k, r):
    spent = [minutes for minutes, _ in r.session]
    causes_left = [len(causes) for _, causes in r.session]
    book = diagnosis.session(k.cause)
    return panel(
        "Minutes until one cause is left",
        "causes left; [s8] the playbook",
        line(*stairs([*book, (180, book[-1][1])]), "playbook", 8, "reference"),
        line(spent, causes_left, "this order", 1, "step"),
        dots([spent[-1]], [causes_left[-1]], "here", role="here"),
        x="minutes",
        x_range=[0, 180],
        y_range=[0, 9],
        tab="Diagnose",
    )


def stairs(session):
    """(minutes, causes left) with a corner at each test."""
    minutes, causes_left = [m for m, _ in session], [len(causes) for _, causes in session]
    x = [minutes[0], *(m for m in minutes[1:] for _ in range(2))]
    return x, [*(n for n in causes_left[:-1] for _ in range(2)), causes_left[-1]]


READOUTS = {
    "Step, relative to the original": ("", budget.course),
    "Time to the same quality": ("of the original", budget.time_to_quality),
    "Step of the best set, same weeks": ("", budget.best),
    "Weeks that saved nothing": ("", budget.idle),
    "Time to the cause, on average": ("min", diagnosis.expected_minutes),
}


def readouts(k, r):
    break_ = broken(k, r)
    cause = break_.cause if break_ else ""
    values = (r.step, r.quality, r.best, wasted(r), r.expected)
    states = [
        "violated" if cause == BEHIND_CAUSE else "",
        "violated" if cause == UNCORRECTED else "",
        "",
        "violated" if cause == IDLE else "",
        "",
    ]
    return [
        Readout(name, value, unit, source, state)
        for (name, (unit, source)), value, state in zip(READOUTS.items(), values, states)
    ]


def wasted(r):
    return weeks_of(r.idle)


# ── what breaks ──

UNCORRECTED = "uncorrected samples from another policy"
IDLE = "work on time already hidden"
BEHIND_CAUSE = "items chosen one by one"


def watched(k, r):
    return Gauge(
        "Time to quality, relative to the best set",
        min(r.quality / max(r.best, NEXT_TO_NOTHING), 1e6),
        1 + BEHIND,
        "×",
        expression="time_to_quality / best > 1.1",
    )


def seen_at(k, r, cause):
    if cause == UNCORRECTED:
        return At("Time to the same quality", None, None, "the same quality takes {y:.2f}", "here")
    words = f"{wasted(r)} weeks saved nothing" if cause == IDLE else f"{1 + r.behind:.2f} times the best step"
    return At("Time to the same quality", None, None, words, "bought")


def broken(k, r):
    if dear(r) and not budget.corrected(r.names):
        why = (
            f"The same quality takes {r.quality:.2f} times as long as at first, although a step takes {r.step:.2f} of "
            "its original time, because nobody corrects the samples."
        )
        claims = {
            "the step takes so much": lambda: np.isclose(step_with(k, r.names), r.step),
            "the same quality takes longer than at first, or than with the best set": lambda: (
                k.extra * step_with(k, r.names) > min(1, (1 + BEHIND) * r.best)
            ),
            "something samples from another policy": lambda: needing(r.names),
            "with the correction it takes less": lambda: step_with(k, {*r.names, budget.FIX}) < r.quality,
        }
        return Break(Said(why, claims), back(k, r, dict(mismatch_fix=True)), UNCORRECTED)
    if wasted(r) >= WASTED:
        step = step_with(k, [name for name in r.names if name not in r.idle])
        tail = f": the step is {'also ' if step > r.step - 5e-4 else ''}{step:.3f} without them."
        why = f"{wasted(r)} weeks saved nothing ({', '.join(r.idle)}){tail}"
        why = why if len(why) <= 150 else f"{wasted(r)} weeks for {len(r.idle)} items saved nothing{tail}"
        without = {OWN_KNOBS[name]: False for name in r.idle}
        return Break(Said(why, no_use(k, r)), back(k, r, without), IDLE)
    if r.behind > BEHIND:
        behind = f", so this one takes {1 + r.behind:.2f} times as long" if r.best > NEXT_TO_NOTHING else ""
        why = f"The step is {r.step:.3f} of the original, but the same weeks can buy a step of {r.best:.3f}{behind}."
        best = recovery.different(k, dict(rule=BEST, weeks=weeks_allowed(k, r.names)))
        return Break(Said(why, outdone(k, r)), best, BEHIND_CAUSE)
    return None


def dear(r):
    """Whether the same quality takes longer than at first, or clearly longer than with the best set while a step does
    not.
    """
    allowed = (1 + BEHIND) * max(r.best, NEXT_TO_NOTHING)
    return r.quality > 1 or r.step <= allowed < r.quality


def back(k, r, own):
    """The reader's own purchases turned by `own` if that is enough, else the best set."""
    best = recovery.different(k, dict(rule=BEST, weeks=min(weeks_allowed(k, r.names), MOST)))
    return recovery.first_of(k, [own] if k.rule == OWN else [], holding) or best


def holding(k):
    return broken(k, next(run(k))) is None


def step_with(k, names):
    """The step with a set, computed role by role for a claim: another way than budget.step_time."""
    left = dict(zip(budget.ROLES, shares(k)))
    for option in budget.scaled(MENU, k.scale):
        for role, (touched, speedup) in option.effects.items() if option.name in names else ():
            left[role] *= 1 - touched * (1 - 1 / speedup)
    if budget.ASYNC not in names:
        return sum(left.values())
    generating, training = left["rollout"] + left["verify"], left["train"] + left["reference"]
    pools = (max(generating * k.gpus / x, training * k.gpus / (k.gpus - x)) for x in range(1, k.gpus))
    return min(pools) + left["other"]


def needing(names):
    """Purchases of a set that sample from another policy, if the set has no correction."""
    return [o.name for o in MENU if o.name in names and o.requires == budget.FIX and budget.FIX not in names]


def weeks_of(names):
    return sum(option.weeks for option in MENU if option.name in names)


def no_use(k, r):
    """What is asserted of weeks that bought nothing."""
    others = [name for name in r.names if name not in r.idle]
    return {
        "they cost so many weeks": lambda: weeks_of(r.idle) == wasted(r) > 0,
        "without them the step is no longer": lambda: (
            step_with(k, others) < budget.step_time(r.names, shares(k), k.gpus, budget.scaled(MENU, k.scale)) + 1e-6
        ),
        "nothing else needs them": lambda: {*needing(others)} <= {*needing(r.names)},
    }


def outdone(k, r):
    """What is asserted of a set that another one of as many weeks outdoes."""
    best = budget.best(weeks_allowed(k, r.names), shares(k), k.gpus, k.scale)
    return {
        "the step is so much": lambda: np.isclose(step_with(k, r.names), r.step),
        "the best set has so much": lambda: np.isclose(step_with(k, best), r.best) and r.best < r.step,
        "it takes no more weeks": lambda: weeks_of(best) <= weeks_allowed(k, r.names) and not needing(best),
    }


def worse(k, r):
    if not budget.corrected(r.names) and k.extra > 1:
        return Said(
            f"The same quality takes {r.quality:.2f} of the original time and a step {r.step:.2f} of it, because "
            "nobody corrects the samples.",
            {
                "something samples from another policy": lambda: needing(r.names),
                "it takes so much": lambda: np.isclose(k.extra * step_with(k, r.names), r.quality),
                "with the correction it takes less": lambda: step_with(k, {*r.names, budget.FIX}) < r.quality,
            },
        )
    if r.idle:
        weeks = counted(wasted(r), "week")
        return Said(f"{weeks} saved nothing: {', '.join(r.idle)}.", no_use(k, r))
    if r.behind > NOTED:
        return Said(
            f"The step is {r.step:.3f} of the original, and the best set for the same weeks reaches {r.best:.3f}.",
            outdone(k, r),
        )
    if r.expected > SLOW:

        def average(order):
            return sum(prior * diagnosis.session(cause, order)[-1][0] for cause, prior in diagnosis.CAUSES.items())

        return Said(
            f"This order of tests takes {r.expected:.0f} minutes on average, whereas the playbook takes 9.",
            {
                "this order takes so long": lambda: np.isclose(average(ORDERS[k.order]), r.expected),
                "the playbook takes 9": lambda: round(average(diagnosis.PLAYBOOK)) == 9,
            },
        )
    return None


def holds(k, r):
    weeks = counted(int(r.spent[-1]), "week")
    items, ending = " and ".join(filter(None, (", ".join(r.names[:-1]), *r.names[-1:]))), "of its original time."
    ends = f"After {weeks} for {items}, the step takes {r.step:.3f} {ending}"
    if len(ends) > 150:
        ends = f"After {weeks} for {len(r.names)} items of the menu, the step takes {r.step:.3f} {ending}"
    return Said(
        ends if r.names else "Nothing was bought, so the step takes as long as before.",
        {
            "so many weeks": lambda: weeks_of(r.names) == r.spent[-1],
            "so much of the step is left": lambda: np.isclose(step_with(k, r.names), r.step),
            "no weeks bought nothing": lambda: not r.idle and (k.extra == 1 or not needing(r.names)),
        },
    )


# ── two settings on the first screen ──


TWO_RUNS = "best set", "by return"


def opening(plain, other):
    marks = []
    for words, r, series in ((TWO_RUNS[0], plain, 1), (TWO_RUNS[1], other, 2)):
        spent, times = [*r.spent, 9], [*r.times, r.times[-1]]
        marks.append(line(spent, times, words, series, "step"))
    marks += [label(9, plain.step, TWO_RUNS[0], 1, "right", below=True), label(9, other.step, TWO_RUNS[1], 2, "right")]
    names, ends = [TWO_RUNS[0], TWO_RUNS[1]], [100 * plain.behind, 100 * other.behind]
    return [
        panel(
            "Step time",
            "1 = before the eight weeks of work",
            *marks,
            x="weeks spent",
            x_range=[0, 9],
            y_range=[0.5, 1.05],
        ),
        panel(
            "How far behind the best set",
            "% of the best set’s step",
            bars(names[:1], ends[:1], names[0], 1),
            bars(names[1:], ends[1:], names[1], 2),
            *[label(name, value, f"{value:.0f}", 0, "center") for name, value in zip(names, ends)],
            threshold(100 * BEHIND, "", 20),
            y_range=[0, 20],
        ),
    ]


OPENING = Opening(Knobs(), Knobs(rule="by return"), opening, budget.course, TWO_RUNS)
