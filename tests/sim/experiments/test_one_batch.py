import numpy as np

from sim.experiments import one_batch


def test_a_round_lasts_as_long_as_its_longest_answer():
    assert one_batch.rounds([3, 5, 2, 4], slots=2) == [(0, 5), (5, 9)]
    assert one_batch.rounds([3, 5, 2], slots=2) == [(0, 5), (5, 7)]


def test_the_longest_answers_are_stored_first_each_where_least_is_stored():
    """Graham (1969): 5 | 4, then 3 on the second, 3 on the first, 1 on the second."""
    places = one_batch.spread([3, 5, 3, 4, 1], gpus=2)
    assert places == [(1, 4), (0, 0), (0, 5), (1, 0), (1, 7)]


def test_the_batch_has_ten_answers_to_each_sum_and_their_advantages_add_up_to_nothing():
    batch = one_batch.batch()
    assert len(batch.rows) == len(batch.right) == len(batch.advantage) == len(one_batch.SUMS) * one_batch.EACH
    np.testing.assert_allclose(batch.advantage.reshape(10, 10).sum(1), 0, atol=1e-9)
