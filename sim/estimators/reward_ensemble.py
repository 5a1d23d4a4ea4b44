"""Several reward models made into one, a length taken out, and what the trainers of reward models add to their loss.

Mean, lowest and uncertainty-weighted: Coste et al. (2023), arXiv:2310.02743. assumed: members differ by the pairs
that they were fitted to, each to a bootstrap of the same ones; members that differ by their seed alone are more alike
(Eisenstein et al., 2023, arXiv:2312.09244, from where the centering is, too). Margin and centering as in TRL 1.16.0.
"""

import numpy as np

from sim.estimators import bradley_terry

LENGTHS = [1, 3, 4]  # of the features q, l, q^2, l^2, ql those that know the length


def members(features, win, lose, E, rng, lam=0.1):
    """theta of E reward models, (E, k): each fitted to as many pairs as there are, drawn from them with replacement."""
    rows = rng.integers(0, len(win), (E, len(win)))
    return np.array([bradley_terry.fit(features, win[row], lose[row], lam) for row in rows])


def centered(rewards, ref):
    """(E, completions) less each member's mean under the reference: comparisons leave it free, and it would decide
    which member is the lowest.
    """
    return rewards - (rewards @ ref)[:, np.newaxis]


def aggregate(rewards, how, lam=0.5):
    """One reward, (completions,), of the members' centered ones, (E, completions): their mean, the lowest of them, or
    the mean less lam times the variance between them.
    """
    if how == "mean":
        return rewards.mean(axis=0)
    if how == "lowest":
        return rewards.min(axis=0)
    return rewards.mean(axis=0) - lam * rewards.var(axis=0)


def without_length(theta):
    """theta (..., 2 or 5) with the weights of all features that know the length set to 0."""
    kept = np.array(theta, float)
    kept[..., [at for at in LENGTHS if at < kept.shape[-1]]] = 0.0
    return kept


def variance_share(E, rho):
    """Of one member's variance what the mean of E keeps, where any two are correlated by rho. Closed form."""
    return rho + (1 - rho) / E


def margin_loss(win, lose, margin):
    """Mean of -log sigma(r_win - r_lose - margin): Llama 2 (2023), arXiv:2307.09288, with a margin a comparison."""
    return float(bradley_terry.loss(win - lose - margin).mean())


def centering(win, lose, coefficient):
    """What TRL adds to the loss, coefficient times the mean of (r_win + r_lose)^2: it fixes the constant that
    comparisons leave free.
    """
    return float(coefficient * np.mean((win + lose) ** 2))
