import numpy as np
import pytest

from sim.worlds import step_tree
from sim.worlds.step_tree import LEAVES, NODES, OFFSETS

TREE = step_tree.build(np.random.default_rng(0))


def test_the_levels_of_a_tree_with_three_branches():
    assert OFFSETS == [0, 1, 4, 13, 40, 121, 364] and (NODES, LEAVES) == (364, 243)  # (3^level − 1) / 2


def test_the_policy_goes_on_to_one_of_three():
    np.testing.assert_allclose(TREE.prior[:, 1:].reshape(300, -1, 3).sum(axis=2), 1)
    np.testing.assert_allclose(TREE.chance.sum(axis=1), 1)


def test_a_chain_is_its_nodes_from_the_first_step_to_the_leaf():
    heap = np.arange(NODES)[None].astype(float)
    for leaf in (0, 100, 242):
        up = [OFFSETS[5] + leaf]
        while up[-1] > 3:
            up.append((up[-1] - 1) // 3)  # the parent of a node of a heap with three branches
        assert step_tree.along(heap)[0, leaf].tolist() == up[::-1]


def test_after_a_flawed_step_nothing_is_sound_unless_the_policy_recovers():
    sound = step_tree.along(TREE.sound)
    assert not (sound[..., 1:] & ~sound[..., :-1]).any()
    recovers = step_tree.along(step_tree.build(np.random.default_rng(0), recover=0.2).sound)
    flawed = ~recovers[:, ::3, 3]  # a leaf in three, so that siblings are not asked for one parent thrice
    assert recovers[:, ::3, 4][flawed].mean() == pytest.approx(0.2, abs=0.02)  # the chance itself, 13,000 draws


def test_a_sound_chain_is_right_and_a_flawed_one_by_luck():
    sound = TREE.sound[:, -LEAVES:]
    assert TREE.correct[sound].all()
    n = (~sound).sum()
    assert TREE.correct[~sound].mean() == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / n))


def test_both_scorers_tell_right_from_wrong_by_two_standard_deviations():
    for score, right in ((TREE.prm[:, 1:], TREE.sound[:, 1:]), (TREE.orm, TREE.correct)):
        assert score[right].mean() - score[~right].mean() == pytest.approx(2, abs=0.03)
        assert score[right].std() == pytest.approx(1, abs=0.02)


def test_a_step_score_of_zero_is_as_likely_of_a_sound_prefix_as_of_a_flawed_one():
    sound = TREE.sound[:, 1:]
    assert TREE.prm[:, 1:][sound].mean() == pytest.approx(1, abs=0.02)
    assert TREE.prm[:, 1:][~sound].mean() == pytest.approx(-1, abs=0.02)


def test_a_blind_spot_lifts_wrong_answers_by_three_and_changes_nothing_else():
    blind = step_tree.build(np.random.default_rng(0), blind_spots=0.05)
    lifted = blind.orm != TREE.orm
    assert not (lifted & TREE.correct).any()
    np.testing.assert_allclose(blind.orm[lifted] - TREE.orm[lifted], 3)
    assert lifted[~TREE.correct].mean() == pytest.approx(0.05, abs=0.004)
    assert (blind.prm == TREE.prm).all() and (blind.correct == TREE.correct).all()


def test_noise_of_one_scorer_leaves_the_other_alone():
    noisy = step_tree.build(np.random.default_rng(0), prm_noise=2.0)
    assert (noisy.orm == TREE.orm).all() and noisy.prm[TREE.sound].std() == pytest.approx(2, rel=0.02)
