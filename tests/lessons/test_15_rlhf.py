"""The numbers of the lesson on RLHF, recomputed."""

from functools import cache

import numpy as np
import pytest

from sim.estimators import bradley_terry, overoptimization
from sim.worlds import preferences
from tests.lessons.prose import Lesson
from widgets.rlhf import figures, widget
from widgets.rlhf.widget import ADAPTIVE, BEST, FREE, UPDATES, Knobs

LESSON = Lesson("15")
SQUARES = "their squares too"


@cache
def run(**knobs):
    (result,) = widget.run(Knobs(**knobs))
    return result


@cache
def here(**knobs):
    return widget.ended(Knobs(**knobs))[0]


def wins(**knobs):
    return lambda seed: here(seed=seed, **knobs).wins


def accuracy(**knobs):
    return lambda seed: 100 * run(seed=seed, **knobs).held_out


def peak(**knobs):
    """The KL at which gold peaks by the law."""

    def measured(seed):
        alpha, curvature = run(seed=seed, **knobs).law
        return (alpha / (2 * curvature)) ** 2

    return measured


def tail(of, **knobs):
    """Of the wins after each of the last twelve updates."""
    return lambda seed: of(o.wins for o in run(seed=seed, **knobs).path[-12:])


LOW, TURNED = dict(beta=0.15), dict(beta=0.15, flip=0.2)

MEASURED = {
    "wins of the opening": wins(how=UPDATES),
    "wins of its other run": wins(how=UPDATES, **LOW),
    "wins": wins(**LOW),
    "wins, 3,000 pairs": wins(pairs=3000, **LOW),
    "wins, squares": wins(features=SQUARES, **LOW),
    "wins, a fifth turned": wins(**TURNED),
    "accuracy": accuracy(**LOW),
    "accuracy, a fifth turned": accuracy(**TURNED),
    "peak": peak(**LOW),
    "peak, a fifth turned": peak(**TURNED),
    "best of 256": wins(how=BEST, N=256),
    "best of a million": wins(how=BEST, N=1_000_000),
    "gain 4, least wins": tail(min, how=ADAPTIVE, gain=4.0),
    "gain 4, most wins": tail(max, how=ADAPTIVE, gain=4.0),
}


def test_the_forty_comparisons():
    LESSON.says("1.10", np.log(30 / 10))
    win, lose = np.zeros(40, dtype=np.int64), np.ones(40, dtype=np.int64)
    a, b = bradley_terry.fit(np.eye(2), win, lose, lam=0.1)
    assert f"{a - b:.2f} nats" in figures.least(40) and "5.06" in figures.least(40)
    assert "1.10" in figures.least(30)


def test_what_the_reward_model_gets_right():
    world, _ = widget.worlds(1.0)
    LESSON.says("70", 100 * preferences.agreement(world))
    LESSON.says("75.3", 100 * run().held_out)
    LESSON.says("77.8", 100 * run().ceiling)
    by_seed, ceiling = figures.held_out()
    assert by_seed[0, 3] == pytest.approx(100 * run().held_out) and ceiling == pytest.approx(100 * run().ceiling)
    tenfold = by_seed[:, figures.PAIRS.index(2000)] - by_seed[:, figures.PAIRS.index(200)]
    assert tenfold.max() < 1  # "less than one point", in each of eight draws


def test_half_the_price_is_twice_the_score_and_four_times_the_distance():
    kl, score = figures.paid()
    for half, whole in ((0.5, 1.0), (0.4, 0.8), (0.3, 0.6), (0.2, 0.4)):
        at, of = figures.PRICES.index(half), figures.PRICES.index(whole)
        assert (score[at] / score[of], kl[at] / kl[of]) == pytest.approx((2, 4), rel=1e-3)


def test_the_two_runs_of_the_opening():
    plain, other = run(how=UPDATES), run(how=UPDATES, beta=0.15)
    assert (widget.OPENING.plain, widget.OPENING.other) == (Knobs(how=UPDATES), Knobs(how=UPDATES, beta=0.15))
    LESSON.says("79", 100 * plain.here.wins)
    wins = [o.wins for o in other.path]
    assert int(np.argmax(wins)) == 6 and "after six updates" in LESSON.text
    assert all(np.diff([o.proxy for o in other.path]) > 0)
    LESSON.says("28", here(beta=0.15).kl)
    assert here(beta=0.15).wins == pytest.approx(0.25, abs=0.005) and "one comparison in four" in LESSON.text
    assert here(beta=0.15).off > 0.999


kept = LESSON.kept


def test_the_lower_price_ends_below_the_start_in_every_draw():
    assert kept("wins of the opening").min() > 0.55 and kept("wins of its other run").max() < 0.5


def test_more_labels_do_not_help_and_squares_help_in_most_draws():
    LESSON.says("0.13", here(beta=0.15, pairs=3000).wins)
    assert kept("wins, 3,000 pairs").max() < 0.5
    LESSON.says("0.90", here(beta=0.15, features=SQUARES).wins)
    wins = kept("wins, squares")
    LESSON.counts("they end below one half in {} of twenty", wins < 0.5)
    assert "wins fall below 0.06" in LESSON.text and here(beta=0.15, features=SQUARES, seed=7).wins < 0.06


def test_accuracy_falls_and_wins_rise_with_noise():
    LESSON.says("73.1", 100 * run(beta=0.15, flip=0.2).held_out)
    LESSON.says("0.46", here(beta=0.15, flip=0.2).wins)
    LESSON.says("0.25", here(beta=0.15).wins)
    assert (
        kept("wins, a fifth turned") > kept("wins")
    ).all() and "wins are lower in each of twenty draws" in LESSON.text
    LESSON.counts(
        "wins rise in each, and accuracy drops in {}", drops := kept("accuracy, a fifth turned") < kept("accuracy")
    )
    LESSON.counts("and accuracy is higher in {}", drops)


def test_best_of_n():
    LESSON.says("0.82", here(how=BEST, N=256).wins)
    LESSON.says("0.70", here(how=BEST, N=1_000_000).wins)


def test_a_perfect_reward():
    LESSON.says("0.92", here(perfect=True, beta=0.1).wins)
    LESSON.says("0.945", here(perfect=True, beta=0.003).wins)
    LESSON.says("273", np.exp(here().entropy))
    assert round(np.exp(here(perfect=True, beta=0.003).entropy)) == 2
    LESSON.says("3.24", here(perfect=True, beta=0.1).gold)
    LESSON.says("3.60", here(perfect=True, beta=0.001).gold)
    LESSON.says("48", np.exp(here(perfect=True, beta=0.1).entropy))
    assert round(np.exp(here(perfect=True, beta=0.001).entropy)) == 1


def test_the_controller():
    assert here(how=ADAPTIVE).kl == pytest.approx(4.4, abs=0.01)
    LESSON.says("0.01", min(o.wins for o in run(how=ADAPTIVE, gain=4.0).path[-12:]))
    assert kept("gain 4, least wins").max() < 0.05 and kept("gain 4, most wins").min() > 0.6


def test_the_law():
    alpha, curvature = run().law
    LESSON.says("1.97", alpha)
    LESSON.says("0.472", curvature)
    LESSON.says("4.38", (alpha / (2 * curvature)) ** 2)
    LESSON.says("17.5", (alpha / curvature) ** 2)


def test_with_a_fifth_of_the_labels_turned_the_peak_moves():
    alpha, curvature = run(**TURNED).law
    LESSON.says("1.27", peak := (alpha / (2 * curvature)) ** 2)
    LESSON.says("5.1", 4 * peak)  # gold is back at the start's at twice the root of the peak's KL
    LESSON.counts("In {} of twenty draws the peak moves outward", kept("peak, a fifth turned") > kept("peak"))


def test_stopping_early():
    early, priced, late = here(how=FREE, updates=5), here(), here(how=FREE, updates=13)
    assert (early.wins, early.kl) == pytest.approx((priced.wins, priced.kl), abs=1e-9)
    assert late.wins < 0.5


def test_a_factor_of_a_fifth_is_twenty_five_times_the_kl():
    beta = overoptimization.controlled(1.0, 0.0, 4.4, 4.0)
    assert beta == pytest.approx(0.2) and 1 / beta**2 == pytest.approx(25)


def test_a_controller_with_gain_4_amplifies_what_it_starts_from():
    world, _ = widget.worlds(1.0)
    reward, _ = widget.learned(Knobs(), world)

    def prices(beta):
        for _ in range(60):
            _, kl = overoptimization.tilt(world.ref, reward, beta)
            beta = overoptimization.controlled(beta, kl, 4.4, 4.0)
            yield beta

    apart = np.array([abs(b / a - 1) for a, b in zip(prices(0.4), prices(0.4 * (1 + 1e-12)), strict=True)])
    assert 1e-12 < apart[0] < 5e-11 and 1e-3 < apart[-1] < 1e-2
