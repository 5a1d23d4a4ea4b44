"""The numbers of the lesson on verifiers, recomputed."""

import re
from functools import cache

import numpy as np
import pytest

from sim.verifiers import checkers, strategies
from tests.lessons import spreads
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets.verifiers import figures, widget

LESSON = Lesson("18")


@cache
def ran(**knobs):
    return catalogue.last(widget, **knobs)


def solved(of, **knobs):
    """Of what each of a seed's six runs solves, (updates + 1, 6)."""
    return lambda seed: of(widget.simulate(widget.Knobs(**knobs, seed=seed)).run.true)


def least(true):
    return true[-1].min()


def most(true):
    return true[-1].max()


def half(true):
    return (true > 0.5).argmax(axis=0).mean()


MEASURED = {
    "answer occurs, lowest peak": solved(lambda true: true.max(axis=0).min(), check=1),
    "answer occurs, most": solved(most, check=1),
    "computes it, most": solved(most, check=2),
    "last number, least": solved(least, check=3),
    "strict, least": solved(least),
    "strict, most": solved(most),
    "strict, updates to one half": solved(half),
    "30 % of either kind, least": solved(least, passed=30, failed=30),
    "30 % of either kind, updates to one half": solved(half, passed=30, failed=30),
    "wrong passes more often, most": solved(most, check=3, passed=60, failed=70),
    **{f"code, check {check}, most": solved(most, archetype="code", check=check) for check in (1, 2, 3)},
    "code, hidden tests, least": solved(least, archetype="code"),
    "tool use, most": solved(most, archetype="tool use"),
    "first share 0.02, least": solved(least, check=1, prior=0.02),
    "first share 0.05, most": solved(most, check=1, prior=0.05),
    "first share 0.1, most": solved(most, check=1, prior=0.1),
}


kept = LESSON.kept


def test_the_table_of_ways_is_the_policy():
    rows = re.findall(r"^\| ([a-z ]+) \| `(.+?)`.* \| ([\d.]+) \| ([\d.]+) \|$", LESSON.text, flags=re.M)
    assert len(rows) == len(strategies.MATH)
    for (name, writes, share, skill), way in zip(rows, strategies.MATH):
        assert (name, float(share), float(skill)) == (way.name, way.share, way.skill)
        text = (way.right or way.wrong)(17, 19, 323)
        assert text.startswith(writes.removesuffix(" …")) and (text == writes or writes.endswith("…"))
    assert strategies.EVERY_ANSWER.endswith(" 9604")


def test_all_four_checks_pay_the_whole_golden_set():
    assert all(not checkers.report(checkers.CHECKERS[name]).refused for name in figures.CHECKS)
    assert "all four pay the whole golden set" in LESSON.text
    LESSON.says("8", len(checkers.report(checkers.CHECKERS["last_int"]).paid))
    LESSON.says("24", len(checkers.exploit_suite()))


def test_none_of_the_exploits_of_the_last_number_is_among_the_six_ways():
    proxy, true = strategies.payoffs("mathematics", "last_int")
    assert (proxy[true == 0] == 0).all() and "None of those eight is among these six ways" in LESSON.text


def test_the_openings_two_rewards():
    LESSON.says("1.00", ran(check=1).run.proxy[-1].mean())
    LESSON.says("0.55", ran().run.proxy[-1].mean())


@LESSON.when_changed
def test_a_containment_check_rises_and_falls_in_every_run():
    LESSON.says("0.67", ran(check=1).run.true.max(axis=0).mean())
    assert kept("answer occurs, lowest peak").min() > 0.5 and kept("answer occurs, most").max() < 0.05
    assert "then it falls to 0.00" in LESSON.text
    assert round(ran(check=1).run.true[-1].mean(), 2) == 0
    reward = ran(check=1).run.proxy.mean(axis=1)
    smooth = np.convolve(reward, np.ones(20) / 20, "valid")
    assert (np.diff(smooth) > -0.005).all() and "the reward never has a dent" in LESSON.text
    assert kept("computes it, most").max() < 0.01


@LESSON.when_changed
def test_strict_ends_below_the_last_number():
    LESSON.says("0.70", ran(check=3).run.true[-1].mean())
    assert kept("last number, least").min() > kept("strict, most").max()


@LESSON.when_changed
def test_chance_errors():
    end = ran(passed=30, failed=30).run.true[-1].mean()
    assert abs(end - ran().run.true[-1].mean()) < 0.01
    assert kept("30 % of either kind, least").min() > 0.5 and kept("wrong passes more often, most").max() < 0.15
    LESSON.says("0.4", 0.7 - 0.3)
    late, soon = (kept(f"{words}, updates to one half") for words in ("30 % of either kind", "strict"))
    assert late.mean() == pytest.approx(45, abs=2.5) and soon.mean() == pytest.approx(17, abs=1)
    assert "after about 45 updates instead of 17" in LESSON.text


@LESSON.when_changed
def test_programs_tools_and_a_seal():
    for check in (1, 2, 3):
        assert kept(f"code, check {check}, most").max() < 0.01
    assert kept("code, hidden tests, least").min() > 0.5 and kept("tool use, most").max() < 0.01
    LESSON.says("0.65", ran(archetype="tool use", sealed=True).run.true[-1].mean())


@LESSON.when_changed
def test_how_rare_a_way_may_be():
    found = 6 * len(spreads.SEEDS)
    assert kept("first share 0.02, least").min() > 0.69 and f"None of {found} runs finds *list all*" in LESSON.text
    assert kept("first share 0.05, most").max() < 0.05 and "At 0.05 it wins in every run" in LESSON.text
    assert kept("first share 0.1, most").max() < 0.01
    assert 2 < 0.02 * widget.PROMPTS * widget.K < 3 and "two or three times" in LESSON.text
    proxy, true = strategies.payoffs("mathematics", "substring")
    exact = lambda prior: strategies.run_policy(
        proxy, true, strategies.start("mathematics", prior), strategies.softmax_gradient(proxy), 1.0, 400
    ).true[-1, 0]
    assert exact(0.02) > 0.69 and exact(0.05) < 0.01 and "border at the same place" in LESSON.text


def test_the_derivation():
    LESSON.says("53.6", strategies.crossover_time(0.25, 0.01, 0.7, 1.0, 0.2))
    proxy, true = strategies.payoffs("mathematics", "substring")
    pi0 = strategies.start("mathematics")
    run = strategies.run_policy(proxy, true, pi0, strategies.natural(proxy), 0.2, 120)
    LESSON.says("0.557", run.true.max())
    LESSON.says("25", run.true.argmax())
    LESSON.says("0.013", run.true[-1, 0])
    LESSON.says("0.397", strategies.anchored(pi0, proxy, 0.1) @ true)
    LESSON.says("0.557", strategies.anchored(pi0, proxy, 0.2) @ true)


def test_the_kata_is_the_pack():
    rows = re.findall(r"^    \| (\d+) \| (.+?) \| (.+?) \| ([01]) \| (\w+) \| .* \|$", LESSON.text, flags=re.M)
    names = dict(model_failure="model", verifier_bug="verifier", ambiguous_prompt="prompt", reward_hack="hack")
    for (number, asked, written, reward, culprit), item in zip(rows, checkers.kata(), strict=True):
        assert item["id"] == f"k{int(number):02d}" and culprit == names[item["teacher"]["label"]]
        assert float(reward) == item["observed"]["reward"]
        first = written.split("`")[1].replace("\\r\\n", "\r\n")
        assert item["completion"].startswith(first)
        assert set(re.findall(r"\d+", asked)) <= set(re.findall(r"\d+", item["example"]["prompt"]))


def test_the_table_of_what_gets_through_is_what_the_checks_pay():
    count = {"nothing": 0, "four ways": 4, "five ways": 5}
    for archetype, checks in strategies.CHECKS.items():
        (row,) = re.findall(rf"^    \| {archetype} \| (.+) \|$", LESSON.text, flags=re.M)
        for check, told in zip(checks, row.split(" | "), strict=archetype != "judge"):
            proxy, true = strategies.payoffs(archetype, check)
            through = (true == 0) & (proxy > 0) & (proxy >= proxy[true > 0].max())
            named = re.findall(r"\*(.+?)\*", told)
            found = [name for name, paid in zip(strategies.names(archetype), through) if paid]
            assert sorted(named) == sorted(found) if named else count[told.split(": ")[1]] == len(found), told


def test_two_identical_systems_differ_by_five_points_in_half_of_the_comparisons():
    LESSON.says("7.1", 100 * np.sqrt(2 * 0.25 / 100))
    from math import comb

    p = np.array([comb(100, k) / 2**100 for k in range(101)])
    apart = np.abs(np.subtract.outer(np.arange(101), np.arange(101))) >= 5
    LESSON.says("52", 100 * (np.outer(p, p) * apart).sum())
