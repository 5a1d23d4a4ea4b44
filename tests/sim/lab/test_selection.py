"""Picking the best of N frozen completions. The numbers are those of the source course, which counted them itself."""

import math

import pytest

from sim.lab import packs, selection
from sim.lab.selection import first_best, nine_checks, table
from sim.verifiers.checkers import CHECKERS, substring
from sim.worlds.scorer import score

SIZES = (1, 2, 4, 8)


def sample(sample_id, reward, completion=""):
    return {"sample_id": sample_id, "reward": reward, "completion": completion}


def without_tie_break(samples):
    """What the page begins with."""
    return max(samples, key=lambda sample: sample["reward"])


def missed(pick):
    return [check.name for check in nine_checks(pick) if not check.passed]


# ── the best of N ──
def test_the_highest_reward_wins_then_the_smallest_id():
    assert first_best([sample(5, 0.5), sample(2, 1.0), sample(1, 1.0), sample(0, 0.0)])["sample_id"] == 1
    assert first_best([sample(3, math.nan), sample(9, -math.inf)])["sample_id"] == 9
    assert first_best([sample(3, math.nan), sample(2, math.nan)])["sample_id"] == 2
    with pytest.raises(ValueError, match="empty"):
        first_best([])


def test_the_strict_scorer_reports_what_is_right():
    found = table(first_best, score, SIZES)
    assert [row.N for row in found] == [1, 2, 4, 8]
    assert [row.reported for row in found] == [row.right for row in found] == [22, 25, 31, 33]


def test_a_picker_with_a_hole_reports_forty_and_twenty_five_are_right():
    found = table(first_best, substring, SIZES)
    assert [row.reported for row in found] == [29, 36, 40, 40]
    assert [row.right for row in found] == [22, 24, 25, 25]


# shares of forty prompts at N = 8: reported, right
NINE = dict(
    strict=(0.825, 0.825),
    substring=(1.0, 0.625),
    last_int=(1.0, 0.675),
    any_line=(0.85, 0.825),
    format_bonus=(0.9125, 0.825),
    eval_expr=(0.9, 0.775),
    verbosity=(0.828, 0.8),
    float_eq=(0.9, 0.775),
    unicode_int=(0.925, 0.8),
)


@pytest.mark.parametrize("name", CHECKERS)
def test_what_nine_pickers_report_of_eight_samples_and_what_is_right(name):
    (row,) = table(first_best, CHECKERS[name], [8])
    assert (row.reported / 40, row.right / 40) == pytest.approx(NINE[name], abs=1e-12)


@pytest.mark.parametrize("split, right", [("dev", (17, 19, 23, 24)), ("holdout", (5, 6, 8, 9))])
def test_each_split_has_its_own_table(split, right):
    # of 30: .567 .633 .767 .800; of 10: .5 .6 .8 .9
    assert tuple(row.right for row in table(first_best, score, SIZES, split)) == right


def test_seven_prompts_have_no_right_sample_among_eight():
    (row,) = table(first_best, score, [8])
    paid = [reasons[i] == "ok" for i, reasons in zip(row.ids, packs.reasons(), strict=True)]
    unsolved = [example.id for example, ok in zip(packs.examples(), paid, strict=True) if not ok]
    assert unsolved == ["d05", "d14", "d15", "d23", "d24", "d25", "h09"]


def test_a_pick_that_is_none_of_the_samples_is_refused_and_one_that_writes_changes_nothing():
    with pytest.raises(ValueError, match="one of the samples"):
        table(lambda samples: None, score, [1])

    def bribed(samples):
        samples[0]["reward"] = 1.0
        return samples[0]

    assert table(bribed, score, [8])[0].reported == 22  # the first sample of each prompt


# ── nine checks ──
def test_the_rule_passes_all_nine_and_a_plain_maximum_five():
    assert len(nine_checks(first_best)) == 9 and missed(first_best) == []
    assert missed(without_tie_break) == [
        "finds it in 50 orders",
        "all are tied",
        "the ids have gaps",
        "a NaN never beats a number",
    ]


def sorting(samples):
    samples.sort(key=lambda sample: sample["sample_id"])
    return first_best(samples)


def by_text(samples):
    best = first_best(samples)["reward"]
    return min((s for s in samples if s["reward"] == best), key=lambda s: s["completion"])


def by_id_as_text(samples):
    best = first_best(samples)["reward"]
    return min((s for s in samples if s["reward"] == best), key=lambda s: str(s["sample_id"]))


def above_zero(samples):
    best = {"reward": 0, "sample_id": None}
    for s in sorted(samples, key=lambda s: s["sample_id"]):
        best = s if s["reward"] > best["reward"] else best
    return best


@pytest.mark.parametrize(
    "pick, misses",
    [
        (lambda samples: dict(first_best(samples)), ["returns the very object"]),
        (sorting, ["leaves the input as it was"]),
        (by_text, ["the ids have gaps"]),
        (by_id_as_text, ["the ids have gaps"]),
        (lambda samples: first_best(samples) if samples else None, ["there is no sample"]),
        (lambda samples: samples[0] and first_best(samples), ["there is no sample"]),  # raises an IndexError
        (lambda samples: max(samples, key=lambda s: (s["reward"], -s["sample_id"])), ["a NaN never beats a number"]),
        (
            above_zero,
            ["all rewards are negative", "there is one sample", "there is no sample", "a NaN never beats a number"],
        ),
    ],
)
def test_a_mistake_is_found_by_the_check_that_is_about_it(pick, misses):
    assert missed(pick) == misses


def test_what_returns_nothing_passes_nothing_and_what_always_raises_passes_one():
    def raising(samples):
        raise ValueError

    assert len(missed(lambda samples: None)) == 9 and len(missed(raising)) == 8


def test_a_miss_shows_an_input_on_which_it_happens_and_the_id_that_was_wanted():
    for check in nine_checks(without_tie_break):
        given = eval(check.given)
        if check.wanted != "ValueError":
            assert first_best(given)["sample_id"] == check.wanted
            assert check.passed == (without_tie_break(given)["sample_id"] == check.wanted)
            assert selection.written(given) == check.given
