"""The names of three frameworks, as their sources spell them, and what is read out of them."""

import pytest

from rlpt import metric_names
from rlpt.metric_names import FRAMEWORKS, QUANTITIES, known

# copied by hand from the sources that the module names: TRL 1.16.0, verl 0.9.1, OpenRLHF 0.11.2
LOGGED = {
    "TRL": """reward reward_std frac_reward_zero_std entropy kl clip_ratio/region_mean cispo_clip_ratio grad_norm
        completions/mean_length sampling/sampling_logp_difference/mean completions/clipped_ratio learning_rate loss""",
    "verl": """critic/score/mean critic/score/max critic/score/min response_length/mean actor/entropy actor/kl_loss
        actor/reward_kl_penalty actor/pg_clipfrac actor/grad_norm rollout_corr/k3_kl
        training/rollout_probs_diff_mean response_length/clip_ratio actor/lr""",
    "OpenRLHF": """rollout/reward_mean rollout/reward_std rollout/response_length_mean kl entropy_loss ppo_clip_ratio
        actor_grad_norm group_reward_std vllm_kl rollout/truncated_rate actor_lr""",
}
# what a log also holds, and what must not be taken for one of these
OTHERS = """num_tokens epoch completions/max_length clip_ratio/low_mean actor/ppo_kl actor/pg_loss
    critic/advantages/mean rollout_corr/kl actor/entropy_loss eval_reward eval/reward eval_kl eval/entropy
    rollout/num_samples ppo_kl policy_loss response_length/max timing_s/step rewards/format/mean"""


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_each_name_of_the_sources_is_known_and_no_quantity_is_without(framework):
    names = LOGGED[framework].split()
    assert all(framework in known(name) for name in names)
    assert all(known(f"train/{name}").get(framework) == known(name)[framework] for name in names)
    quantities = {known(name)[framework][0] for name in names}
    not_logged = {"TRL": set(), "verl": {"zero_variance", "loss"}, "OpenRLHF": {"loss"}}
    assert quantities == set(QUANTITIES) - not_logged[framework]


def test_names_of_a_run_of_dpo_are_those_of_its_trainer():
    names = ["rewards/margins", "rewards/accuracies", "logps/chosen"]  # dpo_trainer.py
    assert [known(name)["TRL"][0] for name in names] == list(metric_names.PREFERENCES)


def test_other_columns_are_not_taken_for_one():
    assert [name for name in OTHERS.split() if known(name)] == []


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_whose_names_these_are(framework):
    names = LOGGED[framework].split()
    assert metric_names.framework([*names, *OTHERS.split()]) == framework
    assert metric_names.framework([f"train/{name}" for name in names]) == framework


def test_nobodys_names():
    assert metric_names.framework(["loss", "learning_rate", "accuracy"]) == ""


def test_a_name_as_a_file_of_tensorboard_spells_it():
    assert known("train_rollout_reward_mean") == known("rollout/reward_mean") != {}
    assert known("actor_pg_clipfrac") == known("actor/pg_clipfrac") != {}


def test_what_could_be_a_held_out_score():
    looks = metric_names.looks_held_out
    assert looks("eval_rewards/exact/mean", "TRL") and looks("eval/rewards/exact/mean", "TRL")
    assert looks("rewards/exact/mean", "TRL") and not looks("rewards/exact/std", "TRL")
    assert looks("val-core/math/acc/mean@8", "verl") and not looks("critic/score/mean", "verl")
    assert looks("val-core_math_acc_mean_8", "verl")
    assert looks("eval_math_pass1", "OpenRLHF") and looks("eval/eval_math_pass1", "OpenRLHF")
    assert not looks("eval_response_length_mean", "OpenRLHF")


def test_every_quantity_says_what_logs_it_in_each_framework():
    for quantity in (*QUANTITIES.values(), metric_names.HELD_OUT):
        assert set(quantity.columns) == set(quantity.logged_by) == set(FRAMEWORKS)
        assert all(bool(quantity.logged_by[each]) == bool(quantity.columns[each]) for each in FRAMEWORKS[:1])


def test_the_nearest_names():
    assert metric_names.nearest("actor/entropy", ["actor/entropies", "loss"]) == ["actor/entropies"]
