"""Problems solved in steps, as trees: all the ways in which a policy can continue, which of them are sound, and the
scores of two scorers. Not a language model: which steps are sound, and their scores, are random.

A scorer of answers (ORM) sees a finished chain, a scorer of steps (PRM) sees every prefix: Uesato et al. (2022),
arXiv:2211.14275; Lightman et al. (2023), arXiv:2305.20050. Wrong answers that a scorer overrates are the failure
described by Cobbe et al. (2021), arXiv:2110.14168.

Nodes are numbered as in a heap: the root is 0, and the children of node i are 3 i + 1, 3 i + 2 and 3 i + 3. A chain is
one of the 243 leaves.
"""

from dataclasses import dataclass

import numpy as np

DEPTH, BRANCHES = 5, 3
OFFSETS = [(BRANCHES**level - 1) // (BRANCHES - 1) for level in range(DEPTH + 2)]  # first node of each level
NODES, LEAVES = OFFSETS[-1], BRANCHES**DEPTH

# all assumed, so that between a quarter and a half of the chains are correct
SKILL, SPREAD = 1.2, 0.7  # log-odds of a sound step, and their standard deviation over problems
LUCKY = 0.05  # probability of a correct answer after a flawed step
GAP = 2.0  # distance between mean scores, sound to flawed and correct to wrong, in units of the noise
BUMP = 3.0  # the bonus that a blind spot adds to the score of a wrong answer


@dataclass(frozen=True)
class Tree:
    """P problems; the arrays of nodes are (P, 364), those of chains (P, 243)."""

    prior: np.ndarray  # probability that the policy continues from the parent to this node; 1 for the root
    sound: np.ndarray  # whether the prefix that ends here is sound
    correct: np.ndarray  # (P, 243) whether the answer is correct
    prm: np.ndarray  # the step score of a node, around 1 if it is sound and −1 if not, to be read as log-odds
    orm: np.ndarray  # (P, 243) the score of the answer

    @property
    def chance(self):
        """Chance that the policy writes this chain, (P, 243)."""
        return along(self.prior).prod(axis=2)


def build(rng, problems=300, prm_noise=1.0, orm_noise=1.0, blind_spots=0.0, recover=0.0):
    """Trees in which a step is sound with log-odds skill − difficulty + the policy's own logit for it.

    `recover` is the probability that a step after a flawed prefix makes it sound again. `blind_spots` is the fraction
    of chains whose answer, if wrong, the answer scorer overrates by `BUMP`. A node keeps its score, since a network
    always scores the same text the same. Random numbers are drawn in a fixed order, so two settings differ only in what
    was set.
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
    """The values of the nodes on each chain, (P, 364) -> (P, 243, 5), without the root."""
    levels = [values[:, OFFSETS[level] : OFFSETS[level + 1]] for level in range(1, DEPTH + 1)]
    return np.stack([np.repeat(v, LEAVES // v.shape[1], axis=1) for v in levels], axis=2)
