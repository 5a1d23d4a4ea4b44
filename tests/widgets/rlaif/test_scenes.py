"""The pictures of lesson 15b show what was computed, and claim no more."""

from itertools import pairwise

import numpy as np
import pytest

from sim.experiments import feedback
from sim.worlds.judged_pairs import STYLE, Judge
from widgets.frame.drawing import comparisons, drawing
from widgets.rlaif import figures, judged
from widgets.rlaif.figures import QUARTERS, SETTINGS, TASTE, WHO


def comparison(setting):
    ((view,),) = figures.opening(setting)[0]["columns"]
    return view


def errors_of(setting):
    return figures.of_people(), figures.asked(TASTE[setting])


@pytest.mark.slow
def test_sheets_are_the_wrong_choices_of_a_hundred_pairs_to_within_one():
    for setting in SETTINGS:
        for labeler, errors in zip(comparison(setting)["labelers"], errors_of(setting)):
            exact = 25 * errors.wrong[:2].sum(), 25 * errors.wrong[2:].sum()
            assert (abs(np.array(labeler["wrong"]) - exact) < 1).all()
            assert sum(labeler["wrong"]) == round(100 * errors.wrong.mean())


@pytest.mark.parametrize("wrong", ([0, 0, 0, 0], [0.02] * 4, [0.13, 0.13, 0.14, 0.13], [0.5, 0.5, 0.9, 0.97]))
def test_both_sides_add_up_to_all_wrong_choices(wrong):
    wrong = np.array(wrong, float)
    both = judged.sides(feedback.Errors(1 - wrong.mean(), wrong))
    assert sum(both) == round(100 * wrong.mean())
    assert (abs(np.array(both) - [25 * wrong[:2].sum(), 25 * wrong[2:].sum()]) <= 1).all()


@pytest.mark.slow
def test_where_the_judge_falls_behind_a_ring_counts_its_errors_for_style():
    for setting in SETTINGS:
        view, (people, judge) = comparison(setting), figures.wins(setting)
        plain, ring = (mark for mark in view["marks"] if mark["kind"] == "ring")
        assert not plain["seen"] and ring["seen"] == (people - judge > 0.1)
        _, of_judge = view["labelers"]
        if ring["seen"]:
            assert ring["words"] == f"{of_judge['wrong'][1]} of {sum(of_judge['wrong'])} favor style"
            assert of_judge["wrong"][1] > 2 * of_judge["wrong"][0]


@pytest.mark.slow
def test_the_judge_errs_less_than_people_in_both_runs_and_trains_no_better_policy():
    for setting in SETTINGS:
        of_people, of_judge = errors_of(setting)
        people, judge = figures.wins(setting)
        assert of_judge.agreement > of_people.agreement and judge < people


@pytest.mark.slow
def test_what_a_policy_writes_is_as_styled_as_its_answers_are():
    kinds = [[one["writes"]["kind"] for one in comparison(setting)["labelers"]] for setting in SETTINGS]
    assert kinds == [["plain", "plain"], ["plain", "styled"]]
    (_, mild), (_, strong) = (figures.writes(setting) for setting in SETTINGS)
    assert strong[1] > mild[1] > 0.3 and strong[0] < mild[0]


def test_the_answers_of_the_pair_are_those_that_are_compared():
    assert judged.BETTER[STYLE] == 0 and judged.WORSE[STYLE] == judged.STYLED
    better, worse = judged.offered(alike=False)
    assert (better["kind"], worse["kind"]) == ("plain", "styled") and worse["head"]
    assert {one["kind"] for one in judged.offered(alike=True)} == {"plain"}


def test_a_choice_is_stated_as_often_as_it_is_made():
    people, judge = judged.chances(Judge(0.75))
    assert judged.percent(people) == "84 %" and judged.percent(judge) == "27 %"


def test_wings_show_a_sheet_for_each_wrong_choice_that_has_room():
    answers = judged.offered(alike=False)
    one = comparisons.labeler("people", ("1 %", "99 %"), (2, 9), answers[0], 50)
    pen = drawing.drawn({"columns": [[comparisons.view("v", "asked", answers, [one], (2, 2), 3)]]})
    left, right = (sum("off" not in css for (css,) in pen.state[f"vw0{side}-.*"]) for side in (0, 1))
    assert (left, right) == (2, 6) and pen.state["vw0c1.text"] == "9"


@pytest.mark.parametrize("who", WHO)
def test_a_hundred_dots_of_each_quarter_are_its_errors(who):
    columns = figures.errors(who)[0]["columns"]
    wrong = [dict(mark["shares"])["against"] for (view,) in columns for mark in view["marks"] if "shares" in mark]
    assert len(wrong) == len(QUARTERS) and wrong == list(figures.labeler(who).wrong)


def test_a_longer_list_wins_more_everywhere_and_a_short_one_peaks():
    wins = [np.array(figures.by_distance(m)) for m in range(1, 9)]
    for shorter, longer in pairwise(wins):
        assert (longer > shorter).all()
    assert wins[1].argmax() < len(wins[1]) - 1 and wins[7].argmax() == len(wins[7]) - 1


def test_both_kinds_of_drafts_end_at_the_same_share():
    bad, good = figures.harmful("bad drafts"), figures.harmful("good drafts")
    assert bad == sorted(bad, reverse=True) and good == sorted(good) and abs(bad[-1] - good[-1]) < 0.3


@pytest.mark.parametrize("taste", figures.TASTES)
def test_the_judge_s_arrow_closes_the_triangle_whose_squares_are_drawn(taste):
    ((view,),) = figures.pointing(taste)[0]["columns"]
    marks = {mark["key"]: mark for mark in view["marks"] if "key" in mark}
    people, judge = marks["people"], marks["judge"]
    assert people["turn"] == 0 and people["length"] == marks["p"]["wide"] == marks["p"]["high"]
    assert judge["length"] ** 2 == pytest.approx(marks["p"]["wide"] ** 2 + marks["s"]["wide"] ** 2)  # Pythagoras
    up = judge["length"] * np.sin(np.radians(-judge["turn"]))
    assert up == pytest.approx(marks["s"]["high"], abs=1e-12) and marks["s"]["wide"] == marks["s"]["high"]
    area = marks["s"]["wide"] ** 2
    if taste:  # a share of c² / (1 + c²)
        assert marks["n"]["text"].startswith(f"{100 * area / (area + marks['p']['wide'] ** 2):.0f} %")
