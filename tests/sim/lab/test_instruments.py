"""The Lab's other scorers against the suites that were labeled by hand, and tests of a scorer against its mutants.

The numbers are those of the source course, whose own program counted them, unless a comment derives them.
"""

import re
from collections import Counter

import pytest

from sim.lab import instruments, packs
from sim.lab.instruments import found_out, leaks, misread, mutants
from sim.verifiers import checkers
from sim.worlds.scorer import BLANKS, score
from tests.sim.worlds.test_scorer import GOLDEN

# (expected answer, completion, reward, reason) of the hundred labeled cases whose example has an expected answer, by id
ROWS = {name: (e["expected_answer"], *case) for name, e, *case in GOLDEN if "expected_answer" in e}


# ── versions ──
def test_the_draft_0_9_5_paid_the_second_kata_as_its_pack_says():
    items = packs.kata_2()
    assert [item["id"] for item in items if item["observed"]["reward"] == 1.0] == ["m05", "m06", "m09", "m10"]
    for item in items:
        paid = instruments.version_0_9_5(item["example"], item["completion"])
        assert paid == item["observed"]["reward"], item["id"]


@pytest.mark.parametrize("version", [instruments.version_0_9_0, instruments.version_0_9_5])
def test_the_drafts_pay_nothing_for_what_is_no_text(version):
    assert [version({"expected_answer": "7"}, completion) for completion in (None, 7, ["Final: 7"])] == [0.0] * 3


def test_version_1_1_0_differs_by_the_number_of_spaces_after_the_colon():
    right = {"expected_answer": "7"}
    for text in ("Final: 7", "Final:  7", "\nFinal:     7 "):
        assert instruments.score_1_1_0(right, text)["reward"] == 1.0
    for text in ("Final:7", "Final: \t7", "Final:\u00a07", "Final:  07", "Final:  8", "Final : 7"):
        assert instruments.score_1_1_0(right, text)["reward"] == 0.0
    assert instruments.score_1_1_0(right, "Final:7")["details"]["reason"] == "bad_spacing"
    assert instruments.score_1_1_0(right, "Final: 7")["details"]["spec"] == "1.1.0"


def test_version_1_1_0_flips_six_of_320_completions():
    paid = {
        (example.id, r.sample_id): [
            judge({"expected_answer": example.expected_answer}, r.completion)["reward"]
            for judge in (score, instruments.score_1_1_0)
        ]
        for example, row in zip(packs.examples(), packs.rollouts(), strict=True)
        for r in row
    }
    flipped = [key for key, (before, after) in paid.items() if before != after]
    assert flipped == [("d15", 0), ("d19", 7), ("d25", 7), ("h08", 3), ("h09", 1), ("h09", 3)]
    assert [sum(row[version] for row in paid.values()) for version in (0, 1)] == [164, 170]
    # of 30 and of 10 prompts, those with a paid sample: pass@8 of .800 and .867, and of .9 and 1.0
    solved = [
        Counter(prompt[0] for prompt in {key[0] for key, row in paid.items() if row[version]}) for version in (0, 1)
    ]
    assert solved == [{"d": 24, "h": 9}, {"d": 26, "h": 10}]


# ── mutants ──
def killed(name):
    """The ids of the labeled cases that find a mutant."""
    judge = mutants()[name].score
    found = []
    for case, example, completion, *right in GOLDEN:
        try:
            scored = judge(example, completion)
            given = [scored["reward"], scored["details"].get("reason")]
        except TypeError:
            given = None
        if given != right:
            found.append(case)
    return found


@pytest.mark.parametrize("row", packs.pack("scorer_mutants")["mutants"], ids=lambda row: row["id"])
def test_as_many_labeled_cases_find_a_mutant_as_its_pack_says(row):
    # five counts differ from the course's: the three tests that follow the next one derive them from the cases
    found = killed(row["id"])
    assert len(found) == row["killed_by"] and set(row["for_example"]) <= set(found)


def test_eighteen_mutants_die_six_of_them_by_a_single_case():
    single = {name: killed(name) for name in mutants() if len(killed(name)) == 1}
    assert len(mutants()) == 18 and all(killed(name) for name in mutants())
    assert single == dict(
        case_insensitive=["gw_lower_case"],
        plus_sign=["gw_plus_sign"],
        minus_zero=["gw_minus_zero"],
        no_length_cap=["gw_too_long"],
        any_spaces=["gw_double_space"],
        lenient_example=["gw_bad_example_int"],
    )
    assert len(killed("no_details")) == 100


def test_the_cases_that_find_a_mutant_of_trimming_or_of_zeros_have_what_it_misjudges():
    # the right lines with blanks around them, and the blank text, which is empty only after trimming
    around = [name for name, (_, text, reward, _) in ROWS.items() if reward and text != text.strip()]
    assert set(killed("no_strip")) == {*around, "gw_blank"}
    # a blank that is not one of the four, at an end of a right line
    assert set(killed("unicode_strip")) == {"gw_nbsp_outside", "gw_line_separator", "x_no_blank"}
    assert set(killed("leading_zeros")) == {"gw_leading_zero", "gw_all_zeros", "x_leading_zeros"}


def test_the_mutant_without_an_end_is_found_by_what_follows_an_integer():
    texts = {name: text.strip(BLANKS) for name, (_, text, *_) in ROWS.items() if isinstance(text, str)}
    integers = {name: re.match("Final: ?[+-]?[0-9]+", text) for name, text in texts.items()}
    follows = {name for name, found in integers.items() if found and texts[name][found.end() :]}
    assert set(killed("no_end_anchor")) == follows


def test_the_mutant_that_looks_for_the_answer_is_found_where_a_refused_text_contains_it():
    texts = {
        n: (e, text)
        for n, (e, text, reward, reason) in ROWS.items()
        if reason not in ("bad_example", "not_text") and not reward
    }
    assert set(killed("substring")) == {name for name, (expected, text) in texts.items() if expected in text}


# ── tests of a scorer ──
FIRST = [  # of the page's first screen: a right line, one off by one, a sentence, a full stop, a trailing line feed
    ("323", "Final: 323", 1.0, "ok"),
    ("323", "Final: 324", 0.0, "wrong_value"),
    ("323", "The answer is 323.", 0.0, "no_prefix"),
    ("323", "Final: 323.", 0.0, "extra_text"),
    ("323", "Final: 323\n", 1.0, "ok"),
]
FOURTEEN = [
    *("gw_lower_case", "gw_plus_sign", "gw_minus_zero", "gw_too_long", "gw_double_space", "gw_bad_example_int"),
    *("x_hedge_3", "gw_nbsp_outside", "gc_trailing_lf", "gw_leading_zero", "gw_arabic_digits"),
    *("gw_sign_lost", "x_float_twin", "gw_not_text_null"),
]
TWELVE = [
    (7, None, 0.0, "bad_example"),  # finds lenient_example, raises_on_none and no_details
    ("7", "Final: 7" + " " * 9_993, 0.0, "too_long"),
    ("7", "Final: 8\nFinal: 7", 0.0, "multi_line"),  # last_line, any_line, no_end_anchor
    ("7", "Final: 7\u2028", 0.0, "forbidden_char"),  # unicode_strip
    ("7", "Final: ٧", 0.0, "forbidden_char"),
    ("7", "final: 7\n", 0.0, "no_prefix"),  # case_insensitive, no_strip, substring
    ("7", "Final:  7", 0.0, "bad_spacing"),
    ("7", "Final: +7", 0.0, "non_canonical_int"),
    ("7", "Final: 07", 0.0, "non_canonical_int"),
    ("0", "Final: -0", 0.0, "non_canonical_int"),
    ("7", "Final: -7", 0.0, "wrong_value"),
    ("9007199254740993", "Final: 9007199254740992", 0.0, "wrong_value"),
]


def test_five_rows_find_four_mutants_each_by_the_first_row_that_differs():
    found = {name: row for name, row in found_out(FIRST).items() if row is not None}
    assert found == dict(no_details=0, substring=2, no_end_anchor=3, no_strip=4)


def test_fourteen_labeled_cases_find_all_eighteen_and_twelve_rows_are_enough():
    assert None not in found_out([ROWS[name] for name in FOURTEEN]).values()
    assert None not in found_out(TWELVE).values()
    for left_out in range(12):  # each of the twelve is needed
        assert None in found_out(TWELVE[:left_out] + TWELVE[left_out + 1 :]).values()


def test_a_row_that_the_strict_scorer_fails_is_misread_and_finds_nobody():
    rows = [("7", "Final: 07", 1.0, "ok"), ("7", "Final: 7", 1, "ok"), ("7", "Final: 8", 0.0, "ok")]
    assert misread(rows) == {0: (0.0, "non_canonical_int"), 2: (0.0, "wrong_value")}
    assert {name for name, row in found_out(rows).items() if row is not None} == {"no_details"}
    assert not misread(ROWS.values())


# ── the gate ──
def sizes(judge):
    found = leaks(judge)
    return len(found.right), len(found.wrong), len(found.exploits)


def test_the_trays_hold_16_right_52_wrong_and_24_exploiting_cases():
    assert sizes(lambda example, completion: None) == (16, 0, 0)
    assert sizes(lambda example, completion: 1.0) == (0, 52, 24)
    assert sizes(lambda example, completion: 0.5) == (16, 52, 24)  # as checkers.report counts


@pytest.mark.parametrize(
    "judge, judged_wrongly",
    [
        (score, (0, 0, 0)),
        (mutants()["no_strip"].score, (7, 0, 0)),
        (instruments.version_0_9_0, (6, 9, 7)),
        (instruments.version_0_9_5, (0, 20, 6)),
        (checkers.substring, (0, 29, 13)),
    ],
    ids=["strict", "no_strip", "0.9.0", "0.9.5", "answer occurs"],
)
def test_how_many_of_each_tray_five_scorers_judge_wrongly(judge, judged_wrongly):
    assert sizes(judge) == judged_wrongly


def mended(match=re.match, pattern=r"Final:\s*([+-]?\d[\d,]*)", blanks=None, equal=None, cap=10**9):
    """Version 0.9.5 with some of its parts replaced."""

    def judge(example, completion):
        if not isinstance(completion, str) or len(completion) > cap:
            return 0.0
        found = match(pattern, completion.strip(blanks))
        return float(found is not None and equal(found[1], example["expected_answer"]))

    return judge


def test_each_mend_of_0_9_5_stops_a_class_of_the_76_and_refuses_nothing_right():
    as_floats = dict(equal=lambda found, right: float(found.replace(",", "")) == float(right))
    ladder = [as_floats, dict(as_floats, match=re.fullmatch), dict(match=re.fullmatch, equal=str.__eq__)]
    ladder.append(dict(ladder[-1], pattern=r"Final: ([+-]?\d[\d,]*)"))
    ladder.append(dict(ladder[-1], blanks=" \t\r\n"))
    ladder.append(dict(ladder[-1], cap=10_000))
    counted = [sizes(mended(**parts)) for parts in ladder]
    assert [right for right, *_ in counted] == [0] * 6
    assert [wrong + exploits for _, wrong, exploits in counted] == [26, 21, 10, 3, 1, 0]
