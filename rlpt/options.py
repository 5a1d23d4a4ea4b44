"""What an algorithm's settings are called in three trainers, as "Export" shows them on the pages about algorithms.

One table, with a row per quantity and a column per program; TRL has one per configuration class. A name is included
only if it was found in the source of the release in VERSIONS: TRL's `trainer/*_config.py` and `experimental/*/`, verl's
`trainer/config/`, `trainer/ppo/core_algos.py` and `rollout_corr_helper.py`, OpenRLHF's `cli/train_ppo_ray.py` and
`cli/train_dpo.py`, all of 2026. Options are written out even if they equal a program's default; an empty one means that
there is nothing to set. Four more trainers are in the rows that "Diagnose a run" names a change by: NeMo RL 0.7.0
(`examples/configs/grpo_math_1B.yaml`), prime-rl 0.8.0 (`configs/orchestrator.py`, `configs/trainer.py`), open-instruct
0.3.0 (`grpo_utils.py`, `data_loader.py`, `olmo_core_utils.py`) and LLaMA-Factory 0.9.5 (`transformers`' training
arguments). It is not a model.
"""

from rlpt.programs import ACTOR, BATCH, START, VERSIONS
from sim.algorithms import dapo, dr_grpo, grpo, ppo, recipes, reinforce, rloo

PROGRAMS = ("TRL", "verl", "OpenRLHF")
BUFFER = "+reward.reward_kwargs.overlong_buffer_cfg"  # hydra needs a plus for options that its file does not name
CUT = "cut and held constant"
WIDE = "1000000.0"  # a bound that no ratio reaches

COMPARES = "GRPOConfig subtracts the group's mean from a reward, RLOOConfig the mean of the others"
WHITENED = "by the mean and deviation of the batch, and has no option to turn this off"
IS = "vllm_importance_sampling_{}={}".format  # TRL's options for a weight of what vLLM samples
OFFSET = "algorithm.rollout_correction"  # verl's options for what its engine samples
CENTER = "its own clip is around the policy before the first step"
OLDER = "by the policy before its first step, and also clips the ratio since then"
EACH_PASS = ", at each pass"  # a weight by the newest policy, with several steps per batch
SENDING = "distillation.distillation_loss"
DISTILLED = "distillation.enabled=True " + SENDING + ".use_task_rewards=False " + SENDING


def trl_weight(mode, low=None, high=WIDE):
    """TRL's options for a weight, or a mask, of what vLLM samples."""
    below = ", " + IS("clip_min", low) if low else ""
    return f"use_vllm=True, {IS('correction', True)}, " + IS("mode", f'"{mode}"') + below + ", " + IS("clip_max", high)


def verl_weight(level, limit=WIDE, mask=None, bounds=None):
    """verl's options for a log-probability loss with the newest policy's weight and no clip."""
    masked = (
        f"{OFFSET}.rollout_rs={mask} {OFFSET}.rollout_rs_threshold={bounds}" if mask else f"{OFFSET}.rollout_rs=null"
    )
    cut = f" {OFFSET}.rollout_is_threshold={limit}" if level != "null" else ""
    return f"{OFFSET}.bypass_mode=True {OFFSET}.loss_type=reinforce {OFFSET}.rollout_is={level}{cut} {masked}"


def openrlhf_gate(level, mode, *bounds):
    """OpenRLHF's options for a weight, or a mask, of what vLLM samples."""
    gate = "--algo.advantage.is_correction"
    return f"{gate}_level {level} {gate}_mode {mode} {gate}_threshold {' '.join(map(str, bounds))}"


PRODUCT = "# OpenRLHF has no product of an answer's ratios"
# k1 masks bound the engine's probability divided by the trainer's, so 1/3 is a ratio of 3
VERL_WAYS = {
    "none": verl_weight("null"),
    "token ratio, at most 2": verl_weight("token", 2.0),
    "token mask, 0.5 to 2": verl_weight("token", "0.5_2.0"),
    "answer ratio, at most 2": verl_weight("sequence", 2.0),
    "answer ratio, whole": verl_weight("sequence"),
    "answer mask, at most 3": verl_weight("sequence", WIDE, "seq_sum_k1", f"{1 / 3:.6f}_{WIDE}"),
    "answer mean, 0.8 to 1.25": verl_weight("token", WIDE, "seq_mean_k1", "0.8_1.25"),
    "clip around the engine": f"{OFFSET}.bypass_mode=True {OFFSET}.loss_type=ppo_clip",
    "decoupled": f"{OFFSET}.bypass_mode=False {OFFSET}.rollout_is=token {OFFSET}.rollout_is_threshold=2.0"
    f" {OFFSET}.rollout_rs=null",
    "bad answers masked": "# verl has no mask of bad answers alone",
}
# {quantity: (what it is, {program: option})}. In an option, {} is the value, {completions} prompts times samples, {low}
# and {high} the two sides of a clip, {beta} the KL coefficient. An option that depends on the value is a dict
# {value: option}, with "else" for the other values; "" if there is nothing to set, "# …" is a remark. A program or a
# value that is left out has no option.
TABLE = {
    "estimator": (
        "this advantage",
        {
            "TRL": {
                "critic": f"# TRL has no PPO and no critic: {COMPARES}",
                "reward": f"# TRL has no advantage that is the bare reward: {COMPARES}",
                "minus the batch's mean": f"# TRL has no baseline over the batch: {COMPARES}",
            },
            "GRPOConfig": {
                "z-score": 'scale_rewards="group"',
                "minus the mean": 'scale_rewards="none"',
                "over the batch's deviation": 'scale_rewards="batch"',
            },
            "RLOOConfig": {"leave-one-out": "normalize_advantages=False"},
            "verl": {
                "critic": "algorithm.adv_estimator=gae",
                "z-score": "algorithm.adv_estimator=grpo algorithm.norm_adv_by_std_in_grpo=True",
                "minus the mean": "algorithm.adv_estimator=grpo algorithm.norm_adv_by_std_in_grpo=False",
                "leave-one-out": "algorithm.adv_estimator=rloo",
                "reward": "# verl has no advantage that is the bare reward: reinforce_plus_plus whitens it",
                "minus the batch's mean": "# verl has no baseline over the batch alone: reinforce_plus_plus whitens",
                "over the batch's deviation": "# verl has no deviation over the batch without the batch's mean",
            },
            "OpenRLHF": {
                "critic": "--algo.advantage.estimator gae",
                "z-score": "--algo.advantage.estimator group_norm",
                "minus the mean": "--algo.advantage.estimator dr_grpo",
                "leave-one-out": "--algo.advantage.estimator rloo",
                "minus the batch's mean": "--algo.advantage.estimator flash_reinforce",
                "reward": "# OpenRLHF has no advantage that is the bare reward: reinforce subtracts the batch's mean",
                "over the batch's deviation": "# OpenRLHF has no deviation over the batch without the batch's mean",
            },
        },
    ),
    "whitened": (
        "whitening of a critic's advantages",
        {
            "verl": {False: f"# verl whitens a critic's advantages {WHITENED}"},
            "OpenRLHF": {False: "--algo.advantage.no_std_norm"},
        },
    ),
    "centered": (
        "centering of a critic's advantages",
        {
            "verl": {False: ""},  # implied by the whitening
            "OpenRLHF": {False: "# OpenRLHF always subtracts the batch's mean from a critic's advantages"},
        },
    ),
    "lam": ("λ of the critic's advantages", {"verl": "algorithm.lam={}", "OpenRLHF": "--algo.advantage.lambd {}"}),
    "deviation": (
        "the standard deviation",
        {program: {"sample": ""} for program in ("GRPOConfig", "verl", "OpenRLHF")},
    ),
    "added": (
        "what is added to the standard deviation",
        {
            "GRPOConfig": {1e-4: "", "else": "# TRL adds 0.0001 to the standard deviation, and no option sets {}"},
            "verl": {1e-6: "", "else": "# verl adds 1e-06 to the standard deviation, and no option sets {}"},
            "OpenRLHF": {1e-9: "", "else": "# OpenRLHF adds 1e-09 to the standard deviation, and no option sets {}"},
        },
    ),
    "samples": (
        BATCH["samples"][0],
        {"GRPOConfig": "num_generations={}", "RLOOConfig": "num_generations={}", "DistillationConfig": {1: ""}}
        | BATCH["samples"][1]
        | {
            "NeMo RL": "grpo.num_generations_per_prompt={}",
            "prime-rl": "--orchestrator.group_size {}",
            "open-instruct": "--num_samples_per_prompt_rollout {}",
        },
    ),
    "prompts": (
        "prompts per batch, all in one step",
        {
            "GRPOConfig": "per_device_train_batch_size={completions}",
            "RLOOConfig": "per_device_train_batch_size={completions}",
            "DistillationConfig": "per_device_train_batch_size={}",
        }
        | BATCH["prompts"][1],
    ),
    "passes": (
        "passes over each batch",
        {
            "GRPOConfig": "num_iterations={}",
            "RLOOConfig": "num_iterations={}",
            "verl": f"{ACTOR}.ppo_epochs={{}}",
            "OpenRLHF": "--train.max_epochs {}",
            "open-instruct": "--num_epochs {}",
        },
    ),
    "surrogate": (
        "the ratio",
        {
            "GRPOConfig": {
                "per token": 'importance_sampling_level="token"',
                "mean of a completion": 'importance_sampling_level="sequence"',
                CUT: 'loss_type="cispo"',
            },
            "RLOOConfig": {"per completion": ""},
            "verl": {
                "per token": f"{ACTOR}.policy_loss.loss_mode=vanilla",
                "mean of a completion": f"{ACTOR}.policy_loss.loss_mode=gspo",
                CUT: f"{ACTOR}.policy_loss.loss_mode=cispo {ACTOR}.loss_agg_mode=token-mean",
            },
            "OpenRLHF": {
                "per token": "--actor.policy_loss_type ppo",
                "mean of a completion": "--actor.policy_loss_type gspo",
            },
        },
    ),
    "clip": (
        "the clip",
        {
            "GRPOConfig": {"else": "epsilon={low}, epsilon_high={high}"},
            "RLOOConfig": {"else": "epsilon={low}, epsilon_high={high}"},
            "verl": {
                "off": f"{ACTOR}.clip_ratio_low={WIDE} {ACTOR}.clip_ratio_high={WIDE}",
                "else": f"{ACTOR}.clip_ratio_low={{low}} {ACTOR}.clip_ratio_high={{high}}",
            },
            "OpenRLHF": {
                "off": f"--actor.eps_clip_low_high {WIDE} {WIDE}",
                "else": "--actor.eps_clip_low_high {low} {high}",
            },
        },
    ),
    "cap": (
        "the cap on the ratio",
        {"GRPOConfig": "epsilon_high={}", "verl": f"{ACTOR}.clip_ratio_low=1.0 {ACTOR}.clip_ratio_high={{above}}"},
    ),
    "dual_clip": (
        "the dual clip",
        {
            "GRPOConfig": {"off": "delta=None", "else": "delta={}"},
            "verl": {"off": f"{ACTOR}.clip_ratio_c={WIDE}", "else": f"{ACTOR}.clip_ratio_c={{}}"},
            "OpenRLHF": {"off": "", "else": "--actor.dual_clip {}"},
        },
    ),
    "aggregation": (
        "what the loss is averaged over",
        {
            "GRPOConfig": {
                "completions": 'loss_type="grpo"',
                "tokens": 'loss_type="dapo"',
                "a constant": 'loss_type="dr_grpo"',
            },
            "RLOOConfig": {"sums over completions": ""},
            "verl": {
                "completions": f"{ACTOR}.loss_agg_mode=seq-mean-token-mean",
                "tokens": f"{ACTOR}.loss_agg_mode=token-mean",
                "a constant": f"{ACTOR}.loss_agg_mode=seq-mean-token-sum-norm",
                "sums over completions": f"{ACTOR}.loss_agg_mode=seq-mean-token-sum",
            },
            "OpenRLHF": {
                "completions": "--actor.loss_agg_mode seq-mean-token-mean",
                "tokens": "--actor.loss_agg_mode token-mean",
            },
        },
    ),
    "kl": (
        "a KL penalty",
        {
            "GRPOConfig": {
                "none": "beta=0.0",
                "k3 in the loss": "beta={beta}, use_bias_correction_kl=False",
                "in the loss, with the gradient of the KL": "beta={beta}, use_bias_correction_kl=True",
            },
            "RLOOConfig": {"none": "beta=0.0", "in the reward": "beta={beta}"},
            "verl": {
                "none": f"{ACTOR}.use_kl_loss=False algorithm.use_kl_in_reward=False",
                "k3 in the loss": f"{ACTOR}.use_kl_loss=True {ACTOR}.kl_loss_coef={{beta}}"
                f" {ACTOR}.kl_loss_type=low_var_kl",
                "in the loss, with the gradient of the KL": f"{ACTOR}.use_kl_loss=True {ACTOR}.kl_loss_coef={{beta}}"
                f" {ACTOR}.kl_loss_type=k3+",
                "in the reward": f"{ACTOR}.use_kl_loss=False algorithm.use_kl_in_reward=True"
                " algorithm.kl_ctrl.kl_coef={beta}",
            },
            "OpenRLHF": {
                "none": "--algo.kl.init_coef 0",
                "k3 in the loss": "--algo.kl.use_loss --algo.kl.estimator k3 --algo.kl.init_coef {beta}",
                "in the loss, with the gradient of the KL": "--algo.kl.use_loss --algo.kl.estimator k3"
                " --algo.kl.unbiased_gradient --algo.kl.init_coef {beta}",
                "in the reward": "--algo.kl.estimator k1 --algo.kl.init_coef {beta}",
            },
        },
    ),
    "bonus": (
        "an entropy bonus",
        {"GRPOConfig": "entropy_coef={}", "verl": f"{ACTOR}.entropy_coeff={{}}", "OpenRLHF": "--actor.entropy_coef {}"},
    ),
    "correction": (
        "a weight for tokens that another policy sampled",
        {
            "GRPOConfig": {
                "none": IS("correction", False),
                "token ratio, at most 2": trl_weight("token_truncate", high=2.0),
                "token mask, 0.5 to 2": trl_weight("token_mask", 0.5, 2.0),
                "answer ratio, at most 2": trl_weight("sequence_truncate", high=2.0),
                "answer ratio, whole": trl_weight("sequence_truncate"),
                "answer mask, at most 3": trl_weight("sequence_mask", high=3.0),
                "bad answers masked": IS("correction", False) + ", off_policy_mask_threshold=0.05",
                "clip around the engine": f"# TRL has no clip around the engine: {CENTER}",
                "decoupled": trl_weight("token_truncate", high=2.0),
                "answer mean, 0.8 to 1.25": "# TRL has no mask by the mean of an answer's ratios",
                "else": f"# TRL weighs {OLDER}",
            },
            "verl": {**VERL_WAYS, **{f"{way}{EACH_PASS}": words for way, words in VERL_WAYS.items()}},
            "OpenRLHF": {
                "none": "--algo.advantage.is_correction_level off",
                "token ratio, at most 2": openrlhf_gate("token", "clip", 2.0),
                "token mask, 0.5 to 2": openrlhf_gate("token", "mask", 0.5, 2.0),
                "answer mean, 0.8 to 1.25": openrlhf_gate("seq", "mask", 0.8, 1.25),
                "decoupled": openrlhf_gate("token", "clip", 2.0),
                "clip around the engine": f"# OpenRLHF has no clip around the engine: {CENTER}",
                "answer ratio, at most 2": PRODUCT,
                "answer ratio, whole": PRODUCT,
                "answer mask, at most 3": PRODUCT,
                "bad answers masked": "# OpenRLHF has no mask of bad answers alone",
                "else": f"# OpenRLHF weighs {OLDER}",
            },
        },
    ),
    "sent": (
        "what a teacher sends for each token",
        {
            "DistillationConfig": {
                "all logits, reverse": "beta=1.0",
                "all logits, JSD": "beta=0.5",
                "all logits, forward": "beta=0.0",
            },
            "TRL": {"else": "# TRL's DistillationTrainer compares whole distributions"},
            "verl": {
                "likeliest k": f"{DISTILLED}.loss_mode=forward_kl_topk {SENDING}.use_policy_gradient=False",
                "drawn token, as advantage": f"{DISTILLED}.loss_mode=k1 {SENDING}.use_policy_gradient=True",
                "drawn token, differentiated": "# verl refuses it: k1 needs use_policy_gradient=True",
                "else": "# verl's teacher sends no whole distribution: forward_kl_topk is the nearest",
            },
            "OpenRLHF": {"else": "# OpenRLHF has no teacher that grades a student's text"},
        },
    ),
    "k": ("the number of tokens that a teacher names", {"verl": SENDING + ".topk={}"}),
    "filter": (
        "groups that are sampled again",
        {
            "GRPOConfig": {
                "never": "",
                "else": "# TRL samples no group again: a group without a signal stays in the batch",
            },
            "RLOOConfig": {"never": ""},
            "verl": {
                "never": "algorithm.filter_groups.enable=False",
                "accuracy": "algorithm.filter_groups.enable=True algorithm.filter_groups.metric=acc",
                "reward": "algorithm.filter_groups.enable=True algorithm.filter_groups.metric=reward",
            },
            "OpenRLHF": {"never": "", "accuracy": "--algo.dynamic_filtering_enable --algo.dynamic_filtering_range 0 1"},
            "NeMo RL": {"accuracy": "grpo.use_dynamic_sampling=true"},
            "open-instruct": {"accuracy": "--active_sampling"},
        },
    ),
    "overlong": (
        "a penalty on a completion's last tokens",
        {
            "GRPOConfig": {
                0: "",
                "else": "# TRL has it as a reward function, in trl.rewards: get_soft_overlong_punishment(T, {})",
            },
            "RLOOConfig": {0: ""},
            "verl": {
                0: "",
                "else": "reward.reward_manager.name=dapo "
                f"{BUFFER}.enable=True {BUFFER}.len={{}} {BUFFER}.penalty_factor=1.0 {BUFFER}.log=False"
                " +reward.reward_kwargs.max_resp_len={completion}",
            },
            "OpenRLHF": {0: "", "else": "--reward.overlong_buffer_len {} --reward.overlong_penalty_factor 1"},
        },
    ),
    "completion": (
        BATCH["completion"][0],
        {"GRPOConfig": "max_completion_length={}", "RLOOConfig": "max_completion_length={}"}
        | BATCH["completion"][1]
        | {"NeMo RL": "policy.generation.max_new_tokens={}", "open-instruct": "--response_length {}"},
    ),
    "pairs": (
        "the loss of a pair",
        {
            "DPOConfig": {name: f'loss_type=["{name}"]' for name in ("sigmoid", "ipo", "hinge", "robust", "bco_pair")}
            | {name: f'loss_type=["{name}"]' for name in ("apo_zero", "sigmoid_norm")},
            "KTOConfig": {"kto": 'loss_type="kto"'},
            "CPOConfig": {"simpo": 'loss_type="simpo", cpo_alpha=0.0'},
            "ORPOConfig": {"orpo": ""},
            "verl": {"else": "# verl has no trainer for pairs"},
            "OpenRLHF": {
                "sigmoid": "",
                "ipo": "--model.ipo_enable",
                "else": "# OpenRLHF trains on pairs only by DPO and IPO",
            },
        },
    ),
    "price": (
        "β, the price of a nat",
        {name: "beta={}" for name in ("DPOConfig", "KTOConfig", "CPOConfig", "ORPOConfig")}
        | {"OpenRLHF": "--model.beta {}"},
    ),
    "flipped": ("the share of labels that are flipped", {"DPOConfig": "label_smoothing={}"}),
    "margin": ("the margin", {"CPOConfig": "simpo_gamma={}"}),
    # ── rows that no export writes: what a diagnosis says to change ──
    "rate": (
        "the learning rate",
        {column: "learning_rate={}" for column in ("GRPOConfig", "RLOOConfig", "DPOConfig")}
        | {
            "verl": f"{ACTOR}.optim.lr={{}}",
            "OpenRLHF": "--actor.adam.lr {}",
            "NeMo RL": "policy.optimizer.kwargs.lr={}",
            "prime-rl": "--trainer.optim.lr {}",
            "open-instruct": "--learning_rate {}",
            "LLaMA-Factory": "learning_rate: {}",
        },
    ),
    "schedule": (
        "the schedule of the learning rate",
        {column: 'lr_scheduler_type="{}"' for column in ("GRPOConfig", "RLOOConfig", "DPOConfig")}
        | {"LLaMA-Factory": "lr_scheduler_type: {}"},
    ),
    "steps": (
        "the last step",
        {column: "max_steps={}" for column in ("GRPOConfig", "RLOOConfig", "DPOConfig")}
        | {
            "verl": "trainer.total_training_steps={}",
            "NeMo RL": "grpo.max_num_steps={}",
            "prime-rl": "--max_steps {}",
            "LLaMA-Factory": "max_steps: {}",
        },
    ),
    "batch": (
        "the number of prompts per step",
        {column: "gradient_accumulation_steps" for column in ("GRPOConfig", "RLOOConfig", "DPOConfig")}
        | {
            "verl": "data.train_batch_size",
            "OpenRLHF": "--rollout.batch_size",
            "NeMo RL": "grpo.num_prompts_per_step",
            "prime-rl": "--orchestrator.batch_size",
            "open-instruct": "--num_unique_prompts_rollout",
            "LLaMA-Factory": "gradient_accumulation_steps",
        },
    ),
    "penalty": (
        "β, the price of a nat of KL",
        {column: "beta={}" for column in ("GRPOConfig", "RLOOConfig", "DPOConfig")}
        | {
            "verl": f"{ACTOR}.kl_loss_coef={{}}",
            "OpenRLHF": "--algo.kl.init_coef {}",
            "NeMo RL": "loss_fn.reference_policy_kl_penalty={}",
            "open-instruct": "--beta {}",
        },
    ),
    "weights": (
        "the weights of the reward functions",
        {"GRPOConfig": "reward_weights", "RLOOConfig": "reward_weights"},
    ),
    "shown": (
        "the completions of each step",
        {"GRPOConfig": "log_completions=True", "RLOOConfig": "log_completions=True"}
        | {"verl": "trainer.rollout_data_dir=rollouts"},
    ),
}
BESIDE = {"beta"}  # set by another quantity's option
CLASSES = (  # of TRL's configurations
    *("GRPOConfig", "RLOOConfig", "DPOConfig", "KTOConfig", "CPOConfig", "ORPOConfig", "DistillationConfig"),
)
WHENCE = {
    "KTOConfig": "# KTO takes completions one by one, each called good or bad, by TRL's KTOTrainer",
    "CPOConfig": "# from trl.experimental.cpo import CPOConfig",
    "ORPOConfig": "# from trl.experimental.orpo import ORPOConfig",
}
RATE = "# no learning rate, because the book's belongs to its tiny policy, as do batch and length; {}'s default is {}"
RATES = {"TRL": "1e-06", "verl": "1e-06", "OpenRLHF": "1e-06"}
PAIRS_RATES = {"TRL": "1e-06", "OpenRLHF": "1e-05"}
PRICED = "# the price of a nat belongs to the book's tiny world: find one for your own model"
ONE_GPU = "# on one GPU; for smaller parts, divide the batch size and set gradient_accumulation_steps to the divisor"
NO_RATIO = "# with one step per batch, the ratio is 1 and no clip acts"

# ── settings of the algorithm files and of the recipes built on them ──
FILES = {
    reinforce: dict(estimator="reward", surrogate="none", aggregation="sums over completions"),
    ppo: dict(estimator="critic", whitened=False, centered=False, surrogate="per token", aggregation="tokens"),
    grpo: dict(estimator="z-score", surrogate="per token", aggregation="completions"),
    rloo: dict(estimator="leave-one-out", surrogate="none", aggregation="sums over completions"),
    dapo: dict(estimator="z-score", surrogate="per token", aggregation="tokens", filter="accuracy"),
    dr_grpo: dict(estimator="minus the mean", surrogate="per token", aggregation="a constant"),
}
EXCHANGED = {  # {function that replaces a file's own: what it changes}
    dapo.weights: dict(aggregation="tokens"),
    dr_grpo.advantage: dict(estimator="minus the mean"),
    grpo.shape_reward: dict(overlong=0),
    recipes.over_batch_std: dict(estimator="over the batch's deviation"),
    recipes.k3_with_the_gradient_of_kl: dict(kl="in the loss, with the gradient of the KL"),
    recipes.one_ratio_a_completion: dict(surrogate="per completion", clip=(0.2, 0.2)),
    recipes.cut_weight: dict(surrogate=CUT),
    recipes.one_mean_ratio: dict(surrogate="mean of a completion"),
    recipes.less_kl: dict(kl="in the reward"),
}


def setting(file, hyper=None, hooks=None, **more):
    """{quantity: value} for an algorithm file with a run's own settings; None in `more` removes a quantity."""
    hp, quantities = {**file.HP, **(hyper or {})}, dict(FILES[file])
    quantities |= dict(passes=hp["inner_epochs"], kl="k3 in the loss" if hp["beta"] else "none", beta=hp["beta"])
    if "eps" in hp:
        quantities |= dict(clip=(hp["eps"], hp.get("eps_high", hp["eps"])), dual_clip="off")
    named = dict(overlong="L_cache", lam="lam", cap="cap")
    quantities |= {quantity: hp[name] for quantity, name in named.items() if name in hp}
    for function in (hooks or {}).values():
        quantities |= EXCHANGED[function]
    if quantities["surrogate"] == CUT:  # its own option sets whatever a cut ratio needs
        quantities |= dict(clip=None, dual_clip=None, aggregation=None)
    quantities |= more
    return {quantity: value for quantity, value in quantities.items() if value is not None}


# ── as text ──
def texts(setting):
    """{program and version: text to paste} for a setting {quantity: value}; anything a program has no option for is a
    line that begins with #. Quantities are those of TABLE; `prompts` needs `samples`, `kl` its `beta`, `overlong` the
    longest `completion`.
    """
    if unknown := set(setting) - set(TABLE) - BESIDE:
        raise ValueError(f"{', '.join(sorted(unknown))}: the quantities are {', '.join(TABLE)}")
    return {f"{program} {VERSIONS[program]}": text(program, setting) for program in PROGRAMS}


def text(program, setting):
    first = next((quantity for quantity in ("pairs", "sent") if quantity in setting), "estimator")
    column = next((c for c in CLASSES if option(c, first, setting) is not None), "TRL") if program == "TRL" else program
    leading = option(column, first, setting)
    if leading is None or leading.startswith("#"):  # without it the rest would be a different algorithm
        return leading or f"# {program} has no option for {described(first, setting)}"
    lines = {quantity: option(column, quantity, setting) for quantity in TABLE if quantity in setting}
    notes = [f"# {program} has no option for {described(q, setting)}" for q, words in lines.items() if words is None]
    notes += [words for words in lines.values() if words and words.startswith("#")]
    options = [words for words in lines.values() if words and not words.startswith("#")]
    options = " ".join(options).split() if program == "verl" else options
    if program == "TRL":
        notes = [*([WHENCE[column]] if column in WHENCE else []), *notes]
        notes += [ONE_GPU] if "prompts" in setting else []
    notes.append(RATE.format(program, (PAIRS_RATES if first == "pairs" else RATES)[program]))
    notes += [PRICED] if first == "pairs" else []
    if program == "TRL":
        return "\n".join([*notes, f"{column}(", *(f"    {words}," for words in options), ")"])
    start = "python -m openrlhf.cli.train_dpo" if first == "pairs" else START[program]
    return "\n".join([*notes, " \\\n    ".join([start, *options])])


def option(column, quantity, setting):
    """The words that set a quantity; "" if there is nothing to set, None if the program has no option."""
    value, form = setting[quantity], TABLE[quantity][1].get(column)
    if quantity == "surrogate" and value == "none" and setting.get("passes") == 1:
        return NO_RATIO
    if isinstance(form, dict):
        form = form.get(value, form.get("else"))
    if form is None:
        return None
    numbers = dict(completions=setting.get("prompts", 0) * setting.get("samples", 0), beta=setting.get("beta"))
    numbers["completion"] = setting.get("completion")
    if isinstance(value, tuple):
        numbers["low"], numbers["high"] = value
    if quantity == "cap":
        numbers["above"] = value - 1  # verl's bound is 1 plus this
    return form.replace("{}", "{0}").format(value, **numbers)


def described(quantity, setting):
    words, value = TABLE[quantity][0], setting[quantity]
    return f"{words}: {value}"
