"""TODO What this widget shows. For now: how often a prompt's completions are neither all correct nor all wrong."""

from dataclasses import dataclass, replace

import numpy as np

from sim.SIM_ROOM import SIM_MODEL
from widgets.frame.contract.knobs import ladder, slider
from widgets.frame.drawing.marks import bars, both, dots, line, panel, threshold
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.contract.sentences import Said, end
from widgets.frame.drawing.small_figures import Opening

TITLE = "Groups with something to compare"  # TODO a statement of fact
SIZES = [2, 4, 8, 16, 32, 64]
RARE = 0.1  # a smaller share of groups than this is broken


@dataclass(frozen=True)
class Knobs:
    p: float = slider("Pass rate", 0.5, 0.01, 0.99, 0.01, symbol="p")
    K: int = ladder("Completions per prompt", 8, SIZES, symbol="K")


PRESETS = {"Half are correct": Knobs(), "Hard": Knobs(p=0.01), "Hard, large groups": Knobs(p=0.01, K=64)}


@dataclass(frozen=True)
class Shares:
    """TODO What a run yields. Here shares of all groups, each from 0 to 1."""

    here: float
    pairs: float  # with K = 2
    highest: float  # at the pass rate that is best for groups of K
    pass_rates: np.ndarray  # (99,)
    curve: np.ndarray  # (99,) the share at each of them
    by_size: np.ndarray  # (6,) the share at this pass rate in groups of each of SIZES


def run(k):
    """A closed form yields once; a training run yields as it goes, and the widget has a function `progress`."""
    p = np.linspace(0.01, 0.99, 99)
    share = SIM_MODEL.informative
    yield Shares(share(k.p, k.K), share(k.p, 2), share(0.5, k.K), p, share(p, k.K), share(k.p, np.array(SIZES)))


def figure(k, r):
    return [
        panel(
            "Groups with something to compare",
            f"share of groups, {k.K} completions per prompt; closed form",
            line(r.pass_rates, r.curve, "share", 1),
            dots([k.p], [r.here], "this setting", 1, "here"),
            threshold(RARE, f"breaks below {RARE:g}", 0.0),
            x="pass rate of the prompt",
            x_range=(0, 1),
            y_range=(0, 1.05),
            front=True,
        )
    ]


def readouts(k, r):
    bad = "violated" if broken(k, r) else ""
    return [
        Readout("Groups with something to compare", 100 * r.here, "%", SIM_MODEL.informative, bad),
        Readout("The same in pairs", 100 * r.pairs, "%", SIM_MODEL.informative),
        Readout("At the best pass rate", 100 * r.highest, "%", SIM_MODEL.informative),
    ]


def watched(k, r):
    return Gauge("Groups with something to compare", r.here, RARE, below=True, expression=f"share < {RARE:g}")


def broken(k, r):
    if r.here >= RARE:
        return None
    same = "wrong" if k.p < 0.5 else "correct"
    why = Said(
        f"Only {r.here:.1%} of the groups have two outcomes: the others are all {same}.",
        {"undoing it mends": lambda: end(run, replace(k, p=0.5)).here >= RARE},  # TODO what the sentence asserts
    )
    return Break(why, dict(p=0.5), "almost every group is alike")


def seen_at(k, r, cause):
    return At("Groups with something to compare", k.p, r.here, "nearly all alike", "this setting")


def holds(k, r):
    return Said(
        f"{r.here:.1%} of the groups have two outcomes, and in each of them there is something to compare.",
        {"so many": lambda: abs(r.here - (1 - k.p**k.K - (1 - k.p) ** k.K)) < 1e-9},  # TODO another way than `run`
    )


NAMES = "solved half of the time", "solved once in 100"


def opened(plain, other):
    """An outcome that any reader can read, and the watched quantity, of two settings."""
    return [
        panel(
            "Prompts that teach something",
            "of 100 prompts, by completions per prompt; closed form",
            *both(NAMES, SIZES, 100 * plain.by_size, 100 * other.by_size),
            x="completions per prompt",
            x_range=(2, 64),
            y_range=(0, 105),
            log="x",
        ),
        panel(
            "Groups with something to compare",
            "share of groups of eight",
            bars(list(NAMES), [plain.here, other.here], "share", 1),
            threshold(RARE, f"breaks below {RARE:g}", 0.0),
            y_range=(0, 1.05),
        ),
    ]


OPENING = Opening(Knobs(), Knobs(p=0.01), opened, SIM_MODEL.informative, NAMES)
