"""Logs of DPO: named, read, and judged by more than their accuracy."""

import numpy as np
import pytest

from rlpt import doctor
from rlpt.doctor import words
from tests.rlpt.doctor import made, real_logs


def report(rows=60, **given):
    usual = {
        "reward": None,
        "reward_std": None,
        "rewards/margins": np.linspace(0, 2, rows),
        "rewards/accuracies": np.linspace(0.5, 1, rows),
        "logps/chosen": np.full(rows, -5.0),
        "loss": np.linspace(np.log(2), 0.3, rows),
    }
    return made.report(rows, **usual | given)


def test_a_log_of_dpo_is_named_and_its_facts_are_read():
    seen = report()
    assert words.kind(seen.found).endswith("of a DPO run") and seen.signs == ()
    said = " ".join(fact.says for fact in seen.facts)
    assert "The loss went from 0.693 in the first row" in said  # ln 2
    assert "The fraction of pairs that are ranked correctly went from 0.5 in the first row" in said


def test_accuracies_alone_are_a_log_of_dpo_too():
    """LLaMA-Factory's trainer_log.jsonl has no margins."""
    seen = report(**{"rewards/margins": None, "logps/chosen": None})
    assert words.kind(seen.found).endswith("of a DPO run") and seen.signs == ()
    assert "reward rose" not in words.lead(seen)


def test_a_policy_destroyed_at_once_is_seen_although_pairs_stand_in_order():
    seen = report(**{"logps/chosen": np.r_[-5.0, np.full(59, -20.0)], "rewards/accuracies": np.full(60, 0.78)})
    assert made.names(seen) == ["pairs destroyed"] and seen.first.step == 2


def test_chosen_answers_that_become_less_likely_later_are_another_sign():
    chosen = np.linspace(-5, -9, 60)
    seen = report(**{"logps/chosen": chosen})
    assert made.names(seen) == ["chosen less likely"]
    assert seen.first.step == pytest.approx(38, abs=1)  # −7.5: half of the beginning lower
    slowly = {"logps/chosen": np.linspace(-5, -7.4, 60)}
    assert made.names(report(**slowly, **{"rewards/margins": np.linspace(0, 2, 60)})) == ["chosen less likely"]
    assert report(**slowly, **{"rewards/margins": np.zeros(60)}).signs == ()
    assert report(**{"logps/chosen": np.linspace(-5, -5.4, 60)}).signs == ()


def test_pairs_that_are_ranked_as_by_a_coin_to_the_end():
    rng = np.random.default_rng(0)
    coin = {"rewards/accuracies": rng.binomial(16, 0.5, 60) / 16, "rewards/margins": rng.normal(0, 0.1, 60)}
    assert made.names(report(**coin)) == ["pairs undecided"]
    assert report(**coin | {"rewards/accuracies": rng.binomial(16, 0.6, 60) / 16}).signs == ()


def test_a_loss_that_jumps_in_a_few_rows_is_enough():
    jumps = report(8, **{"loss": [1.15, 2.1, 0.01, 3.95, 0.1, 1.2, 0.0, 2.0], "logps/chosen": None})
    assert made.names(jumps) == ["pairs destroyed"] and "3.95 at most" in jumps.first.says


def test_the_loss_alone_tells():
    assert made.names(report(loss=np.r_[np.full(30, 0.6), np.full(30, 1.1)])) == ["pairs destroyed"]
    assert report(loss=np.r_[np.full(30, 0.6), np.full(30, 1.0)]).signs == ()  # 1.5 ln 2 = 1.04


@pytest.mark.parametrize("name", ["dpo-healthy", "dpo-copy-healthy", "third-dpo"])
def test_real_logs_of_dpo_get_facts_and_no_sign(name):
    seen = doctor.report(real_logs.read(real_logs.text(name)))
    assert seen.found.of_preferences and seen.signs == () and len(seen.facts) >= 4


def test_a_loss_that_begins_above_ln_2_and_falls_is_another_loss():
    """ORPO's, or DPO's with a loss of the chosen answers added."""
    assert report(**{"loss": np.linspace(1.9, 1.2, 60)}).signs == ()
