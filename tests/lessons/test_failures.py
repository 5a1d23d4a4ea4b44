"""The page "When a run goes wrong": every setting of the book that breaks is there, and every link leads to it."""

import re
from urllib.parse import parse_qsl, urlparse

import pytest

from tests.widgets.catalogue import NAMES, breaking
from tools.pages import failures, lessons
from widgets.frame.contract.values import knobs_from
from widgets.frame.reader import host

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
        knobs = knobs_from(host.widget(name).Knobs, dict(parse_qsl(link.query)))
        opens = (name, knobs) == failures.setting(row) and knobs != host.widget(name).Knobs()
        return opens and link.path.strip("/") in addresses

    assert [row.at for row in ROWS if not leads(row)] == []


def test_a_row_says_in_one_line_each_what_is_seen_and_what_to_look_at():
    lines = [line for row in ROWS for line in (row.seen, row.check)]
    assert [line for line in lines if not line.endswith(".") or len(line) > 130 or "!" in line] == []


def test_the_page_shows_every_group_once():
    assert len(set(failures.GROUP.findall(TEXT))) == len(failures.GROUP.findall(TEXT))
    assert re.findall(r"^## (.+)$", TEXT, flags=re.M) == list(failures.groups())


def test_there_are_more_than_forty_and_of_every_lesson():
    assert len(ROWS) >= 40
    told = {row.at.partition(": ")[0] for row in ROWS} | {at.partition(": ")[0] for at in failures.without()}
    assert {lesson.widget for lesson in lessons.finished() if lesson.widget} <= told


def row(preset, after=""):
    return failures.Row(preset, "Slow", "Seen.", "Look.", after, "10-ppo", "ppo")


@pytest.mark.parametrize("wrong", ["no such preset", "1 pass"])
def test_a_row_of_what_is_not_there_or_does_not_break_is_refused(wrong):
    with pytest.raises(ValueError, match=r"lessons/10-ppo\.yml"):
        failures.described(row(wrong))


def test_a_row_with_after_follows_the_row_that_it_names():
    rows = [row("c", "ppo: b"), row("a"), row("b", "ppo: d"), row("d")]
    assert [one.preset for one in failures.in_order(rows)] == ["a", "d", "b", "c"]


@pytest.mark.parametrize("rows", [[row("a", "ppo: z")], [row("a", "ppo: a")], [row("a", "ppo: b"), row("b", "ppo: a")]])
def test_a_row_that_follows_none_or_itself_is_refused(rows):
    with pytest.raises(ValueError, match=r"lessons/10-ppo\.yml, a: "):
        failures.in_order(rows)


def test_a_group_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="none of"):
        failures.shown("Bad luck")
