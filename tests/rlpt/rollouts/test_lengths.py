"""Exact counts of tokens show the length limit only where lengths vary and pile up."""

import json
from importlib.resources import files

import numpy as np
import pytest

from rlpt.rollouts import lengths


def test_counts_that_pile_up_at_the_maximum_show_the_limit():
    assert lengths.limit(np.r_[np.arange(10, 60), [64] * 10]) == 64


def test_a_maximum_that_few_reach_shows_none():
    assert lengths.limit(np.r_[np.arange(10, 60), [64] * 9]) is None


def test_a_length_that_is_usual_below_the_maximum_hides_it():
    assert lengths.limit(np.r_[np.arange(10, 60), [40] * 9, [64] * 10]) is None


def test_a_policy_that_always_writes_the_same_length_shows_no_limit():
    assert lengths.limit(np.full(64, 12)) is None and lengths.limit(np.repeat([2, 3], 40)) is None


@pytest.mark.parametrize("name, limit", [("length", 32), ("verifier", 32), ("sound", None)])
def test_in_real_runs_the_limit_is_the_one_that_was_set(name, limit):
    file = files("rlpt.rollouts") / "data" / f"{name}.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert lengths.limit(np.array([row["n_tokens"] for row in rows])) == limit
    if limit:  # what did not end was cut off, and a few ended with the last token
        assert all(row["ended"] or row["n_tokens"] == limit for row in rows)


def test_numbers_of_tokens_are_whole_and_flags_are_0_or_1():
    assert lengths.are_counts(np.array([0.0, 12.0])) and not lengths.are_counts(np.array([0.5, 12.0]))
    assert not lengths.are_counts(np.array([np.nan, 3.0])) and not lengths.are_counts(np.array([0.0, 1.0]))
    assert lengths.are_flags(np.array([0.0, 1.0])) and not lengths.are_flags(np.array([np.nan, 1.0]))
