from dataclasses import replace

import pytest

from sim.synthesis import forces
from widgets.forces import widget
from widgets.forces.widget import Knobs


def result(**knobs):
    k = replace(Knobs(), **knobs)
    (r,) = widget.run(k)
    return k, r


def test_the_fix_for_a_loose_scorer_costs_no_more():
    k, r = result(room=22, pairs=0.36)
    assert widget.broken(k, r).fix == dict(room=24)


def test_an_unanchored_scorer_breaks_training_if_it_also_scores_the_checkable_prompts():
    # nothing checkable: the scorer has them all
    k, r = result(checkable=0.0, room=22, pairs=0.4)
    assert r.best.unanchored and widget.sound(k, r) == 0
    assert widget.broken(k, r).cause == "a scorer without its anchor"


def test_the_prompts_that_are_left_out_are_counted():
    k, r = result(checkable=0.7, pairs=0.45, reward_model=0.45, judge=0.45)
    assert r.best.dropped == pytest.approx(0.3) and widget.sound(k, r) == pytest.approx(70)


def test_more_compute_than_twice_the_first_setting_is_worse():
    k, r = result(room=22)
    # (10 · 1/3 / .308² + 8 · 8/45 / .9216) / 2 = 18.34 of 7.20
    assert r.best.compute == pytest.approx(18.3406, abs=1e-4) and "2.5 times" in widget.worse(k, r)


def test_the_factors_multiply_to_the_compute():
    k, r = result(checkable=1.0)
    cost, spread, over = widget.parts(r.best.checked, k)
    assert cost * spread * over == pytest.approx(r.best.compute)


def test_labels_are_never_drawn_for_what_does_not_fit():
    k, r = result(room=14)
    assert r.best is None and [row.value for row in widget.readouts(k, r)][:4] == ["–", "nothing fits", "–", "–"]


def test_a_critic_pays_from_where_the_best_recipe_has_one():
    # half checked by a verifier, half by a reward model: 8 V / .96² + 14 W / .44² is crossed at 44 %, not at 57 or 42
    _, r = result(foreseen=0.5)
    assert 0.43 < r.pays_from < 0.45 and widget.baseline(r.best) == "critic"
    for checkable in (0.0, 0.3, 0.5, 0.8, 1.0):
        for foreseen in (0.2, 0.4, 0.45, 0.5, 0.6, 0.9):
            _, r = result(checkable=checkable, foreseen=foreseen)
            assert (r.critic <= r.group) == (foreseen >= r.pays_from)


def test_prompts_left_out_for_their_price_are_not_blamed_on_the_scorers():
    k, r = result(dropped=10.0)
    why = widget.broken(k, r).why
    assert "noise" not in why and "price of 10" in why and "7.2" in why
    # half at 10, half at 8 · 8/45 / .9216
    assert f"{r.best.compute:.3g}" in why and r.best.compute == pytest.approx(5 + 0.5 * 8 * 8 / 45 / 0.9216)


def test_a_critic_pays_where_the_panel_crosses():
    _, r = result(checkable=1.0, foreseen=0.0)
    assert r.critic / r.group == pytest.approx(16 * (0.2 / 12 + 1 / 6) / (8 * 8 / 45))
    assert r.pays_from == pytest.approx(forces.crossing("verifier", False), abs=1e-3)
