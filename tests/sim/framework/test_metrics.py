import json
from dataclasses import replace

import numpy as np
import pytest

from rlpt import metric_names
from sim.algorithms import dapo, grpo
from sim.experiments.standard_runs import add_run
from sim.framework import metrics
from sim.framework.evaluation import Evaluation
from sim.framework.weight_sync import WeightSync


def first_updates(file, n=1, **settings):
    """(row, frame, batch) of each update."""
    for event in add_run(file, **settings).iterate(n):
        if event.stage == 3:
            batch = event.summary["batch"]
        if event.stage == 7:
            yield metrics.row(event.summary["frame"], batch), event.summary["frame"], batch


def test_every_quantity_that_the_doctor_asks_for_stands_under_the_name_of_trl():
    ((row, *_),) = first_updates(grpo)
    evaluated = metrics.evaluation(Evaluation(0, 81, 263))
    assert metric_names.framework(row) == "TRL"
    asked = {quantity for name in row for quantity, _, _ in [metric_names.known(name).get("TRL", ("", "", ""))]}
    assert asked - {""} == set(metric_names.QUANTITIES) - {"learning_rate"}  # which no run here changes
    assert metric_names.looks_held_out(f"{metrics.HELD_OUT}/mean", "TRL")
    assert evaluated == {
        "eval_rewards/score/mean": 81 / 263,
        "eval_rewards/score/low": pytest.approx(0.2553, abs=5e-5),  # Newcombe (1998), table I, method 3
        "eval_rewards/score/high": pytest.approx(0.3662, abs=5e-5),
    }


def test_the_numbers_are_those_of_the_batch():
    ((row, _, batch),) = first_updates(grpo)
    groups = batch.reward.reshape(16, 8)
    level = sum(len(set(group)) == 1 for group in groups.tolist())
    assert row["step"] == 1 and row["completions"] == 128
    assert row["frac_reward_zero_std"] == level / 16
    assert row["reward_std"] == pytest.approx((groups.mean() * (1 - groups.mean())) ** 0.5)  # of zeros and ones
    assert row["completions/clipped_ratio"] == pytest.approx(1 - batch.finished.mean())


def test_before_the_first_update_nobody_disagrees_and_late_weights_do():
    rows = [row for row, *_ in first_updates(grpo, 4, sync=WeightSync(lag=2))]
    gaps = [row["sampling/sampling_logp_difference/mean"] for row in rows]
    assert gaps[0] < 1e-12 and min(gaps[2:]) > 0.01
    assert [row["lag"] for row in rows] == [0, 4, 8, 8]  # four passes an update


def test_without_a_reference_there_is_no_kl_and_without_a_batch_only_what_was_sampled():
    ((row, frame, _),) = first_updates(dapo)
    assert "kl" not in row and "entropy" in row
    assert metrics.row(frame, None) == {
        name: row[name]
        for name in ("step", "reward", "rewards/score/mean", "completions/mean_length", "completions", "lag")
    }


def test_a_number_that_is_none_any_more_is_null_and_does_not_vanish():
    ((row, frame, batch),) = first_updates(grpo)
    json.dumps(row, allow_nan=False)
    assert metrics.row(replace(frame, loss=np.float64("nan"), grad_norm=np.inf), batch) == row | dict(
        loss=None, grad_norm=None
    )
