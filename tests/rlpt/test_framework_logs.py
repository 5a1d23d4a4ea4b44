"""A run of the trace lab in seven formats: what is written, and when of an update."""

import json
from functools import cache

import numpy as np
import pytest

from rlpt import framework_logs
from sim.experiments import tracelab


@cache
def trace():
    return tracelab.trace(tracelab.Setting(steps=25), seed=0)


def test_a_row_shows_the_policy_before_its_updates_and_its_own_batch():
    rows = [values for _, values in framework_logs.rows(trace(), "TRL") if "reward" in values]
    assert rows[0]["completions/mean_length"] == pytest.approx(771.84) and rows[0]["kl"] == 0
    assert rows[0]["entropy"] == pytest.approx(0.822290, abs=1e-6)
    assert rows[7]["entropy"] == trace()["entropy"][6] and rows[7]["reward"] == trace()["proxy"][7]
    assert rows[7]["kl"] == pytest.approx(trace()["kl"][6] / trace()["length"][6])  # a token


def test_evaluations_are_before_training_and_after_each_fifth_update():
    for framework, steps in (("TRL", range(0, 26, 5)), ("verl", range(0, 26, 5)), ("OpenRLHF", range(1, 26))):
        name = framework_logs.HELD_OUT[framework]
        seen = {step: values[name] for step, values in framework_logs.rows(trace(), framework) if name in values}
        assert list(seen) == list(steps)
        assert seen[5] == trace()["right"][4]
    assert dict(framework_logs.rows(trace(), "verl"))[0] == {
        framework_logs.HELD_OUT["verl"]: pytest.approx(0.43738, abs=1e-5)
    }


def test_the_quantities_that_are_logged_under_other_names():
    run = trace()
    assert np.all(run["reward_max"] >= run["proxy"]) and np.all(run["reward_min"] <= run["proxy"])
    assert np.all(run["probability_gap"] <= run["gap"]) and np.all(run["k3"] >= -1e-12)
    # rewards of 0 and 1: sd² = mean (1 − mean)
    assert run["reward_sd"] ** 2 == pytest.approx(run["proxy"] * (1 - run["proxy"]))
    # a group of sixteen with both rewards has a deviation of at least 1/√16
    assert np.all(run["group_sd"] >= (1 - run["zero_variance"]) / 4 - 1e-12)


@pytest.mark.parametrize("format", framework_logs.FORMATS)
def test_defaults_log_less_than_all_options(format):
    def size(options):
        return sum(len(text) for text in framework_logs.export(trace(), format, options).values())

    assert size(True) > size(False) > 0


def test_the_rollouts_have_the_share_of_equal_groups():
    files = framework_logs.rollouts(trace())
    assert list(files)[:2] == ["1.jsonl", "2.jsonl"]
    rows = [json.loads(line) for line in files["20.jsonl"].splitlines()]
    groups = {}
    for row in rows:
        groups.setdefault(row["input"], set()).add(row["score"])
    assert np.mean([len(scores) == 1 for scores in groups.values()]) == trace()["zero_variance"][19]
