"""The lesson on verifiers: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial
from math import comb

import numpy as np
from pytest import approx

from sim.verifiers import checkers, strategies
from tests.lessons import spreads
from tests.widgets import catalogue
from widgets.verifiers import figures, widget

values = partial(spreads.values, "18_verifiers")


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


def updates_to_half(words):
    """Mean over twenty seeds."""
    return values(f"{words}, updates to one half").mean()


def ends(**knobs):
    """Share of the tasks that is solved in the end."""
    return ran(**knobs).run.true[-1].mean()


def way(name):
    return strategies.MATH[strategies.names("mathematics").index(name)]


def writes(name):
    return (way(name).right or way(name).wrong)(17, 19, 323)


def pay(check, name):
    return strategies.payoffs("mathematics", check)[0][strategies.names("mathematics").index(name)]


def report(check):
    return checkers.report(checkers.CHECKERS[check])


def exact():
    """By natural steps, under the check that asks whether the answer occurs."""
    proxy, true = strategies.payoffs("mathematics", "substring")
    return strategies.run_policy(proxy, true, strategies.start("mathematics"), strategies.natural(proxy), 0.2, 120)


def anchored(beta):
    proxy, true = strategies.payoffs("mathematics", "substring")
    return strategies.anchored(strategies.start("mathematics"), proxy, beta) @ true


def through(archetype, check):
    """The ways that solve nothing and are paid as well as honest work, or better."""
    proxy, true = strategies.payoffs(archetype, strategies.CHECKS[archetype][check - 1])
    paid = (true == 0) & (proxy > 0) & (proxy >= proxy[true > 0].max())
    return [name for name, so in zip(strategies.names(archetype), paid) if so]


def five_apart():
    """How often two runs of one policy, each right on every second of 100 prompts, differ by five or more."""
    p = np.array([comb(100, k) / 2**100 for k in range(101)])
    return (np.outer(p, p) * (np.abs(np.subtract.outer(np.arange(101), np.arange(101))) >= 5)).sum()


def test_all_four_checks_pay_the_whole_golden_set():
    assert all(not report(name).refused for name in figures.CHECKS)


def test_none_of_the_exploits_of_the_last_number_is_among_the_six_ways():
    proxy, true = strategies.payoffs("mathematics", "last_int")
    assert (proxy[true == 0] == 0).all()


def test_the_openings_two_rewards():
    assert [ran(check=check).run.proxy[-1].mean() for check in (1, 4)] == approx([1.00, 0.55], abs=0.005)


def test_a_containment_check_rises_and_falls_in_every_run():
    assert values("answer occurs, lowest peak").min() > 0.5 and values("answer occurs, most").max() < 0.05
    reward = ran(check=1).run.proxy.mean(axis=1)
    assert (np.diff(np.convolve(reward, np.ones(20) / 20, "valid")) > -0.005).all()  # without a dent
    assert values("computes it, most").max() < 0.01


def test_strict_ends_below_the_last_number():
    assert values("last number, least").min() > values("strict, most").max()


def test_chance_errors_end_where_a_faultless_check_does_until_wrong_passes_more_often():
    assert abs(ends(passed=30, failed=30) - ends()) < 0.01
    assert values("30 % of either kind, least").min() > 0.5 and values("wrong passes more often, most").max() < 0.15


def test_only_hidden_tests_hold_for_programs_and_no_check_of_the_state_for_tools():
    for check in (1, 2, 3):
        assert values(f"code, check {check}, most").max() < 0.01
    assert values("code, hidden tests, least").min() > 0.5 and values("tool use, most").max() < 0.01


def test_a_rare_way_is_found_in_no_run_and_a_less_rare_one_in_each():
    assert values("first share 0.02, least").min() > 0.69
    assert values("first share 0.05, most").max() < 0.05
    assert values("first share 0.1, most").max() < 0.01
    assert 2 < 0.02 * widget.PROMPTS * widget.K < 3  # of the first updates


def test_the_exact_gradient_has_its_border_at_the_same_place():
    proxy, true = strategies.payoffs("mathematics", "substring")
    step = strategies.softmax_gradient(proxy)
    rare, common = (strategies.start("mathematics", prior) for prior in (0.02, 0.05))
    assert strategies.run_policy(proxy, true, rare, step, 1.0, 400).true[-1, 0] > 0.69
    assert strategies.run_policy(proxy, true, common, step, 1.0, 400).true[-1, 0] < 0.01
