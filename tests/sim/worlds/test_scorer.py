"""The verifier against its golden suites, and against everything that is not a legal line."""

import copy
import json
import math
import re
import time
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.worlds import scorer

DATA = dict(
    correct=files("sim.verifiers") / "data", exploits=files("sim.verifiers") / "data", wrong=files("sim.lab") / "data"
)


def long(value):
    """{prefix, repeat, times, suffix} stands for a text too long to write out."""
    return value["prefix"] + value["repeat"] * value["times"] + value["suffix"] if isinstance(value, dict) else value


def suite(name):
    """[(id, example, completion, expected reward, expected reason)]; the suites were labeled by hand before the scorer
    was written.
    """
    items = json.loads((DATA[name] / f"golden_{name}.json").read_text(encoding="utf-8"))["items"]
    cases = []
    for item in items:
        example = (
            item["example_json"]
            if "example_json" in item
            else {"id": item["id"], "expected_answer": long(item["expected_answer"])}
        )
        completion = item["completion_json"] if "completion_json" in item else long(item["completion"])
        cases.append((item["id"], example, completion, item["expect"]["reward"], item["expect"]["reason"]))
    return cases


GOLDEN = suite("correct") + suite("wrong") + suite("exploits")
REASONS = {reason for _, reason, _ in scorer.CHECKS} | {"extra_text", "ok"}


def test_the_golden_suites_have_16_right_60_wrong_and_24_exploiting_completions():
    assert [len(suite(name)) for name in ("correct", "wrong", "exploits")] == [16, 60, 24]
    assert {reason for *_, reason in GOLDEN} == REASONS  # every reason is met at least once


@pytest.mark.parametrize("name, example, completion, reward, reason", GOLDEN, ids=[case[0] for case in GOLDEN])
def test_golden(name, example, completion, reward, reason):
    scored = scorer.score(example, completion)
    assert (scored["reward"], scored["details"]["reason"]) == (reward, reason)


def test_one_space_follows_the_colon():
    for text, reason in (("Final:7", "bad_spacing"), ("Final:  7", "bad_spacing"), ("Final:", "bad_int")):
        assert scorer.score({"expected_answer": "7"}, text)["details"]["reason"] == reason


def test_a_score_names_the_version_of_its_rules():
    assert scorer.score({"expected_answer": "7"}, "Final: 7")["details"]["spec"] == scorer.SPEC == "1.0.0"


def test_the_order_of_the_checks_decides_the_reason():
    # each text fails two checks; the first one of the table speaks
    right = {"expected_answer": "7"}
    assert scorer.score({}, None)["details"]["reason"] == "bad_example"
    assert scorer.score(right, " " * 10_001)["details"]["reason"] == "too_long"
    assert scorer.score(right, "x\n\x00")["details"]["reason"] == "multi_line"
    assert scorer.score(right, "\x00 7")["details"]["reason"] == "forbidden_char"
    assert scorer.score(right, "Final:  7 apples")["details"]["reason"] == "extra_text"
    assert scorer.score(right, "Final: apples 7")["details"]["reason"] == "bad_int"
    assert scorer.score(right, "Final:  07")["details"]["reason"] == "bad_spacing"
    assert scorer.score(right, "Final: 08")["details"]["reason"] == "non_canonical_int"


def test_the_length_is_counted_before_trimming_and_the_cap_itself_is_legal():
    right = {"expected_answer": "7"}
    assert scorer.score(right, "Final: 7" + " " * 9_992)["reward"] == 1.0  # 10,000 characters
    assert scorer.score(right, "Final: 7" + " " * 9_993)["details"]["reason"] == "too_long"
    assert scorer.score({"expected_answer": "9" * 1_000}, "Final: " + "9" * 1_000)["reward"] == 1.0
    assert scorer.score({"expected_answer": "9" * 1_001}, "Final: " + "9" * 1_001)["details"]["reason"] == "bad_example"
    assert (
        scorer.score(right, "Final: " + "9" * 5_000)["details"]["reason"] == "wrong_value"
    )  # int() would raise above 4,300 digits


def test_the_details_explain_the_reward():
    details = scorer.score({"expected_answer": "323"}, " Final: 324\n")["details"]
    assert details == {
        "spec": "1.0.0",
        "reason": "wrong_value",
        "parsed": "324",
        "expected": "323",
        "n_chars": 12,
        "normalized": "'Final: 324'",
        "offending": [],
        "checks": [
            ["example", True],
            ["text", True],
            ["length", True],
            ["not_empty", True],
            ["one_line", True],
            ["printable_ascii", True],
            ["prefix", True],
            ["integer", True],
            ["spacing", True],
            ["canonical", True],
            ["value", False],
        ],
    }
    details = scorer.score({"expected_answer": "323"}, "Final:\u00a0323\u2212\ud800\t\x7f\x00")["details"]
    assert details["offending"] == [
        {"at": 6, "code": "U+00A0"},
        {"at": 10, "code": "U+2212"},
        {"at": 11, "code": "U+D800"},
        {"at": 12, "code": "U+0009"},
        {"at": 13, "code": "U+007F"},
    ]
    assert details["parsed"] is None and details["checks"][-1] == ["printable_ascii", False]


def test_other_rules_are_the_same_judgment_with_a_check_left_out():
    line = scorer.taken_apart({"expected_answer": "7"}, " Final: 8\n")
    without_value = [check for check in scorer.CHECKS if check[0] != "value"]
    lenient = scorer.judged(line, without_value, "any integer")
    assert (lenient["reward"], lenient["details"]["reason"], lenient["details"]["spec"]) == (1.0, "ok", "any integer")
    assert scorer.judged(line) == scorer.score({"expected_answer": "7"}, " Final: 8\n")


def test_a_completion_is_taken_apart_after_trimming():
    example = {"expected_answer": "7"}
    assert scorer.taken_apart(example, "\tFinal: 7 ") == scorer.Line("7", "\tFinal: 7 ", "Final: 7", "7")
    untrimmed = scorer.taken_apart(example, "Final: 7\n", trim=lambda text: text)
    assert (untrimmed.trimmed, untrimmed.core) == ("Final: 7\n", "7\n")
    assert scorer.taken_apart({}, None) == scorer.Line(None, None, "", "")


class LyingText(str):
    """A str whose own methods all raise or lie: the verifier must not call them."""

    def __len__(self):
        raise RuntimeError

    def __eq__(self, other):
        return True

    __hash__ = None

    def strip(self, *blanks):
        raise RuntimeError

    def __str__(self):
        raise RuntimeError


class Impostor:
    """Says that it is a str and a dict, and is neither."""

    @property
    def __class__(self):
        return str

    def __getattr__(self, name):
        raise RuntimeError


class Hostile:
    @property
    def __class__(self):
        raise RuntimeError

    def __eq__(self, other):
        raise RuntimeError

    def __hash__(self):
        return hash("expected_answer")


class LyingDict(dict):
    def get(self, *key):
        raise RuntimeError

    def __getitem__(self, key):
        raise RuntimeError

    def items(self):
        raise RuntimeError

    def __iter__(self):
        raise RuntimeError


STRANGE = [
    None,
    math.nan,
    math.inf,
    True,
    7,
    10**5_000,
    1j,
    b"Final: 7",
    bytearray(b"Final: 7"),
    ["Final: 7"],
    {"text": "Final: 7"},
    {7},
    ...,
    object(),
    str,
    len,
    np.array("Final: 7"),
    np.zeros(3),
    "\ud800",
    "\udfff Final: 7",
    "Final: \ud835",
    "\x00",
    "",
    " \r\n\t",
    Impostor(),
    Hostile(),
]
STRANGE_EXAMPLES = [
    *STRANGE,
    {},
    {"expected_answer": None},
    {"expected_answer": math.nan},
    {"expected_answer": 7},
    {"expected_answer": "\ud800"},
    {"expected_answer": Impostor()},
    {"expected_answer": Hostile()},
    {"expected_answer": "٣"},
    {"expected_answer": "7\n"},
    {Hostile(): 1},
    {"expected_answer": "7"},
    LyingDict(),
]


def test_no_object_makes_it_raise_or_pay():
    for example in STRANGE_EXAMPLES:
        for completion in STRANGE:
            scored = scorer.score(example, completion)
            assert scored["reward"] == 0.0 and scored["details"]["reason"] != "ok"
            json.dumps(scored).encode("ascii")


def test_a_text_of_a_foreign_class_is_read_and_its_methods_are_not_called():
    assert scorer.score({"expected_answer": "7"}, LyingText("Final: 7"))["reward"] == 1.0
    assert scorer.score({"expected_answer": LyingText("7")}, "Final: 8")["reward"] == 0.0
    assert scorer.score(LyingDict(expected_answer="7"), "Final: 7")["reward"] == 1.0
    assert scorer.score({"expected_answer": np.str_("7")}, np.str_("Final: 7"))["reward"] == 1.0


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.binary()
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
NEARLY = st.from_regex(
    r"[ \t\r\n]{0,2}[Ff]inal ?:[ \t\u00a0]{0,2}[+\-\u2212]?[0-9٣７]{0,4}[. \n\ud800x]{0,2}",
    alphabet=st.characters(exclude_categories=()),
)
EXAMPLES = (
    st.dictionaries(st.sampled_from(["expected_answer", "id", "prompt"]), ANYTHING | st.integers().map(str)) | ANYTHING
)


@pytest.mark.slow
@settings(max_examples=250, deadline=None)
@given(EXAMPLES, ANYTHING | NEARLY)
def test_it_is_total_deterministic_pure_and_explains_itself(example, completion):
    before = copy.deepcopy((example, completion))
    scored = scorer.score(example, completion)
    text = json.dumps(scored)
    assert all(json.dumps(scorer.score(example, completion)) == text for _ in range(2))
    assert repr((example, completion)) == repr(before)
    details = scored["details"]
    assert details["reason"] in REASONS and (scored["reward"] == 1.0) == (details["reason"] == "ok")
    assert all(passed for _, passed in details["checks"][:-1]) and details["checks"][-1][1] == (
        details["reason"] == "ok"
    )


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(st.integers(-99, 99), st.one_of(NEARLY, st.integers(-99, 99).map(lambda n: f"Final: {n}"), st.text(max_size=12)))
def test_it_pays_exactly_for_the_one_spelling_of_the_right_integer(answer, completion):
    pays = (
        re.fullmatch(f"[ \t\r\n]*Final: {answer}[ \t\r\n]*", completion) is not None
    )  # the rule in one line, for texts below the length cap
    assert scorer.score({"expected_answer": str(answer)}, completion)["reward"] == float(pays)


@pytest.mark.parametrize(
    "unit", ["9", " ", "\n", "\x00", "\ud800", "\U0001f600", "Final: 7\n", "-", "+0", "\u2028"], ids=ascii
)
def test_ten_megabytes_take_less_than_fifty_milliseconds(unit):
    huge = unit * (10_000_000 // len(unit))
    for example, completion in (
        ({"expected_answer": "7"}, huge),
        ({"expected_answer": huge}, "Final: 7"),
        ({"expected_answer": "7"}, "Final: " + huge),
    ):
        scored = scorer.score(example, completion)
        assert scored["reward"] == 0.0 and len(json.dumps(scored)) < 2_000
        assert (
            min(seconds(example, completion) for _ in range(5)) < 0.05
        )  # the least of five: the machine may be busy with something else


def seconds(example, completion):
    start = time.process_time()
    scorer.score(example, completion)
    return time.process_time() - start


@pytest.mark.when_changed()
@pytest.mark.parametrize(
    "text",
    [
        lambda n: "Final: " + "9" * n + "x",
        lambda n: "Final:" + " " * n + "x",
        lambda n: "Final: " + "+" * n,
        lambda n: "\x00" * n,
    ],
)
def test_the_time_grows_at_most_linearly_up_to_the_cap(text):
    # sixteen times the length: at most about sixteen times as long, where a backtracking pattern would take 256 times
    short, long = (
        min(sum(seconds({"expected_answer": "7"}, text(n)) for _ in range(20)) for _ in range(5)) for n in (600, 9_600)
    )
    assert long < 64 * short


def test_the_outcome_of_an_unfinished_completion_is_truncated_whatever_its_text():
    assert [scorer.outcome(reason, True) for reason in ("ok", "wrong_value", "no_prefix", "empty")] == [
        "ok",
        "wrong_answer",
        "bad_format",
        "bad_format",
    ]
    assert scorer.outcome("ok", False) == scorer.outcome("empty", False) == "truncated"
