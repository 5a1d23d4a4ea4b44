import numpy as np
import pytest

from sim.estimators import step_labels
from sim.estimators.step_labels import AGREE, ANY, MORE, PEOPLE, SHARE
from sim.experiments import step_scorer
from sim.worlds import step_chain


def best(rule, K, seeds=8, **setting):
    """Mean F1 at each scorer's own threshold."""
    found = [step_scorer.run(rule, K, seed=seed, **setting) for seed in range(seeds)]
    return float(np.mean([scorer.at(scorer.best).F1 for scorer in found]))


def at_half(rule, K):
    return step_scorer.run(rule, K).at(0.5).F1


def test_newton_finds_where_the_slope_is_nothing():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(300, 2)), np.ones((300, 1))], axis=1)
    y = (rng.random(300) < 1 / (1 + np.exp(-x @ np.array([1.0, -2.0, 0.5])))).astype(float)
    theta = step_scorer.trained(x, y)
    assert x.T @ (1 / (1 + np.exp(-x @ theta)) - y) + 1e-2 * theta == pytest.approx(np.zeros(3), abs=1e-9)


def test_first_errors_by_hand():
    soundness = np.array([[1, 1, 1], [1, 0, 1], [0, 0, 0], [1, 1, 1]], bool)
    prob = np.array([[0.9, 0.8, 0.7], [0.9, 0.3, 0.1], [0.9, 0.2, 0.1], [0.9, 0.4, 0.9]])
    found = step_scorer.first_errors(prob, soundness, 0.5)
    # of two flawed chains one first error is named, of two clean ones one passes
    assert (found.found, found.passed, found.F1) == (0.5, 0.5, 0.5)
    assert step_scorer.first_errors(prob, soundness, 0.0).F1 == 0


@pytest.mark.parametrize("rule, K, wanted", [(ANY, 2, 0.8), (ANY, 4, 0.6), (ANY, 16, 0.21), (MORE, 16, 0.76)])
def test_read_at_a_half_more_endings_make_any_worse(rule, K, wanted):
    assert at_half(rule, K) == pytest.approx(wanted, abs=0.06)


def test_labels_of_a_person_read_at_a_half():
    assert at_half(PEOPLE, 1) == pytest.approx(0.75, abs=0.06)


@pytest.mark.parametrize("K, wanted", [(1, 0.79), (2, 0.82), (4, 0.7), (8, 0.5), (16, 0.34)])
def test_any_of_many_has_lost_what_labels_should_say_at_every_threshold(K, wanted):
    assert best(ANY, K) == pytest.approx(wanted, abs=0.04)


def test_a_share_needs_its_own_threshold_alone():
    assert best(SHARE, 16) == pytest.approx(0.79, abs=0.04)
    assert step_scorer.run(SHARE, 16).at(0.5).F1 < 0.4


def apart(chains, seed):
    """How far two scorers of the same steps are apart, one trained on shares of one ending, one on those of sixteen."""
    one, sixteen = (step_scorer.run(SHARE, K, chains=chains, seed=seed).prob for K in (1, 16))
    return float(np.abs(one - sixteen).mean())


def test_shares_of_one_ending_teach_the_scorer_that_those_of_sixteen_do_unless_chains_are_few():
    assert max(apart(step_scorer.CHAINS, seed) for seed in range(4)) < 0.01
    assert np.mean([apart(5, seed) for seed in range(8)]) > 0.04


def test_of_flawed_steps_agreement_keeps_what_endings_and_person_say_alike():
    """Exact: a flawed step is kept where both call it bad, or both good."""
    V, p = step_chain.chain_values(rescue=0.2), step_labels.PERSON
    good = step_labels.any_rates(V[1:, 0], 16)
    flawed, share = [], 0.0
    for _ in good:
        share = share * (1 - 0.2) + (1 - share) * (1 - step_chain.SOUND)
        flawed.append(share)
    found = step_scorer.run(AGREE, 16, rescue=0.2)
    assert found.kept_flawed == pytest.approx(np.average(good * p + (1 - good) * (1 - p), weights=flawed), abs=0.02)
    assert step_scorer.run(ANY, 16, rescue=0.2).kept_flawed == 1


def test_a_person_beside_the_endings_saves_eight_of_them_and_not_sixteen():
    assert best(AGREE, 8) == pytest.approx(0.75, abs=0.04) and best(AGREE, 16) == pytest.approx(0.62, abs=0.04)


def test_a_stronger_completer_labels_worse_by_any_and_not_by_half():
    assert best(ANY, 4, 4, rescue=0.2) == pytest.approx(0.41, abs=0.05)
    assert best(MORE, 16, 4, rescue=0.2, part=0.5) == pytest.approx(0.77, abs=0.04)
    assert best(SHARE, 16, 4, rescue=0.2) == pytest.approx(0.8, abs=0.04)
