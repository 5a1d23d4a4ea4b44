"""A wall with holes, audited and patched: arithmetic of its first frame, and runs that another program made first."""

import numpy as np
import pytest

from sim.verifiers import redteam, strategies
from sim.verifiers.redteam import CLASS_OF, EACH_ITS_OWN

CLASS, INSTANCE = (CLASS_OF, 0.015), (EACH_ITS_OWN, 0.003)  # and what a patch refuses of right work


def run(seed=0, patch=CLASS, audit=64, overlap=0.2, heldout_pays=False, rounds=12, eta=0.35):
    return redteam.run(np.random.default_rng(seed), rounds, 15, eta, audit, overlap, *patch, heldout_pays)


def end(measure, *args, **knobs):
    _, rounds = run(**knobs)
    return float(measure(rounds[-1], *args)[-1])


def by_round(**knobs):
    return [float(redteam.hacked(this)[-1]) for this in run(**knobs)[1]]


def test_before_training_each_number_is_a_sum_of_shares():
    holes, (first, *_) = run()
    solved = 0.45 * 0.6 + 0.45 * 0.15
    assert redteam.solved(first)[0] == pytest.approx(solved) == 0.3375
    assert redteam.proxy(first)[0] == pytest.approx(solved + 0.1)
    assert redteam.heldout(first, holes.shared)[0] == pytest.approx(0.3806, abs=1e-4)  # and 0.0431 through shared holes
    assert holes.tried.sum() == pytest.approx(0.1)


def test_holes_are_tried_as_zipf_says_in_a_drawn_order():
    holes = redteam.wall(np.random.default_rng(3), 0.2)
    tried = np.sort(holes.tried)[::-1]
    assert tried[1] / tried[0] == pytest.approx(2**-1.3) and tried[23] / tried[0] == pytest.approx(24**-1.3)
    assert redteam.wall(np.random.default_rng(4), 1.0).shared.all()
    assert not redteam.wall(np.random.default_rng(4), 0.0).shared.any()


def test_a_round_is_the_replicator_equation():
    _, (first, *_) = run()
    raised = first.policies[0] * np.exp(0.35 * 15 * first.paid)
    # exact but for the floor, which nothing reaches in one round
    assert first.policies[-1] == pytest.approx(raised / raised.sum(), abs=1e-12)


def test_without_patches_the_policy_is_all_hack():
    knobs = dict(patch=(None, 0.0))
    holes, rounds = run(**knobs)
    last = rounds[-1]
    assert [redteam.proxy(last)[-1], redteam.hacked(last)[-1]] == pytest.approx([1, 1], abs=0.005)
    assert redteam.heldout(last, holes.shared)[-1] == pytest.approx(0.43, abs=0.005)
    assert last.open.all() and not last.closed.any() and last.refused == 0


def test_instance_patches_chase_the_holes_one_by_one():
    few = by_round(patch=INSTANCE, audit=16, overlap=0.0)
    assert few[:7] == pytest.approx([0.62, 0.87, 0.94, 0.98, 0.71, 0.12, 0.01], abs=0.006)
    many = by_round(patch=INSTANCE, audit=256, overlap=0.0)
    assert many[:3] == pytest.approx([0.62, 0.31, 0.02], abs=0.006)


def test_instance_patches_leave_three_shared_holes_and_both_verifiers_report_one():
    holes, rounds = run(patch=INSTANCE)
    last = rounds[-1]
    left = np.flatnonzero(last.open & ~last.closed)
    assert list(left) == [0, 1, 12] and holes.shared[left].all()
    reported = [redteam.proxy(last)[-1], redteam.heldout(last, holes.shared)[-1], redteam.solved(last)[-1]]
    assert reported == pytest.approx([1, 1, 0], abs=1e-3)


def test_class_patches_end_it_within_three_rounds():
    assert by_round()[:4] == pytest.approx([0.62, 0.09, 0.01, 0.00], abs=0.006)
    assert end(redteam.solved) == pytest.approx(0.6, abs=1e-3) and end(redteam.hacked) < 1e-3
    _, rounds = run()
    assert rounds[-1].refused == pytest.approx(1 - 0.985**6) and not (rounds[-1].open & ~rounds[-1].closed).any()


@pytest.mark.slow
def test_class_patches_at_an_overlap_of_a_fifth_lose_two_of_a_hundred_runs():
    assert sum(end(redteam.hacked, seed=seed) > 0.5 for seed in range(100)) == 2


@pytest.mark.slow
def test_a_held_out_verifier_in_the_reward_is_part_of_what_is_hacked():
    for seed in range(10):
        knobs = dict(seed=seed, heldout_pays=True)
        assert end(redteam.proxy, **knobs) > 0.99 and end(redteam.solved, **knobs) < 0.01
        assert end(redteam.solved, **knobs, overlap=0.0) == pytest.approx(0.6, abs=0.01)


def test_an_audit_finds_what_was_drawn_and_one_verifier_alone_pays():
    drawn = np.array([3, 0, 1, 2])
    found = redteam.found(drawn, np.array([True, True, True, False]), np.array([False, False, True, False]))
    assert list(found) == [
        True,
        False,
        False,
        False,
    ]  # the second was not drawn, the third is shared, the fourth closed


def test_a_class_patch_closes_the_siblings_and_an_instance_patch_the_one():
    assert list(np.flatnonzero(redteam.closed(np.arange(24) == 3, CLASS_OF))) == [3, 9, 15, 21]
    assert list(np.flatnonzero(redteam.closed(np.arange(24) == 3, EACH_ITS_OWN))) == [3]
    assert not redteam.closed(np.zeros(24, bool), CLASS_OF).any()


def test_each_patch_refuses_its_share_of_what_was_still_paid():
    _, rounds = run(patch=(CLASS_OF, 0.2))
    patched = [len(np.unique(CLASS_OF[this.found])) for this in rounds]
    for i, this in enumerate(rounds):
        assert this.refused == pytest.approx(1 - 0.8 ** sum(patched[:i]))
        assert this.paid[:2] == pytest.approx(redteam.SOLVES * 0.8 ** sum(patched[:i]))


def test_a_way_that_lost_can_come_back():
    logits = np.array([0.0, -5.0])
    down, kept = redteam.trained(logits, np.array([1.0, 0.0]), 10.0, 20)
    assert kept[1] - kept[0] == redteam.LOWEST
    up, _ = redteam.trained(kept, np.array([0.0, 1.0]), 10.0, 20)
    assert down[-1, 1] < 1e-12 and up[-1, 1] > 0.99


def test_a_run_is_strung_together_without_gap_or_double():
    _, rounds = run()
    whole = redteam.along(rounds, redteam.hacked)
    assert len(whole) == 12 * 15 + 1 and whole[15] == redteam.hacked(rounds[1])[0] == redteam.hacked(rounds[0])[-1]


def test_the_step_is_that_of_lesson_18():
    pi, reward = np.array([0.2, 0.3, 0.5]), np.array([1.0, 0.0, 0.4])
    policies, _ = redteam.trained(np.log(pi), reward, 0.1, 1)
    moved = np.log(pi) + 0.1 * strategies.natural(reward)(pi)
    assert policies[1] == pytest.approx(np.exp(moved) / np.exp(moved).sum())
