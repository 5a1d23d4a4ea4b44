from itertools import combinations

import numpy as np
import pytest

from sim.synthesis import gaps
from sim.synthesis.gaps import GAPS, IDS, JOBS


def test_seventeen_in_465_minutes():
    assert len(GAPS) == 17 and sum(gaps.MINUTES) == 465
    assert [sum(gaps.value_of(job)) for job in JOBS] == [28, 22, 27, 19, 28]


def test_every_closed_set_is_listed_once():
    # chains: 10a-17a, 15a-15b, 18b-18c, 28a-28b have 3 closed sets each, 03a-19a-22e has 4; six stand alone
    member, minutes = gaps.closed_sets()
    assert len(member) == 3**4 * 4 * 2**6 == 20_736
    assert len({tuple(row) for row in member}) == 20_736 and minutes.max() == 465


@pytest.mark.parametrize(
    "job, budget, ids, minutes, value, greedy",  # the specification's, computed apart
    [
        ("research", 120, "03a 10a 13a 14a 18b", 120, 13, 13),
        ("research", 90, "03a 13a 14a 18b", 90, 10, 9),
        ("rewards and data", 120, "03a 14a 15a 15b 18b", 120, 13, 13),
        ("infrastructure", 180, "03a 19a 20a 22d 22f 28a 28b", 175, 17, 17),
        ("kernels and serving", 120, "03a 20a 22f 28a 28b", 115, 11, 11),
        ("agents", 120, "10a 13a 14a 18b 20a", 120, 12, 11),
    ],
)
def test_plans(job, budget, ids, minutes, value, greedy):
    values = gaps.value_of(job)
    found = gaps.plan(values, budget)
    assert (found.ids, found.minutes, found.value) == (tuple(ids.split()), minutes, value)
    assert gaps.greedy(values, budget).value == greedy


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("budget", [45, 85, 100])
def test_a_plan_is_the_best_of_all_sets_that_can_be_read(job, budget):
    values = gaps.value_of(job)
    best = 0
    for size in range(6):
        for ids in combinations(IDS, size):
            whole = all(set(GAPS[IDS.index(i)].needs) <= set(ids) for i in ids)
            if whole and gaps.minutes_of(ids) <= budget:
                best = max(best, sum(values[IDS.index(i)] for i in ids))
    assert gaps.plan(values, budget).value == best


def test_greedy_falls_behind_in_24_of_450_cells_by_one_point():
    behind = []
    for job in JOBS:
        values = gaps.value_of(job)
        budgets = range(20, 466, 5)
        behind += [best - gaps.greedy(values, b).value for b, best in zip(budgets, gaps.frontier(values, budgets))]
    assert len(behind) == 450 and sum(d > 0 for d in behind) == 24 and max(behind) == 1


def test_when_the_famous_one_enters_a_plan():
    first = {}
    for job in JOBS:
        values = gaps.value_of(job)
        first[job] = next((b for b in range(15, 470, 5) if gaps.FAMOUS in gaps.plan(values, b).ids), None)
    assert first == dict(zip(JOBS, (75, 230, 340, None, 55)))


def test_what_a_lesson_needs_comes_before_it():
    assert gaps.needed("22e") == ("03a", "19a", "22e") and gaps.minutes_of(gaps.needed("22e")) == 85
    assert gaps.needed("22e", known=("19a",)) == ("22e",) and gaps.needed("19a", known=("19a",)) == ()
    for job in JOBS:
        order = gaps.plan(gaps.value_of(job), 465).ids
        for n, gap_id in enumerate(order):
            assert set(GAPS[IDS.index(gap_id)].needs) <= set(order[:n])


@pytest.mark.parametrize("job", JOBS)
def test_more_minutes_and_more_knowledge_never_hurt(job):
    values = gaps.value_of(job)
    worth = gaps.frontier(values, range(0, 470, 5))
    assert (np.diff(worth) >= 0).all() and worth[-1] == values.sum()
    for known in (("03a",), ("10a", "18b")):
        had = sum(values[IDS.index(i)] for i in known)
        # of what is known the value is had already, though the plan's own can fall
        assert (gaps.frontier(values, range(0, 470, 5), known) + had >= worth).all()


def test_knowing_a_lesson_can_lower_the_value_of_the_plan():
    values = gaps.value_of("research")
    assert gaps.plan(values, 90, ("03a",)).value == 9 < gaps.plan(values, 90).value


def test_the_minutes_until_it_is_worth_more():
    values = gaps.value_of("kernels and serving")
    found = gaps.plan(values, 15)
    assert found.ids == () and gaps.next_minutes(values, found, 15) == 5
    assert gaps.next_minutes(values, gaps.plan(values, 465), 465) is None


def test_the_famous_one_first():
    values = gaps.value_of("kernels and serving")
    worth = [gaps.greedy(values, b, first=(gaps.FAMOUS,)).value for b in (30, 60, 120)]
    assert worth == [0, 3, 9] and [gaps.plan(values, b).value for b in (30, 60, 120)] == [3, 6, 11]
