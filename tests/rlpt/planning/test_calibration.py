"""Factors by hand, and how far they reach."""

from dataclasses import replace

import pytest

from rlpt.planning import calibration, planner
from rlpt.planning.calibration import Factors
from rlpt.planning.planner import Scenario
from sim.cluster import lengths
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.models import MODELS
from sim.cluster.step import OVERLAPS, Roles

S = Scenario(MODELS["qwen2.5-7b"], ACCELERATORS["h100"], lengths.lognormal(720, 0.8, 8192), gpus=64)
ROLES = Roles(rollout=60.0, verify=5.0, log_probs=10.0, train=25.0, sync=3.0, tail=20.0, switch=1.0)


def of(overlap="sync", **measured):
    return calibration.calibration(S, ROLES, overlap, measured)


USUAL = Factors(1.7, 1.0, 1.7, 1.7, 1.7)  # of one pool


def test_a_step_alone_multiplies_all_roles_alike():
    # 1.7 (60 + 10 + 25 + 3 + 1) + 5 = 173.3
    assert of(step=346.6).factors == pytest.approx(USUAL.times(2.0))
    assert of("carry-over", step=139.3 / 2).factors == pytest.approx(USUAL.times(0.5))  # without the tail


def test_a_role_gives_its_own_factor_and_leaves_the_others():
    assert of(rollout=90.0, weights=8.0).factors == USUAL._replace(rollout=1.5, weights=2.0)
    assert of("carry-over", rollout=60.0).factors.rollout == 1.5  # of the 40 s that are not the tail


def test_the_roles_that_were_not_timed_share_what_the_step_leaves_them():
    # 191.3 − 120 = 71.3 s for 1.7 (10 + 25 + 3 + 1) + 5 that are left
    found = of(step=191.3, rollout=120.0)
    assert found.factors.rollout == 2.0
    assert found.factors[1:] == pytest.approx(USUAL[1:]) and found.between == 1.0


def test_what_no_role_takes_lies_between_them():
    found = of(step=208.0, rollout=60.0, tests=5.0, log_probs=10.0, update=25.0, weights=4.0)
    assert found.factors == Factors() and found.between == pytest.approx(2.0)


@pytest.mark.parametrize(
    "measured, said",
    [
        (dict(step=50.0, rollout=60.0), "the roles that were timed make it 60 s at least"),
        (dict(step=50.0, rollout=60.0, tests=5.0, log_probs=10.0, update=25.0, weights=4.0), "make it 104 s at least"),
    ],
)
def test_a_step_shorter_than_its_roles_contradicts_them(measured, said):
    with pytest.raises(ValueError, match=said):
        of(**measured)


def test_a_role_without_seconds_cannot_have_been_timed():
    with pytest.raises(ValueError, match="spends no time on tests"):
        calibration.calibration(S, replace(ROLES, verify=0.0), "sync", dict(tests=3.0))


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_the_job_that_was_timed_takes_what_was_measured(overlap):
    s = replace(S, overlap=overlap, test_seconds=1.0)
    for seconds in (
        dict(step=342.7),
        dict(step=342.7, update=120.25),
        dict(rollout=99.5, update=33.125, log_probs=9.75),
    ):
        found = planner.plan(planner.calibrated(s, seconds))
        told = calibration.seconds_of(found.predicted, overlap)._asdict() | dict(step=planner.seconds(found.scenario))
        assert {name: told[name] for name in seconds} == pytest.approx(seconds, rel=1e-9)


def test_another_job_is_multiplied_by_the_same_factor():
    known = planner.calibrated(S, dict(update=3 * planner.roles(S).train))
    for other in (
        replace(known, gpus=128),
        replace(known, prompts=256),
        replace(known, accelerator=ACCELERATORS["h200"]),
    ):
        plain = planner.roles(replace(other, calibration=None))
        assert planner.roles(other).train == pytest.approx(3 * plain.train)
        assert planner.roles(other).rollout == plain.rollout


def test_a_step_timed_in_one_pool_moves_to_two_as_published_steps_do_and_back():
    one, two = S, replace(S, overlap="one-off")
    there = planner.calibrated(two, dict(step=2 * planner.seconds(one)), on=one)
    assert planner.seconds(there) == pytest.approx(2 * planner.seconds(two))
    back = planner.calibrated(one, dict(step=2 * planner.seconds(two)), on=two)
    assert planner.seconds(back) == pytest.approx(2 * planner.seconds(one))
    # the same formulas: three quarters of the factor in one pool
    assert calibration.assumed(two).rollout / calibration.assumed(one).rollout == pytest.approx(0.76, abs=0.01)


@pytest.mark.parametrize(
    "change, width",
    [
        ({}, 1.1),
        (dict(steps=9, price=7.0), 1.1),
        (dict(gpus=128), 1.2),
        (dict(prompts=128), 1.2),
        (dict(overlap="carry-over"), 1.2),
        (dict(overlap="async"), 1.5),
        (dict(accelerator=ACCELERATORS["h200"]), 1.5),
        (dict(model=MODELS["qwen3-8b"]), 1.5),
    ],
)
def test_a_measured_step_closes_the_range_by_how_like_the_job_is(change, width):
    s = replace(planner.calibrated(S, dict(step=200.0)), **change)
    low, high = planner.plan(s).step_range
    assert (low, high) == pytest.approx((planner.seconds(s) / width, planner.seconds(s) * width))
    assert f"÷ and × {width}" in planner.spread(s).words and "step timed on" in planner.spread(s).words


def test_a_measured_role_closes_its_own_range_alone():
    found = planner.plan(planner.calibrated(S, dict(update=50.0)))
    assert (
        (found.fast.train, found.slow.train) == (found.least.train, found.most.train) == pytest.approx((50 / 1.1, 55))
    )
    assert found.slow.rollout == pytest.approx(1.4**2 * found.fast.rollout)
    assert found.most.rollout == pytest.approx(1.7**2 * found.least.rollout)  # a role alone is less sure than a step
    assert planner.spread(found.scenario).words.startswith("update timed on this job: ÷ and × 1.1; else 1.7 times")


def test_tests_take_the_seconds_that_the_reader_gives():
    found = planner.plan(replace(S, test_seconds=600.0, longest_test=600.0, workers=1))
    assert found.least.verify == found.most.verify == planner.formulas(found.scenario).verify


def test_an_update_faster_than_the_chips_is_impossible():
    with pytest.raises(ValueError, match="an update in 1 s: at the chip's peak"):
        planner.plan(planner.calibrated(S, dict(update=1.0)))


# NeMo RL 0.4 and 0.5, performance summary: seconds of a step of the same recipe on the same H100s
RELEASES = [(97.7, 92.8), (74.6, 64.8), (154, 134), (77.9, 64.9), (506, 431)]
RELEASES += [(241, 203), (225, 198), (244, 154), (393, 376), (215, 200)]


def test_nine_of_ten_published_pairs_of_one_placement_and_chip_lie_within_the_near_width():
    near = [max(a / b, b / a) <= calibration.NEAR + 0.005 for a, b in RELEASES]  # one is 1.2003
    assert sum(near) == 9 and len(near) == 10
