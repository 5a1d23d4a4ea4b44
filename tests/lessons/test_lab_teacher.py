"""The answers on the teacher's page are those of M0."""

from sim.lab import packs
from widgets.lab_m0 import sorts


def first_paid():
    return sum(row[0] == "ok" for row in packs.reasons("dev"))


def all_paid():
    return sum(row.count("ok") for row in packs.reasons("dev"))


def wrong_values():
    return sum(row.count("wrong_value") for row in packs.reasons("dev"))


def test_the_page_names_the_culprits_in_the_order_of_the_cases():
    culprits = [case.answer for case in sorts.KATA.cases]
    assert culprits == ["model"] * 4 + ["verifier"] * 2 + ["prompt"] * 2 + ["hack"] * 2
