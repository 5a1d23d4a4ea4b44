"""A number and the words that go with it."""

import pytest

from sim.words import capital, counted, plural


@pytest.mark.parametrize(
    "words, said",
    [
        (("hole",), {0: "0 holes", 1: "1 hole", 2: "2 holes", 1240: "1,240 holes", "1": "1 hole", "0.5": "0.5 holes"}),
        (("try", "tries"), {1: "1 try", 3: "3 tries"}),
    ],
)
def test_one_is_singular_and_all_others_are_plural(words, said):
    assert {n: counted(n, *words) for n in said} == said


def test_a_verb_goes_with_its_number():
    assert [plural(n, "is", "are") for n in (0, 1, 2)] == ["are", "is", "are"]


def test_a_number_that_is_read_as_1_is_one():
    assert plural(1.0, "nat") == plural(f"{1.0004:.3g}", "nat") == "nat" and plural(1.5, "nat") == "nats"


@pytest.mark.parametrize("symbol", ["λ", "ρ", "δ", "β", "Φ", "p", "k3"])
def test_a_symbol_at_the_beginning_of_a_sentence_keeps_its_letter(symbol):
    assert capital(f"{symbol} is 1 in one run") == f"{symbol} is 1 in one run"


def test_a_word_at_the_beginning_of_a_sentence_has_a_capital():
    assert [capital(text) for text in ("the other", "a step", "GAE", "")] == ["The other", "A step", "GAE", ""]
