"""From a log's columns to quantities, and what cannot be read."""

import json
import re

import numpy as np
import pytest

from rlpt import doctor, logs
from rlpt.doctor import columns, words
from tests.rlpt.doctor import made


def test_a_gap_from_a_divergence_is_that_of_a_normal_log_ratio():
    rng = np.random.default_rng(0)
    log_ratio = rng.normal(-0.005, 0.1, 200_000)  # E[ρ] = 1: mean −σ²/2
    k3 = np.mean(np.expm1(log_ratio) - log_ratio)
    assert columns.gap_of(k3) == pytest.approx(np.abs(log_ratio).mean(), rel=0.02)
    assert columns.gap_of(-log_ratio.mean()) == pytest.approx(np.abs(log_ratio).mean(), rel=0.05)
    assert columns.gap_of(-0.3) == 0


def test_the_range_of_two_values_gives_their_deviation():
    rewards = np.array([3.0, 3, 3, -1, -1, -1, -1, -1])
    text = f"step,critic/score/mean,critic/score/max,critic/score/min\n1,{rewards.mean()},3,-1\n"
    curve = columns.quantities(made.read(text)).curves["reward_sd"]
    assert curve.values[0] == pytest.approx(rewards.std())  # Bhatia and Davis: an equality of two values


def test_of_three_values_it_is_no_less_than_their_deviation():
    rewards = np.array([0.0, 0.5, 1])
    text = "step,critic/score/mean,critic/score/max,critic/score/min\n1,0.5,1,0\n"
    assert columns.quantities(made.read(text)).curves["reward_sd"].values[0] >= rewards.std()


def test_one_row_is_enough():
    found = columns.quantities(made.read("step,reward\n1,2\n"))
    assert list(found.steps) == [1] and found.every == 1


def test_the_share_of_uniform_groups_is_not_read_where_equal_rewards_show_less():
    share = dict(frac_reward_zero_std=np.r_[0.5, 0.0, np.full(38, 0.3)])
    spread = np.full(40, 0.5)
    assert "zero_variance" in columns.quantities(made.log(reward_std=spread, **share)).curves
    spread[1] = 0.0  # all alike, so every group is
    found = columns.quantities(made.log(reward_std=spread, **share))
    assert "zero_variance" not in found.curves and columns.UNREAD_GROUPS in found.notes
    assert (
        "zero_variance"
        not in columns.quantities(made.log(frac_reward_zero_std=np.r_[np.ones(20), np.zeros(20)])).curves
    )


def test_groups_of_openrlhf_are_bounded_once_their_size_is_known():
    log = made.read("step,rollout/reward_mean,group_reward_std\n1,0.5,0.1\n")
    assert "zero_variance" not in columns.quantities(log).curves
    assert columns.quantities(log, k=16).curves["zero_variance"].values[0] == pytest.approx(0.6)  # 1 − √16 × 0.1


def test_a_column_is_named_by_hand():
    log = made.read("step,reward,entropys\n1,2,3\n")
    found = columns.quantities(log, {"entropy": "entropys"})
    assert found.curves["entropy"].values[0] == 3
    assert "a column with a similar name: “entropys”" in " ".join(words.notes(doctor.report(log)))


@pytest.mark.parametrize(
    "text, asked, sentence",
    [
        ("step,a,b\n1,2,3\n", {}, "None of its 2 columns, “a”, “b”, has a name that says what it is"),
        ("step,reward\n1,2\n", dict(held_out="rewards"), "No column is called “rewards”. Similar names: “reward”."),
        ("step,reward\n1,2\n", dict(mapped={"speed": "reward"}), "No quantity is called “speed”"),
        ("step,ratio,perf/weight_sync_s\n1,2,3\n", {}, "asynchronous trainer"),
        ("step,group_reward_std,rollout/x\n1,2,3\n", {}, "cannot be read by itself"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(text, asked, sentence):
    with pytest.raises(logs.Unreadable, match=re.escape(sentence)):
        doctor.report(made.read(text), **asked)


def test_what_logs_a_missing_quantity_is_said():
    said = " ".join(words.notes(made.report()))
    assert "KL to the reference (TRL: beta above 0 (default: 0 in GRPO, 0.05 in RLOO))" in said


def test_every_column_that_was_left_unread_is_named():
    rows = [{"step": 1, "reward": 1} | {f"own/{n}": n for n in range(40)}]
    said = " ".join(words.notes(doctor.report(logs.read([("x", [json.dumps(rows).encode()])]))))
    assert all(f"“own/{n}”" in said for n in range(40))


def test_a_last_row_without_numbers_or_a_column_that_never_had_one_is_not_gone():
    """pandas writes the summary at the end as a row of nulls."""
    one = made.report(40, loss=np.r_[np.full(39, 0.1), np.nan])
    never = made.report(40, entropy=np.full(40, np.nan))
    assert one.signs == never.signs == ()


def test_everybody_s_names_are_no_framework_s():
    assert made.log(lr=np.full(40, 1e-6)).framework == "TRL"
    text = "step,my_reward,lr\n" + "".join(f"{n},{n / 40},1e-6\n" for n in range(1, 41))
    assert made.read(text).framework == ""
