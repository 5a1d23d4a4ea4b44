"""Numbers bound to expressions in the Markdown, and their links in the built pages."""

import re

import pytest

from tools.pages import bound, links, quoting

TEXT = """A batch reads [61 %](= 100 * read(drop)) at $\\sigma = [0.8](= 4 / 5)$, `[1](= 1)`.

| [1](= one) | [2 | 3](= two(1)) |
"""


def test_a_reader_sees_the_numbers_alone():
    assert bound.shown(TEXT) == "A batch reads 61 % at $\\sigma = 0.8$, `1`.\n\n| 1 | 2 | 3 |\n"


def test_a_bound_number_has_a_line_its_words_and_an_expression_with_brackets():
    assert bound.bound(TEXT)[0] == (1, "61 %", "100 * read(drop)") and bound.bound(TEXT)[-1] == (3, "2 | 3", "two(1)")


@pytest.mark.parametrize(
    "line", ['??? pause "Of [8](= K) wrong?"', "## [8](= K) of them", '    ??? deeper code "[8](= K)"']
)
def test_the_title_of_a_fold_and_a_heading_hold_no_link(line):
    assert bound.marked(f"Words.\n\n{line}\n\nWords.") == bound.shown(f"Words.\n\n{line}\n\nWords.")


def test_in_a_formula_and_in_code_stands_the_number_alone_and_in_a_table_each_is_a_cell():
    marked = bound.marked(TEXT)
    assert "$\\sigma = 0.8$" in marked and "`1`" in marked and "(= " not in marked
    assert re.findall(r"<a class=n title='(.*?)'>(.*?)</a>", marked)[2:] == [("= two(1)", "2"), ("= two(1)", "3")]


@pytest.mark.parametrize(
    ("expression", "path", "name"),
    [
        ("100 * read(drop)", "tests/lessons/test_22b_long_tail.py", "read"),
        ("busiest(straggler.dealt_loads(lengths, 8))", "tests/lessons/test_22b_long_tail.py", "busiest"),
        ("-straggler.overlong_penalty(18432, 20480, 4096)", "sim/cluster/straggler.py", "overlong_penalty"),
        ("MODELS", "sim/cluster/models.py", "MODELS"),
    ],
)
def test_a_number_leads_to_the_first_definition_of_ours_in_its_expression(expression, path, name):
    file, line = bound.computed_at("22b-long-tail", expression)
    assert file == path and line == quoting.definition(path, name)[1]


def test_arithmetic_leads_nowhere_and_a_name_that_is_not_there_is_said():
    assert bound.computed_at("22b-long-tail", "100 * exp(-0.8)") == ("", 0)
    with pytest.raises(ValueError, match=r"test_22b_long_tail\.py has no reads, by which"):
        bound.computed_at("22b-long-tail", "2 * reads(1)")


def test_a_link_of_a_built_page_is_written_from_the_root_for_links_to_make_relative(tmp_path):
    page = tmp_path / "22b-long-tail" / "index.html"
    page.parent.mkdir()
    page.write_text(bound.marked("[61 %](= 100 * read(drop)), [0.4](= exp(-0.8))"), encoding="utf-8")
    bound.link_all(tmp_path)
    text = links.relative(page.read_text(encoding="utf-8"), page.relative_to(tmp_path))
    line = quoting.definition("tests/lessons/test_22b_long_tail.py", "read")[1]
    lead = f'<a class=n href="../code/tests/lessons/test_22b_long_tail.py.html#L{line}"'
    assert text == f"{lead} title='= 100 * read(drop)'>61 %</a>, <span title='= exp(-0.8)'>0.4</span>"
