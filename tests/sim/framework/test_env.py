import numpy as np

from sim.framework import env
from sim.framework.rollout import RolloutEngine
from sim.worlds import modsum


def sampled():
    return RolloutEngine(modsum.Policy()).generate(modsum.Task(), np.arange(4), 100, np.random.default_rng(0))


def test_right_is_ended_with_the_targets_residue():
    batch = env.Verifier(modsum.Task()).verify(*sampled())
    digits = np.where(batch.tokens == modsum.EOS, 0, batch.tokens + 1) * batch.response_mask
    right = batch.finished & (digits.sum(axis=1) % 7 == modsum.TARGETS[batch.example])
    np.testing.assert_array_equal(batch.accuracy, right)
    np.testing.assert_array_equal(batch.reward, batch.accuracy)


def test_a_cut_off_completion_is_wrong_because_it_has_no_answer():
    batch = env.Verifier(modsum.Task()).verify(*sampled())
    assert (~batch.finished).any()
    assert {d["reason"] for d, ended in zip(batch.details, batch.finished) if not ended} == {"empty"}


def test_equal_answers_are_scored_once_whichever_run_they_come_from():
    env.scored.cache_clear()
    for _ in range(2):
        env.Verifier(modsum.Task()).verify(*sampled())
    seen = env.scored.cache_info()
    assert (
        4 <= seen.misses <= 4 * 8 and seen.hits + seen.misses == 2 * 400
    )  # four prompts; seven residues and no answer


def test_a_task_may_pay_something_else_than_accuracy():
    class Long(modsum.Task):
        def pay(self, batch):
            return batch.response_mask.sum(axis=1)

    batch = env.Verifier(Long()).verify(*sampled())
    np.testing.assert_array_equal(batch.reward, batch.response_mask.sum(axis=1))
    assert set(batch.accuracy) == {0.0, 1.0}
