"""The front page: its map, its cards, and that neither shows a lesson that is not finished."""

import html
import re
from math import ceil
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools.pages import lessons, pipeline_map, recording

LESSONS = Path(__file__).parents[2] / "lessons"
MAP = pipeline_map.pipeline()
DRAWINGS = re.findall(r"<svg.*?</svg>", MAP)


@pytest.fixture(scope="module")
def cards():
    return lessons.cards()


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_the_map_has_six_roles_and_six_arrows(drawing):
    assert drawing.count('<a class="box ') == 6
    assert drawing.count('<a class="edge') == 6


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_the_seven_steps_of_an_iteration_are_numbered_and_the_seventh_is_the_path_back(drawing):
    on_boxes = re.findall(r'<text class="n"[^>]*>(\d)</text>', drawing)
    assert sorted(on_boxes) == list("123456")
    assert re.search(r'class="edge sync".*?>7  weight sync', drawing)


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_the_roles_and_what_flows_between_them_bear_the_names_of_the_code(drawing):
    words = re.findall(r'<text class="[te]"[^>]*>([^<]+)', drawing)
    assert {"ROLLOUT", "ENV.verify", "REFERENCE", "ALGORITHM", "TRAINER", "CONTROLLER"} <= set(words)
    assert {"trajs", "tokens", "+reward", "ref_logp", "loss_fn"} <= set(words)


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_every_box_and_arrow_leads_to_its_panel(drawing):
    targets = re.findall(r'xlink:href="#([\w-]+)"', drawing)
    assert sorted(targets) == sorted(re.findall(r'<section [^>]*id="([\w-]+)"', MAP))


def test_the_style_sheet_follows_every_part_of_the_map():
    style = (LESSONS.parent / "site" / "assets" / "style" / "map.css").read_text(encoding="utf-8")
    for name in pipeline_map.ORDER:
        assert (
            f".pipeline:has(#see-{name}:checked) a.{name}" in style
            and f".pipeline:has(a.{name}:is(:hover, :focus-visible)) #map-{name}" in style
        )
    assert all(f".pipeline:has(#cut-{name}:checked) a.{name}" in style for name in pipeline_map.FLOWS)


def test_a_wire_begins_and_ends_at_the_boxes_it_joins():
    ends = dict(
        trajs=("rollout", "env"),
        tokens=("rollout", "reference"),
        reward=("env", "algorithm"),
        ref_logp=("reference", "algorithm"),
        loss_fn=("algorithm", "trainer"),
        sync=("trainer", "rollout"),
    )
    for drawing in (pipeline_map.BROAD, pipeline_map.NARROW):
        for name, (path, head, _) in drawing.arrows.items():
            start = tuple(map(int, re.match(r"M(\d+) (\d+)", path).groups()))
            assert touches(drawing, ends[name][0], start) and touches(drawing, ends[name][1], head[:2]), (
                drawing.css,
                name,
            )


def touches(drawing, box, point):
    (left, top), (width, height), (x, y) = drawing.boxes[box], drawing.size, point
    return (
        left <= x <= left + width
        and top <= y <= top + height
        and (x in (left, left + width) or y in (top, top + height))
    )


def test_eight_billion_weights_in_bf16_are_16_gigabytes_wherever_the_map_names_them():
    said = ({*map(int, re.findall(way, MAP))} for way in (r"(\d+) billion", r"at (\d+) bytes", r"(\d+) GB"))
    (billions,), (width,), (gigabytes,) = said
    assert width == 16 // 8 and gigabytes == billions * width  # bf16 has 16 bits
    assert all(f"{gigabytes} GB" in drawing for drawing in DRAWINGS)


def test_the_map_links_only_to_lessons_that_are_in_the_navigation():
    linked = set(re.findall(r'<a href="/([^"]+)/">', MAP))
    assert linked <= {page.stem for page in lessons.finished()}
    about = {
        number for part in (*pipeline_map.ROLES.values(), *pipeline_map.FLOWS.values()) for number in part.about.split()
    }
    assert linked == {page.stem for page in lessons.finished() if page.number in about}


def test_every_lesson_in_the_navigation_is_a_file_and_stands_in_reading_order():
    stems = [page.stem for page in lessons.finished()]
    assert stems == sorted(stems), "the lessons of nav in mkdocs.yml stand in the order of their numbers"
    missing = [stem for stem in stems if not (LESSONS / f"{stem}.md").exists()]
    assert not missing, f"nav in mkdocs.yml names {missing}, which lessons/ does not have"


def test_numbers_that_no_lesson_has_yet_are_said_to_be_in_preparation(monkeypatch):
    def numbered(*numbers):
        return [SimpleNamespace(number=number) for number in numbers]

    first, second = numbered("01", "02", "02a", "05"), numbered("09", "10")
    monkeypatch.setattr(lessons, "finished", lambda: [*numbered("00"), *first, *second])
    assert lessons.gaps(first) == " · 03–04 in preparation"
    assert lessons.gaps(second) == " · 06–08 in preparation"
    assert lessons.gaps(numbered("01", "02")) == ""


def test_a_part_counts_its_lessons_and_their_minutes(cards):
    for (_, group), said in zip(lessons.parts(), re.findall(r'<span class="tot">(.*?)</span>', cards)):
        stems, widgets = (" ".join(getattr(page, kind) for page in group) for kind in ("stem", "widget"))
        minutes = sum(page.minutes for page in group)
        assert said.startswith(
            f'<lesson-count of="{len(group)}" names="{stems}" widgets="{widgets}">{len(group)}</lesson-count> lessons'
        )
        assert f" · {minutes} min reading" in said


def test_a_part_with_groups_has_a_heading_before_the_first_lesson_of_each(cards):
    third = cards.split('id="part-iii"')[1].split('class="parthead"')[0]
    assert re.findall(r'<h3>([^<]+)</h3><ol class="cards">.*?<h3><a href="/([^"]+)/">', third) == [
        ("The signal", "15-rlhf"),
        ("The machine", "19-topology"),
    ]
    assert "<h3>The" not in cards.split('id="part-iii"')[0]


def test_every_lesson_of_a_part_has_one_card_in_the_order_of_the_navigation(cards):
    there = re.findall(r'<h3><a href="/([^"]+)/">', cards)
    assert there == [page.stem for page in lessons.finished() if page.part]


def test_a_card_counts_the_breaks_of_its_widget_and_has_their_names(cards):
    breaks = dict(re.findall(r'<h3><a href="/([^"]+)/">.*?<lesson-breaks widget="\w*">(.+?)</lesson-breaks>', cards))
    for page in lessons.finished():
        if page.part:
            count, *names = re.findall("<span>(.*?)</span>", breaks[page.stem])
            assert count.startswith(f"breaks in {len(page.causes)} way" if page.causes else "")
            assert tuple(map(html.unescape, names)) == page.causes


def test_a_card_of_an_extension_says_that_it_may_be_skipped(cards):
    skipped = re.findall(r'<li class=ext>.*?<h3><a href="/([^"]+)/">.*?</li>', cards)
    assert skipped == [page.stem for page in lessons.finished() if page.part and page.extension]
    assert cards.count("may be skipped on a first reading") == len(skipped) > 0


def test_reading_time_is_the_main_path_at_one_hundred_and_fifty_words_a_minute():
    """Code and displayed formulas are not counted; what lies beyond the main path has minutes of its own."""
    for page in lessons.finished():
        _, text = lessons.front_matter(f"{page.stem}.md")
        path, _, further = re.sub(r"```.*?```|\$\$.*?\$\$", "", text, flags=re.S).partition("## Going further")
        assert (page.minutes, page.deeper) == (ceil(len(path.split()) / 150), ceil(len(further.split()) / 150))


def test_the_recorded_iteration_carries_what_its_arrays_weigh():
    _, carried, _ = recording.iteration()
    rows, T, word = 128, 8, 8  # sixteen groups of eight completions, the longest sum, float64 and int64
    weighed = dict(
        trajs=2 * rows * T * word + rows,
        tokens=rows * T * word,
        reward=rows * word,
        ref_logp=rows * T * word,
        sync=8708 * word,
    )
    assert weighed == {edge: carried[edge] for edge in weighed} and "8,708 parameters" in recording.SETTING
    assert all(f"{size:,} bytes" in MAP for size in weighed.values())


def test_every_map_of_the_book_shows_the_same_recorded_milliseconds():
    written = [
        re.findall(r"<dt>recorded</dt><dd>(.*?)</dd>", pipeline_map.pipeline(rows=rows)) for rows in (False, True)
    ]
    assert written[0] == written[1] and sum(" ms" in words for words in written[0]) == 6  # five roles and the path back


def test_in_the_recorded_iteration_every_role_but_the_controller_is_timed():
    spent, _, _ = recording.iteration()
    assert set(spent) == {*pipeline_map.ROLES, "sync"} - {"controller"}
    assert min(spent.values()) > 0


def test_an_iteration_is_gone_through_in_the_order_of_its_steps():
    assert re.findall(r'id="see-(\w+)" data-step="(\d)"', MAP) == [
        (name, str(n)) for n, name in enumerate(pipeline_map.STEPS, 1)
    ]
    assert [pipeline_map.ROLES[name].step for name in pipeline_map.STEPS[:-1]] == [
        1,
        2,
        3,
        4,
        5,
        6,
    ] and pipeline_map.STEPS[-1] == "sync"
