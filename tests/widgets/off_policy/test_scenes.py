"""The pictures of lesson 19a show what was computed, and claim no more."""

import numpy as np
import pytest

from sim.estimators import off_policy
from tests.widgets.catalogue import marks
from widgets.off_policy import figures, pushes
from widgets.off_policy.figures import FIVE, MOMENTS, SETTINGS


def test_a_push_has_the_tone_of_its_weight():
    assert [pushes.tone(push) for push in (0, 0.3, 1.0, 1.5, 2.0)] == [
        "silent",
        "above-1",
        "above-2",
        "above-3",
        "above-4",
    ]
    assert pushes.tone(-1.0) == "below-2" and pushes.tone(-0.0) == "silent"


@pytest.mark.slow
def test_the_share_that_a_reader_counts_is_that_of_the_batch():
    for setting in SETTINGS:
        for moment in MOMENTS:
            update, shown = figures.followed(setting)[moment]
            none, all_of_them = pushes.silent(shown)
            longest = max(len(answer.pushes) for answer in shown)
            assert abs(none - update.silenced * all_of_them) <= longest, (setting, moment)
            pushed = update.batch.advantage[:, 0] != 0
            right = (update.batch.accuracy > 0)[pushed].mean()
            assert abs(sum(answer.right for answer in shown) - figures.SHOWN * right) < 1


@pytest.mark.slow
def test_both_settings_begin_with_the_same_answers():
    first, other = (figures.followed(setting)[1][1] for setting in SETTINGS)
    assert [a.tokens for a in first] == [a.tokens for a in other]


@pytest.mark.slow
def test_the_ring_of_the_opening_stands_at_a_token_without_a_push():
    for setting in SETTINGS:
        for moment in MOMENTS:
            _, shown = figures.followed(setting)[moment]
            (ring,) = marks(figures.opening(setting, moment)[0], "ring")
            assert ring["seen"] == (setting == SETTINGS[1])
            if ring["seen"]:
                row, place = figures.silenced_here(setting, moment)
                assert shown[row].pushes[place] == 0
                assert ring["at"] == (pushes.FIRST + 1.8 * place, pushes.TOP + row)


@pytest.mark.slow
def test_six_old_answers_stand_for_the_batch_in_each_of_the_five_ways():
    for name in FIVE:
        shown = pushes.answers(figures.old().batch, figures.counted(name), figures.shown_rows())
        none, all_of_them = pushes.silent(shown)
        assert abs(none - figures.share_silent(name) * all_of_them) <= 8, name
    sign = {name: np.sign(figures.counted(name) * figures.old().batch.advantage) for name in FIVE}
    assert all(((sign[name] == sign["token ratio"]) | (sign[name] == 0)).all() for name in FIVE), "no way turns a push"


def test_the_dots_of_a_length_are_its_effective_share():
    for length in figures.LENGTHS:
        shown = [dict(mark["shares"])["followed"] for mark in marks(figures.left(length)[0], "hundred")]
        assert shown == pytest.approx([np.exp(-(sigma**2) * length) for sigma in figures.SIGMAS])


def test_a_limit_trades_bias_for_noise():
    bias, noise = np.transpose([figures.at_limit(C) for C in figures.LIMITS])
    assert (np.diff(bias) < 0).all() and (np.diff(noise) > 0).all() and bias[-1] < 1e-12
    assert (figures.PI / figures.MU).max() == 4  # the note says so
    assert off_policy.estimator(figures.PI, figures.MU, figures.REWARD, figures.PI / figures.MU, 0.3)[1] < 1e-12
