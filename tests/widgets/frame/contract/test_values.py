"""Values of knobs as a form, a link and a kept job hold them."""

from dataclasses import dataclass, fields

import pytest

from widgets.frame.contract import recovery
from widgets.frame.contract.knobs import ladder, number, slider
from widgets.frame.contract.values import knobs_from, parsed
from widgets.frame.reader import job


@dataclass(frozen=True)
class Knobs:
    gpus: int = number("GPUs", 128, [1, 8, 64, 128, 8192])
    seconds: float = number("Seconds", 0.0, [0.0, 10.0, 1e6])
    passes: int = ladder("Passes", 4, [1, 4, 16])
    share: float = slider("Share", 0.5, low=0, high=1, step=0.1)


GPUS, SECONDS, *_ = fields(Knobs)


@pytest.mark.parametrize(
    "text, value", [("72", 72), ("1024", 1024), ("1", 1), ("8192", 8192), ("64.0", 64), ("1e3", 1000)]
)
def test_a_number_is_taken_as_typed_between_its_rungs(text, value):
    assert knobs_from(Knobs, dict(gpus=text)).gpus == value


def test_seconds_are_taken_to_their_last_digit():
    assert knobs_from(Knobs, dict(seconds="342.7128")).seconds == 342.7128


@pytest.mark.parametrize(
    "text, said",
    [
        ("72.5", "gpus must be a whole number, not '72.5'"),
        ("0", "gpus must be from 1 to 8192, not '0'"),
        ("8193", "from 1 to 8192"),
        ("1e308", "from 1 to 8192"),
        ("Infinity", "a whole number"),
        ("nan", "a whole number"),
        ("", "a whole number"),
        ("1,024", "a whole number"),  # the page writes 1024 for it before Python reads it
    ],
)
def test_what_is_no_such_number_is_one_sentence_and_never_another_number(text, said):
    with pytest.raises(ValueError, match=said):
        parsed(GPUS, text)


@pytest.mark.parametrize("text", ["nan", "-1", "1000000.1", "inf"])
def test_seconds_outside_their_ends_are_refused(text):
    with pytest.raises(ValueError, match="seconds must be from 0 to 1000000"):
        parsed(SECONDS, text)


def test_a_ladder_without_typed_numbers_still_rounds_nothing():
    for text in ("5", "4.5"):
        with pytest.raises(ValueError, match="passes must be"):
            knobs_from(Knobs, dict(passes=text))


def test_a_job_keeps_a_typed_number_and_clamps_what_is_too_large():
    assert job.nearest(GPUS, "72") == "72"
    assert job.nearest(GPUS, "1e9") == "8192"
    assert job.nearest(GPUS, "0.4") == "1"
    assert job.nearest(SECONDS, "342.7") == "342.7"


def test_a_way_back_from_a_typed_number_is_the_nearest_rung():
    assert recovery.nearest(GPUS.metadata, 72) == [64, 128, 8, 8192, 1]
    assert recovery.one_knob(Knobs(gpus=72), ["gpus"], lambda k: k.gpus >= 100) == dict(gpus=128)
