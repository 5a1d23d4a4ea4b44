from functools import partial

import numpy as np
import pytest

from sim.verifiers import strategies
from tests.widgets import catalogue
from tests.widgets.catalogue import fixed
from widgets.verifiers import widget
from widgets.verifiers.widget import GROUPED, NATURAL, SOFTMAX, Knobs


def last(**knobs):
    return Knobs(**knobs), catalogue.last(widget, **knobs)


broken = partial(catalogue.broken, widget)


def state(k):
    r = catalogue.results.last("verifiers", k)
    return "broken" if widget.broken(k, r) else "worse" if widget.worse(k, r) else "holds"


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
def test_every_suggested_fix_leads_to_what_is_not_even_worse(archetype, noise):
    for check in (1, 2, 3, 4):
        knobs = dict(archetype=archetype, check=check, passed=noise[0], failed=noise[1])
        if break_ := broken(**knobs):
            assert state(fixed("verifiers", Knobs(**knobs), break_.fix)) == "holds", (knobs, break_.fix)


def test_only_the_sealed_check_mends_tool_use():
    assert broken(archetype="tool use").fix == dict(sealed=True)
    assert widget.end(last(archetype="tool use", sealed=True)[1]) == pytest.approx(0.65, abs=0.01)


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
    assert widget.broken(k, r) is None and "would earn 1.00" in widget.holds(k, r)


def test_the_strict_check_names_the_way_that_it_starves():
    assert "“chatty” would solve 0.70" in widget.holds(*last())


def test_the_guess_is_answered_by_the_run():
    k, r = widget.GUESS.knobs, catalogue.results.last("verifiers", widget.GUESS.knobs)
    whole = widget.end(last()[1])
    amounts = dict(zip(widget.GUESS.answers, (whole / 2, 0.8 * whole, whole)))
    nearest = min(amounts, key=lambda answer: abs(amounts[answer] - widget.end(r)))
    assert nearest == widget.GUESS.answers[widget.GUESS.right] and widget.broken(k, r) is None
    assert f"{whole:.2f}" in widget.GUESS.told(k, r)


def test_readouts_count_worthless_ways_that_are_paid():
    def count(**knobs):
        return {x.label: x.value for x in widget.readouts(*last(**knobs))}["Worthless ways rewarded"]

    assert (count(), count(check=1), count(check=2)) == (0, 1, 1)
    # by hand: fit tests, hard-code, override ==, clear tests, exit 0
    assert count(archetype="code", check=1) == 5


def test_the_way_that_is_blamed_solves_nothing():
    # the most frequent way, chatty, solves 0.70: list all is what the first check pays and nobody wants
    break_ = broken(check=1, prior=0.02, passed=30, failed=60, method=NATURAL, learning_rate=0.2)
    assert break_.cause == widget.PAID and "“list all”" in break_.why and "chatty" not in break_.why


def test_a_way_that_a_price_keeps_alive_is_not_said_to_die_out():
    verdict = widget.holds(*last(prior=0.02, passed=30, failed=30, beta=0.1, method=NATURAL))
    assert "dies out" not in verdict and "0.13" in verdict
    assert widget.holds(*last()).endswith("dies out.")
