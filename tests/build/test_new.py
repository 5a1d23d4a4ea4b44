"""`python build.py new`: all of a page's files or none, and what they lack is said."""

import os
import re
import shutil
import subprocess
import sys

import pytest

import build
from tools import new
from tools.runtime import files

NAV = """nav:
  - Home: index.md
  - 00 Orientation: 00-orientation.md
  - Part II · The algorithms:
    - 09 REINFORCE: 09-reinforce.md
    - 10 PPO: 10-ppo.md
    - Compare any two: compare.md
  - Part III · Production:
    - 20 KV cache: 20-kv-cache.md
"""


@pytest.fixture
def clone(tmp_path, monkeypatch):
    monkeypatch.setattr(new, "ROOT", tmp_path)
    files.write(tmp_path / "mkdocs.yml", NAV)
    files.write(tmp_path / "lessons" / "10-ppo.md", "text")
    for room in ("estimators", "worlds"):
        files.write(tmp_path / "sim" / room / "__init__.py", "")
    return tmp_path


def all_files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_new_lesson_is_six_files_and_a_navigation_line_after_the_previous_lesson(clone, capsys):
    before = all_files(clone).keys()
    new.page("lesson", "09a-label-smoothing")
    new_files = {
        "lessons/09a-label-smoothing.md",
        "lessons/09a-label-smoothing.yml",
        "widgets/label_smoothing/widget.py",
        "widgets/label_smoothing/figures.py",
        "widgets/label_smoothing/exercises.py",
        "tests/widgets/label_smoothing/test_widget.py",
    }
    assert all_files(clone).keys() - before == new_files
    lines = (clone / "mkdocs.yml").read_text().splitlines()
    assert lines[lines.index("    - 09 REINFORCE: 09-reinforce.md") + 1] == (
        "    - 09a Label smoothing: 09a-label-smoothing.md"
    )
    output = capsys.readouterr().out
    assert all(path in output for path in new_files)


def test_a_new_lesson_with_its_own_simulation_has_two_more_files(clone):
    new.page("lesson", "09a-label-smoothing", "estimators/label_smoothing")
    written = (clone / "widgets" / "label_smoothing" / "widget.py").read_text()
    assert "from sim.estimators import label_smoothing" in written
    assert "sim/estimators/label_smoothing.py" in all_files(clone)
    assert "tests/sim/estimators/test_label_smoothing.py" in all_files(clone)


@pytest.mark.parametrize(
    ("stem", "line", "after"),
    [
        ("09b-a", "    - 09b A: 09b-a.md", "    - 09 REINFORCE: 09-reinforce.md"),
        ("10a-a", "    - 10a A: 10a-a.md", "    - 10 PPO: 10-ppo.md"),  # the last of its part, but a letter of 10
        ("00a-a", "  - 00a A: 00a-a.md", "  - 00 Orientation: 00-orientation.md"),
        ("20a-a", "    - 20a A: 20a-a.md", "    - 20 KV cache: 20-kv-cache.md"),
        ("21-a", "    - 21 A: 21-a.md", "    - 20 KV cache: 20-kv-cache.md"),  # after the last lesson
    ],
)
def test_a_new_lesson_follows_the_previous_lesson_in_the_same_part(clone, stem, line, after):
    new.page("lesson", stem)
    lines = (clone / "mkdocs.yml").read_text().splitlines()
    assert lines[lines.index(after) + 1] == line


@pytest.mark.parametrize("stem", ["11-a", "01-a"])
def test_the_navigation_line_of_a_lesson_between_two_parts_is_printed_and_not_written(clone, stem, capsys):
    new.page("lesson", stem)
    assert (clone / "mkdocs.yml").read_text() == NAV
    output = capsys.readouterr().out
    assert f"- {stem[:2]} A: {stem}.md" in output and "are of two parts" in output


def test_a_reference_has_no_number_and_stands_at_the_end(clone):
    new.page("reference", "units-and-sizes")
    assert (clone / "mkdocs.yml").read_text() == f"{NAV}  - Units and sizes: units-and-sizes.md\n"
    assert "title: Units and sizes" in (clone / "lessons" / "units-and-sizes.md").read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("lesson", "9-entropy"), "9-entropy is no name of a lesson"),
        (("lesson", "09A-entropy"), "09A-entropy is no name of a lesson"),
        (("lesson", "09a-Entropy"), "Entropy is no name of a page"),
        (("lesson", "09a-label_smoothing"), "label_smoothing is no name of a page"),
        (("lesson", "../09a-entropy"), "is no name of a lesson"),
        (("lesson", "10-entropy"), "The number 10 is taken by lessons/10-ppo.md"),
        (("lesson", "09a-lambda"), "lambda cannot be the name of a folder in widgets/"),
        (("lesson", "09a-frame"), "frame cannot be the name of a folder in widgets/"),
        (("reference", "09-units"), "09-units is no name of a page"),
        (("essay", "units"), "units is no name of a lesson"),
        (("lesson", "09a-taken"), "widgets/taken/widget.py exists already; nothing was written"),
        (("lesson", "09a-a", "--sim", "kl"), "sim/ has the rooms estimators, worlds, and kl is none of them"),
        (("lesson", "09a-a", "--sim", "estimators/"), "Nothing cannot be the name of a module in sim/estimators/"),
        (("lesson", "09a-a", "--sim", "estimators/../x"), "cannot be the name of a module in sim/estimators/"),
        (("lesson", "09a-a", "--model", "estimators/a"), "It is: python build.py new KIND NAME"),
        (("widget", "a"), "It is: python build.py new KIND NAME"),
        (("essay", "09a-a", "--sim", "estimators/a"), "It is: python build.py new KIND NAME"),
        ((), "It is: python build.py new KIND NAME"),
    ],
)
def test_a_page_that_cannot_be_made_gives_one_sentence_and_no_file(clone, words, sentence):
    files.write(clone / "widgets" / "taken" / "widget.py", "theirs")
    before = all_files(clone)
    message = build.main("new", *words)
    assert sentence in message and "\n" not in message
    assert all_files(clone) == before


def test_a_write_that_fails_leaves_none_of_the_files(clone, monkeypatch):
    write, before = files.write, all_files(clone)

    def full(path, text):
        if "tests" in path.parts:
            raise OSError(28, "No space left on device")
        write(path, text)

    monkeypatch.setattr(new.files, "write", full)
    with pytest.raises(OSError, match="No space left"):
        new.page("lesson", "09a-label-smoothing")
    assert all_files(clone) == before


TEXT = {"test_nothing_is_left_to_fill_in", "test_the_prose_keeps_to_its_length_and_its_tone"}
MADE = {  # words of the command: rules about its text, which what is written cannot keep
    ("lesson", "09a-label-smoothing", "--sim", "estimators/label_smoothing"): {
        *TEXT,
        "test_the_main_path_is_short_and_has_its_first_figure_early",
    },
    ("lesson", "29-temperature-and-entropy"): {*TEXT, "test_the_main_path_is_short_and_has_its_first_figure_early"},
    ("exercise", "29a-own-code"): TEXT,
    ("essay", "29b-open-question"): TEXT,
    ("reference", "units-and-sizes"): {"test_nothing_is_left_to_fill_in"},
}


@pytest.mark.when_changed(
    "tests.lessons.test_anatomy", "tests.test_architecture", files=[*(build.ROOT / "tools" / "templates").iterdir()]
)
def test_a_new_page_of_every_kind_keeps_every_rule_but_those_about_its_text(tmp_path):
    """In a copy of the repository: what is left to do is the words."""
    for name in ("sim", "rlpt", "widgets", "lessons", "tests", "tools", "bench", "site/assets", "site/parts"):
        shutil.copytree(build.ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("build.py", "mkdocs.yml", "pyproject.toml", "CONTRIBUTING.md", "site/main.html"):
        shutil.copy(build.ROOT / name, tmp_path / name)
    night = {**os.environ, "PYTHONUTF8": "1", "NIGHTLY": "1"}  # all that the contract asks for, without git

    def run(*words):
        return subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, env=night)

    for words in MADE:
        process = run("build.py", "new", *words)
        assert process.returncode == 0 and "python build.py test tests/" in process.stdout, (
            process.stdout + process.stderr
        )
    own = [
        "tests/sim/estimators/test_label_smoothing.py",
        *(f"tests/widgets/{name}" for name in ("label_smoothing", "temperature_and_entropy", "own_code")),
    ]
    rules = ["tests/test_architecture.py"]
    rules += [f"tests/lessons/test_{name}.py" for name in ("anatomy", "failures", "letters", "numbers", "words")]
    rules += [f"tests/widgets/frame/test_{name}.py" for name in ("contract", "exercises", "figures", "sentences")]
    stems = [words[1] for words in MADE]
    modules = [re.sub(r"^\d\d[a-z]?-", "", stem).replace("-", "_") for stem in stems]
    only = ["-k", " or ".join(["every_page_with_a_number", *stems, *modules]), "-p", "no:cacheprovider", "-rf"]
    tested = run("-m", "pytest", *own, *rules, *only).stdout
    failed = {words: set() for words in MADE}
    for line in tested.splitlines():
        if failure := re.match(r"FAILED \S+::(\w+)(?:\[(.*?)\])?", line):
            failed[next((words for words in MADE if words[1] == failure[2]), line)].add(failure[1])
    assert failed == MADE, tested
    assert "places are to be filled in" in tested and '(CONTRIBUTING.md, "A page")' in tested
    assert run("-m", "ruff", "check", "--no-cache", ".").returncode == 0
