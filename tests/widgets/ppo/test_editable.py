"""The rule that readers begin with loses the prompt; PPO's keeps it, and a wider clip does a little better here."""

import inspect
import json

import numpy as np
import pytest

from sim.experiments import rare_token
from widgets.frame.reader import reader_worker
from widgets.ppo import editable

WIDE = """def factor(ratio, advantage):
    outside = (advantage > 0 and ratio > 1.5) or (advantage < 0 and ratio < 0.5)
    return 0.0 if outside else ratio
"""


def answer(source):
    *_, frame = reader_worker.stream("rule", source)
    return json.loads(frame)


def test_the_reader_begins_with_the_ratio_alone_and_loses_the_prompt():
    frame = answer(inspect.getsource(editable.factor))
    lost = "The prompt is lost, because at a sum of 5 the policy now stops 0 times in 100."
    assert frame["sentence"].startswith(lost)
    rows = frame["tables"][0]["rows"]
    assert len(rows) == 8 and {reward for _, reward in rows} == {"0"}


@pytest.mark.parametrize("rule, eps", [(editable.factor, np.inf), (editable.clip, 0.2)])
def test_the_rules_are_the_two_settings_of_the_opening(rule, eps):
    right, stop, written, _ = editable.called(rule)
    story = rare_token.passes(eps)
    np.testing.assert_allclose(right, story.pass_rate, atol=1e-9)
    np.testing.assert_allclose(stop, story.stop, atol=1e-9)
    assert written == story.written[-1]


def test_a_rule_that_does_better_is_told_so_and_why():
    assert answer(WIDE)["sentence"].startswith(
        "You beat ours on this batch: at a sum of 5 the policy now stops 97 times in 100."
    )


def test_a_rule_that_returns_no_number_is_refused_with_its_line():
    frame = answer("def factor(ratio, advantage):\n    return 'much'\n")
    assert frame["refused"].endswith("'much', and a factor is a number.")
