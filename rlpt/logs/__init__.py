"""Readers of the logs that a training run leaves behind: bytes in, piece by piece, and columns of numbers out.

Parsers and not a model. `read` is the way in. The rooms: `reader` (which format a file has), `console` with one module
for each program that prints (on `printed`: `trl`, `verl`, `openrlhf`, `nemo_rl`, `prime_rl`), `json_lines`,
`log_history`, `separated` (CSV) and `copied` (tables off a notebook), `table` (columns and limits), `spelled` (numbers
and JSON).
"""

from rlpt.logs.reader import LIMIT, ROLLOUTS, Reader, read, together
from rlpt.logs.spelled import too_deep
from rlpt.logs.table import READABLE, Log, Unreadable, listed

__all__ = ["LIMIT", "READABLE", "ROLLOUTS", "Log", "Reader", "Unreadable", "listed", "read", "together", "too_deep"]
