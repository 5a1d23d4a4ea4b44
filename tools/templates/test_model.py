"""TODO The model against values from outside: closed forms, papers, other libraries."""

import pytest

from sim.SIM_ROOM import SIM_MODEL


@pytest.mark.parametrize("p, K, expected", [(0.5, 2, 0.5), (0.5, 8, 254 / 256), (0.01, 2, 0.0198)])
def test_groups_with_something_to_compare(p, K, expected):  # TODO values that were worked out by hand or published
    # of 2^K equally likely outcomes two are of one kind; 0.0198 = 2 * 0.01 * 0.99
    assert SIM_MODEL.informative(p, K) == pytest.approx(expected, abs=1e-15)
