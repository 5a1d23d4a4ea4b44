"""ms-swift's completions.jsonl: a step a line, its values lists. A parser and not a model.

ms-swift 3602360 (August 2026), `step` as text: swift/rlhf_trainers/grpo_trainer.py, `log`. Megatron, `gen_step`:
swift/megatron/trainers/grpo_trainer.py, `_build_log_table`. Ray, a completion a line with `gen_step` and `reward`:
swift/ray/megatron/base_trainer.py, `_maybe_log_completions`.
"""

from rlpt.rollouts import cells
from rlpt.rollouts.table import Row

FORMAT, PROGRAM = "ms-swift's completions.jsonl", "ms-swift"
COLUMNS = {
    **{"step": "step", "gen_step": "step", "prompt": "prompt", "completion": "completion"},
    **{"advantages": "advantage", "reward": "reward"},
}


def fits(record):
    columns = {"prompt", "completion"} <= record.keys()
    return columns and ("gen_step" in record or isinstance(record.get("step"), list))


def whole(record):
    """Whether a line is a whole step."""
    return isinstance(record.get("step", record.get("gen_step")), list)


def rows(record, name):
    if not whole(record):
        yield row(record, reward=cells.paid(record, "reward") if "reward" in record else None)
        return
    lists = {key: values for key, values in record.items() if isinstance(values, list)}
    for n in range(len(lists.get("completion", ()))):
        yield row({key: values[n] for key, values in lists.items() if n < len(values)})


def row(record, reward=None):
    paid_by = {**record, "reward": None} if reward is not None else record
    return Row(
        step=cells.step(record.get("step", record.get("gen_step"))),
        prompt=cells.text(record.get("prompt")),
        completion=cells.policy_text(record.get("completion")),
        numbers=cells.numbers(paid_by, COLUMNS.keys() - ({"reward"} if reward is None else set())),
        reward=reward,
        advantage=cells.number(record["advantages"]) if "advantages" in record else None,
    )
