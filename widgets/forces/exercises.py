"""Signal and cost to be changed, and forces to be set so that another recipe wins."""

from dataclasses import asdict

from sim.synthesis import forces
from sim.synthesis.forces import Assumed
from widgets.forces.widget import Knobs, baseline
from widgets.frame.contract.exercises import Challenge, Change, Exercise

LEFT = '    left = 1 - 2 * getattr(assumed, source.replace(" ", "_"))'


def missing(source, anchored=True, assumed=forces.ASSUMED):
    """E[label | truth] = (1 − e) truth, so 1 − e is left, times what else is lost."""
    wrong = asdict(assumed)[{"reward model": "reward_model"}.get(source, source)]
    loose = source in ("reward model", "judge") and not anchored
    return (1 - wrong) * (assumed.offline if source == "pairs" else 1.0) * (assumed.hacked if loose else 1.0)


def seconds(source, baseline, anchored, assumed=forces.ASSUMED):
    """Writing at four times its operations, and all else as before."""
    if source == "pairs":
        return 8.0 + assumed.labels
    besides = {"verifier": 0.0, "reward model": 2.0 + assumed.labels, "judge": 4.0}[source]
    return 8.0 + 6.0 + besides + (2.0 if anchored else 0.0) + (8.0 if baseline == "critic" else 0.0)


CHANGE = Change(
    (forces.signal, forces.cost),
    "signal and cost",
    (
        Exercise(
            "Let labels err on one side only: a correct completion is called wrong with probability e, and a wrong "
            "completion is never called correct.",
            (("verifier",), ("reward model", False), ("judge", True, Assumed(judge=0.4)), ("pairs", True)),
            missing,
            (
                "E[label | truth] is now (1 − e) · truth. There is no constant term, and the slope is the signal.",
                "Replace 1 − 2 e by 1 − e.",
            ),
            (LEFT, LEFT.replace("1 - 2 *", "1 -")),
            forces.signal,
        ),
        Exercise(
            "Count seconds instead of operations: writing a token takes four times as long as reading it. Pairs are "
            "not written.",
            (
                ("verifier", "group", False),
                ("verifier", "critic", False),
                ("reward model", "critic", True, Assumed(labels=5.0)),
                ("judge", "group", True),
                ("pairs", "group", False),
            ),
            seconds,
            (
                "In the last line, the first FORWARD is the writing. The anchor’s and the critic’s are reading.",
                "return 4 * FORWARD + TRAIN + scored + …",
            ),
            ("    return FORWARD + TRAIN + scored", "    return 4 * FORWARD + TRAIN + scored"),
            forces.cost,
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "Let a critic win that foresees at most 0.35 of the variance, with at least 16 completions per prompt.",
        lambda k, r: bool(r.best and k.samples >= 16 and k.foreseen < 0.351 and baseline(r.best) == "critic"),
        Knobs(checkable=0.0, foreseen=0.35, between=1.0),
    ),
    Challenge(
        "Let pairs win although 0.24 of their labels are wrong, with at least 24 bytes and scorers at their default.",
        lambda k, r: bool(
            r.best
            and k.room >= 24
            and k.reward_model < 0.281
            and k.judge < 0.301
            and k.pairs > 0.239
            and r.best.unchecked
            and r.best.unchecked.signal == "pairs"
        ),
        Knobs(pairs=0.24, offline=1.0, labels=0.0),
    ),
)
