"""The pictures of lesson 18b show what was computed, and claim no more."""

import numpy as np
import pytest

from sim.verifiers import redteam
from tests.widgets.catalogue import marks
from widgets.red_team import figures, holes
from widgets.red_team.figures import MOMENTS, SETTINGS


def shown(setting, moment):
    (panel,) = figures.opening(setting, moment)
    return panel, figures.patched(setting)[1][moment - 1], figures.patched(setting)[0].shared


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_dot_is_a_completion_that_was_read(setting):
    for moment in MOMENTS:
        panel, this, _ = shown(setting, moment)
        (piles,) = marks(panel, "piles")
        by_pile = np.bincount(piles["owners"], minlength=9)
        assert by_pile[:2].tolist() == this.drawn[:2].tolist() and by_pile[holes.UNREAD] == 0
        assert by_pile[2:8].tolist() == np.bincount(redteam.CLASS_OF, this.drawn[2:]).tolist()


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_hole_is_faint_when_closed_struck_out_when_found_and_double_when_shared(setting):
    ever = np.zeros(24, bool)
    for moment in MOMENTS:
        panel, this, shared = shown(setting, moment)
        ever |= this.found
        (wall,) = marks(panel, "holes")
        for hole, (state, both, many) in enumerate(wall["cells"]):
            assert ("open" in state) == this.open[hole] and ("found" in state) == ever[hole]
            assert both == shared[hole] and many == (str(this.drawn[2 + hole]) if this.drawn[2 + hole] else "")


def test_where_it_rests_the_dots_are_as_many_as_the_shares_say():
    for setting in SETTINGS:
        _, this, _ = shown(setting, MOMENTS[-1])
        expected = 64 * np.array([this.policies[-1, 0], this.policies[-1, 2:].sum()])
        assert [this.drawn[0], this.drawn[2:].sum()] == pytest.approx(expected, abs=8)


def test_the_ring_stands_at_a_hole_that_both_have_and_most_use():
    for setting in SETTINGS:
        for moment in MOMENTS:
            panel, this, shared = shown(setting, moment)
            (ring,) = marks(panel, "ring")
            through = this.policies[-1, 2:] @ (this.open & shared)
            assert ring["seen"] == (through > 0.5)
            if ring["seen"]:
                hole = figures.missed(this, shared)
                x, y = holes.place(hole)
                assert shared[hole] and this.open[hole] and ring["at"] == (x - 0.38, y - 0.38)
    assert not any(marks(shown(SETTINGS[0], moment)[0], "ring")[0]["seen"] for moment in MOMENTS)


def test_the_two_runs_of_the_opening_end_as_the_page_says():
    for setting, solved, second in zip(SETTINGS, (0.6, 0.0), (0.6, 1.0), strict=True):
        _, this, shared = shown(setting, MOMENTS[-1])
        assert redteam.solved(this)[-1] == pytest.approx(solved, abs=0.005)
        assert redteam.heldout(this, shared)[-1] == pytest.approx(second, abs=0.005)


def test_as_many_dots_stay_in_their_pile_as_can():
    before = holes.owners([40, 24, 0, 0, 0, 0, 0, 0, 0])
    after = holes.owners([30, 24, 10, 0, 0, 0, 0, 0, 0], before)
    assert sum(was == now for was, now in zip(before, after, strict=True)) == 54
