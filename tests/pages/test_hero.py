"""The two pictures of the front page as they stand in the page, and that no line is named before it is asked for."""

import re

from tools.pages import fences, hero, lessons, pictures
from widgets.front import figures


def page(fence):
    return fence("all", "hero", "hero", {}, None)


def test_the_front_page_names_no_line_before_it_is_asked_and_then_leads_to_its_lesson():
    open_part, folded = page(fences.two_tables).split("<details", 1)
    assert 'data-scene="front.tables"' in open_part and "data-play" in open_part
    assert not re.search(r"\b(clip|ratio|passes|PPO)", re.sub(r"<template>.*?</template>", "", open_part, flags=re.S))
    assert "PPO" in folded and 'href="/10-ppo/"' in folded and "sim/experiments/deleted_line.py" in folded


def test_both_tables_are_tables_with_heads_and_each_heading_is_the_label_of_a_control():
    shown = page(fences.two_tables).split('<div class="k-stills">')[0]
    assert shown.count("<table") == 2 and shown.count("<td") == 200 and shown.count('scope="row"') == 20
    controls = re.findall(r'<input type="radio" name="table" id="([\w-]+)"', shown)
    assert controls == re.findall(r'<label class="k-filled" for="([\w-]+)"', shown) and len(controls) == 2


def test_the_clock_has_both_curves_with_their_names_at_their_ends():
    strip = re.search(r'<div class="k-strip.*?<i></i></div>', page(fences.two_tables), re.S)[0]
    assert strip.count("<path") == 2
    assert re.findall(r'left:100%;top:calc\([^)]+\)" aria-hidden="true">([^<]+)<', strip) == list(figures.RUNS)


def test_each_part_is_a_position_of_the_switch_and_leads_to_its_lessons():
    switch = page(fences.one_batch)
    parts = [part for part, _ in lessons.parts()]
    assert re.findall(r'type="radio" name="handle-front-batch" value="(\d)"', switch) == list("01234")
    assert re.findall(r"<i>(\w+)</i><b>([^<]+)</b>", switch) == [
        tuple(part.removeprefix("Part ").split(" · ")) for part in parts
    ]
    assert re.findall(r'href="#([\w-]+)"', switch) == [lessons.place(part.partition(" ·")[0]) for part in parts]


def test_each_part_has_its_own_arrangement_as_emblem():
    emblems = hero.emblems()
    assert list(emblems) == ["Part I", "Part II", "Part III", "Part IV", "Part V"]
    assert len(set(emblems.values())) == 5
    assert all("<text" not in drawn and "data-k" not in drawn for drawn in emblems.values())


def test_the_picture_beside_links_is_the_same_scene():
    panel = pictures.at_rest(*hero.FRONT)
    assert [column[0]["name"] for column in panel["columns"]] == list(figures.RUNS)
