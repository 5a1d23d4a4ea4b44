"""For all tests: which of them run (tests/skip_unchanged.py), how long one may take (tests/processor_time.py), and
what takes longest starts first. A slow machine is no failure of hypothesis, and numpy's matrices have one thread, as in
a build, whose results the tests find.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import pytest
from hypothesis import settings

from tests import processor_time, skip_unchanged

settings.register_profile("book", deadline=None)
settings.load_profile("book")


@pytest.hookimpl(trylast=True)  # after -k and -m, so that a family is what is left of it
def pytest_collection_modifyitems(config, items):
    """Leaves out the tests of the night, and puts the longest, those in Pyodide, at the start and in the middle of the
    list. Workers begin with equal shares of it, so two of them begin with the longest; each of these starts a Pyodide.
    """
    if not skip_unchanged.nightly():
        night = {item for item in items if item.get_closest_marker("nightly")}
        config.hook.pytest_deselected(items=[item for item in items if item in night])
        items[:] = [item for item in items if item not in night]
    skip_unchanged.select(items)
    longest, rest = ([item for item in items if ("pyodide" in item.path.parts) is long] for long in (True, False))
    middle = len(rest) // 2
    items[:] = longest[::2] + rest[:middle] + longest[1::2] + rest[middle:]


def pytest_runtest_setup(item):  # after pytest's own skips, which need no sum, and before fixtures are made
    skip_unchanged.skip_if_passed(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    before = processor_time.charged()
    result = yield
    skip_unchanged.passed(item)
    if processor_time.enforced(item) and (too_long := processor_time.complaint(processor_time.charged() - before)):
        pytest.fail(too_long, pytrace=False)
    return result
