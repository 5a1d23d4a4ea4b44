import numpy as np

from sim.framework import record
from sim.framework.rollout import Batch
from sim.worlds import tasks
from sim.worlds.tinylm import CALL, EOS, FINAL, PAD, RESULT


def batch(**more):
    """Two completions of ? 7 =: one calls its tool, which writes two tokens, the other guesses."""
    tokens = np.array([[CALL, 7, RESULT, 3, FINAL, 3, EOS], [FINAL, 5, EOS, PAD, PAD, PAD, PAD]])
    own = np.array([[1, 1, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0]], float)
    return Batch(
        K=2,
        example=np.array([7, 7]),
        prompt=np.zeros((2, 4), int),
        tokens=tokens,
        valid_mask=(tokens != PAD).astype(float),
        response_mask=own,
        old_logp=-0.25 * own,
        finished=np.array([True, True]),
        version=np.array([12, 12]),
        **(dict(reward=np.array([1.0, 0.0]), advantage=np.array([[0.5], [-0.5]]) * own) | more),
        details=[dict(reason="ok"), dict(reason="wrong_value")],
    )


def test_a_line_a_token_with_what_each_role_wrote():
    first, head, *rows, last = record.lines(batch(ref_logp=np.full((2, 7), -0.75)), 0, tasks.Lookup())
    assert (
        first == "completion 1 of 2 for the prompt '?7=', sampled by version 12 of the weights, ended by its stop token"
    )
    assert head.split() == ["t", "token", "log-prob", "reference", "mask", "advantage"]
    assert [row.split() for row in rows] == [
        ["0", "<call>", "-0.2500", "-0.7500", "1", "0.5000"],
        ["1", "7", "-0.2500", "-0.7500", "1", "0.5000"],
        ["2", "<result>", "0"],  # the tool's: neither a log-prob nor an advantage
        ["3", "3", "0"],
        ["4", "Final:", "-0.2500", "-0.7500", "1", "0.5000"],
        ["5", "3", "-0.2500", "-0.7500", "1", "0.5000"],
        ["6", "<eos>", "-0.2500", "-0.7500", "1", "0.5000"],
    ]
    assert last == "reward 1: ok"


def test_padding_has_no_line_and_without_a_reference_its_column_is_empty():
    _, _, *rows, last = record.lines(batch(), 1, tasks.Lookup())
    assert [row.split() for row in rows] == [
        [str(t), token, "-0.2500", "1", "-0.5000"] for t, token in enumerate(["Final:", "5", "<eos>"])
    ]
    assert last == "reward 0: wrong_value"


def test_the_completion_shown_has_tokens_of_the_tool_if_any_and_is_pushed():
    assert record.telling(batch()) == 0
    assert record.telling(batch().rows([1, 0])) == 1
    level = batch(advantage=np.zeros((2, 7)))
    assert record.telling(level) == 0
    pushed = level.rows([1, 1])
    pushed.advantage[1, 0] = 1
    assert record.telling(pushed) == 1
    guess_first = level.rows([1, 0])
    guess_first.advantage[0, 0] = 1
    assert record.telling(guess_first) == 1  # of the tool, though it is not pushed
