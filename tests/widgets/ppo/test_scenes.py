"""The pictures of lesson 10 show what was computed, and claim no more."""

import pytest

from sim.experiments import rare_token
from sim.worlds import modsum
from tools.pages import results
from widgets.frame.drawing import answers
from widgets.ppo import figures

RESTS = sorted({0, *figures.OPENING.time.holds, rare_token.PASSES})  # where ▶ rests


def ring(name, i):
    scene = figures.written_anew(name, i)[0]
    (found,) = [mark for mark in scene["columns"][1][0]["marks"] if mark["kind"] == "ring"]
    return found


@pytest.mark.parametrize("name", figures.SETTINGS)
@pytest.mark.parametrize("i", RESTS)
def test_the_rows_that_are_right_are_as_many_as_the_exact_rate_says_within_one(name, i):
    passes = figures.setting(name)
    rows = passes.written[i]
    assert abs(answers.right(rows, rare_token.PROMPT) - len(rows) * passes.pass_rate[i]) <= 1


def test_both_settings_begin_with_one_policy_and_one_set_of_answers():
    plain, other = map(figures.setting, figures.SETTINGS)
    assert plain.written[0] == other.written[0] and (plain.following[0] == other.following[0]).all()


def test_what_is_marked_in_a_row_was_written_where_its_sum_was_right():
    for name in figures.SETTINGS:
        for written in figures.setting(name).written:
            for tokens in written:
                digits = [token + 1 for token in tokens if token != modsum.EOS]
                for i, (_, role) in enumerate(answers.row(tokens, rare_token.PROMPT)):
                    assert (role == "rival") <= (sum(digits[:i]) % 7 == 5)
                right = tokens[-1] == modsum.EOS and sum(digits) % 7 == 5
                assert right == (answers.row(tokens, rare_token.PROMPT)[0][1] == "yes")


def test_the_ring_stands_where_no_more_than_one_of_eight_is_right_and_adds_up_to_5():
    for name in figures.SETTINGS:
        for i, written in enumerate(figures.setting(name).written):
            mark = ring(name, i)
            assert mark["seen"] == (answers.right(written, rare_token.PROMPT) <= 1)
            if mark["seen"]:
                assert figures.setting(name).pass_rate[i] < 0.15
                left, right = mark["words"].removesuffix(": no stop").split(" = ")
                assert sum(map(int, left.split(" + "))) == int(right) == 5
    assert any(ring("without it", i)["seen"] for i in RESTS) and not any(
        ring("with the clip", i)["seen"] for i in RESTS
    )


def test_the_sentence_says_what_is_drawn():
    for panels, sentence, _ in results.positions("ppo", "opening"):
        stops = next(mark for mark in panels[0]["columns"][2][1]["marks"] if mark.get("key") == "ms")["text"]
        assert f"it stops {stops} times in 100" in sentence
        rows = panels[0]["columns"][1][0]["alt"]
        assert sentence.rpartition(" 3. ")[2].lower().removesuffix(" of eight right.") in rows


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
        "Without a push since pass 3, it has gone from 0.79 to 0.67"
    )


def test_a_bead_stands_where_its_ratio_is_on_a_rail_of_equal_factors():
    up, down = figures.across(0.18232), figures.across(-0.18232)  # 1.2 and 1 / 1.2
    assert up - figures.across(0.0) == pytest.approx(figures.across(0.0) - down)
    for i in figures.PASSES:
        beads = [mark for mark in figures.beads(i)[0]["columns"][0][0]["marks"] if mark["kind"] == "bead"]
        assert len(beads) == 14 and sum(bead["role"] == "silent" for bead in beads) == figures.silent(i)
        assert all(figures.RAIL < bead["at"][0] < figures.RAIL + figures.LONG for bead in beads)
