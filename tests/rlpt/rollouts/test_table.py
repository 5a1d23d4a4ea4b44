"""Rows become Rollouts: sorted, grouped, limited to whole steps, and with a sentence for whatever is left out."""

import numpy as np
import pytest

from rlpt.rollouts import Limit
from rlpt.rollouts.table import Row
from tests.rlpt.rollouts.made import batch, read, said, trl


def test_rows_are_sorted_by_step_and_group():
    one = read(batch(5, "ab") + batch(2, "ba")).rollouts
    assert one.step.tolist() == [2] * 4 + [5] * 4 and one.group.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert one.prompts == ["b", "a", "a", "b"]


def test_one_step_may_be_asked_for():
    rows = batch(1, "ab") + batch(2, "ab") + batch(3, "ab")
    assert read(rows, step=2).rollouts.step.tolist() == [2] * 4
    assert said(rows, step=7) == "No completions at step 7: the steps are 1, 2, 3."


@pytest.mark.parametrize("limit", [Limit(40, 10**9), Limit(10**9, 400)])
def test_beyond_the_limit_whole_steps_are_kept_evenly_spaced(limit):
    files = {f"{s}.jsonl": [trl(s, "p", f"{s:02d} {k:06d}", exact=k) for k in range(4)] for s in range(40)}
    found = read(files, limit=limit)  # 160 completions of 9 characters and one of the prompt
    assert found.rollouts.steps.tolist() == [*range(0, 40, 4)] and len(found.rollouts) == 40
    assert found.notes == [
        "The files hold 160 completions at 40 steps, too many to show. Read were 40 completions, at every 4th step."
    ]


def test_a_step_that_is_too_large_alone_is_refused():
    assert said(batch(1, "ab", K=8), limit=Limit(10, 10**6)).startswith("One step alone has more than 10 completions")


def test_a_file_that_is_given_twice_counts_once():
    rows = batch(1, "ab")
    found = read({"a.jsonl": rows, "copy of a.jsonl": rows})
    assert len(found.rollouts) == 4
    assert found.notes == ["Files left out because another file has the same completions of the same step: 1."]


def test_the_content_of_a_row_is_looked_at_once_however_many_files_there_are(monkeypatch):
    looked, content = [], Row.content.fget
    monkeypatch.setattr(Row, "content", property(lambda row: looked.append(row) or content(row)))
    rows = [dict(prompt="p", completion=str(n), reward=1) for n in range(40)]
    assert len(read({f"file {n} of 40.jsonl": [rows[n]] for n in range(40)}).rollouts) == len(looked) == 40


def test_the_files_of_several_processes_are_merged():
    one = read({"0.jsonl": batch(1, "ab"), "1.jsonl": batch(1, "cd")}).rollouts
    assert one.prompts == ["a", "b", "c", "d"] and one.step.tolist() == [1] * 8


def test_a_column_with_a_text_in_it_is_no_score():
    found = read([trl(kind=1, exact=1), trl(kind="hard", exact=True)])
    assert list(found.rollouts.scores) == ["exact"] and found.rollouts.scores["exact"].tolist() == [1, 1]
    assert found.notes == ["Columns left out, because they hold no scores: “kind”."]


@pytest.mark.parametrize("nothing", [None, float("nan"), float("inf")])
def test_a_column_without_any_number_is_no_score(nothing):
    found = read([trl(kl=nothing, exact=n, late=n or None) for n in range(2)])
    assert list(found.rollouts.scores) == ["exact", "late"] and found.columns["kl"] == "left out"
    assert found.notes == ["Columns left out, because they hold no scores: “kl”."]


def test_scores_keep_the_order_of_the_file():
    assert list(read([trl(zeta=1, alpha=2, mid=3)]).rollouts.scores) == ["zeta", "alpha", "mid"]


@pytest.mark.parametrize(
    "columns, tokens, cut",
    [
        (dict(n_tokens=12, ended=0), 12, True),
        (dict(completion_length=7, truncated=False), 7, False),
        (dict(response_length=9, finish_reason="length"), 9, True),
        (dict(num_tokens=3, terminated=True), 3, False),
    ],
)
def test_tokens_and_cut_are_known_by_the_names_of_columns(columns, tokens, cut):
    found = read([trl(exact=1, **columns)] * 2)
    assert found.rollouts.tokens.tolist() == [tokens] * 2 and found.rollouts.cut.tolist() == [cut] * 2
    assert list(found.rollouts.scores) == ["exact"]


def test_a_share_of_tokens_is_a_score():
    found = read([trl(completion_length=0.5), trl(completion_length=0.25)])
    assert found.rollouts.tokens is None and found.columns["completion_length"] == "score"


def test_counts_that_pile_up_at_the_maximum_were_cut_off():
    rows = [trl(1, "p", f"{n}", exact=1, n_tokens=min(n, 40)) for n in range(10, 60)]
    found = read(rows)
    assert np.flatnonzero(found.rollouts.cut).tolist() == [*range(30, 50)]
    assert found.notes == [
        "No column says which completions were cut off. 20 completions of exactly 40 tokens, the most there are, count "
        "as cut off."
    ]


def test_without_exact_counts_nothing_is_said_of_lengths():
    one = read([trl(1, "p", "x" * min(n, 40), exact=1) for n in range(10, 60)]).rollouts
    assert one.tokens is None and one.cut is None


def test_a_row_without_a_step_is_left_out_where_others_have_one():
    found = read([*batch(4, "ab"), trl(step=None)])
    assert found.rollouts.step.tolist() == [4] * 4
    assert found.notes == ["Left out, because they have no step: 1 completion."]
