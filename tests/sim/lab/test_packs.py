"""The packs hold what the source course counted by hand and by its own program: its answer key."""

from collections import Counter

from sim.lab import packs
from sim.worlds.scorer import CANONICAL, score

KEY = {  # of 240 completions of the dev prompts
    "ok": 130,
    "wrong_value": 62,
    "extra_text": 12,
    "no_prefix": 12,
    "bad_spacing": 7,
    "bad_int": 6,
    "non_canonical_int": 5,
    "forbidden_char": 3,
    "multi_line": 3,
}


def test_thirty_prompts_may_be_looked_at_and_ten_are_held_out():
    assert [len(packs.examples(split)) for split in ("dev", "holdout", "")] == [30, 10, 40]
    assert all(CANONICAL.fullmatch(example.expected_answer) for example in packs.examples())


def test_each_prompt_has_eight_completions_in_order():
    for example, row in zip(packs.examples(), packs.rollouts(), strict=True):
        assert [(r.example_id, r.sample_id) for r in row] == [(example.id, i) for i in range(packs.SAMPLES)]


def test_the_dev_completions_fail_for_the_reasons_of_the_answer_key():
    assert Counter(reason for row in packs.reasons("dev") for reason in row) == KEY


def test_seventeen_of_thirty_first_samples_are_paid():
    first = Counter(row[0] for row in packs.reasons("dev"))
    assert first == {"ok": 17, "no_prefix": 4, "bad_int": 2, "bad_spacing": 1, "wrong_value": 6}


def test_all_320_completions_fail_as_often_as_the_course_says():
    counted = Counter(reason for row in packs.reasons() for reason in row)
    assert counted["ok"] == 164 and counted["wrong_value"] == 87 and counted["no_prefix"] == 19


def test_sixty_cases_deserve_nothing_and_eight_of_them_have_no_usable_example():
    kinds = Counter(case.kind for case in packs.wrong_set())
    assert kinds.total() == 60 and kinds["bad_example"] == 8 and kinds["not_text"] == 5
    for case in packs.wrong_set():
        assert score(case.example, case.completion)["details"]["reason"] == case.kind, case.id


def test_the_second_kata_has_ten_cases_of_four_kinds_that_the_strict_scorer_judges_as_the_teacher_says():
    labels = Counter(item["teacher"]["label"] for item in packs.kata_2())
    assert labels == dict(model_failure=4, verifier_bug=2, ambiguous_prompt=2, reward_hack=2)
    for item in packs.kata_2():
        strict = score(item["example"], item["completion"])
        assert strict["reward"] == item["teacher"]["reference_reward"], item["id"]
        assert strict["details"]["reason"] == item["teacher"]["reference_reason"], item["id"]
