"""Closed forms of the lesson on red teams, worked out by hand."""

import pytest

from sim.estimators.detection import audits_needed, bonus_wins, detect_probability, shared_hole, whole_class_shared


def test_the_chance_to_draw_a_hack_at_least_once():
    # 1 - 0.99^64, 1 - 0.95^64, 1 - 0.998^256
    assert detect_probability(0.01, 64) == pytest.approx(0.4744035125, abs=1e-9)
    assert detect_probability(0.05, 64) == pytest.approx(0.9624758608, abs=1e-9)
    assert detect_probability(0.002, 256) == pytest.approx(0.4010113826, abs=1e-9)


def test_how_many_completions_must_be_read():
    # ln 0.05 / ln 0.99 = 298.07, ln 0.05 / ln 0.997 = 997.08
    assert audits_needed(0.01, 0.95) == 299 and audits_needed(0.003, 0.95) == 998


@pytest.mark.parametrize("mass", [0.5, 0.03, 0.0007])
def test_one_completion_fewer_is_not_enough(mass):
    needed = audits_needed(mass, 0.95)
    assert detect_probability(mass, needed) >= 0.95 > detect_probability(mass, needed - 1)


def test_a_small_overlap_of_many_holes_shares_one():
    # 1 - 0.98^24, 1 - 0.95^24, 1 - 0.8^24
    assert shared_hole(0.02, 24) == pytest.approx(0.384, abs=5e-4)
    assert shared_hole(0.05, 24) == pytest.approx(0.708, abs=5e-4)
    assert shared_hole(0.2, 24) == pytest.approx(0.9953, abs=5e-5)
    assert shared_hole(0.0, 24) == 0


def test_a_class_of_four_is_shared_whole_far_less_often():
    # 1 - (1 - 0.2^4)^6 = 1 - 0.9984^6, 1 - (1 - 0.5^4)^6 = 1 - 0.9375^6
    assert whole_class_shared(0.2, 24, 6) == pytest.approx(0.0096, abs=5e-5)
    assert whole_class_shared(0.5, 24, 6) == pytest.approx(0.3211, abs=5e-5)
    assert whole_class_shared(0.2, 24, 24) == shared_hole(0.2, 24)  # each its own class


def test_a_bonus_wins_where_it_is_larger_than_what_it_costs():
    assert bonus_wins(0.3, 0.5, 0.3) and not bonus_wins(0.1, 0.5, 0.3)  # 0.6 > 0.5, 0.4 < 0.5
