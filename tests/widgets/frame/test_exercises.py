"""What readers are given to do with a widget: a function to change, with exercises, and goals to reach."""

import inspect
import json
from functools import cache
from types import FunctionType

import pytest

from tools.pages import results
from widgets.frame.contract.exercises import Challenge, Change
from widgets.frame.reader import host, pages, reader_patch

NAMES = pages.having("exercises")
WITH_CHANGE = [name for name in NAMES if hasattr(host.exercises(name), "CHANGE")]
EXERCISES = [(name, i) for name in WITH_CHANGE for i in range(len(host.exercises(name).CHANGE.exercises))]
CHALLENGES = [(name, i) for name in NAMES for i in range(len(getattr(host.exercises(name), "CHALLENGES", ())))]


def each_where_changed(values):
    """Parameters that run where the exercises of their widget, the first of each, have changed."""
    for value in values:
        name = value[0] if isinstance(value, tuple) else value
        mark = pytest.mark.when_changed(f"widgets.{name}.exercises", family="exercises", most=12)
        yield pytest.param(*(value if isinstance(value, tuple) else [value]), marks=mark)


def frames(name, source):
    return map(json.loads, reader_patch.stream(name, {}, source, alive=lambda: None))


@cache
def ours(name):
    """The frames of our code, all of them: while a change is in force, whoever runs the widget runs the change."""
    return [json.loads(frame) for frame in host.stream(name)]


@pytest.mark.parametrize("name", NAMES)
def test_a_module_of_exercises_offers_a_change_goals_or_both(name):
    module = host.exercises(name)
    assert set(vars(module)) & {"CHANGE", "CHALLENGES"}
    assert isinstance(getattr(module, "CHANGE", None), Change | None)
    goals = getattr(module, "CHALLENGES", ())
    assert len(goals) <= 3 and all(isinstance(goal, Challenge) for goal in goals)
    for sentence in [goal.goal for goal in goals]:
        assert any(map(str.isdigit, sentence)) and sentence.endswith(".") and len(sentence) <= 130, sentence


@pytest.mark.parametrize("name", WITH_CHANGE)
def test_exercises_change_short_plain_functions_of_one_file(name):
    change = host.exercises(name).CHANGE
    assert len({function.__module__ for function in change.functions}) == 1
    assert 1 <= len(change.exercises) <= 2
    for function in change.functions:
        assert isinstance(function, FunctionType) and function.__module__.startswith(("sim.", "rlpt.")), function
        assert function.__qualname__ == function.__name__ and not function.__code__.co_freevars
        assert 2 <= len(inspect.getsource(function).splitlines()) <= 24  # its docstring counted
    for exercise in change.exercises:
        assert len(exercise.hints) == 2 and len(exercise.ask) <= 220
        assert reader_patch.text_of(change).count(exercise.answer[0]) == 1


@pytest.mark.parametrize("name", list(each_where_changed(WITH_CHANGE)))
def test_the_book_s_own_function_meets_no_exercise_and_draws_the_page_s_figure(name):
    verdicts, *theirs = frames(name, reader_patch.text_of(host.exercises(name).CHANGE))
    assert [exercise["met"] for exercise in verdicts["exercises"]] == [False] * len(verdicts["exercises"])
    for mine, yours in zip(ours(name), theirs[:2]):
        assert mine == yours


@pytest.mark.parametrize("name, i", list(each_where_changed(EXERCISES)))
def test_an_answer_meets_its_exercise_and_moves_the_figure(name, i):
    change = host.exercises(name).CHANGE
    source = reader_patch.text_of(change).replace(*change.exercises[i].answer)
    plain, stream = ours(name), frames(name, source)
    verdicts = next(stream)
    assert "exercises" in verdicts and verdicts["exercises"][i]["met"], verdicts
    moved = next((yours for mine, yours in zip(plain, stream) if yours != mine), None)
    assert moved is not None, "the widget does not draw on what is changed"
    assert "panels" in moved, f"the page refuses the answer: {moved}"


@pytest.mark.parametrize("name, i", list(each_where_changed(CHALLENGES)))
def test_a_challenge_can_be_met_and_is_not_met_at_the_default(name, i):
    challenge, knobs = host.exercises(name).CHALLENGES[i], host.widget(name).Knobs()
    assert challenge.met(challenge.way, results.last(name, challenge.way)), challenge.goal
    assert not challenge.met(knobs, results.last(name, knobs)), challenge.goal
