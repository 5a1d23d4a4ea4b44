"""The pictures beside links to the lessons: their size, what they show, and what the heads of the pages say of them."""

import io
import re
from itertools import pairwise
from pathlib import Path

import pytest
from PIL import Image

from tools.pages import drawing, lessons, link_previews, pictures, sharing
from widgets.frame.drawing import scene
from widgets.frame.drawing.marks import line, panel, threshold

FINISHED = {lesson.stem: lesson for lesson in lessons.finished()}
HEAD = (
    "<head><title>PPO: a – RL Post-Training</title>"
    '<meta name="description" content="The book.">'
    '<link rel="canonical" href="https://example.org/book/{page}"></head>{body}'
)
LESSON = '<p class="kicker"></p><h1>a</h1><p class="question">Is <em>a</em> &lt; "b"?</p>'


def opened(content):
    return Image.open(io.BytesIO(content)).convert("RGB")


@pytest.mark.parametrize("stem", FINISHED)
def test_a_picture_is_1200_by_630_and_light(stem):
    content = link_previews.of(FINISHED[stem])
    assert opened(content).size == (1200, 630)
    assert len(content) <= 40_000


def test_a_threshold_is_painted_in_the_color_of_the_break_where_the_svg_has_it():
    with_threshold = panel(
        "p", "u", line([0, 10], [1.0, 1.0]), threshold(0.5, "breaks", 0), x_range=(0, 10), y_range=(0, 2)
    )
    image = opened(link_previews.painted("10 · PPO", "Part II", "Title", with_threshold))
    heights = [y for y in range(200, 600) if image.getpixel((630, y)) == (0x0E, 0x23, 0x92)]
    broken = {y for x in range(200, 1000) for y in range(200, 600) if image.getpixel((x, y)) == (0xA8, 0x20, 0x3A)}
    assert heights and broken
    assert min(broken) > max(heights)  # half is below one


def test_the_runs_of_a_path_are_its_points():
    assert link_previews.points("M1 2L3 4H5V6M7 8") == [[(1, 2), (3, 4), (5, 4), (5, 6)], [(7, 8)]]


def test_a_dashed_line_keeps_the_share_of_its_dashes():
    pieces = link_previews.dashed([(0, 0), (30, 0), (30, 30)], [6, 3])
    long = sum(abs(x1 - x0) + abs(y1 - y0) for piece in pieces for (x0, y0), (x1, y1) in pairwise(piece))
    assert long == pytest.approx(60 * 6 / 9, abs=3)


def test_every_svg_element_that_the_lessons_draw_can_be_painted_in_a_picture():
    tags = set()
    for lesson in FINISHED.values():
        if not scene.is_scene(leading := pictures.leading(lesson.widget)):
            tags |= set(re.findall(r"<(\w+)", "".join(drawing.parts(leading, 540, 170))))
    assert tags <= {"path", "rect", "circle", "text", "tspan", "svg", "pattern"}


def test_a_scene_is_painted_with_its_rows_and_its_ring():
    image = opened(link_previews.of(FINISHED["10-ppo"]))
    colors = {color for _, color in image.getcolors(1 << 20)}
    assert {(0x0E, 0x23, 0x92), (0xD5, 0x78, 0x09), (0xA8, 0x20, 0x3A)} <= colors  # a stop, its rival, the ring


def test_the_head_says_the_question_and_the_address_of_the_picture():
    page = sharing.telling(HEAD.format(page="10-ppo/", body=LESSON), "https://example.org/book/pictures/10-ppo.png")
    tags = dict(re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', page))
    assert tags["description"] == tags["og:description"] == "Is a &lt; &quot;b&quot;?"
    assert tags["og:title"] == "PPO: a" and tags["og:type"] == "article"
    assert tags["og:url"] == "https://example.org/book/10-ppo/"
    assert tags["og:image"] == "https://example.org/book/pictures/10-ppo.png"
    assert tags["twitter:card"] == "summary_large_image"
    assert page.count('name="description"') == 1


def test_every_page_has_an_existing_preview_picture_with_an_absolute_address(tmp_path):
    for page in ["", "compare/", *(f"{stem}/" for stem in FINISHED)]:
        (tmp_path / page).mkdir(exist_ok=True)
        body = LESSON if page[:1].isdigit() else "<h1>a</h1>"
        (tmp_path / page / "index.html").write_text(HEAD.format(page=page, body=body), encoding="utf-8")
    sharing.share(tmp_path)
    for file in tmp_path.rglob("index.html"):
        text = file.read_text(encoding="utf-8")
        picture = re.search(r'og:image" content="https://example\.org/book/([^"]+)"', text)[1]
        assert (tmp_path / picture).is_file(), file
        stem = Path(picture).stem
        assert stem == (file.parent.name if file.parent.name in FINISHED else "index")
