"""Presets break for the causes that are expected, and the scene of an opening keeps its setting to itself."""

import re

import pytest

from tests.widgets import expected
from tests.widgets.catalogue import NAMES, each_where_changed, where_changed
from tools.pages import frames, results
from widgets.frame.reader import host


@each_where_changed()
def test_presets_break_for_the_causes_that_are_expected(name):
    causes = {preset: frames.settled(name, k)["verdict"]["cause"] for preset, k in host.widget(name).PRESETS.items()}
    assert {preset: cause for preset, cause in causes.items() if cause} == expected.BREAKS[name]


@pytest.mark.parametrize("name", [pytest.param(name, marks=where_changed(name)) for name in expected.UNSAID])
def test_nothing_of_an_opening_names_its_setting(name):
    opening = str(results.positions(name, "opening")).lower()
    assert not re.findall(expected.UNSAID[name], opening)


def test_every_widget_is_expected_to_break():
    assert sorted(expected.BREAKS) == NAMES
