"""Four ways to choose prompts, held to the differential equations that the means follow."""

from functools import cache, partial

import numpy as np
import pytest

from sim.estimators import group_baselines
from sim.experiments import curation
from sim.experiments.curation import a_list, every_prompt, known, live_groups, predicted

SEEDS = range(8)


@cache
def pool(wrong=0.0):
    return curation.pool(np.random.default_rng(5), wrong=wrong)


@cache
def ran(way, budget, seed=0, wrong=0.0, K=8, **how):
    return curation.train(pool(wrong), partial(way, **how), budget, np.random.default_rng(seed), K)


def solved(way, budget, seed=0, **how):
    return ran(way, budget, seed, **how).at(budget)


def mean_field(budget, weight, asked=0, rate=0.5):
    """Solved when ability rises by the mean of p (1 − p) over the prompts as `weight` has them, step after step."""
    difficulty, ability = np.random.default_rng(5).normal(6, 3, 4000), 0.0
    weight = weight(1 / (1 + np.exp(difficulty)))
    for _ in range((budget - asked) // 512):
        p = 1 / (1 + np.exp(difficulty - ability))
        ability += rate * (weight * p * (1 - p)).sum() / weight.sum()
    return (1 / (1 + np.exp(difficulty - ability))).mean()


@pytest.mark.parametrize("p, K", [(0.1, 2), (0.5, 8), (0.9, 16)])
def test_the_estimate_of_a_group_is_p_times_one_less_p_on_average(p, K):
    chance = group_baselines.outcome_probability(p, K)
    assert chance @ curation.ability_gradient(np.arange(K + 1), K) == pytest.approx(p * (1 - p), abs=1e-12)


def test_the_estimate_is_that_of_leave_one_out():
    rewards = np.array([[1.0, 1, 1, 0, 0, 0, 0, 0]])
    by_hand = (group_baselines.leave_one_out(rewards) * (rewards - 0.3)).mean()  # the score of a logit is r − p
    assert curation.ability_gradient(np.array([3]), 8)[0] == pytest.approx(by_hand, abs=1e-12)


def test_where_sixty_thousand_completions_take_the_ability():
    # a script of its own: 2.27, 1.93 and 4.08
    for way, expected in ((every_prompt, 2.27), (live_groups, 1.93), (predicted, 4.08)):
        assert ran(way, 60_000).ability == pytest.approx(expected, abs=0.25)


@pytest.mark.parametrize("budget", [60_000, 120_000, 200_000])
def test_without_a_filter_the_pool_is_solved_as_the_mean_says(budget):
    expected = mean_field(budget, np.ones_like)
    assert np.mean([solved(every_prompt, budget, seed) for seed in SEEDS]) == pytest.approx(expected, abs=0.015)


@pytest.mark.parametrize("tries", [2, 8])
@pytest.mark.parametrize("budget", [60_000, 200_000])
def test_a_list_goes_where_the_mean_of_its_prompts_goes(budget, tries):
    expected = mean_field(budget, lambda p: 1 - p**tries - (1 - p) ** tries, asked=tries * 4000)
    assert np.mean([solved(a_list, budget, seed, tries=tries) for seed in SEEDS]) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("seed", SEEDS)
def test_throwing_dead_groups_away_is_ahead_by_step_and_behind_by_completion(seed):
    def by_step(way):
        return ran(way, 200_000, seed).solved[60]

    assert by_step(live_groups) > by_step(every_prompt) + 0.3
    for budget in (60_000, 120_000, 200_000):
        assert solved(live_groups, budget, seed) < solved(every_prompt, budget, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_drawing_again_loses_is_the_surplus_of_the_last_draw(seed):
    """With every live group in the step, as many times as long as there are more of them, nothing is lost."""
    rng, ability, paid = np.random.default_rng(seed), 0.0, 0
    difficulty = pool().difficulty
    while paid < 120_000:
        push, live = 0.0, 0
        while live < 64:
            p = 1 / (1 + np.exp(difficulty[rng.integers(4000, size=64)] - ability))
            share, paid = rng.binomial(8, p) / 8, paid + 512
            push, live = push + (share * (1 - share)).sum() * 8 / 7 / 64, live + ((share > 0) & (share < 1)).sum()
        ability += 0.5 * push
    kept_all = (1 / (1 + np.exp(difficulty - ability))).mean()
    assert kept_all == pytest.approx(solved(every_prompt, 120_000, seed), abs=0.05)
    assert solved(live_groups, 120_000, seed) < kept_all - 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_list_leads_at_first_and_is_passed(seed):
    assert solved(a_list, 60_000, seed) > solved(every_prompt, 60_000, seed) + 0.1
    assert solved(a_list, 200_000, seed) < solved(every_prompt, 200_000, seed) - 0.2


@pytest.mark.parametrize("seed", SEEDS)
def test_choosing_by_what_was_seen_is_ahead_of_no_filter_throughout(seed):
    for budget in (60_000, 120_000, 200_000):
        assert solved(predicted, budget, seed) > solved(every_prompt, budget, seed) + 0.02


@pytest.mark.parametrize("seed", SEEDS)
def test_whoever_knew_the_pass_rates_would_need_less_than_half(seed):
    assert solved(known, 60_000, seed) > max(solved(predicted, 160_000, seed), solved(every_prompt, 160_000, seed))


def test_the_push_of_known_rates_is_the_largest_that_the_pool_has():
    difficulty, ability = pool().difficulty, 0.0
    for _ in range(60_000 // 512):
        p = 1 / (1 + np.exp(difficulty - ability))
        ability += 0.5 * np.sort(p * (1 - p))[-64:].mean()
    expected = (1 / (1 + np.exp(difficulty - ability))).mean()
    assert np.mean([solved(known, 60_000, seed) for seed in SEEDS]) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_tries_asked_often_are_ahead_of_eight_asked_once(seed):
    assert solved(a_list, 120_000, seed, tries=2, renew=20_000) > solved(predicted, 120_000, seed)
    assert solved(a_list, 120_000, seed, tries=2, renew=20_000) > solved(a_list, 120_000, seed) + 0.3


@pytest.mark.parametrize("seed", SEEDS)
def test_only_what_was_never_solved_hardly_starts(seed):
    assert solved(a_list, 120_000, seed, keep=curation.NEVER) < 0.12 < solved(every_prompt, 120_000, seed) - 0.5


@pytest.mark.parametrize("seed", SEEDS)
def test_a_list_of_prompts_solved_sometimes_holds_few_wrong_keys(seed):
    every, listed = (solved(way, 120_000, seed, wrong=0.3) for way in (every_prompt, a_list))
    assert listed > every + 0.15


def test_the_nearest_to_one_half_come_in_order():
    assert curation.nearest_to_half(np.array([0.9, 0.45, 0.1, 0.5, 0.45, 0.7]), 4).tolist() == [3, 1, 4, 5]


def test_what_is_asked_is_paid_for_and_not_trained_on():
    run = ran(a_list, 60_000, tries=8)
    assert run.asked == 32_000 and run.steps == np.ceil((60_000 - 32_000) / 512)
    assert run.at(31_000) == run.solved[0] and ran(predicted, 60_000).asked == 0
    assert ran(a_list, 60_000, tries=16).solved[-1] == run.solved[0]  # all of it was asking
    # 8,000 for a list and 20 steps of 512, three times; the fourth list is cut off by the budget
    assert ran(a_list, 60_000, tries=2, renew=10_000).asked == 3 * 8000 + 60_000 - 3 * (8000 + 20 * 512)


def test_every_step_is_paid_for():
    assert ran(every_prompt, 60_000).steps == np.ceil(60_000 / 512)
    assert ran(every_prompt, 60_000).completions[-1] == 512 * ran(every_prompt, 60_000).steps
    assert ran(every_prompt, 60_000, K=64).steps == ran(every_prompt, 60_000).steps
    # 0.11 of the first groups are live: ten draws of 64 hold some 73 of them
    assert 8 * 512 <= ran(live_groups, 60_000).completions[1] <= 10 * 512


def test_the_live_share_is_that_of_all_groups_drawn():
    run = ran(every_prompt, 200_000)
    p = 1 / (1 + np.exp(pool().difficulty))
    assert np.nanmean(run.live[1:6]) == pytest.approx((1 - p**8 - (1 - p) ** 8).mean(), abs=0.05)
    assert ran(live_groups, 200_000).live[1] == pytest.approx((1 - p**8 - (1 - p) ** 8).mean(), abs=0.05)


def test_an_empty_list_trains_nothing():
    unsolvable = curation.Pool(np.full(200, 60.0), np.zeros(200, bool))
    run = curation.train(unsolvable, a_list, 20_000, np.random.default_rng(0))
    assert run.ability == 0 and np.isnan(run.live).all() and run.completions[-1] >= 20_000


def test_a_prompt_with_a_wrong_key_is_right_by_accident():
    learner = curation.Learner(pool(0.3), np.random.default_rng(0))
    learner.ability = 20.0
    assert set(learner.pass_rates()[pool(0.3).wrong_key]) == {0.002}
    assert pool(0.3).wrong_key.mean() == pytest.approx(0.3, abs=0.03)
    assert learner.solved() > 0.99
