"""What turning each knob does to the price of a nat, the policy it buys and the model trained at it."""

import random
from functools import partial

import numpy as np
import pytest

from sim.estimators import hacking
from tests.widgets import catalogue
from widgets.reward_and_reference import widget
from widgets.reward_and_reference.widget import ALIAS, COPY, Knobs


def first(**knobs):
    """Everything that needs no training."""
    return next(widget.run(Knobs(**knobs)))


last = partial(catalogue.last, widget)
broken = partial(catalogue.broken, widget)


def test_the_first_picture_needs_no_training():
    assert len(first().points) == 1


@pytest.mark.parametrize("beta, worse", [(0.35, False), (0.3, True), (0.0, True)])
def test_the_best_policy_is_worse_than_the_reference_below_the_crossover(beta, worse):
    assert 0.3 < hacking.crossover(hacking.reference(0.15), 1.5) < 0.35
    assert (first(beta=beta).gold < first(beta=beta).ref @ hacking.GOLD) == worse


def test_the_verdict_names_the_cost_of_the_hack_and_a_kl_price_that_mends_it():
    break_ = broken(beta=0.001)
    assert "1.90 nats" in break_.why and "from 0.329 to 0.000" in break_.why
    assert break_.fix == dict(beta=0.5)  # one and a half times the crossover, which is at 0.333


def test_the_share_of_the_hack_acts_on_the_formula_and_not_on_the_trained_model():
    rare, usual = last(mass=0.001, beta=0.001), last(beta=0.001)
    assert rare.points == usual.points and rare.kl > usual.kl + 4
    assert "1.90 nats" in broken(mass=0.001, beta=0.001).why
    note = next(p["note"] for p in widget.figure(Knobs(mass=0.001), first(mass=0.001)) if p["tab"] == "Training")
    assert "hack at first 0.15" in note


def test_an_aliased_reference_breaks_with_a_logged_kl_of_zero_and_a_copy_mends_it():
    break_ = broken(reference=ALIAS)
    assert "the log says 0.000 nats" in break_.why and break_.fix == dict(reference="frozen copy")
    states = [r.state for r in widget.readouts(Knobs(reference=ALIAS), last(reference=ALIAS))]
    assert states == ["violated", "violated", "", "", ""]
    assert broken(reference=ALIAS, beta=0.1).fix == dict(reference="frozen copy", beta=0.5)


def test_without_a_hack_nothing_is_lost_by_a_reference_that_is_no_copy():
    assert broken(reference=ALIAS, source="verifier") is None
    assert last(reference=ALIAS, source="verifier").points[-1].gold > 0.85


def test_training_can_fall_for_a_hack_that_the_formula_does_not():
    knobs = dict(hack=0.9, beta=0.0)
    assert first(**knobs).gold == 1 and widget.broken(Knobs(**knobs), first(**knobs)) is None
    assert "training found the hack first" in broken(**knobs).why
    assert broken(**knobs, source="verifier") is None
    assert widget.watched(Knobs(**knobs), last(**knobs)).value < 0.01  # what is watched is what fired


def test_the_gold_reward_rises_then_falls_with_distance_and_the_paid_reward_only_rises():
    distance, paid, gold = first().sweep
    assert (np.diff(distance) > 0).sum() > 50 and (np.diff(paid) >= -1e-12).all()
    top = gold.argmax()
    assert 0 < top < len(gold) - 1 and gold[top] == pytest.approx(0.407, abs=5e-4) and gold[-1] < 0.001
    assert distance[-1] == pytest.approx(-np.log(0.15), abs=1e-9)


def test_with_a_verifier_the_gold_reward_always_rises_and_equals_the_paid_reward():
    _, paid, gold = first(source="verifier").sweep
    assert (np.diff(gold) >= 0).all()
    np.testing.assert_array_equal(paid, gold)


def test_a_lower_price_goes_farther():
    far = [first(beta=beta).kl for beta in (20.0, 1.0, 0.5, 0.1, 0.0)]
    assert far == sorted(far)


def harms(**knobs):
    """Whether the best policy at this price is right less often than the reference."""
    return first(**knobs).gold < first(**knobs).ref @ hacking.GOLD


def test_a_better_paid_hack_harms_at_a_higher_price():
    assert not harms(beta=0.5) and harms(beta=0.5, hack=2.0)


def test_a_rarer_hack_is_dearer_and_harms_at_a_lower_price():
    assert harms(beta=0.3) and not harms(beta=0.3, mass=0.01)
    ends = [first(mass=mass, beta=0.0).kl for mass in (0.5, 0.15, 0.001)]
    np.testing.assert_allclose(ends, -np.log([0.5, 0.15, 0.001]), atol=1e-9)


@pytest.mark.when_changed()
def test_a_model_is_broken_if_it_lost_half_of_its_possible_reward():
    chance, breaks = random.Random("reward and reference"), []
    offered = dict(
        beta=[0.0, 0.001, 0.1, 0.3, 1.0, 20.0],
        hack=[0.0, 0.5, 0.9, 1.5, 3.0],
        mass=[0.001, 0.15, 0.5],
        source=["reward model"] * 4 + ["verifier"],
        reference=[COPY, ALIAS],
        seed=[0, 1, 2],
    )
    for _ in range(12):
        knobs = {name: chance.choice(values) for name, values in offered.items()}
        ends_right = widget.readouts(Knobs(**knobs), last(**knobs))[0].value
        starts_right = 0.329  # of 100 sums, exact: test_the_trained_models of the lesson
        breaks.append(broken(**knobs) is not None)
        assert breaks[-1] == (ends_right < starts_right / 2), (knobs, ends_right)
    assert 0.2 < np.mean(breaks) < 0.8


def test_an_aliased_reference_charges_no_kl():
    np.testing.assert_array_equal(first(reference=ALIAS).policy, first(beta=0.0).policy)


def test_a_log_without_a_reference_says_that_it_has_none():
    free, priced = (widget.readouts(Knobs(beta=beta), first(beta=beta))[1] for beta in (0.0, Knobs().beta))
    assert free.value == "none" and priced.value == 0


@pytest.mark.when_changed()
@pytest.mark.parametrize("seed", range(5))
def test_with_a_verifier_no_price_is_the_best_price(seed):
    free, dear = (last(source="verifier", beta=beta, seed=seed).points[-1].gold for beta in (0.0, 1.0))
    assert free > dear + 0.2 and widget.GUESS.right == 0


def test_the_trained_model_pays_for_distance_with_a_leaky_reward_and_not_with_a_sound_one():
    assert last(beta=0.001).points[-1].gold < 0.01 < 0.4 < last().points[-1].gold
    assert last(beta=0.0, source="verifier").points[-1].gold > last(beta=0.3, source="verifier").points[-1].gold + 0.02


def test_a_partial_run_is_not_judged():
    knobs = Knobs(hack=0.9, beta=0.0)
    breaks = [widget.broken(knobs, r) is not None for r in widget.run(knobs)]
    assert not any(breaks[:-1]) and breaks[-1]


def test_without_a_price_nothing_is_logged():
    names = [m["name"] for p in widget.figure(Knobs(beta=0.0), first(beta=0.0)) for m in p["data"]]
    assert "in the log" not in names and "in the log" in [
        m["name"] for p in widget.figure(Knobs(), first()) for m in p["data"]
    ]
