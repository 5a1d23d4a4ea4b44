"""The built pages as files, read without a browser: what a reader without scripts finds there, where numbers link to,
and what each page may load. That every link of the book leads somewhere is held by the build itself
(tools/pages/links.py).
"""

import os
import re
from functools import cache
from pathlib import Path

import pytest

from tests.browser import html_tree
from tests.browser.conftest import WITH_WIDGET
from tests.widgets.catalogue import last_frame

SITE = Path(os.environ.get("BOOK_SITE", "no-such-folder"))
PAGES = sorted(path for path in SITE.rglob("*.html") if "code" not in path.parts)
every_lesson = pytest.mark.parametrize("lesson", WITH_WIDGET, ids=lambda lesson: lesson.stem)


@cache
def tree(path):
    return html_tree.read(SITE / path / "index.html")


@every_lesson
def test_text_figure_numbers_and_settings_stand_in_the_page_before_a_script_runs(lesson):
    page, frame = tree(lesson.url), last_frame(lesson.widget)
    assert [b.text for b in page.all("dl.readouts dd b")] == [r["text"] for r in frame["readouts"]]
    (widget,) = page.all("figure.rl-widget rl-widget")
    first = next(panels for panels in widget.all(".panels") if "hidden" not in panels.attributes)
    assert len(first.all(".plot svg.still")) + len(first.all(".plot .k-views")) == len(first.all(".plot")) >= 1
    assert all(len(still.all("path")) > 3 for still in first.all("svg.still"))
    assert widget.all("form [name]") and widget.all("table.dt td")
    assert "complete without it" in widget.attributes["data-failed"]
    assert len(page.all("article h2")) >= 5


@every_lesson
def test_openings_that_do_not_play_have_no_control_and_small_figures_at_most_one_and_all_are_drawn(lesson):
    """A scene has a switch and a time."""
    page = tree(lesson.url)

    def controls(figure):
        return [e for e in figure.elements if e.tag in ("input", "button", "select", "textarea")]

    openings, figures = page.all("figure.rl-opening"), page.all("figure.rl-figure")
    scenes = page.all("figure.rl-scene")
    assert len(openings) == 1 and (figures or len(scenes) > 1)
    openings = [figure for figure in openings if "data-scene" not in figure.attributes]
    for figure in scenes:
        named = {control.attributes["name"] for control in controls(figure) if "name" in control.attributes}
        assert len(named) <= 1 and len(figure.all("[data-play]")) <= 1
        assert all(len(list(view.elements)) > 3 for view in figure.all("svg.k-view"))
    for figure in openings:
        assert not controls(figure)
    for figure in figures:
        assert len({control.attributes.get("name") for control in controls(figure)}) <= 1
    for figure in openings + figures:
        drawn = figure.all("svg path") + [one for part in figure.all("[data-part]") for one in part.elements]
        assert len(drawn) > 3, figure.attributes.get("id")


@every_lesson
def test_nothing_in_a_scene_has_a_size_below_0(lesson):
    """The browser would say so in its console, and draw nothing."""
    drawn = [one for view in tree(lesson.url).all("svg.k-view") for one in view.elements]
    sizes = [one.attributes[side] for one in drawn for side in ("width", "height", "r") if side in one.attributes]
    assert not [size for size in sizes if size.startswith("-")]


@every_lesson
def test_every_number_links_to_the_line_that_computes_it(lesson):
    links = [link.attributes["href"] for link in tree(lesson.url).all("dl.readouts a")]
    assert links
    for link in links:
        path, line = re.fullmatch(r"\.\./(code/sim/[^#]+\.html)#(L\d+)", link).groups()
        assert f'id="{line}"' in module_page(path), link


@cache
def module_page(path):
    return (SITE / path).read_text(encoding="utf-8")


@every_lesson
def test_the_text_has_links_that_set_knobs(lesson):
    page = tree(lesson.url)
    in_the_widget = {id(link) for link in page.all("rl-widget a[data-knobs]")}
    assert len([link for link in page.all("a[data-knobs]") if id(link) not in in_the_widget]) >= 2


def test_every_page_names_what_it_may_load_before_it_loads_anything():
    assert len(PAGES) > 40
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
        rules = {rule.split()[0]: rule.split()[1:] for rule in found[1].split(";")}
        assert found.start() < min(text.index("<script"), text.index('<link rel="stylesheet')), path
        assert rules["default-src"] == rules["script-src"][:1] == ["'self'"], path
        inline = rules["script-src"][1:]  # no host, no eval, no inline script but these
        assert all(source.startswith("'sha256-") for source in inline), path
        assert 3 <= len(inline) <= 6, path  # the theme's three, the first of them once for each depth of folders


def test_the_compare_page_holds_every_patch_between_two_of_the_six_algorithms():
    assert len(tree("compare").all(".pairs .src")) == 15


def test_the_page_that_reads_logs_shows_a_recorded_answer_and_the_command():
    page = tree("doctor")
    (answer,) = page.all("run-doctor .verdict")
    assert "step 24" in answer.text and page.all("run-doctor svg.run")
    assert any("python -m rlpt.doctor" in article.text for article in page.all("article"))
