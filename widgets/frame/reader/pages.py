"""The pages that have a widget, one folder each, widgets/NAME/. Utility code; the pages are found once, on import.

widget.py     the simulator of the page (CONTRIBUTING.md, "A widget")
figures.py    its small figures
exercises.py  the tasks for its readers
editable.py   a function that readers write
"""

import pkgutil
from importlib import import_module
from pathlib import Path
from types import ModuleType

# {page: names of its modules}; a snapshot of Python has no files to list later
MODULES = {
    page.name: {module.name for module in pkgutil.iter_modules([str(page)])}
    for folder in import_module("widgets").__path__
    for page in sorted(Path(folder).iterdir())
    if page.is_dir() and page.name not in ("frame", "__pycache__")
}


def having(kind: str) -> list[str]:
    """The names of the pages that have a module `kind`: "widget", "figures", "exercises", "editable"."""
    return sorted(page for page, modules in MODULES.items() if kind in modules)


def module(page: str, kind: str) -> ModuleType | None:
    """The module widgets/PAGE/KIND.py, or None if there is none."""
    return import_module(f"widgets.{page}.{kind}") if kind in MODULES.get(page, ()) else None


def modules(kind: str) -> list[ModuleType]:
    """All modules of a kind, imported."""
    return [import_module(f"widgets.{page}.{kind}") for page in having(kind)]
