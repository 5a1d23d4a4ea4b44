"""Makes TRL's RLOOTrainer keep its completions, as JSON lines with the columns of GRPOTrainer's parquet files."""

import json
from pathlib import Path

from transformers import TrainerCallback


class KeepRollouts(TrainerCallback):
    """After `trainer = RLOOTrainer(…)`, call `trainer.add_callback(KeepRollouts(trainer))`."""

    def __init__(self, trainer):
        self.trainer, self.evaluated = trainer, None

    def on_log(self, args, state, control, **kwargs):
        logs = self.trainer._logs
        held = list(logs["prompt"]), list(logs["completion"])
        if not self.trainer.model.training:
            self.evaluated = held  # and held until the next batch of the training is sampled
        if held == self.evaluated or not state.is_world_process_zero:
            return
        columns = {"prompt": logs["prompt"], "completion": logs["completion"], **logs["rewards"], **logs["extra"]}
        columns["advantage"] = logs["advantages"]
        folder = Path(args.output_dir, "completions")
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / f"completions_{state.global_step:05d}.jsonl", "w", encoding="utf-8") as file:
            for values in zip(*columns.values()):
                row = {"step": state.global_step, **dict(zip(columns, values))}
                file.write(json.dumps(row, default=str) + "\n")
