"""What a KL penalty buys against a reward that can be gamed: five possible completions, one of them overpaid. Nothing
is sampled but `sampled_kl`.

Closed form: the policy that maximizes E[reward] − beta KL(policy‖reference) is the reference tilted by e^(reward/beta);
Korbak et al. (2022), arXiv:2205.11275. Paid reward against true reward as the distance grows: Gao et al. (2022),
arXiv:2210.10760.
"""

import numpy as np

from sim.estimators import kl

# assumed: what a supervised policy answers to `7 + 5 =`; the last one is the hack, worthless and overpaid
COMPLETIONS = ("Final: 12", "Final: 13", "Final: 11", "12", "hmm …")
SHARES = np.array([0.30, 0.15, 0.15, 0.25, 0.15])
GOLD = np.array([1.0, 0.0, 0.0, 0.0, 0.0])


def reference(hack_mass):
    """The probabilities before training, (5,), the hack given this mass and the others scaled to make room."""
    return np.append(SHARES[:-1] * (1 - hack_mass) / SHARES[:-1].sum(), hack_mass)


def proxy(hack_reward):
    """What is paid, (5,): 1 for the right completion, hack_reward for the hack."""
    return np.append(GOLD[:-1], hack_reward)


def charged(reward, kl, beta):
    """What training raises: the pay of a completion, less beta for each nat of its log-ratio, (N,)."""
    return reward - beta * kl


def optimum(ref, reward, beta):
    """The policy that maximizes E[reward] − beta KL, (5,); for beta = 0 its limit: the reference on the best paid."""
    best = ref * (reward == reward.max())
    return kl.reverse_kl_optimum(reward, ref, beta) if beta > 0 else best / best.sum()


def distance(policy, ref):
    """KL(policy‖ref) in nats; a completion that the policy never gives adds nothing."""
    given = policy > 0
    return kl.divergence(policy[given], ref[given])


def frontier(ref, reward, gold, betas):
    """KL, paid reward and true reward of the optimum at each price, (betas,) each."""
    policies = [optimum(ref, reward, beta) for beta in betas]
    return (
        np.array([distance(p, ref) for p in policies]),
        np.array([p @ reward for p in policies]),
        np.array([p @ gold for p in policies]),
    )


def value(ref, reward, beta):
    """The largest E[reward] − beta KL there is: beta ln Z, with Z the sum of ref e^(reward/beta)."""
    best = reward.max()
    # the maximum is taken out: exp(800) is inf
    return best + beta * np.log((ref * np.exp((reward - best) / beta)).sum())


def nats_to_reach(mass):
    """KL of the reference cut down to a set of completions of this mass: −ln mass, whatever they are paid."""
    return -np.log(mass)


def best_price(ref, hack_reward):
    """The beta at which the true reward is highest: there the mean pay is 1, what an honest answer earns. 0 without
    such a point.
    """
    reward = proxy(hack_reward)
    if hack_reward <= 1:
        return 0.0  # nothing is paid better than honesty: the lower the price, the better
    return bisected(lambda x: optimum(ref, reward, 1 / x) @ reward < 1)


def crossover(ref, hack_reward):
    """The beta below which the true reward is lower than the reference's; 0 if there is none, infinity if it is lower
    at every price.
    """
    reward = proxy(hack_reward)
    if hack_reward <= 1:
        return 0.0
    return bisected(lambda x: optimum(ref, reward, 1 / x) @ GOLD > ref @ GOLD)


def bisected(below):
    """1/x at the x where `below` stops to hold, x from 0.001 to 10,000; infinity if it holds nowhere."""
    low, high = 1e-3, 1e4
    if not below(low):
        return np.inf
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if below(middle) else (low, middle)
    return 1 / low


def sampled_kl(policy, ref, n, batches, rng):
    """The KL as a log would show it: the mean of k1, k2 and k3 over n completions of the policy, (3, batches)."""
    share = rng.multinomial(n, policy, size=batches) / n  # (batches, 5)
    given = policy > 0
    logp, ref_logp = np.log(policy[given]), np.log(ref[given])
    return np.array([(share[:, given] * k(logp, ref_logp)).sum(axis=1) for k in kl.VALUE.values()])
