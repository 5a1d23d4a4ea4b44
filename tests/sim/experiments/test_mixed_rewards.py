"""Two sources of reward, one loud answer, a price: what is paid, and what training makes of it over seeds."""

import numpy as np
import pytest

from sim.estimators import normalizers
from sim.estimators.normalizers import BATCH, GROUP, NONE, SOURCE
from sim.experiments import mixed_rewards
from sim.experiments.mixed_rewards import CHECKER, MODEL, MixedAdd
from sim.worlds import tasks

SEEDS = range(5)


class Row:
    """As much of a batch as is looked at to pay it."""

    def __init__(self, accuracy, example):
        self.accuracy, self.example = np.array(accuracy, float), np.array(example)


def test_each_source_pays_its_prompts_and_all_is_multiplied_at_last():
    batch = Row([1, 0, 1, 0], [12, 12, 13, 13])  # 1 + 2 by the checker, 1 + 3 by the model
    np.testing.assert_array_equal(MixedAdd().pay(batch), batch.accuracy)
    np.testing.assert_array_equal(MixedAdd(scale=30.0, c=0.1).pay(batch), [0.1, 0, 3, 0])


def test_noise_is_the_models_alone_and_on_its_scale():
    batch = Row(np.zeros(4000), np.repeat([12, 13], 2000))
    paid = MixedAdd(scale=10.0, noise=0.5).pay(batch)
    assert not paid[:2000].any() and paid[2000:].std() == pytest.approx(5, rel=0.05)


def test_one_answer_of_a_batch_is_paid_too_much_whichever_it_is():
    task, batch = MixedAdd(outlier=100.0, c=0.1), Row(np.zeros(128), np.full(128, 12))
    loud = []
    for _ in range(200):
        paid = task.pay(batch)
        assert (paid == 10).sum() == 1 and paid[task.loud] == 10
        loud.append(task.loud)
    assert len(set(loud)) > 80


def test_a_batch_has_as_many_prompts_of_each_source_the_checkers_first():
    prompts = MixedAdd().batch_prompts(16, np.random.default_rng(0))
    np.testing.assert_array_equal(mixed_rewards.source_of(prompts), [CHECKER] * 8 + [MODEL] * 8)


def test_the_halves_are_those_of_the_hundred_prompts():
    rates = tasks.exact_pass(tasks.checkpoint("add"))
    of_checker, of_model = mixed_rewards.halves(rates)
    assert of_checker == pytest.approx(rates[::2].mean()) and of_model == pytest.approx(rates[1::2].mean())


def first(over=BATCH, limit=np.inf, price=0.0, **task):
    return next(
        mixed_rewards.run(over, MixedAdd(**task), mixed_rewards.optimizer("AdamW"), limit=limit, price=price, updates=1)
    )


def test_the_loudest_of_a_batch_has_what_the_closed_form_allows():
    update = first(outlier=1e6)
    most = normalizers.loudest(128) * 7 / 8 / np.sqrt(127 / 128)  # less its group's mean, which has an eighth of it
    assert update.batch.advantage[update.loud, 0] == pytest.approx(most, rel=0.01)


def test_a_clip_ends_it_before_the_division():
    assert (
        abs(first(outlier=100.0, limit=1.0).batch.advantage).max() < 3 < abs(first(outlier=100.0).batch.advantage).max()
    )


def test_shares_by_divisor_in_the_first_batch():
    share = {over: first(over, scale=30.0).shares[CHECKER] for over in (NONE, BATCH, SOURCE, GROUP)}
    assert share[NONE] == pytest.approx(share[BATCH], rel=1e-9) and share[BATCH] < 0.01
    assert share[SOURCE] > 0.3 and share[GROUP] > 0.3


def ends(over=BATCH, optimizer="AdamW", limit=np.inf, price=0.0, **task):
    """(seeds, 2)"""
    found = []
    for seed in SEEDS:
        chosen = mixed_rewards.optimizer(optimizer)
        *_, last = mixed_rewards.run(
            over, MixedAdd(seed=seed, **task), chosen, limit=limit, price=price, seed=seed, every=100
        )
        found.append(last.right)
    return np.array(found)


@pytest.mark.when_changed()
def test_one_loud_answer_takes_the_run_below_its_start_and_a_clip_or_its_own_group_saves_it():
    start = tasks.exact_pass(tasks.checkpoint("add")).mean()
    lost, kept, heard_once = ends(outlier=100.0), ends(outlier=100.0, limit=1.0), ends(GROUP, outlier=100.0)
    assert (lost.mean(axis=1) < start).all()
    assert min(kept.mean(axis=1).min(), heard_once.mean(axis=1).min()) > 0.85


@pytest.mark.when_changed()
def test_the_smaller_scale_falls_behind_under_one_number_and_not_under_its_own():
    behind, level = ends(scale=30.0), ends(SOURCE, scale=30.0)
    assert (behind[:, MODEL] > behind[:, CHECKER] + 0.1).all()
    assert (level[:, CHECKER] > behind[:, CHECKER] + 0.1).all()


@pytest.mark.when_changed()
@pytest.mark.parametrize("optimizer", ["AdamW", "SGD"])
def test_a_hundredth_of_the_reward_beside_a_price_is_hardly_a_reward(optimizer):
    priced, free = (ends(optimizer=optimizer, c=0.01, price=price) for price in (0.04, 0.0004))
    assert (priced.mean(axis=1) < free.mean(axis=1) - 0.2).all()
