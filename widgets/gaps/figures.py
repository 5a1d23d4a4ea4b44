"""The small figures of lesson 27: what a lesson costs with what must come first, what it is worth to whom, and plans as
the minutes grow."""

from sim.synthesis import gaps
from sim.synthesis.gaps import FORCES, GAPS, IDS, JOBS
from widgets.frame.drawing.marks import bars, cell, grid, panel
from widgets.frame.drawing.small_figures import Figure, Handle

# ── what must come first ──
RESEARCH = gaps.value_of("research")


def bundle(gap_id):
    """Minutes of a lesson and of what it needs, one bar above the other, for every lesson; the chosen one solid."""
    marks = []
    for n, gap in enumerate(GAPS):
        own, before = gap.minutes, gaps.minutes_of(gaps.needed(gap.id)) - gap.minutes
        role = "" if gap.id == gap_id else "free"
        marks += [bars([n], [own], gap.id, 1, role), bars([n], [before], f"before {gap.id}", 2, role)]
    return [
        panel(
            "Minutes of a lesson",
            "lower part: its own; upper part: what must come first (assumed)",
            *marks,
            x_range=(-0.8, len(GAPS) - 0.2),
            y_range=(0, 100),
            stacked=True,
            ticks=dict(tickvals=list(range(0, len(GAPS), 2)), ticktext=list(IDS[::2]), tickangle=0),
        )
    ]


def bundle_said(gap_id):
    ids = gaps.needed(gap_id)
    minutes, title = gaps.minutes_of(ids), GAPS[IDS.index(gap_id)].title
    first = f" together with {' and '.join(ids[:-1])}" if len(ids) > 1 else ""
    return f"{gap_id}, {title}, takes {minutes} minutes{first}."


# ── what it is worth, and to whom ──
def tiles(text, tone):
    return [[force, [cell(g.id, text(g.id), tone(g.id)) for g in GAPS if g.force == force], ""] for force in FORCES]


def job(name):
    value = dict(zip(IDS, gaps.value_of(name)))
    return [
        grid(tiles(lambda i: f"{value[i]:g}", lambda i: value[i] / 3), "Value of each lesson", "0 to 3, our judgment")
    ]


def job_said(name):
    values = gaps.value_of(name)
    some, most = sum(values > 0), sum(values == 3)
    return f"For {name}, {some} of 17 lessons are worth something, and {most} of them are worth 3."


# ── a plan as the minutes grow ──
MINUTES = tuple(range(20, 136, 5))


def minutes(budget):
    best, greedy = gaps.plan(RESEARCH, budget), gaps.greedy(RESEARCH, budget)
    rows = []
    for name, plan in (("best", best), ("per minute", greedy)):
        mine = tiles_of(plan)
        rows += [[name, mine[0][1], f"{plan.value:g}"], *(["", row[1], ""] for row in mine[1:])]
    return [grid(rows, "Two plans for research", "1. 2. 3.: reading order; at the right: value of the plan")]


def tiles_of(plan):
    """The place of each lesson of a plan, toned by its value."""
    return tiles(
        lambda i: f"{plan.ids.index(i) + 1}." if i in plan.ids else "",
        lambda i: float(RESEARCH[IDS.index(i)] / 3) if i in plan.ids else 0.0,
    )


def minutes_said(budget):
    best, greedy = gaps.plan(RESEARCH, budget), gaps.greedy(RESEARCH, budget)
    values = f"{best.value:g}, and the plan by value per minute {greedy.value:g}"
    return f"With {budget} minutes, the best plan is worth {values}."


FIGURES = {
    "bundle": Figure(bundle, gaps.needed, Handle("Lesson", IDS, start=IDS.index("22e")), bundle_said),
    "job": Figure(job, gaps.value_of, Handle("Kind of work", JOBS, start=3, words=JOBS), job_said),
    "minutes": Figure(
        minutes,
        gaps.plan,
        Handle("Minutes", MINUTES, start=MINUTES.index(90), words=tuple(str(m) for m in MINUTES)),
        minutes_said,
    ),
}
