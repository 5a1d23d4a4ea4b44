"""The data of the pages: every entry complete, and a sentence where one is not."""

from dataclasses import dataclass

import pytest

from tools.pages import lesson_data, lessons
from tools.runtime import files


@dataclass(frozen=True)
class Box:
    step: int
    about: str


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.setattr(lesson_data, "FOLDER", tmp_path)
    return lambda entry: files.write(tmp_path / "map.yml", f"boxes:\n  trainer: {entry}\n")


def test_an_entry_of_a_data_file_becomes_its_dataclass(written):
    written('{step: 6, about: "05 22"}')
    assert lesson_data.filled("map.yml", "boxes", Box) == {"trainer": Box(6, "05 22")}


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ('{about: "05"}', "lessons/data/map.yml, boxes, trainer: step is missing"),
        ("{step: 6, about: }", "about is missing"),
        ('{step: 6, about: "05", hint: x}', "nothing is called hint; there are step, about"),
        ("{step: 6, about: 05}", "about is read as the int 5; put it in quotes"),
    ],
)
def test_a_missing_unknown_or_non_text_field_is_one_sentence(written, entry, sentence):
    written(entry)
    with pytest.raises(ValueError, match=sentence):
        lesson_data.filled("map.yml", "boxes", Box)


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """A file of data beside a page of its name."""
    monkeypatch.setattr(lesson_data, "LESSONS", tmp_path)
    files.write(tmp_path / "09-a.md", "text")
    return lambda text: files.write(tmp_path / "09-a.yml", text)


def test_a_page_has_its_data_in_a_file_beside_it(beside):
    beside("words: {ratio: {name: Ratio}}\n")
    assert lesson_data.of_pages("words") == {"09-a": {"ratio": {"name": "Ratio"}}}
    assert lesson_data.of_pages("failures") == {}


def test_a_data_section_that_no_page_has_is_reported_in_one_sentence(beside):
    beside("word: {}\n")
    with pytest.raises(ValueError, match=r"lessons/09-a.yml: no section is called word; there are failures, without"):
        lesson_data.of_pages("words")


def test_a_data_file_without_its_page_is_reported_in_one_sentence(beside, tmp_path):
    files.write(tmp_path / "09-b.yml", "words: {}\n")
    with pytest.raises(ValueError, match=r"lessons/09-b.yml belongs to no page: there is no lessons/09-b.md"):
        lesson_data.of_pages("words")


def test_every_part_of_the_navigation_has_its_answer():
    for part, _ in lessons.parts():
        assert lessons.about(part.partition(" ·")[0])["asks"].endswith((".", "?"))


def test_a_part_without_an_answer_is_reported_in_one_sentence():
    with pytest.raises(ValueError, match=r"parts.yml does not say what Part IX answers"):
        lessons.about("Part IX")
