"""Published steps beside those that this book's model of costs predicts for the same jobs.

Closed form, by step.py at the efficiencies that are assumed everywhere; the publications are those of measured.py. Of a
publication the shapes, GPUs, batch, mean length, limit and engine are taken. Nothing is fitted: the spread of lengths
is assumed, and the mean where none is published follows from the update, which is then no evidence.
"""

from collections.abc import Iterable
from typing import NamedTuple

from sim.cluster import lengths, measured, step
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import Law

SIGMA = 0.8  # assumed: spread of log length


class Compared(NamedTuple):
    row: measured.Published
    role: str  # "step", "generate", "log_probs" or "update"
    published: float  # seconds
    predicted: float

    @property
    def ratio(self) -> float:
        """How many times as long as predicted it took."""
        return self.published / self.predicted


def law_of(mean: float, longest: float, sigma: float = SIGMA) -> Law:
    """The lognormal whose mean is this when it is cut at `longest`; ValueError where none is."""
    if not 0 < mean < longest:
        raise ValueError(f"completions of at most {longest:,} tokens have no mean of {mean:,}")
    low, high = 1.0, 1e3 * longest
    for _ in range(100):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if lengths.lognormal(middle, sigma, longest).mean < mean else (low, middle)
    return lengths.lognormal(low, sigma, longest)


def predicted(row: measured.Published) -> dict[str, float]:
    """{"generate", "log_probs", "update", "step"}: seconds of the job at the efficiencies that are assumed."""
    accelerator, law = ACCELERATORS[row.accelerator], law_of(row.mean, row.longest)
    pools = (row.generating, row.gpus - row.generating) if row.generating else (row.gpus, row.gpus)
    shape = (row.model, accelerator, *pools, row.tensor_parallel, row.prompts * row.samples, law, 0.0)
    roles = step.roles_from_config(*shape, row.reference, prompt=measured.PROMPT, group=row.samples)
    return {
        "generate": step.seconds(roles, "rollout", row.overlap),
        "log_probs": roles.log_probs,
        "update": roles.train,
        "step": step.step_time(roles, step.pausing(row.overlap)),
    }


def compared(rows: Iterable[measured.Published] = measured.PUBLISHED) -> list[Compared]:
    """Every time that was published and is no input: [Compared]."""
    found = []
    for row in rows:
        by_model = predicted(row)
        for role in ("step", "generate", "log_probs", "update"):
            seconds = getattr(row, role)
            if seconds and not (role == "update" and row.length_from_update):
                found.append(Compared(row, role, seconds, by_model[role]))
    return found


def slowest(experts: bool) -> float:
    """The largest ratio of a published step to the predicted one, of dense models or of those with experts."""
    return max(c.ratio for c in compared() if c.role == "step" and bool(c.row.model.moe) == experts)
