"""The pictures of lesson 15b show what was computed, and claim no more."""

from itertools import pairwise

import numpy as np
import pytest

from sim.experiments import feedback
from sim.worlds.judged_pairs import Judge
from widgets.rlaif import figures, judged
from widgets.rlaif.figures import ACROSS, DRAWN, MANY, MANY_DRAWN, SETTINGS, TASTE, WHO


def views(panel):
    return [view for column in panel["columns"] for view in column]


def marks(view, kind):
    return [mark for mark in view["marks"] if mark["kind"] == kind]


def test_where_it_rests_wrong_pairs_lie_within_one_of_their_share_in_every_quarter():
    pairs = judged.shown(ACROSS, DRAWN)
    labelers = [(judged.by_people(pairs, DRAWN), figures.of_people())]
    labelers += [(judged.by_judge(pairs, DRAWN, Judge(taste)), figures.asked(taste)) for taste in TASTE.values()]
    for right, exact in labelers:
        wrong = (~right).reshape(4, ACROSS).sum(axis=1)
        assert (abs(wrong - ACROSS * exact.wrong) < 1).all()


@pytest.mark.parametrize("who", WHO)
def test_of_forty_eight_pairs_as_many_are_wrong_as_of_all(who):
    exact, right = figures.labeler(who)
    wrong = (~right).reshape(4, MANY).sum(axis=1)
    assert (abs(wrong - MANY * exact.wrong) < 2).all() and abs(wrong.sum() - 4 * MANY * exact.wrong.mean()) < 4
    assert len(judged.shown(MANY, MANY_DRAWN).better) == 48


@pytest.mark.slow
def test_the_ring_says_most_of_its_errors_and_they_are_and_its_policy_is_behind():
    for setting in SETTINGS:
        for labels in feedback.SIZES:
            people, judge = views(figures.opening(setting, labels)[0])
            assert not any(mark["seen"] for mark in marks(people, "ring"))
            (ring,) = marks(judge, "ring")
            won = figures.wins(setting, labels)
            assert ring["seen"] == (won[0] - won[1] > 0.1)
            if ring["seen"]:
                wrong = figures.asked(TASTE[setting]).wrong
                assert wrong[3] > wrong[:3].sum()


@pytest.mark.slow
def test_a_dark_frame_stands_around_what_was_called_wrong():
    pairs = judged.shown(ACROSS, DRAWN)
    _, view = views(figures.opening(SETTINGS[1], 3000)[0])
    right = judged.by_judge(pairs, DRAWN, Judge(TASTE[SETTINGS[1]]))
    assert [mark["live"] for mark in marks(view, "frame")] == [not ok for ok in right]
    (trays,) = marks(view, "trays")
    for cells, ok in zip(trays["groups"], right, strict=True):
        assert [called for _, called in cells] == [bool(ok), not ok]


@pytest.mark.slow
def test_more_labels_bring_more_pairs_in():
    for i, labels in enumerate(feedback.SIZES):
        for view in views(figures.opening(SETTINGS[0], labels)[0]):
            assert sum(mark["seen"] for mark in marks(view, "frame")) == 4 * (i + 1)


def test_every_position_has_the_same_keys():
    keys = {tuple(mark.get("key") for view in views(figures.errors(who)[0]) for mark in view["marks"]) for who in WHO}
    assert len(keys) == 1


def test_a_longer_list_wins_more_everywhere_and_a_short_one_peaks():
    wins = [np.array(figures.by_distance(m)) for m in range(1, 9)]
    for shorter, longer in pairwise(wins):
        assert (longer > shorter).all()
    assert wins[1].argmax() < len(wins[1]) - 1 and wins[7].argmax() == len(wins[7]) - 1


def test_both_kinds_of_drafts_end_at_the_same_share():
    bad, good = figures.harmful("bad drafts"), figures.harmful("good drafts")
    assert bad == sorted(bad, reverse=True) and good == sorted(good) and abs(bad[-1] - good[-1]) < 0.3
