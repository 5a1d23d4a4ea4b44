"""The words in which numbers reach the page."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from widgets.frame.contract import values
from widgets.frame.contract.knobs import choice, ladder, slider, toggle
from widgets.frame.contract.readouts import Gauge, Readout
from widgets.frame.drawing import written
from widgets.frame.reader import host, panels


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
        (3.1e-7, "3.10 × 10⁻⁷"),
        (-2.5e12, "−2.5 × 10¹²"),
        (float("nan"), "–"),
        (float("inf"), "∞"),
        (float("-inf"), "−∞"),
        ("holds", "holds"),
    ],
)
def test_numbers_have_three_significant_digits(value, text):
    assert written.figures(value) == text


@pytest.mark.parametrize(
    "gauge, text",
    [
        (Gauge("Runs that fail", 5, 20, "%"), "5 %, breaks above 20 %"),
        (Gauge("Wrong sums", 38.3, 1.5, "×"), "38.3 ×, breaks above 1.5 ×"),
        (Gauge("Runs below the start", 1, 2, "runs"), "1 run, breaks above 2 runs"),
        (Gauge("Pass rate", 0.994, 0.5, below=True), "0.994, breaks below 0.5"),
        (Gauge("Steps", 12, 1, "steps", below=True), "12 steps, breaks below 1 step"),
    ],
)
def test_a_meter_says_its_value_and_where_it_breaks_each_with_its_unit(gauge, text):
    assert host.gauged(gauge)["text"] == text


@pytest.mark.parametrize(
    "value, unit, read",
    [
        (1, "nats", "1 nat"),
        (1.5, "nats", "1.50 nats"),
        (1, "nats a token", "1 nat a token"),
        (1, "tokens/s", "1 token/s"),
        (1, "GPU-hours", "1 GPU-hour"),
        (1, "ms", "1 ms"),
        (1, "of 100 pairs", "1 of 100 pairs"),
        (1, "", "1"),
        (float("nan"), "nats", "–"),
    ],
)
def test_a_unit_follows_its_number(value, unit, read):
    row = host.row(Readout("KL", value, unit))
    assert f"{row['text']} {row['unit']}".strip() == read == written.with_unit(written.figures(value), unit)


def test_a_form_of_strings_becomes_knobs_and_back():
    knobs = values.knobs_from(Knobs, {"rate": "0.25", "K": "64", "clip": "off", "kind": "b c"})
    assert knobs == Knobs(0.25, 64, False, "b c")
    assert values.query(knobs) == "rate=0.25&K=64&clip=off&kind=b+c"


def test_knobs_left_out_keep_their_defaults():
    assert values.knobs_from(Knobs, {}) == Knobs()


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
def test_a_knob_value_that_is_not_offered_is_refused(form, sentence):
    with pytest.raises(ValueError, match=sentence):
        values.knobs_from(Knobs, form)


def test_nan_and_infinity_are_sent_to_the_page_as_gaps():
    assert json.loads(json.dumps(written.plain(dict(y=np.array([1.0, np.nan, np.inf]))), allow_nan=False)) == {
        "y": [1.0, None, None]
    }


def drawn(*y):
    return panels.fingerprint([dict(data=[dict(y=list(y))])])


def test_a_figure_of_rounding_errors_is_described_as_zero():
    def described(*y):
        return panels.described(dict(title="Loss", note="nats", data=[dict(type="scatter", name="", y=list(y))]))

    assert described(-1.3e-16, 9e-17) == "Loss, nats: from 0 to 0"
    assert described(-0.25, 3.1e-7) == "Loss, nats: from −0.250 to 3.10 × 10⁻⁷"


def test_the_fingerprint_does_not_see_the_last_bit():
    assert drawn(0.1 + 0.2) == drawn(0.3)
    assert drawn(0.0, 1.0) == drawn(1e-17, 1.0) == drawn(-1e-17, 1 + 1e-15)
    for round_number in (1, 0.5, 0.25, 1 / 3, 0.0005, 2**-11, 10, 1000):  # none lies on the edge of a step
        assert drawn(round_number, 1) == drawn(np.nextafter(round_number, 9e9), 1)
        assert drawn(round_number) == drawn(np.nextafter(round_number, 9e9))


def test_the_fingerprint_sees_what_moves_by_two_thousandths_and_what_is_no_number():
    assert len({drawn(0.3), drawn(0.3006), drawn(0.3, 0.3), drawn(-0.3), drawn(300), drawn(0)}) == 6
    assert len({drawn(1, 0.5), drawn(1, 0.502), drawn(1, np.nan), drawn(1, np.inf), drawn(1, -np.inf)}) == 5
    assert drawn(1, np.nan) == drawn(1, -np.nan) == drawn(1, None)
    assert drawn("a") != drawn("b")


class Sizer:
    """What a page that sizes something has."""

    @staticmethod
    def export(knobs, result):
        return result


def test_a_setting_is_written_for_every_engine_and_trainer_as_text_that_cannot_be_markup():
    config = host.config(Sizer, None, dict(placement="split"))
    assert config.count("<pre") == 5
    assert "--weight-transfer-config &#x27;{&quot;backend&quot;:&quot;nccl&quot;}&#x27;" in config


def test_only_a_job_that_fits_is_exported_and_only_by_a_page_that_sizes_jobs():
    assert host.config(Sizer, None, None) == "<p>Nothing to copy: this job does not fit.</p>"
    assert host.config(object, None, dict(samples=8)) == ""


def test_the_reason_why_knobs_change_nothing_stands_once_below_their_row_or_group():
    rows = ["ab", "cde", "fg"]
    assert host.idle(rows, {}) == {}
    same = dict.fromkeys("dabefg", "nothing overlaps")
    assert host.idle(rows, same) == dict(
        a="", b="nothing overlaps", d="", e="nothing overlaps", f="", g="nothing overlaps"
    )
    assert host.idle(rows, dict(a="one", b="two")) == dict(a="one", b="two")
