"""For all tests: a slow machine is no failure of hypothesis, and what takes longest starts first."""

from hypothesis import settings

settings.register_profile("book", deadline=None)
settings.load_profile("book")


def pytest_collection_modifyitems(items):
    """The longest first, each on a worker of its own: a worker begins with one of up to four equal shares of the
    list.
    """
    longest, others = ([item for item in items if ("pyodide" in item.path.parts) is long] for long in (True, False))
    for i, item in enumerate(longest):
        others.insert(i * len(items) // 4, item)
    items[:] = others
