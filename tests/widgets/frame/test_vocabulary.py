"""Pictures are drawn in the words of one file, and the style sheet dresses them as it says."""

import re

import pytest

from tests.test_architecture import ROOT
from tools.pages import results
from widgets.frame import drawing, lanes, vocabulary

SHEET = (ROOT / "site" / "assets" / "style" / "scene.css").read_text(encoding="utf-8")
TOKENS = (ROOT / "site" / "assets" / "style" / "tokens.css").read_text(encoding="utf-8") + SHEET
SCENES = [
    (module, name)
    for module in results.DRAWN
    for name, figure in results.figures(module).items()
    if figure.time or name in ("opening",)
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
    if mark["kind"] == "parts":
        return set(mark["roles"])
    if mark["kind"] == "blocks":
        return {role for role, _, _ in mark["cells"]}
    return {mark["role"]} if mark["kind"] in ("bead", "bar", "span", "run", "path") else set()


@pytest.mark.parametrize("name", vocabulary.ROLES)
def test_the_style_sheet_dresses_a_role_as_the_vocabulary_says(name):
    role = vocabulary.ROLES[name]
    (rule,) = re.findall(rf"^\.k-{name} {{\n(.*?)^}}", SHEET, flags=re.S | re.M)
    said = dict(re.findall(r"--(f|e|i): var\(--(\w+)\);", rule))
    assert said.get("f", "") == role.fill
    assert said.get("e", "") == role.edge
    assert said.get("i", role.ink) == role.ink
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
    said = [sentence for _, sentence, _ in results.positions(module, name)]
    said += [mark["text"] for mark in marks(module, name) if mark["kind"] == "word"]
    wrong = "|".join(other for others in vocabulary.NAMES.values() for other in others)
    assert not re.findall(rf"\b({wrong})\b", " ".join(said).lower())
