"""The figure of the front page: one prompt in two recorded runs that differ in one line of the loss. Which line is not
said; the lesson on PPO lets it be found.
"""

import numpy as np

from sim.worlds import modsum
from tools.pages import results, small_figures
from widgets.frame import host, values
from widgets.frame.marks import dots, label, line, panel

WIDGET, PRESETS = "ppo", {"kept": "16 passes", "deleted": "16 passes, no clip"}
SIZES = {"broad": (500, 240), "narrow": (350, 220)}  # pixels


def runs():
    """{kept, deleted: the probability of a right completion of one prompt before and after each update}, for the run
    and the prompt that lose most of what the first update gave.
    """
    presets = host.widget(WIDGET).PRESETS
    rates = {line: results.last(WIDGET, presets[preset]).pass_rate for line, preset in PRESETS.items()}
    lost = rates["deleted"][:, 0] - rates["deleted"][:, -1]  # (seeds, prompts)
    seed, prompt = np.unravel_index(lost.argmax(), lost.shape)
    start = modsum.exact(modsum.Policy().params["theta"])["pass_rate"][prompt]
    return {line: [float(start), *map(float, rate[seed, :, prompt])] for line, rate in rates.items()}


def drawn(which):
    """The panel with the line kept, or with the line deleted beside it."""
    made = runs()
    updates = len(made["kept"]) - 1
    step, low = list(range(updates + 1)), made["deleted"]
    kept = line(step, made["kept"], "kept", *((1, "") if which == "kept" else (8, "reference")))
    marks = [kept, label(updates, 0.84, "kept", 1 if which == "kept" else 8, "right")]
    if which == "deleted":
        marks += [line(step, low, "deleted"), dots([1, 2], low[1:3]), label(updates, 0.04, "deleted", 1, "right")]
    return values.plain(
        panel(
            "A policy learns one prompt",
            f"probability of a right completion, after each of {updates} updates, recorded",
            *marks,
            x="update",
            x_range=(0, updates),
            y_range=(0, 1.04),
        )
    )


def said(which):
    """One sentence from the result."""
    rates = runs()[which]
    if which == "kept":
        return f"Kept: right {percent(rates[0])} of the time at the start, {percent(rates[-1])} at the end."
    return (
        f"Deleted: right {percent(rates[1])} of the time after one update, and at most {percent(max(rates[2:]))} after "
        f"each of the other {len(rates) - 2}."
    )


def percent(rate):
    return f"{100 * rate:.{2 if rate >= 0.01 else 1}g} %"


def figure():
    """The values for site/parts/hero.html."""
    return dict(
        lines=[
            dict(
                name=name,
                said=said(name),
                sizes={css: small_figures.shown(drawn(name), *size) for css, size in SIZES.items()},
            )
            for name in PRESETS
        ],
        panel=drawn("kept"),
    )
