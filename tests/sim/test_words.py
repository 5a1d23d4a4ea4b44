"""A number and the words that go with it."""

import pytest

from sim.words import capital, counted, duration, plural


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


@pytest.mark.parametrize(
    "asked, said",
    [
        ((45,), "45 seconds"),
        ((1.0,), "1 second"),
        ((0.34,), "0.34 seconds"),
        ((306, 673), "5 to 11 minutes"),  # 5.1 and 11.2
        ((306,), "5.1 minutes"),
        ((320, 387), "5.3 to 6.5 minutes"),  # the whole numbers of a narrow range would be 5 to 6
        ((100, 220), "1.7 to 3.7 minutes"),
        ((9000, 9001), "2.5 hours"),
        ((20 * 86400.0, 44 * 86400.0), "20 to 44 days"),
    ],
)
def test_seconds_are_said_in_the_unit_that_a_person_would_choose(asked, said):
    assert duration(*asked) == said


def test_a_change_is_said_in_the_unit_of_what_was_before():
    assert duration(306, 51, "→", short=True) == "5.1 → 0.85 min"
