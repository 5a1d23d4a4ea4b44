"""What each framework calls the quantities that the tests of a run use, and which of its options log them.

A table and not a model. Taken from the sources of TRL 1.16.0 (grpo_trainer.py, rloo_trainer.py), verl 0.9.1
(metric_utils.py, rollout_corr_helper.py, debug/metrics.py, core_algos.py, ray_trainer.py, losses.py, trainer_base.py)
and OpenRLHF 0.11.2 (ppo_trainer.py, ppo_actor.py, experience_maker.py, loss.py). In Weights & Biases and TensorBoard,
callbacks put `train/` and `eval/` before the names of TRL and OpenRLHF.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches

VERSIONS = {"TRL": "1.16.0", "verl": "0.9.1", "OpenRLHF": "0.11.2"}

# How a column is read: as it is; `k3` and `signed` are divergences, which for a Gaussian log-ratio mean a gap of
# 0.8 √(2 KL); `token` is a mean over tokens, to be multiplied by the length; `most` and `least` bound a range, and
# half of it replaces a deviation; `bound` is only a lower bound; `group_sd` bounds a share from below.
PLAIN, K3, SIGNED, TOKEN, MOST, LEAST, BOUND, GROUP_SD = "", "k3", "signed", "token", "most", "least", "bound", "sd"


@dataclass(frozen=True)
class Quantity:
    words: str
    unit: str
    columns: dict  # {framework: ((name, how it is read), …)}; the first one present counts
    logged_by: dict  # {framework: what logs it}


QUANTITIES = {
    "reward": Quantity(
        *("reward", ""),
        dict(
            TRL=(("reward", PLAIN),),
            verl=(("critic/score/mean", PLAIN), ("critic/rewards/mean", PLAIN)),
            OpenRLHF=(("rollout/reward_mean", PLAIN), ("reward", PLAIN)),
        ),
        dict(TRL="always", verl="always", OpenRLHF="always"),
    ),
    "reward_sd": Quantity(
        *("standard deviation of the reward", ""),
        dict(
            TRL=(("reward_std", PLAIN),),
            verl=(("critic/score/max", MOST), ("critic/score/min", LEAST)),
            OpenRLHF=(("rollout/reward_std", PLAIN),),
        ),
        dict(TRL="always", verl="always, as largest and smallest", OpenRLHF="always"),
    ),
    "gap": Quantity(
        *("log-prob gap", "nats per token"),
        dict(
            TRL=(("sampling/sampling_logp_difference/mean", PLAIN),),
            verl=(("rollout_corr/k3_kl", K3), ("training/rollout_probs_diff_mean", BOUND)),
            OpenRLHF=(("vllm_kl", SIGNED),),
        ),
        dict(
            TRL="GRPO with use_vllm=True and its correction, which also changes the loss; RLOO never",
            verl="rollout.calculate_log_probs=True, without bypass_mode",
            OpenRLHF="--algo.advantage.is_correction_level token, which also masks tokens",
        ),
    ),
    "zero_variance": Quantity(
        *("groups in which all rewards are equal", "share"),
        dict(
            TRL=(("frac_reward_zero_std", PLAIN),),
            verl=(("rollouts/zero_variance", PLAIN),),
            OpenRLHF=(("group_reward_std", GROUP_SD),),
        ),
        dict(
            TRL='always; with scale_rewards="batch" it is 0 or 1 and says nothing',
            verl="trainer.rollout_data_dir, if you add its JSONL files",
            OpenRLHF="--rollout.n_samples_per_prompt above 1, with rewards of 0 and 1; say how many with --k",
        ),
    ),
    "kl": Quantity(
        *("KL to the reference", "nats per token"),
        dict(
            TRL=(("kl", TOKEN),),
            verl=(("actor/kl_loss", TOKEN), ("actor/reward_kl_penalty", TOKEN)),
            OpenRLHF=(("kl", TOKEN),),
        ),
        dict(
            TRL="beta above 0 (default: 0 in GRPO, 0.05 in RLOO)",
            verl="actor.use_kl_loss=True or algorithm.use_kl_in_reward=True",
            OpenRLHF="--algo.kl.init_coef above 0 (default: 0.01)",
        ),
    ),
    "length": Quantity(
        *("length of a completion", "tokens"),
        dict(
            TRL=(("completions/mean_length", PLAIN),),
            verl=(("response_length/mean", PLAIN),),
            OpenRLHF=(("rollout/response_length_mean", PLAIN), ("response_length", PLAIN)),
        ),
        dict(TRL="always", verl="always", OpenRLHF="always"),
    ),
    "entropy": Quantity(
        *("entropy", "nats per token"),
        dict(TRL=(("entropy", PLAIN),), verl=(("actor/entropy", PLAIN),), OpenRLHF=(("entropy_loss", PLAIN),)),
        dict(TRL="always", verl="always, but not in bypass_mode", OpenRLHF="--actor.entropy_coef 0"),
    ),
    "clip_fraction": Quantity(
        *("clip fraction", "share"),
        dict(
            TRL=(("clip_ratio/region_mean", PLAIN), ("cispo_clip_ratio", PLAIN)),
            verl=(("actor/pg_clipfrac", PLAIN),),
            OpenRLHF=(("ppo_clip_ratio", PLAIN),),
        ),
        dict(TRL="always", verl="always", OpenRLHF="always"),
    ),
    "gradient_norm": Quantity(
        *("gradient norm", ""),
        dict(TRL=(("grad_norm", PLAIN),), verl=(("actor/grad_norm", PLAIN),), OpenRLHF=(("actor_grad_norm", PLAIN),)),
        dict(TRL="always", verl="always", OpenRLHF="always"),
    ),
    "cut_off": Quantity(
        *("completions cut off", "share"),
        dict(
            TRL=(("completions/clipped_ratio", PLAIN),),
            verl=(("response_length/clip_ratio", PLAIN),),
            OpenRLHF=(("rollout/truncated_rate", PLAIN),),
        ),
        dict(TRL="always", verl="always", OpenRLHF="always"),
    ),
    "learning_rate": Quantity(
        *("learning rate", ""),
        dict(TRL=(("learning_rate", PLAIN),), verl=(("actor/lr", PLAIN),), OpenRLHF=(("actor_lr", PLAIN),)),
        dict(TRL="always", verl="always", OpenRLHF="always"),
    ),
    "loss": Quantity(
        *("loss", ""), dict(TRL=(("loss", PLAIN),), verl=(), OpenRLHF=()), dict(TRL="always", verl="", OpenRLHF="")
    ),
}
PREFERENCES = {  # logged by TRL's DPOTrainer (dpo_trainer.py)
    "margin": Quantity(
        *("margin of the rewards", "β × nats"),
        dict(TRL=(("rewards/margins", PLAIN),), verl=(), OpenRLHF=()),
        dict(TRL="DPOTrainer: always", verl="", OpenRLHF=""),
    ),
    "accuracy": Quantity(
        *("pairs ranked correctly", "share"),
        dict(TRL=(("rewards/accuracies", PLAIN),), verl=(), OpenRLHF=()),
        dict(TRL="DPOTrainer: always", verl="", OpenRLHF=""),
    ),
    "chosen": Quantity(
        *("log-prob of the chosen answers", "nats"),
        dict(TRL=(("logps/chosen", PLAIN),), verl=(), OpenRLHF=()),
        dict(TRL="DPOTrainer: always", verl="", OpenRLHF=""),
    ),
}
HELD_OUT = Quantity(  # asked for and never guessed: these columns only look like one
    *("held-out score", ""),
    dict(
        TRL=(r"(eval[_/])?rewards/.+/mean|eval[_/]reward",),
        verl=(r"val-(core|aux)/.+/mean@\d+",),
        OpenRLHF=(r"(eval/)?eval_.+_pass\d+",),
    ),
    dict(
        TRL="a reward function with weight 0 in reward_weights, or an eval_dataset with eval_strategy",
        verl="trainer.test_freq above 0 (default: -1)",
        OpenRLHF="--eval.dataset and --eval.steps (default: -1)",
    ),
)
FRAMEWORKS = tuple(VERSIONS)
EVERYBODYS = ("loss", "learning_rate", "train_loss", "train_learning_rate")  # keys that do not reveal the framework
STEPS = ("train/global_step", "global_step", "trainer/global_step", "step", "_step", "Step")  # the first one counts


def key(name):
    """A name reduced to what a log and the name of a file exported by TensorBoard have in common."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def keys(name):
    return (key(name), key(f"train/{name}"))


KNOWN = {  # {key: {framework: (quantity, how it is read, its index among the quantity's names)}}
    found: {
        framework: (quantity, how, place)
        for framework in FRAMEWORKS
        for quantity, row in (QUANTITIES | PREFERENCES).items()
        for place, (name, how) in enumerate(row.columns[framework])
        if found in keys(name)
    }
    for row in (QUANTITIES | PREFERENCES).values()
    for columns in row.columns.values()
    for name, _ in columns
    for found in keys(name)
}


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
    return any(re.fullmatch(pattern, name) or matches_exported(pattern, name) for pattern in HELD_OUT.columns[of])


def matches_exported(pattern, name):
    """The same after `/` and `@` became `_` in a file name."""
    return bool(re.fullmatch(re.sub(r"[/@]", "_", pattern).replace("[__]", "_"), name))


def nearest(name, names):
    """Up to three of the names that are most similar to this one."""
    of = {key(each): each for each in names}
    return [of[each] for each in get_close_matches(key(name), of, 3, 0.6)]
