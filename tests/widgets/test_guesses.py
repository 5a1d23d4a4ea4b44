"""Of the answers that a widget offers to its question, the right one is nearest to what the run shows.

Of each widget that is not here a test in its own folder, or of its lesson, names `GUESS`.
"""

from functools import cache
from pathlib import Path

import pytest

from tests.widgets.catalogue import NAMES, where_changed
from tools.pages import results
from widgets.frame.contract.widget import extras
from widgets.frame.reader import host

TESTS = Path(__file__).parents[1]
FOUND = {  # the number that each answer says, in words or digits; and the run's
    "asynchrony": ((6, 8, 14), lambda w, k, r: w.wall(k)),
    "bottlenecks": ((5, 13, 25), lambda w, k, r: 100 * r.behind),
    "distillation": ((56, 61, 66), lambda w, k, r: 100 * r.last.right),
    "entropy": ((0, 8, 20), lambda w, k, r: w.many_found(r)),
    "forces": ((1 / 2, 2, 10), lambda w, k, r: r.critic / r.group),
    "gae": ((78, 60, 45), lambda w, k, r: 100 * w.long_answer.right(r.last.policy)),
    "kernels": ((1 / 2, 1 / 7, 1 / 40), lambda w, k, r: r.surfaces[0].gain),
    "kl_estimators": ((0.8, 1.06, 1.6), lambda w, k, r: w.ended(r)[0]),
    "off_policy": ((20, 50, 93), lambda w, k, r: 100 * w.final(r)),
    "reward_models": ((0.4, 0.6, 0.8), lambda w, k, r: r.mean),
    "process_rewards": ((0.9, 0.8, 0.3), lambda w, k, r: w.in_force(k, r).F1),
    "red_team": ((1, 0.5, 0), lambda w, k, r: r.solved),
    "reward_scale": ((0.9, 0.6, 0.2), lambda w, k, r: w.final(r)),
    "topology": ((1 / 4, 1 / 2, 9 / 10), lambda w, k, r: w.generation(k, 128) / w.generation(k, 32)),
}
HERE = {*FOUND, "gaps", "search"}


@pytest.mark.parametrize("name", [pytest.param(name, marks=where_changed(name), id=name) for name in FOUND])
def test_the_right_answer_is_the_one_nearest_to_the_run(name):
    w, (expected, computed) = host.widget(name), FOUND[name]
    guess = w.GUESS
    outcome = computed(w, guess.knobs, results.last(name, guess.knobs))
    assert min(expected, key=lambda number: abs(number - outcome)) == expected[guess.right], (guess.answers, outcome)


def test_what_gae_is_worth_to_a_kernel_engineer():
    w = host.widget("gaps")
    k = w.GUESS.knobs
    assert w.GUESS.answers[w.GUESS.right] == "it never does"
    assert "10a" not in results.last("gaps", k).best.ids


def test_of_two_scorers_twice_as_exact_the_one_by_answers_is_more_than_three_points_ahead():
    w = host.widget("search")
    answers, steps = results.last("search", w.GUESS.knobs).reranked(w.GUESS.knobs)
    assert answers - steps > 3 and w.GUESS.answers[w.GUESS.right] == "the answer scorer, clearly"


@cache
def asked():
    """The tests that name a question, as texts."""
    files = [*(TESTS / "widgets").glob("[a-z]*/test_*.py"), *(TESTS / "lessons").glob("test_*.py")]
    return [text for file in files if "GUESS" in (text := file.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in HERE])
def test_every_question_has_a_test_of_its_answer(name):
    if extras(host.widget(name)).GUESS:
        named = [text for text in asked() if f"from widgets.{name} " in text or f"from widgets.{name}." in text]
        assert named, f"widgets/{name}: a test asks whether the answer to its question, GUESS, is right"
