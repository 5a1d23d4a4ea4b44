"""Problems that are solved in steps, as trees: every way to go on that a policy has, which of them are sound, and what
two scorers say of them. Not a language model: which steps are sound and what a scorer says are drawn.

A scorer of answers (ORM) sees a finished chain, a scorer of steps (PRM) every prefix: Uesato et al. (2022),
arXiv:2211.14275; Lightman et al. (2023), arXiv:2305.20050. The wrong answers that a scorer loves are the failure of
Cobbe et al. (2021), arXiv:2110.14168.

Nodes are numbered as in a heap: the root is 0, the children of node i are 3 i + 1, 3 i + 2 and 3 i + 3. A chain is one
of the 243 leaves.
"""

from dataclasses import dataclass

import numpy as np

DEPTH, BRANCHES = 5, 3
OFFSETS = [(BRANCHES**level - 1) // (BRANCHES - 1) for level in range(DEPTH + 2)]  # where a level begins: 0, 1, 4, …
NODES, LEAVES = OFFSETS[-1], BRANCHES**DEPTH

# assumed, all of it: made up so that one chain in four to one in two is right
SKILL, SPREAD = 1.2, 0.7  # log-odds of a sound step, and their standard deviation over problems
LUCKY = 0.05  # chance of a right answer after a flawed step
GAP = 2.0  # between the mean scores of sound and flawed, of right and wrong, in units of a noise of 1
BUMP = 3.0  # what a blind spot adds to the score of a wrong answer


@dataclass(frozen=True)
class Tree:
    """P problems; the arrays of nodes are (P, 364), those of chains (P, 243)."""

    prior: np.ndarray  # chance that the policy goes on to this node from its parent; 1 for the root
    sound: np.ndarray  # whether the prefix that ends here is sound
    correct: np.ndarray  # (P, 243) whether the answer is right
    prm: np.ndarray  # the step score of a node, around 1 where it is sound and −1 where not, to be read as log-odds
    orm: np.ndarray  # (P, 243) the score of an answer

    @property
    def chance(self):
        """Chance that the policy writes this chain, (P, 243)."""
        return along(self.prior).prod(axis=2)


def build(rng, problems=300, prm_noise=1.0, orm_noise=1.0, blind_spots=0.0, recover=0.0):
    """Trees in which a step is sound with log-odds skill − difficulty + the policy's own logit for it.

    `recover` is the chance that a step after a flawed prefix makes it sound again, `blind_spots` the share of chains
    whose answer, if it is wrong, the scorer of answers overrates by `BUMP`. A node keeps its score: a network says the
    same of the same text. The draws are made in one order, so that settings differ in nothing but what was set.
    """
    logit = rng.standard_normal((problems, NODES))
    difficulty = SPREAD * rng.standard_normal((problems, 1))
    step, luck = rng.random((problems, NODES)), rng.random((problems, NODES))
    step_noise = rng.standard_normal((problems, NODES))
    spot, answer_noise = rng.random((problems, LEAVES)), rng.standard_normal((problems, LEAVES))

    prior = np.ones((problems, NODES))
    siblings = np.exp(logit[:, 1:]).reshape(problems, -1, BRANCHES)
    prior[:, 1:] = (siblings / siblings.sum(axis=2, keepdims=True)).reshape(problems, -1)

    likely = 1 / (1 + np.exp(-(SKILL - difficulty + logit)))
    sound = np.ones((problems, NODES), bool)
    for level in range(1, DEPTH + 1):
        here = slice(OFFSETS[level], OFFSETS[level + 1])
        parent = np.repeat(sound[:, OFFSETS[level - 1] : OFFSETS[level]], BRANCHES, axis=1)
        sound[:, here] = np.where(parent, step[:, here] < likely[:, here], step[:, here] < recover)
    correct = sound[:, -LEAVES:] | (luck[:, -LEAVES:] < LUCKY)

    prm = GAP * (sound - 0.5) + prm_noise * step_noise
    overrated = (spot < blind_spots) & ~correct
    return Tree(prior, sound, correct, prm, GAP * correct + orm_noise * answer_noise + BUMP * overrated)


def along(values):
    """The values of the nodes on each chain, (P, 364) -> (P, 243, 5); the root is left out."""
    levels = [values[:, OFFSETS[level] : OFFSETS[level + 1]] for level in range(1, DEPTH + 1)]
    return np.stack([np.repeat(v, LEAVES // v.shape[1], axis=1) for v in levels], axis=2)
