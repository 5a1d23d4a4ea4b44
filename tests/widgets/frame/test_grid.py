"""Whatever is set on the pages about machines, the page answers, and its way back works."""

import json

import pytest

from tests.widgets.catalogue import fixed, where_changed
from tests.widgets.grid import MACHINES, answers, how_many
from widgets.frame.reader import host

pytestmark = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=where_changed(name, family="grid"), id=name) for name in MACHINES], scope="module"
)


def test_every_setting_of_the_grid_has_a_finite_first_readout_or_a_break(name):
    for answer in answers(name):
        json.dumps(answer.frame, allow_nan=False)
        assert answer.broken or answer.frame["readouts"][0]["text"] not in ("–", "∞", "−∞"), answer.knobs


def test_only_jobs_that_do_not_fit_are_said_not_to_fit(name):
    for answer in answers(name):
        headline = answer.frame["answer"]
        unfit = headline[0] != "It fits." if headline else answer.broken and "does not fit" in answer.broken.why
        refused = bool(answer.broken and unfit)
        assert refused == bool(answer.result.misfits), answer.knobs
        assert not answer.broken or len(answer.broken.why) <= 150, answer.broken.why
        assert not refused or answer.broken.fix, (answer.knobs, answer.broken)
    impossible, total = sum(bool(answer.result.misfits) for answer in answers(name)), how_many(name)
    assert total / 15 < impossible < total - total / 15  # both sides are drawn


def test_at_most_three_suggested_fixes_mend_every_broken_setting_of_the_grid(name):
    w = host.widget(name)
    for answer in answers(name):
        turned, setting, broken = 0, answer.knobs, answer.broken
        while broken and broken.fix and turned < 3:
            after = fixed(name, setting, broken.fix)
            assert after != setting, (setting, broken.fix)  # the present value is no way back
            turned, setting, before = turned + 1, after, broken
            *_, result = w.run(setting)
            broken = w.broken(setting, result)
            assert broken is None or broken.why != before.why, (setting, before.fix)
        assert broken is None or not broken.fix, (answer.knobs, broken)
