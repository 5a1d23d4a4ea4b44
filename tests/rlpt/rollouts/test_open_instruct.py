"""open-instruct's rollouts, which hold token ids and no text."""

from tests.rlpt.rollouts.made import read


def row(sample, prompt, ids, reward, **others):
    """open_instruct/rl_utils.py, `RolloutRecord`."""
    base = dict(step=4, sample_idx=sample, prompt_idx=prompt, prompt_tokens=[7, 8], response_tokens=ids, reward=reward)
    base |= dict(advantage=reward - 0.5, finish_reason="stop", dataset="gsm8k", ground_truth=[9], request_info=None)
    return base | dict(logprobs=[-0.5] * len(ids)) | others


def test_token_ids_stand_for_the_texts():
    found = read([row(0, 0, [1, 2, 3], 1.0), row(1, 0, [4], 0.0, finish_reason="length")])
    one = found.rollouts
    assert (found.format, found.program) == ("open-instruct's rollouts", "open-instruct")
    assert one.prompts == ["7 8"] and one.completions == ["1 2 3", "4"] and one.step.tolist() == [4, 4]
    assert one.tokens.tolist() == [3, 1] and one.cut.tolist() == [False, True]
    assert one.reward.tolist() == [1, 0] and one.advantage.tolist() == [0.5, -0.5] and one.scores == {}
    assert [each.tolist() for each in one.sampler] == [[-0.5] * 3, [-0.5]] and one.trainer is None


def test_groups_follow_the_index_of_the_prompt():
    one = read([row(n, n // 2, [n], 1.0) for n in range(4)]).rollouts
    assert one.group.tolist() == [0, 0, 1, 1] and one.prompts == ["7 8", "7 8"]


def test_log_probs_may_be_missing():
    assert read([row(0, 0, [1], 1.0, logprobs=None)]).rollouts.sampler is None
