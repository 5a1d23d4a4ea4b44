"""`python build.py new lesson`: all of a lesson's files or none, and what they lack is said."""

import os
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


def test_a_lesson_is_four_files_and_a_line_after_the_one_before_it(clone, capsys):
    before = all_files(clone).keys()
    new.lesson("09a-entropy-bonus")
    made = {
        "lessons/09a-entropy-bonus.md",
        "widgets/entropy_bonus.py",
        "tests/widgets/test_entropy_bonus.py",
        "tests/lessons/test_09a_entropy_bonus.py",
    }
    assert all_files(clone).keys() - before == made
    lines = (clone / "mkdocs.yml").read_text().splitlines()
    assert lines[lines.index("    - 09 REINFORCE: 09-reinforce.md") + 1] == (
        "    - 09a Entropy bonus: 09a-entropy-bonus.md"
    )
    told = capsys.readouterr().out
    assert all(path in told for path in made)


def test_a_model_of_its_own_is_two_more(clone):
    new.lesson("09a-entropy-bonus", "estimators/entropy_bonus")
    assert "from sim.estimators import entropy_bonus" in (clone / "widgets" / "entropy_bonus.py").read_text()
    assert "sim/estimators/entropy_bonus.py" in all_files(clone)
    assert "tests/sim/estimators/test_entropy_bonus.py" in all_files(clone)


@pytest.mark.parametrize(
    ("stem", "line", "after"),
    [
        ("09b-a", "    - 09b A: 09b-a.md", "    - 09 REINFORCE: 09-reinforce.md"),
        ("10a-a", "    - 10a A: 10a-a.md", "    - 10 PPO: 10-ppo.md"),  # the last of its part, but a letter of 10
        ("00a-a", "  - 00a A: 00a-a.md", "  - 00 Orientation: 00-orientation.md"),
        ("20a-a", "    - 20a A: 20a-a.md", "    - 20 KV cache: 20-kv-cache.md"),
    ],
)
def test_a_lesson_stands_behind_the_one_before_it_in_the_same_part(clone, stem, line, after):
    new.lesson(stem)
    lines = (clone / "mkdocs.yml").read_text().splitlines()
    assert lines[lines.index(after) + 1] == line


@pytest.mark.parametrize("stem", ["11-a", "21-a", "01-a"])
def test_where_a_number_fits_into_two_parts_the_line_is_told_and_not_written(clone, stem, capsys):
    new.lesson(stem)
    assert (clone / "mkdocs.yml").read_text() == NAV
    assert f"- {stem[:2]} A: {stem}.md" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("lesson", "9-entropy"), "9-entropy is no name of a lesson"),
        (("lesson", "09A-entropy"), "09A-entropy is no name of a lesson"),
        (("lesson", "09a-Entropy"), "09a-Entropy is no name of a lesson"),
        (("lesson", "09a-entropy_bonus"), "is no name of a lesson"),
        (("lesson", "../09a-entropy"), "is no name of a lesson"),
        (("lesson", "10-entropy"), "The number 10 is taken by lessons/10-ppo.md"),
        (("lesson", "09a-lambda"), "lambda cannot be the name of a module"),
        (("lesson", "09a-frame"), "frame cannot be the name of a module"),
        (("lesson", "09a-taken"), "widgets/taken.py exists already; nothing was written"),
        (("lesson", "09a-a", "--sim", "kl"), "sim/ has the rooms estimators, worlds, and kl is none of them"),
        (("lesson", "09a-a", "--sim", "estimators/"), "Nothing cannot be the name of a module in sim/estimators/"),
        (("lesson", "09a-a", "--sim", "estimators/../x"), "cannot be the name of a module in sim/estimators/"),
        (("lesson", "09a-a", "--model", "estimators/a"), "It is: python build.py new lesson NN-name"),
        (("widget", "a"), "It is: python build.py new lesson NN-name"),
        ((), "It is: python build.py new lesson NN-name"),
    ],
)
def test_what_cannot_be_made_is_one_sentence_and_no_file(clone, words, sentence):
    files.write(clone / "widgets" / "taken.py", "theirs")
    before = all_files(clone)
    said = build.main("new", *words)
    assert sentence in said and "\n" not in said
    assert all_files(clone) == before


def test_a_write_that_fails_leaves_none_of_the_files(clone, monkeypatch):
    write, before = files.write, all_files(clone)

    def full(path, text):
        if "tests" in path.parts:
            raise OSError(28, "No space left on device")
        write(path, text)

    monkeypatch.setattr(new.files, "write", full)
    with pytest.raises(OSError, match="No space left"):
        new.lesson("09a-entropy-bonus")
    assert all_files(clone) == before


@pytest.mark.when_changed(
    "tests.lessons.test_anatomy", "tests.test_architecture", files=[*(build.ROOT / "tools" / "templates").iterdir()]
)
def test_a_new_lesson_keeps_every_rule_but_those_about_its_text(tmp_path):
    """In a copy of the repository: what is left to do is the words."""
    for name in ("sim", "widgets", "lessons", "tests", "tools", "site/assets", "site/parts"):
        shutil.copytree(build.ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("build.py", "mkdocs.yml", "pyproject.toml", "CONTRIBUTING.md", "site/main.html"):
        shutil.copy(build.ROOT / name, tmp_path / name)
    run = lambda *words: subprocess.run(
        [sys.executable, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONUTF8": "1", "NIGHTLY": "1"},  # all that the contract asks for, without git
    )
    assert run("build.py", "new", "lesson", "09a-entropy-bonus", "--sim", "estimators/entropy_bonus").returncode == 0
    own = [
        "tests/lessons/test_09a_entropy_bonus.py",
        "tests/widgets/test_entropy_bonus.py",
        "tests/sim/estimators/test_entropy_bonus.py",
    ]
    rules = ["tests/lessons/test_anatomy.py", "tests/widgets/frame/test_contract.py", "tests/test_architecture.py"]
    only = ["-k", "09a or entropy_bonus or navigation or test_architecture", "-p", "no:cacheprovider", "-rf"]
    tested = run("-m", "pytest", *own, *rules, *only).stdout
    failed = {line.split("::")[1].split("[")[0] for line in tested.splitlines() if line.startswith("FAILED ")}
    assert failed == {"test_nothing_is_left_to_fill_in", "test_the_prose_keeps_to_its_length_and_its_tone"}, tested
    assert "places are to be filled in" in tested and '(CONTRIBUTING.md, "A lesson")' in tested
    assert run("-m", "ruff", "check", "--no-cache", ".").returncode == 0
