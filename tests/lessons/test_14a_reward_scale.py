"""The numbers of the lesson on the scale of rewards, recomputed."""

from functools import cache

import numpy as np
import pytest

from sim.estimators import group_baselines, normalizers
from sim.estimators.normalizers import BATCH, GROUP, NONE, SOURCE
from sim.experiments import mixed_rewards
from sim.experiments.mixed_rewards import CHECKER, MODEL
from tests.lessons.prose import Lesson
from widgets.reward_scale import figures, widget

LESSON = Lesson("14a")


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
kept = LESSON.kept
ROW = figures.row("paid 100")


def test_the_row_of_sixteen():
    LESSON.says("0.97", figures.whitened_row("paid 0")[0, 0])
    LESSON.says("6.75", ROW.mean())
    LESSON.says("24.9", ROW.std(ddof=1))
    A = figures.whitened_row("paid 100")[0]
    LESSON.says("−0.23", A[0])
    LESSON.says("−0.27", A[1])
    LESSON.says("0.04", A[0] - A[1])
    LESSON.says("3.75", A[-1])
    LESSON.says("3.75", normalizers.loudest(16))
    LESSON.says("2.47", normalizers.loudest(8))
    LESSON.says("0.85", figures.whitened_row("paid 100, cut at 1")[0, 0])
    assert normalizers.clipped(A, 1.0)[0] == A[0] < 0


def test_batch_or_group():
    hard, medium = normalizers.prompt_weight(np.array([0.05, 0.5]), 8, GROUP)
    LESSON.says("1.33", hard / medium)
    for over in (BATCH, NONE):
        hard, medium = normalizers.prompt_weight(np.array([0.05, 0.5]), 8, over)
        assert hard == pytest.approx(medium)


def test_the_shares_of_two_sources():
    share = normalizers.expected_shares((1, 1), (1.0, 30.0))[0]
    assert (1 - share) / share == pytest.approx(900) and "one part of the squared advantage" in LESSON.text
    LESSON.says("2.28", 100 * normalizers.expected_shares((1, 1), (np.sqrt(0.21), 3.0))[0])
    LESSON.says("0.458", np.sqrt(0.21))


def test_a_raw_deviation_of_a_source_does_not_even_the_shares():
    checker, model = np.sqrt(0.05 * 0.95), 0.5  # within groups; over all prompts either is right half the time
    LESSON.says("0.0475", checker**2)
    LESSON.says("16 %", 100 * normalizers.expected_shares((1, 1), (checker / 0.5, 30 * model / (30 * 0.5)))[0])
    share = normalizers.expected_shares((1, 1), (checker, 30 * model))[0]
    LESSON.says("4,737", (1 - share) / share)


def test_a_loud_answer_over_twenty_seeds():
    start = widget.START
    LESSON.says("0.33", start)
    assert (kept("paid 100") < start).all()
    LESSON.spread("0.13 ± 0.11", kept("paid 100"))
    LESSON.spread("0.91 ± 0.01", kept("default"))
    LESSON.spread("0.91 ± 0.01", kept("paid 100, clipped"))
    LESSON.spread("0.91 ± 0.01", kept("paid 100, group"))
    LESSON.spread("0.86 ± 0.02", kept("paid 10"))
    LESSON.spread("0.54 ± 0.15", kept("paid 30"))
    LESSON.spread("0.10 ± 0.09", kept("paid 100, nothing"))
    LESSON.spread("0.86 ± 0.02", kept("paid 100, clipped at 10"))
    assert (kept("paid 100") < kept("paid 30")).all() and (kept("paid 30") < kept("paid 10")).all()


def test_two_scales_over_twenty_seeds():
    LESSON.spread("0.71 ± 0.02", kept("scale 30, checker"))
    LESSON.spread("0.93 ± 0.01", kept("scale 30, model"))
    assert (kept("scale 30, checker") < kept("scale 30, each source, checker") - 0.1).all()
    for half in ("checker", "model"):
        assert kept(f"scale 30, each source, {half}").min() > 0.88 and "both halves end near 0.9" in LESSON.text
    LESSON.spread("0.90 ± 0.01", kept("scale 30, group, checker"))
    LESSON.spread("0.92 ± 0.01", kept("scale 30, group, model"))
    LESSON.spread("0.91 ± 0.01", kept("nothing, a hundredth"))
    LESSON.spread("0.91 ± 0.01", kept("nothing, a hundred times"))
    assert kept("a hundredth, SGD").mean() == pytest.approx(kept("default, SGD").mean(), abs=0.005)  # by the deviation
    for same in ("a hundredth, no price", "a hundred times, no price"):
        assert kept(same).mean() == pytest.approx(kept("default").mean(), abs=0.015), same


def test_what_the_widget_takes_for_usual_is_what_twenty_seeds_say():
    for optimizer, words in (("AdamW", "default"), ("SGD", "default, SGD")):
        assert kept(words).mean() == pytest.approx(widget.USUAL[optimizer], abs=0.006)
        assert kept(words).min() > widget.USUAL[optimizer] - widget.BEHIND
    assert kept("scale 30, checker").max() < widget.USUAL["AdamW"] - widget.STARVED


def test_a_price_over_twenty_seeds():
    LESSON.spread("0.39 ± 0.02", kept("a hundredth, price"))
    LESSON.spread("0.83 ± 0.02", kept("a tenth, price"))
    LESSON.spread("0.91 ± 0.01", kept("whole, price"))
    assert (kept("a hundredth, price") < kept("a tenth, price")).all()
    assert (kept("a tenth, price") < kept("whole, price")).all()


def test_sgd_over_twenty_seeds():
    assert "By default 0.69 of the sums" in LESSON.text and abs(kept("default, SGD") - 0.69).max() < 0.005
    LESSON.spread("0.47 ± 0.03", kept("paid 100, SGD"))
    assert (kept("paid 100, SGD") < kept("default, SGD")).all()
    LESSON.spread("0.577 ± 0.002", kept("scale 30, checker, SGD"))
    LESSON.spread("0.672 ± 0.002", kept("scale 30, model, SGD"))
    LESSON.spread("0.36 ± 0.05", kept("a hundredth, price, SGD"))


def test_the_loudest_of_a_hundred_and_twenty_eight_and_the_first_batch():
    A = figures.advantage(outlier=100.0).ravel()
    assert A[figures.first_batch()[2]] == pytest.approx(9.87, abs=0.01)
    right = figures.first_batch()[0].ravel()
    for pay in (30.0, 100.0):
        others = np.delete(
            np.where(right == 1, figures.advantage(outlier=pay).ravel(), np.nan), figures.first_batch()[2]
        )
        assert np.nanmean(others) < 0.15, "at 30 and 100 the right answers have hardly a push left"


def test_several_rewards_and_what_cannot_be_scored():
    more = lambda n: np.array([[[0.0, 0.0], [1.0, n - 1.0]]])
    LESSON.says("0.71", normalizers.summed_first(more(1))[0, 1])
    LESSON.says("0.71", normalizers.summed_first(more(2))[0, 1])
    LESSON.says("1.41", normalizers.summed_last(more(2))[0, 1])
    left_out = normalizers.scored_alone(np.array([[1.0, 0.0, 1.0, np.nan]]))[0]
    assert "0.33, −0.67, 0.33 and 0" in LESSON.text and left_out == pytest.approx([1 / 3, -2 / 3, 1 / 3, 0])


def test_a_clip_after_the_baseline_comes_too_late():
    after = group_baselines.less_mean(np.array([[0.0] * 7 + [100.0]]))[0]
    LESSON.says("−12.5", after[0])
    assert normalizers.clipped(after, 10.0)[0] == -10


def test_what_a_nat_costs():
    k = widget.PRESETS["Rewards of a hundredth, with a price"]
    assert k.price / k.c == pytest.approx(4) and "as much as four right answers" in LESSON.text
    one, two = (widget.PRESETS[name] for name in ("One answer paid 100", "Paid 100, clipped at 1"))
    assert (one.outlier, one.limit, two.limit) == ("100", "off", "1")


def test_the_opening_ends_where_its_card_says():
    low = 100 * figures.rate(figures.SETTINGS[1], 100)
    assert round(100 / low) == 14 and "one in fourteen" in LESSON.text
    assert figures.rate(figures.SETTINGS[0], 100) > 0.88
