"""Pictures are drawn in the words of one file, and the style sheet dresses them as it says."""

import ast
import re

import pytest

from tests.test_architecture import ROOT
from tools.pages import results
from widgets.frame.drawing import drawing, lanes, vocabulary
from widgets.frame.drawing import marks as plots
from widgets.frame.reader import panels

SHEET = (ROOT / "site" / "assets" / "style" / "scene.css").read_text(encoding="utf-8")
TOKENS = (ROOT / "site" / "assets" / "style" / "tokens.css").read_text(encoding="utf-8") + SHEET
SCENES = [
    (module, name)
    for module in results.DRAWN
    for name, figure in results.figures(module).items()
    if figure.time or name == "opening" or module == "front"
]


def marks(module, name):
    for (scene, *_), _, _ in results.positions(module, name):
        for column in scene["columns"]:
            for view in column:
                yield from view["marks"]


def roles(mark):
    if mark["kind"] == "tokens":
        return {role for row in mark["rows"] for _, role in row}
    if mark["kind"] == "hundred":
        return {role for role, _ in mark["shares"]}
    if mark["kind"] == "answers":
        return {role for _, role, _ in mark["cells"]}
    if mark["kind"] == "parts":
        return set(mark["roles"])
    if mark["kind"] == "blocks":
        return {role for role, _, _ in mark["cells"]}
    return {mark["role"]} if mark["kind"] in ("bead", "bar", "span", "run", "path") else set()


@pytest.mark.parametrize("name", vocabulary.ROLES)
def test_the_style_sheet_dresses_a_role_as_the_vocabulary_says(name):
    role = vocabulary.ROLES[name]
    (rule,) = re.findall(rf"^\.k-{name} {{\n(.*?)^}}", SHEET, flags=re.S | re.M)
    colors = dict(re.findall(r"--(f|e|i): var\(--(\w+)\);", rule))
    assert colors.get("f", "") == role.fill
    assert colors.get("e", "") == role.edge
    assert colors.get("i", role.ink) == role.ink
    for color in filter(None, (role.fill, role.edge, role.ink)):
        assert f"--{color}:" in TOKENS


@pytest.mark.parametrize("module, name", SCENES)
def test_a_scene_is_drawn_with_marks_and_roles_of_the_vocabulary_alone(module, name):
    for mark in marks(module, name):
        assert mark["kind"] in drawing.DRAW | lanes.DRAW
        assert roles(mark) <= vocabulary.ROLES.keys()


@pytest.mark.parametrize("module, name", SCENES)
def test_a_square_with_text_is_a_token_and_a_probability_is_a_hundred_dots(module, name):
    for mark in marks(module, name):
        if mark["kind"] == "hundred":
            assert sum(share for _, share in mark["shares"]) == pytest.approx(1)
        if mark["kind"] == "tokens":
            assert all(text and len(text) <= 6 for row in mark["rows"] for text, _ in row)


@pytest.mark.parametrize("module, name", SCENES)
def test_a_ring_says_at_most_six_words(module, name):
    for mark in marks(module, name):
        if mark["kind"] == "ring":
            words = re.findall(r"\w+", mark["words"])
            assert len(words) <= vocabulary.RING_WORDS or not mark["seen"], mark["words"]


@pytest.mark.parametrize("module, name", SCENES)
def test_a_scene_calls_things_by_their_names(module, name):
    texts = [sentence for _, sentence, _ in results.positions(module, name)]
    texts += [mark["text"] for mark in marks(module, name) if mark["kind"] == "word"]
    wrong = "|".join(other for others in vocabulary.NAMES.values() for other in others)
    assert not re.findall(rf"\b({wrong})\b", " ".join(texts).lower())


# ── keys of notes, in place of names of colors, which are others in the dark ──
COLORS = re.compile(
    r"\b(navy|petrol|wine|amber|pale[rst]*|blue|orange|gr[ae]y|green|purple|violet|brown|yellow|pink|black|white|"
    r"dark(er)?|light(er)? (tone|color|cell|bar)s?|bright(er)?|red(?![ -]teams?\b))\b",
    re.IGNORECASE,
)
PROSE = [*(ROOT / "lessons").glob("*.md"), *(ROOT / "lessons").rglob("*.yml")]


def shown_by(tree):
    """(line, text) of every text of a module that is no docstring."""
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, holders) and ast.get_docstring(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def test_nothing_that_is_shown_names_a_color():
    code = [path for path in (ROOT / "widgets").rglob("*.py") if path.name != "vocabulary.py"]
    code += [*(ROOT / "tools" / "templates").glob("*.py"), *(ROOT / "rlpt" / "data").glob("*.py")]
    texts = {path: path.read_text(encoding="utf-8") for path in [*code, *PROSE]}
    colored = {path: text for path, text in texts.items() if COLORS.search(text)}
    shown = [(path, *each) for path in code if path in colored for each in shown_by(ast.parse(colored[path]))]
    shown += [(p, *each) for p in PROSE if p in colored for each in enumerate(colored[p].splitlines(), 1)]
    named = [f"{path.relative_to(ROOT)}:{n}: {hit[0]!r}" for path, n, text in shown if (hit := COLORS.search(text))]
    assert not named, "\n".join([*named, "write a key such as [work] before the words (reader/panels.py)"])


def test_a_key_of_a_note_becomes_a_swatch_and_is_no_word():
    note = "[work] batch 3 < 4; [s8] before"
    assert panels.keyed(note) == '<i class="key k-work">batch</i> 3 &lt; 4; <i class="key s8">before</i>'
    assert panels.unkeyed(note) == "▮ batch 3 < 4; ▮ before"
    assert panels.described(plots.panel("Title", note)).startswith("Title, batch 3 < 4; before")
    for unknown in ("[navy] it", "[waits] it"):  # a role without a fill has nothing to show
        with pytest.raises(ValueError, match="neither a role"):
            panels.keyed(unknown)


@pytest.mark.parametrize("module, name", SCENES)
def test_a_note_has_keys_of_marks_that_are_drawn(module, name):
    scenes = [scene for (scene, *_), _, _ in results.positions(module, name)]
    unused = {key for scene in scenes for key in panels.KEY.findall(scene["note"])}
    for scene in scenes:
        unused -= {key for key in unused if re.search(rf"\bk-{key}\b", drawing.svg(scene))} if unused else set()
    # of a quantity one tone stands for all on its side
    assert not {key for key in unused if not key.startswith(("above", "below"))}
