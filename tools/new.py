"""The files of a new page, from tools/templates/: all of them or none."""

import keyword
import re

from tools.runtime import files
from tools.runtime.fetch import ROOT
from tools.runtime.messages import Stop, say

TEMPLATES = ROOT / "tools" / "templates"
FORM = (
    "It is: python build.py new KIND NAME, where KIND is lesson, exercise, essay or reference; for instance "
    "new lesson 09a-entropy-bonus, and at will --sim ROOM/MODULE; a reference has no number: new reference units."
)
PAGE, TESTS = "lessons/{stem}.md", "tests/widgets/{name}"
KINDS = dict(  # kind: {file: template}
    lesson={
        PAGE: "lesson.md",
        "lessons/{stem}.yml": "lesson.yml",
        "widgets/{name}/widget.py": "widget.py",
        "widgets/{name}/figures.py": "figures.py",
        "widgets/{name}/exercises.py": "exercises.py",
        f"{TESTS}/test_widget.py": "test_widget.py",
    },
    exercise={
        PAGE: "exercise.md",
        "widgets/{name}/editable.py": "editable.py",
        f"{TESTS}/test_editable.py": "test_editable.py",
    },
    essay={PAGE: "essay.md"},
    reference={PAGE: "reference.md"},
)
MODEL = {"sim/{room}/{module}.py": "model.py", "tests/sim/{room}/test_{module}.py": "test_model.py"}


def page(kind, stem, model=""):
    """The files of a page; for a lesson with `model` (estimators/entropy_bonus) also a module of sim/ and its test."""
    number, name = ("", checked_name(stem)) if kind == "reference" else checked(stem)
    room, module = checked_model(model) if model else ("estimators", "attempts")
    title = name.replace("_", " ").capitalize()
    words = dict(
        LESSON_NUMBER=number,
        LESSON_TITLE=title,
        LESSON_KEY=name.replace("_", "-"),
        WIDGET_NAME=name,
        SIM_ROOM=room,
        SIM_MODEL=module,
    )
    places = dict(stem=stem, name=name, room=room, module=module)
    templates = {path.format(**places): template for path, template in (KINDS[kind] | (MODEL if model else {})).items()}
    if existing := [path for path in templates if (ROOT / path).exists()]:
        raise Stop(f"{existing[0]} exists already; nothing was written.")
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    entry = f"{number} {title}: {stem}.md".lstrip()
    extended = with_entry(navigation, stem, entry) if number else f"{navigation.rstrip()}\n  - {entry}\n"
    write({path: filled(template, words) for path, template in templates.items()})
    for path in templates:
        say(f"  {path}")
    if extended:
        files.write(ROOT / "mkdocs.yml", extended)
        say(f"  mkdocs.yml, nav: - {entry}")
    else:
        say(
            "The lessons before and after this number are of two parts; add this line to nav in mkdocs.yml where it "
            f"belongs:\n    - {entry}"
        )
    say(
        "What is to be filled in is marked TODO; CONTRIBUTING.md has the rules. This names what is left to do:\n"
        f"  {command(kind, stem, name, model)}\n"
        "and this shows the page at http://127.0.0.1:8000/, and again after every change:\n"
        "  python build.py serve"
    )


def command(kind, stem, name, model):
    """The tests that look at a page of this kind."""
    if kind in ("essay", "reference"):
        return f'python build.py test tests/lessons -k "{stem} or words or navigation"'
    paths = f"tests/test_architecture.py tests/lessons tests/pages tests/widgets/frame tests/widgets/{name}"
    room, _, module = model.removesuffix(".py").partition("/")
    tested = f"{name} or {module}" if module not in ("", name) else name
    sim = f" tests/sim/{room}" if model else ""
    return f'python build.py test {paths}{sim} -k "{stem} or {tested} or failures or words or navigation"'


def checked(stem):
    """(number, name of its folder in widgets/), if there can be a page of this name."""
    if not (parts := re.fullmatch(r"(\d\d[a-z]?)-(.+)", stem)):
        raise Stop(f"{stem} is no name of a lesson: two digits, perhaps a letter, and words in small letters. {FORM}")
    number, name = parts.groups()
    if same_number := list((ROOT / "lessons").glob(f"{number}-*.md")):
        raise Stop(f"The number {number} is taken by lessons/{same_number[0].name}; nothing was written.")
    return number, checked_name(name)


def checked_name(name):
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise Stop(f"{name} is no name of a page: words in small letters with hyphens between them. {FORM}")
    module = name.replace("-", "_")
    if keyword.iskeyword(module) or module == "frame":
        raise Stop(f"{module} cannot be the name of a folder in widgets/; nothing was written.")
    return module


def checked_model(model):
    """(room, module) of sim/."""
    rooms = sorted(path.name for path in (ROOT / "sim").iterdir() if (path / "__init__.py").exists())
    room, _, module = model.removesuffix(".py").partition("/")
    if room not in rooms:
        raise Stop(f"sim/ has the rooms {', '.join(rooms)}, and {room} is none of them. {FORM}")
    if not module.isidentifier() or module != module.lower() or keyword.iskeyword(module):
        raise Stop(f"{module or 'Nothing'} cannot be the name of a module in sim/{room}/. {FORM}")
    return room, module


def with_entry(navigation, stem, entry):
    """mkdocs.yml with one more line in nav, after the lesson before it; after the last lesson in the part of that one.
    "" where the lessons before and after it are of two parts and neither has its number.
    """
    lines = navigation.splitlines(keepends=True)
    places, part = [], 0  # (stem, line, part)
    for i in range(lines.index("nav:\n") + 1, len(lines)):
        part += lines[i].rstrip().endswith(":")
        if page := re.search(r": (\d\d\S*)\.md$", lines[i].rstrip()):
            places.append((page[1], i, part))
    before = max((place for place in places if place[0] < stem), default=None)
    after = min((place for place in places if place[0] > stem), default=None)
    if not before or (after and before[0][:2] != stem[:2] and before[2] != after[2]):
        return ""
    indent = re.match(r"\s*", lines[before[1]])[0]
    lines.insert(before[1] + 1, f"{indent}- {entry}\n")
    return "".join(lines)


def filled(template, words):
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    for name, word in words.items():
        text = text.replace(name, word)
    return re.sub(r"(^from widgets\..+\n)+", in_order, text, flags=re.M)


def in_order(imports):
    """The lines of a match, sorted: where an import belongs depends on the name of the page."""
    return "".join(sorted(imports[0].splitlines(keepends=True)))


def write(texts):
    """All of the files or none."""
    written = []
    try:
        for path, text in texts.items():
            files.write(ROOT / path, text)
            written.append(ROOT / path)
    except BaseException:
        for path in written:
            path.unlink()
        raise
