"""The lesson on curation: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial

import numpy as np
import pytest

from sim.estimators import attempts, difficulty, group_baselines
from sim.experiments import curation as sim
from sim.experiments import data_stages
from sim.worlds import prompt_pool
from tests.lessons import spreads
from widgets.curation import widget as curation
from widgets.curation.widget import AGAIN, LIST, PREDICTED, Knobs

values = partial(spreads.values, "18a_curation")
RENEWED = dict(way=LIST, tries=2, renew="20000")
NEVER = dict(way=LIST, keep="never solved")
live, cost = group_baselines.live_probability, group_baselines.completions_per_live_group


@cache
def result(**knobs):
    (r,) = curation.run(Knobs(**knobs))
    return r


def solved(**knobs):
    return curation.solved(Knobs(**knobs), result(**knobs).run)


def ends(**knobs):
    return lambda seed: solved(seed=seed, **knobs)


def known(seed):
    """% solved by 80,000 rollouts of whoever knows the pass rates."""
    rng = np.random.default_rng(seed)
    return 100 * sim.train(sim.pool(np.random.default_rng(5)), sim.known, 80_000, rng).at(79_000)


MEASURED = {
    **{f"list of 60,000, {n} tries": ends(way=LIST, budget=60_000, tries=n) for n in (2, 4, 8, 16, 32)},
    "random": ends(),
    "list": ends(way=LIST),
    "renewed list": ends(**RENEWED),
    "prediction": ends(way=PREDICTED),
    "renewed list, 30,000 of an easier pool": ends(budget=30_000, mean=0.0, **RENEWED),
    "prediction, 30,000 of an easier pool": ends(budget=30_000, mean=0.0, way=PREDICTED),
    "again, 120,000": ends(way=AGAIN, budget=120_000),
    "random, 120,000": ends(budget=120_000),
    "again": ends(way=AGAIN),
    "known rates, 80,000": known,
    "random, wrong keys": ends(wrong=0.3),
    "list, wrong keys": ends(way=LIST, wrong=0.3),
    "random, groups of 64": ends(K=64),
}


def half_live(p):
    """Completions with which half of the groups of a prompt are live."""
    return next(K for K in range(2, 65) if attempts.informative(p, K) >= 0.5)


def noise(p, K):
    """Signal to noise of one completion."""
    return group_baselines.signal_to_noise_per_completion(p, K, group_baselines.leave_one_out)


def mean_push(advantage):
    return group_baselines.estimate_moments(0.01, 8, advantage)[0]


GRID = np.arange(32_000, 200_000, 500)


@cache
def lead():
    """Share of the pool by which a list of eight tries is ahead of prompts at random, along GRID."""
    r = result(way=LIST, budget=200_000)
    return np.array([r.run.at(x) - r.plain.at(x) for x in GRID])


def overtaken():
    """Rollouts at which it is no longer ahead."""
    return GRID[(lead() < 0) & (GRID > 45_000)].min()


@cache
def curated():
    return data_stages.curated(prompt_pool.collected(np.random.default_rng(0)), np.random.default_rng(1))


def out(stage):
    """What the stage takes out."""
    return curated().stages[stage - 2].n - curated().stages[stage - 1].n


def never(what):
    """Of what eight tries never solved, the share with a wrong key, or with a good one and a rate from 0.03 to 0.3."""
    wrong, rate = curated().pool.wrong_key, curated().rate
    return dict(wrong=wrong, good=(rate > 0.03) & (rate < 0.3) & ~wrong)[what][curated().never].mean()


def owns(*deviations):
    """Shares of the gradient of 48 groups with a verifier and 16 with a reward model."""
    return difficulty.gradient_share((48, 16), deviations)


def test_two_tries_differ_for_at_most_half_of_the_prompts():
    p = np.linspace(0, 1, 101)
    assert attempts.informative(p, 2).max() == pytest.approx(0.5)


def test_sixteen_tries_leave_nothing_to_train_with():
    pool, rng = sim.pool(np.random.default_rng(5)), np.random.default_rng(0)
    assert sim.train(pool, partial(sim.a_list, tries=16), 60_000, rng).steps == 0


def test_two_tries_make_the_best_list_for_sixty_thousand_in_every_draw():
    ends = np.array([values(f"list of 60,000, {tries} tries") for tries in (2, 4, 8, 16, 32)])
    assert (np.diff(ends, axis=0) <= 0).all() and (ends[0] > ends[1]).all()


def test_two_groups_of_three_are_dead():
    assert result().run.live_share == pytest.approx(1 / 3, abs=0.03)


def test_a_list_that_is_made_once_ends_far_behind_prompts_at_random():
    assert (values("list") < values("random") - 15).all()


def test_a_list_that_is_renewed_is_ahead_of_prediction_in_every_draw():
    renewed, predicted = values("renewed list"), values("prediction")
    assert (renewed > predicted).all() and (predicted > values("random")).all()


def test_which_of_the_two_wins_depends_on_the_pool_and_the_budget():
    words = ", 30,000 of an easier pool"
    assert (values(f"renewed list{words}") < values(f"prediction{words}")).all()


def test_whoever_knew_the_pass_rates_would_need_less_than_half():
    best = np.maximum(values("renewed list"), values("prediction"))
    assert (values("known rates, 80,000") > best).all()


def test_wrong_keys_cost_prompts_at_random_much_and_a_list_little():
    assert abs(values("list") - values("list, wrong keys")).max() < 5
    assert (values("random") - values("random, wrong keys")).min() > 15


def test_a_large_group_ends_where_a_small_one_does():
    large, small = values("random, groups of 64"), values("random")
    error = np.sqrt((large.var(ddof=1) + small.var(ddof=1)) / 20)
    assert abs(large.mean() - small.mean()) < 3 * error < 1.6
