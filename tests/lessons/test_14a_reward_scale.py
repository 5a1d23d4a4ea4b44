"""The lesson on the scale of rewards: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial

import numpy as np
import pytest

from sim.estimators import group_baselines, normalizers
from sim.estimators.normalizers import BATCH, GROUP, NONE, SOURCE
from sim.experiments import mixed_rewards
from sim.experiments.mixed_rewards import CHECKER, MODEL
from tests.lessons import spreads
from widgets.reward_scale import figures, widget

kept = partial(spreads.values, "14a_reward_scale")

ROW = figures.row("paid 100")
honest, loud = figures.whitened_row("paid 0")[0], figures.whitened_row("paid 100")[0]
checker, model = np.sqrt(0.05 * 0.95), 0.5  # deviations within groups; over all prompts either is right half the time
costly = widget.PRESETS["Rewards times 0.01, KL penalty"]


def louder(pay):
    """Advantages of the sixteen answers if the last of them gets this reward."""
    return normalizers.normalized(np.append(ROW[0, :-1], pay)[None], np.zeros(1))[0]


@cache
def ended(seed, over, optimizer, limit, price, task):
    run = mixed_rewards.run(
        over,
        mixed_rewards.MixedAdd(seed=seed, **dict(task)),
        mixed_rewards.optimizer(optimizer),
        limit=limit,
        price=price,
        seed=seed,
        every=widget.UPDATES,
    )
    *_, last = run
    return last.right


def right(over=BATCH, half=None, optimizer="AdamW", limit=np.inf, price=0.0, **task):
    """Of all sums, or of the checker's or the model's half, at the end of a run by its seed."""

    def of(seed):
        both = ended(seed, over, optimizer, limit, price, tuple(task.items()))
        return both.mean() if half is None else both[half]

    return of


MEASURED = {
    "default": right(),
    "paid 100": right(outlier=100.0),
    "scale 30, checker": right(scale=30.0, half=CHECKER),
    "scale 30, model": right(scale=30.0, half=MODEL),
    "scale 30, each source, checker": right(SOURCE, scale=30.0, half=CHECKER),
    "scale 30, each source, model": right(SOURCE, scale=30.0, half=MODEL),
    "default, SGD": right(optimizer="SGD"),
    "paid 100, SGD": right(optimizer="SGD", outlier=100.0),
    "scale 30, checker, SGD": right(optimizer="SGD", scale=30.0, half=CHECKER),
    "scale 30, model, SGD": right(optimizer="SGD", scale=30.0, half=MODEL),
    "paid 100, group": right(GROUP, outlier=100.0),
    "paid 100, nothing": right(NONE, outlier=100.0),
    "paid 100, clipped": right(outlier=100.0, limit=1.0),
    "paid 30": right(outlier=30.0),
    "paid 10": right(outlier=10.0),
    "a hundredth, price": right(c=0.01, price=0.04),
    "a tenth, price": right(c=0.1, price=0.04),
    "whole, price": right(price=0.04),
    "a hundredth, no price": right(c=0.01),
    "a hundred times, no price": right(c=100.0),
    "a hundredth, price, SGD": right(optimizer="SGD", c=0.01, price=0.04),
    "scale 30, group, checker": right(GROUP, scale=30.0, half=CHECKER),
    "scale 30, group, model": right(GROUP, scale=30.0, half=MODEL),
    "nothing": right(NONE),
    "nothing, a hundredth": right(NONE, c=0.01),
    "nothing, a hundred times": right(NONE, c=100.0),
    "a hundredth, SGD": right(optimizer="SGD", c=0.01),
    "paid 100, clipped at 10": right(outlier=100.0, limit=10.0),
}


def hard_over_medium(over):
    """The weight of a prompt that is right one time in 20, over that of one that is right every other time."""
    hard, medium = normalizers.prompt_weight(np.array([0.05, 0.5]), 8, over)
    return hard / medium


def share(of_checker, of_model):
    """The checker's, by the deviations of both."""
    return normalizers.expected_shares((1, 1), (of_checker, of_model))[0]


def parts(of_checker, of_model):
    """What the model has to one part of the checker's."""
    return (1 - share(of_checker, of_model)) / share(of_checker, of_model)


def earned(n):
    """Two completions and two rewards: the second earns n more."""
    return np.array([[[0.0, 0.0], [1.0, n - 1.0]]])


def same_for_one_and_two():
    return np.allclose(normalizers.summed_first(earned(1)), normalizers.summed_first(earned(2)), atol=1e-5)


def less_mean(rewards):
    return group_baselines.less_mean(np.array([rewards], float))[0]


centered = less_mean([0] * 7 + [100])


def test_no_reward_could_reach_more_than_the_loud_one_and_right_answers_are_pushed_down():
    assert normalizers.loudest(16) - 0.001 < loud[-1] <= normalizers.loudest(16)
    assert normalizers.clipped(loud, 1.0)[0] == loud[0] < 0


def test_one_divisor_for_all_prompts_favors_none():
    for over in (BATCH, NONE):
        assert hard_over_medium(over) == pytest.approx(1)


def test_the_louder_one_answer_the_worse_in_every_seed():
    assert (kept("paid 100") < widget.START).all()
    assert (kept("paid 100") < kept("paid 30")).all() and (kept("paid 30") < kept("paid 10")).all()


def test_each_sources_own_divisor_mends_a_ratio_of_scales():
    assert (kept("scale 30, checker") < kept("scale 30, each source, checker") - 0.1).all()
    assert min(kept(f"scale 30, each source, {half}").min() for half in ("checker", "model")) > 0.88


def test_a_factor_on_all_rewards_changes_nothing():
    for one, other, within in (
        ("nothing, a hundred times", "nothing, a hundredth", 0.005),
        ("a hundredth, SGD", "default, SGD", 0.005),  # by the deviation
        ("a hundredth, no price", "default", 0.015),
        ("a hundred times, no price", "default", 0.015),
    ):
        assert kept(one).mean() == pytest.approx(kept(other).mean(), abs=within), one


def test_what_the_widget_takes_for_usual_is_what_twenty_seeds_say():
    for optimizer, words in (("AdamW", "default"), ("SGD", "default, SGD")):
        assert kept(words).mean() == pytest.approx(widget.USUAL[optimizer], abs=0.006)
        assert kept(words).min() > widget.USUAL[optimizer] - widget.BEHIND
    assert kept("scale 30, checker").max() < widget.USUAL["AdamW"] - widget.STARVED


def test_the_smaller_the_reward_beside_a_price_the_lower_the_end_in_every_seed():
    assert (kept("a hundredth, price") < kept("a tenth, price")).all()
    assert (kept("a tenth, price") < kept("whole, price")).all()


def test_sgd_ends_alike_in_every_seed():
    assert np.ptp(kept("default, SGD")) < 0.01


def test_the_loudest_of_a_hundred_and_twenty_eight_and_the_first_batch():
    A = figures.advantage(outlier=100.0).ravel()
    assert A[figures.first_batch()[2]] == pytest.approx(9.87, abs=0.01)
    right = figures.first_batch()[0].ravel()
    for pay in (30.0, 100.0):
        others = np.delete(
            np.where(right == 1, figures.advantage(outlier=pay).ravel(), np.nan), figures.first_batch()[2]
        )
        assert np.nanmean(others) < 0.15, "at 30 and 100 the right answers have hardly a push left"


def test_the_opening_and_the_settings_that_the_page_turns():
    one, two = (widget.PRESETS[name] for name in ("One reward of 100", "Reward of 100, clipped at 1"))
    assert (one.outlier, one.limit, two.limit) == ("100", "off", "1")
    assert figures.rate(figures.SETTINGS[0], 100) > 0.88
    assert round(1 / figures.rate(figures.SETTINGS[1], 100)) == 14  # the card's "one in fourteen"
