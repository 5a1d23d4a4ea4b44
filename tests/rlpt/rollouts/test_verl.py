"""What verl's trainers keep in trainer.rollout_data_dir."""

import random

import numpy as np
import pytest

from tests.rlpt.rollouts.made import lines, read, said


def row(n, k, step=3, score=0.0, **others):
    base = {"input": f"prompt {n}", "output": f"text {n}{k}", "gts": "4", "score": score, "step": step}
    return base | others


def test_shuffled_rows_are_grouped_by_their_input_and_never_by_the_request():
    rows = [row(n, k, score=float(n), acc=k == 0, request_id=f"{n}-{k}") for n in range(4) for k in range(8)]
    random.Random(1).shuffle(rows)
    found = read(rows, name="3.jsonl")
    one = found.rollouts
    assert (found.format, found.program) == ("verl's rollouts", "verl")
    assert np.bincount(one.group).tolist() == [8] * 4 and one.steps.tolist() == [3]
    assert all(one.prompts[g] == f"prompt {reward:.0f}" for g, reward in zip(one.group, one.reward))
    assert list(one.scores) == ["acc"] and one.scores["acc"].sum() == 4 and one.advantage is None
    assert found.notes == ["Columns left out, because they hold no scores: “gts”, “request_id”."]


def test_the_uid_less_its_last_two_parts_tells_groups_of_one_prompt_apart():
    """{uid}_{session_id}_{index}: verl v0.9.0, verl/trainer/ppo/v1/agent_loop_tq.py."""
    rows = [row(0, k, uid=f"{uid}_{k}_0") for k in range(4) for uid in ("f00_d", "beef")]
    one = read(rows).rollouts
    assert one.prompts == ["prompt 0"] * 2 and np.bincount(one.group).tolist() == [4, 4]


def test_groups_of_one_prompt_that_cannot_be_told_apart_are_noted():
    rows = [row(n, k) for k in range(4) for n in (0, 1, 2, 0)]
    found = read(rows)
    assert np.bincount(found.rollouts.group).tolist() == [8, 4, 4]
    assert found.notes[-1].startswith("1 prompt came up several times in one step.")


def test_nan_in_json_is_read_and_a_completion_without_a_reward_left_out():
    text = lines([row(0, 0, format=1.0), row(0, 1, format=1.0)]) + (
        '{"input": "prompt 0", "output": "z", "gts": null, "score": NaN, "step": 3, "format": 0.0}\n'
        '{"input": "prompt 0", "output": "z", "gts": null, "score": 1.0, "step": 3, "format": NaN}\n'
    )
    found = read(text)
    assert found.rollouts.reward.tolist() == [0, 0, 1] and np.isnan(found.rollouts.scores["format"][2])
    assert "Left out, because the reward is missing or NaN: 1 completion." in found.notes


@pytest.mark.parametrize(
    "score, acc, paid",
    [
        (-1.0, False, -1.5),  # math_dapo returns {"score": -1, "acc": False}, and the file has that score
        (1.0, True, 0.5),
        (0.0, 0.0, -0.5),
        (0.5, 1.0, 0.5),  # a function that returns a number: `acc` is the number, and the file has the sum
    ],
)
def test_a_penalty_for_length_counts_once(score, acc, paid):
    """verl v0.9.0, verl/experimental/reward_loop/reward_manager/dapo.py: reward = score + overlong_reward."""
    one = read([row(0, k, score=score, acc=acc, overlong_reward=-0.5, overlong=True) for k in range(2)]).rollouts
    assert one.reward.tolist() == [paid, paid] and list(one.scores) == ["acc"]


def test_flags_of_trouble_answers_and_counts_are_no_scores():
    """verl v0.9.0: dapo.py, limited.py and naive.py of the reward managers, and reward_score/math_dapo.py."""
    others = dict(overlong_reward=-0.5, overlong=True, timeout=False, error=None, pred=4, num_turns=2)
    found = read([row(0, k, acc=1.0, format=0.5, tool_extra_fields={}, **others) for k in range(2)])
    assert list(found.rollouts.scores) == ["acc", "format"] and found.columns["overlong_reward"] == "reward"
    left = {name for name, role in found.columns.items() if role == "left out"}
    assert left == {"gts", "overlong", "timeout", "error", "pred", "num_turns", "tool_extra_fields"}


def test_a_folder_of_steps_is_put_in_order():
    found = read({f"{s}.jsonl": [row(0, k, step=s, score=float(s)) for k in range(2)] for s in (10, 9, 100)})
    assert found.rollouts.step.tolist() == [9, 9, 10, 10, 100, 100] == found.rollouts.reward.tolist()


def test_a_text_as_reward_is_refused():
    assert said([row(0, 0, score="good")]) == "The reward in “score” is no number: “good”."
    assert said([row(0, 0, score=None)] * 2) == "The reward is missing or NaN in all 2 rows."
