"""What the options of a command take, and the one sentence for what they do not."""

import argparse

import pytest

from rlpt.arguments import Parser, number, whole


@pytest.mark.parametrize("text", ["0", "11", "-1", "1.5", "", "x", "²", "1_0", "9" * 5000])
def test_a_whole_number_lies_within_its_bounds(text):
    assert whole(1, 10)("10") == 10
    with pytest.raises(argparse.ArgumentTypeError, match="must be a whole number from 1 to 10") as refusal:
        whole(1, 10)(text)
    assert len(str(refusal.value)) < 80


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "0.99", "2.01", "", "one"])
def test_a_number_is_finite_and_lies_within_its_bounds(text):
    assert number(1, 2)("1.5") == 1.5
    with pytest.raises(argparse.ArgumentTypeError, match="must be a number from 1 to 2"):
        number(1, 2)(text)


@pytest.mark.parametrize("text, value", [("1,024", 1024), ("8,192", 8192), ("1,024.5", 1024.5), ("-1,024", -1024)])
def test_thousands_may_be_grouped(text, value):
    assert number(-9e9, 9e9)(text) == value
    if value == int(value) > 0:
        assert whole(1, 9000)(text) == value


@pytest.mark.parametrize("text", ["1,5", "12,34", "1,0240", ",024", "1,024,", "1 024", "1,024,5"])
def test_a_comma_elsewhere_is_refused(text):
    for read in (number(0, 1e9), whole(0, 10**9)):
        with pytest.raises(argparse.ArgumentTypeError, match="groups of three digits" if "," in text else "must be a"):
            read(text)


def test_an_option_that_there_is_none_of_is_told_the_nearest_one_and_a_wrong_word_is_not(capsys):
    parser = Parser(prog="it")
    parser.add_argument("--seed", type=whole(0, 9))
    for words, sentence in (
        (["--sed", "3"], "it: unrecognized arguments: --sed 3; did you mean --seed?\n"),
        (["--color"], "it: unrecognized arguments: --color\n"),
        (["--seed", "10"], "it: argument --seed: must be a whole number from 0 to 9, not 10\n"),
    ):
        with pytest.raises(SystemExit) as left:
            parser.parse_args(words)
        assert left.value.code == 2 and capsys.readouterr() == ("", sentence)
