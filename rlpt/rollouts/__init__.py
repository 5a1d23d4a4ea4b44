"""Readers of the files in which a trainer keeps its completions: bytes in, piece by piece, and rows out.

Parsers and not a model. `read` is the way in. The rooms: `reader` (which format a file has), one module for each
program that writes completions (`trl`, `verl`, `nemo_rl`, `swift`, `open_instruct`), `other` for all the rest,
`parquet`, `table` (rows, limits and what is said of them), `groups`, `lengths`, and `cells` (texts and numbers).
"""

from rlpt.logs.table import Unreadable
from rlpt.rollouts.other import Unnamed
from rlpt.rollouts.reader import PAGE, READABLE, Files, read
from rlpt.rollouts.table import Limit, Read

__all__ = ["PAGE", "READABLE", "Files", "Limit", "Read", "Unnamed", "Unreadable", "read"]
