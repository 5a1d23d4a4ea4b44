"""What comes of a reader's pick: nine checks, and forty prompts with two pickers."""

import inspect
import json

import pytest

from widgets.frame.reader import reader_code
from widgets.lab_m05 import editable

OCCURS, EXACT = [(29, 22), (36, 24), (40, 25), (40, 25)], [(22, 22), (25, 25), (31, 31), (33, 33)]


def of(body):
    *_, last = reader_code.stream(
        editable, body if body.startswith("def") else f"def pick_best(samples):\n    {body}\n"
    )
    return json.loads(last)


def missed(result):
    return [name for name, passed, *_ in result["tables"][0]["rows"] if passed == "no"]


def test_what_readers_begin_with_passes_five_and_says_where_it_misses():
    result = of(inspect.getsource(editable.EDITED))
    assert result["goals"] == [False] and len(missed(result)) == 4
    assert "5 of 9" in result["sentence"] and "it returned id 3. The check wants id 1." in result["sentence"]


def test_the_solution_passes_all_nine_and_shows_the_numbers_of_the_picture():
    result = of(editable.HINTS[-1])
    assert result["goals"] == [True] and missed(result) == [] and not result["beside"]
    shown = [list(zip(*(row[2:] for row in result["tables"][2]["rows"][i : i + 2]))) for i in (0, 2)]
    assert shown == [[(str(a), str(b)) for a, b in rows] for rows in (OCCURS, EXACT)]


@pytest.mark.parametrize(
    "body, misses",
    [
        ("return max(samples, key=lambda s: (s['reward'], -s['sample_id']))", ["a NaN never beats a number"]),
        (
            "return samples and max(samples, key=lambda s: (s['reward'] == s['reward'], s['reward'], -s['sample_id']))",
            ["there is no sample"],
        ),
        (
            "return dict(max(samples, key=lambda s: (s['reward'] == s['reward'], s['reward'], -s['sample_id'])))",
            ["returns the very object"],
        ),
        (
            "samples[0]; return max(samples, key=lambda s: (s['reward'] == s['reward'], s['reward'], -s['sample_id']))",
            ["there is no sample"],  # an IndexError is no ValueError
        ),
        (
            "samples.sort(key=lambda s: (s['reward'] != s['reward'], -s['reward'], s['sample_id']))\n"
            "    if not samples:\n        raise ValueError('empty')\n    return samples[0]",
            ["leaves the input as it was"],
        ),
    ],
)
def test_a_typical_mistake_is_found(body, misses):
    result = of(body)
    assert missed(result) == misses and result["goals"] == [False]


@pytest.mark.parametrize(
    "body, words",
    [
        ("return None", "it returned None, and a pick is one of the samples"),
        ("return samples[0]['sample_id']", "it returned 0, and a pick is one of the samples"),
        ("return {'sample_id': 1.5}", "a pick is one of the samples"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("return pick_best(samples)", "RecursionError"),
        ("return smaples[0]", "NameError"),
    ],
)
def test_whatever_comes_back_ends_in_a_sentence_and_reaches_nothing(body, words):
    result = of(body)
    assert words in result["sentence"] and words in result["beside"] and result["goals"] == [False]
    assert {row[2] for row in result["tables"][2]["rows"]} == {"–"}


@pytest.mark.parametrize("value", ["numpy.zeros(3)", "float('nan')", "None"])
def test_a_function_that_writes_into_its_samples_is_told_so(value):
    result = of(f"import numpy\n    samples[0]['completion'] = {value}\n    return samples[0]")
    assert "leaves the input as it was" in missed(result)


def test_a_name_of_a_sample_that_does_not_exist_picks_nothing():
    result = of("return {'sample_id': 99}")
    assert len(missed(result)) == 9 and result["tables"][2]["rows"][0][2] == "–"


@pytest.mark.parametrize(
    "body, words",
    [
        ("return dict(max(samples, key=lambda s: s['reward']))", "it returned a copy and not the sample itself"),
        (
            "samples.sort(key=lambda s: (s['reward'] != s['reward'], -s['reward'], s['sample_id']))\n"
            "    return samples[0]",
            "it changed the list or a sample that it was given",
        ),
        (
            "return samples and max(samples, key=lambda s: (s['reward'] == s['reward'], s['reward'], -s['sample_id']))",
            "it returned without an error. The check wants a ValueError",
        ),
    ],
)
def test_a_miss_with_the_right_id_says_what_else_is_wrong(body, words):
    assert words in of(body)["sentence"]
