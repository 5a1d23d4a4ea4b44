from functools import partial

import numpy as np
import pytest

from sim.experiments import feedback
from sim.worlds import judged_pairs
from tests.widgets import catalogue
from widgets.rlaif import judged, widget
from widgets.rlaif.widget import ALIKE, GUESS, ONE, SEVERAL, SHORT, TASTE, Knobs

last = partial(catalogue.last, widget)
broken = partial(catalogue.broken, widget)
cause = partial(catalogue.cause, widget)


def won(**knobs):
    """(wins of people's policy, of the judge's)."""
    return widget.won(Knobs(**knobs), last(**knobs))


def test_at_the_default_the_judge_is_right_more_often_and_its_policy_about_as_good():
    people, judge = won()
    assert abs(people - judge) < 0.03 and last().judge.agreement > last().people.agreement + 0.04


def test_three_times_the_taste_leaves_it_right_as_often_as_people_and_its_policy_far_behind():
    verdict, r = broken(taste=0.75), last(taste=0.75)
    assert verdict.cause == TASTE and verdict.fix == dict(taste=0.0)
    assert r.judge.agreement > r.people.agreement and won(taste=0.75)[0] > won(taste=0.75)[1] + 0.1


def test_eight_times_the_taste_is_liked_less_than_its_start_by_any_number_of_labels():
    assert cause(taste=2.0) == TASTE and (last(taste=2.0).look.judge.mean(axis=0)[1:] < 0.5).all()


def test_a_short_list_breaks_and_the_whole_one_mends_it():
    k = dict(taste=0.5, listed=2, kl=8.0)
    verdict = broken(**k)
    assert verdict.cause == SHORT and verdict.fix == dict(listed=8) and won(**k)[1] < 0.5
    assert cause(taste=0.5, kl=8.0) is None and won(taste=0.5, kl=8.0)[1] > 0.9


def test_a_taste_and_a_short_list_are_undone_together():
    verdict = broken(taste=1.0, listed=2)
    assert verdict.cause == SEVERAL and verdict.fix == dict(taste=0.0, listed=8)


def test_pairs_alike_in_style_mend_any_taste():
    assert cause(taste=2.0, pairs=ALIKE) is None and won(taste=2.0, pairs=ALIKE)[1] > 0.93
    assert last(taste=2.0, pairs=ALIKE).judge.agreement == last(taste=2.0).judge.agreement


def test_labels_help_people_and_the_judge_is_ahead_where_there_are_few():
    few, many = won(labels=100), won()
    assert few[1] > few[0] and many[0] > many[1] and many[0] > few[0] + 0.05


def test_votes_lift_agreement_and_not_the_outcome():
    one, nine = last(taste=0.75), last(taste=0.75, K=9)
    assert nine.judge.agreement > one.judge.agreement + 0.03
    assert abs(won(taste=0.75, K=9)[1] - won(taste=0.75)[1]) < 0.02


def test_noise_costs_agreement_and_hardly_wins():
    noisy = last(taste=0.0, noise=2.0)
    assert noisy.judge.agreement < noisy.people.agreement and won(taste=0.0, noise=2.0)[1] > 0.935


def test_both_orders_cancel_what_is_paid_for_being_first():
    assert last().judge.agreement == feedback.errors_of_judge(judged_pairs.Judge()).agreement
    assert last(order=ONE).judge.agreement < last().judge.agreement - 0.1 and won(order=ONE)[1] > 0.9


def test_a_greater_distance_is_worth_more_while_the_direction_is_good():
    assert won(kl=16.0)[1] > won()[1] > won(kl=1.0)[1]


def test_labels_turned_round_make_people_right_less_often():
    assert last(flip=0.4).people.agreement < last().people.agreement - 0.1


def test_the_question_is_answered_by_its_run():
    r, (people, judge) = last(taste=0.5), won(taste=0.5)
    assert GUESS.answers[GUESS.right] == "people's policy" and people > judge + 0.04
    wrong = [round(100 * (1 - errors.agreement)) for errors in (r.judge, r.people)]
    assert wrong == [23, 27] and all(str(many) in GUESS.question for many in wrong)
    assert widget.broken(GUESS.knobs, r) is None


def comparison(**knobs):
    ((view,),) = widget.figure(Knobs(**knobs), last(**knobs))[0]["columns"]
    return view


def test_what_is_left_out_of_the_list_is_struck_out():
    assert comparison(listed=3)["listed"] == [(name, i < 3) for i, name in enumerate(judged.LIST)]


def test_pairs_alike_in_style_offer_two_plain_answers():
    view = comparison(taste=2.0, pairs=ALIKE)
    assert [answer["kind"] for answer in view["answers"]] == ["plain", "plain"]
    _, judge = view["labelers"]
    assert judge["prefers"][0] > "50 %"  # it no longer sees a style


@pytest.mark.parametrize("flip", (0.0, 0.4))
@pytest.mark.parametrize("taste", (0.0, 2.5))
def test_there_is_room_for_every_sheet(flip, taste):
    for labeler in comparison(flip=flip, taste=taste, noise=3.0)["labelers"]:
        assert all(many <= columns * widget.ROWS for many, columns in zip(labeler["wrong"], widget.ROOM))


def test_the_ring_stands_at_the_cause():
    places = {
        knobs: widget.where(Knobs(**dict(knobs)), last(**dict(knobs)), cause(**dict(knobs)))
        for knobs in ((("taste", 0.75),), (("taste", 0.5), ("listed", 2), ("kl", 8.0)))
    }
    assert [place for _, place in places.values()] == ["styled", "list"]
    assert [words for words, _ in places.values()] == ["22 of 25 favor style", "6 of 8 are left out"]


def test_the_gap_that_a_cause_is_found_by_is_that_of_the_run():
    people, judge = won(taste=0.75)
    assert widget.ahead(Knobs(taste=0.75)) == pytest.approx(people - judge, abs=1e-12)
    assert np.shape(last().look.judge) == (feedback.SEEDS, len(feedback.SIZES))
