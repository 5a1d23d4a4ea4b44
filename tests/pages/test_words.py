"""Words that open at their first use, and the page that holds them all."""

import re

import pytest

from tools.pages import lesson_data, words

ARTICLE = '<main><article class="md-content__inner md-typeset">{}</article></main>'


def opened(body, stem="10-ppo"):
    """The spellings that became buttons, in their order."""
    return re.findall(r'class="word" popovertarget="word-[\w-]+">([^<]*)<', words.explained(ARTICLE.format(body), stem))


def test_only_the_first_use_of_a_glossary_word_opens():
    assert opened("<p>A reward is paid. Rewards add up.</p><p>The reward.</p>") == ["reward"]


def test_a_sentence_opens_only_one_glossary_word_and_a_second_word_opens_later():
    assert opened("<p>The policy earns a reward. Its reward is 1.</p>") == ["policy", "reward"]


def test_of_two_glossary_words_in_a_sentence_the_one_of_the_later_lesson_opens():
    assert opened("<p>The policy has a critic.</p>", stem="02-rollout") == ["critic"]


def test_a_glossary_word_within_a_longer_word_does_not_open():
    assert opened("<p>The reward model is asked.</p><p>A log-ratio.</p><p>A non-reward.</p>") == [
        "reward model",
        "log-ratio",
    ]


def test_a_sentence_that_explains_a_word_in_bold_opens_nothing():
    assert opened("<p>The <strong>reward</strong> of a completion. The reward.</p>") == []


def test_a_word_alone_in_italics_is_explained_in_its_own_lesson_and_does_not_open():
    assert opened("<p>The <em>context</em>: so much. The context.</p>", "20-kv-cache") == []
    assert opened("<p>The <em>context</em>: so much.</p>", "08-agentic") == ["context"]
    assert opened("<p><em>The context grows.</em></p>", "20-kv-cache") == ["context"]


def test_a_word_opens_in_paragraphs_and_lists_and_in_what_stands_in_italics():
    assert opened("<ol><li>a reward</li></ol><p>a <em>policy</em></p>") == ["reward", "policy"]


@pytest.mark.parametrize(
    "body",
    [
        "<h2>A reward</h2>",
        "<p>see <a href='#'>the reward</a></p>",
        "<p><code>reward</code></p>",
        "<pre>reward</pre>",
        '<p><span class="arithmatex">reward</span></p>',
        "<table><tr><td>reward</td></tr></table>",
        "<figure><p>reward</p></figure>",
        "<details class='quiz'><summary>Which reward?</summary></details>",
        '<p class="question">Which reward?</p>',
        '<div class="sources"><ul><li>reward</li></ul></div>',
        "<rl-widget><p>reward</p></rl-widget>",
        "<script>reward</script>",
    ],
)
def test_no_glossary_word_opens_in_headings_links_code_formulas_tables_or_sources(body):
    assert opened(body) == []


def test_a_spelling_with_another_meaning_stays_plain_text():
    (stem, *_) = words.words()["ratio"].elsewhere
    assert opened("<p>The ratio is 4/3.</p>", stem) == [] and opened("<p>The ratio is 1.</p>", "10-ppo") == ["ratio"]


def test_every_button_opens_the_one_element_of_its_name_and_nothing_of_the_page_is_lost():
    body = "<p>A policy earns. A <em>reward</em>, <code>x</code>.</p>"
    page = words.explained(ARTICLE.format(body), "10-ppo")
    assert re.findall(r'popovertarget="([^"]+)"', page) == re.findall(r' id="([^"]+)" popover>', page)
    without = re.sub(r'<div class="meaning".*?</div>|</?button[^>]*>|</?span[^>]*>', "", page)
    assert without == ARTICLE.format(body)


def test_no_line_ends_between_a_word_and_its_comma_or_bracket():
    page = words.explained(ARTICLE.format("<p>It is drawn (a policy), scored.</p><p>One reward only.</p>"), "10-ppo")
    assert '(a <span class="unbroken"><button' in page and "policy</button>),</span> scored" in page
    assert 'One <button type="button" class="word" popovertarget="word-reward">reward</button> only' in page


def test_a_meaning_links_to_its_entry_on_the_glossary_page():
    page = words.glossary()
    for key, word in words.words().items():
        assert f'href="/words/#{key}"' in words.meaning(word)
        assert page.count(f'<h2 id="{key}">') == 1


def test_the_glossary_page_is_in_alphabetical_order():
    names = re.findall(r"<h2[^>]*>(.*?)</h2>", words.glossary())
    assert names == sorted(names, key=str.lower) and len(names) == len(words.words())


def test_a_spelling_belongs_to_one_word():
    forms = [form.lower() for word in words.words().values() for form in word.forms]
    assert len(forms) == len(set(forms))


def test_a_meaning_is_one_or_two_sentences_without_a_formula():
    for word in words.words().values():
        assert 1 <= len(re.findall(r"[.](?=\s|$)", word.says)) <= 2 and word.says.endswith("."), word.key
        assert len(word.says.split()) <= 50 and "$" not in word.says, word.key


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"name": "A", "forms": []}, r"lessons/10-ppo.yml, words, a: says is missing"),
        ({"name": "A", "forms": [], "says": "B.", "of": "C"}, "a: nothing is called of; there are name, forms"),
        ({"name": "A", "forms": [], "says": "B.", "elsewhere": ["99-none"]}, "a: there is no lesson 99-none"),
    ],
)
def test_an_incomplete_glossary_entry_is_reported_in_one_sentence(entry, sentence):
    with pytest.raises(ValueError, match=sentence):
        words.word("a", entry, "10-ppo")


def test_every_glossary_letter_stands_in_the_table_of_letters():
    for where in ("everywhere", "machines"):
        table = words.table(where)
        assert table.count("<tr>") == 1 + len(lesson_data.read("letters.yml")[where])
    assert r"\(\rho\)" in words.table("everywhere")
