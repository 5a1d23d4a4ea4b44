"""TRL's completions, a row each, from GRPOTrainer's OUTPUT/completions/completions_00010.parquet. Not a model.

trl v1.16.0, trl/trainer/grpo_trainer.py, `log`: step, prompt and completion (texts or messages), a column for each
reward function, the columns of `log_extra`, advantage. Neither the sum of the rewards nor their weights are written,
so a score cannot be told from a column of `log_extra`. RLOOTrainer writes no file.
"""

from rlpt.rollouts import cells
from rlpt.rollouts.table import Row

FORMAT, PROGRAM = "TRL's completions", "TRL"
COLUMNS = {"step": "step", "prompt": "prompt", "completion": "completion", "advantage": "advantage"}


def fits(record):
    return COLUMNS.keys() <= record.keys()


def rows(record, name):
    yield Row(
        step=cells.step(record["step"]),
        prompt=cells.text(record["prompt"]),
        completion=cells.policy_text(record["completion"]),
        numbers=cells.numbers(record, COLUMNS),
        advantage=cells.number(record["advantage"]),
    )
