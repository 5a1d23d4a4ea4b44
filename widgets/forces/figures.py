"""The small figures of lesson 26: what wrong labels cost, when a critic pays, and what memory decides."""

from dataclasses import replace

import numpy as np

from sim.synthesis import forces
from widgets.frame.drawing.marks import dots, label, line, panel
from widgets.frame.drawing.small_figures import Figure, Handle

# ── wrong labels ──
ERRORS = tuple(round(0.02 * n, 2) for n in range(23))


def needed(error):
    """How many times the samples labels need that are wrong so often."""
    return 1 / forces.signal("verifier", assumed=replace(forces.ASSUMED, verifier=float(error))) ** 2


def labels(error):
    times = [needed(e) for e in np.linspace(0, 0.45, 91)]
    return [
        panel(
            "Samples to the same target",
            "relative to labels that are never wrong; log scale",
            line(np.linspace(0, 45, 91), times, "relative samples", 1),
            dots([100 * error], [needed(error)], "here", role="here"),
            *(
                label(100 * e, needed(e) * 1.3, f"{name} (assumed)", 8, "center")
                for name, e in (
                    ("verifier", forces.ASSUMED.verifier + 0.04),
                    ("reward model", forces.ASSUMED.reward_model),
                )
            ),
            x="wrong labels, %",
            log="y",
            x_range=(0, 46),
            y_range=(0.9, 120),
        )
    ]


def labels_said(error):
    signal = forces.signal("verifier", assumed=replace(forces.ASSUMED, verifier=float(error)))
    needs = f"{needed(error):.3g} times the samples"
    return f"With {100 * error:g} % wrong labels, the signal is {signal:.2g}, and you need {needs}."


# ── what a critic must foresee ──
SHARES = tuple(round(0.05 * n, 2) for n in range(20))


def effort(baseline, share):
    return forces.effort("verifier", baseline, False, foreseen=share)


def foresight(share):
    at = np.linspace(0, 0.95, 39)
    critic, siblings = effort("critic", share), effort("group", share)
    return [
        panel(
            "Compute with siblings or a critic",
            "to the target; every prompt has a verifier",
            line(100 * at, [effort("group", s) for s in at], "siblings", 1),
            line(100 * at, [effort("critic", s) for s in at], "critic", 2),
            label(2, effort("group", 0) + 0.06, "fifteen siblings", 1),
            label(30, effort("critic", 0.3) + 0.1, "critic", 2),
            dots([100 * share] * 2, [siblings, critic], "here", role="here"),
            x="within-prompt variance a critic foresees, %",
            x_range=(0, 100),
            y_range=(0, 3.6),
        )
    ]


def foresight_said(share):
    times = effort("critic", share) / effort("group", share)
    return f"A critic that foresees {100 * share:.0f} % takes {times:.2f} times the compute of the siblings."


# ── memory ──
ROOMS = tuple(range(14, 50, 2))
FORESEEN = 0.8  # of long chains whose steps show how they will end


def best(room):
    return next(iter(forces.solve(0.5, FORESEEN, room)), None)


def rooms(room):
    recipes = [best(r) for r in ROOMS]
    recipe = best(room)
    marks = [line(ROOMS, [s.compute if s else None for s in recipes], "least compute", 1, "step")]
    if recipe:
        marks.append(dots([room], [recipe.compute], "here", role="here"))
        marks.append(label(13, 90, forces.name(recipe), 1))
    else:
        marks.append(label(13, 90, "nothing fits", 1))
    return [
        panel(
            "Least compute of a recipe that fits",
            "half have a verifier; critic foresees 80 %; log scale",
            *marks,
            x="memory, bytes per weight",
            log="y",
            x_range=(12, 50),
            y_range=(1, 200),
        )
    ]


def rooms_said(room):
    recipe = best(room)
    if not recipe:
        return f"With {room} bytes per weight, no recipe fits: training alone takes 18."
    return f"With {room} bytes per weight, the cheapest recipe is {forces.name(recipe)}, at {recipe.compute:.3g}."


FIGURES = {
    "labels": Figure(
        labels,
        forces.signal,
        Handle("Wrong labels", ERRORS, start=14, words=tuple(f"{100 * e:g} %" for e in ERRORS)),
        labels_said,
    ),
    "foresight": Figure(
        foresight,
        forces.effort,
        Handle("Foreseen by the critic", SHARES, start=18, words=tuple(f"{100 * s:.0f} %" for s in SHARES)),
        foresight_said,
    ),
    "rooms": Figure(
        rooms,
        forces.solve,
        Handle("Bytes per weight", ROOMS, start=ROOMS.index(48), words=tuple(str(r) for r in ROOMS)),
        rooms_said,
    ),
}
