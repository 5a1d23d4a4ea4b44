"""Rows of a parquet file, by pyarrow, which only a terminal needs: the page reads parquet in JavaScript. No model."""

import io

from rlpt.logs.table import Unreadable

MAGIC = b"PAR1"


def records(content):
    """The rows of a file's bytes, as dicts."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise Unreadable("A parquet file needs pyarrow: pip install pyarrow.") from None
    try:
        for batch in pyarrow.parquet.ParquetFile(io.BytesIO(content)).iter_batches():
            yield from batch.to_pylist()
    except (pyarrow.ArrowException, OSError, ValueError) as fault:
        said = str(fault).splitlines()[0][:100] if str(fault) else type(fault).__name__
        raise Unreadable(f"The parquet file is damaged: {said.rstrip('.')}.") from None
