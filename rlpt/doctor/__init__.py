"""What the log of a training run shows: facts read off it, events in time, and a diagnosis by their order.

Not a model: quantities and comparisons. `report` is the way in; the command is `rlpt doctor FILE…`. The rooms:
`columns` (quantities out of a log), `scorers` (what was not trained on), `curves` (batches, beginning, noise), `facts`,
`events` (those of the reward in `reward`, thresholds in `marks`), `signs`, `order` (the diagnosis), `preferences` (logs
of DPO), `changes` (what to change), `files` and `completions` (a run's completions beside its log), `words`.
"""

from rlpt.doctor.order import Report, report

__all__ = ["Report", "report"]
