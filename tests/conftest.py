"""For all tests: a slow machine is no failure of hypothesis, what takes longest starts first, and numpy's matrices have
one thread, as in a build, whose results the tests find.
"""

import os

from hypothesis import settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported
settings.register_profile("book", deadline=None)
settings.load_profile("book")


def pytest_collection_modifyitems(items):
    """The longest first, in two places: a worker begins with one of up to four equal shares of the list, and each that
    takes one of these starts a Python of the page's.
    """
    longest, others = ([item for item in items if ("pyodide" in item.path.parts) is long] for long in (True, False))
    middle = len(others) // 2
    items[:] = longest[::2] + others[:middle] + longest[1::2] + others[middle:]
