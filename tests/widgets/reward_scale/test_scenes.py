"""The pictures of lesson 14a show what was computed, and claim no more."""

import numpy as np
import pytest

from sim.estimators import normalizers
from sim.experiments.mixed_rewards import CHECKER, K
from widgets.frame.drawing import trays
from widgets.reward_scale import figures
from widgets.reward_scale.figures import MOMENTS, SETTINGS

RESTS = (0, MOMENTS[-1])  # where ▶ rests


def marks(scene, kind):
    return [mark for mark in scene["columns"][0][0]["marks"] if mark["kind"] == kind]


def ring(scene):
    (found,) = marks(scene, "ring")
    return found["words"] if found["seen"] else ""


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("moment", RESTS)
def test_the_checks_are_as_many_as_the_exact_rate_says_within_one_row(setting, moment):
    ((cells),) = (mark["groups"] for mark in marks(figures.opening(setting, moment)[0], "trays"))
    right = sum(ok for group in cells for _, ok in group)
    assert abs(right - 128 * figures.rate(setting, moment)) <= K


def test_both_settings_begin_with_the_same_answers():
    plain, other = (figures.batch_of(setting, 0).batch for setting in SETTINGS)
    np.testing.assert_array_equal(plain.tokens, other.tokens)
    assert figures.rate(SETTINGS[0], 0) == figures.rate(SETTINGS[1], 0)


def test_the_ring_of_the_opening_stands_where_one_answer_alone_is_pushed_hard():
    for setting in SETTINGS:
        for moment in MOMENTS:
            update = figures.batch_of(setting, moment)
            A = np.abs(update.batch.advantage[:, 0])
            words = ring(figures.opening(setting, moment)[0])
            assert bool(words) == (setting == SETTINGS[1])
            if words:
                other_groups = A.reshape(-1, K)[np.delete(np.arange(16), update.loud // K)]
                assert A[update.loud] > 5 and np.median(other_groups) < 0.2 and np.mean(other_groups > 0.5) < 0.05


def test_a_tone_grows_with_the_advantage_and_keeps_its_sign():
    tones = [trays.tone(a) for a in (-10, -1.4, -0.6, -0.1, -0.01, 0, 0.01, 0.1, 0.6, 1.3, 10)]
    assert tones == [-4, -3, -2, -1, 0, 0, 0, 1, 2, 3, 4]


def test_the_louder_one_is_the_paler_all_others_get():
    right, _, loud = figures.first_batch()
    pale = []
    for pay in figures.PAYS:
        A = figures.advantage(outlier=pay).ravel()
        others = np.delete(np.where(right.ravel() == 1, A, np.nan), loud)
        pale.append(np.nanmean(others))
    assert pale == sorted(pale, reverse=True) and pale[0] > 1 and pale[-1] < 0


def test_the_checkers_share_is_that_of_the_squared_scales():
    shares = [normalizers.shares(figures.advantage(scale), figures.SOURCE)[CHECKER] for scale in figures.SCALES]
    odds = [(1 - share) / share for share in shares]
    np.testing.assert_allclose(np.array(odds) / odds[0], np.square(figures.SCALES), rtol=1e-6)


def test_every_position_has_the_same_keys():
    for drawn, positions in (
        (figures.tray, figures.PAYS),
        (figures.sources, figures.SCALES),
        (figures.one_row, figures.WAYS),
    ):
        scenes = [drawn(position)[0] for position in positions]
        assert len({tuple(mark.get("key") for mark in scene["columns"][0][0]["marks"]) for scene in scenes}) == 1
