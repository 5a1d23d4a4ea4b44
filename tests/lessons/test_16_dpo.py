"""The lesson on DPO: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial

import numpy as np
import pytest

from sim.estimators import bradley_terry
from sim.experiments import direct_preference
from tests.lessons import spreads
from tests.sim.estimators.test_preference_losses import losses
from widgets.dpo import widget as dpo
from widgets.dpo.widget import SURE, Knobs

kept = partial(spreads.values, "16_dpo")


@cache
def result(**knobs):
    (r,) = dpo.run(Knobs(**knobs))
    return r


def course(**knobs):
    return result(**knobs).course


def twelve(**knobs):
    """Twelve pairs of which the better one always wins."""
    return course(n=12, labels=SURE, **knobs)


@cache
def each_step():
    """The run that holds, with every step on record."""
    return direct_preference.train(dpo.world(), *dpo.pairs(dpo.ASKED, 0.0, 200, 0.0, 0), "sigmoid", 0.4, every=1)


def first_term():
    """Of the two terms of the winners' log-ratio at 0.4, nats; the second is the KL."""
    return each_step().chosen[-1] + each_step().kl[-1]


@cache
def with_imitation():
    """SimPO with the likelihood term of TRL's default: CPOConfig of TRL 1.16.0 has cpo_alpha=1.0."""
    labeled = dpo.pairs(dpo.ASKED, 0.0, 200, 0.0, 0)
    return direct_preference.train(dpo.world(), *labeled, "simpo", 0.1, every=400, gamma=0.5, cpo_alpha=1.0)


ROWS = [
    ("DPO", "DPO", 0.4, 0.5),
    ("IPO", "IPO", 0.1, 0.5),
    ("hinge", "hinge", 0.4, 0.5),
    ("KTO", "KTO", 0.4, 0.5),
    ("BCO", "BCO", 0.4, 0.5),
    ("APO-zero", "APO-zero", 0.4, 0.5),
    ("DPO by token", "DPO by token", 5.0, 0.5),
    ("SimPO, margin 5", "SimPO", 10.0, 5.0),
    ("ORPO", "ORPO", 0.1, 0.5),
]


@cache
def trained(loss, beta, gamma, seed):
    return dpo.course(Knobs(loss=loss, beta=beta, gamma=gamma, seed=seed), 400)


def of(name, loss, beta, gamma=0.5):
    return lambda seed: getattr(trained(loss, beta, gamma, seed), name)[-1]


PRICES = [beta for beta in dpo.BETAS if beta >= 0.3]

MEASURED = {
    **{
        f"{named}, {words}": of(name, loss, beta, gamma)
        for named, loss, beta, gamma in ROWS
        for words, name in (("wins", "wins"), ("nats", "kl"), ("winners gained", "chosen"), ("tokens", "tokens"))
    },
    **{f"{loss} at {beta:g}, wins": of("wins", loss, beta) for loss in ("DPO", "DPO by token") for beta in PRICES},
}


def at_its_best(loss):
    """Wins in the mean over seeds, at the best of the prices."""
    return max(kept(f"{loss} at {beta:g}, wins").mean() for beta in PRICES)


def test_the_opening_loses_three_of_four():
    sure, sampled = course(labels=SURE), course()
    assert sure.wins[-1] == pytest.approx(0.25, abs=0.05) and sure.loss[-1] < sampled.loss[-1]
    assert sampled.chosen[-1] < 0


def test_both_ways_end_at_the_same_place():
    r = result()
    assert r.there.kl == pytest.approx(r.course.kl[-1], abs=0.05)
    assert r.there.wins == pytest.approx(r.course.wins[-1], abs=0.0005)


def test_winners_fall_below_their_start_while_the_policy_gets_better():
    assert each_step().chosen[16] > 0 > each_step().chosen[20]
    assert (np.diff(each_step().wins[:100]) > 0).all()


def test_the_loss_of_a_low_price_ends_where_the_usual_one_does():
    assert course(beta=0.1).loss[-1] == pytest.approx(course().loss[-1], abs=0.0005)


def test_labelers_who_like_length_lose_and_log_z_outweighs_most_of_the_pairs():
    assert course(bias=1.0).wins[-1] < 0.5
    win, lose = dpo.pairs(dpo.ASKED, 0.0, 200, 0.0, 0)
    theta = course().theta[-1]
    assert (dpo.world().phi[np.concatenate([win, lose])] @ theta < theta @ theta / 2).mean() > 0.75


def test_the_winners_gain_at_a_coefficient_of_two():
    near, far = course(beta=2.0), course()
    assert (far.chosen[-1], far.kl[-1]) == pytest.approx((-2.40, 4.0), abs=0.005)
    assert near.chosen[-1] == pytest.approx(first_term() / 5 - far.kl[-1] / 25, abs=0.002) and near.chosen[-1] > 0


def test_simpo_leaves_the_map_unless_it_imitates():
    assert course(loss="SimPO", beta=0.1).edge[-1] > 0.99
    assert with_imitation().edge[-1] < 1e-6


def test_with_plain_descent_simpo_hardly_moves():
    batch = direct_preference.Batch(dpo.world(), *dpo.pairs(dpo.ASKED, 0.0, 200, 0.0, 0))
    options = dict(gamma=0.5, label_smoothing=0.0, length_normalize=False)
    theta = np.zeros(2)
    for _ in range(400):
        _, gradient = batch.pairs("simpo", theta, *batch.normalizer(theta), 0.1, options)
        theta = theta - direct_preference.LEARNING_RATE * gradient
    assert np.abs(theta).max() < 0.2


def test_twelve_other_pairs_come_to_rest():
    assert twelve(seed=2, steps=400).kl[-1] < 1.05 * twelve(seed=2, steps=250).kl[-1]


@pytest.mark.parametrize("seed, parted", [(0, True), (2, False)])
def test_twelve_pairs_contradict_each_other_or_not(seed, parted):
    """By a line: all twelve differences lie on one side of some direction, or not."""
    win, lose = dpo.pairs(SURE, 0.0, 12, 0.0, seed)
    difference = dpo.world().phi[win] - dpo.world().phi[lose]
    turn = np.linspace(0, 2 * np.pi, 3601)
    assert ((difference @ np.array([np.cos(turn), np.sin(turn)])).min(axis=0) > 0).any() == parted


def test_the_fit_without_a_ridge():
    win, lose = dpo.pairs(dpo.ASKED, 0.0, 200, 0.0, 0)
    run = direct_preference.train(dpo.world(), win, lose, "sigmoid", 0.4, 1600, 1600)
    assert 0.4 * run.theta[-1] == pytest.approx(bradley_terry.fit(dpo.world().phi, win, lose, lam=0.0), abs=1e-5)
