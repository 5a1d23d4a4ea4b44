"""For all tests: a slow machine is no failure of hypothesis, and what takes longest starts first."""
from hypothesis import settings

settings.register_profile("book", deadline=None)
settings.load_profile("book")


def pytest_collection_modifyitems(items):
    """The longest first, so that no worker is left alone with it at the end."""
    items.sort(key=lambda item: "pyodide" not in item.path.parts)
