"""The order of the tests of a run, and what is said where something is not known."""

from dataclasses import replace

import pytest

from sim.estimators.diagnosis import Condition, Test, diagnose

STALE = Test("gap", "gap", 0.1, "stale", lesson="22c")
HACKED = Test(*("held-out", "held_out_gain", -0.1, "hacked"), below=True, also=(Condition("gain", 0.1),), lesson="03")
NARROW = Test(
    *("entropy", "entropy", 0.35, "collapsed"),
    below=True,
    also=(Condition("held_out", 0.85, below=True, instead=Condition("gain", 0.2, below=True)),),
)
TESTS = (STALE, HACKED, NARROW)
LEARNED = Condition("held_out", 0.85, instead=Condition("gain", 0.2))
FINE = dict(gap=0.0, held_out_gain=0.4, gain=0.5, entropy=0.02, held_out=0.95)


def verdict(**changed):
    return diagnose(TESTS, FINE | changed, LEARNED).verdict


def test_nothing_fires_on_a_run_that_has_learned_however_narrow_it_is():
    found = diagnose(TESTS, FINE, LEARNED)
    assert (found.verdict, found.fired, found.not_run, found.lesson) == ("healthy", (), (), "")
    assert found.quiet == tuple((test, FINE[test.quantity]) for test in TESTS)


def test_the_first_that_fires_names_the_fault_and_the_later_ones_are_still_told():
    found = diagnose(TESTS, FINE | dict(gap=0.3, held_out_gain=-0.4, held_out=0.0), LEARNED)
    assert (found.verdict, found.lesson) == ("stale", "22c")
    assert found.fired == ((STALE, 0.3), (HACKED, -0.4), (NARROW, 0.02))


def test_a_held_out_score_that_falls_is_hacking_only_where_the_reward_rises():
    assert verdict(held_out_gain=-0.4) == "hacked"
    assert verdict(held_out_gain=-0.4, gain=0.1) == "healthy"  # the gain is at its threshold, not above


@pytest.mark.parametrize("value, fires", [(0.0999, False), (0.1, False), (0.1001, True)])
def test_a_threshold_fires_beyond_itself_and_not_at_itself(value, fires):
    assert STALE.fires(dict(gap=value)) is fires


def test_below_turns_the_comparison():
    assert [replace(STALE, below=True).fires(dict(gap=g)) for g in (0.0999, 0.1, 0.1001)] == [True, False, False]


def test_without_a_held_out_score_its_test_does_not_run_and_the_entropy_asks_the_reward():
    hidden = {name: value for name, value in FINE.items() if not name.startswith("held_out")}
    assert diagnose(TESTS, hidden, LEARNED).not_run == (HACKED,)
    assert diagnose(TESTS, hidden, LEARNED).verdict == "healthy"
    assert diagnose(TESTS, hidden | dict(gain=0.1), LEARNED).verdict == "collapsed"
    assert diagnose(TESTS, hidden | dict(gain=0.1, entropy=1.0), LEARNED).verdict == "undertrained"


def test_what_is_not_known_neither_fires_nor_holds():
    assert diagnose(TESTS, {}, LEARNED).not_run == TESTS
    assert diagnose(TESTS, {}, LEARNED).verdict == "undertrained"
    assert not STALE.fires({}) and not Condition("gap", 0.1, below=True).holds({})


@pytest.mark.parametrize(
    "test, found, times",
    [
        (STALE, dict(gap=0.3), 3),
        (STALE, dict(gap=0.0), 0),
        (HACKED, dict(held_out_gain=-0.4, gain=0.2), 2),  # 4 and 2: the lesser
        (HACKED, dict(held_out_gain=0.4, gain=0.2), -4),
        (NARROW, dict(entropy=0.07, held_out=0.17), 5),
        (NARROW, dict(entropy=0.0, held_out=0.17), 5),
        (NARROW, dict(entropy=0.07, gain=0.8), 0.25),
    ],
)
def test_how_far_beyond_its_threshold_a_test_is(test, found, times):
    assert test.times(found) == pytest.approx(times)
    assert test.fires(found) == (times > 1)
