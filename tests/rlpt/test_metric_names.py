"""The names of seven frameworks, as their sources spell them, and what is read out of them."""

import pytest

from rlpt import metric_names
from rlpt.metric_names import FRAMEWORKS, QUANTITIES, known

# copied by hand from the sources that the module names
LOGGED = {
    "TRL": """reward reward_std frac_reward_zero_std entropy kl clip_ratio/region_mean cispo_clip_ratio grad_norm
        completions/mean_length sampling/sampling_logp_difference/mean completions/clipped_ratio learning_rate loss""",
    "verl": """critic/score/mean critic/score/max critic/score/min response_length/mean actor/entropy actor/kl_loss
        actor/reward_kl_penalty actor/pg_clipfrac actor/grad_norm rollout_corr/k3_kl
        training/rollout_probs_diff_mean response_length/clip_ratio actor/lr""",
    "OpenRLHF": """rollout/reward_mean rollout/reward_std rollout/response_length_mean kl entropy_loss ppo_clip_ratio
        actor_grad_norm group_reward_std vllm_kl rollout/truncated_rate actor_lr""",
    "NeMo RL": """reward loss lr grad_norm gen_kl_error kl_penalty approx_entropy mean_gen_tokens_per_sample
        truncation_rate baseline_reward/pct_mixed""",
    "prime-rl": """reward/all/mean seq_len/all/mean is_truncated/all/mean effective_batch_size/all entropy/all/mean
        mismatch_kl/all/mean optim/grad_norm optim/lr loss/mean""",
    "open-instruct": """scores val/sequence_lengths val/stop_rate real_batch_size_ratio objective/kl2_avg lr
        policy/entropy_avg policy/clipfrac_avg optim/grad_norm""",
    "LLaMA-Factory": "reward accuracy lr loss",
}
NOT_LOGGED = {
    "TRL": set(),
    "verl": {"zero_variance", "loss"},
    "OpenRLHF": {"loss"},
    "NeMo RL": {"reward_sd", "clip_fraction"},
    "prime-rl": {"reward_sd", "kl", "clip_fraction"},
    "open-instruct": {"reward_sd", "gap", "loss"},
    "LLaMA-Factory": set(QUANTITIES) - {"reward", "learning_rate", "loss"},
}
OLDER = {  # of 2025, and of a bar of progress
    "TRL": "completion_length clip_ratio",
    "verl": "actor/entropy_loss",
    "OpenRLHF": "gen_len glen rm act_lr ent_loss",
}
# what a log also holds, and what must not be taken for one of these
OTHERS = """num_tokens epoch completions/max_length clip_ratio/low_mean actor/ppo_kl actor/pg_loss
    critic/advantages/mean rollout_corr/kl eval_reward eval/reward eval_kl eval/entropy
    rollout/num_samples ppo_kl policy_loss response_length/max timing_s/step rewards/format/mean"""


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_each_name_of_the_sources_is_known_and_no_quantity_is_without(framework):
    names = LOGGED[framework].split()
    assert all(framework in known(name) for name in names)
    assert all(known(f"train/{name}").get(framework) == known(name)[framework] for name in names)
    quantities = {known(name)[framework][0] for name in names} & set(QUANTITIES)
    assert quantities == set(QUANTITIES) - NOT_LOGGED[framework]


def test_older_names_come_after_those_of_the_release():
    for framework, names in OLDER.items():
        assert all(known(name)[framework][2] > 0 for name in names.split())


def test_names_of_a_run_of_dpo_are_those_of_its_trainer():
    names = ["rewards/margins", "rewards/accuracies", "logps/chosen"]  # dpo_trainer.py
    assert [known(name)["TRL"][0] for name in names] == list(metric_names.PREFERENCES)


def test_other_columns_are_not_taken_for_one():
    assert [name for name in OTHERS.split() if known(name)] == []


@pytest.mark.parametrize("framework", FRAMEWORKS[:-1])  # the last is told by its format
def test_whose_names_these_are(framework):
    names = LOGGED[framework].split()
    assert metric_names.framework([*names, *OTHERS.split()]) == framework
    assert metric_names.framework([f"train/{name}" for name in names]) == framework


def test_nobodys_names():
    assert metric_names.framework(["loss", "learning_rate", "epoch"]) == ""


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


def test_every_quantity_of_a_framework_says_what_logs_it():
    for framework in FRAMEWORKS:
        logged = metric_names.LOGGED_BY[framework].keys() & set(QUANTITIES)
        assert logged == metric_names.NAMES[framework].keys() & set(QUANTITIES)
    assert set(metric_names.HELD_OUT) == {f for f in FRAMEWORKS if "held_out" in metric_names.LOGGED_BY[f]}


@pytest.mark.parametrize(
    "name, quantity",
    [
        *(
            ("reward_mean", "reward"),
            ("my/avg_score", "reward"),
            ("reward_stddev", "reward_sd"),
            ("mean_length", "length"),
        ),
        *(("clipped_ratio", "cut_off"), ("truncated_frac", "cut_off"), ("kl_div", "kl"), ("policy_entropy", "entropy")),
        *(("total_grad_norm", "gradient_norm"), ("lr", "learning_rate"), ("eval_reward", ""), ("reward_max", "")),
        *(("avg_return", "reward"), ("resp_tokens", "length"), ("num_tokens", ""), ("tokens_per_second", "")),
        *(("format_reward", ""), ("prompt_length", ""), ("kl_coef", ""), ("wall_time", ""), ("word", "")),
    ],
)
def test_what_a_name_of_ones_own_seems_to_mean(name, quantity):
    assert metric_names.guessed(name) == quantity


def test_the_nearest_names():
    assert metric_names.nearest("actor/entropy", ["actor/entropies", "loss"]) == ["actor/entropies"]
