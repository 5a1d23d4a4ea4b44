"""The pictures of lesson 10 show what was computed, and claim no more."""

import numpy as np
import pytest

from sim.experiments import rare_token
from sim.worlds import modsum
from widgets.frame.drawing import answers
from widgets.ppo import figures

WAYS = figures.SETTINGS
FORMS = [form.key for form in figures.FORMS]


def drawn(i, form="w"):
    """The marks of the opening that have a key, after pass `i`."""
    (view,) = [column[0] for column in figures.opening(i)[0]["columns"] if column[0]["key"] == form]
    return {mark["key"]: mark for mark in view["marks"] if mark.get("key")}


def test_both_settings_begin_with_one_policy_and_one_answer():
    plain, other = map(figures.setting, WAYS)
    assert plain.written[0] == other.written[0] and (plain.following[0] == other.following[0]).all()


def test_the_token_stands_where_its_ratio_is_and_the_ratio_is_written_beside_it():
    for form in figures.FORMS:
        for i in figures.PASSES:
            for name, key in zip(WAYS, "cf", strict=True):
                story = figures.setting(name)
                ratio = story.rare[i] / story.rare[0]
                assert drawn(i, form.key)[f"{form.key}{key}b"]["at"][0] == pytest.approx(form.x(ratio))
                assert float(drawn(i, form.key)[f"{form.key}{key}n"]["text"][1:]) == pytest.approx(ratio, rel=0.005)


@pytest.mark.parametrize("form", FORMS)
def test_a_hop_is_drawn_for_each_push_that_can_be_seen_and_for_nothing_else(form):
    ends = {key: mark for key, mark in drawn(rare_token.PASSES, form).items() if mark["kind"] == "hop"}
    assert sorted(ends) == [f"{form}ch1", f"{form}ch9", *(f"{form}fh{n}" for n in (1, 2, 3))]
    for i in figures.PASSES:
        seen = {key for key, mark in drawn(i, form).items() if mark["kind"] == "hop" and mark["seen"]}
        made = [key for key in ends if int(key[3:]) <= i]
        assert seen == {*(key for key in made if key[1] == "f"), *[key for key in made if key[1] == "c"][-1:]}


def test_with_the_clip_the_token_is_pushed_where_it_stands_before_the_gate_and_nowhere_else():
    ratio = figures.hops(WAYS[0])
    pushed = [n for n in figures.PASSES[1:] if figures.pushes(WAYS[0], n) > figures.pushes(WAYS[0], n - 1)]
    assert pushed == [1, 9] and all(ratio[n] > ratio[n - 1] for n in pushed)
    assert all(ratio[n] < ratio[n - 1] for n in figures.PASSES[1:] if n not in pushed), "the others pull it back"
    for i in figures.PASSES[1:]:
        assert drawn(i)["wcg"]["text"].startswith("past" if ratio[i] > figures.GATE else "below")
    assert drawn(16)["wcp"]["text"] == "2 pushes in 16 passes"


def test_without_the_clip_each_of_three_pushes_is_stronger_than_the_last():
    steps = np.diff(np.log(figures.hops(WAYS[1])))
    assert steps[0] < steps[1] < steps[2] > 20 * steps[3]
    assert not drawn(2)["wfp"]["text"] and drawn(3)["wfp"]["text"]


def test_the_answer_below_a_name_is_what_the_model_writes_and_the_ring_stands_where_it_never_stops():
    for i in figures.PASSES:
        for name, key in zip(WAYS, "cf", strict=True):
            tokens, marks = figures.setting(name).written[i][figures.SHOWN], drawn(i)
            (row,) = marks[f"w{key}t"]["rows"]
            assert [text for text, _ in row] == ["stop" if t == modsum.EOS else str(t + 1) for t in tokens]
            never = tokens[-1] != modsum.EOS
            assert marks[f"w{key}r"]["seen"] == never and bool(marks[f"w{key}v"]["text"]) != never
            if not never:
                reward = int(rare_token.is_right(tokens, rare_token.PROMPT))
                assert marks[f"w{key}v"]["text"] == f"stops at {figures.total(tokens)}: reward {reward}"
    assert drawn(16)["wfr"]["seen"] and not drawn(16)["wcr"]["seen"]


def test_the_answer_that_is_shown_is_one_of_the_many_that_fare_alike():
    """At rest every answer without the clip is wrong, and with it every answer is correct."""
    plain, other = (figures.setting(name).written[-1] for name in WAYS)
    assert answers.right(other, rare_token.PROMPT) == 0 and answers.right(plain, rare_token.PROMPT) == 8


def test_the_credit_of_the_batch_is_largest_where_the_rare_token_has_everything():
    free, clipped = figures.growth()[0]["data"][:2]
    assert max(free["y"]) == free["y"][-1] > 100
    best = clipped["x"][int(np.argmax(clipped["y"]))]
    assert best < 0.02 and clipped["y"][-1] == pytest.approx(1.2)


def pointed_at(token, i):
    """The ring of the figure of one token, and the text of its bead."""
    marks = figures.bead(token, i)[0]["columns"][0][0]["marks"]
    (mark,) = [mark for mark in marks if mark["kind"] == "ring"]
    return mark["words"] if mark["seen"] else "", next(mark["text"] for mark in marks if mark["kind"] == "bead")


def test_one_step_carries_the_wanted_token_past_the_bound_and_the_ring_stands_there_alone():
    ratio = [float(step.ratio[figures.WANTED]) for step in figures.carried()]
    past = [i for i in figures.PASSES if ratio[i] > 1.2 >= ratio[max(i - 1, 0)]]
    assert past == [i for i in figures.PASSES if pointed_at("a wanted 3", i)[0]] == [2]
    assert figures.carried()[1].own[figures.WANTED] > 0 and not figures.carried()[2].own[figures.WANTED]
    assert pointed_at("a wanted 3", 0)[1] == "3" and pointed_at("an unwanted 1", 0)[1] == "1"


def test_the_unwanted_token_goes_on_without_a_push_of_its_own():
    passes = figures.carried()
    ringed = [i for i in figures.PASSES if pointed_at("an unwanted 1", i)[0]]
    assert all(not passes[i].own[figures.UNWANTED] for i in ringed)
    assert all(passes[i].ratio[figures.UNWANTED] < passes[3].ratio[figures.UNWANTED] for i in ringed)
    assert figures.carried_on("an unwanted 1", 9).startswith(
        "It has had no push since pass 3, but the other tokens have carried it from 0.79 to 0.67"
    )


def test_a_bead_stands_where_its_ratio_is_on_a_rail_of_equal_factors():
    up, down = figures.across(0.18232), figures.across(-0.18232)  # 1.2 and 1 / 1.2
    assert up - figures.across(0.0) == pytest.approx(figures.across(0.0) - down)
    for i in figures.PASSES:
        beads = [mark for mark in figures.beads(i)[0]["columns"][0][0]["marks"] if mark["kind"] == "bead"]
        assert len(beads) == 14 and sum(bead["role"] == "silent" for bead in beads) == figures.silent(i)
        assert all(figures.RAIL < bead["at"][0] < figures.RAIL + figures.LONG for bead in beads)
