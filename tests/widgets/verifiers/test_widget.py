from dataclasses import replace

import numpy as np
import pytest

from sim.verifiers import strategies
from tests.widgets import catalogue
from tests.widgets.catalogue import fixed
from widgets.verifiers import widget
from widgets.verifiers.widget import GROUPED, NATURAL, PRESETS, SOFTMAX, Knobs


def last(**knobs):
    return Knobs(**knobs), catalogue.last(widget, **knobs)


def state(k):
    r = catalogue.results.last("verifiers", k)
    return "broken" if widget.broken(k, r) else "worse" if widget.worse(k, r) else "holds"


def test_presets_break_for_three_causes():
    found = {name: widget.broken(k, catalogue.results.last("verifiers", k)) for name, k in PRESETS.items()}
    assert {name: b.cause for name, b in found.items() if b} == {
        "Answer occurs": "the check pays what is wrong",
        "Exact state of a tool": "the expected answer is in reach",
        "Six tenths pass by chance": "chance errors outweigh the verdict",
    }


# what ends well by hand: the only paid ways are honest ones, or none is paid better than another
@pytest.mark.parametrize("method", [GROUPED, NATURAL, SOFTMAX])
@pytest.mark.parametrize(
    "archetype, states",
    [
        ("mathematics", ["broken", "broken", "holds", "holds"]),
        ("code", ["broken", "broken", "broken", "holds"]),
        ("tool use", ["worse", "worse", "broken", "broken"]),  # the first two pay an honest attempt, right or wrong
        ("web", ["broken", "broken", "broken", "holds"]),
        ("judge", ["broken", "broken", "holds", "holds"]),
    ],
)
def test_each_check_holds_or_breaks_as_expected_for_its_archetype(archetype, states, method):
    assert [state(Knobs(archetype=archetype, check=c, method=method)) for c in (1, 2, 3, 4)] == states


@pytest.mark.parametrize("archetype", strategies.STRATEGIES)
@pytest.mark.parametrize("noise", [(0, 0), (30, 30), (60, 70)])
def test_every_suggested_fix_mends_its_break(archetype, noise):
    for check in (1, 2, 3, 4):
        k = Knobs(archetype=archetype, check=check, passed=noise[0], failed=noise[1])
        found = widget.broken(k, catalogue.results.last("verifiers", k))
        if found:
            there = fixed("verifiers", k, found.fix)
            r = catalogue.results.last("verifiers", there)
            assert widget.broken(there, r) is None and widget.worse(there, r) is None, (k, found.fix)


def test_only_the_sealed_check_mends_tool_use():
    k = Knobs(archetype="tool use")
    assert widget.broken(k, catalogue.results.last("verifiers", k)).fix == dict(sealed=True)
    sealed = replace(k, sealed=True)
    assert widget.end(catalogue.results.last("verifiers", sealed)) == pytest.approx(0.65, abs=0.01)


def test_solved_never_exceeds_the_best_way_and_shares_sum_to_one():
    for knobs in (dict(), dict(check=1), dict(archetype="judge", check=2), dict(passed=50, failed=40)):
        _, r = last(**knobs)
        assert r.run.true.max() <= r.true.max() + 1e-12
        np.testing.assert_allclose(r.run.policies.sum(axis=-1), 1, atol=1e-12)
        np.testing.assert_allclose(r.run.proxy, (r.run.policies * r.proxy).sum(axis=-1), atol=1e-12)


def test_the_natural_steps_of_the_page_are_the_closed_form():
    _, r = last(check=1, method=NATURAL, learning_rate=0.2, prior=0.01)
    pi0 = np.array([0.12, 0.25, 0.30, 0.27, 0.05, 0.01])
    at = pi0 * np.exp(0.2 * 100 * np.array([0.55, 0.7, 0, 0, 0, 1.0]))
    np.testing.assert_allclose(r.run.policies[100, 0], at / at.sum(), atol=1e-9)
    assert r.run.true.shape == (widget.UPDATES + 1, 1)


def test_a_judge_has_three_checks_and_the_fourth_place_is_the_third():
    assert widget.check_of(Knobs(archetype="judge", check=4)) == widget.check_of(Knobs(archetype="judge", check=3))


def test_a_check_so_expensive_that_it_leaves_no_training_is_worse():
    assert state(Knobs(beta=1.0)) == "worse" and state(Knobs(beta=0.03)) == "holds"


def test_a_rare_way_that_would_be_paid_is_named_where_it_was_not_found():
    k, r = last(check=1, prior=0.001)
    assert widget.broken(k, r) is None and "would be paid 1.00" in widget.holds(k, r)


def test_the_strict_check_names_the_way_that_it_starves():
    assert "“chatty” would solve 0.70" in widget.holds(*last())


def test_the_guess_is_answered_by_the_run():
    k, r = widget.GUESS.knobs, catalogue.results.last("verifiers", widget.GUESS.knobs)
    whole = widget.end(last()[1])
    told = dict(zip(widget.GUESS.answers, (whole / 2, 0.8 * whole, whole)))
    nearest = min(told, key=lambda answer: abs(told[answer] - widget.end(r)))
    assert nearest == widget.GUESS.answers[widget.GUESS.right] and widget.broken(k, r) is None
    assert f"{whole:.2f}" in widget.GUESS.told(k, r)


def test_readouts_count_worthless_ways_that_are_paid():
    count = lambda **knobs: {x.label: x.value for x in widget.readouts(*last(**knobs))}["Worthless ways that are paid"]
    assert (count(), count(check=1), count(check=2)) == (0, 1, 1)
    # by hand: fit tests, hard-code, override ==, clear tests, exit 0
    assert count(archetype="code", check=1) == 5


def test_the_way_that_is_blamed_solves_nothing():
    # the most frequent way, chatty, solves 0.70: list all is what the first check pays and nobody wants
    k = Knobs(check=1, prior=0.02, passed=30, failed=60, method=NATURAL, learning_rate=0.2)
    found = widget.broken(k, catalogue.results.last("verifiers", k))
    assert found.cause == widget.PAID and "“list all”" in found.why and "chatty" not in found.why


@pytest.mark.parametrize("check", [1, 2, 3])
def test_a_cause_is_named_only_where_undoing_it_alone_mends(check):
    undo = {widget.CHANCE: dict(passed=0, failed=0)}
    for passed, failed, prior in ((0, 0, 0.05), (30, 60, 0.02), (60, 30, 0.2), (70, 70, 0.01), (50, 10, 0.1)):
        k = Knobs(check=check, passed=passed, failed=failed, prior=prior, method=NATURAL, learning_rate=0.5)
        r = widget.simulate(k)
        found = widget.broken(k, r)
        if found and found.cause != widget.MIXED:
            there = replace(k, **undo.get(found.cause, widget.stricter(k, r)))
            assert there != k and widget.broken(there, widget.simulate(there)) is None


def test_a_way_that_a_price_keeps_alive_is_not_said_to_die_out():
    k = Knobs(prior=0.02, passed=30, failed=30, beta=0.1, method=NATURAL)
    told = widget.holds(k, catalogue.results.last("verifiers", k))
    assert "dies out" not in told and "0.13" in told
    assert widget.holds(*last()).endswith("dies out.")
