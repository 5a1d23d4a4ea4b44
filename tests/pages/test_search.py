"""The search index: prose under headings and names, and nothing of what stands around it."""

import json

import pytest

from tools.pages import lessons, search

PAGE = """<article class="md-content__inner">
<p class="kicker"><b>10 · PPO</b></p><h1 id="clip">The clip<a class="headerlink" href="#clip">¶</a></h1>
<p class="question">How often can a batch be used?</p><p class="meta"><span>8 min</span></p>
<p>It is used<br>once, with <code>eps</code> &lt; 1 and <span class="arithmatex">\\(x\\)</span>.</p>
<figure class="rl-widget"><h3>Six runs</h3><form>Passes</form></figure>
<h2 id="why">Why <em>so</em></h2>
<div class="highlight"><pre>def clipped</pre></div><table><tr><td>0.3</td></tr></table>
<details class="quiz"><summary>One pass?</summary><p>Then nothing.</p></details>
<ol class="cards"><li>a card of the front page</li></ol>
</article>"""


def test_a_search_entry_holds_the_paragraphs_under_one_heading():
    first, second = search.Article(PAGE).pieces
    assert (first.anchor, first.title) == ("", "The clip")
    assert first.blocks == ["How often can a batch be used?", "It is used once, with eps < 1 and ."]
    assert (second.anchor, second.title) == ("why", "Why so")
    assert second.text.startswith("<p>One pass?</p><p>Then nothing.</p>")


def test_widgets_code_tables_formulas_and_the_subtitle_are_not_in_the_search_index():
    words = "".join(piece.title + piece.text for piece in search.Article(PAGE).pieces)
    assert not [word for word in ("Six runs", "Passes", "clipped", "0.3", "(x", "8 min", "10 ·", "¶") if word in words]


def test_a_lesson_bears_its_name_and_its_other_words_and_its_sections_bear_their_headings():
    lesson = next(page for page in lessons.finished() if page.stem == "10-ppo")
    first, second = search.entries("10-ppo/", search.Article(PAGE).pieces, lesson)
    assert first["title"] == lesson.full and first["title"].startswith("PPO: ")
    assert first["also"] == ["PPO", *lesson.also] and second["also"] == []
    assert (first["location"], second["location"]) == ("10-ppo/", "10-ppo/#why")
    assert first["boost"] == second["boost"] == 1.0


def test_a_page_that_is_no_lesson_weighs_less_and_so_does_what_every_lesson_has():
    def weight(page, title, lesson):
        return [entry["boost"] for entry in search.entries(page, [search.Piece("", title)], lesson)]

    lesson = lessons.finished()[0]
    assert weight("", "RL", None) < weight("00/", "Sources", lesson) < weight("00/", "Four lines", lesson)


def test_a_word_is_looked_for_by_its_spellings_on_the_page_of_words_only():
    pieces = [search.Piece("", "Words"), search.Piece("kl-divergence", "KL divergence")]
    words, compare = (
        [entry["also"] for entry in search.entries(page, pieces, None)] for page in ("words/", "compare/")
    )
    assert words == [[], ["KL divergence", "KL"]] and compare == [[], []]


def test_a_section_without_a_heading_stops_the_build():
    with pytest.raises(ValueError, match="10-ppo/: a page or a section without a heading"):
        list(search.entries("10-ppo/", search.Article("<article><p>a</p></article>").pieces, None))


def test_mkdocs_and_zensical_get_the_same_search_entries(tmp_path):
    (tmp_path / "index.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "search_index.json").write_text("{}")
    (tmp_path / "search.json").write_text('{"config": {"lang": ["en"]}, "items": []}')
    search.index(tmp_path)
    docs = json.loads((tmp_path / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    theirs = json.loads((tmp_path / "search.json").read_text(encoding="utf-8"))
    assert theirs["config"] == {"lang": ["en"]}
    places = [[(entry["location"], entry["title"]) for entry in entries] for entries in (docs, theirs["items"])]
    assert places[0] == places[1]
    assert all(item["text"].startswith(entry["text"]) for item, entry in zip(theirs["items"], docs))


def test_zensical_which_searches_title_and_text_alone_finds_the_other_words_in_the_text(tmp_path):
    (tmp_path / "10-ppo").mkdir()
    for file in (tmp_path / "index.html", tmp_path / "10-ppo" / "index.html"):
        file.write_text(PAGE, encoding="utf-8")
    (tmp_path / "search.json").write_text('{"config": {}, "items": []}')
    search.index(tmp_path)
    items = {item["location"]: item for item in json.loads((tmp_path / "search.json").read_text())["items"]}
    lesson = next(page for page in lessons.finished() if page.stem == "10-ppo")
    assert items["10-ppo/"]["text"].endswith(f"<p>{', '.join(['PPO', *lesson.also])}</p>")
