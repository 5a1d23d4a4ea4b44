"""TODO What the page shows of a correct function and of the one that stands there."""

import pytest

from sim.estimators import attempts
from widgets.WIDGET_NAME import editable


def test_the_exact_share_is_nowhere_away_from_itself():
    assert "it is 0.000 away" in editable.shown(editable.called(attempts.informative)).sentence


def test_the_function_that_stands_there_is_wrong():
    assert "it is 0.000 away" not in editable.shown(editable.called(editable.EDITED)).sentence


def test_what_is_no_share_is_refused():
    with pytest.raises(ValueError, match="a share is a number from 0 to 1"):
        editable.RETURNS(2)
