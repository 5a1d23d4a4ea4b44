"""What a plan adds to its closed forms to be changed, and jobs to be brought under a bound."""

from dataclasses import replace
from math import exp, log
from types import SimpleNamespace

from sim.cluster import planner
from sim.cluster.models import MODELS
from sim.cluster.step import Roles
from widgets.frame.exercises import Challenge, Change, Exercise
from widgets.plan.widget import Knobs


class Job(SimpleNamespace):
    """As much of a scenario as the functions read."""

    def __repr__(self):
        return self.said


def overlapping(overlap):
    return Job(overlap=overlap, said=f"a job with overlap {overlap}")


def timed(experts, engine=False, update=False):
    kind = "experts" if experts else "dense"
    said = f"{kind}, engine timed: {engine}, update timed: {update}"
    return Job(model=SimpleNamespace(moe=experts or None), engine_timed=engine, update_timed=update, said=said)


ROLES = Roles(rollout=60.0, verify=5.0, log_probs=10.0, train=45.0, sync=3.0)
SLOW_SYNC = Roles(rollout=60.0, verify=5.0, log_probs=10.0, train=45.0, sync=30.0)
STEP = "    return step.step_time(found, step.pausing(s.overlap))"
SPREAD = "    return 1.0 if s.engine_timed else slower, 1.0 if s.update_timed else slower"


def interrupted(s, r):
    """Lanes by hand, of a rollout without a tail; of ten seconds nine count."""
    whole = r.rollout + r.verify + r.log_probs + r.train + r.sync
    longest = max(r.rollout + r.sync, r.verify, r.log_probs + r.train)
    return (longest if s.overlap == "async" else whole) * 10 / 9


CHANGE = Change(
    (planner.step_seconds, planner.spread),
    "seconds of a step, and how far they reach",
    (
        Exercise(
            "Count what fails: of ten hours one goes into restarts and repeated steps, so that a step takes so much "
            "longer on average.",
            ((overlapping("sync"), ROLES), (overlapping("async"), ROLES), (overlapping("async"), SLOW_SYNC)),
            interrupted,
            (
                "Nine tenths of the time bring steps forward. The seconds of a step are divided by that share.",
                "return step.step_time(…) / 0.9",
            ),
            (STEP, STEP + " / 0.9"),
            planner.step_seconds,
        ),
        Exercise(
            "Let the slow end of the range lie half way to the slowest published run on a log scale, and what was "
            "timed stay as it is.",
            ((timed(False),), (timed(True),), (timed(True, engine=True),), (timed(False, update=True),)),
            lambda s: tuple(
                1.0 if known else exp(log(planner.SLOWER["experts" if s.model.moe else "dense"]) / 2)
                for known in (s.engine_timed, s.update_timed)
            ),
            (
                "Half way on a log scale between 1 and x is the square root of x.",
                "Both of the last line’s slower become slower ** 0.5.",
            ),
            (SPREAD, "    slower = slower**0.5\n" + SPREAD),
            planner.spread,
        ),
    ),
)


def but_for(k, *names):
    """Whether all knobs but these are as by default."""
    return replace(k, **{name: getattr(Knobs(), name) for name in names}) == Knobs()


ARRANGED = ("overlap", "reuse", "share", "tensor_parallel", "util", "recompute", "training_parallel")

CHALLENGES = (
    Challenge(
        "The default job on its 128 GPUs, all widths in bf16: arrange it so that a step takes at most 256 s.",
        lambda k, r: bool(but_for(k, *ARRANGED) and not r.misfits and r.found.step_range[0] <= 256),
        Knobs(overlap="carry-over", reuse=True, tensor_parallel="4"),
    ),
    Challenge(
        "The default job as a stream, widths free: a step of at most 210 s, of which no pool waits for 3 %.",
        lambda k, r: bool(
            k.overlap == "async"
            and but_for(k, *ARRANGED, "weights", "cache")
            and not r.misfits
            and r.found.step_range[0] <= 210
            and r.found.idle < 0.03
        ),
        Knobs(reuse=True, share=0.35, weights="fp8", cache="fp8"),
    ),
    Challenge(
        "Fit DeepSeek-V3, with sequences of 8,704 tokens or more, on at most 48 GPUs of a chip on the list.",
        lambda k, r: bool(
            not r.misfits
            and not k.chip
            and r.scenario.model == MODELS["deepseek-v3"]
            and k.gpus <= 48
            and r.scenario.longest >= 8704
        ),
        Knobs(model="deepseek-v3", gpus=48, accelerator="mi355x", overlap="carry-over"),
    ),
)
