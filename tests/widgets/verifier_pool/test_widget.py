from functools import partial

import numpy as np
import pytest

from sim.experiments import loaded_pool
from tests.widgets import catalogue
from widgets.verifier_pool import widget
from widgets.verifier_pool.widget import COIN, CPU, LUCK, SHORT, START, THOROUGH, Knobs

last = partial(catalogue.last, widget)
broken = partial(catalogue.broken, widget)
cause = partial(catalogue.cause, widget)


def solved(**knobs):
    return widget.final(last(**knobs))


def test_the_default_gives_up_the_quick_way():
    assert solved() == pytest.approx(0.694, abs=0.005) and abs(START - 0.6125) < 1e-9
    assert last().by_load.max() == 0 and last().policy[-1, THOROUGH] > 0.9


def test_four_slots_a_core_take_as_long_and_make_verdicts():
    assert broken(slots=128).fix == dict(clock=CPU)
    assert last(slots=128).seconds.mean() == pytest.approx(last().seconds.mean(), rel=0.04)
    assert last(slots=128).by_load[0] > 0.15 and 0.2 < last(slots=128).policy[-1, THOROUGH] < 0.5


def test_the_answer_to_the_question():
    guess = widget.GUESS
    took = last(slots=128).seconds.mean() / last().seconds.mean()
    assert guess.knobs == Knobs(slots=128)
    assert min((4, 2, 1), key=lambda times: abs(times - took)) == (4, 2, 1)[guess.right]


def test_eight_cores_are_slow_by_one_clock_and_wrong_by_the_other():
    assert solved(cores=8) == pytest.approx(0.55, abs=0.01) and solved(cores=8, clock=CPU) > 0.68
    assert last(cores=8).seconds[-1] < last(cores=8).seconds[0] < last(cores=8, clock=CPU).seconds[-1]


def test_a_slot_a_core_and_a_longer_limit_mend_load_too():
    assert solved(cores=8, slots=8) > 0.68 and solved(slots=128, limit=30) > 0.69


def test_a_short_limit_does_the_same_in_an_idle_pool():
    assert broken(limit=4).fix == dict(limit=30) and last(limit=4).by_load.max() == 0


def test_start_up_eats_the_limit():
    assert solved(startup=2) < solved() and cause(startup=5) == SHORT
    assert last(startup=2).by_load.max() == 0 < last(startup=2).by_startup.min()
    assert "no verdict" in widget.holds(Knobs(), last())
    assert "no verdict" not in widget.holds(Knobs(startup=2), last(startup=2))
    assert last(startup=5).seconds.mean() > last().seconds.mean() + 20


def test_tries_pay_the_lucky():
    break_ = broken(tries=8)
    assert break_.cause == LUCK and break_.fix == dict(tries=1) and last(tries=8).policy[-1, COIN] > 0.8
    assert solved(tries=6) == pytest.approx(0.475, abs=0.02) and cause(tries=3) is None


def test_tests_that_fail_by_chance_slow_training_and_a_second_try_mends():
    one, two = (last(flake=1, tests=100, tries=tries).policy[-1, THOROUGH] for tries in (1, 2))
    assert one < two < last().policy[-1, THOROUGH] + 0.01
    assert last(flake=1, tests=10).policy[-1, THOROUGH] > one


def test_dead_sandboxes_left_out_cost_nothing_and_run_again_cost_seconds():
    wrong, out, again = (last(deaths=way) for way in (loaded_pool.WRONG, loaded_pool.OUT, loaded_pool.AGAIN))
    assert wrong.policy[-1, THOROUGH] < out.policy[-1, THOROUGH] - 0.01
    assert again.busy.mean() > out.busy.mean() + 0.02 and again.by_pool.max() == 0 < wrong.by_pool.min()


def test_several_faults_are_listed_and_all_undone():
    break_ = broken(slots=128, tries=8)
    assert set(break_.fix) == {"clock", "tries"} and "Several faults" in break_.why
    assert broken(slots=128, limit=4).fix == dict(limit=30), "one is enough there"


def test_what_learned_hardly_is_said_to_be_worse():
    assert widget.broken(Knobs(slots=64), last(slots=64)) is None
    assert "61 of 100 before training" in widget.worse(Knobs(slots=64), last(slots=64))
    assert "hardly anything" in widget.worse(Knobs(limit=4, startup=5), last(limit=4, startup=5))


def test_a_knob_that_changes_nothing_is_named():
    assert set(widget.idle(Knobs())) == {"tests", "clock"}
    assert widget.idle(Knobs(slots=64, flake=1)) == {}


def test_the_first_batch_loses_its_long_programs_by_slots_a_core():
    crowd = last().crowd[:, THOROUGH]
    assert (np.diff(crowd) < 0.01).all() and crowd[0] - crowd[2] > 0.2


def test_the_picture_rings_what_the_verdict_says_and_nothing_where_nothing_broke():
    for knobs in ({}, dict(slots=128), dict(cores=8), dict(limit=4), dict(tries=8)):
        k, r = Knobs(**knobs), last(**knobs)
        panel = widget.figure(k, r)[0]
        (ring,) = [mark for mark in panel["columns"][0][0]["marks"] if mark["kind"] == "ring"]
        break_ = broken(**knobs)
        assert ring["seen"] == bool(break_)
        assert ring["rows"] == (0, 0), "its words stand above all rows, and cover no program"
        if break_:
            assert ring["words"] == widget.seen_at(k, r, break_.cause).words
