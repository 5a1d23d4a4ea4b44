import numpy as np
import pytest

from sim.estimators.overoptimization import coefficients
from tests.widgets import catalogue
from tests.widgets.catalogue import fixed
from widgets.rlhf import widget
from widgets.rlhf.widget import ADAPTIVE, BEST, FREE, UPDATES, Knobs


def last(**knobs):
    k = Knobs(**knobs)
    return k, catalogue.last(widget, **knobs)


def here(**knobs):
    return last(**knobs)[1].here


def cause(**knobs):
    return catalogue.cause(widget, **knobs) or ""


# gold and KL of the specification's own program, the draw of seed 0
@pytest.mark.parametrize("beta, gold, kl", [(0.4, 2.060, 3.984), (0.2, 0.363, 15.936), (0.15, -2.855, 28.330)])
def test_the_optimum_at_a_price_is_that_of_an_independent_program(beta, gold, kl):
    outcome = here(beta=beta)
    assert (outcome.gold, outcome.kl) == pytest.approx((gold, kl), abs=5e-3)


def test_sixty_updates_end_at_the_optimum_or_a_little_before():
    assert here(how=UPDATES).kl == pytest.approx(here().kl, abs=1e-3)
    # after t steps of 0.5 the inverse price is (1 - (1 - 0.5 beta)^t) / beta
    nearer = (1 - (1 - 0.5 * 0.15) ** 60) ** 2
    assert here(how=UPDATES, beta=0.15).kl == pytest.approx(nearer * here(beta=0.15).kl, rel=1e-3)


def test_five_updates_without_a_price_are_the_price_of_two_fifths():
    early, priced = here(how=FREE, updates=5), here(beta=0.4)  # 1 / (5 * 0.5)
    assert (early.kl, early.gold, early.wins) == pytest.approx((priced.kl, priced.gold, priced.wins), abs=1e-9)


def test_the_curve_and_its_closed_form_agree():
    _, r = last()
    alpha, curvature = r.law
    d = np.sqrt([o.kl for o in r.curve])
    np.testing.assert_allclose([o.gold for o in r.curve], alpha * d - curvature * d**2, atol=5e-3)
    assert r.law == coefficients(widget.worlds(1.0)[0], r.uphill)


def test_the_ring_of_the_start_and_the_policys_are_one_ring_moved():
    _, r = last()
    # shifted by theta / beta, and a linear reward leaves the spread as it was
    np.testing.assert_allclose(r.centre, [0.91769388 / 0.4, 0.65780316 / 0.4], atol=1e-5)
    np.testing.assert_allclose(r.spread, np.eye(2), atol=1e-5)


def test_a_perfect_reward_has_gold_for_its_score_and_no_law():
    _, r = last(perfect=True)
    assert r.here.gold == pytest.approx(r.here.proxy, abs=1e-9) and r.law == ()
    assert r.held_out == r.ceiling


def test_wins_of_best_of_n_peak_and_fall():
    wins = [o.wins for o in last(how=BEST)[1].best]
    assert wins[0] == pytest.approx(0.5, abs=1e-4)  # of one there is nothing to choose
    assert wins == sorted(wins[:5]) + sorted(wins[5:], reverse=True) and wins[-1] < wins[4] - 0.1


def test_the_best_of_one_is_the_start_and_no_break():
    k, r = last(how=BEST, N=1)
    assert widget.broken(k, r) is None and r.here.kl == 0
    assert widget.watched(k, r).value == 0.5


@pytest.mark.parametrize("gain, breaks", [(0.1, ""), (0.3, ""), (0.9, ""), (4.0, widget.SWING)])
def test_a_hasty_controller_swings(gain, breaks):
    assert cause(how=ADAPTIVE, gain=gain) == breaks


def test_a_calm_controller_ends_at_its_target():
    for target in (1.0, 4.4, 8.0):
        assert here(how=ADAPTIVE, target=target).kl == pytest.approx(target, rel=0.01)


@pytest.mark.parametrize(
    "knobs",
    [
        dict(how=FREE, updates=60),
        dict(how=ADAPTIVE, target=30.0, gain=0.1),
        dict(how=ADAPTIVE, target=30.0, gain=4.0),
        dict(how=ADAPTIVE, beta=0.001, gain=4.0),  # a start too cheap to come back from in sixty updates
        dict(how=ADAPTIVE, perfect=True, beta=0.003),
        dict(how=ADAPTIVE, perfect=True, target=30.0, gain=4.0),
        dict(perfect=True, beta=0.001),
        dict(how=BEST, N=1_000_000, seed=4),
        dict(pairs=20, flip=0.4, seed=7, beta=0.1),
        dict(features="their squares too", seed=7, beta=0.15),
    ],
)
def test_every_break_has_a_suggested_fix_that_mends_it(knobs):
    back = fixed("rlhf", Knobs(**knobs), catalogue.broken(widget, **knobs).fix)
    assert widget.broken(back, catalogue.results.last("rlhf", back)) is None


def test_labels_that_point_the_wrong_way_are_told_from_a_distance_that_is_too_large():
    wrong = [seed for seed in range(100) if astray(Knobs(pairs=20, flip=0.4, seed=seed))]
    assert len(wrong) > 3
    assert cause(pairs=20, flip=0.4, seed=wrong[0], beta=0.1) == widget.ASTRAY


def test_what_a_price_that_is_not_on_offer_mends_is_not_said_to_be_beyond_all_prices():
    # at β = 10, twice the dearest on offer, wins are 0.5001
    k = Knobs(pairs=20, flip=0.2, seed=11)
    r = next(widget.run(k))
    world, _ = widget.worlds(1.0)
    reward, _ = widget.learned(k, world)
    policy, _ = widget.overoptimization.tilt(world.ref, reward, 10.0)
    assert widget.outcome(world, reward, policy).wins > 0.5
    break_ = widget.broken(k, r)
    assert break_.cause == widget.ASTRAY and "No coefficient that was tried helps" in break_.why


def astray(k):
    """Whether the reward model's weights lead to where gold falls from the first step on: no price helps."""
    world, _ = widget.worlds(k.kappa)
    _, theta = widget.learned(k, world)
    return coefficients(world, theta)[0] < -0.3


def test_a_setting_behind_the_default_is_called_worse():
    assert widget.worse(*last(flip=0.2))


def test_a_policy_at_the_end_of_the_map_is_not_believed():
    k, r = last(kappa=0.0, beta=0.001)
    assert r.here.edge and "map" in widget.worse(k, r)
    assert any("over" in str(read.value) for read in widget.readouts(k, r))


def test_the_guess_is_what_the_run_answers():
    k = widget.GUESS.knobs
    wins = [o.wins for o in catalogue.results.last("rlhf", k).best]
    assert widget.GUESS.answers[widget.GUESS.right] == "it rises, then falls" and wins[0] < max(wins) > wins[-1]
