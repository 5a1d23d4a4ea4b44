"""Text of the pages that belongs to no lesson: lessons/data/*.yml, read and checked."""

from dataclasses import fields
from pathlib import Path

import yaml

FOLDER = Path(__file__).parents[2] / "lessons" / "data"


def read(name):
    """What a file says, as dicts and words."""
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def filled(name, section, form):
    """{key: form(…)} from one section of a file; each entry has exactly the fields of the dataclass `form`, all
    filled.
    """
    entries = read(name).get(section) or {}
    for key, entry in entries.items():
        where = f"lessons/data/{name}, {section}, {key}"
        wanted = {field.name: field.type for field in fields(form)}
        if missing := [field for field in wanted if entry.get(field) in (None, "")]:
            raise ValueError(f"{where}: {', '.join(missing)} is missing")
        if unknown := [field for field in entry if field not in wanted]:
            raise ValueError(f"{where}: nothing is called {', '.join(unknown)}; there are {', '.join(wanted)}")
        for field, value in entry.items():
            if type(value) is not wanted[field]:
                raise ValueError(f"{where}: {field} is read as the {type(value).__name__} {value}; put it in quotes")
    return {key: form(**entry) for key, entry in entries.items()}
