"""What turning each knob of the KL widget does."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests.widgets.catalogue import frame_of
from widgets.kl_estimators import widget
from widgets.kl_estimators.widget import Knobs

PAPER = Knobs(estimator="k3", placement="loss")
K1_LOSS = Knobs(estimator="k1", placement="loss")
k3_loss = partial(replace, PAPER)


def result(knobs):
    (only,) = widget.run(knobs)
    return only


def end(knobs):
    return widget.ended(result(knobs))[0]


def is_broken(knobs):
    return widget.broken(knobs, result(knobs)) is not None


# The break


def test_k1_in_the_reward_leaves_as_much_of_the_unpaid_as_the_best_policy():
    r = result(Knobs(estimator="k1", placement="reward"))
    assert widget.left(r) == pytest.approx(r.best_unpaid, abs=0.002)


def test_a_run_that_ends_nearer_than_the_best_policy_is_at_another_optimum_and_worse_not_broken():
    for knobs in (PAPER, k3_loss(gap=0.5), k3_loss(estimator="k2", gap=0.5)):
        assert "below the best policy’s" in widget.worse(knobs, result(knobs)) and not is_broken(knobs)
        assert end(knobs) < result(knobs).best - 0.2
    for knobs in (K1_LOSS, k3_loss(placement="loss × ratio")):
        assert widget.worse(knobs, result(knobs)) is None


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("beta", [0.3, 1.0, 2.0])
def test_k1_as_a_loss_breaks_with_every_seed_and_more_coefficient_does_not_help(beta, seed):
    assert is_broken(replace(K1_LOSS, beta=beta, seed=seed))


@pytest.mark.parametrize(
    "estimator, placement", [("k1", "loss"), ("k2", "reward"), ("k3", "reward"), ("k2", "loss × ratio")]
)
def test_the_way_back_from_a_wrong_placement_is_the_proven_one(estimator, placement):
    knobs = Knobs(estimator=estimator, placement=placement)
    assert widget.broken(knobs, result(knobs)).fix == dict(placement=widget.PROVEN[estimator])


def test_no_run_is_called_broken_where_the_kl_price_is_so_low_that_the_optimum_collapses():
    assert result(replace(K1_LOSS, beta=0.1)).best > 1.6  # of ln 5 = 1.609
    assert not is_broken(replace(K1_LOSS, beta=0.1))


def test_old_samples_bias_the_kl_in_the_reward():
    for seed in range(5):
        knobs = Knobs(estimator="k1", placement="reward", gap=0.5, seed=seed)
        assert widget.broken(knobs, result(knobs)).cause == widget.CAUSES[widget.AGE]
        assert end(knobs) == pytest.approx(1.5, abs=0.02)  # of 1.06


def test_a_note_says_when_a_bar_leaves_its_panel():
    notes = [frame_of("kl_estimators", knobs)["panels"][1]["note"] for knobs in (PAPER, k3_loss(mu=3.0, gap=1.0))]
    assert ["cut off" in note for note in notes] == [False, True]


# Training


def test_k1_as_a_loss_trains_like_no_penalty_at_all():
    penalized, free = widget.ended(result(K1_LOSS))
    assert penalized == pytest.approx(free, abs=0.02)


@pytest.mark.parametrize(
    "estimator, placement",
    [("k1", "reward"), ("k2", "loss"), ("k3", "loss × ratio"), ("k3", "loss+"), ("k1", "loss × ratio")],
)
def test_the_right_configurations_end_at_the_reverse_optimum(estimator, placement):
    knobs = Knobs(estimator=estimator, placement=placement)
    assert end(knobs) == pytest.approx(result(knobs).best, abs=0.04)


def test_the_k3_loss_ends_at_the_forward_optimum():
    assert end(PAPER) == pytest.approx(result(PAPER).best_forward, abs=0.005)
    assert result(PAPER).best_forward < result(PAPER).best - 0.25


def test_k2_as_a_loss_and_k3_times_the_ratio_are_the_same_run():
    k2, k3 = result(k3_loss(estimator="k2", placement="loss")), result(Knobs(estimator="k3", placement="loss × ratio"))
    np.testing.assert_allclose(k2.trained, k3.trained, atol=1e-9)


def test_more_coefficient_means_less_kl_when_the_gradient_is_right():
    ends = [end(k3_loss(placement="loss × ratio", beta=beta)) for beta in (0.2, 0.3, 0.5, 1.0, 2.0)]
    assert ends == sorted(ends, reverse=True)


@pytest.mark.parametrize("gap", [0.5, 1.0])
def test_with_old_samples_only_the_ratio_finds_the_optimum(gap):
    best = result(PAPER).best
    assert end(k3_loss(placement="loss × ratio", gap=gap)) == pytest.approx(best, abs=0.04)
    assert end(k3_loss(placement="loss+", gap=gap)) < best - 0.2
    assert end(Knobs(estimator="k1", placement="reward", gap=gap)) > best + 0.2


def test_more_samples_shrink_the_spread_between_runs():
    def spread(n):
        return result(k3_loss(estimator="k2", samples=n)).trained[-20:, : widget.RUNS].std()

    assert spread(4) > 2 * spread(64) > 4 * spread(4096)


def test_the_seed_changes_the_runs_and_nothing_exact():
    first, second = result(PAPER), result(replace(PAPER, seed=1))
    assert not np.allclose(first.trained, second.trained)
    assert first.best == second.best
    np.testing.assert_array_equal(first.pulls["chosen"], second.pulls["chosen"])


# The pull


def test_k1_as_a_loss_has_zero_gradient():
    np.testing.assert_allclose(result(K1_LOSS).pulls["chosen"], 0, atol=1e-15)
    assert np.isnan(result(K1_LOSS).cosine)


@pytest.mark.parametrize("pair", ["near", "drifted", "confident", "Gaussian"])
def test_k3_times_the_ratio_has_cosine_one_for_every_pair_and_age(pair):
    for gap in (0.0, 0.6):
        knobs = k3_loss(placement="loss × ratio", pair=pair, mu=1.5, gap=gap)
        assert result(knobs).cosine == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("pair", ["near", "drifted", "confident", "Gaussian"])
def test_the_pull_of_the_k3_loss_is_the_forward_one(pair):
    pulls = result(replace(PAPER, pair=pair)).pulls
    np.testing.assert_allclose(pulls["chosen"], pulls["forward"], atol=1e-9)
    assert np.abs(pulls["chosen"] - pulls["reverse"]).max() > 0.05


def test_on_gaussians_the_forward_pull_widens_and_the_reverse_does_not():
    pulls = result(k3_loss(pair="Gaussian", mu=1.5)).pulls
    np.testing.assert_allclose(pulls["reverse"], [-1.5, 0], atol=1e-9)  # closed form (−μ, 0)
    np.testing.assert_allclose(pulls["forward"], [-1.5, 2.25], atol=1e-9)  # closed form (−μ, μ²)


def test_the_default_pair_is_the_worked_example():
    pulls = result(PAPER).pulls
    np.testing.assert_allclose(pulls["forward"], [0.4, 0.2, -0.6], atol=1e-12)  # ref − policy
    by_hand = 0.1 * np.log(0.2) + 0.1 * np.log(1 / 3) + 0.8 * np.log(4)  # 0.8382
    assert result(PAPER).kl == pytest.approx(by_hand, abs=1e-12)


# The log


def test_k3_becomes_noisier_than_k1_between_1_1_and_1_2_for_gaussians():
    r = result(k3_loss(pair="Gaussian"))
    ratio = r.noise[2] / r.noise[0]
    crossed = widget.DISTANCES[np.argmax(ratio > 1)]
    assert crossed == pytest.approx(1.2)  # exact: μ = 1.1209
    assert np.all(np.diff(ratio) > 0)


def test_far_from_the_reference_k3_is_the_noisiest_log_of_the_confident_pair():
    r = result(k3_loss(pair="confident"))
    at = np.argmin(np.abs(widget.DISTANCES - 1))
    assert r.noise[2, at] / r.noise[0, at] == pytest.approx(np.sqrt(4.2570326 / 0.5303585), rel=1e-6)  # exact sums


def test_only_k2_is_biased_with_fresh_samples_and_all_three_with_old_ones():
    fresh, old = result(PAPER), result(replace(PAPER, gap=0.5))
    np.testing.assert_allclose(fresh.moments.mean[[0, 2]], fresh.kl, atol=1e-12)
    assert abs(fresh.moments.mean[1] - fresh.kl) > 0.05
    assert np.all(np.abs(old.moments.mean - old.kl) > 0.05)


def test_the_sign_of_k2s_bias_depends_on_the_pair():
    near, gaussian = result(k3_loss(pair="near")), result(k3_loss(pair="Gaussian"))
    assert near.moments.mean[1] < near.kl
    assert gaussian.moments.mean[1] > gaussian.kl


def test_the_running_means_of_k1_and_k3_meet_at_the_kl():
    r = result(PAPER)
    # 4 standard errors of k1: 4 · √1.2145 / 64 / 0.838
    np.testing.assert_allclose(r.stream[[0, 2], -1] / r.kl, 1, atol=0.08)


def test_the_panel_in_front_holds_the_line_of_the_break():
    front = frame_of("kl_estimators", K1_LOSS)["panels"][0]
    assert front["front"] and any(shape["name"] == "threshold" for shape in front["layout"]["shapes"])
