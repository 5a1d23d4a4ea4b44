"""Every number that a page binds to an expression is what the expression is today."""

import ast
import math
import re
from functools import cache
from importlib import import_module

import numpy as np
import pytest

from tests.lessons import spreads
from tools.pages import bound, inputs

IN_WORDS = (
    "none one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
SPELLED = {word: n for n, word in enumerate(re.findall(r"\w+", IN_WORDS))} | dict(no=0, once=1, twice=2, half=0.5)
LESSONS = inputs.ROOT / "lessons"
PAGES = [page for page in sorted(LESSONS.glob("*.md")) if bound.bound(page.read_text(encoding="utf-8"))]


@cache
def numbers(page, slow):
    """The bound numbers of a page, without or with those that its module calls EXPENSIVE."""
    late = reached(bound.module(page.stem))
    return [
        one for one in bound.bound(page.read_text(encoding="utf-8")) if slow == bool(late & names(ast.parse(one[2])))
    ]


def names(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


@cache
def reached(module):
    """The names of a module that come to one of its EXPENSIVE, directly or not."""
    uses, slow = {}, set()
    if not module.exists():
        return slow
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name):
                uses[name] = names(node)
            case ast.Assign(targets=[ast.Name("EXPENSIVE")]):
                slow = {*ast.literal_eval(node.value)}
            case ast.Assign():
                uses |= {name: names(node.value) for target in node.targets for name in names(target)}
    while more := {name for name, used in uses.items() if used & slow} - slow:
        slow |= more
    return slow


def asked(slow):
    """A parameter a page; what is slow is asked at night, and where the page or what it computes by has changed."""
    pages = [page for page in PAGES if numbers(page, slow)]
    return [pytest.param(page, marks=when_changed(page) if slow else (), id=page.stem) for page in pages]


def when_changed(page):
    return pytest.mark.when_changed(dotted(bound.module(page.stem)), files=[page], family="numbers")


def dotted(module):
    return ".".join(module.relative_to(inputs.ROOT).with_suffix("").parts)


@pytest.mark.parametrize("page", asked(slow=False))
def test_numbers_of_a_page_are_what_they_are_bound_to(page):
    assert not (wrong := list(wrong_numbers(page, slow=False))), "\n".join(wrong)


@pytest.mark.parametrize("page", asked(slow=True))
def test_numbers_of_a_page_that_take_long_are_what_they_are_bound_to(page):
    assert not (wrong := list(wrong_numbers(page, slow=True))), "\n".join(wrong)


def wrong_numbers(page, slow):
    """A line for each: lessons/22b-long-tail.md:25: 2.9 is 3.1, by max(FOUR) / np.mean(FOUR)."""
    known = {**vars(math), "np": np, "kept": lambda words: spreads.values(page.stem.replace("-", "_"), words)}
    known |= {path.stem: import_module(dotted(path)) for path in bound.subject(page.stem)}
    if (own := bound.module(page.stem)).exists():
        known |= vars(import_module(dotted(own)))
    for line, words, expression in numbers(page, slow):
        value = eval(expression, known)
        if not agrees(words, value):
            yield f"lessons/{page.name}:{line}: {words} is {value}, by {expression}"


def agrees(words, value):
    """Whether each number of the words rounds to its value; to mean and standard deviation of values over seeds; or,
    without a number in the words, whether it is so.
    """
    if isinstance(value, bool | np.bool_):
        return bool(value)
    said = bound.NUMBER.findall(words.replace("\\,", ","))
    said = said or [str(SPELLED[word]) for word in re.findall(r"\w+", words.lower()) if word in SPELLED]
    values = spreads.summary(value) if "±" in words else np.ravel(value).astype(float)
    return len(values) == len(said) and all(map(rounds, values, said))


def rounds(value, number):
    """Half a unit of the last digit shown is allowed."""
    decimals = len(number.partition(".")[2])
    return abs(float(number.replace("−", "-").replace(",", "")) - value) <= 0.5000001 * 10**-decimals


@pytest.mark.parametrize(
    ("words", "value", "right"),
    [
        ("17 %", 17.4, True),
        ("17 %", 17.6, False),
        ("8,248", 8248, True),
        ("(0.207, −0.207)", np.array([0.2071, -0.2069]), True),
        ("(0.207, −0.207)", 0.207, False),
        ("0.50 ± 0.10", np.array([0.4, 0.5, 0.6]), True),
        ("0.50 ± 0.10", np.array([0.3, 0.5, 0.7]), False),
        ("twice as long", 2.0, True),
        ("twice as long", 2.6, False),
        ("Three of the runs", 3, True),
        ("20\\,480", 20480, True),
        ("grows", np.True_, True),
        ("grows", np.False_, False),
        ("grows", 1.0, False),
    ],
)
def test_words_agree_with_a_value(words, value, right):
    assert agrees(words, value) == right


@pytest.mark.parametrize(
    "page", [page for page in PAGES if bound.module(page.stem).exists()], ids=lambda page: page.stem
)
def test_names_that_a_page_computes_by_are_used(page):
    """An import for the text alone looks unused to the linter, which leaves such files to this test."""
    source = ast.parse(bound.module(page.stem).read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name
        for node in source.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    used = names(source).union(*(names(ast.parse(one[2])) for one in bound.bound(page.read_text(encoding="utf-8"))))
    assert not imported - used
