"""What takes long and has passed is left out until something that it depends on changes; THOROUGH=1 runs all of it."""

import hashlib
import os
from contextlib import contextmanager

import pytest

from tools.pages import inputs
from tools.runtime import files

PASSED = inputs.ROOT / "_cache" / "passed"


@contextmanager
def once(words, modules, data=()):
    """Around a test named by `words`: it is skipped if it has passed with these modules, all that they import and these
    files as they are now.
    """
    sums = inputs.digest(*modules), [files.sha256(file) for file in data]
    stamp = PASSED / hashlib.sha256(repr((words, sums)).encode()).hexdigest()[:24]
    if stamp.exists() and not os.environ.get("THOROUGH"):
        os.utime(stamp)
        pytest.skip("it has passed, and nothing that it depends on has changed since")
    yield
    files.write(stamp, repr(words))
