import numpy as np
import pytest

from sim.estimators import reward_ensemble
from sim.experiments import many_reward_models
from sim.experiments.many_reward_models import ONE, OUT, SQUARES, STRAIGHT

FORTY = range(40)


def gold_and_wins(how, features, pairs, bias, seeds=FORTY, E=5):
    seen = [run.outcome for run in many_reward_models.run(how, features, pairs, bias, 8.0, E, 0.5, seeds)]
    return np.array([o.gold for o in seen]), np.array([o.wins for o in seen])


@pytest.mark.when_changed
@pytest.mark.parametrize(
    "how, mean, tenth", [(ONE, 1.78, 0.13), ("mean", 1.47, -0.97), ("lowest", None, 1.01), ("uncertainty", None, 1.30)]
)
def test_few_honest_pairs_pessimism_saves_the_unlucky_runs(how, mean, tenth):
    gold, _ = gold_and_wins(how, SQUARES, 30, 0.0)  # the specification's run of forty seeds
    assert np.quantile(gold, 0.1) == pytest.approx(tenth, abs=0.15)
    assert mean is None or gold.mean() == pytest.approx(mean, abs=0.15)


@pytest.mark.when_changed
@pytest.mark.parametrize(
    "how, mean, won, below",
    [(ONE, -1.13, 0.393, 1.0), ("lowest", -1.09, 0.398, 0.95), ("uncertainty", -1.04, 0.399, 0.9)],
)
def test_what_all_labelers_fall_for_passes_through(how, mean, won, below):
    gold, wins = gold_and_wins(how, STRAIGHT, 200, 1.0)  # the specification's run of forty seeds
    assert gold.mean() == pytest.approx(mean, abs=0.1) and wins.mean() == pytest.approx(won, abs=0.01)
    assert (gold < 0).mean() == pytest.approx(below, abs=0.051)


def test_without_length_eight_nats_are_worth_what_the_parabola_says():
    # a KL of 8 shifts the start by 4 along quality: 4 - 0.1 * 16 = 2.4
    gold, wins = gold_and_wins(OUT, STRAIGHT, 200, 1.0, range(3))
    np.testing.assert_allclose(gold, 2.4, atol=1e-3)
    np.testing.assert_allclose(wins, 0.827, atol=1e-3)


def test_a_straight_reward_reaches_the_distance_that_was_asked():
    for run in many_reward_models.run("lowest", STRAIGHT, 200, 0.0, 3.0, 5, 0.5, range(2)):
        assert run.outcome.kl == pytest.approx(3.0, abs=1e-3)


def test_models_that_are_the_same_are_made_into_themselves():
    one = many_reward_models.rewards(many_reward_models.fitted(ONE, STRAIGHT, 50, 0.0, 5, 0))
    three = np.repeat(one, 3, axis=0)
    for how in ("mean", "lowest", "uncertainty"):
        np.testing.assert_allclose(many_reward_models.made_into_one(three, how, 0.5), one[0], atol=1e-12)
    assert many_reward_models.all_agree(three, np.arange(100), np.arange(100, 200)) == 1


def test_a_model_without_length_pays_nothing_for_it():
    (theta,) = many_reward_models.fitted(OUT, SQUARES, 50, 1.0, 5, 0)
    assert theta[[1, 3, 4]].tolist() == [0, 0, 0] and theta[0] > 0
    assert (reward_ensemble.without_length(theta) == theta).all()


def test_members_that_see_the_same_labelers_agree_on_the_new_more_than_on_the_old():
    seen = list(many_reward_models.run("lowest", STRAIGHT, 200, 1.0, 8.0, 5, 0.5, range(3)))
    assert all(run.agree_policy > 0.99 > run.agree_start > 0.85 for run in seen)


def test_two_of_three_that_agree_are_not_all():
    paid = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 0.0]])
    assert many_reward_models.all_agree(paid, np.array([0]), np.array([1])) == 0
    assert many_reward_models.all_agree(paid[:2], np.array([0]), np.array([1])) == 1


def test_a_seed_is_the_same_run_again_and_another_is_not():
    once, again, other = (
        next(many_reward_models.run("lowest", STRAIGHT, 30, 0.0, 8.0, 5, 0.5, [seed])).outcome.wins
        for seed in (0, 0, 1)
    )
    assert once == again != other
