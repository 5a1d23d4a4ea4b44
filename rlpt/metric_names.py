"""What each framework calls the quantities that the tests of a run use, and which of its options log them.

A table and not a model. Taken from the sources of TRL 1.16.0 (grpo_trainer.py, rloo_trainer.py, dpo_trainer.py; the
names after the first are those of 0.14 to 0.16), verl 0.9.1 (metric_utils.py, rollout_corr_helper.py, debug/metrics.py,
core_algos.py, ray_trainer.py, losses.py, trainer_base.py; actor/entropy_loss is of 2025), OpenRLHF 0.11.2
(ppo_trainer.py, ppo_actor.py, experience_maker.py, loss.py), NeMo RL 0.7.0 (grpo.py, loss_functions.py,
rollout_manager.py), prime-rl 0.8.0 (orchestrator.py, train.py, loss.py), open-instruct 0.3.0 (data_loader.py,
grpo_utils.py, grpo_fast.py) and LLaMA-Factory 0.9.5 (callbacks.py). In Weights & Biases and TensorBoard, callbacks put
`train/` and `eval/` before the names of TRL and OpenRLHF. ms-swift has TRL's names.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches

VERSIONS = {
    "TRL": "1.16.0",
    "verl": "0.9.1",
    "OpenRLHF": "0.11.2",
    "NeMo RL": "0.7.0",
    "prime-rl": "0.8.0",
    "open-instruct": "0.3.0",
    "LLaMA-Factory": "0.9.5",
}

# How a column is read: as it is; `k3` and `signed` are divergences, which for a Gaussian log-ratio mean a gap of
# 0.8 √(2 KL); `token` is a mean over tokens, to be multiplied by the length; `most` and `least` bound a range, and
# half of it replaces a deviation; `bound` is only a lower bound; `group_sd` bounds a share from below; `rest` is one
# less the share that is meant, and `percent` the same in percent.
PLAIN, K3, SIGNED, TOKEN, MOST, LEAST, BOUND, GROUP_SD = "", "k3", "signed", "token", "most", "least", "bound", "sd"
REST, PERCENT = "rest", "percent"


@dataclass(frozen=True)
class Quantity:
    words: str
    unit: str = ""


QUANTITIES = {
    "reward": Quantity("reward"),
    "reward_sd": Quantity("standard deviation of the reward"),
    "gap": Quantity("log-prob gap", "nats per token"),
    "zero_variance": Quantity("groups in which all rewards are equal", "share"),
    "kl": Quantity("KL to the reference", "nats per token"),
    "length": Quantity("length of a completion", "tokens"),
    "entropy": Quantity("entropy", "nats per token"),
    "clip_fraction": Quantity("clip fraction", "share"),
    "gradient_norm": Quantity("gradient norm"),
    "cut_off": Quantity("completions cut off", "share"),
    "learning_rate": Quantity("learning rate"),
    "loss": Quantity("loss"),
}
PREFERENCES = {  # of DPO
    "margin": Quantity("margin of the rewards", "β × nats"),
    "accuracy": Quantity("pairs ranked correctly", "share"),
    "chosen": Quantity("log-prob of the chosen answers", "nats"),
}
ALL = QUANTITIES | PREFERENCES
NAMES = {  # {framework: {quantity: its names, or (name, how it is read); the first that a log has counts}}
    "TRL": {
        "reward": ("reward",),
        "reward_sd": ("reward_std",),
        "gap": ("sampling/sampling_logp_difference/mean",),
        "zero_variance": ("frac_reward_zero_std",),
        "kl": (("kl", TOKEN),),
        "length": ("completions/mean_length", "completion_length"),
        "entropy": ("entropy",),
        "clip_fraction": ("clip_ratio/region_mean", "cispo_clip_ratio", "clip_ratio"),
        "gradient_norm": ("grad_norm",),
        "cut_off": ("completions/clipped_ratio",),
        "learning_rate": ("learning_rate",),
        "loss": ("loss", "Training Loss"),  # in a notebook
        "margin": ("rewards/margins",),
        "accuracy": ("rewards/accuracies",),
        "chosen": ("logps/chosen",),
    },
    "verl": {
        "reward": ("critic/score/mean", "critic/rewards/mean"),
        "reward_sd": (("critic/score/max", MOST), ("critic/score/min", LEAST)),
        "gap": (("rollout_corr/k3_kl", K3), ("training/rollout_probs_diff_mean", BOUND)),
        "zero_variance": ("rollouts/zero_variance",),
        "kl": (("actor/kl_loss", TOKEN), ("actor/reward_kl_penalty", TOKEN)),
        "length": ("response_length/mean",),
        "entropy": ("actor/entropy", "actor/entropy_loss"),
        "clip_fraction": ("actor/pg_clipfrac",),
        "gradient_norm": ("actor/grad_norm",),
        "cut_off": ("response_length/clip_ratio",),
        "learning_rate": ("actor/lr",),
    },
    "OpenRLHF": {  # the last names are those of its bar of progress
        "reward": ("rollout/reward_mean", "reward", "rm"),
        "reward_sd": ("rollout/reward_std",),
        "gap": (("vllm_kl", SIGNED),),
        "zero_variance": (("group_reward_std", GROUP_SD),),
        "kl": (("kl", TOKEN),),
        "length": ("rollout/response_length_mean", "response_length", "gen_len", "glen"),
        "entropy": ("entropy_loss", "ent_loss"),
        "clip_fraction": ("ppo_clip_ratio",),
        "gradient_norm": ("actor_grad_norm", "grad_norm"),
        "cut_off": ("rollout/truncated_rate",),
        "learning_rate": ("actor_lr", "act_lr"),
    },
    "NeMo RL": {
        "reward": ("reward",),
        "gap": (("gen_kl_error", K3),),
        "zero_variance": (("baseline_reward/pct_mixed", PERCENT),),
        "kl": (("kl_penalty", TOKEN),),
        "length": ("mean_gen_tokens_per_sample",),
        "entropy": ("approx_entropy",),
        "gradient_norm": ("grad_norm",),
        "cut_off": ("truncation_rate", ("natural_termination_rate", REST)),
        "learning_rate": ("lr",),
        "loss": ("loss",),
    },
    "prime-rl": {
        "reward": ("reward/all/mean",),
        "gap": (("mismatch_kl/all/mean", K3),),
        "zero_variance": (("effective_batch_size/all", REST),),
        "length": ("seq_len/all/mean",),
        "entropy": ("entropy/all/mean",),
        "gradient_norm": ("optim/grad_norm",),
        "cut_off": ("is_truncated/all/mean",),
        "learning_rate": ("optim/lr",),
        "loss": ("loss/mean",),
    },
    "open-instruct": {
        "reward": ("scores",),
        "zero_variance": (("real_batch_size_ratio", REST),),
        "kl": (("objective/kl2_avg", TOKEN),),
        "length": ("val/sequence_lengths",),
        "entropy": ("policy/entropy_avg",),
        "clip_fraction": ("policy/clipfrac_avg",),
        "gradient_norm": ("optim/grad_norm",),
        "cut_off": (("val/stop_rate", REST),),
        "learning_rate": ("lr",),
    },
    "LLaMA-Factory": {"reward": ("reward",), "accuracy": ("accuracy",), "learning_rate": ("lr",), "loss": ("loss",)},
}
ALWAYS = ("reward", "reward_sd", "length", "clip_fraction", "gradient_norm", "cut_off", "learning_rate")
LOGGED_BY = {  # {framework: {quantity: what logs it}}
    "TRL": dict.fromkeys((*ALWAYS, "entropy", "loss"), "always")
    | {
        "gap": "GRPO with use_vllm=True and its correction, which also changes the loss; RLOO never",
        "zero_variance": 'always; with scale_rewards="batch" it is 0 or 1 and says nothing',
        "kl": "beta above 0 (default: 0 in GRPO, 0.05 in RLOO)",
        "held_out": "a reward function with weight 0 in reward_weights, or an eval_dataset with eval_strategy",
    },
    "verl": dict.fromkeys(ALWAYS, "always")
    | {
        "reward_sd": "always, as largest and smallest",
        "gap": "rollout.calculate_log_probs=True, without bypass_mode",
        "zero_variance": "trainer.rollout_data_dir, if you add its JSONL files",
        "kl": "actor.use_kl_loss=True or algorithm.use_kl_in_reward=True",
        "entropy": "always, but not in bypass_mode",
        "held_out": "trainer.test_freq above 0 (default: -1)",
    },
    "OpenRLHF": dict.fromkeys(ALWAYS, "always")
    | {
        "gap": "--algo.advantage.is_correction_level token, which also masks tokens",
        "zero_variance": "--rollout.n_samples_per_prompt above 1, with rewards of 0 and 1; say how many with --k",
        "kl": "--algo.kl.init_coef above 0 (default: 0.01)",
        "entropy": "--actor.entropy_coef 0",
        "held_out": "--eval.dataset and --eval.steps (default: -1)",
    },
    "NeMo RL": dict.fromkeys(NAMES["NeMo RL"], "in Weights & Biases and TensorBoard; the console has four numbers")
    | {"held_out": "grpo.val_period above 0"},
    "prime-rl": dict.fromkeys(NAMES["prime-rl"], "the console of the orchestrator or of the trainer: bring both"),
    "open-instruct": dict.fromkeys(NAMES["open-instruct"], "always")
    | {"kl": "load_ref_policy=True", "entropy": "record_entropy=True", "held_out": "--local_eval_every"},
    "LLaMA-Factory": dict.fromkeys(NAMES["LLaMA-Factory"], "always; trainer_state.json has more than this"),
}
HELD_OUT = {  # asked for and never guessed: these columns only look like a held-out score
    "TRL": r"(eval[_/])?rewards/.+/mean|eval[_/]reward",
    "verl": r"val-(core|aux)/.+/mean@\d+",
    "OpenRLHF": r"(eval/)?eval_.+_pass\d+",
    "NeMo RL": r"validation/accuracy",
    "open-instruct": r"eval/scores",
}
FRAMEWORKS = tuple(VERSIONS)
# keys that do not reveal the framework
EVERYBODYS = ("loss", "lr", "learning_rate", "train_loss", "train_learning_rate")
STEPS = (  # the first one counts
    *("train/global_step", "global_step", "trainer/global_step", "training_step", "current_steps"),
    *("step", "_step", "Step", "iteration", "iter", "update"),
)


def key(name):
    """A name reduced to what a log and the name of a file exported by TensorBoard have in common."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def keys(name):
    return (key(name), key(f"train/{name}"))


def columns(framework, quantity):
    """((name, how it is read), …) of a quantity."""
    return tuple((each, PLAIN) if isinstance(each, str) else each for each in NAMES[framework].get(quantity, ()))


def tabled():
    known = {}
    for framework in FRAMEWORKS:
        for quantity in NAMES[framework]:
            for place, (name, how) in enumerate(columns(framework, quantity)):
                for found in keys(name):
                    known.setdefault(found, {}).setdefault(framework, (quantity, how, place))
    return known


KNOWN = tabled()  # {key: {framework: (quantity, how it is read, its index among the quantity's names)}}
WORDS = {  # words of names that nobody's source has, for a guess: all of the first, none of the second
    "reward": ({"reward"}, {"std", "sd", "min", "max", "zero", "func", "fn", "format", "eval", "val", "test", "kl"}),
    "reward_sd": ({"reward", "std"}, {"zero", "func"}),
    "length": (
        {"length"},
        {"std", "min", "max", "prompt", "clip", "clipped", "input", "ratio", "num", "total", "per", "second", "seen"},
    ),
    "cut_off": ({"clipped", "ratio"}, {"region", "low", "high", "pg", "vf"}),
    "kl": ({"kl"}, {"coef", "beta", "min", "max", "std", "ppo", "penalty", "loss"}),
    "entropy": ({"entropy"}, {"coef", "min", "max", "std", "loss"}),
    "gradient_norm": ({"grad", "norm"}, {"critic", "max"}),
    "learning_rate": ({"lr"}, {"critic"}),
}
SAME = {  # other spellings of those words
    "rewards": "reward",
    "score": "reward",
    "scores": "reward",
    "return": "reward",
    "returns": "reward",
    "sd": "std",
    "stddev": "std",
    "len": "length",
    "lengths": "length",
    "tokens": "length",
    "truncated": "clipped",
    "truncation": "clipped",
    "rate": "ratio",
    "frac": "ratio",
    "fraction": "ratio",
    "gradient": "grad",
}


def guessed(name):
    """The quantity that a name of nobody's seems to mean; "" where it means none of them."""
    words = {SAME.get(word, word) for word in key(name).split("_")}
    fits = [quantity for quantity, (all_of, none) in WORDS.items() if all_of <= words and not words & none]
    return fits[-1] if fits else ""


def known(name):
    """{framework: (quantity, how it is read, index)} for a column; empty if no framework has it."""
    return KNOWN.get(key(name), {})


def framework(names):
    """The framework that knows most of these names; "" if none knows any."""
    telling = [known(name) for name in names if key(name) not in EVERYBODYS]
    votes = {each: sum(each in found for found in telling) for each in FRAMEWORKS}
    most = max(votes, key=votes.get)
    return most if votes[most] else ""


def looks_held_out(name, of):
    """Whether a column could be a held-out score; only the person who made the run knows."""
    pattern = HELD_OUT.get(of)
    return bool(pattern) and bool(re.fullmatch(pattern, name) or matches_exported(pattern, name))


def matches_exported(pattern, name):
    """The same after `/` and `@` became `_` in a file name."""
    return bool(re.fullmatch(re.sub(r"[/@]", "_", pattern).replace("[__]", "_"), name))


def nearest(name, names):
    """Up to three of the names that are most similar to this one."""
    of = {key(each): each for each in names}
    return [of[each] for each in get_close_matches(key(name), of, 3, 0.6)]
