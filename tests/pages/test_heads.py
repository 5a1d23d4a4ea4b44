"""The head of a lesson: what stands there comes from its front matter and its place in the navigation."""

import dataclasses
import html
import re

import pytest

from tools.pages import heads, lessons

PAGE = (
    '<head></head><body><article class="md-content__inner">\n<h1 id="clip">The clip</h1>\n<p>a</p>{widget}\n</article>'
)
FINISHED = {lesson.stem: lesson for lesson in lessons.finished()}


def headed(stem, widget="", **front):
    return heads.headed(PAGE.format(widget=widget), FINISHED[stem], {"code": "sim/a.py", **front}, [], [])


@pytest.mark.parametrize("stem", FINISHED)
def test_a_lesson_is_headed_by_its_part_number_reading_time_and_one_sentence(stem):
    lesson, text = FINISHED[stem], html.unescape(headed(stem, see="One run fails."))
    kicker, title, sight = re.search(
        r'<p class="kicker">(.*?)</p>(<h1.*?</h1>)<p class="sight">(.*?)</p>', text, re.S
    ).groups()
    name = lesson.name.partition(" ")[2]
    assert kicker.startswith(
        f"<b>{stem.partition('-')[0]} · {name}</b><span>{lesson.part or 'Before the parts'}</span>"
    )
    assert kicker.endswith(f'<span class="facts">{lesson.minutes} minutes</span>')
    assert title == '<h1 id="clip">The clip</h1>' and sight == "One run fails."


def test_a_page_that_shows_nothing_at_first_asks_its_question():
    lesson = FINISHED["10-ppo"]
    assert f'<p class="sight">{lesson.question}</p>' in html.unescape(headed("10-ppo"))


def test_the_last_prerequisite_is_linked_by_its_name(tmp_path):
    for stem in (page.stem for page in (*lessons.finished(), *lessons.lab())):
        (tmp_path / stem).mkdir()
        (tmp_path / stem / "index.html").write_text(PAGE, encoding="utf-8")
    heads.head_all(tmp_path)
    one, many = ((tmp_path / stem / "index.html").read_text(encoding="utf-8") for stem in ("10-ppo", "13-dapo"))
    assert ' minutes · after <a href="/09-reinforce/">09 REINFORCE</a></span>' in one
    assert ' minutes · after <a href="/11-grpo/">11 GRPO</a></span>' in many


SECTIONS = (
    '<h2 id="a">A</h2><p>b</p><div class="arithmatex">c</div><div class="arithmatex">d</div>'
    '<h2 id="the-simulator">The simulator</h2>'
)


def test_a_belief_stands_where_it_can_be_tried_and_letters_at_the_first_formula():
    text = headed("10-ppo", widget=SECTIONS, believe="a < b", see="<b>")
    assert 'The simulator</h2><p class="belief"><b>You might think:</b> a &lt; b</p>' in text
    assert '<p class="sight">&lt;b&gt;</p>' in text
    noted = heads.noted(SECTIONS, [{"sign": "R", "means": "reward"}])
    assert '<p>b</p><details class="notation" data-letters>' in noted and noted.count("<details") == 1
    assert heads.noted(SECTIONS, []) == SECTIONS
    without_formula = heads.noted('<h2 id="a">A</h2><p>b</p>', [{"sign": "R", "means": "reward"}])
    assert without_formula.startswith('<h2 id="a">A</h2><details')


def test_a_lesson_that_needs_a_missing_lesson_stops_the_build(tmp_path, monkeypatch):
    front = {"needs": ["99-nothing"], "code": "sim/a.py"}
    monkeypatch.setattr(lessons, "front_matter", lambda path: (front, ""))
    monkeypatch.setattr(lessons, "finished", lambda: list(FINISHED.values()))
    with pytest.raises(ValueError, match=r"lessons/00-orientation\.md needs 99-nothing"):
        heads.head_all(tmp_path)


def test_a_lesson_outside_the_navigation_stops_the_build(tmp_path, monkeypatch):
    (tmp_path / "99-x.md").touch()
    monkeypatch.setattr(heads, "LESSONS", tmp_path)
    with pytest.raises(ValueError, match=r"lessons/99-x\.md stands in no line of nav"):
        heads.head_all(tmp_path)


@pytest.mark.parametrize(
    "body, said",
    [
        ('<rl-widget></rl-widget><details class="quiz">', "when one of its breaks was found and its questions were"),
        ('<details class="quiz">', "Done when its questions were answered, or by hand."),
        ("", "Done by hand."),
    ],
)
def test_the_foot_of_a_page_has_the_done_mark_and_says_when_the_page_is_done(body, said):
    end = headed("10-ppo", widget=body).partition("<p>a</p>")[2]
    assert end.index('<lesson-mark name="10-ppo"') < end.index("</article>") and said in end


DEEP = """<h2 id="takeaways">Takeaways</h2>
<ol>
<li>a</li>
</ol>
<h2 id="going-further">Going further</h2>
<details class="deeper derivation">
<summary>Why the mean stays</summary>
<p>b</p>
</details>"""


def test_text_beyond_the_main_path_is_a_section_with_its_reading_time_that_may_wait():
    lesson = dataclasses.replace(FINISHED["10-ppo"], deeper=14)
    order = [lesson if other.stem == "10-ppo" else other for other in lessons.finished()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lessons, "finished", lambda: order)
        path, _, further = heads.in_depths(DEEP, lesson).partition('<section data-depth="further">')
    assert '<ol class="takeaways">' in path and further.startswith('<h2 id="going-further">')
    assert "14 min. Nothing below is needed for lesson 10a." in further and further.endswith("</section>")
    assert "<summary>Why the mean stays<span>derivation</span></summary>" in further


def test_a_page_without_a_second_depth_has_no_section():
    assert "data-depth" not in heads.in_depths(DEEP.partition('<h2 id="going')[0], FINISHED["11-grpo"])
