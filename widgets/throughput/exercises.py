"""The law of the step to be changed, and steps to be shortened by what runs beside what."""

from dataclasses import replace

from sim.cluster import step
from sim.cluster.step import Roles
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.throughput.widget import ROLES, WAYS, Knobs

TWO = Roles(rollout=70.0, verify=0.0, log_probs=0.0, train=30.0, sync=0.0)
FIVE = Roles(rollout=60.0, verify=20.0, log_probs=10.0, train=40.0, sync=5.0, other=2.0)
MAX = "    longest = max(lane_seconds(roles, lane, overlap) for lane in lanes)"
ALL = "    spans = [lane_seconds(roles, lane, overlap) for lane in lanes]\n"


def crowded(r, overlap):
    """The lanes written out, of a rollout without a tail."""
    beside, after = {
        "async": ([r.rollout, r.verify, r.log_probs + r.train, r.sync], 0.0),
        "one-off": ([r.rollout + r.verify, r.log_probs + r.train], r.sync + r.other),
        "sync": ([r.rollout + r.verify + r.log_probs + r.train], r.sync + r.other),
    }[overlap]
    *others, longest = sorted(beside)
    return longest + sum(others) / 10 + after


CHANGE = Change(
    (step.step_time, step.whatif, step.speedup),
    "the law of the step",
    (
        Exercise(
            "Lanes that share machines and a network slow each other down. To the longest lane, add a tenth of the "
            "seconds of all other lanes.",
            ((TWO, "async"), (TWO, "sync"), (FIVE, "async"), (FIVE, "one-off")),
            crowded,
            (
                "The other lanes are all lanes except the longest, so their seconds are a sum minus a maximum.",
                "longest = max(spans) + 0.1 * (sum(spans) - max(spans)), where spans has the seconds of every lane.",
            ),
            (MAX, ALL + "    longest = 0.9 * max(spans) + 0.1 * sum(spans)"),
        ),
        Exercise(
            "Engines may become faster at writing but not at reading prompts. Let only 0.8 of a role’s seconds become "
            "k times as fast.",
            ((TWO, "sync", "rollout", 2.0), (TWO, "sync", "train", 4.0), (FIVE, "sync", "rollout", 8.0)),
            lambda roles, overlap, role, k: step.amdahl(0.8 * getattr(roles, role) / sum(vars(roles).values()), k),
            (
                "This is Amdahl’s law inside one role: of each second, 0.2 s stay and 0.8 s are divided by k.",
                "In whatif, getattr(roles, role) / k becomes getattr(roles, role) * (0.2 + 0.8 / k).",
            ),
            ("{role: getattr(roles, role) / k}", "{role: getattr(roles, role) * (0.2 + 0.8 / k)}"),
            step.speedup,
        ),
    ),
)

FROM_SHAPES = Knobs(source="from shapes", accelerator="h100", k=1.0)


def but_for(k, reference, *names):
    """Whether all knobs but these are as in the reference."""
    return replace(k, **{name: getattr(reference, name) for name in names}) == reference


def gain(k, r):
    return step.speedup(r.before, WAYS[k.overlap], ROLES[k.role], min(k.k, r.limit))


CHALLENGES = (
    Challenge(
        "Reach a gain of 1.12 by changing overlap, reuse and workers, and making one role at most 1.15 times as fast.",
        lambda k, r: (
            but_for(k, Knobs(), "overlap", "reuse", "role", "k", "workers")
            and not r.misfits
            and k.k <= 1.15
            and gain(k, r) >= 1.12
        ),
        Knobs(overlap="asynchronous", reuse=True, k=1.15),
    ),
    Challenge(
        "Bring a step below 33 s by changing overlap, reuse and split, with times from shapes on H100 and k = 1.",
        lambda k, r: (
            but_for(k, FROM_SHAPES, "overlap", "reuse", "share", "role")
            and not r.misfits
            and step.step_time(r.roles, WAYS[k.overlap]) < 33.0
        ),
        replace(FROM_SHAPES, overlap="asynchronous", reuse=True, share=0.25),
    ),
)
