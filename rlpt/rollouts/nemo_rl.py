"""NeMo RL's samples, one a line, from train_data_step7.jsonl, whose name alone holds the step. Not a model.

NeMo RL v0.7.0, nemo_rl/algorithms/grpo.py and nemo_rl/utils/logger.py, `log_batched_dict_as_jsonl`: a batch is cut into
batches of one, so each value is a list of one. `content` are the texts of all turns, `token_loss_mask` marks the tokens
of the policy, and all arrays of tokens are padded to the longest sample of the step.
"""

import numpy as np

from rlpt.logs.table import Unreadable
from rlpt.rollouts import cells
from rlpt.rollouts.table import Row

FORMAT, PROGRAM = "NeMo RL's train_data", "NeMo RL"
COLUMNS = {
    **{
        "content": "prompt and completion",
        "filtered_rewards": "reward",
        "rewards": "reward",
        "advantages": "advantage",
    },
    **{"token_loss_mask": "tokens", "generation_logprobs": "sampler", "prev_logprobs": "trainer"},
}
TAKEN = {*COLUMNS, "token_ids", "sample_loss_mask", "input_lengths", "agent_ref", "idx"}


def fits(record):
    return {"rewards", "idx"} <= record.keys() and bool({"content", "token_ids"} & record.keys())


def rows(record, name):
    mask = cells.array(cells.only(record.get("token_loss_mask")))
    if mask is None:
        raise Unreadable(
            "The samples have no token_loss_mask, as in NeMo RL's val_data files, which hold evaluations. Completions "
            "of the training are in the files train_data_step1.jsonl and so on."
        )
    at = mask > 0
    ids = cells.only(record.get("token_ids"))
    content = cells.only(record.get("content"))
    turns = tuple(map(cells.text, content)) if isinstance(content, list) else ()
    if not turns:  # one text for the completion, or none
        first = int(np.argmax(at)) if at.any() else len(at)
        known = isinstance(ids, list) and len(ids) == len(at)
        written = [each for each, ours in zip(ids, at) if ours] if known else []
        turns = (cells.text(ids[:first]) if known else "", cells.text(content if content is not None else written))
    yield Row(
        step=cells.step_in(name),
        prompt=turns[0],
        completion="\n".join(turns[1:]),
        numbers=cells.numbers({key: cells.only(value) for key, value in record.items()}, TAKEN),
        # with dynamic sampling `rewards` has the reward before the filter, and `filtered_rewards` what was trained on
        reward=cells.number(cells.only(record.get("filtered_rewards", record["rewards"]))),
        advantage=same(cells.array(cells.only(record.get("advantages"))), at),
        tokens=int(at.sum()),
        sampler=masked(record.get("generation_logprobs"), at),
        trainer=masked(record.get("prev_logprobs"), at),
        turns=turns,
    )


def masked(value, at):
    """The log-probs of the policy's own tokens."""
    found = cells.array(cells.only(value))
    return found[at] if found is not None and found.shape == at.shape else None


def same(advantages, at):
    """The advantage of all tokens of a completion; nan if they have several, as with a critic, or none."""
    if advantages is None or advantages.shape != at.shape or not at.any():
        return np.nan
    own = advantages[at]
    return float(own[0]) if np.ptp(own) < 1e-6 else np.nan


def of_prompt(all_turns):
    """How many of the first turns make the prompt: one, unless a system prompt that all samples share comes first."""
    for n in range(1, min(map(len, all_turns))):
        different = len({turns[:n] for turns in all_turns})
        if different > 1:
            return n if 2 * different <= len(all_turns) else 1
    return 1
