"""Policies taught by labels, against quadrature, sampled comparisons and the closed form of endless labels."""

import numpy as np
import pytest

from sim.estimators import judging
from sim.experiments import feedback
from sim.worlds import judged_pairs
from sim.worlds.judged_pairs import STYLE, SURE, Judge, W
from sim.worlds.preferences import sigmoid

SEEDS = range(12)


def test_wins_of_endless_labels():
    # the specification's quadrature at 4 nats
    for b, wins in zip((0, 0.25, 0.5, 1, 2), (0.947, 0.930, 0.876, 0.701, 0.452)):
        assert feedback.wins(feedback.toward(b, 8, 4)) == pytest.approx(wins, abs=1e-3)
    assert feedback.wins(np.zeros(17)) == pytest.approx(0.5, abs=1e-9)


def test_wins_are_those_of_drawn_completions():
    mu, rng = feedback.toward(0.75, 6, 4), np.random.default_rng(0)
    own, start = rng.standard_normal((2, 100_000, 17))
    asked = sigmoid(SURE * (judged_pairs.gold(own + mu) - judged_pairs.gold(start)))
    assert feedback.wins(mu) == pytest.approx(asked.mean(), abs=4 * asked.std() / np.sqrt(len(asked)))


def test_the_policy_of_endless_labels_has_the_gold_of_the_closed_form():
    for b, m, kl in ((0.25, 8, 4), (0.5, 2, 8), (1.0, 8, 16)):
        mu = feedback.toward(b, m, kl)
        assert mu @ mu / 2 == pytest.approx(kl)
        # E gold(x + mu) − E gold(x): the linear part, and ks/2 (E (s + μ)² − 1) = ks/2 μ²
        assert W @ mu - 0.25 * mu[STYLE] ** 2 == pytest.approx(judging.asymptote(b, kl, m))


def test_labels_without_noise_lead_to_the_judge_s_own_direction():
    first, second = judged_pairs.pairs(4_000, np.random.default_rng(0))
    label = judged_pairs.verdict(judged_pairs.votes(Judge(0.5, 4, 0.2), first, second, np.random.default_rng(1)))
    mu, limit = feedback.trained(first, second, label, 4), feedback.toward(0.5, 4, 4)
    assert mu @ limit / 8 > 0.99 and mu @ mu == pytest.approx(8)


def test_no_label_moves_nothing():
    assert (feedback.trained(np.zeros((0, 17)), np.zeros((0, 17)), np.zeros(0, bool), 4) == 0).all()


def wins(kind, seeds=SEEDS, n=1000, kl=4, **knobs):
    if kind == "people":
        return np.array([feedback.of_people(n, seed, kl, **knobs).wins for seed in seeds])
    alike = knobs.pop("alike", False)
    return np.array([feedback.of_judge(n, seed, kl, alike, Judge(**knobs)).wins for seed in seeds])


@pytest.mark.slow
def test_a_thousand_labels_of_people_and_of_judges():
    # the specification: mean of 12 seeds, ± 0.02
    assert wins("people").mean() == pytest.approx(0.942, abs=0.02)
    for b, said in ((0.5, 0.874), (0.75, 0.791), (1.0, 0.704)):
        assert wins("judge", bias=b).mean() == pytest.approx(said, abs=0.02)


def test_how_often_people_and_judges_are_right():
    # the specification: of the labels of twelve seeds, ± 0.015
    assert feedback.errors_of_people().agreement == pytest.approx(0.735, abs=0.015)
    for b, said in ((0.5, 0.778), (0.75, 0.751), (1.0, 0.725)):
        assert feedback.errors_of_judge(Judge(b)).agreement == pytest.approx(said, abs=0.015)


def test_people_err_alike_everywhere_and_a_judge_where_the_worse_one_has_style():
    people, judge = feedback.errors_of_people().wrong, feedback.errors_of_judge(Judge(0.75)).wrong
    assert np.ptp(people) < 0.02 and people == pytest.approx([0.26] * 4, abs=0.02)
    assert judge[::-1] == pytest.approx([0.59, 0.28, 0.11, 0.04], abs=0.02)
    assert feedback.errors_of_judge(Judge(2.0)).wrong[::-1] == pytest.approx([0.92, 0.46, 0.06, 0.0], abs=0.025)


@pytest.mark.slow
def test_more_labels_cure_people_and_not_a_taste():
    assert wins("people", n=3000).mean() > wins("people", n=100).mean() + 0.05
    assert abs(wins("judge", bias=0.75, n=3000).mean() - wins("judge", bias=0.75, n=300).mean()) < 0.02


@pytest.mark.slow
def test_pairs_alike_in_style_teach_what_the_taste_would_spoil():
    assert wins("judge", bias=2.0).max() < 0.5 and wins("judge", bias=2.0, alike=True).min() > 0.93


def test_a_run_looks_after_every_draw():
    looks = list(feedback.run(Judge(), 4, False, 0.15, 1))
    assert [len(look.judge) for look in looks] == [1, 2, 3, 4, 5, 6]
    last = looks[-1]
    assert last.people.shape == last.judge.shape == last.style.shape == (6, len(feedback.SIZES))
    assert last.judge[2, 1] == feedback.of_judge(100, 8, 4, False, Judge()).wins
