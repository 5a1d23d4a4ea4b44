"""How wide the range around predicted seconds is: from published steps, or from a job that the reader has timed.

Closed form: measured over predicted seconds of the timed job, role by role, and the same factors for another job. How
far off another job then is, validation.py counts on published steps of NeMo RL 0.4 and 0.5 (2025): with the same
placement and chip nine of ten pairs are within a factor of 1.2; with another placement twelve of fifteen, and with
another chip nine of ten, are within 1.5. The predictions are made in planner.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sim.cluster import step

# multiples of the predicted seconds, for dense models and experts alike; chosen, not derived: validation.py counts how
# many published steps are in this range
PUBLISHED = (1.0, 2.2)
OWN, NEAR, FAR = 1.1, 1.2, 1.5  # ÷ and × this: the timed job, a similar one, another
TWO_POOLS = 0.75  # factor for two pools, as a share of that of a step timed in one pool


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
    key, own = step.pausing(overlap), seconds_of(predicted, overlap)
    for role in measured.keys() - {WHOLE}:
        if not getattr(own, role):
            raise ValueError(f"the job that was timed spends no time on {role}")
    known: dict[str, float] = {role: measured[role] / getattr(own, role) for role in ROLES if role in measured}

    def made(common: float) -> Factors:
        return Factors(*(known.get(role, common) for role in ROLES))

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
    """Lowest and highest factor of the predicted seconds of each role."""

    low: Factors
    high: Factors
    words: str  # its source


def factors(calibrated: Calibration | None, scenario: Any) -> Factors:
    """The factors for the predicted seconds of a scenario."""
    if calibrated is None:
        return Factors()
    by_role = calibrated.factors
    if WHOLE in calibrated.timed and scenario.placement != calibrated.job.placement:
        moved = TWO_POOLS if scenario.placement == "two pools" else 1 / TWO_POOLS
        by_role = Factors(*(f if role in calibrated.timed else moved * f for role, f in zip(ROLES, by_role)))
    return by_role


def reach(calibrated: Calibration | None, scenario: Any, same: bool) -> Range:
    """The Range for a scenario; `same`: it is the one that was timed."""
    if calibrated is None:
        return Range(Factors().times(PUBLISHED[0]), Factors().times(PUBLISHED[1]), assumed_words())
    job = calibrated.job
    alike = scenario.placement == job.placement and scenario.accelerator == job.accelerator
    alike = alike and scenario.model == job.model
    width = OWN if same else NEAR if alike else FAR
    known = [WHOLE in calibrated.timed or role in calibrated.timed for role in ROLES]
    low = Factors(*(1 / width if timed else PUBLISHED[0] for timed in known))
    high = Factors(*(width if timed else PUBLISHED[1] for timed in known))
    whose = "this job" if same else "a like job" if alike else "another placement, chip or model"
    sentence = f"{', '.join(calibrated.timed)} timed on {whose}: ÷ and × {width}"
    return Range(low, high, sentence if all(known) else f"{sentence}; else {assumed_words()}")


def assumed_words() -> str:
    return f"{PUBLISHED[0]:g} to {PUBLISHED[1]:g} times the formulas"
