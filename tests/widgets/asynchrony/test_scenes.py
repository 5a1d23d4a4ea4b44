"""The pictures of lesson 22c show what was computed, and claim no more."""

import re
from itertools import pairwise

import numpy as np
import pytest

from sim.cluster import pipeline
from sim.experiments import delayed_gradient
from widgets.asynchrony import eight_answers, figures, widget
from widgets.asynchrony.widget import PRESETS, Knobs
from widgets.frame.drawing import piles

LAST = figures.AT[-1]


def marks(scene, column=-1):
    return scene["columns"][column][0]["marks"]


def ring(drawn, key="r"):
    return next(mark for mark in drawn if mark["kind"] == "ring" and mark["key"] == key)


def words(drawn, key):
    return next(mark["text"] for mark in drawn if mark.get("key") == key)


def result(**knobs):
    (r,) = widget.run(Knobs(**knobs))
    return r


# The opening


@pytest.mark.parametrize("name", figures.SETTINGS)
def test_the_opening_draws_the_two_courses_of_the_instrument(name):
    k = widget.OPENING.plain if name == figures.SETTINGS[0] else widget.OPENING.other
    (r,) = widget.run(k)
    np.testing.assert_array_equal(figures.course(figures.LAG[name]).policies, r.course.policies)
    for update in figures.AT:
        drawn = marks(figures.policy(name, update)[0])
        (dots,) = [mark for mark in drawn if mark["kind"] == "piles"]
        exact = 100 * eight_answers.piled(r.course.policies[update])
        assert np.abs(np.bincount(dots["owners"], minlength=4) - exact).max() < 1
        assert [words(drawn, f"nn{i}") for i in range(4)] == [str(n) for n in piles.hundredths(exact / 100)]


def test_where_it_should_come_to_rest_is_the_best_policy_there_is():
    weight = np.exp(np.linspace(0, 1, 8) / 0.2)  # pi* is proportional to exp(R / beta)
    exact = eight_answers.piled(weight / weight.sum())
    drawn = marks(figures.policy("16 updates old", LAST)[0], 0)
    assert [int(words(drawn, f"bn{i}")) for i in range(4)] == pytest.approx(100 * exact, abs=1)
    assert eight_answers.piled(np.arange(8.0)).tolist() == [7, 6, 5, 0 + 1 + 2 + 3 + 4]


def test_the_ring_stands_where_the_best_answer_is_far_from_where_it_should_be():
    goal = 51  # exp(5) over the sum of exp(5 i / 7), of a hundred
    for name in figures.SETTINGS:
        for update in figures.AT:
            mark = ring(marks(figures.policy(name, update)[0]), "nr")
            best = 100 * figures.course(figures.LAG[name]).best[update]
            assert mark["seen"] == (update > 0 and abs(round(best) - goal) > 10)
            if mark["seen"]:
                should, has = map(int, re.findall(r"\d+", mark["words"]))
                assert should == goal and abs(has - best) < 1
    assert ring(marks(figures.policy("16 updates old", LAST)[0]), "nr")["seen"]
    assert not any(ring(marks(figures.policy("4 updates old", update)[0]), "nr")["seen"] for update in figures.AT)


def test_what_is_shown_of_the_swing_is_typical_of_the_whole_run():
    """The moments have as wide a swing as all updates, and stand as often above where it should be."""
    best = figures.course(16).best
    drawn, after = best[list(figures.AT)][1:], best[30:]
    assert abs((drawn > 0.512).mean() - (after > 0.512).mean()) < 0.15
    assert drawn.min() < 0.2 and drawn.max() > 0.9


def test_the_sentence_of_the_opening_says_what_is_drawn():
    low, high = re.search(r"between (\d+) and (\d+) of 100\.", figures.rests_or_not("16 updates old", LAST)).groups()
    late = 100 * figures.course(16).best[-200:]
    assert abs(late.min() - int(low)) < 1 and abs(late.max() - int(high)) < 1
    assert figures.rests_or_not("4 updates old", LAST).endswith(f"stays at {figures.on_goal()} of 100.")


# Slots and the trainer


@pytest.mark.parametrize("way", figures.WAYS)
def test_completions_lie_in_their_slots_one_after_the_other_and_fill_batches(way):
    ran, (zero, written, waits, training, _) = figures.small(way), figures.laid(way)
    for slot in range(figures.B):
        spans = sorted((one.start, one.finish) for one in written if one.slot == slot)
        assert all(end <= start + 1e-6 for (_, end), (start, _) in pairwise(spans))
        busy = sum(min(end - zero, 120) - max(start - zero, 0) for start, end in spans)
        idle = sum(end - start for n, start, end in waits if n == slot)
        assert busy + idle == pytest.approx(figures.UNTIL, abs=3)  # gaps of under 0.3 s are not drawn
    assert max(one.slot for one in written) < figures.B
    for one in written:
        row = np.flatnonzero(np.isclose(ran.start[one.update], one.start))
        assert (ran.lag[one.update][row] == one.update - one.began).any()
    batch = [one for one in written if one.update == figures.followed(way)]
    assert len(batch) == figures.B and figures.followed(way) in [v for v, *_ in training]


def test_a_number_is_that_of_the_weights_and_the_ring_says_the_age_of_what_it_is_on():
    for way in figures.WAYS:
        drawn = marks(figures.slots(way, figures.UNTIL)[0])
        oldest, _ = figures.oldest_of(way)
        age = figures.small(way).lag[figures.followed(way)].max()
        assert age == figures.followed(way) - oldest.began
        words = f"{age} update{'s' * int(age != 1)} old when trained on" if age else "new when trained on"
        assert ring(drawn)["words"] == words
        followed = [mark for mark in drawn if mark["kind"] in ("run", "span") and mark["role"] == "work"]
        assert len(followed) == figures.B + 1
        trainer = next(mark for mark in followed if mark["kind"] == "span")
        assert int(trainer["text"]) == int(figures.number(oldest.began)) + age
    assert figures.number(figures.oldest_of("asynchronous, 4 ahead")[0].began) == "6"  # as the lesson says


def test_all_ways_write_completions_of_the_same_lengths():
    in_turn, ahead = figures.small("synchronous"), figures.small("one-step off-policy")
    np.testing.assert_array_equal(in_turn.length, ahead.length)
    stream = np.sort(figures.small("asynchronous").length[:10].ravel())
    assert np.isin(stream, np.append(in_turn.length.ravel(), stream[-12:])).all()


def test_completions_in_slots_are_what_the_board_shows():
    ran = figures.small("asynchronous")
    slots, _ = pipeline.board(ran, 6, 60, 4)
    first = ran.settled.start
    at = ran.train[first, 0] + (np.arange(60) + 0.5) * 4 / 60 * ran.step_seconds
    for one in pipeline.in_slots(ran, at[0], at[-1]):
        versions = slots[one.slot, (at >= one.start) & (at < one.finish)]
        assert (versions == one.began - first).all()


# A push that comes late


@pytest.mark.parametrize("age", figures.AGES)
def test_what_it_learns_from_is_so_many_updates_old_and_the_arrow_is_what_the_update_does(age):
    lag = figures.AGES[age]
    course = delayed_gradient.course(lag, 3.0)
    for update in figures.LATE:
        drawn = marks(figures.late(age, update)[0])
        old, now = [mark["shares"][0][1] for mark in drawn if mark["kind"] == "hundred"]
        assert old == course.best[max(update - lag, 0)] and now == course.best[update]
        (arrow,) = [mark for mark in drawn if mark["kind"] == "arrow"]
        assert (arrow["length"] > 0) == (course.best[update + 1] > course.best[update])
        assert abs(arrow["length"]) <= figures.REACH + 1e-9


def test_a_push_is_called_wrong_only_where_it_leads_away_from_where_it_should_be_and_never_without_a_lag():
    rings = {age: {at: ring(marks(figures.late(age, at)[0])) for at in figures.LATE} for age in figures.AGES}
    wrong = {age: [update for update, mark in row.items() if mark["seen"]] for age, row in rings.items()}
    assert not wrong["fresh"] and not wrong["4 updates old"] and len(wrong["16 updates old"]) >= 5
    best, goal = figures.course(16).best, np.exp(5) / np.exp(np.linspace(0, 5, 8)).sum()
    for update in wrong["16 updates old"]:
        assert abs(best[update + 1] - goal) > abs(best[update] - goal) > 0.1
        words = "too rare, and pushed down" if best[update] < goal else "too common, and pushed up"
        assert rings["16 updates old"][update]["words"] == words


def test_the_old_answers_push_the_way_that_was_right_when_they_were_written():
    """The cause: with the same policy now, answers of now push it back."""
    reward = np.linspace(0, 1, 8)
    policies = figures.course(16).policies
    for update in (25, 50, 80):
        pi, mu = policies[update], policies[update - 16]
        late = delayed_gradient.reward_with_kl(pi, mu, mu, reward, 0.2)
        fresh = delayed_gradient.reward_with_kl(pi, pi, pi, reward, 0.2)
        by_now, by_then = ((weight - weight.sum() * pi)[-1] for weight in (fresh, late))
        assert np.sign(by_now) == np.sign(0.512 - pi[-1]) != np.sign(by_then)


# The leading picture


@pytest.mark.parametrize("name", ["Two batches ahead", "Rate 3, lag 16", "Rate 12, lag 8", "None older than 4"])
def test_the_leading_picture_is_the_policy_at_its_worst_and_is_ringed_where_the_score_breaks(name):
    k = PRESETS[name]
    (r,) = widget.run(k)
    drawn = marks(widget.answers(k, r), 0)
    worst = int(words(drawn, "nt").rpartition(" ")[2])
    assert r.course.score[worst] == pytest.approx(r.course.score[-200:].min(), abs=1e-6) and worst > 400
    exact = 100 * eight_answers.piled(r.course.policies[worst])
    assert [int(words(drawn, f"nn{i}")) for i in range(4)] == pytest.approx(exact, abs=1)
    break_ = widget.broken(k, r)
    assert ring(drawn, "nr")["seen"] == (break_ is not None and break_.cause != widget.SHORT)
    assert words(marks(widget.answers(k, r), 1), "c") == f"{widget.final(r):.3f}"
