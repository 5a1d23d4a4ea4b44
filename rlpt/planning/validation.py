"""Published steps next to the predictions of this book's cost model for the same jobs.

Closed form, by planner.py at the efficiencies assumed everywhere; the publications are those in measured.py. The
shapes, GPUs, batch, mean length, limit and engine are taken from each publication. On rows that say so constants were
fitted, on the others nothing; `python -m rlpt.planning.validation` prints the error on those. The spread of lengths is
assumed, and if no mean is published it follows from the update, which then is no evidence.
"""

import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from rlpt.planning import calibration, measured, peaks, planner
from sim.cluster import lengths, step, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import Law

SIGMA = 0.8  # assumed: standard deviation of the log length


class Compared(NamedTuple):
    row: measured.Published
    role: str  # "step", "generate", "log_probs" or "update"
    published: float  # seconds
    predicted: float

    @property
    def ratio(self) -> float:
        """Published over predicted seconds."""
        return self.published / self.predicted


def law_of(mean: float, longest: float, sigma: float = SIGMA) -> Law:
    """The lognormal whose mean is `mean` after the cut at `longest`; raises a ValueError if there is none."""
    if not 0 < mean < longest:
        raise ValueError(f"completions of at most {longest:,} tokens have no mean of {mean:,}")
    low, high = 1.0, 1e3 * longest
    for _ in range(100):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if lengths.lognormal(middle, sigma, longest).mean < mean else (low, middle)
    return lengths.lognormal(low, sigma, longest)


def scenario(row: measured.Published, efficiency: throughput.Efficiency = throughput.ENGINE) -> planner.Scenario:
    """The job of a row, but for its trainer and its updates."""
    assert row.model is not None, "a row without a model is not computed"
    return planner.Scenario(
        row.model,
        ACCELERATORS[row.accelerator],
        law_of(row.mean, row.longest),
        gpus=row.gpus,
        prompts=row.prompts,
        samples=row.samples,
        prompt=measured.PROMPT,
        overlap=row.overlap,
        batches=row.batches,
        share=row.generating / row.gpus if row.generating else 0.5,
        tensor_parallel=row.tensor_parallel,
        weight_bytes=row.weight_bytes,
        hbm_share=row.hbm_share,
        reference=row.reference,
        reuse=row.reuse,
        efficiency=efficiency,
    )


def predicted(
    row: measured.Published,
    efficiency: throughput.Efficiency = throughput.ENGINE,
    factors: calibration.Factors | None = None,
) -> dict[str, float]:
    """{"generate", "log_probs", "update", "step"}: seconds of the job at the assumed efficiencies and factors."""
    job = scenario(row, efficiency)
    batch = replace(planner.batch(job), updates=row.updates)
    by = row.trainer or planner.trainer_of(job)
    usual = calibration.assumed(job) if factors is None else factors
    roles = calibration.scaled(planner.roles_with(job, by, batch), usual)
    return {
        "generate": step.seconds(roles, "rollout", row.overlap),
        "log_probs": roles.log_probs,
        "update": roles.train,
        "step": planner.step_seconds(job, roles),
    }


@cache
def compared() -> tuple[Compared, ...]:
    """Every published time that is not an input, row by row."""
    rows = []
    for row in measured.PUBLISHED:
        by_model = predicted(row) if row.computed else {}
        for role in ROLES:
            seconds = getattr(row, role)
            if seconds and by_model and not (role == "update" and row.length_from_update):
                rows.append(Compared(row, role, seconds, by_model[role]))
    return tuple(rows)


def steps() -> list[Compared]:
    return [c for c in compared() if c.role == "step"]


def unfitted(role: str = "step") -> list[Compared]:
    """The published times of a role on which nothing was fitted."""
    return [c for c in compared() if c.role == role and not c.row.fitted]


def within(factor: float, fitted: bool | None = None) -> tuple[int, int]:
    """(published steps that the prediction meets within this factor, times or divided by; all published steps), of all
    rows or of those that are `fitted` or not; a step that is not computed counts as a miss.
    """
    kept = [c for c in steps() if fitted in (None, c.row.fitted)]
    timed = [row for row in measured.PUBLISHED if row.step and fitted in (None, row.fitted)]
    return sum(1 / factor <= c.ratio <= factor for c in kept), len(timed)


class Pair(NamedTuple):
    """Two published steps of one recipe that differ in one thing."""

    before: Compared
    after: Compared

    def within(self, factor: float) -> bool:
        """Whether the first step predicts the second within `factor`, times or divided by."""
        off = self.after.ratio / self.before.ratio
        return 1 / factor <= off <= factor


BEFORE, SINCE = ("NeMo RL 0.4", "NeMo RL 0.5"), ("NeMo RL 0.6",)  # releases that calibration.py uses, or does not


def pairs(differ: str, releases: tuple[str, ...] = BEFORE) -> list[Pair]:
    """Pairs of NeMo RL's rows that differ in "placement", one pool and two for the same release and chip, or in "chip",
    H100 and GB200 for the same release and placement.
    """
    named = {c.row.name: c for c in steps() if c.row.source in releases}
    pairs_of_rows = []
    for one in named.values():
        apart = one.row.overlap == "one-off"
        if (differ == "placement" and not apart) or (differ == "chip" and one.row.accelerator == "h100"):
            pairs_of_rows += [Pair(one, other) for other in named.values() if like(one.row, other.row, differ)]
    return pairs_of_rows


def like(one: measured.Published, other: measured.Published, differ: str) -> bool:
    same = (one.source, one.model, one.weight_bytes) == (other.source, other.model, other.weight_bytes)
    same = same and one.batches == other.batches
    placement, chip = one.overlap == other.overlap, one.accelerator == other.accelerator
    return same and (chip and not placement if differ == "placement" else placement and not chip)


class Spread(NamedTuple):
    """The spread of several ratios."""

    mean: float  # geometric
    factor: float  # ÷ and × this is one standard deviation of the logarithm


def spread(found: Iterable[Compared]) -> Spread:
    logs = np.log([c.ratio for c in found])
    return Spread(float(np.exp(logs.mean())), float(np.exp(logs.std())))


def table() -> str:
    """All published times as lines of a Markdown table: job, what was timed, whether anything was fitted on it,
    published seconds, predicted seconds, ratio.
    """
    lines = []
    found = {(c.row.name, c.role): c for c in compared()}
    for row in measured.PUBLISHED:
        for role in ROLES:
            c, seconds = found.get((row.name, role)), getattr(row, role)
            if seconds and (c or (role == "step" and not row.computed)):
                shown = (f"{c.predicted:,.0f}", f"{c.ratio:.2f}") if c else ("not computed", "a miss")
                fitted = "yes" if row.fitted else "no"
                lines.append(f"|{'|'.join((row.name, NAMED[role], fitted, f'{seconds:,.1f}', *shown))}|")
    return "\n".join(lines)


NAMED = dict(step="step", generate="rollout", log_probs="log-probs", update="update")
ROLES = tuple(NAMED)


def errors() -> str:
    """How far the predictions are off on rows that nothing was fitted on, and on the others, role by role."""
    lines = []
    for words, fitted in (("nothing was fitted on", False), ("constants were fitted on", True)):
        for role, name in NAMED.items():
            rows = [c for c in compared() if c.role == role and c.row.fitted == fitted]
            if rows:
                mean, factor = spread(rows)
                many = f"{name}: {len(rows)} published times that {words}"
                lines.append(f"{many}: {mean:.2f} times the prediction, × and ÷ {factor:.2f}")
        inside, total = within(calibration.WIDTH, fitted)
        lines.append(f"  {inside} of {total} steps lie within the range that a plan shows, ÷ and × {calibration.WIDTH}")
    mean, factor = peaks.spread()
    words = f"memory of adapters: {len(peaks.PEAKS)} published peaks that nothing was fitted on"
    lines.append(f"{words}: {mean:.2f} times what is counted, × and ÷ {factor:.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n\n{errors()}\n")
