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
COST = f"{60 * 64:,} completions per run"
UPDATES, EVERY, WINDOW, FIRST = 60, 6, 5, 10
WELL = 0.9  # right, in the end
CALLS = 0.4  # completions that call in the end: below it the policy has given up the tool; unmasked GRPO stays above
HALF = 0.5  # about where it starts: fewer right completions than this at the end are broken
FILES = {"GRPO": grpo, "REINFORCE": reinforce}


@dataclass(frozen=True)
class Knobs:
    masked: bool = toggle("Mask on the tool's tokens", True)
    reply: int = ladder("Tokens per tool reply", 8, [2, 4, 8, 12, 16])
    shift: int = slider("Shift of the mask", 0, -1, 1, 1, unit="tokens")
    algorithm: str = choice("Algorithm", "GRPO", list(FILES))
    denominator: str = choice("Loss averaged over", "own tokens", ["own tokens", "all tokens"])
    fill: str = choice("Missing log-probabilities", "recomputed", ["recomputed", "0"])
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
        return dict(shift="there is no mask to shift")
    return {} if k.shift else dict(fill="the mask leaves them out")


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
            "Correct completions and tool calls",
            f"share of 64 completions; correct: mean of {WINDOW} updates",
            line(x, right, "correct", 1),
            line(x, calls, "called the tool", 2),
            threshold(HALF, f"broken if fewer than {HALF:g} are correct at the end", 0),
            label(UPDATES, 0.02, "correct", 1, "right"),
            label(0, 1.05, "called the tool", 2),
            updates=UPDATES,
            y_range=(0, 1.2),
            tab="Training",
            front=True,
        ),
        by_update(
            "The tool's share of the gradient",
            "share of the squared norms, before each update",
            line(x, share, "share", 1),
            updates=UPDATES,
            y_range=(-0.02, 1.05),
            tab="Training",
        ),
        panel(
            "The policy's surprise at each token",
            "−log π in nats, latest batch; cut off at 26",
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
            "The push of each token",
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
            "The policy's surprise at the tool's text",
            "nats per token; it falls if the policy learns to imitate the tool; cut off at 20",
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
        Readout("Tool's share, first ten gradients", 100 * early_share(r), "%", tool_masking.looked_at),
        Readout(
            "Pass rate, last five updates", right_now(r), "", tool_masking.tool_run, "violated" if failed(r) else ""
        ),
        Readout("Completions that call the tool", 100 * step.call_rate, "%", tool_masking.tool_run),
        Readout("Dilution factor of the gradient", r[0].dilution, "", tool_masking.dilution),
        Readout("Mean ratio in the loss", step.mean_ratio, "", tool_masking.looked_at),
    ]


def failed(r):
    """Certain only at the end: a run may come back."""
    return len(r) == UPDATES and right_now(r) < HALF


def watched(k, r):
    return Gauge(
        f"Pass rate, last {WINDOW} updates",
        right_now(r),
        HALF,
        below=True,
        expression=f"mean(pass_rate[-{WINDOW}:]) < {HALF:g} at the end",
    )


def seen_at(k, r, cause):
    few = calls(r) < CALLS
    words, curve = ("few still call the tool", "called the tool") if few else ("fewer than half are correct", "correct")
    return At("Correct completions and tool calls", None, None, words, curve)


SILENT, IMITATED, OFF_BY_ONE = "calls that die out", "imitation of the tool's text", "a mask off by one"
DIVIDED, BOTH = "a divisor that counts the tool's tokens", "a wrong mask and divisor"
IN_PLACE, OWN = dict(masked=True, shift=0), dict(denominator="own tokens")
UNDONE = {SILENT: IN_PLACE, IMITATED: IN_PLACE, OFF_BY_ONE: IN_PLACE, DIVIDED: OWN, BOTH: IN_PLACE | OWN}


def broken(k, r):
    if not failed(r):
        return None
    name = cause(k, r)
    led = f"The pass rate went from {windowed(column(r, 'accuracy'))[0]:.2f} to {right_now(r):.2f}"
    undone = {"undone, it is mended": lambda: mended(k, UNDONE[name])}
    why = Said(f"{led}: {reason(k, r, name)}.", undone | facts(k, r, name))
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
        return f"the mask is one token too far {beside(k, r)}"
    if name == IMITATED:
        return f"{100 * early_share(r):.0f} % of the first ten gradients came from text that the tool wrote"
    if name == SILENT:
        still = f"only {100 * r[-1].call_rate:.3g} % still call" if r[-1].call_rate else "no completion calls"
        return f"{still} the tool, because the policy was trained on the tool's text"
    if name == BOTH:
        return "the tool's tokens count in the loss and in its divisor, and repairing only one is not enough"
    return f"the loss is divided by all tokens, so a completion that calls is pushed {pushed(r):.2f} times as hard"


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
        return f"{side}, and the policy no longer calls"
    share = f"{100 * np.nanmean(shares):.0f} %"
    if k.shift > 0:
        return f"right, and an answer begins after {share} of the replies"
    return f"left, and {share} of the calls ask for the right entry"


def worse(k, r):
    start, ends = windowed(column(r, "accuracy"))[0], right_now(r)
    if ends >= max(start, WELL):
        return None
    went = f"The pass rate went from {start:.2f} to {ends:.2f}"
    if (k.masked and not k.shift) or k.denominator != OWN["denominator"]:
        return Said(
            f"{went}. The default run ends near 1.",
            {"it does": lambda: unfinished(r) or right_now(end(run, Knobs(seed=k.seed))) > 0.93},
        )

    def in_place():
        return right_now(end(run, replace(k, masked=True, shift=0)))

    return Said(
        f"{went}. With the mask in place, it ends near 1, because the tool's text is left out.",
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
        f"{100 * right_now(r):.0f} % of the completions are correct now, and {share:.0f} % of the first ten gradients "
        "came from the tool's text.",
        {"none where the mask is in its place": lambda: not k.masked or k.shift != 0 or early_share(r) == 0},
    )


GUESS = Guess(
    "Each reply has two tokens, which are not masked. What share of the first ten gradients comes from them?",
    ("a tenth", "a quarter", "about half"),
    Knobs(masked=False, reply=2),
    2,
    lambda k, r: (
        f"{100 * early_share(r):.0f} % comes from them, and the run still ends at a pass rate of {right_now(r):.2f}."
    ),
)


# ── the first screen ──
TWO_RUNS = "tool tokens masked", "not masked"


def opened(plain, other):
    """What both runs answer, and how often they ask the tool."""
    x = np.arange(1, UPDATES + 1)
    right, calls = ([windowed(column(r, name)) for r in (plain, other)] for name in ("accuracy", "call_rate"))
    return [
        by_update(
            "Correct completions",
            "share of 64, mean of five updates",
            *both(TWO_RUNS, x, *right),
            label(UPDATES, right[0][-1] + 0.02, f"{TWO_RUNS[0]}: {right[0][-1]:.2f}", 8, "right"),
            label(24, 0.08, f"{TWO_RUNS[1]}: {right[1][-1]:.2f} at the end", 1, "center"),
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
