"""Batches of GRPO as they come: which completions are right, and what each is pushed by, update by update.

GRPO: Shao et al. (2024), arXiv:2402.03300.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.algorithms import grpo
from sim.experiments.standard_runs import modsum_run
from sim.worlds import modsum

RARE = (-3, -3, -3, -3)  # a start whose four prompts are right about twice in a thousand times
BATCH = 64  # completions


@dataclass(frozen=True)
class Update:
    right: np.ndarray  # (4, completions of a prompt) whether each is right, the groups of a prompt side by side
    advantage: np.ndarray  # of the same shape
    pass_rate: float  # after the update, exact, mean of the four prompts


def followed(run: Any, updates: int) -> Iterator[tuple[Any, Any]]:
    """(Frame, Batch) of each update of a run."""
    for event in run.iterate(updates):
        if event.stage == 3:
            drawn = event.summary["batch"]
        if event.stage == 7:
            yield event.summary["frame"], drawn


def by_prompt(batch: Any) -> tuple[np.ndarray, np.ndarray]:
    """What is right, and the advantages, (4, completions of a prompt) each."""
    order = np.argsort(batch.example, kind="stable")
    rows = len(modsum.TARGETS)
    return (batch.accuracy[order] > 0).reshape(rows, -1), batch.advantage[order, 0].reshape(rows, -1)


def run(K: int, updates: int = 60, seed: int = 1, learning_rate: float = 2.0) -> list[Update]:
    """GRPO on prompts that are almost never right, in groups of K, 64 completions an update, by SGD."""
    made = modsum_run(
        grpo, seed=seed, learning_rate=learning_rate, groups=BATCH // K, K=K, c=RARE, hyper=dict(beta=0.0)
    )
    return [
        Update(*by_prompt(batch), float(frame.exact["pass_rate"].mean())) for frame, batch in followed(made, updates)
    ]
