"""The numbers of the lesson on several reward models, recomputed."""

import re
from functools import cache

import numpy as np
import pytest

from sim.estimators import pooled_score, reward_ensemble
from sim.experiments import many_reward_models
from sim.experiments.many_reward_models import HOWS, ONE, OUT, SQUARES, STRAIGHT
from tests.lessons import spreads
from tests.lessons.prose import Lesson, agrees
from widgets.reward_models import figures


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
LESSON = Lesson("15a")
kept = LESSON.kept
TEXT = LESSON.text


def said(words, digits=2):
    """What the text has to say of a quantity, once it says so."""
    mean, deviation = spreads.summary(kept(words))
    text = f"{mean:.{digits}f} ± {deviation:.{digits}f}"
    assert text in TEXT, f"{words}: {text}"
    agrees(text, kept(words))
    return text


def test_four_models_made_into_one():
    four = np.array([[1.0], [0.4], [1.6], [0.8]])
    for how, text in (("mean", "0.95"), ("lowest", "0.40"), ("uncertainty", "0.86")):
        assert f"{float(reward_ensemble.aggregate(four, how, 0.5)[0]):.2f}" == text and text in TEXT
    LESSON.says("0.1875", float(four.var()))


def test_what_a_mean_of_ten_keeps():
    LESSON.says("0.82", reward_ensemble.variance_share(10, 0.8))


def test_the_fan_closes_around_a_wrong_direction():
    said("fan, 20 pairs", 1)
    said("fan, 3000 pairs", 1)
    said("fan points, 3000 pairs", 1)
    assert (kept("fan points, 3000 pairs") > 45 + 10).all() and "people's own points 45" in TEXT


def test_what_all_labelers_fall_for_over_twenty_draws():
    for how in (ONE, "lowest"):
        said(f"pay 1, {how}")
    LESSON.counts("In {} of twenty draws people prefer the start", kept("pay 1, lowest") < 0.5)
    said("tokens", 0)
    others = ("pay 1, mean", "pay 1, uncertainty", "pay 1, lowest of ten", "pay 1, lowest, 3,000 pairs")
    assert all(0.36 < kept(other).mean() < 0.39 for other in others) and "win between 0.36 and 0.39" in TEXT
    LESSON.says("0.83", kept(f"pay 1, {OUT}").mean())
    assert np.ptp(kept(f"pay 1, {OUT}")) < 0.005, "in every draw"


def test_the_five_agree_more_on_the_new_than_on_the_old():
    assert round(kept("agree, start").mean()) == 94 and "94 of 100 pairs" in TEXT
    assert round(kept("agree, policy").mean(), 1) == 99.9 and "Of 99.9." in TEXT
    assert (kept("agree, policy") > kept("agree, start")).all()


def test_caution_saves_the_runs_that_few_pairs_lose():
    lost = {how: of_500(f"30 pairs, {how}, below of 25") for how in HOWS if how != OUT}
    assert lost == {ONE: 115, "mean": 127, "lowest": 76, "uncertainty": 44}
    assert "below the start in 115 of 500 draws, [the mean" in TEXT
    assert "} in 127, the lowest in 76, [uncertainty]" in TEXT and "} in 44." in TEXT
    said("agree, start, 30 pairs", 0)
    said("agree, policy, 30 pairs", 0)
    seen = 1 - (1 - 1 / 30) ** 30
    assert round(100 * seen) == 64 and "sees only 64 % of them" in TEXT


def of_500(words):
    """How many of 500 draws, of a share of 25 that is kept a seed."""
    return round(500 * kept(words).mean())


def test_with_enough_honest_pairs_the_lowest_costs():
    for how, number in ((ONE, "0.90"), ("lowest", "0.88"), ("uncertainty", "0.89")):
        LESSON.says(number, kept(f"squares, {how}, of 25").mean())
    behind = kept(f"squares, {ONE}, of 25") - kept("squares, lowest, of 25")
    assert behind.mean() > 3 * behind.std(ddof=1) / np.sqrt(len(behind)) and "No: 0.88 against 0.90." in TEXT
    LESSON.says("0.81", kept(f"squares, {OUT}, of 25").mean())
    assert (kept("squares, lowest, of 25") > kept(f"squares, {OUT}, of 25")).all()


@pytest.mark.parametrize("how", HOWS)
def test_the_table_of_labels_that_lie_a_little(how):
    (row,) = re.findall(rf"^ *\| {how} \| (0.*) \|$", TEXT, flags=re.M)
    expected = []
    for labels in ("squares", "squares, pay 1"):
        expected += [f"{kept(f'{labels}, {how}, of 25').mean():.2f}", str(of_500(f"{labels}, {how}, below of 25"))]
    assert row.split(" | ") == expected


def test_models_that_bend_do_as_well_alone_and_both_have_a_tail():
    means = [kept(f"squares, pay 1, {how}, of 25").mean() for how in (ONE, "lowest")]
    for mean in means:
        LESSON.says("0.83", mean)
    lost = [of_500(f"squares, pay 1, {how}, below of 25") for how in ("lowest", ONE)]
    assert min(lost) > 0 and f"{lost[0]} and {lost[1]} of the 500 end below the start" in TEXT


def test_ten_models_that_may_bend_win_a_little_more_and_not_always():
    ten = kept("squares, pay 1, ten models, of 25")
    LESSON.says("0.84", ten.mean())
    for how in (ONE, OUT):
        ahead = ten - kept(f"squares, pay 1, {how}, of 25")
        assert ahead.mean() > 3 * ahead.std(ddof=1) / np.sqrt(len(ahead))
    lost = of_500("squares, pay 1, ten models, below of 25")
    assert f"{lost} of the 500 end below the start" in TEXT and lost > 0


def test_what_heads_pick():
    _, mean = pooled_score.picked("mean", 256, np.random.default_rng(0), 4000)
    assert round(mean) == 26 and "26 tokens where the average is 34" in TEXT
    assert figures.heads_said(1).count("34") == 3
    assert np.sqrt(64 / 4) == 4 and "four times the noise" in TEXT


def test_what_trainers_add_to_the_loss():
    win, lose = np.array([1.2, -0.3, 0.8]), np.array([0.4, 0.5, -1.0])
    plain = reward_ensemble.margin_loss(win, lose, np.zeros(3))
    LESSON.says("0.565", plain)
    LESSON.says("0.746", reward_ensemble.margin_loss(win, lose, np.array([0.5, 0.2, 1.0])))
    LESSON.says("0.574", plain + reward_ensemble.centering(win, lose, 0.01))
