"""Whatever is set on the pages about machines, the page answers, and its way back works."""

import json

import pytest

from tests.widgets.catalogue import fixed, where_changed
from tests.widgets.grid import MACHINES, answers, how_many
from widgets.frame import host

pytestmark = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=where_changed(name, family="grid"), id=name) for name in MACHINES], scope="module"
)


def test_every_setting_is_answered_and_the_first_number_is_finite_or_there_is_a_break(name):
    for answer in answers(name):
        json.dumps(answer.frame, allow_nan=False)
        assert answer.broken or answer.frame["readouts"][0]["text"] not in ("–", "∞", "−∞"), answer.knobs


def test_what_does_not_fit_is_said_in_a_sentence_and_nothing_else_is(name):
    for answer in answers(name):
        said = bool(answer.broken and "does not fit" in answer.broken.why)
        assert said == bool(answer.result.misfits), answer.knobs
        assert not answer.broken or len(answer.broken.why) <= 150, answer.broken.why
        assert not said or answer.broken.fix, (answer.knobs, answer.broken)
    impossible, drawn = sum(bool(answer.result.misfits) for answer in answers(name)), how_many(name)
    assert drawn / 15 < impossible < drawn - drawn / 15  # both sides are drawn


def test_the_way_back_leads_back(name):
    w = host.widget(name)
    for answer in answers(name):
        turned, there, broken = 0, answer.knobs, answer.broken
        while broken and broken.fix and turned < 3:
            after = fixed(name, there, broken.fix)
            assert after != there, (there, broken.fix)  # the present value is no way back
            turned, there, before = turned + 1, after, broken
            *_, result = w.run(there)
            broken = w.broken(there, result)
            assert broken is None or broken.why != before.why, (there, before.fix)
        assert broken is None or not broken.fix, (answer.knobs, broken)
