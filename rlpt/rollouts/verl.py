"""verl's rollouts, a row each, from trainer.rollout_data_dir/STEP.jsonl. A parser and not a model.

verl v0.9.0, verl/trainer/ppo/ray_trainer.py, `_log_rollout_data`: input, output, gts, score, step, request_id, and what
the reward function returned besides. Trainer v1, verl/trainer/ppo/v1/trainer_base.py: `uid` instead, which is
PROMPT_COMPLETION_OUTPUT. The reward managers in verl/experimental/reward_loop/reward_manager add `overlong` and
`overlong_reward`, `timeout` and `error`, and verl/utils/reward_score/math_dapo.py adds `pred`. No advantage. The rows
are shuffled where the batch was balanced over GPUs.
"""

import math

from rlpt.rollouts import cells
from rlpt.rollouts.table import Row

FORMAT, PROGRAM = "verl's rollouts", "verl"
COLUMNS = {
    **{"step": "step", "input": "prompt", "output": "completion", "score": "reward", "uid": "group"},
    "overlong_reward": "reward",  # the penalty for length, a part of what was paid
    # flags of trouble, the answer that was read out of a text, and a count of messages: none is a mark for the text
    **dict.fromkeys(("overlong", "timeout", "error", "pred", "num_turns"), "left out"),
}


def fits(record):
    return {"step", "input", "output", "score"} <= record.keys()


def rows(record, name):
    uid = record.get("uid")
    yield Row(
        step=cells.step(record["step"]),
        prompt=cells.text(record["input"]),
        completion=cells.policy_text(record["output"]),
        numbers=cells.numbers(record, COLUMNS),
        reward=reward(record),
        group=uid.rsplit("_", 2)[0] if isinstance(uid, str) else None,
    )


def reward(record):
    """What was paid. The DAPO reward manager adds `overlong_reward`, but where the reward function returned a dict, its
    own `score` stands in the file instead of the sum (verl/experimental/reward_loop/reward_manager/dapo.py).
    """
    score, overlong = cells.paid(record, "score"), cells.number(record.get("overlong_reward"))
    if overlong is None or math.isnan(overlong):
        return score
    right = record.get("acc")  # it is the score itself where the function returned a number
    added = isinstance(right, float) and abs(right + overlong - score) < 1e-6
    return score if added else score + overlong
