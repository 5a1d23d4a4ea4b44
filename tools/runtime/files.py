"""Files that are either whole or not there: everything is written beside its place and renamed into it."""

import contextlib
import hashlib
import os
import shutil
import tempfile
from pathlib import Path


def sha256(path):
    """The file's sum in hexadecimal, or "" where there is none."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


@contextlib.contextmanager
def replacing(path):
    """A temporary path that becomes `path` when the block ends well, and vanishes when it does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    try:
        yield Path(name)
        os.chmod(name, 0o644)  # mkstemp's files are private
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def write(path, content):
    """`content` at `path`, all of it or nothing."""
    with replacing(path) as new:
        new.write_bytes(content.encode() if isinstance(content, str) else content)


def copy(source, path):
    with replacing(path) as new:
        shutil.copyfile(source, new)
