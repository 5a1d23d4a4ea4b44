"""What the model reads and is shown: shares, and how often a perfect imitator would be right."""

import numpy as np
import pytest

from sim.pipeline import corpus
from sim.worlds.scorer import score
from sim.worlds.tasks import HELD, TRAIN, Chain
from sim.worlds.tinylm import EOS, EQUALS, FINAL, HMM, PAD, PLUS, decode

N = 20_000
SPREAD = 4 * (0.25 / N) ** 0.5  # four standard errors of a share


def right(example, tokens):
    """Which of these completions pass."""
    task, mask = Chain(), (tokens != PAD).astype(float)
    answers = task.answers(tokens, mask, (tokens == EOS).any(axis=1))
    return np.array([score(task.examples[e], answer)["reward"] for e, answer in zip(example.tolist(), answers)])


@pytest.fixture(scope="module")
def example():
    return np.random.default_rng(1).choice(TRAIN, N)


def test_four_of_five_documents_are_running_totals_and_none_answers(example):
    tokens = corpus.documents(example, np.random.default_rng(2))
    first = tokens[:, 0]
    shares = [(first < 10).mean(), (first == EQUALS).mean(), (first == HMM).mean(), (first == PLUS).mean()]
    assert shares == pytest.approx([0.80, 0.07, 0.07, 0.06], abs=SPREAD)
    assert not (tokens == FINAL).any()
    assert decode(tokens[first < 10][0][:4].tolist())[3:] == "<eos>"


def test_a_rare_document_is_a_worked_answer_and_right(example):
    tokens = corpus.documents(example, np.random.default_rng(2), rare=0.1)
    worked = (tokens == FINAL).any(axis=1)
    assert worked.mean() == pytest.approx(0.1, abs=SPREAD)
    assert right(example[worked], tokens[worked]).all()


def test_random_digits_are_one_to_five_and_end(example):
    tokens = corpus.documents(example, np.random.default_rng(2))
    noise = tokens[tokens[:, 0] == PLUS]
    digits = (noise[:, 1:] < 10).sum(axis=1)
    assert set(digits.tolist()) == {1, 2, 3, 4, 5}
    assert (noise[np.arange(len(noise)), digits + 1] == EOS).all()


def test_direct_demonstrations_are_all_right(example):
    tokens = corpus.direct(example)
    assert right(example, tokens).all() and ((tokens != PAD).sum(axis=1) == 3).all()


def test_a_perfect_imitator_of_the_thoughts_is_right_seven_times_in_ten(example):
    """.5 right thoughts and .2 right answers alone; a slip is never right: (x + by) mod 10 is not x for by 1 to 9."""
    tokens = corpus.thoughts(example, np.random.default_rng(3))
    assert right(example, tokens).mean() == pytest.approx(0.70, abs=SPREAD)
    assert (tokens[:, 0] == FINAL).mean() == pytest.approx(0.2, abs=SPREAD)
    assert (tokens == HMM).all(axis=1).mean() == pytest.approx(0.1, abs=SPREAD)


@pytest.mark.parametrize("mix, share", [((1, 0, 0, 0), 1), ((0, 1, 0, 0), 0), ((0, 0, 1, 0), 1), ((0, 0, 0, 1), 0)])
def test_each_kind_is_always_or_never_right(example, mix, share):
    assert right(example[:500], corpus.thoughts(example[:500], np.random.default_rng(3), mix)).mean() == share


def test_a_slip_is_carried_on_and_the_answer_copies_the_last_total():
    example = np.full(2000, HELD[3])  # 5388, whose totals are 8 6 4
    tokens = corpus.thoughts(example, np.random.default_rng(0), (0, 1, 0, 0))
    off = (tokens[:, :3] - np.array([8, 6, 4])) % 10
    assert (tokens[:, 4] == tokens[:, 2]).all() and (off[:, 2] > 0).all()
    assert ((off == 0) | (off == off[:, 2:])).all()
    assert [(off[:, t] > 0).mean() for t in range(3)] == pytest.approx([1 / 3, 2 / 3, 1], abs=0.05)
