"""A policy trained on pairs of completions collected before: nothing is sampled, and no reward model is fitted.

The policy is the reference tilted by two weights, log π(y) = log π_ref(y) + θ·φ(y) − log Z, on the map of
`sim/worlds/preferences.py`, so the loss's effect on completions outside the pairs can be summed exactly. It uses full
batches and Adam; the losses are those of `sim/estimators/preference_losses.py`. Rafailov et al. (2023),
arXiv:2305.18290; the rise and fall of the gold reward: Rafailov et al. (2024), arXiv:2406.02900.
"""

from dataclasses import dataclass

import numpy as np

from sim.estimators.preference_losses import kto_loss, pref_loss
from sim.worlds.optimizer import AdamW

LEARNING_RATE = 0.05


@dataclass(frozen=True)
class Course:
    """What was measured on the way, (looks,) each."""

    step: np.ndarray
    loss: np.ndarray  # the mean over the pairs
    kl: np.ndarray  # KL from the reference in nats
    gold: np.ndarray  # gold reward minus the reference's gold reward, nats
    wins: np.ndarray  # win rate against the reference
    chosen: np.ndarray  # log-probability gained since the start, mean over the pairs' winners, nats
    rejected: np.ndarray  # the same for the losers
    off: np.ndarray  # fraction of completions that the reference almost never writes
    tokens: np.ndarray  # mean length
    edge: np.ndarray  # fraction at the edge of the map
    theta: np.ndarray  # (looks, 2)


def train(
    world,
    win,
    lose,
    name,
    beta,
    steps=400,
    every=4,
    learning_rate=LEARNING_RATE,
    gamma=0.5,
    label_smoothing=0.0,
    length_normalize=False,
    cpo_alpha=0.0,
):
    """A Course of `steps` steps on all pairs at once, measured every few steps; `name` is one of TRL's losses
    or "kto".
    """
    batch = Batch(world, win, lose)
    options = dict(gamma=gamma, label_smoothing=label_smoothing, length_normalize=length_normalize)
    options["cpo_alpha"] = cpo_alpha
    params, optimizer, looks = dict(theta=np.zeros(2)), AdamW(learning_rate, clip=None), []
    for step in range(steps + 1):
        theta = params["theta"]
        seen = step % every == 0 or step == steps
        if name == "kto":
            loss, gradient = batch.kto(theta, beta)
        elif cancels(name, length_normalize) and not seen:
            loss, gradient = batch.pairs(name, theta, 0.0, np.zeros(2), beta, options)
        else:
            log_z, mean = batch.normalizer(theta)
            loss, gradient = batch.pairs(name, theta, log_z, mean, beta, options)
        if seen:
            looks.append((step, loss, *batch.worth(theta), theta))
        optimizer.step(params, dict(theta=gradient))
    return Course(*(np.array(column) for column in zip(*looks)))


def cancels(name, length_normalize):
    """Whether log Z and the policy's mean drop out of the loss, because both completions of a pair share them."""
    return name in ("sigmoid", "hinge", "robust") or (name == "ipo" and not length_normalize)


class Batch:
    """All pairs, and the map that they were drawn from."""

    def __init__(self, world, win, lose):
        self.world, self.win, self.lose = world, win, lose
        self.phi_w, self.phi_l = world.phi[win], world.phi[lose]
        self.lengths = world.tokens[win], world.tokens[lose]

    def policy(self, theta):
        """(probabilities of the whole map, log Z)."""
        tilted = self.world.logref + self.world.phi @ theta
        highest = tilted.max()  # subtracted first, because exp(800) is inf
        weight = np.exp(tilted - highest)
        total = weight.sum()
        return weight / total, highest + np.log(total)

    def normalizer(self, theta):
        """(log Z, the policy's mean features, which are its gradient)."""
        policy, log_z = self.policy(theta)
        return log_z, policy @ self.world.phi

    def pairs(self, name, theta, log_z, mean, beta, options):
        """(mean loss, its gradient (2,)); the derivative of log π(y) is φ(y) minus the policy's mean."""
        ref_w, ref_l = self.world.logref[self.win], self.world.logref[self.lose]
        logp_w, logp_l = ref_w + self.phi_w @ theta - log_z, ref_l + self.phi_l @ theta - log_z
        loss, slope_w, slope_l = pref_loss(name, logp_w, logp_l, ref_w, ref_l, *self.lengths, beta, **options)
        push = slope_w @ (self.phi_w - mean) + slope_l @ (self.phi_l - mean)
        return loss.mean(), push / len(loss)

    def kto(self, theta, beta):
        """The same with winners labeled good and losers bad, and the exact KL in place of z0."""
        policy, log_z = self.policy(theta)
        mean = policy @ self.world.phi
        phi = np.concatenate([self.phi_w, self.phi_l])
        ref = self.world.logref[np.concatenate([self.win, self.lose])]
        good = np.arange(len(phi)) < len(self.win)
        z0 = max(0.0, theta @ mean - log_z)
        loss, slope = kto_loss(ref + phi @ theta - log_z, ref, good, z0, beta)
        return loss.mean(), slope @ (phi - mean) / len(phi)

    def worth(self, theta):
        """(KL, gold, wins, log-probability gained by winners and losers, share off, mean tokens, share at the edge)."""
        world = self.world
        policy, log_z = self.policy(theta)
        return (
            theta @ (policy @ world.phi) - log_z,
            policy @ world.gold,
            policy @ world.wins,
            (self.phi_w @ theta).mean() - log_z,
            (self.phi_l @ theta).mean() - log_z,
            policy @ world.off,
            policy @ world.tokens,
            policy @ world.at_the_edge,
        )
