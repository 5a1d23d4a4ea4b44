"""What is read off a log, of one row and of many."""

import json

import numpy as np
import pytest

from rlpt import doctor, logs
from rlpt.doctor import words
from tests.rlpt.doctor import made


def facts(rows=40, updates=1, **given):
    found = doctor.report(made.log(rows, **given), updates=updates).facts
    return {fact.says: fact for fact in found}


def alarms(rows=40, **given):
    return [says for says, fact in facts(rows, **given).items() if fact.alarm]


def said(found, words):
    return next(fact for says, fact in found.items() if says.startswith(words))


def test_one_row_has_facts():
    assert "The reward is 0.2 in the one batch." in facts(1, entropy=[1.0])


def test_a_reward_that_never_changes_is_an_alarm_from_two_batches_on():
    assert "The reward is 0 in every batch." in alarms(2, reward=np.zeros(2), reward_std=np.zeros(2))
    assert alarms(1, reward=np.zeros(1), reward_std=np.full(1, 0.5)) == []
    assert said(facts(), "The reward went from 0.2 in the first batch to 0.746 at the end (lowest 0.2, highest 0.8).")


def test_since_when_every_completion_has_one_reward():
    spread = np.r_[np.full(20, 0.5), np.zeros(20)]
    reward = np.r_[np.linspace(0, 0.9, 20), np.ones(20)]
    (says,) = alarms(reward=reward, reward_std=spread)
    since = "From step 21 on, all completions of every batch get the same reward, 1."
    assert says == f"{since} The highest mean of a batch before that was 0.9."
    spread[31:] = 0.5  # nine batches are too few
    assert alarms(reward=reward, reward_std=spread) == []


def test_a_gradient_that_is_exactly_0():
    assert alarms(grad_norm=np.zeros(40)) == ["The gradient is exactly 0 in every row."]
    assert alarms(grad_norm=np.r_[np.ones(25), np.zeros(15)]) == [
        "From step 26 on, the gradient is exactly 0 in every row."
    ]
    mixed = np.where(np.arange(40) % 2, 0.0, 1.0)
    assert alarms(grad_norm=mixed) == ["The gradient is exactly 0 in 20 of 40 rows."]
    assert alarms(grad_norm=np.r_[0, np.ones(39)]) == []


def test_a_rate_that_moves_no_weight():
    assert alarms(learning_rate=np.full(40, 1e-12)) == ["The learning rate is never above 1e-12."]
    assert alarms(9, learning_rate=np.full(9, 0.0)) == []  # a warm-up may begin like this
    step = np.float32(0.02) - np.float32(1.2e-9 / 2)  # what the threshold stands for: less than a rounding
    assert step == np.float32(0.02)


def test_numbers_that_are_gone_are_a_fact_and_no_refusal():
    norm = [1.0, 1.0, None, None]
    rows = [{"step": n + 1, "reward": n / 3, "reward_std": 0.5, "grad_norm": g} for n, g in enumerate(norm)]
    seen = doctor.report(logs.read([("x", [json.dumps(rows).encode()])]))
    assert "“grad_norm” is NaN, null or infinite from step 3 on." in [fact.says for fact in seen.alarms]
    assert made.names(seen) == ["no number"] and seen.first.step == 3
    assert words.headline(seen) == "From step 3 on, the gradient norm is not a number."


def test_a_log_of_nothing_but_nan_has_its_fact():
    rows = [{"step": 1, "reward": None, "loss": None, "epoch": 1}]
    seen = doctor.report(logs.read([("x", [json.dumps(rows).encode()])]))
    assert "“reward” is NaN, null or infinite from step 1 on." in [fact.says for fact in seen.alarms]


def test_what_is_cut_off_and_how_long_completions_become():
    cut = {"completions/clipped_ratio": np.linspace(0, 0.5, 40)}
    assert alarms(**cut) == ["The fraction of completions that are cut off went from 0% to 46% (highest 50%)."]
    assert alarms(**{"completions/clipped_ratio": np.full(40, 0.19)}) == []
    longer = {"completions/mean_length": np.r_[np.full(30, 10.0), np.full(10, 20.0)]}
    assert alarms(**longer) == ["Completion length grew to 2 times its initial value, from 10 to 20 tokens."]


def test_a_reference_that_moves_along():
    still = dict(kl=np.zeros(40), grad_norm=np.ones(40))
    assert alarms(**still)[0].startswith("The KL is exactly 0 in every row, although gradients are not")
    assert alarms(1, kl=np.zeros(1), grad_norm=np.ones(1)) == []  # as before any first update


def test_the_weight_of_a_kl_that_is_all_of_the_loss_is_read_off():
    kl = np.random.default_rng(0).random(40)
    assert said(facts(loss=10.1 * kl, kl=kl), "The loss is 10.1 × the KL")
    noisy = 10.1 * kl + np.random.default_rng(1).normal(0, 3, 40)
    assert not [says for says in facts(loss=noisy, kl=kl) if says.startswith("The loss")]


def test_reward_weights_are_a_fact():
    a, b = np.random.default_rng(0).random((2, 40))
    found = facts(reward=a, **{"rewards/a/mean": a, "rewards/b/mean": b})
    assert said(found, "The reward is 1 × a + 0 × b. A score with weight 0 was logged, but not trained on.")
    assert said(found, "“rewards/b/mean”, a score that was not trained on,")


def test_a_clip_that_never_acts():
    still = {"clip_ratio/region_mean": np.zeros(40)}
    assert said(facts(updates=4, **still), "Nothing is clipped in 4 updates per batch").alarm
    assert not any(says.startswith("Nothing is clipped") for says in facts(**still))


def test_alarms_come_first():
    order = [fact.alarm for fact in made.report(grad_norm=np.zeros(40), entropy=np.ones(40)).facts]
    assert order == sorted(order, reverse=True)


@pytest.mark.parametrize("name", ["reward", "reward_std", "grad_norm", "kl", "entropy"])
def test_a_single_number_of_anything_is_no_fault(name):
    doctor.report(made.read(f"step,{name}\n3,0.5\n"))


def test_a_score_of_weight_0_is_named_only_where_there_is_one():
    a, b = np.linspace(0.2, 0.8, 40), np.linspace(0.5, 0.6, 40) + 0.01 * (-1) ** np.arange(40)
    report = made.report(40, reward=a + b, **{"rewards/a/mean": a, "rewards/b/mean": b})
    (says,) = (fact.says for fact in report.facts if fact.says.startswith("The reward is 1"))
    assert says == "The reward is 1 × a + 1 × b."
