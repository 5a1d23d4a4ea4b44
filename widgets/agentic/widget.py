"""Training on completions that a tool helped to write, with the tool's tokens masked or in the loss: pass rate, share
of the gradient, imitation.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.algorithms import grpo, reinforce
from sim.experiments import tool_masking
from sim.worlds import tinylm
from widgets.frame.contract import recovery
from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.knobs import choice, ladder, slider, toggle
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing.marks import bars, both, by_update, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Opening

TITLE = "Sixty updates on trajectories that a tool helped to write"
COST = f"{60 * 64:,} completions a run"
UPDATES, EVERY, WINDOW, FIRST = 60, 6, 5, 10
WELL = 0.9  # right, in the end
CALLS = 0.4  # completions that call in the end: below it the policy has given up the tool; unmasked GRPO stays above
HALF = 0.5  # about where it starts: fewer right completions than this at the end are broken
FILES = {"GRPO": grpo, "REINFORCE": reinforce}


@dataclass(frozen=True)
class Knobs:
    masked: bool = toggle("Mask the tool's tokens", True)
    reply: int = ladder("Tool output, tokens", 8, [2, 4, 8, 12, 16])
    shift: int = slider("Mask shifted by", 0, -1, 1, 1, unit="tokens")
    algorithm: str = choice("Algorithm", "GRPO", list(FILES))
    denominator: str = choice("Mean over", "own tokens", ["own tokens", "all tokens"])
    fill: str = choice("Missing old_logp", "recomputed", ["recomputed", "0"])
    seed: int = slider("Seed", 0, 0, 99, 1)


PRESETS = {
    "Masked": Knobs(),
    "No mask, short output": Knobs(masked=False, reply=2),
    "No mask, long output": Knobs(masked=False, reply=16),
    "No mask, REINFORCE": Knobs(masked=False, algorithm="REINFORCE"),
    "Mask, one to the right": Knobs(shift=1),
    "Mask, wrong denominator": Knobs(denominator="all tokens"),
}


def idle(k):
    if not k.masked:
        return dict(shift="there is no mask")
    return {} if k.shift else dict(fill="the mask leaves those out")


def run(k):
    steps = []
    for step in tool_masking.tool_run(
        k.reply,
        masked=k.masked,
        shift=k.shift,
        diluted=k.denominator == "all tokens",
        recomputed=k.fill == "recomputed",
        file=FILES[k.algorithm],
        seed=k.seed,
        steps=UPDATES,
    ):
        steps.append(step)
        if len(steps) == 1 or len(steps) % EVERY == 0:
            yield steps


def progress(k, r):
    return ["update", len(r), UPDATES]


def column(r, name):
    return np.array([getattr(step, name) for step in r])


def windowed(values):
    """The mean of the last five updates, of fewer at the beginning: 64 completions are a noisy count."""
    return np.array([values[max(i - WINDOW + 1, 0) : i + 1].mean() for i in range(len(values))])


def figure(k, r):
    x, right = np.arange(1, len(r) + 1), windowed(column(r, "accuracy"))
    calls, share = column(r, "call_rate"), column(r, "tool_share")
    step = r[-1]
    n = int(step.valid.sum())
    place, own = np.arange(1, n + 1), step.own[:n]
    nll, push = -step.logp[:n], step.push[:n]
    return [
        by_update(
            "Right completions and tool calls",
            f"share of 64 completions, right: mean of {WINDOW} updates",
            line(x, right, "right", 1),
            line(x, calls, "called the tool", 2),
            threshold(HALF, f"broken if fewer than {HALF:g} are right at the end", 0),
            label(UPDATES, 0.02, "right", 1, "right"),
            label(0, 1.05, "called the tool", 2),
            updates=UPDATES,
            y_range=(0, 1.2),
            tab="Training",
            front=True,
        ),
        by_update(
            "The tool's share of the gradient",
            "of both parts' squared norms, before each update",
            line(x, share, "share", 1),
            updates=UPDATES,
            y_range=(-0.02, 1.05),
            tab="Training",
        ),
        panel(
            "How surprised the policy is",
            "nats, −log π of each token, latest batch; cut at 26",
            bars(place, nll * own, "policy", 1),
            bars(place, nll * (1 - own), "tool", 2),
            label(0.5, 23, "policy", 1),
            label(6, 23, "tool", 2),
            x="position; " + in_words(step, n),
            x_range=(0.3, 24.7),
            y_range=(0, 26),
            stacked=True,
            tab="One trajectory",
        ),
        panel(
            "How hard each token would pull",
            "length of d log π / d logits, at most 1.41",
            bars(place, push * own, "policy", 1),
            bars(place, push * (1 - own), "tool", 2),
            x="position",
            x_range=(0.3, 24.7),
            y_range=(0, 1.5),
            stacked=True,
            tab="One trajectory",
        ),
        by_update(
            "Can the policy write the tool's part",
            "nats a token of the tool's text under the policy; falling is learning to imitate it; cut at 20",
            line(x, column(r, "tool_nll"), "tool's text", 1),
            line([0, UPDATES], [UNIFORM] * 2, "uniform", 1, "reference"),
            label(UPDATES, UNIFORM, "a uniform guess, ln 20", 0, "right", below=True),
            updates=UPDATES,
            y_range=(0, 20),
            tab="Imitation",
        ),
    ]


UNIFORM = float(np.log(tinylm.V))


def in_words(step, n):
    """The trajectory in words; angle brackets would be markup in a figure."""
    tokens = [tinylm.word(t) for t in step.tokens[:n]]
    text = " ".join(tokens)
    return text if len(text) < 46 else f"{' '.join(tokens[:6])} … {' '.join(tokens[-4:])}"


def early_share(r):
    """Of the squared norms of the first ten gradients, while the run is still the one that was meant."""
    return column(r[:FIRST], "tool_share").mean()


def right_now(r):
    return windowed(column(r, "accuracy"))[-1]


def readouts(k, r):
    step = r[-1]
    return [
        Readout("First ten gradients, from the tool's text", 100 * early_share(r), "%", tool_masking.looked_at),
        Readout("Right, last five updates", right_now(r), "", tool_masking.tool_run, "violated" if failed(r) else ""),
        Readout("Called the tool", 100 * step.call_rate, "%", tool_masking.tool_run),
        Readout("Gradient diluted by", r[0].dilution, "", tool_masking.dilution),
        Readout("Mean ratio in the loss", step.mean_ratio, "", tool_masking.looked_at),
    ]


def failed(r):
    """Certain only at the end: a run may come back."""
    return len(r) == UPDATES and right_now(r) < HALF


def watched(k, r):
    return Gauge(
        f"Right, last {WINDOW} updates",
        right_now(r),
        HALF,
        below=True,
        expression=f"mean(right[-{WINDOW}:]) < {HALF:g} at the end",
    )


def seen_at(k, r, cause):
    few = calls(r) < CALLS
    words, curve = ("few still call the tool", "called the tool") if few else ("fewer than half are right", "right")
    return At("Right completions and tool calls", None, None, words, curve)


SILENT, IMITATED, OFF_BY_ONE = "it stops calling", "it imitates the tool", "a mask off by one"
DIVIDED, BOTH = "the divisor counts the tool's tokens", "mask and divisor count the tool"
IN_PLACE, OWN = dict(masked=True, shift=0), dict(denominator="own tokens")
UNDONE = {SILENT: IN_PLACE, IMITATED: IN_PLACE, OFF_BY_ONE: IN_PLACE, DIVIDED: OWN, BOTH: IN_PLACE | OWN}


def broken(k, r):
    if not failed(r):
        return None
    name = cause(k, r)
    led = f"right completions went from {windowed(column(r, 'accuracy'))[0]:.2f} to {right_now(r):.2f}."
    undone = {"undone, it is mended": lambda: mended(k, UNDONE[name])}
    why = Said(f"{reason(k, r, name)}{led}", undone | facts(k, r, name))
    return Break(why, recovery.different(k, UNDONE[name]), name)


def cause(k, r):
    """What mends it where it alone is undone: the mask before the divisor, which is asked only where it is wrong."""
    if k.denominator != OWN["denominator"] and not mended(k, IN_PLACE):
        return DIVIDED if mended(k, OWN) else BOTH
    if k.masked:  # and shifted: with both right none of 200 runs breaks
        return OFF_BY_ONE
    return SILENT if calls(r) < CALLS else IMITATED


def mended(k, usual):
    """Whether these knobs turn something, and the run no longer ends broken."""
    elsewhere = replace(k, **usual)
    return elsewhere != k and not failed(end(run, elsewhere))


def calls(r):
    """Share of completions that call the tool in the last updates."""
    return column(r[-WINDOW:], "call_rate").mean()


def reason(k, r, name):
    if name == OFF_BY_ONE:
        return f"The mask stands one token too far {beside(k, r)}, and "
    if name == IMITATED:
        return f"{100 * early_share(r):.0f} % of the first ten gradients is about text that the tool wrote: "
    if name == SILENT:
        still = f"{100 * r[-1].call_rate:.3g} % still call" if r[-1].call_rate else "No completion calls"
        return f"{still} the tool, whose text was trained on: "
    if name == BOTH:
        return "The tool's tokens count in the loss and in its divisor, and undoing one is not enough: "
    return f"Divided by all tokens, a completion that calls is pushed {pushed(r):.2f} times as hard: "


def pushed(r):
    """The factor that the tool's tokens in the divisor leave of the first call's push."""
    return r[0].own.sum() / r[0].valid.sum()


def facts(k, r, name):
    """What else the reason claims."""
    claims = {
        OFF_BY_ONE: {"it is shifted": lambda: k.masked and k.shift != 0},
        IMITATED: {"many still call": lambda: column(r[-5:], "call_rate").mean() > 0.3},
        SILENT: {"fewer call than at the start": lambda: r[-1].call_rate < r[0].call_rate},
        DIVIDED: {"the mask in its place does not mend it": lambda: not mended(k, IN_PLACE)},
        BOTH: {"neither alone mends it": lambda: not mended(k, IN_PLACE) and not mended(k, OWN)},
    }
    return claims[name]


def beside(k, r):
    """What a shifted mask leaves out, as the last updates show it."""
    side, name = ("right", "answered") if k.shift > 0 else ("left", "asked")
    shares = column(r[-WINDOW:], name)
    if np.isnan(shares).all():
        return f"{side}: no call is left"
    share = f"{100 * np.nanmean(shares):.0f} %"
    if k.shift > 0:
        return f"right: an answer is begun after {share} of the replies"
    return f"left: {share} of the calls ask for the right entry"


def worse(k, r):
    start, ends = windowed(column(r, "accuracy"))[0], right_now(r)
    if ends >= max(start, WELL):
        return None
    went = f"Right completions went from {start:.2f} to {ends:.2f}"
    if (k.masked and not k.shift) or k.denominator != OWN["denominator"]:
        return Said(
            f"{went}, where the default leads to nearly all.",
            {"it does": lambda: unfinished(r) or right_now(end(run, Knobs(seed=k.seed))) > 0.93},
        )

    def in_place():
        return right_now(end(run, replace(k, masked=True, shift=0)))

    return Said(
        f"{went}, where a mask in its place leads to nearly all: the tool's text costs.",
        {
            "a mask in its place leads to nearly all": lambda: unfinished(r) or in_place() > 0.93,
            "that is more than the count's noise": lambda: unfinished(r) or in_place() > ends + 0.04,
        },
    )


def unfinished(r):
    return len(r) < UPDATES


def holds(k, r):
    share = 100 * early_share(r)
    return Said(
        f"{share:.0f} % of the first ten gradients is about the tool's text, and {100 * right_now(r):.0f} % "
        "are right now.",
        {"none where the mask is in its place": lambda: not k.masked or k.shift != 0 or early_share(r) == 0},
    )


GUESS = Guess(
    "The tool's text counts as the policy's, and a reply has two tokens. What share of the first gradients is theirs?",
    ("a tenth", "a quarter", "about half"),
    Knobs(masked=False, reply=2),
    2,
    lambda k, r: f"It is {100 * early_share(r):.0f} %, and the run still ends at {right_now(r):.2f}.",
)


# ── the first screen ──
TWO_RUNS = "tool tokens masked", "not masked"


def opened(plain, other):
    """What both runs answer, and how often they ask the tool."""
    x = np.arange(1, UPDATES + 1)
    right, calls = ([windowed(column(r, name)) for r in (plain, other)] for name in ("accuracy", "call_rate"))
    return [
        by_update(
            "Right completions",
            "share of 64, mean of five updates",
            *both(TWO_RUNS, x, *right),
            label(UPDATES, right[0][-1] + 0.02, f"{TWO_RUNS[0]}: {right[0][-1]:.2f}", 8, "right"),
            label(24, 0.08, f"{TWO_RUNS[1]}: {right[1][-1]:.2f} in the end", 1, "center"),
            threshold(HALF, "too few at the end", 0),
            updates=UPDATES,
            y_range=(0, 1.13),
        ),
        by_update(
            "Completions that call the tool",
            "share of 64, mean of five updates",
            *both(TWO_RUNS, x, *calls),
            label(UPDATES, 0.55, f"{TWO_RUNS[0]}: {calls[0][-1]:.2f}", 8, "right"),
            label(UPDATES, 0.4, f"{TWO_RUNS[1]}: {calls[1][-1]:.2f}", 1, "right"),
            updates=UPDATES,
            y_range=(0, 1.13),
        ),
    ]


OPENING = Opening(Knobs(reply=16), Knobs(reply=16, masked=False), opened, tool_masking.tool_run, TWO_RUNS)
