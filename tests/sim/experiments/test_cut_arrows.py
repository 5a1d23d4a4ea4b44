import numpy as np
import pytest

from sim.algorithms import reinforce
from sim.experiments import cut_arrows
from sim.experiments.standard_runs import modsum_run
from sim.worlds import modsum

START = modsum.exact(modsum.Policy().params["theta"])["pass_rate"]


def frames(arrow, iterations=12, K=8, beta=0.0, seed=0):
    return list(cut_arrows.frames_without(arrow, K=K, beta=beta, seed=seed, iterations=iterations))


def rates(run):
    return np.array([frame.exact["pass_rate"] for frame in run])


def test_with_every_arrow_in_place_it_is_the_ordinary_run():
    plain = modsum_run(reinforce, seed=3, learning_rate=cut_arrows.LEARNING_RATE, groups=cut_arrows.GROUPS, K=4).frames(
        12
    )
    np.testing.assert_array_equal(rates(frames("none", K=4, seed=3)), rates(plain))


@pytest.mark.parametrize("arrow", ["trajs", "+reward", "loss_fn"])
@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_without_a_score_or_a_loss_no_weight_moves(arrow, beta):
    run = frames(arrow, beta=beta)
    np.testing.assert_array_equal(rates(run), np.tile(START, (12, 1)))
    assert all(frame.exact["kl_reference"].max() == 0 for frame in run)


def test_without_the_reward_the_pass_rate_is_still_measured_and_without_the_trajectories_it_is_not():
    assert all(0 <= frame.accuracy <= 1 for frame in frames("+reward"))
    assert all(np.isnan(frame.accuracy) for frame in frames("trajs"))


def test_a_trainer_without_a_loss_takes_no_step_so_the_rollout_is_never_behind():
    assert [frame.lag for frame in frames("loss_fn")] == [0] * 12


def test_without_the_sync_the_rollout_falls_one_version_behind_at_every_step():
    assert [frame.lag for frame in frames("weight sync")] == list(range(1, 13))
    assert [frame.lag for frame in frames("none")] == [0] * 12


def test_the_first_batch_does_not_need_the_sync():
    np.testing.assert_array_equal(rates(frames("weight sync"))[0], rates(frames("none"))[0])


def test_without_the_sync_every_batch_is_the_starting_policys_while_the_trainers_policy_gets_better():
    run = frames("weight sync", iterations=60)
    counted = np.mean([frame.accuracy for frame in run])
    sd = np.sqrt(np.mean(START * (1 - START)) / (60 * cut_arrows.GROUPS * 8))  # of a mean of independent yes/no draws
    assert abs(counted - START.mean()) < 4 * sd
    assert rates(run)[-1].mean() > START.mean() + 40 * sd


def test_without_the_reference_the_price_of_the_kl_has_no_effect():
    free = rates(frames("none", beta=0.0))
    np.testing.assert_array_equal(rates(frames("ref_logp", beta=0.5)), free)
    np.testing.assert_array_equal(rates(frames("tokens", beta=0.5)), free)


def test_a_higher_price_keeps_the_policy_closer_to_the_start():
    kl = [frames("none", iterations=60, beta=beta)[-1].exact["kl_reference"].mean() for beta in (0.0, 0.1, 0.5, 1.0)]
    assert kl == sorted(kl, reverse=True)


def test_the_anchored_policy_does_not_earn_more_than_the_best_it_could():
    # max of p - beta KL is reached by the start reweighted with exp(reward / beta) and equals beta log E[exp(reward /
    # beta)] (closed form)
    beta = 0.5
    last = frames("none", iterations=60, beta=beta)[-1].exact
    earned, bound = last["pass_rate"] - beta * last["kl_reference"], beta * np.log(1 + START * (np.exp(1 / beta) - 1))
    assert (earned <= bound + 1e-12).all() and (earned > START).all()


def test_best_of_n_is_the_chance_that_not_all_n_are_wrong():
    assert cut_arrows.best_of(0.5, 2) == 0.75  # 1 - 1/4
    np.testing.assert_allclose(cut_arrows.best_of(np.array([0.0, 0.1, 1.0]), 3), [0, 0.271, 1], atol=1e-15)  # 1 - 0.9^3
    np.testing.assert_allclose(cut_arrows.best_of(START, 1), START, rtol=1e-14)


def test_both_copies_write_the_same_until_the_sync_is_cut_and_then_the_sampler_stays_as_it_was():
    whole = cut_arrows.twins_without("none", 1, iterations=12)
    old = cut_arrows.twins_without("weight sync", 1, iterations=12)
    assert len(whole) == len(old) == 13 and whole[0] == old[0]
    assert all(one.sampled == one.trained and one.sampled_rate == one.trained_rate for one in whole)
    assert all(one.sampled == old[0].sampled and one.sampled_rate == pytest.approx(START[1]) for one in old)
    np.testing.assert_allclose([one.trained_rate for one in old[1:]], rates(frames("weight sync", beta=0.1))[:, 1])
    assert old[-1].trained != old[0].trained
