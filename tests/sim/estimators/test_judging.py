"""What a judge's labels lead to, against values worked out apart and the binomial."""

import numpy as np
import pytest

from sim.estimators import judging


def test_gold_of_endless_labels_falls_with_the_taste():
    # √8 (1/√(1+b²)) − 2 b²/(1+b²), of the specification
    said = (2.828427, 2.626330, 2.129822, 1.0, -0.335089)
    for b, gold in zip((0, 0.25, 0.5, 1, 2), said):
        assert judging.asymptote(b, 4) == pytest.approx(gold, abs=1e-6)


def test_at_a_taste_of_one_gold_peaks_at_four_nats_and_is_back_at_sixteen():
    # √kl − kl/4
    for kl, gold in zip((1, 2, 4, 8, 16), (0.75, 0.914214, 1.0, 0.828427, 0.0)):
        assert judging.asymptote(1, kl) == pytest.approx(gold, abs=1e-6)


def test_a_short_list_leaves_its_room_to_style():
    assert judging.asymptote(0.25, 4, 4) == pytest.approx(1.663396, abs=1e-6)
    assert judging.asymptote(0.5, 4, 2) == pytest.approx(0, abs=1e-9)
    assert judging.asymptote(0.5, 8, 2) == pytest.approx(-0.585786, abs=1e-6)
    assert judging.style_share(0.5, 8) == pytest.approx(0.2) and judging.style_share(0.5, 2) == pytest.approx(0.5)


def test_agreement_is_one_less_the_angle():
    assert judging.agreement(0.5) == pytest.approx(0.8524163823, abs=1e-9)
    assert judging.agreement(1) == pytest.approx(0.75, abs=1e-12)
    assert judging.agreement(0, 2) == pytest.approx(1 - np.arccos(0.5) / np.pi, abs=1e-12)  # two of eight: cos = 1/2


def test_condorcet_and_a_common_cause():
    # 0.7³ + 3·0.7²·0.3 = 0.784; the others by the same sum
    for K, right in ((3, 0.784), (5, 0.83692), (9, 0.90119134)):
        assert judging.majority(0.7, K) == pytest.approx(right, abs=1e-8)
    assert judging.common_cause(0.7, 9, 0.3) == pytest.approx(0.840833938, abs=1e-8)
    assert judging.common_cause(0.7, 9, 1) == 0.7


def test_revision_does_not_end_at_nothing_and_spoils_good_drafts():
    chain = (0.8, 0.1, 0.7, 0.2)
    # h' = 0.44 h + 0.02 (1 − h) = 0.42 h + 0.02
    assert judging.revised(0.4, *chain, 1) == pytest.approx(0.188, abs=1e-9)
    assert judging.revised(0.4, *chain, 4) == pytest.approx(0.045856544, abs=1e-9)
    assert judging.settled(*chain) == pytest.approx(0.0344827586, abs=1e-9)
    assert judging.revised(0.4, *chain, 60) == pytest.approx(judging.settled(*chain), abs=1e-12)
    assert 0.01 < judging.revised(0.01, *chain, 1) < judging.revised(0.01, *chain, 2) < judging.settled(*chain)
