"""No known misspelling anywhere; the words that only look like one are listed in pyproject.toml."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def misspelled(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "codespell_lib", *arguments], cwd=ROOT, capture_output=True, text=True
    ).stdout


def test_every_word_of_the_repository_is_spelled_correctly():
    assert misspelled() == ""


def test_a_spelling_mistake_is_found(tmp_path):
    (tmp_path / "page.md").write_text("teh reader recieves a coloured page", encoding="utf-8")  # codespell:ignore
    assert misspelled(str(tmp_path)).count("==>") == 3  # the spelling is American
