"""The lesson on what to learn next: what its numbers are computed by, and what it says without a number."""

from functools import cache

from sim.cluster.hardware import ACCELERATORS
from sim.synthesis import gaps
from widgets.gaps import widget
from widgets.gaps.widget import Knobs

BUDGETS = range(20, 470, 5)  # minutes
H100 = ACCELERATORS["h100"]


def value(job, gap_id):
    return gaps.value_of(job)[gaps.IDS.index(gap_id)]


def plan(job, minutes, known=()):
    return gaps.plan(gaps.value_of(job), minutes, known)


def unlocks(gap_id):
    """How many others need it."""
    return sum(gap_id in gaps.needed(other) for other in gaps.IDS if other != gap_id)


@cache
def lost():
    """What choosing by value per minute loses against the best plan, for each work and budget."""
    return [plan(job, b).value - gaps.greedy(gaps.value_of(job), b).value for job in gaps.JOBS for b in BUDGETS]


def gae_enters(job):
    """The least minutes with which it is in the best plan."""
    return next(minutes for minutes in BUDGETS if "10a" in plan(job, minutes).ids)


def result(**knobs):
    return next(widget.run(Knobs(**knobs)))


def famous_first(minutes=120):
    return result(work="kernels and serving", minutes=minutes, order=widget.FAMOUS)


def cost_doubled(job):
    return result(work=job, cost=2.0)


def test_experts_stand_on_off_policy_correction_and_that_on_kl():
    assert gaps.needed("22e") == ("03a", "19a", "22e") and gaps.needed("15b") == ("15a", "15b")


def test_half_an_hour_on_the_famous_one_brings_a_kernel_engineer_nothing():
    k = widget.OPENING.other
    assert k == Knobs(work="kernels and serving", minutes=30, order=widget.FAMOUS)
    assert widget.broken(k, next(widget.run(k))).cause == "minutes spent on useless lessons"
    assert famous_first(50).plan.ids == ("10a", "20a")
    assert all("10a" not in plan("kernels and serving", minutes).ids for minutes in (60, 120, 240, 465))


def test_no_useful_lesson_fits_into_a_quarter_of_an_hour():
    assert widget.broken(Knobs(minutes=15), result(minutes=15)).cause == "too little time for useful lessons"


def test_rewards_pull_in_pairs():
    assert {"15a", "15b"} <= {*plan("rewards and data", 120).ids}
    assert plan("rewards and data", 25, ("15a",)).value == value("rewards and data", "15b")


def test_first_picks_by_value_a_minute():
    first = {job: gaps.greedy(gaps.value_of(job), 30).ids[0] for job in gaps.JOBS}
    assert first["research"] == "03a" and first["rewards and data"] == "14a"
    assert first["kernels and serving"] == "20a" and first["agents"] == "18b"


def test_doubling_cost_leaves_the_plans_of_kernels_and_rewards():
    def changes(job):
        return {*cost_doubled(job).plan.ids} ^ {*plan(job, 120).ids}

    assert not changes("kernels and serving") and not changes("rewards and data")
    assert changes("agents") == {"28a", "28b", "10a", "13a"}
