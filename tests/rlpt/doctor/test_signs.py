"""What has to hold for each sign, in logs made by hand."""

import numpy as np
import pytest

from rlpt import doctor
from tests.rlpt.doctor import made

LENGTH, CUT = "completions/mean_length", "completions/clipped_ratio"


def signs(rates, size=64, seed=0, **given):
    means, deviations = made.binary(rates, size, seed)
    return made.names(made.report(len(rates), reward=means, reward_std=deviations, **given))


def after(value, usual=1.0, place=20, rows=40):
    return np.r_[np.full(place, usual), np.full(rows - place, value)]


RISING, FLAT, LOST = np.linspace(0.2, 0.9, 40), np.full(40, 0.4), after(0.02, 0.6)


def test_a_reward_lost_with_something_else_is_a_step_too_long():
    assert signs(LOST, entropy=after(3.0))[0] == "step"
    assert signs(LOST) == ["fell"]
    assert signs(after(0.6, 0.6)) == []


def test_uniform_groups_that_follow_a_wreck_are_none_of_their_own():
    share = {"frac_reward_zero_std": np.r_[0.1, np.ones(39)]}
    assert signs(after(0.0, 0.5, place=1), **share, **{LENGTH: after(9.0, place=1)}) == ["step"]


def test_uniform_groups_from_the_first_batch_on_are_the_data():
    share = np.r_[0.9, np.full(39, 0.8)]
    assert signs(FLAT / 4, frac_reward_zero_std=share) == ["groups"]
    share[0] = 0.4
    assert signs(FLAT / 4, frac_reward_zero_std=share) == []
    assert signs(RISING, frac_reward_zero_std=np.full(40, 0.7)) == []  # it learned from the rest


def test_a_reward_of_0_throughout_is_the_verifier_or_the_cap():
    assert signs(np.zeros(40)) == ["verifier"] and signs(np.ones(40)) == ["verifier"]
    assert signs(np.zeros(40), **{CUT: np.full(40, 0.5)}) == ["truncation"]
    assert signs(np.zeros(4)) == []  # too few to tell from a rare success


def test_a_score_that_was_not_trained_on_tells_hacking_from_memorizing():
    means, deviations = made.binary(RISING)
    score = made.binary(np.linspace(0.5, 0.0, 40), seed=1)[0]

    def of(**given):
        return made.names(made.report(reward=means, reward_std=deviations, **given))

    assert of(**{"rewards/a/mean": means, "rewards/b/mean": score}) == ["hacked"]
    every_fifth = np.where(np.arange(40) % 5 == 0, score, np.nan)
    assert of(**{"rewards/a/mean": means, "eval_rewards/a/mean": every_fifth}) == ["memorized"]
    alike = np.where(np.arange(40) % 5 == 0, means, np.nan)
    assert of(**{"rewards/a/mean": means, "eval_rewards/a/mean": alike}) == []
    assert of(**{"rewards/a/mean": means, "rewards/b/mean": means * 0.9}) == []


def test_a_column_can_be_named_and_is_then_the_scorer():
    means, deviations = made.binary(RISING)
    log = made.log(reward=means, reward_std=deviations, own=made.binary(np.linspace(0.5, 0.0, 40), seed=1)[0])
    assert made.names(doctor.report(log)) == [] and made.names(doctor.report(log, "own")) == ["hacked"]


def test_length_is_a_sign_only_where_no_scorer_was_asked():
    longer = {LENGTH: after(31.0, 10)}
    assert signs(RISING, **longer) == ["length"]
    assert signs(RISING, **{LENGTH: after(29.0, 10)}) == []
    scored = made.binary(RISING, seed=1)[0]
    means, deviations = made.binary(RISING)
    both = {"rewards/a/mean": means, "rewards/b/mean": scored}
    assert made.names(made.report(reward=means, reward_std=deviations, **longer, **both)) == []


def test_a_cap_that_is_reached():
    assert signs(RISING, **{CUT: after(0.5, 0.0)}) == ["cut off"]


def test_far_and_no_better():
    assert signs(FLAT, kl=after(4.0, 0.1)) == ["far"]
    assert signs(RISING, kl=after(4.0, 0.1)) == []
    assert signs(RISING, entropy=np.r_[1, 0.6, np.full(38, 0.3)]) == ["jump"]


def test_a_kl_term_that_outweighs_the_reward():
    kl = np.random.default_rng(0).random(40) * 0.01
    assert signs(FLAT, kl=kl, loss=10 * kl) == ["penalty"]
    assert signs(RISING, kl=kl, loss=10 * kl) == []


def test_narrower_and_no_better():
    assert "narrower" in signs(np.full(100, 0.4), entropy=after(0.2, rows=100), size=512)
    assert signs(RISING, entropy=after(0.3)) == []


def test_a_policy_that_moves_while_the_reward_does_not():
    assert signs(FLAT, entropy=after(2.0)) == ["drift"]


def test_a_reward_that_surely_did_not_rise_and_one_of_which_nobody_can_tell():
    assert signs(np.full(120, 0.4), size=1024) == ["flat"]
    means, deviations = made.binary(FLAT, 16)
    seen = made.report(reward=means, reward_std=deviations)
    assert seen.signs == () and seen.told.startswith("Cannot tell whether the reward rose: ")


def test_one_reward_to_the_end_is_told_as_a_fact():
    assert signs(np.r_[np.linspace(0.3, 0.95, 30), np.ones(30)]) == ["saturated"]


def test_the_first_in_time_is_the_verdict_and_at_one_time_infrastructure_comes_first():
    gap = {"sampling/sampling_logp_difference/mean": np.full(40, 0.2)}
    share = {"frac_reward_zero_std": np.full(40, 0.9)}
    assert signs(FLAT / 4, **gap, **share) == ["gap", "groups"]


@pytest.mark.parametrize("level, name", [(0.3, "groups"), (0.9, "easy")])
def test_equal_rewards_are_of_easy_prompts_only_if_they_are_high(level, name):
    """A reward of 0.3 that is lost later is not above the middle, although it is the most that the log has."""
    mean, deviation = made.binary(np.r_[np.full(20, level), np.full(20, 0.0)])
    share = np.r_[np.full(20, 0.9), np.full(20, 1.0)]
    entropy = np.r_[np.full(20, 1.0), np.full(20, 4.0)]
    report = made.report(40, reward=mean, reward_std=deviation, frac_reward_zero_std=share, entropy=entropy)
    assert {name} == {"groups", "easy"} & set(made.names(report))


def collapse(rows=100, at=96, level=0.65):
    return np.r_[np.full(at - 1, level), np.full(rows - at + 1, 0.0)]


def test_a_collapse_of_the_last_rows_does_not_recover():
    mean, deviation = made.binary(collapse(), 512)
    entropy = np.r_[np.full(95, 0.4), np.full(5, 3.0)]
    report = made.report(100, reward=mean, reward_std=deviation, entropy=entropy)
    assert made.names(report)[0] == "step" and report.first.step == 96


@pytest.mark.parametrize("size", [64, 256, 1024])
def test_a_collapse_after_a_rise_is_seen_although_noise_has_fallen_before(size):
    """Twenty seeds of batches of 64, 256 and 1,024 zeros and ones."""
    for seed in range(20):
        rates = np.r_[np.linspace(0.2, 0.7, 120), np.full(80, 0.005)]
        mean, deviation = made.binary(rates, size, seed)
        report = made.report(200, reward=mean, reward_std=deviation, entropy=np.r_[np.full(120, 0.4), np.full(80, 3.0)])
        assert report.first.name == "step" and 115 <= report.first.step <= 123
        sound = made.report(
            200, **dict(zip(("reward", "reward_std"), made.binary(np.linspace(0.2, 0.7, 200), size, seed)))
        )
        assert not sound.signs


def test_a_slow_decline_is_no_flat_reward():
    mean, deviation = made.binary(np.linspace(0.65, 0.3, 200), 128)
    assert made.names(made.report(200, reward=mean, reward_std=deviation)) == ["declined"]


@pytest.mark.parametrize("score", [np.full(100, 0.97), np.linspace(0.1, 0.17, 100)], ids=["full", "rises"])
def test_a_score_that_has_no_room_or_rises_slowly_does_not_part_from_the_reward(score):
    functions = {"rewards/a/mean": np.linspace(0.2, 0.8, 100), "rewards/b/mean": score}
    report = made.report(100, reward=functions["rewards/a/mean"], **functions)
    assert len(report.scores.scorers) == 1 and not report.signs


def test_a_counter_of_tokens_is_no_score():
    functions = {"rewards/a/mean": np.linspace(0.2, 0.8, 100), "rewards/num_len/mean": np.linspace(300, 200, 100)}
    assert not made.report(100, reward=functions["rewards/a/mean"], **functions).scores.scorers


def test_a_share_that_is_cut_off_at_first_is_no_sign():
    cut = np.linspace(0.4, 0.02, 100)
    assert not made.report(100, **{"completions/clipped_ratio": cut}).signs


def test_no_reward_is_not_called_low():
    """KTO: a KL that grows, and no reward."""
    report = made.report(60, reward=None, reward_std=None, kl=np.linspace(0.01, 9, 60), entropy=np.full(60, 1.0))
    assert not report.signs


def test_a_negative_factor_of_the_kl_is_no_price():
    kl = -np.linspace(0.1, 1, 60)
    report = made.report(60, reward=np.full(60, 0.5) + 0.001 * (-1) ** np.arange(60), kl=kl, loss=-4 * kl)
    assert "penalty" not in made.names(report)
