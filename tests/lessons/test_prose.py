"""Words that the book avoids (CONTRIBUTING.md, "Prose"). Pages that were written before this was asked are named with
how many of them they have; a number may only fall.
"""

import re

import pytest

from tests.lessons.test_anatomy import NUMBERED, PAGES
from widgets.frame.contract.widget import extras
from widgets.frame.reader import host

AVOIDED = {  # what is found, and what stands in its place
    r"\bis worth 1\.\d": "makes the step 1.13 times as fast",
    r"\btake it that\b": "suppose",
    r"\brightly\b": "correctly",
    r"(?:^|[.;:] )[Ee]lse\b|, else\b": "otherwise",
    r"\bno more\b(?! than| here| often)|\bnot any more\b": "no longer",
    r"\bholds the step\b": "limits the step",
    r"\btimes as (?:rare|short|small|few)\b": "a third as likely, several times shorter",
    r"\bbecomes? of\b": "what happens to",
    r"\banew\b": "again",
    r"\bgoes on (?:rising|falling)\b": "keeps rising",
    r"\bwhom to\b|\bwho is left\b": "which answers",
    r"\b[Ii]n turn\b|\bcarry-over\b|\bone step ahead\b|\bin (?:a|the) stream\b": "synchronous, partial rollout, …",
    r"\binstruments?\b": "simulator",
    r"\b[Tt]ake with you\b|\bCheck yourself\b": "Takeaways, Check your understanding",
    r"\bone setting\b|\bthe other (?:setting|run)\b": "the run by its name",
    r"\bmarks the (?:answers|completions)\b": "grades",
    r"\b20 of (?:the )?twenty\b": "in all twenty seeds",
    r"\bto (?:its|their) most\b": "to its maximum",
    r"(?<!is )(?<!a )\bless (?:the (?!closer)|its|what)\b": "minus",
}
LEFT = {}  # by page


def avoided(text):
    """[(what stands there, what should)]."""
    return [(found[0].strip(), better) for found, better in pairs(text)]


def pairs(text):
    return [(found, better) for words, better in AVOIDED.items() for found in re.finditer(words, text, flags=re.M)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_avoids_what_is_not_said(page):
    found, most = avoided(re.sub(r"\{ data-knobs=.*?\}", "", page.prose)), LEFT.get(page.stem, 0)
    if len(found) != most:
        better = [f"{there} → {instead}" for there, instead in found]
        raise AssertionError(f"lessons/{page.stem}.md: {len(found)}, of which {most} are known: {better}")


@pytest.mark.parametrize("page", [page for page in NUMBERED if page.widget], ids=lambda page: page.stem)
def test_a_head_and_a_simulator_ask_in_plain_words(page):
    w = host.widget(page.widget)
    more = extras(w)
    texts = [page.head.get("see", ""), w.TITLE, more.DARE, *w.PRESETS]
    assert not (found := avoided("\n".join(texts))), found
    assert more.DARE.endswith("?")
