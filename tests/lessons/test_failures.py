"""The page "When a run goes wrong": every setting of the book that breaks is there, and every link leads to it."""

import re
from urllib.parse import parse_qsl, urlparse

import pytest

from tests.widgets.catalogue import NAMES, breaking
from tools.pages import failures, lessons
from widgets.frame import host

ROWS = [row for rows in failures.groups().values() for row in rows]
TEXT = (lessons.ROOT / "lessons" / "failures.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_setting_that_breaks_has_a_row_or_a_reason_for_none():
    listed = [row.at for row in ROWS] + failures.without()
    assert len(listed) == len(set(listed))
    there = {f"{name}: {preset}" for name in NAMES if name in failures.homes() for preset in breaking(name)}
    assert sorted(there - set(listed)) == [] and sorted(set(listed) - there) == []


@pytest.mark.slow
def test_a_link_of_a_row_opens_the_widget_in_the_setting_that_breaks():
    addresses = {address.strip("/") for _, address in lessons.pages()}

    def leads(row):
        link = urlparse(failures.described(row)["link"])
        name = link.fragment
        knobs = host.knobs_from(host.widget(name).Knobs, dict(parse_qsl(link.query)))
        opens = (name, knobs) == failures.setting(row) and knobs != host.widget(name).Knobs()
        return opens and link.path.strip("/") in addresses

    assert [row.at for row in ROWS if not leads(row)] == []


def test_a_row_says_in_one_line_each_what_is_seen_and_what_to_look_at():
    lines = [line for row in ROWS for line in (row.seen, row.check)]
    assert [line for line in lines if not line.endswith(".") or len(line) > 130 or "!" in line] == []


def test_the_page_shows_every_group_once():
    assert re.findall(r"^```failures\n(.+)\n```$", TEXT, flags=re.M) == list(failures.groups())
    assert re.findall(r"^## (.+)$", TEXT, flags=re.M) == list(failures.groups())


def test_there_are_more_than_forty_and_of_every_lesson():
    assert len(ROWS) >= 40
    told = {row.at.partition(": ")[0] for row in ROWS} | {at.partition(": ")[0] for at in failures.without()}
    assert {lesson.widget for lesson in lessons.finished()} <= told


@pytest.mark.parametrize("wrong", ["ppo: no such preset", "ppo: 1 pass"])
def test_a_row_of_what_is_not_there_or_does_not_break_is_refused(wrong):
    with pytest.raises(ValueError, match=r"failures\.yml"):
        failures.described(failures.Row(wrong, "Seen.", "Look."))


def test_a_group_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="none of"):
        failures.shown("Bad luck")
