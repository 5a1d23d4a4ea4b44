import numpy as np
import pytest

from sim.framework.evaluation import Evaluation, evaluated
from sim.worlds import modsum, tasks


def test_the_share_and_its_interval_are_of_all_completions():
    found = Evaluation(update=30, right=81, completions=263)
    assert found.mean == 81 / 263
    assert str(found) == "0.308 [0.255, 0.366]"  # Newcombe (1998), table I, method 3


def test_nineteen_of_twenty_intervals_hold_the_exact_pass_rate_of_the_prompts():
    prompts, policy = np.arange(0, 100, 5), tasks.checkpoint("add")
    exact = tasks.exact_pass(policy)[prompts].mean()  # all passing completions summed up, nothing sampled
    found = [evaluated(tasks.Add(), policy, prompts, 16, seed, 0) for seed in range(200)]
    held = np.mean([low <= exact <= high for low, high in (each.interval for each in found)])
    assert held > 0.95 - 3 * (0.95 * 0.05 / 200) ** 0.5  # three standard errors of 200 such intervals
    assert np.mean([each.mean for each in found]) == pytest.approx(exact, abs=3 * 0.5 / (200 * 320) ** 0.5)


def test_only_the_prompts_asked_for_are_completed_and_the_policy_stays_as_it_is():
    class Watched(modsum.Task):
        def prompt_ids(self, example):
            seen.extend(example.tolist())
            return super().prompt_ids(example)

    seen, policy = [], modsum.Policy()
    before = policy.params["theta"].copy()
    found = evaluated(Watched(), policy, np.array([1, 3]), 5, seed=0, update=0)
    assert seen == [1] * 5 + [3] * 5 and found.completions == 10
    assert (policy.params["theta"] == before).all()


def test_every_update_has_draws_of_its_own_and_the_same_again_for_the_same():
    def right(seed, update):
        return evaluated(modsum.Task(), modsum.Policy(), np.arange(4), 1000, seed, update).right

    assert right(0, 0) == right(0, 0)
    assert len({right(0, 0), right(0, 10), right(1, 0), right(1, 10)}) > 1


def test_no_evaluation_draws_from_the_stream_of_a_run():
    streams = [np.random.default_rng(0).random()]
    streams += [np.random.default_rng(np.random.SeedSequence(0, spawn_key=(n,))).random() for n in range(100)]
    assert len(set(streams)) == 101
