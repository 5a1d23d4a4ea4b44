"""The files of a new lesson, from tools/templates/: all of them or none."""

import keyword
import re

from tools.runtime import files
from tools.runtime.fetch import ROOT
from tools.runtime.messages import Stop, say

TEMPLATES = ROOT / "tools" / "templates"
FORM = "It is: python build.py new lesson NN-name, for instance 09a-entropy-bonus, and at will --sim ROOM/MODULE."


def lesson(stem, model=""):
    """Lesson, widget and their tests, and with `model` (estimators/entropy_bonus) a module of sim/ and its test."""
    number, widget = checked(stem)
    room, module = checked_model(model) if model else ("estimators", "attempts")
    title = widget.replace("_", " ").capitalize()
    words = dict(LESSON_NUMBER=number, LESSON_TITLE=title, WIDGET_NAME=widget, SIM_ROOM=room, SIM_MODEL=module)
    made = {
        f"lessons/{stem}.md": "lesson.md",
        f"widgets/{widget}/__init__.py": "init.py",
        f"widgets/{widget}/widget.py": "widget.py",
        f"tests/widgets/{widget}/test_widget.py": "test_widget.py",
        f"tests/lessons/test_{stem.replace('-', '_')}.py": "test_lesson.py",
    }
    if model:
        made |= {f"sim/{room}/{module}.py": "model.py", f"tests/sim/{room}/test_{module}.py": "test_model.py"}
    if there := [path for path in made if (ROOT / path).exists()]:
        raise Stop(f"{there[0]} exists already; nothing was written.")
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    entry = f"{number} {title}: {stem}.md"
    extended = with_entry(navigation, stem, entry)
    write({path: filled(template, words) for path, template in made.items()})
    for path in made:
        say(f"  {path}")
    if extended:
        files.write(ROOT / "mkdocs.yml", extended)
        say(f"  mkdocs.yml, nav: - {entry}")
    else:
        say(f"The number fits into two parts; add this line to nav in mkdocs.yml where it belongs:\n    - {entry}")
    rules = "tests/lessons/test_anatomy.py tests/widgets/frame/test_contract.py"
    say(
        "What is to be filled in is marked TODO, and CONTRIBUTING.md has the rules. What is left to do says\n"
        f'  python build.py test {rules} -k "{number} or {widget}"'
    )


def checked(stem):
    """(number, name of the widget), if there can be a lesson of this name."""
    if not (parts := re.fullmatch(r"(\d\d[a-z]?)-([a-z][a-z0-9]*(?:-[a-z0-9]+)*)", stem)):
        raise Stop(f"{stem} is no name of a lesson: two digits, perhaps a letter, and words in small letters. {FORM}")
    number, name = parts.groups()
    if taken := list((ROOT / "lessons").glob(f"{number}-*.md")):
        raise Stop(f"The number {number} is taken by lessons/{taken[0].name}; nothing was written.")
    widget = name.replace("-", "_")
    if keyword.iskeyword(widget) or widget == "frame":
        raise Stop(f"{widget} cannot be the name of a module in widgets/; nothing was written.")
    return number, widget


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
    """mkdocs.yml with one line more in nav; "" where the lessons before and after it are of two parts, and neither has
    its number.
    """
    lines = navigation.splitlines(keepends=True)
    places, part = [], 0  # (stem, line, part)
    for i in range(lines.index("nav:\n") + 1, len(lines)):
        part += lines[i].rstrip().endswith(":")
        if page := re.search(r": (\d\d\S*)\.md$", lines[i].rstrip()):
            places.append((page[1], i, part))
    before = max((place for place in places if place[0] < stem), default=None)
    after = min((place for place in places if place[0] > stem), default=None)
    belongs = before and (before[0][:2] == stem[:2] or (after and before[2] == after[2]))
    if not belongs:
        return ""
    indent = re.match(r"\s*", lines[before[1]])[0]
    lines.insert(before[1] + 1, f"{indent}- {entry}\n")
    return "".join(lines)


def filled(template, words):
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    for name, word in words.items():
        text = text.replace(name, word)
    return text


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
