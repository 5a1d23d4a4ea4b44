"""Files that are either whole or not there: everything is written beside its place and renamed into it."""

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

RENAME_SECONDS = 10


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


def exchange(new, path, old):
    """The directory `new` takes the place of the one at `path`, if there is one, which becomes `old`: two renames, so
    that the old files are gone for microseconds only, and stay if the new ones cannot come.
    """
    if path.exists():
        renamed(path, old)
    try:
        renamed(new, path)
    except OSError:
        if old.exists():
            renamed(old, path)
        raise


def renamed(path, to):
    """Windows renames no directory while any program has a file below it open: a server, or a scan of what is new."""
    for _ in range(RENAME_SECONDS * 10 if os.name == "nt" else 0):
        with contextlib.suppress(PermissionError):
            return path.rename(to)
        time.sleep(0.1)
    return path.rename(to)


def forget(folder, days=14):
    """Remove the files of a cache that nobody has asked for in so many days: who reads one gives it the time of day."""
    for path in folder.glob("*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > days * 86400:
                path.unlink()


def copy(source, path):
    with replacing(path) as new:
        shutil.copyfile(source, new)
