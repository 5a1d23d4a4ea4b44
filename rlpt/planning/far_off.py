"""Where to look when a timed job takes several times what is predicted.

Closed form: the same job with one thing set otherwise, by planner.py; what this would add is computed, and that it is
the cause is not.
"""

from collections.abc import Iterator
from dataclasses import replace

from rlpt.planning import calibration, planner
from rlpt.planning.planner import Scenario
from sim.cluster import trainer

LIMIT = 3.0  # times the prediction; the slowest of 67 published steps took 2.9 times as long
SHOWN = 1.15  # times as long: what adds less explains nothing
NAMES = dict(zip(calibration.ROLES, ("rollout", "tests", "log-probs", "update", "weight transfer")))


def sentences(s: Scenario) -> list[str]:
    """One for each role of the timed job that took more than LIMIT times what is predicted."""
    known = s.calibration
    if known is None:
        return []
    usual = calibration.assumed(known.job)
    times = {role: timed / assumed for role, timed, assumed in zip(calibration.ROLES, known.factors, usual)}
    if known.timed == (calibration.WHOLE,):
        if times["rollout"] <= LIMIT:
            return []
        looks = [look for role in ("rollout", "update") for look in suspects(known.job, role)]
        return [said("step", times["rollout"], looks)]
    far = (role for role in known.timed if role != calibration.WHOLE and times[role] > LIMIT)
    return [said(NAMES[role], times[role], list(suspects(known.job, role))) for role in far]


def said(name: str, times: float, looks: list[str]) -> str:
    where = f" Look first at {'; '.join(looks)}." if looks else " Time its parts."
    return f"The {name} took {times:.0f} times what is predicted.{where}"


def suspects(job: Scenario, role: str) -> Iterator[str]:
    """What would add to a role, with how many times as long it would take."""
    now = seconds(job, role)
    for words, there in others(job, role):
        times = seconds(there, role) / now if now else 1.0
        if times >= SHOWN:
            yield f"{words} ({times:.1f} times as long)"


def others(job: Scenario, role: str) -> Iterator[tuple[str, Scenario]]:
    if role == "rollout":
        launched = job.efficiency._replace(overhead_seconds=job.model.layers * trainer.LAUNCH)
        yield "an engine without CUDA graphs", replace(job, efficiency=launched)
        slow = job.efficiency._replace(sequence_seconds=10 * job.efficiency.sequence_seconds)
        yield "a host that takes ten times as long for each sequence", replace(job, efficiency=slow)
        yield "an engine that fills only three tenths of its memory", replace(job, hbm_share=0.3)
    elif role in ("update", "log_probs"):
        yield "one sequence per micro-batch", replace(job, packed=False)
        yield "the same with the weights in host memory", replace(job, packed=False, on_host="all")
    elif role == "weights":
        yield "a transfer that casts to bf16 first", replace(job, weight_bytes=2)


def seconds(job: Scenario, role: str) -> float:
    """Predicted seconds of a role as a log reports it; those of the job itself where a change of it does not fit."""
    if planner.impossible(job):
        return 0.0
    return getattr(calibration.seconds_of(planner.formulas(job), job.overlap), role)
