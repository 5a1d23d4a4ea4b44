"""ms-swift's completions.jsonl, as three of its trainers write it."""

import numpy as np

from tests.rlpt.rollouts.made import read, said


def line(step, prompts="aabb", **columns):
    """swift/rlhf_trainers/grpo_trainer.py, `log`."""
    base = dict(step=[str(step)] * 4, prompt=[*prompts], completion=[f"{step} {n}" for n in range(4)])
    return base | dict(accuracy=[1.0, 0.0, None, 1.0], advantages=[0.5, -0.5, 0.0, 0.0]) | columns


def test_a_line_holds_a_step():
    found = read([line(1), line(2, solution=["4"] * 4, entropy=[0.5] * 4)])
    one = found.rollouts
    assert (found.format, found.program) == ("ms-swift's completions.jsonl", "ms-swift")
    assert one.step.tolist() == [1] * 4 + [2] * 4 and one.group.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert one.advantage[:2].tolist() == [0.5, -0.5] and one.reward is None
    assert list(one.scores) == ["accuracy", "entropy"] and np.isnan(one.scores["accuracy"][2])
    assert np.isnan(one.scores["entropy"][:4]).all() and found.columns["solution"] == "left out"


def test_megatron_writes_gen_step():
    """swift/megatron/trainers/rollout_mixin.py, `_build_log_table`."""
    rows = [{"gen_step": [s] * 4} | {k: v for k, v in line(s).items() if k != "step"} for s in (0, 1)]
    assert read(rows).rollouts.step.tolist() == [0] * 4 + [1] * 4


def test_with_ray_a_line_holds_a_completion():
    """swift/ray/megatron/base_trainer.py, `_maybe_log_completions`."""
    rows = [dict(gen_step=5, prompt=p, completion=f"{p}{k}", reward=float(k)) for p in "ab" for k in range(2)]
    one = read(rows).rollouts
    assert one.step.tolist() == [5] * 4 and one.reward.tolist() == [0, 1, 0, 1] and one.scores == {}
    assert said([rows[0] | {"reward": "good"}]) == "The reward in “reward” is no number: “good”."


def test_a_line_of_the_same_step_comes_from_an_evaluation():
    found = read([line(1), line(2), line(2, prompts="xxyy"), line(3)])
    assert found.rollouts.step.tolist() == [1] * 4 + [2] * 4 + [3] * 4 and "x" not in found.rollouts.prompts
    assert found.notes == ["Lines left out that repeat the step before, as an evaluation writes them: 1."]


def test_a_resumed_run_replaces_the_steps_that_it_repeats():
    found = read([line(1), line(2), line(3), line(2, prompts="ccdd"), line(3, prompts="eeff")])
    assert found.rollouts.prompts == ["a", "b", "c", "d", "e", "f"]
    assert found.notes == ["Steps that a resumed run wrote once more, of which the later completions are kept: 2."]


def test_a_batch_that_is_used_for_two_updates_counts_once():
    found = read([line(1), line(1) | {"step": ["2"] * 4}, line(3)])
    assert found.rollouts.steps.tolist() == [1, 3] and found.notes[0].startswith("At 1 step the completions are those")


def test_a_reward_function_may_be_called_reward():
    found = read([line(1, reward=[1.0, 0.0, 0.0, 0.0])])
    assert found.rollouts.reward is None and found.rollouts.scores["reward"].tolist() == [1, 0, 0, 0]
