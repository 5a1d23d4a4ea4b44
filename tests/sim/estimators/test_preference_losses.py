"""The losses on pairs against what TRL's own trainers return, and their derivatives against differences."""

import numpy as np
import pytest

from sim.estimators import preference_losses
from sim.estimators.preference_losses import NAMES, dpo_optimum_pair, ipo_optimum_pair, kto_loss, pref_loss

# log-probabilities of the tokens of two pairs
CHOSEN, REJECTED = [[-0.5, -1.2, -0.3], [-0.9, -0.4]], [[-0.7, -0.8], [-1.5, -0.2, -0.6, -1.1]]
REF_CHOSEN, REF_REJECTED = [[-0.6, -1.0, -0.7], [-1.0, -0.8]], [[-0.5, -0.6], [-1.3, -0.4, -0.5, -0.9]]
PAIRS = [np.array([sum(row) for row in rows]) for rows in (CHOSEN, REJECTED, REF_CHOSEN, REF_REJECTED)]
LENGTHS = [np.array([len(row) for row in rows], float) for rows in (CHOSEN, REJECTED)]
OPTIONS = dict(robust=dict(label_smoothing=0.1), simpo=dict(gamma=1.0, cpo_alpha=0.3))


def losses(name, beta, **options):
    return pref_loss(name, *PAIRS, *LENGTHS, beta, **options)


# the mean that `_compute_loss` of TRL 1.16.0's DPOTrainer gives for this batch, on torch 2.13
@pytest.mark.parametrize(
    "name, beta, options, expected",
    [
        ("sigmoid", 0.1, {}, 0.6563532614331435),
        ("sigmoid", 0.5, {}, 0.5231987039093648),
        ("hinge", 0.1, {}, 0.925),
        ("hinge", 0.5, {}, 0.625),
        ("ipo", 0.1, dict(length_normalize=True), 21.9728125),
        ("ipo", 0.5, dict(length_normalize=True), 0.4728125),
        ("robust", 0.5, dict(label_smoothing=0.1), 0.47632370390936485),
        ("sigmoid_norm", 0.5, {}, 0.6180756921305386),
        ("bco_pair", 0.1, {}, 1.3491630839621087),
        ("apo_zero", 0.1, {}, 0.9812525307672918),
    ],
)
def test_every_loss_with_a_reference_is_that_of_trl(name, beta, options, expected):
    assert losses(name, beta, **options)[0].mean() == pytest.approx(expected, abs=1e-9 if name == "ipo" else 1e-12)


def test_simpo_is_that_of_trl():
    # its `cpo_loss` with loss_type="simpo"
    assert losses("simpo", 2.0, gamma=1.0)[0] == pytest.approx([1.1942181492675368, 1.0374879504858856], abs=1e-12)
    # at TRL's own defaults the margin is nearly nothing beside gamma, and log(1 + e^0.5) = 0.974
    assert losses("simpo", 0.1, gamma=0.5)[0].mean() == pytest.approx(0.965, abs=1e-3)


def test_cpo_alpha_adds_the_mean_negative_log_likelihood_of_the_chosen_tokens():
    # `losses.mean() + self.cpo_alpha * policy_nll_loss`; 0.66 is the same of ORPO's trainer, below
    alone, both = (losses("simpo", 2.0, gamma=1.0, cpo_alpha=alpha)[0].mean() for alpha in (0.0, 0.5))
    assert both - alone == pytest.approx(0.5 * 0.66, abs=1e-12)


def test_orpo_is_that_of_trl():
    # `odds_ratio_loss` of its ORPOTrainer computes in float32: 0.66 from the chosen tokens, the rest from the odds
    assert losses("orpo", 0.1)[0].mean() == pytest.approx(0.7167591023, abs=1e-6)
    odds = losses("orpo", 0.1)[0] - losses("orpo", 0.0)[0]
    assert odds == pytest.approx([0.0614354908, 0.0520827137], abs=1e-6)
    assert losses("orpo", 0.0)[0].mean() == pytest.approx(0.66, abs=1e-12)


def test_kto_is_that_of_trl():
    # all four completions, the chosen ones called good; z0 is the mean of mismatched log-ratios .4, −.3, .3, .2
    logp, ref = np.concatenate(PAIRS[:2]), np.concatenate(PAIRS[2:])
    good = np.array([True, True, False, False])
    assert kto_loss(logp, ref, good, 0.15, 0.1)[0].mean() == pytest.approx(0.490626581645367, abs=1e-12)
    assert kto_loss(logp, ref, good, 0.15, 0.5, w_u=1.5)[0].mean() == pytest.approx(0.562779821462521, abs=1e-12)


def test_ipo_as_printed_and_ipo_as_shipped_are_two_losses():
    # margins of the sums are .3 + .4 = .7 and .5 + .3 = .8, so (.7 − 5)² and (.8 − 5)²
    assert losses("ipo", 0.1)[0] == pytest.approx([18.49, 17.64])
    assert losses("ipo", 0.1, length_normalize=True)[0].mean() > 21


@pytest.mark.parametrize("name", [*NAMES, "ipo, by token"])
def test_a_derivative_is_the_difference_of_the_loss(name):
    options = OPTIONS.get(name, {})
    if name == "ipo, by token":
        name, options = "ipo", dict(length_normalize=True)
    step = 1e-6
    for which in (0, 1):
        up, down = (pref_loss(name, *moved(which, by), *LENGTHS, 0.5, **options)[0] for by in (step, -step))
        assert losses(name, 0.5, **options)[1 + which] == pytest.approx((up - down) / (2 * step), abs=1e-7)


def moved(which, by):
    return [logp + by * (i == which) for i, logp in enumerate(PAIRS)]


def test_the_derivative_of_kto_is_the_difference_at_a_fixed_z0():
    logp, ref, good = np.array([-2.0, -1.0]), np.array([-1.5, -1.6]), np.array([True, False])
    up, down = (kto_loss(logp + move, ref, good, 0.2, 0.7, 1.3, 0.8)[0] for move in (1e-6, -1e-6))
    assert kto_loss(logp, ref, good, 0.2, 0.7, 1.3, 0.8)[1] == pytest.approx((up - down) / 2e-6, abs=1e-8)


def test_losses_stay_finite_far_out():
    far = [np.array([-2000.0, 0.0]), np.array([0.0, -2000.0]), np.zeros(2), np.zeros(2)]
    for name in (name for name in NAMES if name != "orpo"):  # odds of a certain token are infinite
        assert all(np.isfinite(part).all() for part in pref_loss(name, *far, np.ones(2), np.ones(2), 1.0))


def test_the_robust_loss_has_the_mean_of_clean_labels():
    # a share of .1 of the pairs is turned round: .9 L(h) + .1 L(−h) is what DPO pays for clean labels
    h = np.array([-1.0, 0.3, 2.0])
    right, wrong = (preference_losses.robust(side, 0.5, 0.1)[0] for side in (h, -h))
    assert 0.9 * right + 0.1 * wrong == pytest.approx(np.log1p(np.exp(-0.5 * h)))


def test_the_reward_inside_the_optimum_is_the_reward_less_the_value_of_the_prompt():
    # four responses paid 0, 1, 2, 3 at a price of .5: their optimum, and beta log Z = 1.718248140
    ref, best = np.array([0.5, 0.3, 0.15, 0.05]), np.array([0.01608861, 0.0713278, 0.26352257, 0.64906101])
    inside = preference_losses.implicit_reward(np.log(best), np.log(ref), 0.5)
    assert inside == pytest.approx(np.arange(4) - 1.718248140, abs=1e-6)


def test_the_hinge_pushes_until_the_margin_is_one_over_beta_and_then_no_more():
    loss, slope = preference_losses.hinge(np.array([1.0, 1.9, 2.0, 3.0]), 0.5)
    assert loss == pytest.approx([0.5, 0.05, 0.0, 0.0]) and slope.tolist() == [-0.5, -0.5, 0.0, 0.0]


def test_dpo_has_no_end_on_a_pair_that_one_side_always_wins_and_ipo_has():
    assert dpo_optimum_pair(0.9, 0.1) == pytest.approx(21.972245773, abs=1e-9)  # log(9)/.1
    assert dpo_optimum_pair(1.0, 0.1) == np.inf
    assert [ipo_optimum_pair(P, 0.1) for P in (0.9, 1.0)] == pytest.approx([4.0, 5.0], abs=1e-9)


@pytest.mark.parametrize("P", [0.6, 0.9, 0.99])
def test_there_the_mean_push_is_zero(P):
    for loss, h in (
        (preference_losses.dpo, dpo_optimum_pair(P, 0.2)),
        (preference_losses.ipo, ipo_optimum_pair(P, 0.2)),
    ):
        # turning a pair round turns its margin round
        assert P * loss(h, 0.2)[1] - (1 - P) * loss(-h, 0.2)[1] == pytest.approx(0, abs=1e-12)
