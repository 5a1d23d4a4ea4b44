"""TODO What each knob must do."""

import pytest

from tests.widgets.catalogue import last
from widgets.WIDGET_NAME import widget
from widgets.WIDGET_NAME.widget import Knobs


def test_at_half_the_pass_rate_only_two_outcomes_in_all_are_of_one_kind():
    assert last(widget, K=8).here == pytest.approx(1 - 2 / 2**8, abs=1e-15)  # 2 of 2^8, closed form


def test_more_completions_leave_fewer_groups_alike():
    shares = [last(widget, p=0.01, K=K).here for K in (2, 8, 64)]
    assert shares == sorted(shares)


def test_a_rare_success_breaks_small_groups_and_not_large_ones():
    for K, breaks in ((8, True), (64, False)):
        assert bool(widget.broken(Knobs(p=0.01, K=K), last(widget, p=0.01, K=K))) == breaks
