"""The values that lessons state over twenty seeds (tests/lessons/spreads.py) are what the code computes, and of it."""

import json

import numpy as np
import pytest

from tests import skips
from tests.lessons import spreads

AGAIN = spreads.SEEDS[:2]  # are measured again
ROUNDED = 0.5 * 10 ** (1 - spreads.DIGITS)  # of a number that is kept: where twenty seeds are alike, all that is left
APART = 4  # standard deviations: where a run amplifies the last bit, another processor draws another value

KEPT = {page: json.loads(spreads.place(page).read_text(encoding="utf-8")) for page in spreads.pages()}


def where_changed(page):
    files = [f"lessons/{page.replace('_', '-')}.md", spreads.place(page)]
    return pytest.mark.when_changed(spreads.module(page), files=files, family="values over twenty seeds", most=2)


@skips.bands
@pytest.mark.parametrize("page", [pytest.param(page, marks=where_changed(page), id=f"test_{page}") for page in KEPT])
def test_what_is_measured_again_lies_where_the_twenty_lie(page):
    for words, quantity in spreads.quantities(page).items():
        mean, deviation = spreads.summary(spreads.values(page, words))
        for seed in AGAIN:
            assert abs(quantity(seed) - mean) <= APART * deviation + ROUNDED * abs(mean) + 1e-6, (words, seed)


@pytest.mark.parametrize("page", KEPT)
def test_every_quantity_has_twenty_values_and_no_value_is_left_of_another(page):
    values = KEPT[page]["values"]
    assert list(values) == [*spreads.quantities(page)], f"python build.py spreads {page.partition('_')[0]}"
    assert {len(of) for of in values.values()} == {len(spreads.SEEDS)} and np.isfinite([*values.values()]).all()


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page whose quantity is the seed, and of which nothing is kept."""
    monkeypatch.setattr(spreads, "HERE", tmp_path)
    monkeypatch.setattr(spreads, "pages", lambda: ["99_none"])
    monkeypatch.setattr(spreads, "quantities", lambda page: {"the seed": lambda seed: seed})
    monkeypatch.setattr(spreads, "code", lambda page: "a sum")
    spreads.data.cache_clear()
    yield tmp_path / "data" / "99_none.json"
    spreads.data.cache_clear()


def test_the_command_measures_every_seed_and_says_mean_deviation_and_range(page, capsys):
    assert spreads.main() is None
    kept = json.loads(page.read_text(encoding="utf-8"))
    assert kept == {"seeds": "200 to 219", "code": "a sum", "values": {"the seed": [float(n) for n in range(200, 220)]}}
    # 209.5, and the root of 35 for twenty numbers in a row: (n² − 1) / 12 · n / (n − 1)
    assert "99_none  the seed: 209.5 ± 5.9, 200 to 219" in capsys.readouterr().out


def test_what_is_kept_of_the_same_code_is_measured_again_only_where_the_lesson_is_named(page, monkeypatch, capsys):
    spreads.main()
    spreads.data.cache_clear()
    both = {"the seed": lambda seed: seed, "its double": lambda seed: 2 * seed}
    monkeypatch.setattr(spreads, "quantities", lambda page: both)
    capsys.readouterr()
    spreads.main()
    assert capsys.readouterr().out.count("\n") == 1
    spreads.main("99")
    assert capsys.readouterr().out.count("\n") == 2
    spreads.data.cache_clear()
    monkeypatch.setattr(spreads, "code", lambda page: "another sum")
    spreads.main()
    assert capsys.readouterr().out.count("\n") == 2


def test_a_number_without_quantities_is_refused():
    assert spreads.main("99").startswith("no test file measures anything for 99: ")
