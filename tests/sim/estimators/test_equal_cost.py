"""Straight lines, whose values at any cost are known."""

import numpy as np
import pytest

from sim.estimators.equal_cost import lead


def test_the_longer_curve_is_read_where_the_shorter_one_ends():
    # 0.1 a hundred completions against 0.2 a thousand: at 400, where the first ends, 0.4 against 0.08
    short, long = ([[0, 100, 400]], [[0.0, 0.1, 0.4]]), ([[0, 500, 1000]], [[0.0, 0.1, 0.2]])
    assert lead(*short, *long) == pytest.approx(0.08 - 0.4, abs=1e-15)
    assert lead(*long, *short) == pytest.approx(0.4 - 0.08, abs=1e-15)


def test_a_method_that_only_draws_more_an_update_is_not_ahead():
    def by_completions(x):
        return 1 - np.exp(-x / 500)

    few, many = np.arange(0, 1001, 10), np.arange(0, 4001, 40)  # 100 updates each; the second looks faster by update
    assert by_completions(many)[50] > by_completions(few)[50]
    assert lead([few], [by_completions(few)], [many], [by_completions(many)]) == pytest.approx(0, abs=1e-15)


def test_the_lead_changes_its_sign_with_the_order():
    one, other = ([[0, 100]], [[0.0, 0.5]]), ([[0, 200]], [[0.0, 0.6]])
    assert lead(*one, *other) == -lead(*other, *one) == pytest.approx(0.3 - 0.5, abs=1e-15)


def test_seeds_are_paired_and_their_leads_averaged():
    # (0.2 - 0.1) and (0.6 - 0.2): curves of different lengths need not have a common grid
    assert lead([[0, 10], [0, 20]], [[0, 0.1], [0, 0.2]], [[0, 10], [0, 20]], [[0, 0.2], [0, 0.6]]) == pytest.approx(
        0.25
    )
