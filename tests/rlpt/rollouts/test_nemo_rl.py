"""What NeMo RL keeps: a sample a line, values in lists of one, arrays padded to the longest sample."""

import numpy as np
import pytest

from tests.rlpt.rollouts.made import read, said

NAME = "logs/exp_001/train_data_step7.jsonl"


def sample(idx, turns, reward, mask, advantage=0.0, **others):
    """A line as `log_batched_dict_as_jsonl` writes it, NeMo RL v0.7.0, nemo_rl/utils/logger.py."""
    lists = {
        "content": turns,
        "rewards": reward,
        "input_lengths": len(mask),
        "token_ids": [*range(len(mask))],
        "token_loss_mask": mask,
        "sample_loss_mask": 1.0,
        "advantages": [advantage * m for m in mask],
        "generation_logprobs": [-1.0 * m * n for n, m in enumerate(mask)],
        "prev_logprobs": [-1.5 * m * n for n, m in enumerate(mask)],
    } | others
    return {key: [value] for key, value in lists.items()} | {"idx": idx}


def step():
    return [
        sample(0, ["2+2=", "4"], 1.0, [0, 0, 1, 1], 0.5),
        sample(1, ["2+2=", "five"], 0.0, [0, 0, 1, 0], -0.5),
        sample(2, ["1+1=", "2"], 1.0, [0, 1, 1, 1], 0.25),
        sample(3, ["1+1=", "3"], 0.0, [0, 1, 1, 1], -0.25),
    ]


def test_lists_of_one_are_opened_and_arrays_reduced_to_the_tokens_of_the_policy():
    found = read(step(), name=NAME)
    one = found.rollouts
    assert (found.format, found.program, found.notes) == ("NeMo RL's train_data", "NeMo RL", [])
    assert one.step.tolist() == [7] * 4 and one.group.tolist() == [0, 0, 1, 1]
    assert one.prompts == ["2+2=", "1+1="] and one.completions == ["4", "five", "2", "3"]
    assert one.reward.tolist() == [1, 0, 1, 0] and one.advantage.tolist() == [0.5, -0.5, 0.25, -0.25]
    assert one.tokens.tolist() == [2, 1, 3, 3] and one.scores == {} and one.cut is None
    assert [each.tolist() for each in one.sampler] == [[-2, -3], [-2], [-1, -2, -3], [-1, -2, -3]]
    assert [each.tolist() for each in one.trainer] == [[-3, -4.5], [-3], [-1.5, -3, -4.5], [-1.5, -3, -4.5]]
    assert all(each.dtype == np.float32 for each in [*one.sampler, *one.trainer])


def test_with_dynamic_sampling_the_filtered_reward_is_what_was_trained_on():
    rows = [each | {"rewards": [9.0], "filtered_rewards": each["rewards"]} for each in step()]
    assert read(rows, name=NAME).rollouts.reward.tolist() == [1, 0, 1, 0]


def test_later_turns_belong_to_the_completion():
    rows = [sample(n, ["2+2=", text, "Wrong.", "4"], 1.0, [0, 1, 0, 1]) for n, text in enumerate("35")]
    one = read(rows, name=NAME).rollouts
    assert one.prompts == ["2+2="] and one.completions == ["3\nWrong.\n4", "5\nWrong.\n4"]


def test_a_system_prompt_that_all_samples_share_is_no_group():
    rows = [each | {"content": [["Add.", *each["content"][0]]]} for each in step()]
    one = read(rows, name=NAME).rollouts
    assert one.prompts == ["Add.\n2+2=", "Add.\n1+1="] and one.completions == ["4", "five", "2", "3"]


def test_advantages_that_differ_from_token_to_token_are_not_one_number():
    rows = [sample(0, ["a", "b"], 1.0, [0, 1, 1], advantages=[0.0, 0.5, 0.25])] * 2
    assert read(rows, name=NAME).rollouts.advantage is None


@pytest.mark.parametrize("content, completion", [("4", "4"), (None, "2 3")])
def test_without_turns_the_prompt_is_its_token_ids(content, completion):
    """nemo_rl/algorithms/grpo_sync.py keeps the text of the completion alone, or no text."""
    one = read([sample(0, content, 1.0, [0, 0, 1, 1])] * 2, name=NAME).rollouts
    assert one.prompts == ["0 1"] and one.completions == [completion] * 2


def test_files_of_evaluations_are_left_out():
    evaluation = [{"content": [[{"role": "user", "content": "2+2="}]], "rewards": [1.0], "idx": 0}]
    assert said(evaluation, name="val_data_step7.jsonl").startswith("The samples have no token_loss_mask")
    found = read({"val_data_step7.jsonl": evaluation, NAME: step()})
    assert list(found.left_out) == ["val_data_step7.jsonl"] and len(found.rollouts) == 4
