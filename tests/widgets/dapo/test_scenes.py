"""The pictures of lesson 13 show what was drawn, and claim no more."""

import numpy as np
import pytest

from sim.algorithms import dapo as algorithm
from sim.estimators import surrogate
from sim.experiments import rare_token
from tests.widgets import catalogue
from tests.widgets.catalogue import marks
from widgets.dapo import figures
from widgets.dapo import widget as dapo
from widgets.dapo.figures import MOMENTS, SETTINGS
from widgets.frame.drawing import trays

K = figures.K


def rings(panel):
    return [mark["words"] for mark in marks(panel, "ring") if mark["seen"]]


def filled(panel):
    """The trays that hold completions, [(cells, scale)]."""
    trays_seen = [mark for mark in marks(panel, "tray") if mark["seen"] and mark["cells"][0] is not None]
    return [(mark["cells"], mark["scale"]) for mark in trays_seen]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("update", MOMENTS)
def test_the_checks_are_as_many_as_the_exact_rate_says_within_one_tray(setting, update):
    shown = filled(figures.opening(setting, update)[0])
    right = sum(ok for cells, _ in shown for _, ok in cells)
    assert abs(right - K * len(shown) * figures.rate(setting, update)) <= K


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_group_that_was_drawn_is_shown_once_and_as_it_was(setting):
    before = 0
    for update in range(1, MOMENTS[-1] + 1):
        drawn, total = figures.drawn(setting, update), figures.trained(setting)[update][0]
        assert drawn.right.size == total - before
        before = total
        if update in MOMENTS:
            shown = filled(figures.opening(setting, update)[0])
            assert sorted(sum(ok for _, ok in cells) for cells, _ in shown) == sorted(drawn.right.sum(axis=1))
            assert sum(scale == 1 for _, scale in shown) == drawn.kept.sum()
            for cells, scale in shown:  # only groups of equal rewards are gray, and all that are thrown away are
                gray = {tone for tone, _ in cells} == {0}
                assert gray == (len({ok for _, ok in cells}) == 1) and gray >= (scale < 1)


def test_a_tone_is_how_a_completion_stands_in_its_group():
    right = np.array([[1, 1, 1, 1, 1, 1, 1, 0]])
    (cells,) = trays.compared(right)
    z = algorithm.advantage(right.astype(float), algorithm.HP, None)[0]
    assert [tone for tone, _ in cells] == [trays.tone(a) for a in z]
    assert z[-1] == pytest.approx(-7 / 8**0.5, abs=1e-4)  # (0 − 7/8) over √(7/64 · 8/7)


def test_the_ring_stands_where_four_batches_are_drawn_and_under_a_point_is_gained():
    for setting in SETTINGS:
        for update in MOMENTS:
            drawn, rate, _ = zip(*figures.trained(setting)[max(update - 10, 0) : update + 1])
            broken = (drawn[-1] - drawn[0]) / 10 > 4 * 64 and rate[-1] - rate[0] < 0.01
            dropped = int((~figures.drawn(setting, update).kept).sum())
            assert rings(figures.opening(setting, update)[0]) == (
                [f"{8 * dropped} answers, hardly anything gained"] if broken else []
            )
    assert rings(figures.opening("sampled again", 60)[0]) and not rings(figures.opening("sampled once", 60)[0])


def test_the_sentence_counts_what_is_drawn():
    for setting in SETTINGS:
        for update in MOMENTS:
            sentence, shown = figures.counted(setting, update), filled(figures.opening(setting, update)[0])
            live = sum(0 < sum(ok for _, ok in cells) < K for cells, _ in shown)
            assert sentence.startswith(f"{live or 'None'} of {len(shown)} groups")


@pytest.mark.parametrize("when", figures.WHEN)
def test_a_round_draws_what_is_missing_until_the_batch_is_full(when):
    drawn = figures.drawn("sampled again", figures.WHEN[when])
    rounds = figures.rounds(when)
    missing = 8
    for groups in rounds:
        assert len(groups) == missing
        missing -= int(drawn.kept[list(groups)].sum())
    assert missing == 0 and sum(map(len, rounds)) == len(drawn.right)
    for moment in figures.ROUNDS:
        shown = filled(figures.by_round(when, moment)[0])
        assert len(shown) == sum(map(len, rounds[: (moment + 1) // 2]))
        assert sum(scale < 1 for _, scale in shown) == len(figures.groups_by(when, moment)[1])
    assert f"full after {drawn.right.size} answers" in figures.round_said(when, figures.ROUNDS[-1])


@pytest.mark.parametrize("when", figures.WHEN)
def test_no_two_trays_lie_in_one_place(when):
    for moment in figures.ROUNDS:
        drawn = [mark for mark in marks(figures.by_round(when, moment)[0], "tray") if mark["key"][0] == "t"]
        places = [mark["at"] for mark in drawn if mark["seen"]]
        assert len(set(places)) == len(places)


@pytest.mark.parametrize("p", (figures.RARE, figures.COMMON))
@pytest.mark.parametrize("eps", figures.EPSILONS)
def test_a_token_has_no_push_left_beyond_what_the_dots_leave_it(p, eps):
    edge = figures.highest(p, eps)
    for probability in np.linspace(p, 1, 60):
        removed = surrogate.removed(probability / p, 1.0, 0.2, eps)
        assert removed == (probability > edge + 1e-12) or abs(probability - edge) < 1e-9
    shares = dict(marks(dict(columns=[[figures.above("a", "", p, eps)]]), "hundred")[0]["shares"])
    assert shares["followed"] == p and shares["rest"] == pytest.approx(min(p * eps, 1 - p))


def test_the_group_kept_for_its_length_is_all_wrong_and_gets_advantages():
    prompt, rows, paid, advantage = figures.for_its_length()
    assert len(rows) == K and not any(rare_token.is_right(tuple(row), prompt) for row in rows)
    prices = [-max(0, len(row) - 8) / 4 for row in rows]  # the last four tokens before the limit of twelve
    np.testing.assert_allclose(paid, prices)
    expected = (np.array(prices) - np.mean(prices)) / (np.std(prices, ddof=1) + 1e-6)
    np.testing.assert_allclose(advantage, expected)
    assert not rings(figures.length("right or wrong")[0])
    assert rings(figures.length("reward")[0]) == ["advantage from length alone"]


def test_the_instrument_leads_with_what_its_last_update_drew():
    for knobs in (dict(updates=60), dict(redraw="never"), dict(redraw="reward")):
        k, r = dapo.Knobs(**knobs), catalogue.last(dapo, **knobs)
        lead = dapo.figure(k, r)[0]
        drawn = r.dapo.completions[0][-1] - r.dapo.completions[0][-2]
        assert 8 * len(filled(lead)) == drawn
        break_ = dapo.broken(k, r)
        assert rings(lead) == ([dapo.seen_at(k, r, break_.cause).words] if break_ else [])
        assert sum(lead["data"][0]["y"]) == len(filled(lead))


def test_the_opening_is_the_first_seed_of_the_widgets_two_settings():
    for setting, k in zip(SETTINGS, (dapo.OPENING.plain, dapo.OPENING.other)):
        r = catalogue.last(dapo, **vars(k))
        np.testing.assert_array_equal([drawn for drawn, _, _ in figures.trained(setting)], r.dapo.completions[0])
        np.testing.assert_allclose([rate for _, rate, _ in figures.trained(setting)], r.dapo.mean_rate[0])
        np.testing.assert_array_equal(figures.drawn(setting, 60).right, r.drawn.right)
