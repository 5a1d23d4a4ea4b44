"""Several reward models combined into one, the removal of length features, and what trainers of reward models add to
their loss.

Mean, minimum and uncertainty-weighted: Coste et al. (2023), arXiv:2310.02743. assumed: members differ by their training
pairs, each a bootstrap of the same set. Members that differ only by their seed are more alike (Eisenstein et al., 2023,
arXiv:2312.09244, which is also the source of the centering). Margin and centering as in TRL 1.16.0.
"""

import numpy as np

from sim.estimators import bradley_terry

LENGTHS = [1, 3, 4]  # those of the features q, l, q^2, l^2, ql that depend on the length


def members(features, win, lose, E, rng, lam=0.1):
    """theta of E reward models, (E, k); each is fitted to a bootstrap sample of the pairs."""
    rows = rng.integers(0, len(win), (E, len(win)))
    return np.array([bradley_terry.fit(features, win[row], lose[row], lam) for row in rows])


def centered(rewards, ref):
    """(E, completions), minus each member's mean under the reference. Comparisons leave this constant free, and it
    would decide which member is the lowest.
    """
    return rewards - (rewards @ ref)[:, np.newaxis]


def aggregate(rewards, how, lam=0.5):
    """One reward, (completions,), from the members' centered rewards, (E, completions): their mean, their minimum, or
    the mean minus lam times the variance between members.
    """
    if how == "mean":
        return rewards.mean(axis=0)
    if how == "lowest":
        return rewards.min(axis=0)
    return rewards.mean(axis=0) - lam * rewards.var(axis=0)


def without_length(theta):
    """theta (..., 2 or 5) with the weights of all length-dependent features set to 0."""
    kept = np.array(theta, float)
    kept[..., [at for at in LENGTHS if at < kept.shape[-1]]] = 0.0
    return kept


def variance_share(E, rho):
    """The fraction of one member's variance that remains in the mean of E if any two are correlated by rho. Closed
    form.
    """
    return rho + (1 - rho) / E


def margin_loss(win, lose, margin):
    """Mean of -log sigma(r_win - r_lose - margin): Llama 2 (2023), arXiv:2307.09288, with one margin per comparison."""
    return float(bradley_terry.loss(win - lose - margin).mean())


def centering(win, lose, coefficient):
    """TRL's additional loss, coefficient times the mean of (r_win + r_lose)^2, which fixes the constant that
    comparisons leave free.
    """
    return float(coefficient * np.mean((win + lose) ** 2))
