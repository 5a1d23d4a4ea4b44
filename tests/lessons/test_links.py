"""Links into repositories name a release or a commit, and what tools/cited.py makes of GitHub's answers; no network."""

import re
import urllib.error
from datetime import date

import pytest

from rlpt import programs
from tools import cited
from tools.cited import CHANGED, GONE, NO_SUCH, SAME, UNKNOWN, Cited

MOVING = re.compile(r"https?://[^\s)\"'>]*?/(?:main|master|HEAD|latest|stable|nightly|dev|trunk)/[^\s)\"'>]*")
EXCEPTIONS = {  # a link that moves: why it may
    "https://docs.nvidia.com/datacenter/dcgm/latest/reference/field-identifiers.html": (
        "what a field means; NVIDIA keeps no page for each release"
    ),
    "https://pytorch.org/docs/stable/profiler.html": "how a tool is used; no default or number is quoted",
}


def every_link():
    return [
        (page.relative_to(cited.ROOT).as_posix(), link, what)
        for page in cited.pages()
        for link, what in cited.links(page.read_text(encoding="utf-8"))
    ]


def test_links_into_repositories_name_a_release_or_a_commit():
    found = every_link()
    assert len(found) > 60
    moving = [f"{page}: {link}" for page, link, what in found if not cited.FIXED.fullmatch(what.ref)]
    assert moving == [], "a branch moves: name the tag of a release or a commit (CONTRIBUTING.md, Numbers)"


def test_no_other_link_follows_what_is_newest_but_for_exceptions_with_a_reason():
    found = {link for page in cited.pages() for link in MOVING.findall(page.read_text(encoding="utf-8"))}
    assert found == set(EXCEPTIONS)


@pytest.mark.parametrize("program, repository", [("TRL", "huggingface/trl"), ("verl", "verl-project/verl")])
def test_a_tag_is_that_of_the_release_that_the_book_quotes_or_an_earlier_one(program, repository):
    def number(version):
        return [int(part) for part in version.lstrip("v").split(".")]

    tags = [what.ref for _, _, what in every_link() if what.repository == repository and what.ref.startswith("v")]
    newest = programs.VERSIONS[program]
    assert f"v{newest}" in tags and all(number(tag) <= number(newest) for tag in tags)


@pytest.mark.parametrize("ref", ["main", "master", "HEAD", "v0", "release", "3af17aac", "v1.16.0-fork", "develop"])
def test_what_moves_or_is_short_is_not_fixed(ref):
    assert not cited.FIXED.fullmatch(ref)


@pytest.mark.parametrize(
    "ref", ["v1.16.0", "v0.9.1", "v2.6", "v0.2.0.post2", "3af17aacff528025142a54449fcf8ce51a20363c"]
)
def test_tags_and_commits_are_fixed(ref):
    assert cited.FIXED.fullmatch(ref)


def test_links_are_read_from_a_text():
    text = (
        "[a](https://github.com/o/r.x/blob/v1.2/a/b.py), [t](https://github.com/o/r/tree/main), an issue "
        'https://github.com/o/r/issues/3 and "https://github.com/o/r/blob/v1.2/c.md#L3".'
    )
    assert [what for _, what in cited.links(text)] == [
        Cited("o/r.x", "v1.2", "a/b.py"),
        Cited("o/r", "main", ""),
        Cited("o/r", "v1.2", "c.md"),
    ]


def test_what_two_answers_mean():
    down = urllib.error.HTTPError("", 403, "rate limit", None, None)
    answers = {("a", "a"): SAME, ("a", "b"): CHANGED, ("a", None): GONE, (None, "b"): NO_SUCH, (None, None): NO_SUCH}
    assert {pair: cited.verdict(*pair) for pair in answers} == answers
    assert cited.verdict(down, "a") == cited.verdict("a", down) == cited.verdict(None, down) == UNKNOWN


SAME_FILE, NEW_FILE, NOT_ANSWERED = (Cited("o/r", "v1.2", path) for path in ("same.py", "new.py", "down.py"))


def answer(repository, path, ref=""):
    return {"same.py": "s", "new.py": ref, "down.py": OSError("no network")}[path]


def test_what_is_reported():
    whole = Cited("o/r", "v1.2", "")  # is not asked for
    found = {SAME_FILE: ["a.md"], NEW_FILE: ["b.md", "c.md"], NOT_ANSWERED: ["d.md"], whole: ["e.md"]}
    assert cited.report(found, answer) == [(UNKNOWN, NOT_ANSWERED, ["d.md"]), (CHANGED, NEW_FILE, ["b.md", "c.md"])]


def test_a_change_fails_the_job_once_the_year_is_over_and_silence_does_not(capsys):
    read, later = cited.READ, date(cited.READ.year + 1, 1, 1)
    exits = [
        cited.main(words, day, {what: ["a.md"]}, answer)
        for words, day, what in (
            ([], read, NEW_FILE),
            (["--now"], read, NEW_FILE),
            ([], later, NEW_FILE),
            ([], later, SAME_FILE),
            ([], later, NOT_ANSWERED),
        )
    ]
    assert exits == [0, 1, 1, 0, 0]
    assert "changed: o/r/new.py since v1.2, cited in a.md" in capsys.readouterr().out
