"""Environment: passes the answer of every completion to the scorer, the only source of reward.

A verifiable reward in the sense of Lambert et al. (2024), Tülu 3, arXiv:2411.15124: a program decides, no model.
"""

from functools import lru_cache

import numpy as np

from sim.worlds.scorer import score


class Verifier:
    """sim/worlds/scorer.py applied to a batch: one text and one example per row, (N,) verdicts."""

    def __init__(self, task):
        self.task = task

    def verify(self, batch, environment=None):
        """Fills in accuracy, reward (N,) and details, and returns the batch. An environment supplies its own examples,
        one per row.
        """
        answers = self.task.answers(batch.tokens, batch.response_mask, batch.finished)
        if environment is None:
            examples = [self.task.examples[i] for i in batch.example.tolist()]
        else:
            examples = environment.examples
        verdicts = [scored(example["expected_answer"], answer) for example, answer in zip(examples, answers)]
        batch.details = [verdict["details"] for verdict in verdicts]
        batch.accuracy = np.array([verdict["reward"] for verdict in verdicts])
        batch.reward = self.task.pay(batch) if hasattr(self.task, "pay") else batch.accuracy
        return batch


@lru_cache(maxsize=4_096)
def scored(expected, answer):
    """The scorer's verdict, which callers must not modify. The scorer is pure, so each pair is judged only once, across
    all runs.
    """
    return score({"expected_answer": expected}, answer)
