"""One letter, one meaning: what formulas, sentences, knobs and axes call by a letter is what lessons/data/letters.yml
says of it.
"""

import re
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from tests.widgets import catalogue
from tests.widgets.frame.test_figures import FIGURES
from tools.pages import lessons, results, words
from widgets.frame.reader import host

ROOT = Path(__file__).parents[2]
LESSONS = {lesson.stem: lesson for lesson in lessons.finished()}
PARTS = ("Part III", "Part IV")  # about machines
MACHINES = {  # their widgets, of their pages without a number too
    widget
    for part, _, path in lessons.navigation()
    if part.startswith(PARTS)
    for widget in re.findall(r"^```widget\n(\w+)$", (ROOT / "lessons" / path).read_text(encoding="utf-8"), re.M)
}
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", re.S)
NAMED = re.compile(r"\\(?:text|mathrm|mathcal|operatorname|mathbb|mathbf|begin|end)\s*(?:\{[^{}]*\}|[A-Za-z])")
SYMBOL = r"\$(\\?[A-Za-z]+(?:_(?:\\?[A-Za-z]|[0-9]|\{[^{}]*\}|\\\w+\{[^{}]*\}))?)(?:\([^)$]*\))?\$"
IS = rf"{SYMBOL} (?:is|are|be) ((?:the|a|an|what|token|everything|all|how|called) [^.;:$|]{{0,80}})"
AND = rf"[,;](?: and| with)? {SYMBOL} ((?:the|its|what|for|token) [^.;:$|]{{0,80}})"
A = rf"\ban? ((?:[\w-]+ ){{1,2}}){SYMBOL}"
SMALL = re.compile(r"\b(?:of|in|for|minus|than|and|to|is|at|by) $")  # after these a letter is not being introduced
WRITTEN = dict(π="pi", θ="theta", μ="mu", ρ="rho", ℓ="ell", ε="varepsilon", β="beta", τ="tau", η="eta", σ="sigma")


@cache
def text(stem):
    return re.sub(r"```.*?```", "", lessons.front_matter(f"{stem}.md")[1], flags=re.S)


def letter_of(tex):
    """y of y_t, \\pi of \\pi_\\theta: a count below a letter leaves it what it is; a name below makes it another."""
    tex = tex.replace(r"\mathrm", r"\text").replace(r"_{\text{ref}}", r"_\text{ref}")
    return re.sub(r"(?<=[^sk])_(?:\\theta|\\phi|[aity]|\{[^{}\\]*\})$", "", tex)


@cache
def known(machines):
    """{letter: words of which one stands wherever it is said what it is}, in lessons about machines or elsewhere."""
    meant = {}
    for where in ("everywhere", *["machines"] * machines):
        for letter in words.letters(where).values():
            meant |= {letter_of(tex): letter.known_by for tex in letter.tex.split(r",\; ")}
    return meant


def means(letter, said, machines):
    return letter not in known(machines) or any(word.lower() in said.lower() for word in known(machines)[letter])


def test_r_is_neither_reward_nor_ratio_nor_log_ratio():
    """These are R, ρ and ℓ; who meets r has to guess."""
    alone = re.compile(r"(?<![A-Za-z\\])r(?![A-Za-z])")
    formulas = [(stem, NAMED.sub("", "".join(found))) for stem in LESSONS for found in FORMULA.findall(text(stem))]
    assert [(stem, formula) for stem, formula in formulas if alone.search(formula)] == []


def test_where_a_lesson_says_what_a_letter_is_it_is_what_the_letter_is_everywhere():
    wrong = []
    for stem, lesson in LESSONS.items():
        said = [(letter_of(tex), phrase) for way in (IS, AND) for tex, phrase in re.findall(way, text(stem))]
        said += [(letter_of(tex), phrase) for phrase, tex in re.findall(A, text(stem)) if not SMALL.search(phrase)]
        machines = lesson.part.startswith(PARTS)
        wrong += [(stem, letter, phrase) for letter, phrase in said if not means(letter, phrase, machines)]
    assert wrong == []


def test_a_knob_bears_the_letter_of_what_it_turns():
    knobs = [(name, field) for name in catalogue.NAMES for field in fields(host.widget(name).Knobs)]
    assert [
        (name, field.name) for name, field in knobs if not fits(name, field.metadata["symbol"], field.metadata["label"])
    ] == []


@pytest.mark.slow
def test_an_axis_bears_the_letter_of_what_it_shows():
    shown = [(name, axis) for name in catalogue.NAMES for axis in axes(catalogue.last_frame(name)["panels"])]
    assert [(name, axis) for name, axis in shown if not fits(name, *axis)] == []


def test_so_do_the_handle_and_the_axes_of_a_small_figure():
    wrong = []
    for module, name in FIGURES:
        handle = results.figures(module)[name].handle
        panels = results.positions(module, name)[handle.start if handle else 0][0]
        letters = [*axes(panels), *([(handle.symbol, handle.label)] if handle else [])]
        wrong += [(f"{module}.{name}", letter) for letter in letters if not fits(module, *letter)]
    assert wrong == []


def fits(widget, symbol, label):
    """Whether a letter is known by the label it stands with; r is none of a figure's letters."""
    greek = WRITTEN.get(symbol.partition("_")[0])
    return symbol != "r" and means(f"\\{greek}" if greek else symbol, label, widget in MACHINES)


def axes(panels):
    """[(letter, one or two words before it)] of what axes call by a letter: "ratio ρ"."""
    titles = (
        panel["layout"].get(axis, {}).get("title", {}).get("text", "")
        for panel in panels
        if "layout" in panel  # a grid of tokens has none
        for axis in ("xaxis", "yaxis")
    )
    return [
        found[::-1]
        for title in titles
        for found in re.findall(r"((?:[\w-]+ )?[\w-]+)(?<!log) ([a-zα-ωℓ])(?![\w′’'])", title)
    ]


def test_a_letter_of_the_table_is_known_by_its_own_words():
    for where in ("everywhere", "machines"):
        for letter in words.letters(where).values():
            assert any(word.lower() in letter.means.lower() for word in letter.known_by), letter
