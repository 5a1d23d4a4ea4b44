from functools import partial

import numpy as np
import pytest

from sim.experiments.mixed_rewards import MODEL
from tests.widgets import catalogue
from widgets.reward_scale import widget
from widgets.reward_scale.widget import ONE, PRICE, SCALE, STEP, Knobs, final

last = partial(catalogue.last, widget)
cause = partial(catalogue.cause, widget)


def test_the_default_learns_both_halves():
    assert last().right[-1].min() > 0.85
    assert last().right[0].mean() == pytest.approx(widget.START)


@pytest.mark.when_changed()
def test_one_loud_answer_breaks_it_and_its_own_group_or_a_clip_saves_it():
    assert cause(outlier="100") == ONE and final(last(outlier="100")) < widget.START
    for remedy in (dict(over="group"), dict(limit="1"), dict(over="source")):
        assert cause(outlier="100", **remedy) is None
    ends = [final(last(outlier=paid)) for paid in (widget.AS_IT_SHOULD, "10", "30", "100")]
    assert ends == sorted(ends, reverse=True)


@pytest.mark.when_changed()
def test_the_reward_models_scale_starves_the_checkers_half():
    assert cause(scale=30.0) == SCALE == cause(scale=30.0, over="none")
    of_checker, of_model = last(scale=30.0).right[-1]
    assert of_model > of_checker + 0.15
    assert cause(scale=30.0, over="group") is None and cause(scale=30.0, over="source") is None


def test_the_shares_are_those_of_the_squared_scale_until_each_source_has_its_own():
    assert last(scale=30.0).share[0] < 0.003 < 0.2 < last(scale=30.0, over="source").share[0]
    assert last(scale=30.0, over="none").share[0] == pytest.approx(last(scale=30.0).share[0], rel=1e-6)


@pytest.mark.when_changed()
def test_a_price_eats_a_small_reward_and_not_at_a_hundredth_of_the_price():
    assert cause(c=0.01, price=0.04) == PRICE
    assert cause(c=0.01) is None and cause(c=0.01, price=0.0004) is None and cause(price=0.04) is None
    np.testing.assert_allclose(last(c=0.01, price=0.0004).right[-1], last(price=0.04).right[-1], atol=0.03)


@pytest.mark.when_changed()
def test_sgd_steps_as_far_as_undivided_rewards_are_large():
    ends = [final(last(over="none", optimizer="SGD", c=c)) for c in (0.01, 0.1, 1.0)]
    assert ends == sorted(ends)
    assert cause(over="none", optimizer="SGD", c=100.0, scale=30.0) == STEP
    assert cause(optimizer="SGD", c=100.0) is None


def test_adamw_divides_the_scale_of_all_rewards_away():
    np.testing.assert_allclose(last(c=100.0).right[-1], last().right[-1], atol=0.02)


@pytest.mark.when_changed()
def test_noise_of_the_reward_model_costs_its_own_half():
    assert last(noise=1.0).right[-1, MODEL] < last().right[-1, MODEL] - 0.02


def test_the_weight_of_a_prompt_is_level_but_for_the_groups_deviation():
    level = catalogue.panel(widget, "Weight of a prompt", last())["data"][-1]["y"]
    bent = catalogue.panel(widget, "Weight of a prompt", last(), over="group")["data"][-1]["y"]
    assert np.ptp(level) < 1e-9 and max(bent) > 1.4 and min(bent) >= 1 - 1e-9


def test_the_board_is_the_last_batch_and_points_at_the_answer_that_is_paid_too_much():
    loud = last(outlier="100")
    (scene,) = [p for p in widget.figure(Knobs(outlier="100"), loud) if "columns" in p]
    (ring,) = [mark for mark in scene["columns"][0][0]["marks"] if mark["kind"] == "ring"]
    assert ring["seen"] and ring["words"] == "reward 100"
    (plain,) = [p for p in widget.figure(Knobs(), last()) if "columns" in p]
    assert not any(mark.get("seen") for mark in plain["columns"][0][0]["marks"])
    (cells,) = [mark["groups"] for mark in plain["columns"][0][0]["marks"] if mark["kind"] == "trays"]
    assert sum(ok for group in cells for _, ok in group) == last().last.batch.accuracy.sum()


@pytest.mark.when_changed()
def test_several_faults_are_listed_and_all_undone():
    knobs = dict(outlier="100", over="none", optimizer="SGD", c=10.0)
    verdict = widget.broken(Knobs(**knobs), last(**knobs))
    assert "one reward is 100 times" in verdict.why and "SGD’s step" in verdict.why
    assert cause(**(knobs | verdict.fix)) is None


@pytest.mark.parametrize(
    "knobs, causes",
    [
        (dict(outlier="3", scale=30.0), [SCALE]),  # what is paid 3 is not loud beside 30
        (dict(outlier="100", c=0.01, price=0.0004), [ONE]),  # a nat costs 0.04 right answers, no harm
        (dict(outlier="100", c=0.01, limit="1"), [ONE]),  # a hundredth of it is 1, and nothing is cut
        (dict(outlier="100", c=100.0, scale=30.0, limit="10"), []),  # all that is right is cut to 10
        (dict(scale=30.0, over="none", optimizer="SGD", limit="1"), []),
        (dict(outlier="100", c=0.1, price=0.04), [ONE, PRICE]),
        (dict(outlier="30", c=0.1, scale=3.0), [ONE, SCALE]),
        (dict(c=0.01, over="none", optimizer="SGD"), [STEP]),  # too short a step is one as well
    ],
)
def test_only_what_does_harm_at_a_setting_is_named(knobs, causes):
    assert list(widget.faults(Knobs(**knobs))) == causes


def test_words_of_several_faults_keep_their_capitals_and_their_room():
    worst = Knobs(outlier="100", scale=10.0, c=0.01, price=0.04, over="none", optimizer="SGD")
    faults = widget.faults(worst)
    assert len(faults) == 4
    why = widget.why(worst, last(), faults)
    assert len(why) <= 150 and "SGD" in why
