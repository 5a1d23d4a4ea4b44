import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.cluster import step, throughput
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.measured import VERL
from sim.cluster.models import MODELS
from sim.cluster.step import Roles

H20, QWEN = ACCELERATORS["h20"], MODELS["qwen2.5-7b"]
some_seconds = st.floats(0, 1e3)
roles = st.builds(Roles, some_seconds, some_seconds, some_seconds, some_seconds, some_seconds, some_seconds)
POINTS = throughput.role_points(QWEN, ACCELERATORS["h100"], 64, 2048, 8192)


def verl(row, reuse):
    r = VERL[row]
    return Roles(r.generate, 0.0, r.reference + (0 if reuse else r.old_log_prob), r.update, 0.0)


def leaf(roles, topology, points=POINTS, accelerator=ACCELERATORS["h100"]):
    return step.where_is_my_time(roles, topology, points, accelerator)[1]


@pytest.mark.parametrize(
    "seconds, sync, one_off, stream",
    [  # by hand: the sum; max(r + v, f + t) + s; max(r, v, f + t, s)
        ((100, 5, 10, 40, 3), 158, 108, 100),
        ((40, 2, 20, 90, 5), 157, 115, 110),
        ((60, 60, 8, 30, 4), 162, 124, 60),
    ],
)
def test_a_step_is_a_sum_or_a_maximum_of_its_roles(seconds, sync, one_off, stream):
    assert [step.step_time(Roles(*seconds), topology) for topology in step.TOPOLOGIES] == [sync, one_off, stream]


@given(roles)
def test_overlap_never_lengthens_a_step_whose_roles_keep_their_seconds(roles):
    sync, one_off, stream = (step.step_time(roles, topology) for topology in step.TOPOLOGIES)
    assert stream <= one_off * (1 + 1e-12) <= sync * (1 + 1e-12) ** 2


@given(roles, st.sampled_from(step.TOPOLOGIES))
def test_the_time_line_ends_with_the_step_and_the_path_adds_up_to_it(roles, topology):
    tau = step.step_time(roles, topology)
    assert max(start + seconds for start, seconds in step.timeline(roles, topology).values()) == pytest.approx(tau)
    assert sum(step.exposed(roles, topology).values()) == pytest.approx(tau)


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
        step.speedup(roles, topology, "rollout", 2)
        for roles in (rollout_heavy, train_heavy)
        for topology in ("sync", "async")
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


@given(roles, st.sampled_from(step.TOPOLOGIES), st.sampled_from(("rollout", "verify", "log_probs", "train", "sync")))
def test_beyond_the_end_of_its_gain_a_faster_role_changes_nothing(roles, topology, role):
    k = step.gain_ends_at(roles, topology, role)
    assume(k < 1e6 and step.step_time(roles, topology) > 1e-6)
    assert step.speedup(roles, topology, role, k) == pytest.approx(step.speedup(roles, topology, role, math.inf))


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
    st.sampled_from(step.TOPOLOGIES),
    st.sampled_from(("rollout", "verify", "log_probs", "train", "sync")),
)
def test_elasticity_is_the_one_sided_slope_of_the_step(roles, topology, role):
    h, tau = 1e-7, step.step_time(roles, topology)
    faster, slower = step.elasticity(roles, topology)[role]
    lanes = sorted(step.lane_seconds(roles, lane, topology) for lane in step.LANES[topology][0])
    assume(len(lanes) == 1 or lanes[-1] - lanes[-2] > 1e-3 or lanes[-1] == lanes[-2])
    assert math.log(tau / step.step_time(step.whatif(roles, role, 1 + h), topology)) / math.log1p(h) == pytest.approx(
        faster, abs=1e-5
    )
    assert math.log(step.step_time(step.whatif(roles, role, 1 / (1 + h)), topology) / tau) / math.log1p(
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


def test_a_test_suite_runs_in_rounds_of_its_workers():
    assert step.verify_seconds(64, 8, 30.0) == 240.0
    assert step.verify_seconds(65, 8, 30.0) == 270.0


def test_useful_completions_are_fewer_than_completions():
    assert step.useful_rate(8192, 365.28, 0.5, 0.8) == pytest.approx(8.9707, abs=1e-4)  # 22.427 a second · 0.4


def test_a_configuration_gives_each_role_its_own_roofline():
    r = step.roles_from_config(QWEN, H20, 64, 64, 8192, 1200, 8192, verify=1.0, reference=False)
    flop_seconds = 7_615_616_512 * 8192 * 1712 / (64 * 148e12 * 0.4)
    assert r.train == pytest.approx(6 * flop_seconds, rel=1e-9) and r.log_probs == pytest.approx(
        2 * flop_seconds, rel=1e-9
    )
    assert r.sync == pytest.approx(2 * 7_615_616_512 / 25e9, rel=1e-9) and r.verify == 1.0
    # the last of 8 192 tokens decodes alone: (weights + 4608 · 57 344 B) / (4e12 · .75) + 1.5 ms each
    assert r.rollout == pytest.approx(8192 * ((2 * 7_615_616_512 + 4608 * 57_344) / 3e12 + 1.5e-3), rel=1e-9)
    # the stream: 128 sequences an engine are compute-bound on an H20, 2P · 128 / (148e12 · .6) + 1.5 ms a token
    assert r.rollout - r.tail == pytest.approx(1200 * (2 * 7_615_616_512 * 128 / 88.8e12 + 1.5e-3), rel=1e-9)


def test_more_rollout_gpus_do_not_shorten_the_last_completion():
    few, many = (step.roles_from_config(QWEN, H20, gpus, 64, 8192, 1200, 8192, verify=1.0) for gpus in (64, 512))
    assert few.rollout == many.rollout and few.tail < many.tail


def test_splitting_one_pool_gains_nothing_when_both_jobs_scale():
    # r/ρ and t/(1 − ρ) meet at ρ = r/(r + t), where both are r + t
    r, t = 60.0, 40.0
    assert min(
        step.step_time(Roles(r / share, 0, 0, t / (1 - share), 0), "async")
        for share in (n / 1000 for n in range(1, 1000))
    ) == pytest.approx(r + t)


def test_an_engine_gets_the_fewest_gpus_that_hold_its_weights():
    h100 = ACCELERATORS["h100"]
    assert [
        step.smallest_tensor_parallel(MODELS[key], h100) for key in ("qwen2.5-7b", "llama3.1-70b", "llama3.1-405b")
    ] == [1, 4, 32]  # 15, 141, 812 GB at 48 each


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


@given(roles, st.sampled_from(step.TOPOLOGIES))
def test_the_tree_always_arrives_at_a_remedy(roles, topology):
    assume(step.step_time(roles, topology) > 0)
    path, remedy = step.where_is_my_time(roles, topology, POINTS, ACCELERATORS["h100"])
    assert step.LEAVES[path[-1]] == remedy


def test_hidden_seconds_are_never_the_answer():
    path, _ = step.where_is_my_time(Roles(100, 90, 80, 10, 95), "async", POINTS, ACCELERATORS["h100"])
    assert path[0] == "rollout"
