"""The stages, each a generator: it yields its state every few updates and, at the end, the policy that it hands on.

SFT and replay: Ouyang et al. (2022), arXiv:2203.02155; demonstrations with a thought: Nye et al. (2021),
arXiv:2112.00114; DPO: Rafailov et al. (2023), arXiv:2305.18290, with the NLL term of Pang et al. (2024),
arXiv:2404.19733; RFT, which is RAFT: Dong et al. (2023), arXiv:2304.06767; RL is `sim/algorithms/grpo.py` as it stands.
Learning rates and counts are our own, chosen on held-out prompts with seeds 0 to 3.

Each stage creates its random generator from the seed and a number of its own, so changing one stage never reshuffles
another.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np

from sim.algorithms import dapo, grpo
from sim.estimators.preference_losses import pref_loss
from sim.framework.algorithm import Algorithm
from sim.framework.controller import Controller
from sim.framework.env import Verifier
from sim.framework.rollout import RolloutEngine
from sim.pipeline import corpus
from sim.worlds import tinylm
from sim.worlds.optimizer import AdamW
from sim.worlds.tasks import TRAIN, Chain
from sim.worlds.tinylm import PAD

LOOK = 10  # updates between two yields; RL yields after each update
LAST_RATE = 0.02  # share of the initial learning rate; it decays linearly
GROUPS, K = 32, 8  # for RL
PRETRAINING = 2_500  # updates


class NothingToLearn(ValueError):
    """A stage that learns from its own completions has found none that it could learn from."""


@dataclass(frozen=True)
class Stage:
    """A stage after `step` of `steps` updates. `rows` has its costs, sampled_tokens and trained_tokens, and the stage's
    own numbers.
    """

    name: str
    policy: tinylm.Policy
    step: int
    steps: int
    rows: dict


def last(stage):
    """The final item of a stage."""
    return deque(stage, maxlen=1).pop()


def pretrain(seed, rare=0.0, steps=PRETRAINING):
    """Pretraining on documents, fresh ones for each update, from random initial weights."""
    rng, policy = np.random.default_rng([seed, 0]), tinylm.Policy(seed)

    def fresh():
        example = rng.choice(TRAIN, 128)
        return example, corpus.documents(example, rng, rare)

    return fitted("base", policy, fresh, steps, learning_rate=0.06)


def sft(policy, seed, demos=1_000, steps=200):
    """SFT on answers without a thought."""
    rng = np.random.default_rng([seed, 1])
    example = rng.choice(TRAIN, demos, replace=False)
    return fitted("sft", policy, batches(example, corpus.direct(example), 64, rng), steps, learning_rate=0.01)


def cot(policy, seed, demos=2_000, steps=400, mix=corpus.MIX):
    """SFT on answers with a thought, not all of which are correct."""
    rng = np.random.default_rng([seed, 2])
    example = rng.choice(TRAIN, demos, replace=False)
    return fitted("cot", policy, batches(example, corpus.thoughts(example, rng, mix), 64, rng), steps, 0.01)


def sample_pairs(policy, seed, prompts=512, K=8):
    """(batch, chosen, rejected) from K completions to each of some prompts: indices of rows of the batch, one correct
    and one wrong, picked at random, for every prompt that has both; empty if no prompt has both.
    """
    rng = np.random.default_rng([seed, 3])
    batch = sampled(policy, rng.choice(TRAIN, prompts, replace=False), K, rng)
    right = batch.accuracy.reshape(-1, K) > 0
    chosen, rejected = [], []
    for group in np.flatnonzero(right.any(axis=1) & ~right.all(axis=1)).tolist():
        chosen.append(group * K + rng.choice(np.flatnonzero(right[group])))
        rejected.append(group * K + rng.choice(np.flatnonzero(~right[group])))
    return batch, np.array(chosen, np.int64), np.array(rejected, np.int64)


def dpo(policy, seed, batch, chosen, rejected, beta=0.3, steps=100, nll=0.0):
    """DPO on pairs of a batch, 64 per update; `nll` is the weight of an added mean cross-entropy of the
    chosen tokens.
    """
    if not len(chosen):
        raise NothingToLearn(f"0 pairs from {len(batch.tokens):,} samples, {alike(batch)}")
    rng, policy, optimizer = np.random.default_rng([seed, 4]), policy.copy(), AdamW(0.0005, clip=1.0)
    mask = batch.response_mask
    ref_logp = policy.token_logp(batch.prompt, batch.tokens, mask)[0].sum(axis=1)
    sampled_tokens, trained_tokens = float(mask.sum()), 0.0
    for step in range(1, steps + 1):
        drawn = rng.integers(0, len(chosen), 64)
        w, l = chosen[drawn], rejected[drawn]
        both = np.concatenate([w, l])
        token_logp, _, cache = policy.token_logp(batch.prompt[both], batch.tokens[both], mask[both])
        logp_w, logp_l = np.split(token_logp.sum(axis=1), 2)
        loss, slope_w, slope_l = pref_loss(
            "sigmoid", logp_w, logp_l, ref_logp[w], ref_logp[l], mask[w].sum(axis=1), mask[l].sum(axis=1), beta
        )
        slope = np.concatenate([slope_w, slope_l])[:, None] / len(w) * mask[both]
        slope[: len(w)] -= nll * mask[w] / mask[w].sum()
        optimizer.step(policy.params, policy.backward(cache, slope))
        trained_tokens += mask[both].sum()
        if step % LOOK == 0 or step == steps:
            yield Stage(
                "dpo",
                policy.copy(),
                step,
                steps,
                dict(
                    sampled_tokens=sampled_tokens,
                    trained_tokens=trained_tokens,
                    pairs=len(chosen),
                    loss=loss.mean(),
                    chosen=(logp_w - ref_logp[w]).mean(),  # nats gained per completion since the start
                    rejected=(logp_l - ref_logp[l]).mean(),
                ),
            )


def rft(policy, seed, batch, steps=100):
    """SFT on the correct ones among the model's own completions, 128 per update."""
    right = batch.accuracy > 0
    if not right.any():
        raise NothingToLearn(f"0 correct completions among {len(batch.tokens):,} samples")
    draw = batches(batch.example[right], batch.tokens[right], 128, np.random.default_rng([seed, 5]))
    paid = dict(sampled_tokens=float(batch.response_mask.sum()), right=int(right.sum()))
    return fitted("rft", policy, draw, steps, 0.01, paid)


def rl(policy, seed, steps=100, prompts=TRAIN, L_cache=None):
    """GRPO; with `L_cache` also DAPO's overlong term, a penalty over the last L_cache tokens before the limit."""
    length_penalty = L_cache is not None
    algorithm = Algorithm(
        grpo,
        dict(L_cache=L_cache) if length_penalty else None,
        dict(shape_reward=dapo.shape_reward) if length_penalty else None,
    )
    run = Controller(
        algorithm,
        Chain(prompts),
        policy.copy(),
        AdamW(0.005, clip=1.0),
        groups=GROUPS,
        K=K,
        seed=seed,
        exact_every=steps,
    )
    sampled_tokens, live = 0.0, []
    for frame in run.frames(steps):
        sampled_tokens += frame.length * GROUPS * K
        live.append(frame.live_groups / GROUPS)
        yield Stage(
            "rl",
            run.trainer.policy.copy(),
            frame.step + 1,
            steps,
            dict(
                sampled_tokens=sampled_tokens,
                trained_tokens=sampled_tokens * algorithm.hp["inner_epochs"],
                rollouts=frame.completions,
                accuracy=frame.accuracy,
                length=frame.length,
                gradient=frame.grad_norm,
                live=tuple(live),
            ),
        )


# Helpers


def fitted(name, policy, draw, steps, learning_rate, paid=None):
    """The stage of maximum likelihood on the (prompts, tokens) that `draw()` returns, from a copy of the policy."""
    policy, optimizer, trained_tokens = policy.copy(), AdamW(learning_rate, clip=1.0), 0.0
    for step in range(1, steps + 1):
        optimizer.learning_rate = learning_rate * (1 + (LAST_RATE - 1) * (step - 1) / steps)
        example, tokens = draw()
        mask = (tokens != PAD).astype(float)
        logp, _, cache = policy.token_logp(Chain().prompt_ids(example), tokens, mask)
        optimizer.step(policy.params, policy.backward(cache, -mask / mask.sum()))
        trained_tokens += mask.sum()
        if step % LOOK == 0 or step == steps:
            loss = -logp.sum() / mask.sum()
            rows = dict(dict(sampled_tokens=0.0), trained_tokens=trained_tokens, loss=loss) | (paid or {})
            yield Stage(name, policy.copy(), step, steps, rows)


def batches(example, tokens, n, rng):
    """A function that samples n of these rows at a time."""

    def draw():
        row = rng.integers(0, len(example), n)
        return example[row], tokens[row]

    return draw


def sampled(policy, prompts, K, rng, temperature=1.0):
    """K verified completions for each of `prompts` (P,)."""
    task = Chain()
    return Verifier(task).verify(*RolloutEngine(policy).generate(task, prompts, K, rng, temperature))


def alike(batch):
    """Why there is no pair, as the end of a sentence."""
    right = batch.accuracy.mean()
    return "every one wrong" if right == 0 else "every one right" if right == 1 else "no prompt with both outcomes"
