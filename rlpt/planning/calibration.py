"""How far a system's seconds lie above the formulas, and how surely: from published steps, or from a timed job.

Closed form: measured over computed seconds, role by role. Without a timing, the factors are those of published steps,
by placement; with one they are its own, also for another job. How far off another job then is, validation.py counts on
published steps of NeMo RL 0.4 and 0.5 (2025): with the same placement and chip nine of ten pairs are within a factor of
1.2; with another placement thirteen of fifteen, and with another chip nine of ten, are within 1.5. The seconds
themselves are computed in planner.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sim.cluster import step

# Published over computed seconds of a step, geometric means over NeMo RL 0.4 and 0.5, which trains with Megatron: 1.71
# in one pool (15 steps) and 1.30 in two (17)
PLACED = {"one pool": 1.7, "two pools": 1.3}
WIDTH = 1.4  # ÷ and × this, a step; chosen: validation.py counts how many of the steps that were not used lie inside
OWN, NEAR, FAR = 1.1, 1.2, 1.5  # the same of the timed job, of a similar one, of another


class Factors(NamedTuple):
    """Factors for the predicted seconds of each role."""

    rollout: float = 1.0
    tests: float = 1.0
    log_probs: float = 1.0
    update: float = 1.0
    weights: float = 1.0  # sending weights to the engines, or the switch in one pool

    def times(self, factor: float) -> "Factors":
        return Factors(*(factor * own for own in self))


ROLES = Factors._fields
# the same of a role alone, which published runs spread further; seconds of tests are the reader's own
ALONE = Factors(rollout=1.7, tests=1.0, log_probs=2.5, update=2.2, weights=2.0)


def assumed(scenario: Any) -> Factors:
    """The factors of a scenario of which nothing was timed."""
    placed = PLACED[scenario.placement]
    return Factors(placed, 1.0, placed, placed, placed)


WHOLE = "step"


def scaled(roles: step.Roles, factors: Factors) -> step.Roles:
    """The roles with their seconds multiplied by these factors."""
    return replace(
        roles,
        rollout=factors.rollout * roles.rollout,
        tail=factors.rollout * roles.tail,
        verify=factors.tests * roles.verify,
        log_probs=factors.log_probs * roles.log_probs,
        train=factors.update * roles.train,
        sync=factors.weights * roles.sync,
        switch=factors.weights * roles.switch,
    )


def seconds_of(roles: step.Roles, overlap: str) -> Factors:
    """Seconds of each role as a log reports them."""
    rollout = step.seconds(roles, "rollout", overlap)
    return Factors(rollout, roles.verify, roles.log_probs, roles.train, roles.sync + roles.switch)


@dataclass(frozen=True)
class Calibration:
    """What one timed job shows."""

    job: Any  # the timed scenario, without a calibration
    timed: tuple[str, ...]  # the timed roles, and "step"
    factors: Factors  # measured over predicted
    between: float = 1.0  # the timed step over the step that its roles add up to, if every role was timed too


def calibration(job: Any, predicted: step.Roles, overlap: str, measured: Mapping[str, float]) -> Calibration:
    """The Calibration from a job, its predicted roles and the measured seconds, {role or "step": seconds}. Roles that
    were not timed share the factor at which the step takes as long as measured; raises a ValueError if there is none.
    """
    key, own, usual = step.pausing(overlap), seconds_of(predicted, overlap), assumed(job)
    for role in measured.keys() - {WHOLE}:
        if not getattr(own, role):
            raise ValueError(f"the job that was timed spends no time on {role}")
    known: dict[str, float] = {role: measured[role] / getattr(own, role) for role in ROLES if role in measured}

    def made(common: float) -> Factors:
        return Factors(*(known.get(role, common * one) for role, one in zip(ROLES, usual)))

    def takes(common: float) -> float:
        return step.step_time(scaled(predicted, made(common)), key)

    timed = tuple(measured)
    if WHOLE not in measured:
        return Calibration(job, timed, made(1.0))
    asked = measured[WHOLE]
    if all(role in known or not getattr(own, role) for role in ROLES):
        if asked < takes(1.0) * (1 - 1e-9):
            raise ValueError(contradiction(asked, takes(1.0)))
        return Calibration(job, timed, made(1.0), asked / takes(1.0))
    if not known:
        return Calibration(job, timed, made(asked / takes(1.0)))
    if takes(0.0) > asked:
        raise ValueError(contradiction(asked, takes(0.0)))
    low, high = 0.0, 1.0
    while takes(high) < asked:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if takes(middle) < asked else (low, middle)
    return Calibration(job, timed, made(high))


def contradiction(whole: float, parts: float) -> str:
    return f"a step of {whole:,.6g} s was timed, and the roles that were timed make it {parts:,.6g} s at least"


class Range(NamedTuple):
    """Lowest and highest factor of the predicted seconds, of all roles together and of each by itself."""

    low: Factors
    high: Factors
    words: str  # its source
    low_alone: Factors
    high_alone: Factors


def factors(calibrated: Calibration | None, scenario: Any) -> Factors:
    """The factors by which a scenario's computed seconds are multiplied."""
    usual = assumed(scenario)
    if calibrated is None:
        return usual
    of_job = assumed(calibrated.job)
    found = zip(ROLES, calibrated.factors, usual, of_job)
    return Factors(*(f if role in calibrated.timed else f * here / there for role, f, here, there in found))


def reach(calibrated: Calibration | None, scenario: Any, same: bool) -> Range:
    """The Range for a scenario; `same`: it is the one that was timed."""
    narrow = Factors(*(min(WIDTH, alone) for alone in ALONE))
    if calibrated is None:
        return Range(inverse(narrow), narrow, assumed_words(scenario), inverse(ALONE), ALONE)
    job = calibrated.job
    alike = scenario.placement == job.placement and scenario.accelerator == job.accelerator
    alike = alike and scenario.model == job.model
    width = OWN if same else NEAR if alike else FAR
    known = [WHOLE in calibrated.timed or role in calibrated.timed for role in ROLES]
    high = Factors(*(width if timed else other for timed, other in zip(known, narrow)))
    alone = Factors(*(width if timed else other for timed, other in zip(known, ALONE)))
    whose = "this job" if same else "a like job" if alike else "another placement, chip or model"
    sentence = f"{', '.join(calibrated.timed)} timed on {whose}: ÷ and × {width}"
    words = sentence if all(known) else f"{sentence}; else {assumed_words(scenario)}"
    return Range(inverse(high), high, words, inverse(alone), alone)


def inverse(widths: Factors) -> Factors:
    return Factors(*(1 / width for width in widths))


def assumed_words(scenario: Any) -> str:
    placed = scenario.placement
    return f"{PLACED[placed]:g} times the formulas, as published steps in {placed}, ÷ and × {WIDTH:g}"
