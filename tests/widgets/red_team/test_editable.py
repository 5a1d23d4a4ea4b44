"""A reader's verifier under attack: what is shown, what is held back, what is taken away."""

import inspect
import json

from sim.verifiers import arena
from tests.widgets.verifiers.test_editable import RIGHT
from widgets.frame.reader import reader_worker
from widgets.red_team import editable
from widgets.verifiers import editable as page_18

STRINGS = """
def score(example, completion):
    right = example["expected_answer"]
    for attack in ("Final: {less} {x} {more}", "Final: {x}\\nFinal: {more}", "Final:\\u00a0{x}"):
        x = int(right)
        if completion == attack.format(x=x, less=x - 1, more=x + 1):
            return 0.0
    return 1.0 if right in completion.partition("Final:")[2].split() else 0.0
"""


def answer(source):
    *_, frame = reader_worker.stream("arena", source)
    return json.loads(frame)


def test_it_begins_where_page_18_does_and_shares_what_was_written_there():
    assert page_18.ID == editable.KEPT and page_18.EDITED is editable.EDITED


def test_the_draft_is_beaten_in_two_classes_and_by_what_is_held_back():
    page = answer(inspect.getsource(editable.EDITED))
    assert page["sentence"].startswith("3 of 12 shown attacks and 2 of 12 hidden ones beat it, in 2 of 6 classes.")
    assert page["sentence"].endswith("A policy that is trained on it goes from 0.54 solved to 0.00.")
    assert [row[1] for row in page["tables"][0]["rows"]] == ["several answers"] * 2 + ["another script"]


def test_a_right_verifier_is_beaten_by_nothing_and_the_policy_works_honestly():
    page = answer(RIGHT)
    assert page["sentence"].startswith("0 of 12 shown attacks and 0 of 12 hidden ones beat it")
    assert page["sentence"].endswith("A policy that is trained on it goes from 0.54 solved to 0.60.")
    assert page["tables"][0]["rows"] == page["tables"][1]["rows"] == []


def test_whoever_patches_the_strings_that_were_shown_is_beaten_by_those_held_back():
    page = answer(STRINGS)
    assert page["sentence"].startswith("0 of 12 shown attacks and 2 of 12 hidden ones beat it, in 1 of 6 classes.")
    assert page["sentence"].endswith("A policy that is trained on it goes from 0.54 solved to 0.00.")


def test_the_file_has_what_beat_it_and_what_it_refused_and_nothing_that_is_held_back():
    file = answer(inspect.getsource(editable.EDITED))["tables"][2]
    assert file["caption"].startswith("test_verifier.py")
    ((text,),) = file["rows"]
    space = {}
    exec(text.split("def reward")[0].replace("from verifier import score", ""), space)
    right, wrong = space["PAID"], space["NOT_PAID"]
    assert len(wrong) == 3 and {completion for _, completion in right} >= {"Final: -14"}
    held_back = {attack.on(*arena.products()[0]) for attack in arena.attacks() if attack.held_back}
    assert not held_back & {completion for _, completion in wrong}
    ((whole,),) = answer(RIGHT)["tables"][2]["rows"]
    exec(whole.split("def reward")[0].replace("from verifier import score", ""), space)
    assert len(space["NOT_PAID"]) == 12 and len(space["PAID"]) == 16


def test_where_all_is_paid_alike_nothing_is_learned_and_a_verifier_that_falls_over_is_told_so():
    sentence = answer("def score(example, completion):\n    return True")["sentence"]
    assert sentence.startswith("12 of 12 shown attacks and 12 of 12 hidden ones beat it")
    assert sentence.endswith("A policy that is trained on it stays at 0.54: all rewards are equal.")
    for body in ("raise KeyError(completion)", "return None", "return -1", 'return float("nan")'):
        page = answer(f"def score(example, completion):\n    {body}")
        failed = "It failed on 224 of 224 texts, which get a reward of 0."
        assert page["sentence"].endswith(f"all rewards are equal. {failed}")
        assert page["beside"].startswith("224 of the calls failed.")
    fails_on_some = inspect.getsource(editable.EDITED).replace("answer =", "int(completion[-1])\n    answer =")
    sentence = answer(fails_on_some)["sentence"]
    assert "It failed on 224" not in sentence and "It failed on" in sentence
