"""Eight actions whose pay and worth part ways: the best paid of them is worth nothing. Three ways away from the
reference: a KL penalty, best of N, and cloning what was picked.

The optimum under a KL penalty: Korbak et al. (2022), arXiv:2205.11275. Pay against worth as the distance grows: Gao et
al. (2022), arXiv:2210.10760. Everything is closed form, on a table that is assumed.
"""

import numpy as np

from sim.estimators import hacking, kl, overoptimization

# assumed: pay and worth rise together up to the sixth action, and part on the two that the reference takes least often
REF = np.array([0.30, 0.22, 0.16, 0.12, 0.09, 0.06, 0.04, 0.01])
PAID = np.array([0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.9, 1.0])
WORTH = np.array([0.2, 0.3, 0.4, 0.55, 0.6, 0.65, 0.3, 0.0])
PRICES = (  # of a nat, from a policy that hardly moves to one that takes what is paid best
    *(5.0, 3.0, 2.0, 1.5, 1.0, 0.8, 0.65, 0.5, 0.45, 0.4, 0.35, 0.3),
    *(0.27, 0.24, 0.22, 0.2, 0.19, 0.18, 0.15, 0.1, 0.05, 0.03, 0.02, 0.01),
)


def outcome(policy):
    """Mean pay, mean worth, and KL from the reference in nats, for a policy (8,)."""
    return float(policy @ PAID), float(policy @ WORTH), float(hacking.distance(policy, REF))


def leashed(beta):
    """The policy that maximizes E[pay] − beta KL, (8,)."""
    return kl.reverse_kl_optimum(PAID, REF, beta)


def climbed(steps, learning_rate):
    """The policy after exact steps of mirror ascent on the pay without a penalty, (8,)."""
    logref = np.log(REF)
    logp = logref
    for _ in range(steps):
        logp = overoptimization.mirror_step(logp, PAID, logref, 0.0, learning_rate)
    return np.exp(logp)


def cloned(N, rounds):
    """The policy after rounds that each imitate the best paid of N fresh samples exactly, (8,); one round is best of N,
    and m rounds are best of N^m.
    """
    policy = REF
    for _ in range(rounds):
        policy, _ = overoptimization.best_of_n(policy, PAID, N)
    return policy


def best_price():
    """The beta with the highest worth. There pay and worth are uncorrelated, because the slope of the worth against
    1/beta is their covariance.
    """

    def rising(inverse):
        policy = leashed(1 / inverse)
        return policy @ (PAID * WORTH) > (policy @ PAID) * (policy @ WORTH)

    return float(hacking.bisected(rising))


def crossover():
    """The beta below which the worth is lower than the reference's."""
    return float(hacking.bisected(lambda inverse: leashed(1 / inverse) @ WORTH > REF @ WORTH))


def price_at(kl_nats):
    """The beta at which the optimum lies at this KL from the reference, for more than 0 and less than −ln .01 nats."""
    return float(hacking.bisected(lambda inverse: outcome(leashed(1 / inverse))[2] < kl_nats))
