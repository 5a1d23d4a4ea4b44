import itertools
import math
from heapq import heapreplace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rlpt.planning.measured import VERL
from sim.cluster import step, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import Law, lognormal
from sim.cluster.models import MODELS
from sim.cluster.step import Roles

H20, QWEN = ACCELERATORS["h20"], MODELS["qwen2.5-7b"]
some_seconds = st.floats(0, 1e3)
roles = st.builds(Roles, some_seconds, some_seconds, some_seconds, some_seconds, some_seconds, some_seconds)
POINTS = throughput.role_points(QWEN, ACCELERATORS["h100"], 64, 2048, 8192)


def verl(row, reuse):
    r = VERL[row]
    return Roles(r.generate, 0.0, r.reference + (0 if reuse else r.old_log_prob), r.update, 0.0)


def leaf(roles, overlap, points=POINTS, accelerator=ACCELERATORS["h100"]):
    return step.where_is_my_time(roles, overlap, points, accelerator)[1]


@pytest.mark.parametrize(
    "seconds, sync, one_off, stream, in_place",
    [  # by hand: the sum; max(r + v, f + t) + s; max(r, v, f + t, s); max(r + s, v, f + t)
        ((100, 5, 10, 40, 3), 158, 108, 100, 103),
        ((40, 2, 20, 90, 5), 157, 115, 110, 110),
        ((60, 60, 8, 30, 4), 162, 124, 60, 64),
    ],
)
def test_a_step_is_a_sum_or_a_maximum_of_its_roles(seconds, sync, one_off, stream, in_place):
    arrangements = ("sync", "carry-over", "one-off", "async", "async, in place")
    expected = [sync, sync, one_off, stream, in_place]  # without a tail there is nothing to carry over
    assert [step.step_time(Roles(*seconds), overlap) for overlap in arrangements] == expected


def test_carrying_over_is_a_sum_without_its_tail():
    roles = Roles(100, 5, 10, 40, 3, other=2, tail=45, switch=6)
    assert step.step_time(roles, "sync") == 166 and step.step_time(roles, "carry-over") == 121
    assert step.timeline(roles, "carry-over")["rollout"] == (0.0, 55)


@given(roles)
def test_overlap_never_lengthens_a_step_whose_roles_keep_their_seconds(roles):
    sync, carried, one_off, stream = (step.step_time(roles, overlap) for overlap in step.OVERLAPS)
    assert stream <= one_off * (1 + 1e-12) <= sync * (1 + 1e-12) ** 2
    assert carried <= sync


@given(roles, st.sampled_from(step.OVERLAPS))
def test_the_time_line_ends_with_the_step_and_the_path_adds_up_to_it(roles, overlap):
    tau = step.step_time(roles, overlap)
    assert max(start + seconds for start, seconds in step.timeline(roles, overlap).values()) == pytest.approx(tau)
    assert sum(step.exposed(roles, overlap).values()) == pytest.approx(tau)


@pytest.mark.parametrize("share, ceiling", [(0.6, 2.5), (0.7, 10 / 3), (0.8, 5.0)])  # 1 / (1 − f)
def test_amdahls_ceiling_in_a_sum(share, ceiling):
    assert step.amdahl(share, math.inf) == pytest.approx(ceiling, rel=1e-12)
    assert step.speedup(Roles(share, 0, 0, 1 - share, 0), "sync", "rollout", math.inf) == pytest.approx(
        ceiling, rel=1e-12
    )


@given(roles, st.floats(1, 100))
def test_in_a_sum_the_gain_is_amdahls(roles, k):
    tau = step.step_time(roles, "sync")
    assume(tau > 1e-6)
    assert step.speedup(roles, "sync", "rollout", k) == pytest.approx(step.amdahl(roles.rollout / tau, k))


def test_the_same_engine_is_worth_everything_or_nothing():
    rollout_heavy, train_heavy = Roles(60, 0, 0, 40, 0), Roles(40, 0, 0, 60, 0)
    gains = [
        step.speedup(roles, overlap, "rollout", 2)
        for roles in (rollout_heavy, train_heavy)
        for overlap in ("sync", "async")
    ]
    assert gains == pytest.approx([100 / 70, 60 / 40, 100 / 80, 1.0])


def test_in_an_overlapped_step_the_ceiling_is_the_longest_lane_over_the_second():
    assert step.speedup(Roles(80, 0, 4, 14, 2), "async", "rollout", math.inf) == pytest.approx(80 / 18)
    assert step.gain_ends_at(Roles(80, 0, 4, 14, 2), "async", "rollout") == pytest.approx(80 / 18)


def test_halving_the_rollout_again_gains_only_down_to_the_training():
    shares = Roles(0.70, 0, 0, 0.30, 0)
    assert step.step_time(step.whatif(shares, "rollout", 2), "one-off") == pytest.approx(0.35)
    assert step.step_time(step.whatif(shares, "rollout", 4), "one-off") == pytest.approx(0.30)


def test_a_faster_engine_ends_to_pay_at_thirteen_per_cent_when_the_log_probs_are_reused():
    # 150.72 / 133.41; with the recompute 70.26 + 133.41 > 150.72
    assert step.gain_ends_at(verl("7B, 64 GPUs", reuse=True), "async", "rollout") == pytest.approx(1.1298, abs=1e-4)
    assert step.gain_ends_at(verl("7B, 64 GPUs", reuse=False), "async", "rollout") == 1.0
    assert step.gain_ends_at(verl("7B, 64 GPUs", reuse=False), "sync", "rollout") == math.inf


@given(roles, st.sampled_from(step.OVERLAPS), st.sampled_from(("rollout", "verify", "log_probs", "train", "sync")))
def test_beyond_the_end_of_its_gain_a_faster_role_changes_nothing(roles, overlap, role):
    k = step.gain_ends_at(roles, overlap, role)
    assume(k < 1e6 and step.step_time(roles, overlap) > 1e-6)
    assert step.speedup(roles, overlap, role, k) == pytest.approx(step.speedup(roles, overlap, role, math.inf))


@pytest.mark.parametrize(
    "row, predicted, measured",
    [  # 790.10/357.41, 365.28/150.72, 356.30/177.85, 497.89/348.05 against step over asynchronous step
        ("7B, 32 GPUs", 2.21, 2.68),
        ("7B, 64 GPUs", 2.42, 1.93),
        ("7B, 128 GPUs", 2.00, 2.37),
        ("30B-A3B, 128 GPUs", 1.43, 1.76),
    ],
)
def test_the_maximum_predicts_the_published_gain_within_a_quarter(row, predicted, measured):
    prediction = VERL[row].step / step.step_time(verl(row, reuse=True), "async")
    assert prediction == pytest.approx(predicted, abs=0.005)
    assert VERL[row].step / VERL[row].async_step == pytest.approx(measured, abs=0.005)
    assert 0.03 < abs(prediction / measured - 1) < 0.26


def test_with_recomputed_log_probs_the_prediction_is_lower():
    predicted = [
        VERL[row].step / step.step_time(verl(row, reuse=False), "async") for row in ("7B, 32 GPUs", "7B, 64 GPUs")
    ]
    assert predicted == pytest.approx([2.09, 1.79], abs=0.005)  # 790.10 / 377.51, 365.28 / 203.67


def test_elasticities_are_the_shares_of_a_sum():
    assert step.elasticity(Roles(100, 5, 10, 40, 3), "sync")["rollout"] == pytest.approx((100 / 158, 100 / 158))


def test_in_a_maximum_one_lane_has_all_the_elasticity():
    out = step.elasticity(Roles(100, 5, 10, 40, 3), "async")
    assert out["rollout"] == (1.0, 1.0) and all(pair == (0.0, 0.0) for role, pair in out.items() if role != "rollout")


def test_at_a_tie_slowing_either_costs_and_speeding_up_one_gains_nothing():
    out = step.elasticity(Roles(60, 60, 8, 30, 4), "async")
    assert out["rollout"] == out["verify"] == (0.0, 1.0)


@given(
    st.builds(Roles, *[st.floats(1, 1e3)] * 6),
    st.sampled_from(step.OVERLAPS),
    st.sampled_from(("rollout", "verify", "log_probs", "train", "sync")),
)
def test_elasticity_is_the_one_sided_slope_of_the_step(roles, overlap, role):
    h, tau = 1e-7, step.step_time(roles, overlap)
    faster, slower = step.elasticity(roles, overlap)[role]
    lanes = sorted(step.lane_seconds(roles, lane, overlap) for lane in step.LANES[overlap][0])
    assume(len(lanes) == 1 or lanes[-1] - lanes[-2] > 1e-3 or lanes[-1] == lanes[-2])
    assert math.log(tau / step.step_time(step.whatif(roles, role, 1 + h), overlap)) / math.log1p(h) == pytest.approx(
        faster, abs=1e-5
    )
    assert math.log(step.step_time(step.whatif(roles, role, 1 / (1 + h)), overlap) / tau) / math.log1p(
        h
    ) == pytest.approx(slower, abs=1e-5)


def test_a_stream_does_not_wait_for_the_tail():
    roles = Roles(100, 0, 0, 40, 0, tail=45)
    assert step.step_time(roles, "one-off") == 100 and step.step_time(roles, "async") == 55


def test_a_faster_engine_shortens_the_tail_too():
    roles = Roles(100, 0, 0, 40, 0, tail=20)
    assert step.step_time(step.whatif(roles, "rollout", 1.6), "async") == pytest.approx((100 - 20) / 1.6)  # 50 s
    assert step.speedup(roles, "async", "rollout", 1.6) == pytest.approx(1.6)  # with the tail as it was, 80/42.5
    assert step.whatif(roles, "train", 2).tail == 20


@pytest.mark.parametrize("workers, pool, formula", [(64, 2265, 2115), (512, 588, 413), (8192, 413, 413)])
def test_a_pool_of_workers_has_no_rounds(workers, pool, formula):
    # 8,192 lognormal tests, median 10 s, σ 1: mean over five seeds of a queue, and of the formula
    queues, formulas = [], []
    for seed in range(5):
        tests = 10 * np.exp(np.random.default_rng(seed).standard_normal(8192))
        free = [0.0] * workers
        for seconds in tests:
            heapreplace(free, free[0] + seconds)
        queues.append(max(free))
        formulas.append(step.verify_seconds(8192, workers, tests.mean(), tests.max()))
        assert formulas[-1] <= queues[-1] * (1 + 1e-12) <= tests.max() + 8192 * tests.mean() / workers + 1e-9
    assert np.mean(queues) == pytest.approx(pool, rel=0.002)
    assert np.mean(formulas) == pytest.approx(formula, rel=0.002)


def test_equal_tests_take_the_work_over_the_workers():
    assert step.verify_seconds(64, 8, 30.0, 30.0) == 240.0
    assert step.verify_seconds(8, 64, 30.0, 30.0) == 30.0


def test_useful_completions_are_fewer_than_completions():
    assert step.useful_rate(8192, 365.28, 0.5, 0.8) == pytest.approx(8.9707, abs=1e-4)  # 22.427 a second · 0.4


LAW = Law(720, 2000, 4600, 8192)


def shapes(accelerator, generating, training):
    return step.roles_from_config(
        QWEN, accelerator, generating, training, 1, 8192, LAW, 2.56, reference=False, reuse=True
    )


@pytest.mark.parametrize(
    "accelerator, sync, one_off, stream, fifth",
    [(ACCELERATORS["h100"], 88.2, 70.1, 44.3, 27.8), (H20, 214.7, 296.7, 296.1, 185.8)],
)
def test_a_step_from_shapes_is_what_an_independent_program_says(accelerator, sync, one_off, stream, fifth):
    # 64 GPUs, 512 x 16 completions of 987 tokens on average and 8,192 at most, prompt 512, log-probs reused
    together, halves = shapes(accelerator, 64, 64), shapes(accelerator, 32, 32)
    assert step.step_time(together, "sync") == pytest.approx(sync, rel=0.01)
    assert step.step_time(halves, "one-off") == pytest.approx(one_off, rel=0.01)
    assert step.step_time(halves, "async") == pytest.approx(stream, rel=0.01)
    assert step.step_time(shapes(accelerator, 13, 51), "async") == pytest.approx(fifth, rel=0.01)


def test_a_configuration_gives_each_role_its_own_roofline():
    r = step.roles_from_config(QWEN, H20, 64, 64, 1, 8192, LAW, 1.0, reference=True)
    flop_seconds = 7_615_616_512 * 8192 * (512 + LAW.mean) / (64 * 148e12 * 0.4)
    assert r.train == pytest.approx(6 * flop_seconds, rel=1e-9)
    assert r.log_probs == pytest.approx(4 * flop_seconds, rel=1e-9)  # old log-probs and the reference's
    assert r.sync == pytest.approx(2 * 7_615_616_512 / 25e9, rel=1e-9) and r.verify == 1.0
    # the stream: 128 sequences an engine at context 1419 are compute-bound on an H20, (2P′ + a S) 128 / (148e12 · .6)
    flop = 2 * 7_070_619_136 + 4 * 28 * 28 * 128 * LAW.context(512)
    assert r.rollout - r.tail == pytest.approx(LAW.mean * (flop * 128 / 88.8e12 + 1.5e-3), rel=1e-6)


def test_more_rollout_gpus_do_not_shorten_the_last_completion():
    few, many = shapes(H20, 64, 64), shapes(H20, 512, 64)
    alone = 8192 * throughput.iteration_seconds(QWEN, H20, 1, 512 + 4096)
    assert few.rollout > many.rollout > alone and few.tail < many.tail


def test_an_engine_that_holds_few_takes_its_share_in_turn():
    # 32B on engines of two H100: 299 347 tokens, 96 of 256 sequences; in random orders 382.7 ± 3.6 s
    model, law = MODELS["qwen2.5-32b"], lognormal(3000, 0.8, 8192)
    r = step.roles_from_config(model, ACCELERATORS["h100"], 64, 64, 2, 8192, law, 2.56, reference=False)
    assert step.live_sequences(model, ACCELERATORS["h100"], 64, 2, 8192, law) == pytest.approx(96.7, abs=0.1)
    assert r.rollout == pytest.approx(382.7, abs=4) and r.rollout - r.tail == pytest.approx(299, rel=0.01)
    assert (r.log_probs, r.train) == (pytest.approx(88, abs=0.5), pytest.approx(265, abs=0.6))


def test_splitting_one_pool_gains_nothing_when_both_jobs_scale():
    # r/ρ and t/(1 − ρ) meet at ρ = r/(r + t), where both are r + t
    r, t = 60.0, 40.0
    assert min(
        step.step_time(Roles(r / share, 0, 0, t / (1 - share), 0), "async")
        for share in (n / 1000 for n in range(1, 1000))
    ) == pytest.approx(r + t)


def test_the_tree_names_a_remedy_for_every_way_to_lose_time():
    at = dict(zip(("decode", "train"), (POINTS[0], POINTS[3])))
    crowded = [at["decode"]._replace(flop_per_byte=400.0), at["train"]]
    slow_training = [at["decode"], at["train"]._replace(flops_per_second=0.3 * 989.4e12)]
    assert leaf(Roles(50, 0, 10, 20, 0, other=20), "sync") == step.LEAVES["other"]
    assert leaf(Roles(100, 0, 10, 20, 0, tail=60), "sync") == step.LEAVES["tail"]
    assert leaf(Roles(100, 0, 10, 20, 0), "async") == step.LEAVES["idle pool"]
    assert leaf(Roles(20, 0, 5, 20, 90), "one-off") == step.LEAVES["sync"]
    assert leaf(Roles(20, 90, 5, 20, 1), "async") == step.LEAVES["verify"]
    assert leaf(Roles(20, 0, 40, 30, 1), "sync") == step.LEAVES["log_probs"]
    assert leaf(Roles(100, 0, 10, 20, 0), "sync") == step.LEAVES["left of the ridge"]
    assert leaf(Roles(100, 0, 10, 20, 0), "sync", crowded) == step.LEAVES["right of the ridge"]
    assert leaf(Roles(40, 0, 10, 60, 0), "sync", slow_training) == step.LEAVES["below assumed MFU"]
    assert leaf(Roles(40, 0, 10, 60, 0), "sync") == step.LEAVES["at assumed MFU"]


@given(roles, st.sampled_from(step.OVERLAPS))
def test_the_tree_always_arrives_at_a_remedy(roles, overlap):
    assume(step.step_time(roles, overlap) > 0)
    path, remedy = step.where_is_my_time(roles, overlap, POINTS, ACCELERATORS["h100"])
    assert step.LEAVES[path[-1]] == remedy


def test_what_waits_for_arithmetic_is_read_off_the_ridge_that_is_reached():
    # an H100 reaches .6 of its FLOP/s and .75 of its bandwidth: the ridge is 236, at peak 295
    between = [POINTS[0]._replace(flop_per_byte=260.0), POINTS[3]]
    assert leaf(Roles(100, 0, 10, 20, 0), "sync", between) == step.LEAVES["right of the ridge"]


def test_hidden_seconds_are_never_the_answer():
    path, _ = step.where_is_my_time(Roles(100, 90, 80, 10, 95), "async", POINTS, ACCELERATORS["h100"])
    assert path[0] == "rollout"


JOB = Roles(rollout=60, verify=20, log_probs=8, train=30, sync=4)


@pytest.mark.parametrize("overlap", step.LANES)
def test_the_critical_spans_of_a_laid_step_add_up_to_it(overlap):
    each = step.step_time(JOB, overlap)
    found = [one for one in step.laid(JOB, overlap, each) if one.critical]
    assert sum(one.seconds for one in found) == pytest.approx(each)


def test_steps_are_laid_one_after_the_other_and_a_later_lane_works_on_an_older_batch():
    found = [(one.role, one.batch, one.start) for one in step.laid(JOB, "async", 70) if one.seconds]
    assert found == [
        ("rollout", 0, 0),
        ("verify", -1, 0),
        ("log_probs", -2, 0),
        ("train", -2, 8),
        ("sync", -3, 0),
        ("rollout", 1, 60),
        ("verify", 0, 60),
        ("log_probs", -1, 60),
        ("train", -1, 68),
        ("sync", -2, 60),
    ]
    in_turn = {one.role: (one.batch, one.start) for one in step.laid(JOB, "sync", 1)}
    assert in_turn["train"] == (0, 88) and in_turn["sync"] == (0, 118)


@pytest.mark.parametrize("overlap", step.LANES)
def test_no_batch_is_worked_on_before_the_work_that_it_needs_is_done(overlap):
    chain, seen = ("rollout", "verify", "log_probs", "train"), {}
    for one in step.laid(JOB, overlap, 600):
        seen[one.role, one.batch] = (one.start, one.start + one.seconds)
    for before, after in itertools.pairwise(chain):
        for role, batch in seen:
            if role == after and (before, batch) in seen:
                assert seen[before, batch][1] <= seen[after, batch][0] + 1e-9
