import re

import pytest

from rlpt import options
from sim.algorithms import dapo, grpo, ppo, reinforce, rloo
from sim.algorithms.names import FILES
from sim.algorithms.recipes import NAMED
from sim.experiments import mismatch

# {place in the release: {name: default}} of every name that may be written, as read in the sources of TRL 1.16.0, verl
# 0.9.1 and OpenRLHF 0.11.2; "absent" is a key that verl's file does not have, which is added to it by a plus.
READ = {
    "GRPOConfig": {
        "trl/trainer/grpo_config.py": dict(
            num_generations=8,
            max_completion_length=512,
            num_iterations=1,
            beta=0.0,
            epsilon=0.2,
            epsilon_high=None,
            delta=None,
            importance_sampling_level="token",
            scale_rewards="group",
            loss_type="dapo",
            use_bias_correction_kl=True,
            entropy_coef=0.0,
            use_vllm=False,
            vllm_importance_sampling_correction=True,
            vllm_importance_sampling_mode="sequence_mask",
            vllm_importance_sampling_clip_min=None,
            vllm_importance_sampling_clip_max=3.0,
            off_policy_mask_threshold=None,
        ),
        "transformers/training_args.py": dict(per_device_train_batch_size=8),
    },
    "RLOOConfig": {
        "trl/trainer/rloo_config.py": dict(
            num_generations=2,
            max_completion_length=512,
            num_iterations=1,
            beta=0.05,
            epsilon=0.2,
            epsilon_high=None,
            normalize_advantages=False,
        ),
        "transformers/training_args.py": dict(per_device_train_batch_size=8),
    },
    "DPOConfig": {"trl/trainer/dpo_config.py": dict(loss_type=["sigmoid"], beta=0.1, label_smoothing=0.0)},
    "KTOConfig": {"trl/trainer/kto_config.py": dict(loss_type="kto", beta=0.1)},
    "CPOConfig": {
        "trl/experimental/cpo/cpo_config.py": dict(loss_type="sigmoid", beta=0.1, cpo_alpha=1.0, simpo_gamma=0.5)
    },
    "DistillationConfig": {
        "trl/trainer/distillation_config.py": dict(beta=1.0),
        "transformers/training_args.py": dict(per_device_train_batch_size=8),
    },
    "ORPOConfig": {"trl/experimental/orpo/orpo_config.py": dict(beta=0.1)},
    "verl": {
        "verl/trainer/config/ppo_trainer.yaml": {
            "algorithm.adv_estimator": "gae",
            "algorithm.norm_adv_by_std_in_grpo": True,
            "algorithm.lam": 1.0,
            "algorithm.use_kl_in_reward": False,
            "algorithm.kl_ctrl.kl_coef": 0.001,
            "algorithm.filter_groups.enable": False,
            "algorithm.filter_groups.metric": "reward",
        },
        "verl/trainer/config/actor/actor.yaml": {
            "actor_rollout_ref.actor.ppo_mini_batch_size": 256,
            "actor_rollout_ref.actor.ppo_epochs": 1,
            "actor_rollout_ref.actor.policy_loss.loss_mode": "vanilla",
            "actor_rollout_ref.actor.clip_ratio_low": 0.2,
            "actor_rollout_ref.actor.clip_ratio_high": 0.2,
            "actor_rollout_ref.actor.clip_ratio_c": 3.0,
            "actor_rollout_ref.actor.loss_agg_mode": "token-mean",
            "actor_rollout_ref.actor.use_kl_loss": False,
            "actor_rollout_ref.actor.kl_loss_coef": 0.001,
            "actor_rollout_ref.actor.kl_loss_type": "low_var_kl",
            "actor_rollout_ref.actor.entropy_coeff": 0,
        },
        "verl/trainer/config/algorithm/rollout_correction.yaml": {
            "algorithm.rollout_correction.bypass_mode": False,
            "algorithm.rollout_correction.loss_type": "ppo_clip",
            "algorithm.rollout_correction.rollout_is": None,
            "algorithm.rollout_correction.rollout_is_threshold": 2.0,
            "algorithm.rollout_correction.rollout_rs": None,
            "algorithm.rollout_correction.rollout_rs_threshold": None,
        },
        "verl/trainer/config/distillation/distillation.yaml": {
            "distillation.enabled": False,
            "distillation.distillation_loss.loss_mode": "k3",
            "distillation.distillation_loss.topk": 32,
            "distillation.distillation_loss.use_task_rewards": True,
            "distillation.distillation_loss.use_policy_gradient": False,
        },
        "verl/trainer/config/rollout/rollout.yaml": {"actor_rollout_ref.rollout.n": 1},
        "verl/trainer/config/data/legacy_data.yaml": {"data.train_batch_size": 1024, "data.max_response_length": 512},
        "verl/trainer/config/reward/reward.yaml": {"reward.reward_manager.name": "naive"},
        "verl/experimental/reward_loop/reward_manager/dapo.py": {
            "reward.reward_kwargs.overlong_buffer_cfg.enable": "absent",
            "reward.reward_kwargs.overlong_buffer_cfg.len": "absent",
            "reward.reward_kwargs.overlong_buffer_cfg.penalty_factor": "absent",
            "reward.reward_kwargs.overlong_buffer_cfg.log": "absent",
            "reward.reward_kwargs.max_resp_len": "absent",
        },
    },
    "OpenRLHF": {
        "openrlhf/cli/train_ppo_ray.py": {
            "--algo.advantage.estimator": "gae",
            "--algo.advantage.no_std_norm": False,
            "--algo.advantage.lambd": 1,
            "--rollout.n_samples_per_prompt": 1,
            "--rollout.batch_size": 1024,
            "--rollout.max_new_tokens": None,
            "--train.batch_size": 128,
            "--train.max_epochs": 1,
            "--actor.policy_loss_type": "ppo",
            "--actor.eps_clip_low_high": None,  # both 0.2, by --actor.eps_clip
            "--actor.dual_clip": None,
            "--actor.loss_agg_mode": "token-mean",
            "--actor.entropy_coef": None,
            "--algo.advantage.is_correction_level": "off",
            "--algo.advantage.is_correction_mode": "mask",
            "--algo.advantage.is_correction_threshold": (0.5, 5.0),
            "--algo.kl.init_coef": 0.01,
            "--algo.kl.use_loss": False,
            "--algo.kl.estimator": "k1",
            "--algo.kl.unbiased_gradient": False,
            "--algo.dynamic_filtering_enable": False,
            "--algo.dynamic_filtering_range": (0, 1),
            "--reward.overlong_buffer_len": None,
            "--reward.overlong_penalty_factor": 1,
        },
        "openrlhf/cli/train_dpo.py": {"--model.beta": 0.1, "--model.ipo_enable": False},
    },
}
# the same of names that no export writes and a diagnosis may tell to change, each read in the release that VERSIONS of
# rlpt/metric_names.py names
TRAINING = {"learning_rate", "lr_scheduler_type", "max_steps", "gradient_accumulation_steps"}
OF_TRL = {"transformers/training_args.py": TRAINING}
OF_GRPO = OF_TRL | {"trl/trainer/grpo_config.py": {"beta", "log_completions", "reward_weights"}}
ADVISED = {
    "GRPOConfig": OF_GRPO,
    "RLOOConfig": OF_GRPO,  # trl/trainer/rloo_config.py
    "DPOConfig": OF_TRL | {"trl/trainer/dpo_config.py": {"beta"}},
    "verl": {
        "verl/trainer/config/ppo_trainer.yaml": {"trainer.total_training_steps", "trainer.rollout_data_dir"},
        "verl/trainer/config/data/legacy_data.yaml": {"data.train_batch_size"},
        "verl/trainer/config/actor/actor.yaml": {
            "actor_rollout_ref.actor.optim.lr",
            "actor_rollout_ref.actor.kl_loss_coef",
        },
    },
    "OpenRLHF": {"openrlhf/cli/train_ppo_ray.py": {"--actor.adam.lr", "--rollout.batch_size", "--algo.kl.init_coef"}},
    "NeMo RL": {
        "examples/configs/grpo_math_1B.yaml": {
            "grpo.max_num_steps",
            "grpo.num_generations_per_prompt",
            "grpo.num_prompts_per_step",
            "grpo.use_dynamic_sampling",
            "loss_fn.reference_policy_kl_penalty",
            "policy.generation.max_new_tokens",
            "policy.optimizer.kwargs.lr",
        }
    },
    "prime-rl": {
        "configs/orchestrator.py": {"--orchestrator.batch_size", "--orchestrator.group_size", "--max_steps"},
        "configs/trainer.py": {"--trainer.optim.lr"},
    },
    "open-instruct": {
        "open_instruct/data_loader.py": {
            "--active_sampling",
            "--num_samples_per_prompt_rollout",
            "--num_unique_prompts_rollout",
            "--response_length",
        },
        "open_instruct/grpo_utils.py": {"--beta", "--learning_rate", "--num_epochs"},
    },
    "LLaMA-Factory": OF_TRL,
}
UNWRITTEN = ("rate", "schedule", "steps", "batch", "penalty", "weights", "shown")  # rows that no export writes
# {column: {quantity: {value: the default that makes an empty option the right one, or what else is meant by it}}}
SILENT = {
    "GRPOConfig": {"filter", "overlong", "deviation", "added"},  # it has none of the first two; torch's sample's, 1e-4
    "RLOOConfig": {"surrogate", "aggregation", "filter", "overlong"},  # the ratio of a whole completion, and its sum
    "ORPOConfig": {"pairs"},
    "DistillationConfig": {"samples"},  # it draws one
    "verl": {"overlong", "centered", "deviation", "added"},
    "OpenRLHF": {"dual_clip", "filter", "overlong", "pairs", "deviation", "added"},  # off, off, none, DPO
}
MORE = dict(samples=8, prompts=4, completion=12)
UNCLIPPED = dict(surrogate=None, clip=None, dual_clip=None)
SETTINGS = [
    *(options.setting(file, **MORE) for file in FILES.values()),
    *(options.setting(r.file, r.hyper, r.hooks, **MORE) for r in NAMED.values()),
    options.setting(dapo, **MORE, filter="reward"),
    options.setting(ppo, **MORE) | dict(clip="off", dual_clip=3.0),
    options.setting(grpo, **MORE) | dict(dual_clip=3.0, added=1e-6, deviation="sample"),
    options.setting(rloo, **MORE) | dict(surrogate="per completion", clip=(0.2, 0.2)),
    options.setting(reinforce, estimator="minus the batch's mean", **MORE),
    *(dict(pairs=name, price=0.4) for name in ("sigmoid", "ipo", "hinge", "bco_pair", "apo_zero", "sigmoid_norm")),
    dict(pairs="robust", price=0.4, flipped=0.1),
    dict(pairs="kto", price=0.4),
    dict(pairs="simpo", price=10.0, margin=0.5),
    dict(pairs="orpo", price=0.1),
    options.setting(grpo, **MORE) | dict(bonus=0.1),
    *(options.setting(grpo, **MORE, **UNCLIPPED, correction=way) for way in mismatch.WAYS),
    *(options.setting(grpo, **MORE, **UNCLIPPED, correction=way + options.EACH_PASS) for way in mismatch.WAYS),
    *(dict(sent=f"all logits, {way}", samples=1, prompts=32) for way in ("reverse", "JSD", "forward")),
    *(dict(sent=f"drawn token, {way}", samples=1, prompts=32) for way in ("as advantage", "differentiated")),
    dict(sent="likeliest k", k=5, samples=4, prompts=32),
]


def written(program, setting):
    return options.texts(setting)[f"{program} {options.VERSIONS[program]}"]


def names(program, text):
    """{column: names of options} in a text, without values, notes and the command."""
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    if program == "TRL":
        found = re.match(r"(\w+)\(", text)
        return {found[1]: set(re.findall(r"\b([a-z_]+)=", text))} if found else {}
    form = {"verl": r"(?<=[\s+])([a-z][\w.]*)=", "OpenRLHF": r"(?<=\s)(--[a-z][\w.-]*)"}[program]
    return {program: set(re.findall(form, text))}


def recorded(column):
    return {name for place in READ[column].values() for name in place}


def test_no_option_is_written_that_was_not_read_in_the_release_and_each_is_written_somewhere():
    seen = {column: set() for column in READ}
    for program in options.PROGRAMS:
        for setting in SETTINGS:
            for column, found in names(program, written(program, setting)).items():
                seen[column] |= found
    assert seen == {column: recorded(column) for column in READ}


def test_no_option_is_advised_that_was_not_read_in_the_release():
    exported = {*READ, "TRL"}
    found = {}
    for quantity, (_, by_program) in options.TABLE.items():
        for column, form in by_program.items():
            if quantity in UNWRITTEN or column not in exported:
                texts = form.values() if isinstance(form, dict) else [form]
                words = {re.split(r"[=:]? ?(?:=|\{|\"|$)", each.split(" ")[0].strip(":"))[0] for each in texts}
                found.setdefault(column, set()).update(words)
    assert found == {column: set().union(*places.values()) for column, places in ADVISED.items()}


def test_a_learning_rate_that_is_told_is_the_program_s_own():
    assert dict(TRL="1e-06", verl="1e-06", OpenRLHF="1e-06") == options.RATES  # grpo_config, actor.yaml, actor.adam.lr
    assert dict(TRL="1e-06", OpenRLHF="1e-05") == options.PAIRS_RATES  # dpo_config, train_dpo.py


def test_an_option_is_left_out_only_where_there_is_none_or_it_is_off_by_default():
    silent = {}
    for quantity, (_, by_program) in options.TABLE.items():
        for column, form in by_program.items():
            if isinstance(form, dict) and "" in form.values():
                silent.setdefault(column, set()).add(quantity)
    assert silent == SILENT


@pytest.mark.parametrize("setting", SETTINGS)
def test_no_option_is_written_twice_and_no_value_is_missing(setting):
    for program in options.PROGRAMS:
        text = written(program, setting)
        for found in names(program, text).values():
            for name in found:
                assert len(re.findall(rf"(?<![\w.-]){re.escape(name)}[=\s]", text)) == 1, (name, text)
        code = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        assert "{" not in text and "nan" not in code and "=None" not in code.replace("delta=None", "")


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_is_for_trl_is_python(setting):
    compile(written("TRL", setting), "a reader's script", "exec")


WEIGHED = options.setting(grpo, dict(inner_epochs=1), **UNCLIPPED)


@pytest.mark.parametrize(
    "program, setting, line",
    [
        ("TRL", options.setting(grpo), 'loss_type="grpo",'),  # TRL's own is dapo
        ("TRL", options.setting(grpo), "beta=0.04, use_bias_correction_kl=False,"),
        ("TRL", options.setting(rloo), "beta=0.0,"),  # TRL's own is 0.05
        ("TRL", options.setting(dapo, completion=12), "epsilon=0.2, epsilon_high=0.28,"),
        ("TRL", options.setting(FILES["Dr.GRPO"]), 'scale_rewards="none",'),
        ("TRL", options.setting(grpo, samples=8, prompts=4), "per_device_train_batch_size=32,"),
        ("verl", options.setting(grpo), "actor_rollout_ref.actor.clip_ratio_c=1000000.0"),  # verl's own is 3
        ("verl", options.setting(grpo), "actor_rollout_ref.actor.ppo_epochs=4"),
        ("verl", options.setting(rloo), "actor_rollout_ref.actor.loss_agg_mode=seq-mean-token-sum"),
        ("verl", options.setting(NAMED["CISPO"].file, NAMED["CISPO"].hyper, NAMED["CISPO"].hooks), 
         "actor_rollout_ref.actor.clip_ratio_high=4.0"),
        ("OpenRLHF", options.setting(grpo), "--algo.kl.use_loss --algo.kl.estimator k3 --algo.kl.init_coef 0.04"),
        ("OpenRLHF", options.setting(rloo), "--algo.kl.init_coef 0"),  # OpenRLHF's own is 0.01
        ("OpenRLHF", dict(pairs="ipo", price=0.1), "--model.ipo_enable"),
        ("TRL", WEIGHED | dict(correction="token ratio, at most 2"),
         'use_vllm=True, vllm_importance_sampling_correction=True, vllm_importance_sampling_mode="token_truncate", '
         "vllm_importance_sampling_clip_max=2.0,"),
        ("TRL", WEIGHED | dict(correction="none"), "vllm_importance_sampling_correction=False,"),  # its own weighs
        ("verl", WEIGHED | dict(correction="answer mask, at most 3"),  # k1 is of the engine over the trainer
         "algorithm.rollout_correction.rollout_rs_threshold=0.333333_1000000.0"),
        ("OpenRLHF", WEIGHED | dict(correction="answer mean, 0.8 to 1.25"),
         "--algo.advantage.is_correction_level seq --algo.advantage.is_correction_mode mask "
         "--algo.advantage.is_correction_threshold 0.8 1.25"),
        ("verl", dict(sent="likeliest k", k=5), "distillation.distillation_loss.topk=5"),
        ("TRL", dict(sent="all logits, JSD"), "beta=0.5,"),
    ],
)  # fmt: skip
def test_a_value_stands_beside_its_name(program, setting, line):
    assert line in [row.strip().removesuffix(" \\") for row in written(program, setting).splitlines()]


@pytest.mark.parametrize("program", options.PROGRAMS)
def test_an_algorithm_that_a_program_does_not_have_is_one_line(program):
    text = written(program, options.setting(reinforce, **MORE))
    assert text.startswith(f"# {program} has no advantage that is the bare reward") and "\n" not in text
    assert written("TRL", options.setting(ppo)).startswith("# TRL has no PPO and no critic")
    assert written("verl", dict(pairs="sigmoid", price=0.1)) == "# verl has no trainer for pairs"
    assert written("verl", dict(sent="drawn token, differentiated")).startswith("# verl refuses it")
    assert written("OpenRLHF", dict(sent="all logits, JSD")).startswith("# OpenRLHF has no teacher")


@pytest.mark.parametrize("way", mismatch.WAYS)
def test_every_way_to_count_what_another_policy_drew_is_an_option_or_a_remark_in_each_program(way):
    for passes, value in ((1, way), (4, way + options.EACH_PASS)):
        setting = options.setting(grpo, dict(inner_epochs=passes), **UNCLIPPED, correction=value)
        for program in options.PROGRAMS:
            assert "no option for what a token" not in written(program, setting)


def test_every_file_and_every_recipe_has_a_setting_and_what_it_exchanges_is_known():
    for file in FILES.values():
        assert options.texts(options.setting(file, **MORE))
    for recipe in NAMED.values():
        assert set(recipe.hooks.values()) <= set(options.EXCHANGED)


def test_with_one_step_a_batch_nothing_is_missing_where_the_file_has_no_ratio():
    assert "one step per batch" in written("TRL", options.setting(rloo))
    assert "has no option for the ratio: none" in written("TRL", options.setting(rloo, dict(inner_epochs=4)))


def test_a_quantity_that_the_table_does_not_have_is_refused():
    with pytest.raises(ValueError, match="learning_rate: the quantities are estimator"):
        options.texts(dict(learning_rate=1.0))
