from functools import partial

import numpy as np
import pytest

from sim.experiments import rare_prize
from sim.experiments.rare_prize import PRIZE
from tests.widgets import catalogue
from widgets.entropy import widget
from widgets.entropy.widget import LATE, SOON, TIED, UPDATES, Knobs, final, many_found, others

last = partial(catalogue.last, widget)
broken = partial(catalogue.broken, widget)
cause = partial(catalogue.cause, widget)


def test_the_default_finds_the_prize_in_nearly_all_runs():
    assert many_found(last()) >= 21 and final(last()) > 0.9
    assert last().right[0] == pytest.approx(0.305) and last().updates == UPDATES


def test_without_a_bonus_the_runs_settle_on_the_common_way():
    assert many_found(last(alpha=0.0)) == 0
    assert final(last(alpha=0.0)) == pytest.approx(0.5, abs=0.01)


def test_a_large_bonus_goes_to_ways_that_are_never_right():
    assert others(last(alpha=0.5)) > 0.5
    shares = [others(last(alpha=alpha)) for alpha in (0.1, 0.2, 0.5)]
    assert shares == sorted(shares)


def test_a_price_ties_the_runs_to_the_start():
    assert many_found(last(beta=0.5)) == 0
    assert broken(beta=0.5).fix == dict(beta=0.0)
    assert widget.distance(Knobs()) == pytest.approx(np.log(200))


def test_a_rarer_prize_needs_a_larger_bonus():
    assert broken(odds=500).fix == dict(alpha=0.2)


@pytest.mark.when_changed()
def test_more_updates_find_a_rarer_prize_and_none_that_is_drawn_no_more():
    runs = {
        name: [rare_prize.found(widget.longer(Knobs(**knobs, seed=seed))).sum() for seed in range(3)]
        for name, knobs in ((LATE, dict(odds=500)), (SOON, dict(odds=200, alpha=0.0)))
    }
    assert min(runs[LATE]) > 12 and max(runs[SOON]) == 0


@pytest.mark.parametrize(
    "knobs, named",
    [
        (dict(odds=500), LATE),
        (dict(odds=500, alpha=0.05), SOON),  # the prize is drawn ever more rarely
        (dict(odds=500, beta=0.5), TIED),  # a price holds the runs, and not their number of updates
        (dict(alpha=0.0, beta=0.1), SOON),
    ],
)
def test_no_run_is_certain_too_soon_that_is_undecided_at_the_end(knobs, named):
    assert cause(**knobs) == named
    assert (last(**knobs).last.entropy.mean() < 0.5) == widget.settled(last(**knobs)) == (named == SOON)


def test_clip_higher_is_no_substitute_for_a_bonus():
    assert many_found(last(alpha=0.0, eps_high=0.28)) == 0


def test_adamw_finds_some_without_a_bonus():
    assert 2 < many_found(last(alpha=0.0, optimizer="AdamW")) < 20


def test_the_lower_bound_keeps_ways_where_coins_are_paid():
    nats = [last(eps_low=low).coins[:, -1].mean() for low in (0.1, 0.2, 1.0)]
    assert nats == sorted(nats, reverse=True) and nats[-1] < 0.1
    np.testing.assert_array_equal(last(alpha=0.0).coins, last().coins)


def test_several_faults_are_listed_and_all_undone():
    knobs = dict(alpha=0.0, beta=0.5)
    break_ = broken(**knobs)
    assert "no bonus" in break_.why and "costs 0.5" in break_.why and break_.fix == dict(alpha=0.1, beta=0.0)
    assert cause(**(knobs | break_.fix)) is None


def test_the_runs_in_the_picture_stand_for_the_twenty_four():
    for knobs in ({}, dict(alpha=0.0), dict(alpha=0.5), dict(beta=0.5), dict(odds=500)):
        found = rare_prize.found(last(**knobs).last)
        assert abs(found[: widget.PICTURED].mean() - found.mean()) <= 1 / widget.PICTURED, knobs


def test_the_dots_are_the_policy():
    panel = widget.figure(Knobs(), last())[0]
    dots = catalogue.marks(panel, "hundred")
    assert widget.THE_RUNS.startswith({4: "Four "}[len(dots)])
    assert [dict(mark["shares"])["followed"] for mark in dots] == last().last.pi[: widget.PICTURED, PRIZE].tolist()


def test_the_entropy_of_a_run_has_a_hump_while_it_finds_the_prize():
    frames = last().frames
    nats = np.array([frame.entropy for frame in frames])
    chance = np.array([frame.pi[:, PRIZE] for frame in frames])
    rises = []
    for run in np.flatnonzero(rare_prize.found(last().last)):
        crossing = int(np.argmax(chance[:, run] > 0.4))
        rises.append(nats[crossing, run] - nats[:crossing, run].min())
    assert min(rises) > 0 and np.median(rises) > 0.5
