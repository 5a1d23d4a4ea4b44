"""What a plan adds to its closed forms to be changed, and jobs to be brought under a bound."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

from rlpt.planning import calibration, planner
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS
from sim.cluster.step import Roles
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.plan.widget import Knobs


class Job(SimpleNamespace):
    """As much of a scenario as `step_seconds` reads."""

    def __repr__(self):
        return self.said


@dataclass(frozen=True, repr=False)
class Whole(planner.Scenario):
    """A scenario whose repr is a few words."""

    def __repr__(self):
        return f"a job of {self.model.name} on {self.gpus} GPUs"


def overlapping(overlap):
    return Job(overlap=overlap, calibration=None, said=f"a job with overlap {overlap}")


def job(model, gpus):
    return Whole(MODELS[model], ACCELERATORS["h100"], Law(720, 2000, 4600, 8192), gpus=gpus, tensor_parallel=2)


ROLES = Roles(rollout=60.0, verify=5.0, log_probs=10.0, train=45.0, sync=3.0)
SLOW_SYNC = Roles(rollout=60.0, verify=5.0, log_probs=10.0, train=45.0, sync=30.0)
STEP = "    return between * step.step_time(found, step.pausing(s.overlap))"
ENDS = "    return step_seconds(s, low), step_seconds(s, high)"


def interrupted(s, r):
    """The step by hand, for a rollout without a tail; nine seconds of ten count."""
    whole = r.rollout + r.verify + r.log_probs + r.train + r.sync
    longest = max(r.rollout + r.sync, r.verify, r.log_probs + r.train)
    return (longest if s.overlap == "async" else whole) * 10 / 9


CHANGE = Change(
    (planner.step_seconds, planner.step_range),
    "the seconds of a step and their range",
    (
        Exercise(
            "Account for failures: one hour in ten goes into restarts and repeated steps, so a step takes longer on "
            "average.",
            ((overlapping("sync"), ROLES), (overlapping("async"), ROLES), (overlapping("async"), SLOW_SYNC)),
            interrupted,
            (
                "Nine tenths of the time move the run forward. Divide the seconds of a step by that share.",
                "return between * step.step_time(…) / 0.9",
            ),
            (STEP, STEP + " / 0.9"),
            planner.step_seconds,
        ),
        Exercise(
            "Move the long end of the range to halfway between the two ends, on a log scale.",
            ((job("qwen2.5-7b", 16),), (job("qwen3-30b-a3b", 64),)),
            # nothing was timed, so the range is ÷ and × the same factor
            lambda s: (planner.seconds(s) / calibration.WIDTH, planner.seconds(s)),
            (
                "Halfway between a and b on a log scale is the square root of a times b.",
                "return step_seconds(s, low), (… * …) ** 0.5",
            ),
            (ENDS, "    return step_seconds(s, low), (step_seconds(s, low) * step_seconds(s, high)) ** 0.5"),
            planner.step_range,
        ),
    ),
)


def but_for(k, *names):
    """Whether all knobs but these are as by default."""
    return replace(k, **{name: getattr(Knobs(), name) for name in names}) == Knobs()


ARRANGED = ("overlap", "reuse", "share", "tensor_parallel", "util", "recompute", "training_parallel", "expert_parallel")

CHALLENGES = (
    Challenge(
        "Arrange the default job on its 128 GPUs, in bf16, so that the short end of its range is at most 290 s.",
        lambda k, r: bool(but_for(k, *ARRANGED) and not r.misfits and r.found.step_range[0] <= 290),
        Knobs(reuse=True, share=0.6),
    ),
    Challenge(
        "With async and any precision, bring the short end of the default job's range to 170 s, with each pool idle "
        "for less than 8 %.",
        lambda k, r: bool(
            k.overlap == "async"
            and but_for(k, *ARRANGED, "weights", "cache")
            and not r.misfits
            and r.found.step_range[0] <= 170
            and r.found.idle < 0.08
        ),
        replace(
            Knobs(reuse=True, share=0.45, weights="fp8", cache="fp8"),
            tensor_parallel="2",
            recompute="selective",
            training_parallel=2,
        ),
    ),
    Challenge(
        "Fit DeepSeek-V3, with sequences of 8,704 tokens or more, on at most 48 GPUs of a chip from the list.",
        lambda k, r: bool(
            not r.misfits
            and not k.chip
            and r.scenario.model == MODELS["deepseek-v3"]
            and k.gpus <= 48
            and r.scenario.longest >= 8704
        ),
        Knobs(model="deepseek-v3", gpus=48, accelerator="mi355x", overlap="carry-over", host_memory=2000.0),
    ),
)
