"""M3: what its numbers are computed by, and what its sentences say without a number that is bound."""

from math import log

import pytest

from sim.lab import eight_actions, packs, pieces
from sim.lab.eight_actions import PAID, REF, WORTH

SAMPLES = sum(len(row) for row in packs.rollouts())
MERGES = len(packs.pack("bpe")["tokenizers"]["runs"]["merges"])


def effective(price):
    """The share of samples from the reference that count for the best policy at this price."""
    return 1 / (eight_actions.leashed(price) ** 2 / REF).sum()


def test_the_rarest_action_alone_is_as_far_away_as_its_share_is_small():
    assert -log(REF[7]) == pytest.approx(4.60517, abs=1e-5)  # ln 100
    assert eight_actions.outcome(eight_actions.leashed(0.005))[2] == pytest.approx(-log(REF[7]), abs=1e-3)


def test_the_effective_share_of_samples():
    # .9596 and .0519 are those of a prototype written apart; 16.6 of 320
    assert effective(1) == pytest.approx(0.9596, abs=5e-5) and effective(0.1) == pytest.approx(0.0519, abs=5e-5)


def test_pay_and_worth_differ_in_the_last_two_actions_most():
    apart = abs(PAID - WORTH)
    assert set(apart.argsort()[-2:]) == {6, 7} and apart[:6].max() < 0.06


def test_the_tokens_of_the_model_note():
    assert pieces.encode("Final: 323", "runs") == ["Final", ":", " 3", "23"]
    assert len(pieces.encode("Final: 324", "runs")) == 5
    assert len("Final: 323") == len("Final: 324") == 10
