import numpy as np
import pytest

from sim.rollouts import marks
from tests.sim.rollouts.shipped import rollouts, small

PAID = [[1, 0, 1, 0], [1, 1, 0, 0]]


def with_score(name, score, reward=PAID):
    file = small(reward, reward=np.ravel(reward).astype(float))
    file.scores[name] = np.ravel(score).astype(float)
    return file


@pytest.mark.parametrize(
    "name, score, judged",
    [
        ("exact", [[0, 0, 1, 0], [0, 0, 0, 1]], True),  # by its name, whatever it says
        ("quality", [[1, 0, 1, 0], [1, 0, 0, 0]], True),  # goes with the reward
        ("tool_error", [[0, 1, 0, 1], [0, 0, 1, 0]], False),  # a flag that is 0 where all is well
        ("exact", [[0, 0, 7, 0], [0, 0, 0, 1]], False),  # no mark between 0 and 1
        ("similarity", [[0.9, 0.2, 0.8, 0.1], [0.7, 0.6, 0.3, 0.4]], False),  # graded: nothing is "correct"
        ("always", [[1, 1, 1, 1], [1, 1, 1, 1]], False),
    ],
)
def test_what_judges_an_answer(name, score, judged):
    assert marks.judge(with_score(name, score), [name]) == (name if judged else "")


def test_a_graded_score_that_goes_with_the_reward_is_good():
    file = with_score("gold_reward", np.ravel(PAID) * 3.0 - 1)
    file.scores["length_penalty"] = -np.ravel(PAID).astype(float)
    assert marks.good(file, ["length_penalty", "gold_reward"]) == ["gold_reward"]


def test_the_score_of_the_fooled_verifier_judges():
    assert marks.judge(rollouts("verifier"), ["exact"]) == "exact"
