"""Any other rows with a prompt and a completion."""

import numpy as np
import pytest

from rlpt import rollouts
from rlpt.rollouts import other
from tests.rlpt.rollouts.made import read, said

CSV = (
    "iteration,question,response,score,correct,answer,note\n"
    '3,"2+2=, please","4\nthat is ""four""",1.0,True,4,a\n'
    "3,1+1=,3,0.5,False,2,b\n"
)


def test_columns_are_found_by_the_names_that_programs_use():
    rows = [
        dict(global_step=2, question="2+2=", response=r, score=s, fluent=0.5, meta={"a": 1})
        for r, s in [("4", 1), ("5", 0)]
    ]
    found = read(rows)
    one = found.rollouts
    assert (found.format, found.program) == ("a table of completions", "")
    assert one.prompts == ["2+2="] and one.completions == ["4", "5"] and one.reward.tolist() == [1, 0]
    assert one.step.tolist() == [2, 2] and one.scores["fluent"].tolist() == [0.5, 0.5]
    assert found.columns == dict(
        global_step="step", question="prompt", response="completion", score="reward", fluent="score", meta="left out"
    )


def test_a_csv_may_hold_commas_quotes_and_line_breaks():
    for size in (1, 7, 1 << 16):
        one = read(CSV, name="mine.csv", size=size).rollouts
        assert one.prompts == ["2+2=, please", "1+1="] and one.completions == ['4\nthat is "four"', "3"]
        assert one.reward.tolist() == [1.0, 0.5] and one.step.tolist() == [3, 3]
        assert {name: each.tolist() for name, each in one.scores.items()} == dict(correct=[1, 0])


def test_a_list_in_json_is_read_over_any_number_of_lines():
    text = (
        '[\n  {"prompt": "a",\n "completion": "b", "reward": 1},\n {"prompt": "a", "completion": "c", "reward": 0}\n]'
    )
    assert read(text).rollouts.completions == read("".join(text.split("\n"))).rollouts.completions == ["b", "c"]


def test_the_reader_of_the_page_may_name_the_columns():
    rows = [dict(t=1, q="a", a=str(n), paid=n, push=-n, prompt="not this") for n in range(3)]
    named = dict(step="t", prompt="q", completion="a", reward="paid", advantage="push")
    one = read(rows, named=named).rollouts
    assert one.prompts == ["a"] and one.completions == ["0", "1", "2"] and one.step.tolist() == [1] * 3
    assert one.reward.tolist() == [0, 1, 2] and one.advantage.tolist() == [0, -1, -2]


def test_what_is_missing_is_named_with_the_columns_that_there_are():
    rows = [dict(step=1, q="a b", a="c d", reward=1)]
    assert said(rows) == (
        "No column is called prompt or completion: say which one it is among “step”, “q”, “a”, “reward”."
    )
    assert (
        said(rows, named=dict(prompt="Q"))
        == "No column “Q” for the prompt: the columns are “step”, “q”, “a”, “reward”."
    )


def test_a_named_reward_that_is_a_text_is_refused():
    rows = [dict(prompt="a", completion="b", grade="good")]
    assert said(rows, named=dict(reward="grade")) == "The reward in “grade” is no number: “good”."


def test_the_step_comes_from_the_name_of_the_file_or_is_0_with_a_note():
    rows = [dict(prompt="a", completion="b", reward=1)]
    assert read(rows, name="120.jsonl").rollouts.step.tolist() == [120]
    found = read(rows, name="mine.jsonl")
    assert found.rollouts.step.tolist() == [0]
    assert found.notes == ["Neither a column nor the name of the file gives the step, so it counts as step 0."]


def test_a_column_of_groups_counts():
    rows = [dict(prompt="a", completion=str(n), group_id=n % 2, reward=n) for n in range(4)]
    assert np.bincount(read(rows).rollouts.group).tolist() == [2, 2]


def test_several_prompts_with_the_same_value_in_a_column_of_groups_are_several_groups():
    rows = [dict(step=1, prompt=f"q{n // 4}", completion=str(n), reward=n % 2) for n in range(32)]
    found = read([row | dict(group="easy" if n < 16 else "hard") for n, row in enumerate(rows)])
    assert (
        found.rollouts.prompts == [f"q{n}" for n in range(8)] and np.bincount(found.rollouts.group).tolist() == [4] * 8
    )
    assert found.notes == [
        "The column “group” has the same value for several prompts, so completions count as one group only if their "
        "prompt is the same too."
    ]


@pytest.mark.parametrize("first", [1234567890123456700, float("nan")])
def test_numbers_that_cannot_be_told_apart_give_way_to_the_prompts(first):
    rows = [dict(step=1, prompt="ab"[n // 8], completion=str(n), reward=n % 2) for n in range(16)]
    found = read([row | dict(prompt_id=first + n // 8) for n, row in enumerate(rows)])
    assert found.rollouts.prompts == ["a", "b"] and np.bincount(found.rollouts.group).tolist() == [8, 8]
    assert found.notes == []


def test_a_chosen_column_is_not_guessed_for_another_role():
    assert other.roles(["input", "prompt", "output"], dict(completion="prompt")) == {
        "prompt": "input",
        "completion": "prompt",
    }


def test_a_row_may_hold_all_completions_of_a_prompt():
    rows = [dict(step=1, prompt=p, responses=[p + "b", p + "c"], rewards=[1, 0], level=n) for n, p in enumerate("xy")]
    one = read(rows).rollouts
    assert one.prompts == ["x", "y"] and one.completions == ["xb", "xc", "yb", "yc"]
    assert one.reward.tolist() == [1, 0, 1, 0] and one.scores["level"].tolist() == [0, 0, 1, 1]


CHAT = [{"role": "system", "content": "Add."}, {"role": "user", "content": "2+2="}]


@pytest.mark.parametrize("prompt, text", [(CHAT, "system: Add.\nuser: 2+2="), ([7, 8], "7 8")])
def test_the_parts_of_a_prompt_are_not_dealt_out_to_as_many_completions(prompt, text):
    one = read([dict(step=1, prompt=prompt, completions=["4", "5"], rewards=[1, 0])]).rollouts
    assert one.prompts == [text] and one.completions == ["4", "5"] and one.reward.tolist() == [1, 0]


def test_each_of_several_completions_may_have_its_own_prompt():
    rows = [
        dict(step=1, prompt=prompts, completions=["4", "2"], rewards=[1, 0]) for prompts in (["a", "b"], [CHAT] * 2)
    ]
    assert read(rows).rollouts.prompts == ["a", "b", "system: Add.\nuser: 2+2="]


def test_the_columns_to_choose_from_come_with_the_sentence():
    rows = [dict(step=1, q="a b", a="c d", reward=1)]
    for files in (rows, {"1.jsonl": rows, "notes.txt": "dear diary"}):
        with pytest.raises(rollouts.Unnamed) as fault:
            read(files)
        assert fault.value.columns == ["step", "q", "a", "reward"]


def test_without_any_number_there_is_nothing_to_be_paid_for():
    assert said([dict(step=1, prompt="a", completion="b", mark="good")]) == (
        "No column has numbers that could be a reward: the columns are “step”, “prompt”, “completion”, “mark”."
    )
