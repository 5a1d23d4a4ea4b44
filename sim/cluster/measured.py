"""Steps that others have timed, in seconds: a synchronous run and the asynchronous run of the same job beside it.

From verl's documentation of its fully asynchronous trainer (docs/advance/fully_async.md, 2025, read in its versions of
2025-10 and 2026-05). Means over 400 steps of 512 prompts x 16 completions on H20. Data, no model of anything.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    name: str
    model: str  # a key of sim/cluster/models.py
    gpus: int
    step: float  # synchronous: every role on all GPUs, one after the other
    generate: float
    old_log_prob: float
    reference: float
    update: float
    async_step: float  # the same job with the GPUs split into a generating and a training pool
    async_gpus: tuple  # (generating, training)
    async_update: float
    async_wait: float  # the trainer's wait for samples, which the asynchronous rows call gen

    def named(self):
        """Seconds of the synchronous step that are attributed to a role."""
        return self.generate + self.old_log_prob + self.reference + self.update


# The first row: the version of 2025-10 has 313.81 and 269.80 the other way round. With it the rows add up (11.2 s
# unattributed, as in the other synchronous rows); as printed since, the asynchronous update is longer than its own
# step, but the update scales with the GPUs as in the other rows. What rests on which is right: the seconds left over in
# this row (7 % as printed now, 1 % in the older version) and its share of update (34 or 40 %).
_ROWS = [
    Measured("7B, 32 GPUs", "qwen2.5-7b", 32, 790.10, 357.41, 107.71, 0.0, 269.80, 294.77, (16, 16), 313.81, 21.26),
    Measured("7B, 64 GPUs", "qwen2.5-7b", 64, 365.28, 150.72, 70.26, 0.0, 133.41, 189.26, (32, 32), 156.98, 28.46),
    Measured("7B, 128 GPUs", "qwen2.5-7b", 128, 356.30, 177.85, 53.92, 0.0, 113.81, 150.63, (64, 64), 113.16, 33.14),
    Measured(
        "30B-A3B, 128 GPUs", "qwen3-30b-a3b", 128, 497.89, 348.05, 28.73, 20.86, 86.27, 282.75, (96, 32), 206.63, 22.06
    ),
]
VERL = {row.name: row for row in _ROWS}
COMPLETIONS = 512 * 16
# verl, docs/advance/one_step_off.md (2025): 7B, FSDP2, 4 + 12 H20; `waited` for the previous generation is a mean
ONE_OFF = dict(step=520, generate=458, old_log_prob=108, update=337, waited=45)
SYNC_7B = 0.12  # weight transfer, 4 + 4 ranks, same page
SYNC_30B = 4.38  # 16 + 16 ranks, with its checkpoint engine
