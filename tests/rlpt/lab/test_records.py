"""What a file of examples or completions may look like, and one sentence for each that is none."""

import json

import pytest

from tests.rlpt.lab import made


def test_a_mark_at_the_start_windows_line_ends_blank_lines_and_no_last_one_are_fine(tmp_path, capsys):
    text = made.lines(made.EXAMPLES).replace("\n", "\r\n\r\n").rstrip()
    status, shown, _ = made.scored(made.files(tmp_path, b"\xef\xbb\xbf" + text.encode()), capsys)
    assert status == 0 and "1 of 2 completions" in shown


def test_an_unknown_field_is_kept_and_named_once(tmp_path, capsys):
    rows = [dict(row, temperature=0.7) for row in made.COMPLETIONS]
    status, shown, _ = made.scored(made.files(tmp_path, None, rows), capsys)
    raw = (tmp_path / "runs" / "run_001" / "raw.jsonl").read_text().splitlines()
    assert status == 0 and shown.count("temperature") == 1 and json.loads(raw[0])["temperature"] == 0.7


def test_a_completion_that_is_no_text_is_scored_and_not_refused(tmp_path, capsys):
    rows = [dict(made.COMPLETIONS[0], completion=None), dict(made.COMPLETIONS[1], completion=4), made.COMPLETIONS[2]]
    status, shown, _ = made.scored(made.files(tmp_path, None, rows), capsys)
    assert status == 0 and "not_text 2" in shown


def test_a_missing_completion_is_refused_or_scored_0_and_never_dropped(tmp_path, capsys):
    words = made.files(tmp_path, None, [made.COMPLETIONS[0], made.COMPLETIONS[2]])
    status, _, wrong = made.scored(words, capsys)
    assert status == 2 and wrong == (
        "lab: rollouts.jsonl: 1 completion of b is missing; --allow-missing scores them 0\n"
    )
    status, shown, _ = made.scored([*words, "--allow-missing"], capsys)
    assert status == 0 and "1 of 2 completions" in shown and "missing    1, scored 0" in shown


ONE = made.lines(made.COMPLETIONS[:1])


@pytest.mark.parametrize(
    "content, said",
    [
        (b"", "rollouts.jsonl has no records, and a rate over nothing is not 0"),
        (b"\n\r\n", "rollouts.jsonl has no records"),
        (b"\xff\xfe", "rollouts.jsonl:1: byte 1 is not UTF-8"),
        (f"{ONE}{{", "rollouts.jsonl:2: not JSON at column 2"),
        ("[1]", "rollouts.jsonl:1: a list is no record"),
        ("[" * 100_000, "rollouts.jsonl:1: nested too deeply"),
        ('{"example_id": "a", "sample_id": NaN, "completion": ""}', "rollouts.jsonl:1: NaN is no JSON number"),
        (
            '{"example_id": "a", "sample_id": 1e999, "completion": ""}',
            "rollouts.jsonl:1: the number 1e999 is too large",
        ),
        ('{"example_id": "a", "example_id": "a"}', "rollouts.jsonl:1: the key example_id is there twice"),
        ('{"example_id": "a", "completion": ""}', "rollouts.jsonl:1: the field sample_id is missing"),
        (
            '{"example_id": "a", "sample_id": true, "completion": ""}',
            "1: the field sample_id is true, and it should be",
        ),
        ('{"example_id": "a", "sample_id": -1, "completion": ""}', "1: the field sample_id is -1, and it should be"),
        (
            '{"example_id": 7, "sample_id": 0, "completion": ""}',
            "1: the field example_id is 7, and it should be a text",
        ),
        (f"{ONE}\n{ONE}", "rollouts.jsonl:3: example_id a and sample_id 0 again, after line 1"),
        ('{"example_id": "z", "sample_id": 0, "completion": ""}', "rollouts.jsonl: no example has the id z"),
        (f'{{"x": "{"y" * 4_000_000}"}}', "rollouts.jsonl:1: the line has 4,000,009 bytes, and 4,000,000 are the most"),
        ('{"sample_id": ' + "9" * 5000 + "}", "rollouts.jsonl:1: a whole number has 5,000 digits, and 18 are the most"),
    ],
)
def test_a_file_of_completions_that_is_none_ends_in_one_sentence(content, said, tmp_path, capsys):
    status, shown, wrong = made.scored(made.files(tmp_path, None, content), capsys)
    assert (status, shown) == (2, "") and said in wrong and wrong.count("\n") == 1
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "change, said",
    [
        (dict(expected_answer="04"), "examples.jsonl:2: the expected answer '04' is not a canonical integer"),
        (dict(expected_answer=4), "examples.jsonl:2: the field expected_answer is 4, and it should be a text"),
        (dict(split="test"), "examples.jsonl:2: the split is 'test', and it should be dev or holdout"),
        (dict(id="a"), "examples.jsonl:2: id a again, after line 1"),
    ],
)
def test_an_example_that_is_none_ends_in_one_sentence(change, said, tmp_path, capsys):
    rows = [made.EXAMPLES[0], made.EXAMPLES[1] | change, made.EXAMPLES[2]]
    status, _, wrong = made.scored(made.files(tmp_path, rows), capsys)
    assert status == 2 and said in wrong and wrong.count("\n") == 1
