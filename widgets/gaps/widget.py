"""Which of seventeen concepts to read next: the plan that is worth most to a job within so many minutes."""

from dataclasses import dataclass

import numpy as np

from sim.synthesis import gaps
from sim.synthesis.gaps import FORCES, GAPS, IDS, JOBS
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, slider, toggle
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said
from widgets.frame.drawing.marks import bars, dots, heat, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "A reading plan for your work, and its value"

BEST, BY_MINUTE, FAMOUS = "the best plan", "by value per minute", "the famous one first"
BUDGETS = np.arange(0, 470, 5)


@dataclass(frozen=True)
class Knobs:
    work: str = choice("Your work", "research", list(JOBS))
    minutes: int = slider("Minutes for reading", 120, low=15, high=465, step=5)
    order: str = choice("Rule for choosing lessons", BEST, [BEST, BY_MINUTE, FAMOUS])
    signal: float = slider("Weight of signal", 1.0, low=0.0, high=2.0, step=0.5)
    estimator: float = slider("Weight of estimators", 1.0, low=0.0, high=2.0, step=0.5)
    cost: float = slider("Weight of cost", 1.0, low=0.0, high=2.0, step=0.5)
    k03a: bool = toggle("You know 03a KL estimators", False)
    k10a: bool = toggle("You know 10a GAE", False)
    k13a: bool = toggle("You know 13a Entropy", False)
    k14a: bool = toggle("You know 14a Reward scaling", False)
    k15a: bool = toggle("You know 15a Reward models", False)
    k15b: bool = toggle("You know 15b Judges", False)
    k17a: bool = toggle("You know 17a Process rewards", False)
    k18a: bool = toggle("You know 18a Curricula", False)
    k18b: bool = toggle("You know 18b Red teams", False)
    k18c: bool = toggle("You know 18c Sandboxes", False)
    k19a: bool = toggle("You know 19a Off-policy", False)
    k20a: bool = toggle("You know 20a KV offload", False)
    k22d: bool = toggle("You know 22d FP8", False)
    k22e: bool = toggle("You know 22e Experts", False)
    k22f: bool = toggle("You know 22f Fabrics", False)
    k28a: bool = toggle("You know 28a Checkpoints", False)
    k28b: bool = toggle("You know 28b Adapters", False)


LEAD = ("minutes", "order")
KNOB_GROUPS = {
    "You": ("work", "signal", "estimator", "cost"),
    "What you know": (
        "k03a",
        "k10a",
        "k13a",
        "k14a",
        "k15a",
        "k15b",
        "k17a",
        "k18a",
        "k18b",
        "k18c",
        "k19a",
        "k20a",
        "k22d",
        "k22e",
        "k22f",
        "k28a",
        "k28b",
    ),
}
PRESETS = {
    "Research, two hours": Knobs(),
    "Agents, two hours": Knobs(work="agents"),
    "Infrastructure, three hours": Knobs(work="infrastructure", minutes=180),
    "Kernels, two hours": Knobs(work="kernels and serving"),
    "A quarter of an hour": Knobs(minutes=15),
    "Kernels, the famous one first": Knobs(work="kernels and serving", minutes=30, order=FAMOUS),
}
GUESS = Guess(
    "Most people name GAE first. With how many minutes does a kernel engineer’s best plan first contain it?",
    ("30 minutes", "180 minutes", "it never does"),
    Knobs(work="kernels and serving", minutes=465),
    2,
    lambda k, r: f"Not even with {k.minutes} minutes: GAE is worth nothing for kernels, and no useful lesson needs it.",
)


@dataclass(frozen=True)
class Result:
    values: np.ndarray  # of the seventeen, for this job
    known: tuple
    plan: gaps.Plan
    best: gaps.Plan
    frontier: np.ndarray  # the most value, by BUDGETS
    chosen: np.ndarray  # the value of plans chosen as set, by BUDGETS
    next: int | None  # further minutes that would add value


def run(k):
    weights = dict(signal=k.signal, estimator=k.estimator, cost=k.cost)
    values = gaps.value_of(k.work) * [weights[g.force] for g in GAPS]
    known = tuple(i for i in IDS if getattr(k, f"k{i}"))
    best = gaps.plan(values, k.minutes, known)
    most = gaps.frontier(values, BUDGETS, known)
    chosen = most[::3]
    if k.order != BEST:
        chosen = np.array([by_order(k.order, values, int(budget), known).value for budget in BUDGETS[::3]])
    yield Result(
        values,
        known,
        by_order(k.order, values, k.minutes, known),
        best,
        most,
        chosen,
        gaps.next_minutes(values, best, k.minutes, known),
    )


def by_order(order, values, minutes, known=()):
    if order == BEST:
        return gaps.plan(values, minutes, known)
    return gaps.greedy(values, minutes, known, first=(gaps.FAMOUS,) if order == FAMOUS else ())


# What is drawn

COLUMNS = {force: [g for g in GAPS if g.force == force] for force in FORCES}
ROWS = max(len(column) for column in COLUMNS.values())


def figure(k, r):
    return [tiles(r), worth(k, r), spent(r), with_needs(r)]


def tiles(r):
    """The seventeen by force: value for the job, and the place in the plan."""
    z = np.full((ROWS, len(FORCES)), np.nan)
    marks = []
    for x, column in enumerate(COLUMNS.values()):
        for n, gap in enumerate(column):
            y = ROWS - 1 - n
            z[y, x] = r.values[IDS.index(gap.id)]
            place = "✓" if gap.id in r.known else f"{r.plan.ids.index(gap.id) + 1}." if gap.id in r.plan.ids else ""
            marks.append(label(x, y - 0.25, f"{place} {gap.id}".strip(), 0, "center"))
    ticks = dict(tickvals=list(range(len(FORCES))), ticktext=list(FORCES), tickangle=0)
    return panel(
        "Seventeen concepts, and the plan",
        "shade: value, 0 to 6 (judgment); 1. 2. 3.: order",
        heat(list(range(len(FORCES))), list(range(ROWS)), z, "value", 0, 6),
        *marks,
        x="force",
        x_range=[-0.5, len(FORCES) - 0.5],
        y_range=[-0.6, ROWS - 0.4],
        tab="Plan",
        ticks=ticks,
        y_ticks=dict(tickvals=[], ticktext=[]),
    )


def worth(k, r):
    """The value of plans by the minutes there are."""
    return panel(
        "Value of the plan",
        "sum over its lessons; [s8] the best plan",
        line(BUDGETS, r.frontier, "the best plan", 8, "reference"),
        line(BUDGETS[::3], r.chosen, "as chosen", 1, "step"),
        dots([k.minutes], [r.plan.value], "here", role="here"),
        threshold(0.5, "", 0),
        x="minutes",
        x_range=[0, 470],
        y_range=[0, 60],
        tab="Plan",
        front=True,
    )


def spent(r):
    """Minutes of the plan by what they are worth."""
    worth = [0, 1, 2, 3]
    sums = [0, 0, 0, 0]
    for gap_id in r.plan.ids:
        gap = GAPS[IDS.index(gap_id)]
        sums[min(int(np.ceil(r.values[IDS.index(gap_id)])), 3)] += gap.minutes
    return panel(
        "Minutes of the plan, by value",
        "value of the lesson for this work",
        bars(worth, sums, "minutes", 1),
        *(label(n, s + 4, f"{s}", 1, "center") for n, s in zip(worth, sums)),
        x="value",
        x_range=[-0.6, 3.6],
        y_range=[0, 470],
        tab="Minutes",
        ticks=dict(tickvals=worth, ticktext=["0", "1", "2", "3 or more"], tickangle=0),
    )


def with_needs(r):
    """Value a minute of each lesson, with what has to come before it."""
    places = list(range(len(GAPS)))
    bundles = [gaps.needed(g.id, r.known) for g in GAPS]
    per = [
        100 * sum(r.values[IDS.index(n)] for n in bundle) / gaps.minutes_of(bundle) if bundle else 0.0
        for bundle in bundles
    ]
    return panel(
        "Value per hundred minutes",
        "of each lesson and what must come first",
        bars(places, per, "value per hundred minutes", 1),
        x_range=[-0.7, len(GAPS) - 0.3],
        y_range=[0, 32],
        tab="Minutes",
        ticks=dict(tickvals=places, ticktext=[f"{'<br>' * (n % 2)}{name}" for n, name in enumerate(IDS)], tickangle=0),
    )


# What is said


def readouts(k, r):
    return [
        Readout("Value of the plan", r.plan.value, "", gaps.plan, "violated" if broken(k, r) else "assumed"),
        Readout("Value of the best plan", r.best.value, "", gaps.plan),
        Readout("Minutes used", f"{r.plan.minutes} of {k.minutes}", "", gaps.minutes_of),
        Readout("Lessons, in reading order", ", ".join(r.plan.ids) or "nothing", "", gaps.made),
        Readout("Minutes until the value rises", later(k, r), "", gaps.next_minutes),
    ]


def later(k, r):
    """How many more minutes would let a plan be worth more, in words; a plan that is behind needs none."""
    if r.plan.value < r.best.value - 1e-9:
        return Said("0 more", {"another plan has more now": lambda: worth_of(k, r, BEST) > worth_of(k, r, k.order)})

    def most(minutes):
        return gaps.frontier(r.values, [minutes], r.known)[0]

    if r.next is None:
        return Said("nothing left", {"all minutes add nothing": lambda: most(1000) <= r.plan.value + 1e-9})
    return Said(
        f"{r.next} more",
        {"these add, and one less does not": lambda: most(k.minutes + r.next) > most(k.minutes + r.next - 1) + 1e-9},
    )


def unknown(r):
    """The values of the lessons that are not known."""
    return [value for i, value in zip(IDS, r.values) if i not in r.known]


def watched(k, r):
    if not any(value > 0 for value in unknown(r)):
        return Readout("Value of the plan", "no useful lesson is left", "", gaps.plan)
    return Gauge("Value of the plan", min(r.plan.value, 60.0), 0.5, "", below=True, expression="plan.value")


SHORT, SUNK = "too little time for useful lessons", "minutes spent on useless lessons"


def seen_at(k, r, cause):
    return At("Value of the plan", None, None, "nothing useful is learned", "here")


def broken(k, r):
    if r.plan.value > 0 or not any(value > 0 for value in unknown(r)):
        return None
    nothing = {"nothing in it is of use": lambda: sum(r.values[IDS.index(i)] for i in r.plan.ids) == 0}
    too_long = {"whatever is of use takes longer, with what it needs": lambda: not fitting(k, r)}
    if r.plan.ids:
        why = (
            f"The plan spends {r.plan.minutes} minutes on lessons that are of no use for this work: "
            f"{', '.join(r.plan.ids)}."
        )
        minutes = {"so many are spent": lambda: sum(GAPS[IDS.index(i)].minutes for i in r.plan.ids) == r.plan.minutes}
        if r.best.value:
            useful = {"the same minutes have room for what is": lambda: fitting(k, r)}
            return Break(Said(why, nothing | minutes | useful), dict(order=BEST), SUNK)
        return short(k, Said(why, nothing | minutes | too_long))
    return short(k, Said(f"No useful lesson fits into {k.minutes} minutes.", too_long))


def fitting(k, r):
    """Lessons that are of use and that fit, with all that they need."""
    unread = {i: gaps.needed(i, r.known) for i in IDS if i not in r.known}
    return [i for i, ids in unread.items() if total_value(r, ids) > 0 and gaps.minutes_of(ids) <= k.minutes]


def total_value(r, ids):
    return sum(r.values[IDS.index(i)] for i in ids)


def short(k, why):

    def useful(knobs):
        return next(run(knobs)).plan.value > 0

    surely = dict(minutes=465, order=BEST, signal=1.0, estimator=1.0, cost=1.0)
    return Break(why, recovery.one_knob(k, ("minutes",), useful) or recovery.fewest(k, surely, useful), SHORT)


def worth_of(k, r, order):
    """Value of the plan by another order, counted lesson by lesson."""
    return sum(r.values[IDS.index(i)] for i in by_order(order, r.values, k.minutes, r.known).ids)


def complete(k, r):
    """Whether a plan fits into the minutes and has all that its lessons need."""
    needs = {n for i in r.plan.ids for n in gaps.needed(i, r.known)}
    return sum(GAPS[IDS.index(i)].minutes for i in r.plan.ids) == r.plan.minutes <= k.minutes and needs <= {*r.plan.ids}


def worse(k, r):
    if r.plan.value >= r.best.value - 1e-9:
        return None
    return Said(
        f"This plan is worth {r.plan.value:g}, but the best plan for the same minutes is worth {r.best.value:g}.",
        {
            "so much is this one worth": lambda: abs(worth_of(k, r, k.order) - r.plan.value) < 1e-9 and complete(k, r),
            "and another one more": lambda: (
                abs(worth_of(k, r, BEST) - r.best.value) < 1e-9 < r.best.value - r.plan.value
            ),
        },
    )


def holds(k, r):
    if not r.plan.ids:
        return Said(
            "Every lesson that you do not know yet is worth nothing to you, so there is nothing to plan.",
            {"nothing has": lambda: not any(unknown(r))},
        )
    return Said(
        f"The plan has {len(r.plan.ids)} of seventeen lessons, takes {r.plan.minutes} minutes and is worth "
        f"{r.plan.value:g}. No plan that fits is worth more.",
        {
            "so much is it worth": lambda: abs(worth_of(k, r, k.order) - r.plan.value) < 1e-9 and complete(k, r),
            "no other order has more": lambda: (
                max(worth_of(k, r, o) for o in (BEST, BY_MINUTE, FAMOUS)) <= r.plan.value + 1e-9
            ),
            "no exchange of a lesson has": lambda: not exchanged(k, r),
        },
    )


def exchanged(k, r):
    """Lessons that would add value in the place of at most one of the plan, with all that they need."""
    with_dependents = [{j for j in r.plan.ids if i in gaps.needed(j, r.known)} for i in r.plan.ids]
    better = []
    for out in [set(), *with_dependents]:
        staying = {*r.plan.ids} - out
        for i in {*IDS} - staying - {*r.known}:
            new = {*gaps.needed(i, r.known)} - staying
            gain = total_value(r, new) - total_value(r, out)
            if gaps.minutes_of(new) <= k.minutes - gaps.minutes_of(staying) and gain > 1e-9:
                better.append((i, out))
    return better


# The first screen


TWO_RUNS = "best plan", "famous one first"


def two_choices(plain, other):
    """What plans are worth, by how lessons are chosen, and how many of 30 minutes are of no use."""
    named = ((plain, TWO_RUNS[0], 8, "reference"), (other, TWO_RUNS[1], 1, "step"))
    chosen = [line(BUDGETS[::3][:9], r.chosen[:9], name, series, role) for r, name, series, role in named]
    at = [sum_worth(r, 0) for r in (plain, other)]
    return [
        panel(
            "Value of the plan",
            "for a kernel engineer (our judgment)",
            *chosen,
            label(43, 6.6, TWO_RUNS[0], 8, "right"),
            label(80, 4.6, TWO_RUNS[1], 1),
            x="minutes",
            x_range=[0, 120],
            y_range=[0, 14],
        ),
        panel(
            "Minutes of no use",
            "of 30, on lessons of value 0",
            bars([0], at[:1], TWO_RUNS[0], 8),
            bars([1], at[1:], TWO_RUNS[1], 1),
            *(label(n, a + 0.5, f"{a}", 0, "center") for n, a in enumerate(at)),
            x_range=[-0.6, 1.6],
            y_range=[0, 36],
            ticks=dict(tickvals=[0, 1], ticktext=[TWO_RUNS[0], TWO_RUNS[1]]),
        ),
    ]


def sum_worth(r, value):
    return sum(g.minutes for g in GAPS if g.id in r.plan.ids and r.values[IDS.index(g.id)] == value)


OPENING = Opening(
    Knobs(work="kernels and serving", minutes=30),
    Knobs(work="kernels and serving", minutes=30, order=FAMOUS),
    two_choices,
    gaps.plan,
    TWO_RUNS,
)
