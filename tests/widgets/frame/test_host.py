"""The words in which numbers reach the page."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from widgets.frame import host
from widgets.frame.contract import choice, ladder, slider, toggle


@dataclass(frozen=True)
class Knobs:
    rate: float = slider("Rate", 0.5, low=0, high=1, step=0.1)
    K: int = ladder("Completions", 8, [2, 8, 64])
    clip: bool = toggle("Clip", True)
    kind: str = choice("Kind", "a", ["a", "b c"])


@pytest.mark.parametrize(
    "value, text",
    [
        (0.98213, "0.982"),
        (0.1, "0.100"),
        (12.25, "12.2"),
        (372.4, "372"),
        (4, "4"),
        (0, "0"),
        (-0.5, "−0.500"),
        (1240.4, "1,240"),
        (81920, "81,920"),
        (3.1e-7, "3.10e−7"),
        (2.5e9, "2.5e9"),
        (float("nan"), "–"),
        (float("inf"), "∞"),
        (float("-inf"), "−∞"),
        ("holds", "holds"),
    ],
)
def test_numbers_have_three_significant_digits(value, text):
    assert host.figures(value) == text


def test_a_form_of_strings_becomes_knobs_and_back():
    knobs = host.knobs_from(Knobs, {"rate": "0.25", "K": "64", "clip": "off", "kind": "b c"})
    assert knobs == Knobs(0.25, 64, False, "b c")
    assert host.query(knobs) == "rate=0.25&K=64&clip=off&kind=b+c"


def test_knobs_left_out_keep_their_defaults():
    assert host.knobs_from(Knobs, {}) == Knobs()


@pytest.mark.parametrize(
    "form, sentence",
    [
        ({"rate": "2"}, "rate must be from 0 to 1"),
        ({"rate": "nan"}, "rate must be from 0 to 1"),
        ({"rate": "x"}, "rate must be a number"),
        ({"K": "9"}, "K must be one of 2, 8, 64"),
        ({"clip": "maybe"}, "clip must be one of on, off"),
        ({"kind": "<script>"}, "kind must be one of a, b c"),
    ],
)
def test_what_is_not_on_offer_is_refused(form, sentence):
    with pytest.raises(ValueError, match=sentence):
        host.knobs_from(Knobs, form)


def test_nan_and_infinity_travel_as_gaps():
    assert json.loads(json.dumps(host.plain(dict(y=np.array([1.0, np.nan, np.inf]))), allow_nan=False)) == {
        "y": [1.0, None, None]
    }


def test_the_fingerprint_does_not_see_the_last_bit():
    panel = lambda y: [dict(data=[dict(y=y)])]
    assert host.fingerprint(panel([0.1 + 0.2])) == host.fingerprint(panel([0.3]))
    assert host.fingerprint(panel([0.300001])) != host.fingerprint(panel([0.3]))
