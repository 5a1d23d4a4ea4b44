"""Keeps evaluations out of the completions that TRL's GRPOTrainer writes if `log_completions=True`."""

from transformers import TrainerCallback


class KeepRollouts(TrainerCallback):
    """After `trainer = GRPOTrainer(…)`, call `trainer.add_callback(KeepRollouts(trainer))`. Without it, an evaluation
    overwrites the file of its step, and fills those of the next steps until another batch is sampled.
    """

    def __init__(self, trainer):
        self.trainer, self.evaluated = trainer, None

    def on_log(self, *args, **kwargs):
        held = list(self.trainer._logs["prompt"]), list(self.trainer._logs["completion"])
        if not self.trainer.model.training:
            self.evaluated = held
        self.trainer.log_completions = held != self.evaluated
