"""One batch from the middle of a run, ten answers to each of ten sums, and what is computed from them on the way to an
update. The five Parts of the book look at this batch.

PPO on the tiny language model for four updates; the advantages are those of GRPO, Shao et al. (2024), arXiv:2402.03300.
"""

from dataclasses import dataclass

import numpy as np

from sim.algorithms import grpo
from sim.experiments import deleted_line
from sim.framework.rollout import RolloutEngine
from sim.worlds import tasks

SUMS = (34, 75, 18, 50, 66, 23, 94, 47, 89, 61)  # 3 + 4, 7 + 5, …
EACH, UPDATES, DRAWN = 10, 4, 7
SLOTS, GPUS = 25, 8


@dataclass(frozen=True)
class Batch:
    rows: tuple  # 100 completions as tokens; the ten of a sum lie side by side
    right: tuple  # bool
    advantage: np.ndarray  # (100,)

    @property
    def lengths(self):
        return [len(row) for row in self.rows]


def batch():
    run = deleted_line.controller(deleted=False)
    for _ in zip(range(UPDATES), run.frames(UPDATES)):
        pass
    pairs = np.array(SUMS)
    drawn, _ = RolloutEngine(run.trainer.policy).generate(tasks.Add(), pairs, EACH, np.random.default_rng(DRAWN))
    given = tasks.Add().answers(drawn.tokens, drawn.response_mask, drawn.finished)
    right = [answer == f"Final: {sum(divmod(int(p), 10))}" for answer, p in zip(given, np.repeat(pairs, EACH))]
    reward = np.array(right, float).reshape(len(SUMS), EACH)
    return Batch(
        tuple(tuple(int(t) for t in row[own > 0]) for row, own in zip(drawn.tokens, drawn.response_mask)),
        tuple(right),
        grpo.advantage(reward, grpo.HP, None).ravel(),
    )


def rounds(lengths, slots=SLOTS):
    """[(first token, last token)] of each round, for an engine that starts a round only when all of its slots
    are free.
    """
    longest = [max(lengths[i : i + slots]) for i in range(0, len(lengths), slots)]
    ends = np.cumsum(longest).tolist()
    return list(zip([0, *ends], ends))


def spread(lengths, gpus=GPUS):
    """(GPU, tokens below) of each answer: longest first, each placed where the least is stored so far
    (Graham, 1969).
    """
    stored, places = [0] * gpus, {}
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        gpu = stored.index(min(stored))
        places[i] = gpu, stored[gpu]
        stored[gpu] += lengths[i]
    return [places[i] for i in range(len(lengths))]
