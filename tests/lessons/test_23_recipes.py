"""The numbers of the lesson on recipes and failures, recomputed."""

import re
from functools import cache

import numpy as np

from sim.algorithms import published
from sim.estimators import group_baselines
from sim.experiments import tracelab
from sim.experiments.tracelab import Setting
from tests.lessons.prose import Lesson

LESSON = Lesson("23")


@cache
def traced(seed=0, **changed):
    return tracelab.trace(Setting(**changed), seed)


def ends(seed=0, **changed):
    return tracelab.features(traced(seed, **changed))["held_out"]


def verdict(kind, **changed):
    """1 if the tests without the held-out score say so, else 0."""
    return lambda seed: (
        kind == tracelab.classify(tracelab.features(traced(seed, **changed)), use_held_out=False).verdict
    )


MEASURED = {
    "paid 1.01, healthy": verdict("healthy", hack=1.01),
    "paid 1.01, right": lambda seed: ends(seed, hack=1.01),
    "paid 1.5, jumps": verdict("kl_explosion", hack=1.5),
    "paid 1.5 at half the rate, healthy": verdict("healthy", hack=1.5, learning_rate=2.0),
    "paid 1.5 at half the rate, right": lambda seed: ends(seed, hack=1.5, learning_rate=2.0),
    "paid 0.999, right": lambda seed: ends(seed, hack=0.999),
    "paid 1, right": lambda seed: ends(seed, hack=1.0),
}


def test_recipes_cell_by_cell():
    assert published.diff("r1_zero", "dapo")[:2] == (3, 8)
    assert published.diff("r1_zero", "dapo")[2] == ["kl", "aggregation", "length"]
    assert published.diff("instructgpt", "dapo")[:2] == (8, 8)
    qwen3 = [cell.value for cell in published.PUBLISHED["qwen3"].factors.values()]
    assert (len(qwen3), qwen3.count("nr")) == (11, 6)


def test_as_many_recipes_as_the_page_says():
    rows = re.findall(r"^    \| .+, 20\d\d", LESSON.text, re.M)
    assert len(rows) == len(published.PUBLISHED) == 13 and "Thirteen recipes" in LESSON.text


def test_the_world_of_the_page():
    S = tracelab.success()
    LESSON.says("25", 100 * S[:, 0].min())
    LESSON.says("70", 100 * S[:, 0].max())
    LESSON.says("95", 100 * S.max())
    LESSON.says("4,096", tracelab.LENGTHS.max())
    assert (Setting().prompts, Setting().K, Setting().steps) == (32, 16, 80)


@LESSON.when_changed
def test_eight_kinds_with_thirty_seeds_are_told_apart():
    told = sum(
        tracelab.classify(tracelab.features(traced(seed, **changed))).verdict == kind
        for kind, changed in tracelab.KINDS.items()
        for seed in range(30)
    )
    LESSON.says("240", told)


@LESSON.when_changed
def test_the_run_of_the_opening():
    LESSON.says("0.95", ends())
    assert ends(hack=1.01) < 0.0005
    LESSON.says("1.01", traced(hack=1.01)["proxy"][-10:].mean())
    LESSON.says("3.24", traced(hack=1.01)["kl"][-1])
    LESSON.says("3.78", traced()["kl"][-1])
    assert (LESSON.kept("paid 1.01, healthy") == 1).all()
    assert "in each of twenty new seeds" in LESSON.text
    assert LESSON.kept("paid 1.01, right").max() < 0.0005
    found = tracelab.classify(tracelab.features(traced(hack=1.01)))
    assert [test.verdict for test, _ in found.fired] == ["reward_hacking", "entropy_collapse"]
    assert traced(hack=1.01)["zero_variance"][9] > 0.9


def test_a_run_that_solves_every_prompt_has_equal_groups_too():
    solved = traced(pass_scale=60.0)
    assert solved["right"][-1] > 0.999 and solved["zero_variance"][-10:].mean() > 0.95


@LESSON.when_changed
def test_a_fault_that_is_misread():
    LESSON.counts("in {} of twenty seeds the log says that it jumped", LESSON.kept("paid 1.5, jumps") == 1)
    assert (LESSON.kept("paid 1.5 at half the rate, healthy") == 1).all() and "the test falls silent" in LESSON.text
    assert LESSON.kept("paid 1.5 at half the rate, right").max() < 0.005


@LESSON.when_changed
def test_where_the_trick_begins_to_win():
    assert LESSON.kept("paid 0.999, right").mean() > 0.7 and LESSON.kept("paid 1, right").max() < 0.005
    for pay, said in ((0.999, "−3.86"), (1.001, "3.86")):
        (group,) = group_baselines.z_score(np.array([[pay] + 15 * [1.0]]), 1e-6, ddof=0)
        LESSON.says(said, group[0])
    assert np.mean([ends(seed, hack=0.95, advantage="mean") for seed in range(8)]) < 0.25


@LESSON.when_changed
def test_no_threshold_carries_over():
    learns, hacked, jumps = (
        np.array([traced(seed, **tracelab.KINDS[kind])["kl"] for seed in range(30)])
        for kind in ("healthy", "reward_hacking", "kl_explosion")
    )
    assert learns[:, -1].min() > hacked[:, -1].max()  # both farther out than what would stop either
    assert jumps[:, 2].min() > 2 * learns[:, 2].max()
    LESSON.says("0.28", ends(pass_scale=0.3))
    LESSON.says("0.285", tracelab.ceiling(0.3))
    found = tracelab.classify(tracelab.features(traced(pass_scale=0.3)))
    assert found.fired[-1][0] == tracelab.TESTS[6] == found.fired[0][0]
    LESSON.says("0.85", tracelab.TESTS[6].also[0].threshold)


def test_what_a_fault_costs():
    first = tracelab.features(traced(mismatch=0.3))
    LESSON.says("0.09", first["gap_first"])
    LESSON.says("0.95", first["held_out"])
    LESSON.says("0.006", ends() - ends(lag=4))
    LESSON.says("0.28", ends() - ends(lag=16))
    assert tracelab.classify(tracelab.features(traced(lag=4))).verdict == "stale_rollouts"


def test_a_thousandth_a_doubling():
    LESSON.says("4,094", traced(length_reward=0.001)["length"][-1])
    LESSON.says("542", traced(length_reward=0.001, advantage="mean")["length"][-1])


def test_the_arithmetic_of_the_papers():
    r1_zero = {name: value for name, (value, _) in published.budget("r1_zero").items()}
    LESSON.says("101,376", r1_zero["GPU-hours"])
    LESSON.says("68.5", r1_zero["seconds a step"])
    LESSON.says("208,000", r1_zero["questions"])
    LESSON.says("650", r1_zero["rollouts"])
    LESSON.says("26", r1_zero["reference refreshes"])
    math, code, stem, logic, general = 26, 17, 22, 15, 66  # thousands: table 4 of the second version
    LESSON.says("80,000", 1000 * (math + code + stem + logic))
    LESSON.says("146,000", 1000 * (math + code + stem + logic + general))
    assert "8,000 more" in LESSON.text  # "along with" bugs to fix, B.3.1
    instructgpt = {name: value for name, (value, _) in published.budget("instructgpt").items()}
    LESSON.says("500", instructgpt["rollouts"])
    LESSON.says("4,000", instructgpt["updates"])
    assert published.budget("dapo")["updates a rollout"][0] == r1_zero["updates a rollout"] == 16


def test_the_filter_and_the_rewards():
    p = np.linspace(0, 1, 1001)
    kept = published.pass_band(p, 8, 2, 5)
    LESSON.says("0.432", p[kept.argmax()])
    LESSON.says("0.851", kept.max())
    LESSON.says("0.731", published.qwen_math_reward(2.0, 1))
    LESSON.says("−0.269", published.qwen_math_reward(2.0, 0))
    LESSON.says("0.25", published.kimi_length_reward(2000, 1000, 5000, True))
    assert published.kimi_length_reward(2000, 1000, 5000, False) == 0
