"""The lesson on several reward models: what its numbers are computed by, and what it says without a number."""

from functools import cache

import numpy as np

from sim.estimators import pooled_score, reward_ensemble
from sim.experiments import many_reward_models
from sim.experiments.many_reward_models import HOWS, ONE, OUT, SQUARES, STRAIGHT
from tests.lessons import spreads
from widgets.reward_models import figures

FOUR = np.array([[1.0], [0.4], [1.6], [0.8]])  # nats, by four models
variance = FOUR.var()
made_into_one = {how: reward_ensemble.aggregate(FOUR, how, 0.5)[0] for how in HOWS[1:4]}
WIN, LOSE, MARGINS = np.array([1.2, -0.3, 0.8]), np.array([0.4, 0.5, -1.0]), np.array([0.5, 0.2, 1.0])


def with_centering(coefficient):
    plain = reward_ensemble.margin_loss(WIN, LOSE, np.zeros(3))
    return plain + reward_ensemble.centering(WIN, LOSE, coefficient)


@cache
def picked(head, draws):
    """Tokens of the best of so many draws, on average."""
    return pooled_score.picked(head, draws, np.random.default_rng(0), 4000)[1]


@cache
def one(how, features, pairs, bias, kl, E, seed):
    (run,) = many_reward_models.run(how, features, pairs, bias, kl, E, 0.5, [seed])
    return run


def wins(how, features=STRAIGHT, pairs=200, bias=0.0, kl=8.0, E=5):
    return lambda seed: one(how, features, pairs, bias, kl, E, seed).outcome.wins


def of_more(measure, how, pairs, bias, kl, E=5):
    """The mean of 25 further draws, `measure` of wins, where squares are seen: twenty seeds are 500 draws."""
    return lambda seed: float(
        np.mean(
            [
                measure(one(how, SQUARES, pairs, bias, kl, E, draw).outcome.wins)
                for draw in range(25 * seed, 25 * seed + 25)
            ]
        )
    )


def below(wins):
    return wins < 0.5


def tokens(seed):
    """Of a typical completion of the lowest of five, where labelers pay 1."""
    return float(40 * 2 ** (one("lowest", STRAIGHT, 200, 1.0, 8.0, 5, seed).centre[1] / 2))


def agreed(of, features, pairs, bias, kl, how="lowest"):
    """Of 100 pairs those that all five put in the same order."""
    return lambda seed: 100 * getattr(one(how, features, pairs, bias, kl, 5, seed), of)


def angles(pairs, seed):
    """Degrees of five models from quality toward length."""
    theta = many_reward_models.fitted("mean", STRAIGHT, pairs, 1.0, 5, seed)
    return np.degrees(np.arctan2(theta[:, 1], theta[:, 0]))


MEASURED = {
    **{f"pay 1, {how}": wins(how, bias=1.0) for how in HOWS},
    "pay 1, lowest of ten": wins("lowest", bias=1.0, E=10),
    "pay 1, lowest, 3,000 pairs": wins("lowest", bias=1.0, pairs=3000),
    **{f"30 pairs, {how}, below of 25": of_more(below, how, 30, 0.0, 16.0) for how in HOWS if how != OUT},
    **{f"squares, {how}, of 25": of_more(float, how, 200, 0.0, 8.0) for how in HOWS},
    **{f"squares, {how}, below of 25": of_more(below, how, 200, 0.0, 8.0) for how in HOWS},
    **{f"squares, pay 1, {how}, of 25": of_more(float, how, 200, 1.0, 8.0) for how in HOWS},
    **{f"squares, pay 1, {how}, below of 25": of_more(below, how, 200, 1.0, 8.0) for how in HOWS},
    "squares, pay 1, ten models, of 25": of_more(float, "uncertainty", 200, 1.0, 8.0, 10),
    "squares, pay 1, ten models, below of 25": of_more(below, "uncertainty", 200, 1.0, 8.0, 10),
    "tokens": tokens,
    "agree, start": agreed("agree_start", STRAIGHT, 200, 1.0, 8.0),
    "agree, policy": agreed("agree_policy", STRAIGHT, 200, 1.0, 8.0),
    "agree, start, 30 pairs": agreed("agree_start", SQUARES, 30, 0.0, 16.0),
    "agree, policy, 30 pairs": agreed("agree_policy", SQUARES, 30, 0.0, 16.0, "mean"),
    **{f"fan, {n} pairs": lambda seed, n=n: float(np.ptp(angles(n, seed))) for n in (20, 3000)},
    "fan points, 3000 pairs": lambda seed: float(angles(3000, seed).mean()),
}


def values(words):
    return spreads.values("15a_reward_models", words)


def no_better():
    """Mean wins of four ways, where labelers pay for length."""
    return [values(f"pay 1, {how}").mean() for how in ("mean", "uncertainty", "lowest of ten", "lowest, 3,000 pairs")]


def lost(words):
    """How many of 500 draws end below the start."""
    return round(500 * values(f"{words}, below of 25").mean())


def far_below():
    """How many of sixteen runs end below the start, 16 nats from it, with 3,000 honest pairs and linear models."""
    return sum(one("lowest", STRAIGHT, 3000, 0.0, 16.0, 5, seed).outcome.wins < 0.5 for seed in range(16))


def clearly_above(values, others):
    ahead = values - others
    return ahead.mean() > 3 * ahead.std(ddof=1) / np.sqrt(len(ahead))


def test_the_fan_closes_around_a_direction_that_is_not_peoples_own():
    assert (values("fan points, 3000 pairs") > 45 + 10).all()


def test_the_five_agree_more_on_the_new_than_on_the_old():
    assert (values("agree, policy") > values("agree, start")).all()


def test_with_enough_honest_pairs_the_lowest_costs():
    lowest = values("squares, lowest, of 25")
    assert clearly_above(values(f"squares, {ONE}, of 25"), lowest)
    assert (lowest > values(f"squares, {OUT}, of 25")).all()


def test_models_that_bend_do_as_well_alone_and_both_have_a_tail():
    alone, lowest = (values(f"squares, pay 1, {how}, of 25").mean() for how in (ONE, "lowest"))
    assert round(alone, 2) == round(lowest, 2)
    assert min(lost(f"squares, pay 1, {how}") for how in (ONE, "lowest")) > 0


def test_ten_models_that_may_bend_win_a_little_more_and_not_always():
    ten = values("squares, pay 1, ten models, of 25")
    assert all(clearly_above(ten, values(f"squares, pay 1, {how}, of 25")) for how in (ONE, OUT))
    assert lost("squares, pay 1, ten models") > 0


def test_no_head_prefers_a_length_on_average():
    assert figures.heads_said(1).count("34") == 3
