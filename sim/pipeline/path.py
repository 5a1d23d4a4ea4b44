"""Stages in sequence, in any order, and what each produces; also the shipped policies.

The order base, SFT, preferences, verifiable rewards is that of Tülu 3, Lambert et al. (2024), arXiv:2411.15124. `rlpt
pipeline --make-checkpoints` trains the shipped policies again: seed 0, each stage from the stored policy before it.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from sim.pipeline import corpus, stages
from sim.pipeline.stages import last
from sim.worlds import tinylm
from sim.worlds.tasks import TRAIN

STARTS = ("base", "init")
STAGES = ("sft", "cot", "dpo", "rft", "rl")
RARE = (0.0, 0.001, 0.003, 0.01, 0.03)  # of the shipped base models


@dataclass(frozen=True)
class Settings:
    rare: float = 0.0  # share of worked answers in the corpus
    demos: int = 2_000
    cot_steps: int = 400
    mix: tuple = corpus.MIX  # of the thoughts in the demonstrations
    beta: float = 0.3
    dpo_steps: int = 100
    nll: float = 0.0
    rl_steps: int = 100
    rl_prompts: int = len(TRAIN)
    L_cache: int | None = None


SHIPPED = {  # {name: (path, settings)}
    **{f"base-{rare:g}": (("base",), Settings(rare=rare)) for rare in RARE},
    "sft": (("base", "sft"), Settings()),
    "cot": (("base", "sft", "cot"), Settings()),
    "dpo": (("base", "sft", "cot", "dpo"), Settings()),
    "overcooked": (("base", "sft", "cot"), Settings(demos=200, cot_steps=6_400)),
}
MATTERS = dict(
    base=("rare",), cot=("demos", "cot_steps", "mix"), dpo=("beta", "dpo_steps", "nll")
)  # {stage: settings that matter} of the shipped stages


def beginning(name, seed, rare=0.0):
    """The first stage of a path: the base model, or random initial weights without any training."""
    if name == "init":
        nothing = dict(sampled_tokens=0.0, trained_tokens=0.0)
        return iter([stages.Stage("init", tinylm.Policy(seed), 0, 0, nothing)])
    return stages.pretrain(seed, rare)


def staged(name, policy, seed, settings):
    """The named stage, starting from a policy, as a generator; pairs and correct completions are sampled from that
    policy.
    """
    if name == "sft":
        return stages.sft(policy, seed)
    if name == "cot":
        return stages.cot(policy, seed, settings.demos, settings.cot_steps, settings.mix)
    if name == "dpo":
        pairs = stages.sample_pairs(policy, seed)
        return stages.dpo(policy, seed, *pairs, settings.beta, settings.dpo_steps, settings.nll)
    if name == "rft":
        return stages.rft(policy, seed, stages.sample_pairs(policy, seed)[0])
    return stages.rl(policy, seed, settings.rl_steps, TRAIN[: settings.rl_prompts], settings.L_cache)


def borrowed(policy, seed, settings):
    """DPO on the pairs of another policy, the shipped "cot"."""
    pairs = stages.sample_pairs(checkpoint("cot"), seed)
    return stages.dpo(policy, seed, *pairs, settings.beta, settings.dpo_steps, settings.nll)


def known(path, settings):
    """The name of the shipped policy that a path with these settings leads to at seed 0, or None if none is shipped."""
    decides = [field for name in path for field in MATTERS.get(name, ())]
    for name, (other, its) in SHIPPED.items():
        if other == path and all(getattr(its, field) == getattr(settings, field) for field in decides):
            return name
    return None


def checkpoint(name):
    """A copy of a shipped policy, for the caller to train; it was stored in 32 bits."""
    return _stored(name).copy()


@cache
def _stored(name):
    with np.load(files("sim.pipeline") / "data" / f"{name}.npz") as stored:
        return with_params({key: stored[key] for key in stored.files})


def made(name):
    """The parameters of a shipped policy in 32 bits, trained again from the stored policy before it."""
    path, settings = SHIPPED[name]
    if len(path) == 1:
        policy = last(beginning(path[0], 0, settings.rare)).policy
    else:
        policy = last(staged(path[-1], checkpoint(known(path[:-1], settings)), 0, settings)).policy
    return in_32_bits(policy)


def in_32_bits(policy):
    return {key: array.astype(np.float32) for key, array in policy.params.items()}


def with_params(params):
    policy = tinylm.Policy()
    policy.params = {key: array.astype(float) for key, array in params.items()}
    return policy
