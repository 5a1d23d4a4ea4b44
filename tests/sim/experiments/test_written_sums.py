"""What the tiny language model writes is what its sampler, its scorer and its exact pass rate say."""

import numpy as np
import pytest

from sim.experiments import written_sums
from sim.experiments.written_sums import ENDLESS, RIGHT, WRONG
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine
from sim.worlds import tasks, tinylm


def drawn(each=4):
    policy = tasks.checkpoint("add")
    return RolloutEngine(policy).generate(tasks.Add(), tasks.PAIRS, each, np.random.default_rng(0))[0]


def test_a_completion_is_right_exactly_where_the_scorer_says_so_and_endless_where_it_was_cut_off():
    batch = Verifier(tasks.Add()).verify(drawn())
    kinds = written_sums.kinds(batch)
    np.testing.assert_array_equal(kinds == RIGHT, batch.accuracy == 1)
    np.testing.assert_array_equal(kinds == ENDLESS, ~batch.finished)


def test_the_rows_that_are_shown_have_the_shares_of_all_answers_within_one():
    shown = written_sums.written(tasks.checkpoint("add"))
    assert shown.shares.sum() == pytest.approx(1)
    assert shown.right == pytest.approx(tasks.exact_pass(tasks.checkpoint("add")).mean())
    for kind in (RIGHT, WRONG, ENDLESS):
        assert abs(shown.kinds.count(kind) - len(shown.kinds) * shown.shares[kind]) < 1


def test_a_row_is_an_answer_of_its_kind_to_its_own_sum():
    shown = written_sums.written(tasks.checkpoint("add"))
    for e, kind, tokens in zip(written_sums.SUMS, shown.kinds, shown.rows):
        text = tinylm.decode(tokens)
        assert (kind == ENDLESS) == (not text.endswith("<eos>") and len(tokens) == 8)
        assert (kind == RIGHT) == (text.replace("hmm ", "") == f"Final: {e // 10 + e % 10}<eos>")


@pytest.mark.parametrize(
    "shares, n, counts",
    [((0.5, 0.5), 4, [2, 2]), ((0.19, 0.23, 0.58), 8, [1, 2, 5]), ((1.0, 0.0), 3, [3, 0]), ((1, 1, 1), 8, [3, 3, 2])],
)
def test_largest_remainders_by_hand(shares, n, counts):
    np.testing.assert_array_equal(written_sums.largest_remainders(shares, n), counts)


def test_a_kind_that_was_not_drawn_for_a_sum_is_not_shown_there():
    kind = np.array([[RIGHT, RIGHT], [WRONG, WRONG], [WRONG, ENDLESS]])
    np.testing.assert_array_equal(written_sums.assigned(kind, [2, 1, 0]), [RIGHT, WRONG, WRONG])
    np.testing.assert_array_equal(written_sums.assigned(kind, [1, 1, 1]), [RIGHT, WRONG, ENDLESS])


def test_read_as_it_was_drawn_a_group_has_ratios_of_1_and_all_its_pushes():
    same, other = (written_sums.first_group(26, 1.5, read_at) for read_at in (1.5, 1.0))
    assert np.concatenate(same.ratio) == pytest.approx(1) and not np.concatenate(same.removed).any()
    assert all((a == b).all() for a, b in zip(same.tokens, other.tokens)) and same.right == other.right
    ratio, gone = np.concatenate(other.ratio), np.concatenate(other.removed)
    right = np.repeat(other.right, [len(row) for row in other.tokens])
    np.testing.assert_array_equal(gone, np.where(right, ratio > 1.2, ratio < 0.8))


def test_batches_are_those_that_the_run_drew():
    seen = written_sums.batches(written_sums.training(temperature=0.05), (1, 2))
    assert list(seen) == [1, 2] and seen[1].advantage is not None
    run = written_sums.training(temperature=0.05)
    live = [frame.live_groups for frame in run.frames(2)]
    for number, batch in seen.items():
        right = batch.accuracy.reshape(16, 8).sum(axis=1)
        assert ((right > 0) & (right < 8)).sum() == live[number - 1]
