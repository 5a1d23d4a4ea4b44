"""The lesson on RLHF: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial

import numpy as np
import pytest

from sim.estimators import bradley_terry, overoptimization
from sim.worlds import preferences
from tests.lessons import spreads
from widgets.rlhf import figures, widget
from widgets.rlhf.widget import ADAPTIVE, BEST, FREE, UPDATES, Knobs

SQUARES = "their squares too"
kept = partial(spreads.values, "15_rlhf")


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


def gained_by_tenfold():
    """Points of accuracy, in each of eight draws."""
    by_seed, _ = figures.held_out()
    return by_seed[:, figures.PAIRS.index(2000)] - by_seed[:, figures.PAIRS.index(200)]


def most_liked_after():
    """Updates at the lower price."""
    return np.argmax([o.wins for o in run(how=UPDATES, **LOW).path])


def test_forty_of_forty_need_a_penalty():
    win, lose = np.zeros(40, dtype=np.int64), np.ones(40, dtype=np.int64)
    a, b = bradley_terry.fit(np.eye(2), win, lose, lam=0.1)
    assert f"{a - b:.2f} nats" in figures.least(40) and "5.06" in figures.least(40)
    assert f"{np.log(3):.2f}" in figures.least(30)


def test_the_figure_of_the_pairs_shows_the_reward_model_of_the_instrument():
    by_seed, ceiling = figures.held_out()
    assert by_seed[0, 3] == pytest.approx(100 * run().held_out) and ceiling == pytest.approx(100 * run().ceiling)


def test_half_the_price_is_twice_the_score_and_four_times_the_distance():
    kl, score = figures.paid()
    for half, whole in ((0.5, 1.0), (0.4, 0.8), (0.3, 0.6), (0.2, 0.4)):
        at, of = figures.PRICES.index(half), figures.PRICES.index(whole)
        assert (score[at] / score[of], kl[at] / kl[of]) == pytest.approx((2, 4), rel=1e-3)


def test_the_two_runs_of_the_opening():
    assert (widget.OPENING.plain, widget.OPENING.other) == (Knobs(how=UPDATES), Knobs(how=UPDATES, **LOW))
    assert all(np.diff([o.proxy for o in run(how=UPDATES, **LOW).path]) > 0)
    assert here(**LOW).off > 0.999


def test_the_lower_price_ends_below_the_start_in_every_draw_however_many_labels():
    assert kept("wins of the opening").min() > 0.55 and kept("wins of its other run").max() < 0.5
    assert kept("wins, 3,000 pairs").max() < 0.5


def test_a_controller_settles_or_overshoots():
    assert here(how=ADAPTIVE).kl == pytest.approx(4.4, abs=0.01)
    assert kept("gain 4, least wins").max() < 0.05 and kept("gain 4, most wins").min() > 0.6


def test_stopping_early():
    early, priced, late = here(how=FREE, updates=5), here(), here(how=FREE, updates=13)
    assert (early.wins, early.kl) == pytest.approx((priced.wins, priced.kl), abs=1e-9)
    assert late.wins < 0.5


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
