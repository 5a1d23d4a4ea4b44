"""Batches of GRPO as they come: what a model answers to four sums, which answers are correct, and how hard each is
pushed, update by update.

GRPO: Shao et al. (2024), arXiv:2402.03300. The four sums are chosen by hand, and the learning rate is that of a toy; it
is no model of a particular size.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.algorithms import grpo
from sim.experiments.standard_runs import add_run
from sim.worlds import unseen_sums
from sim.worlds.optimizer import SGD, AdamW

RARE = "almost never correct"
SUMS = {"mixed": np.array([31, 44, 87, 95]), RARE: np.array([78, 75, 98, 67])}  # 31 is 3 + 1
BATCH = 64  # completions
RATE = 0.04
ADAMW_RATE = 1 / 100  # assumed: AdamW's rate relative to SGD's when one knob serves both


@dataclass(frozen=True)
class Update:
    answers: np.ndarray  # (4, completions of a sum) the answers; the groups of a sum lie side by side
    right: np.ndarray  # the same shape: whether each is correct
    advantage: np.ndarray  # of the same shape
    pass_rate: float  # exact mean over the four sums, after the update


def rate(optimizer: str, learning_rate: float) -> float:
    """The learning rate of an optimizer: SGD gets the number itself, AdamW a hundredth of it."""
    return learning_rate if optimizer == "SGD" else ADAMW_RATE * learning_rate


def optimizer(name: str, learning_rate: float) -> SGD | AdamW:
    """Plain SGD or AdamW by name, at `rate`; neither clips the gradient's norm."""
    return SGD(rate(name, learning_rate)) if name == "SGD" else AdamW(rate(name, learning_rate), clip=None)


def trained(K: int, sums: str, *, groups: int, seed: int = 0, learner: SGD | AdamW | None = None, **settings: Any):
    """GRPO in groups of K on four sums, starting from a model that has never seen the hard ones."""
    return add_run(
        grpo,
        seed=seed,
        groups=groups,
        K=K,
        task=unseen_sums.Few(SUMS[sums]),
        policy=unseen_sums.start(),
        optimizer=learner or SGD(RATE),
        hyper=dict(beta=0.0),
        exact_every=1,
        **settings,
    )


def start(sums: str) -> np.ndarray:
    """(4,) exact pass rates before the first update."""
    return unseen_sums.Few(SUMS[sums]).exact(unseen_sums.start())["pass_rate"]


def followed(run: Any, updates: int) -> Iterator[tuple[Any, Any]]:
    """(Frame, Batch) for each update of a run."""
    for event in run.iterate(updates):
        if event.stage == 3:
            drawn = event.summary["batch"]
        if event.stage == 7:
            yield event.summary["frame"], drawn


def by_prompt(batch: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Answers, whether they are correct, and advantages, (4, completions of a sum) each."""
    texts = np.array(unseen_sums.written(batch))
    rows = len(np.unique(batch.example)), -1
    return texts.reshape(rows), (batch.accuracy > 0).reshape(rows), batch.advantage[:, 0].reshape(rows)


def run(K: int, updates: int = 60, seed: int = 0, sums: str = RARE, learning_rate: float = RATE) -> list[Update]:
    """GRPO in groups of K with 64 completions per update, using SGD."""
    made = trained(K, sums, groups=BATCH // K, seed=seed, learner=SGD(learning_rate))
    return [
        Update(*by_prompt(batch), float(frame.exact["pass_rate"].mean())) for frame, batch in followed(made, updates)
    ]
