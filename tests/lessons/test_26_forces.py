"""The lesson on three forces: what its numbers are computed by, and what it says without a number."""

import re
from dataclasses import replace
from math import sqrt
from urllib.parse import parse_qsl

import pytest

from sim.cluster.memory import LEDGERS
from sim.synthesis import forces
from sim.synthesis.forces import ASSUMED
from tools.pages import bound
from widgets.forces import figures, widget
from widgets.forces.widget import Knobs
from widgets.frame.contract import values

RLHF = dict(checkable=0.0, foreseen=0.8)
DPO = dict(checkable=0.0, foreseen=0.0, room=18)
R1_ZERO = dict(checkable=1.0, foreseen=0.0, room=24)
LINK = re.compile(r'\(#forces\)\{ data-knobs="([^"]+)" \}')
LEADS_TO = {
    "checkable=0&foreseen=0.8": "RLHF (InstructGPT)",
    "checkable=0&foreseen=0&room=18": "DPO alone (Zephyr)",
    "checkable=1&foreseen=0&room=24": "R1-Zero, DAPO",
    "checkable=1&foreseen=0.9": "PPO, verifier (ORZ, VAPO)",
    "checkable=0&foreseen=0&room=24&labels=5": "RLAIF (judge)",
    "checkable=0&foreseen=0&room=24&labels=10": "RLAIF (judge)",
    "foreseen=0&room=20": "Tülu 3.1 (DPO, verifier)",
    "room=22": "Tülu 3.1 (DPO, verifier)",
    "checkable=0.6&foreseen=0&room=24": "R1’s last stage",
}


def best(knobs=None, **changed):
    """The recipe with the least compute that fits."""
    return next(widget.run(knobs or Knobs(**changed))).best


def compute(knobs=None, **changed):
    return best(knobs, **changed).compute


def errs(agreement):
    """How often each of two labelers errs who agree so often, if both err alike and independently."""
    return (1 - sqrt(2 * agreement - 1)) / 2


def against_siblings(foreseen):
    """Compute with a critic over that with the mean of the siblings, with a verifier."""

    def of(baseline):
        return forces.effort("verifier", baseline, False, foreseen=foreseen)

    return of("critic") / of("group")


def cheapest():
    """{recipe: bytes per weight from which it is the cheapest one in the last figure}."""
    found = {}
    for room in figures.ROOMS:
        if recipe := figures.best(room):
            found.setdefault(forces.name(recipe), room)
    return found


def plateaus():
    return [*cheapest().values()]


def test_each_plateau_is_the_recipe_that_the_page_names():
    names = ["DPO alone (Zephyr)", "Tülu 3.1 (DPO, verifier)", "R1’s last stage", "reward model, verifier, PPO"]
    assert [*cheapest()] == names


def test_a_critic_that_foresees_nine_tenths_takes_three_eighths():
    assert against_siblings(0.9) == pytest.approx(3 / 8)
    assert against_siblings(0) == pytest.approx(2.06, abs=0.01)


def test_with_22_bytes_and_poor_pairs_the_scorer_has_no_anchor():
    assert best(widget.OPENING.other).unanchored and not best(widget.OPENING.plain).unanchored
    assert widget.OPENING.other == replace(Knobs(), room=22, pairs=0.36)


@pytest.mark.parametrize(("query", "recipe"), LEADS_TO.items())
def test_every_link_leads_to_the_recipe_that_it_names(query, recipe):
    assert forces.name(best(values.knobs_from(Knobs, dict(parse_qsl(query))))) == recipe


def test_the_page_has_these_links():
    assert LEADS_TO.keys() <= {*LINK.findall(bound.page("26-forces"))}


def test_a_hopeless_scorer_is_left_out():
    chance = best(pairs=0.44, reward_model=0.44, judge=0.44)
    assert chance.dropped == 0.5 and chance.unchecked is None


def test_a_judge_at_a_price_of_five():
    # (12 + 2) and (12 + 4.94): a reward model's whole sample; labels alone 2 and 4.94
    price = forces.cost("judge", "group", True) * (0.44 / 0.4) ** 2 - 12
    assert 4.5 < price < 5 and price / ASSUMED.labels == pytest.approx(2.5, abs=0.05)
