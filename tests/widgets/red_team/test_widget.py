from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from sim.verifiers import redteam
from tests.widgets import catalogue
from widgets.red_team import holes, widget
from widgets.red_team.widget import CLASS, INSTANCE, MIXED, NOTHING, OUTRUN, START, Knobs

last = partial(catalogue.last, widget)
broken = partial(catalogue.broken, widget)
cause = partial(catalogue.cause, widget)


def test_the_default_ends_with_honest_work_and_every_hole_closed():
    assert last().solved == pytest.approx(0.6, abs=1e-3)
    assert widget.left_open(last()) == 0 and last().hacked.max() == pytest.approx(0.624, abs=1e-3)


@pytest.mark.parametrize(
    "knobs, fix",
    [
        (dict(patch=INSTANCE), dict(overlap=0.0)),
        (dict(overlap=0.8), dict(overlap=0.0)),
        (dict(patch=NOTHING), dict(patch=CLASS)),
        (dict(heldout=True), dict(heldout=False)),
    ],
)
def test_what_is_undone_is_the_cause_alone(knobs, fix):
    assert broken(**knobs).fix == fix


def test_instance_patches_end_where_both_verifiers_report_one():
    r = last(patch=INSTANCE)
    assert min(r.proxy, r.heldout) > 0.995 and r.solved < 0.005 and widget.through_shared(r) > 0.99
    assert widget.ring_words(r) == "both verifiers miss this"


def test_without_an_overlap_the_same_patches_hold():
    assert last(patch=INSTANCE, overlap=0.0).solved == pytest.approx(0.6, abs=1e-3)


def test_without_patches_the_two_verifiers_disagree():
    r = last(patch=NOTHING)
    assert r.proxy - r.heldout > 0.5 and widget.ring_words(r) != "both verifiers miss this"


def test_the_held_out_verifier_in_the_reward_is_spent():
    r = last(heldout=True)
    assert r.heldout == r.proxy > 0.995 and r.solved < 0.005
    assert cause(heldout=True, overlap=0.0) is None


def test_patches_that_come_too_late():
    few = dict(patch=INSTANCE, audit=2, overlap=0.0)
    assert cause(**few) == OUTRUN and broken(**few).fix == dict(audit=512)
    assert cause(**few | dict(audit=64)) is None


def test_several_faults_are_listed_and_all_undone():
    knobs = dict(patch=INSTANCE, audit=1, overlap=1.0)
    assert cause(**knobs) == MIXED
    mended = replace(Knobs(**knobs), **broken(**knobs).fix)
    assert last(**vars(mended)).solved > START


def test_reading_more_ends_the_chase_sooner():
    hacked = [last(patch=INSTANCE, overlap=0.0, audit=n).hacked.mean() for n in (4, 16, 64, 256)]
    assert hacked == sorted(hacked, reverse=True)


def test_a_slower_policy_gives_an_audit_time():
    assert last(learning_rate=0.1).hacked.max() < 0.35 < last(learning_rate=0.35).hacked.max()


def test_patches_that_refuse_right_work_slow_training_down():
    assert last(refuses=20.0).mean_solved < last(refuses=0.0).mean_solved
    assert last(refuses=20.0).last.refused == pytest.approx(1 - 0.8**6)
    # a patch of one instance refuses a fifth
    assert widget.refused_by_a_patch(Knobs(patch=INSTANCE)) == pytest.approx(0.003)


def test_a_run_that_solved_little_on_the_way_is_worse_than_the_default():
    k = Knobs(patch=INSTANCE, audit=16, overlap=0.0)
    assert widget.broken(k, last(**vars(k))) is None and widget.worse(k, last(**vars(k)))
    assert widget.worse(Knobs(), last()) is None


def test_the_classes_of_a_policy_are_those_of_its_holes():
    policy = np.arange(26.0)
    shares = widget.classes(policy)
    assert shares[:2].tolist() == [0, 1] and shares[2] == 2 + 8 + 14 + 20 and shares.sum() == policy.sum()


@pytest.mark.parametrize("audit, seen", [(1, 1), (64, 64), (512, 64)])
def test_a_dot_is_a_completion_that_was_read_or_an_equal_part_of_them(audit, seen):
    piles = holes.owners(holes.counted(last(audit=audit).last.drawn))
    assert sum(pile != holes.UNREAD for pile in piles) == seen and len(piles) == 64


def test_the_goals_of_the_challenges_hold_over_seeds():
    for seed in range(8):
        r = last(patch=INSTANCE, audit=256, overlap=0.0, seed=seed)
        assert sum(redteam.hacked(this)[-1] > 0.5 for this in r.rounds) == 1 and r.solved >= 0.55
