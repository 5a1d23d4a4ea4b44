"""Data of the pages: a page's own stands beside it (lessons/10-ppo.yml), all other in lessons/data/*.yml."""

from dataclasses import MISSING, fields
from pathlib import Path

import yaml

LESSONS = Path(__file__).parents[2] / "lessons"
FOLDER = LESSONS / "data"
SECTIONS = "failures", "without", "words", "letters"  # of a page's own file


def read(name):
    """A file of lessons/data/, as dicts and words."""
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def of_pages(section):
    """{stem of a page: this section of its own file}, of the pages that have it, by name."""
    sections = {}
    for file in sorted(LESSONS.glob("*.yml")):
        if not file.with_suffix(".md").is_file():
            raise ValueError(f"lessons/{file.name} belongs to no page: there is no lessons/{file.stem}.md")
        content = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
        if unknown := [name for name in content if name not in SECTIONS]:
            raise ValueError(f"lessons/{file.name}: no section is called {unknown[0]}; there are {', '.join(SECTIONS)}")
        if content.get(section):
            sections[file.stem] = content[section]
    return sections


def filled(name, section, form):
    """{key: form(…)} from one section of a file of lessons/data/."""
    entries = read(name).get(section) or {}
    return {key: made(form, entry, f"lessons/data/{name}, {section}, {key}") for key, entry in entries.items()}


def made(form, entry, where):
    """The dataclass `form` of an entry, which has its fields, all of them filled but those with a default. `where` is
    the beginning of the sentence about an entry that has not.
    """
    wanted = {field.name: field.type for field in fields(form)}
    needed = [field.name for field in fields(form) if field.default is MISSING]
    if missing := [field for field in needed if entry.get(field) in (None, "")]:
        raise ValueError(f"{where}: {', '.join(missing)} is missing")
    if unknown := [field for field in entry if field not in wanted]:
        raise ValueError(f"{where}: nothing is called {', '.join(unknown)}; there are {', '.join(wanted)}")
    for field, value in entry.items():
        if type(value) is not wanted[field]:
            raise ValueError(f"{where}: {field} is read as the {type(value).__name__} {value}; put it in quotes")
    return form(**entry)
