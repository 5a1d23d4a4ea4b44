"""Ways to spend steps on a problem that is solved in steps: finish chains and pick the one with the best score, or
score along the way and continue where the prefix looks sound. Nothing is trained.

Beam search and best of N at equal cost: Snell et al. (2024), arXiv:2408.03314. The rule that chooses a branch in the
tree search: Silver et al. (2017), doi.org/10.1038/nature24270, with the step score in place of the value network.
"""

from dataclasses import dataclass
from math import isqrt

import numpy as np

from sim.estimators import completion_selection
from sim.estimators.chain_score import chain_score
from sim.experiments.cut_arrows import best_of
from sim.worlds.step_tree import BRANCHES, DEPTH, LEAVES, NODES, OFFSETS, along


@dataclass(frozen=True)
class Found:
    """The results of a search on P problems."""

    chain: np.ndarray  # (P,) the chain that it returns as its answer
    made: np.ndarray  # (P, 364) whether it has written this node

    def solved(self, tree):
        """Fraction of problems with a correct answer."""
        return float(tree.correct[np.arange(len(self.chain)), self.chain].mean())


def solved_by_one(tree):
    """Fraction of correct answers if one chain is sampled."""
    return float((tree.chance * tree.correct).sum(axis=1).mean())


def ceiling(tree, N):
    """Fraction of problems for which at least one of N chains is correct, which a perfect scorer would pick."""
    return float(best_of((tree.chance * tree.correct).sum(axis=1), N).mean())


def step_scores(tree, how):
    """The step scores of each finished chain combined into one, (P, 243)."""
    return chain_score(along(tree.prm), how)


@dataclass(frozen=True)
class Picked:
    """The best scored of N finished chains, for several N: exact means over the problems and what may be drawn."""

    solved: np.ndarray  # (sizes,) fraction with a correct answer
    sound: np.ndarray  # (sizes,) fraction sound to the end
    score: np.ndarray  # (sizes,) mean score


def best_of_n(tree, score, sizes):
    """The results of picking the best of N finished chains by score (P, 243), for each N in `sizes`."""
    picked = completion_selection.best_of_n(tree.chance, score, sizes)  # (sizes, P, 243)
    return Picked(*((picked * of).sum(axis=2).mean(axis=1) for of in (tree.correct, tree.sound[:, -LEAVES:], score)))


def greedy(tree):
    """The policy's most likely branch, step by step."""
    rows, node = np.arange(len(tree.prior)), np.zeros(len(tree.prior), np.int64)
    made = np.zeros(tree.prior.shape, bool)
    for _ in range(DEPTH):
        children = below(node)
        node = children[rows, np.take_along_axis(tree.prior, children, axis=1).argmax(axis=1)]
        made[rows, node] = True
    return Found(node - OFFSETS[DEPTH], made)


def widths(budget, kept):
    """(W, M) for this many steps: W prefixes are kept on each level, and M steps are sampled after each. A level has
    budget / 5 steps; `kept` is one, the square root, or half of them.
    """
    level = budget // DEPTH
    W = {"one": 1, "root": isqrt(level), "half": level // 2}[kept]
    return W, level // W


def beam(tree, W, M, how, rng):
    """Beam search: sample M steps after each of W prefixes, W M at the root, keep the W prefixes with the highest chain
    score, and finally answer with the best one.

    A step sampled twice costs twice and counts once, so W M D steps are spent.
    """
    P = len(tree.prior)
    rows = np.arange(P)[:, None]
    kept, scores = np.zeros((P, 1), np.int64), np.zeros((P, 1, 0))  # nodes, and the step scores on the path to them
    alive = np.ones((P, 1), bool)  # fewer than W may remain after duplicates are merged
    made = np.zeros((P, NODES), bool)
    for level in range(DEPTH):
        draws = M if level else W * M
        children = below(kept)  # (P, kept, 3)
        up_to = np.cumsum(tree.prior[rows[..., None], children], axis=2)
        branch = (rng.random((P, kept.shape[1], draws))[..., None] > up_to[:, :, None, :-1]).sum(axis=3)
        drawn = (branch[..., None] == np.arange(BRANCHES)).any(axis=2) & alive[..., None]  # (P, kept, 3)
        children, drawn = children.reshape(P, -1), drawn.reshape(P, -1)
        made[rows, children] |= drawn
        paths = np.repeat(scores, BRANCHES, axis=1)
        paths = np.concatenate([paths, tree.prm[rows, children][..., None]], axis=2)
        best = np.argsort(-np.where(drawn, chain_score(paths, how), -np.inf), axis=1, kind="stable")[:, :W]
        kept, scores, alive = children[rows, best], paths[rows, best], drawn[rows, best]
    return Found(kept[:, 0] - OFFSETS[DEPTH], made)


def tree_search(tree, simulations, c):
    """Monte Carlo tree search: every simulation descends by the largest Q + c π √(1 + ΣN) / (1 + N) to an unseen node,
    writes it, and passes its probability of being sound back up. The answer is the chain with the most simulations.

    Q is the mean of what came back through a branch, 0 if nothing has; N is how often that happened; π is the policy's
    probability. A simulation that ends at a known leaf writes nothing, but counts.
    """
    P = len(tree.prior)
    rows = np.arange(P)
    visits, total = np.zeros((P, NODES)), np.zeros((P, NODES))
    value = 1 / (1 + np.exp(-tree.prm))
    for _ in range(simulations):
        going, node, way = rows, np.zeros(P, np.int64), []
        for _ in range(DEPTH):
            row = going[:, None]
            children = below(node[going])
            N = visits[row, children]
            puct = total[row, children] / np.maximum(N, 1)
            puct += c * tree.prior[row, children] * np.sqrt(1 + N.sum(axis=1, keepdims=True)) / (1 + N)
            best = puct.argmax(axis=1)
            chosen = np.arange(len(going)), best
            node[going] = children[chosen]
            way.append((going, node[going]))
            going = going[N[chosen] > 0]
        back = value[rows, node]
        for row, passed in way:
            visits[row, passed] += 1
            total[row, passed] += back[row]
    node = np.zeros(P, np.int64)
    for _ in range(DEPTH):
        children = below(node)
        # below the last node seen, the policy's own choice
        order = np.lexsort((np.take_along_axis(tree.prior, children, 1), np.take_along_axis(visits, children, 1)))
        node = children[rows, order[:, -1]]
    return Found(node - OFFSETS[DEPTH], visits > 0)


def below(node):
    """The children of each node, (…) -> (…, 3)."""
    return BRANCHES * node[..., None] + np.arange(1, BRANCHES + 1)


def lucky_share(tree):
    """Fraction of the correct answers whose chain has a flawed last step, i.e. correct by chance."""
    right = tree.chance * tree.correct
    return float((right * ~tree.sound[:, -LEAVES:]).sum() / right.sum())
