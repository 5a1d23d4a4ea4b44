"""open-instruct's rollouts, a row each, from RUN_rollouts_000000.jsonl. A parser and not a model.

open-instruct e6c3044 (August 2026), open_instruct/rl_utils.py, `RolloutRecord`, written with `save_traces`. The file
has token ids and no text, so the ids are shown.
"""

from rlpt.rollouts import cells
from rlpt.rollouts.table import Row

FORMAT, PROGRAM = "open-instruct's rollouts", "open-instruct"
COLUMNS = {
    **{"step": "step", "prompt_idx": "group", "prompt_tokens": "prompt", "response_tokens": "completion and tokens"},
    **{"reward": "reward", "advantage": "advantage", "finish_reason": "cut", "logprobs": "sampler"},
}
TAKEN = {*COLUMNS, "sample_idx", "dataset", "request_info"}


def fits(record):
    return {"step", "prompt_idx", "prompt_tokens", "response_tokens", "reward"} <= record.keys()


def rows(record, name):
    ids, finish = record["response_tokens"], record.get("finish_reason")
    yield Row(
        step=cells.step(record["step"]),
        prompt=cells.text(record["prompt_tokens"]),
        completion=cells.text(ids),
        numbers=cells.numbers(record, TAKEN),
        reward=cells.paid(record, "reward"),
        advantage=cells.number(record.get("advantage")),
        tokens=len(ids) if isinstance(ids, list) else None,
        cut=finish == "length" if isinstance(finish, str) else None,
        group=cells.text(record["prompt_idx"]) if isinstance(record["prompt_idx"], str) else record["prompt_idx"],
        sampler=cells.array(record["logprobs"]) if record.get("logprobs") else None,
    )
