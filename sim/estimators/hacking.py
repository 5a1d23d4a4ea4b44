"""What a KL penalty achieves against a reward that can be gamed: five possible completions, one of which is rewarded
too highly. Only `sampled_kl` samples.

Closed form: the policy that maximizes E[reward] − beta KL(policy‖reference) is the reference tilted by e^(reward/beta);
Korbak et al. (2022), arXiv:2205.11275. Proxy reward against true reward as the distance grows: Gao et al. (2022),
arXiv:2210.10760.
"""

import numpy as np

from sim.estimators import kl

# assumed: a supervised policy's answers to `7 + 5 =`; the last one is the hack, worthless but rewarded most
COMPLETIONS = ("Final: 12", "Final: 13", "Final: 11", "12", "hmm …")
SHARES = np.array([0.30, 0.15, 0.15, 0.25, 0.15])
GOLD = np.array([1.0, 0.0, 0.0, 0.0, 0.0])


def reference(hack_mass):
    """The probabilities before training, (5,): the hack has this mass, and the others are scaled to make room."""
    return np.append(SHARES[:-1] * (1 - hack_mass) / SHARES[:-1].sum(), hack_mass)


def proxy(hack_reward):
    """The proxy reward, (5,): 1 for the correct completion and hack_reward for the hack."""
    return np.append(GOLD[:-1], hack_reward)


def charged(reward, kl, beta):
    """What training maximizes: the reward of a completion minus beta per nat of its log-ratio, (N,)."""
    return reward - beta * kl


def optimum(ref, reward, beta):
    """The policy that maximizes E[reward] − beta KL, (5,). For beta = 0 it is the limit: the reference restricted to
    the completions with the highest reward.
    """
    best = ref * (reward == reward.max())
    return kl.reverse_kl_optimum(reward, ref, beta) if beta > 0 else best / best.sum()


def distance(policy, ref):
    """KL(policy‖ref) in nats; a completion with probability 0 under the policy adds nothing."""
    given = policy > 0
    return kl.divergence(policy[given], ref[given])


def frontier(ref, reward, gold, betas):
    """KL, proxy reward and true reward of the optimum for each beta, (betas,) each."""
    policies = [optimum(ref, reward, beta) for beta in betas]
    return (
        np.array([distance(p, ref) for p in policies]),
        np.array([p @ reward for p in policies]),
        np.array([p @ gold for p in policies]),
    )


def value(ref, reward, beta):
    """The largest attainable E[reward] − beta KL: beta ln Z, where Z is the sum of ref e^(reward/beta)."""
    best = reward.max()
    # the maximum is subtracted first, because exp(800) is inf
    return best + beta * np.log((ref * np.exp((reward - best) / beta)).sum())


def nats_to_reach(mass):
    """KL of the reference restricted to a set of completions with this mass: −ln mass, whatever their rewards."""
    return -np.log(mass)


def best_price(ref, hack_reward):
    """The beta with the highest true reward. There the mean proxy reward is 1, which is what an honest answer gets. 0
    if there is no such point.
    """
    reward = proxy(hack_reward)
    if hack_reward <= 1:
        return 0.0  # nothing has a higher reward than an honest answer, so the smaller beta, the better
    return bisected(lambda x: optimum(ref, reward, 1 / x) @ reward < 1)


def crossover(ref, hack_reward):
    """The beta below which the true reward is lower than the reference's; 0 if there is none, infinity if it is lower
    at every beta.
    """
    reward = proxy(hack_reward)
    if hack_reward <= 1:
        return 0.0
    return bisected(lambda x: optimum(ref, reward, 1 / x) @ GOLD > ref @ GOLD)


def bisected(below):
    """1/x for the x at which `below` stops holding, x from 0.001 to 10,000; infinity if it holds nowhere."""
    low, high = 1e-3, 1e4
    if not below(low):
        return np.inf
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if below(middle) else (low, middle)
    return 1 / low


def sampled_kl(policy, ref, n, batches, rng):
    """The KL as a log would show it: the means of k1, k2 and k3 over n completions sampled from the policy, (3,
    batches).
    """
    share = rng.multinomial(n, policy, size=batches) / n  # (batches, 5)
    given = policy > 0
    logp, ref_logp = np.log(policy[given]), np.log(ref[given])
    return np.array([(share[:, given] * k(logp, ref_logp)).sum(axis=1) for k in kl.VALUE.values()])
