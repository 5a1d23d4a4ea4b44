"""Controller: the seven stages of an iteration, in order, as a generator. It owns the loop and nothing else.

The single-controller design is verl's, Sheng et al. (2024), arXiv:2409.19256; resampling for rejected groups is DAPO's,
arXiv:2503.14476.
"""

from dataclasses import dataclass

import numpy as np

from sim.estimators.kl import k3
from sim.framework.env import Verifier
from sim.framework.reference import Reference
from sim.framework.rollout import RolloutEngine, join
from sim.framework.trainer import Trainer
from sim.framework.weight_sync import WeightSync

ROLES = ("controller", "rollout", "env", "reference", "algorithm", "trainer", "weight_sync")
ROUNDS = 8  # sampling rounds at most, including the first, before an iteration continues with what it has
LOG_RATIO_EDGES = np.linspace(-2, 2, 22)


@dataclass(frozen=True)
class Frame:
    """One iteration. Sampled numbers are always present; an exact one that the task cannot compute is an absent key."""

    step: int
    completions: int  # sampled so far, including rejected ones
    accuracy: float  # mean over everything sampled in this iteration
    reward: float
    length: float  # own tokens per completion
    token_entropy: float  # nats per token, at the first pass
    logp_gap: float  # mean |trainer log-prob - sampler log-prob|, nats per token, at the first pass
    loss: float  # this and the next two: at the last pass
    grad_norm: float
    clip_fraction: float
    ratio_min: float  # over all passes
    ratio_max: float
    log_ratio_counts: (
        np.ndarray
    )  # (21,) own tokens by log-ratio at the last pass; the outer bins include all beyond -2 and 2
    kl_logged: float  # mean k3 to the reference over the sampled tokens, nats per token; nan without a reference
    live_groups: int  # groups whose completions are not all correct and not all wrong
    lag: int  # optimizer steps by which the rollout is behind
    exact: dict  # any of pass_rate, completion_entropy, length, truncated, kl_step, kl_reference, each (P,)


@dataclass(frozen=True)
class StageEvent:
    iteration: int
    stage: int  # 1 to 7
    role: str
    summary: dict


class Controller:
    """One training run with N = groups * K rows of at most T tokens. The objects passed in must have the names below;
    they need not inherit from any class. The run makes its own generator from `seed` and draws everything random from
    it in a fixed order: prompts, tokens, environments, the order of mini-batches.

    policy: `params`, a dict of arrays; `prefill(prompt (N, P), temperature)` -> decode(tokens (N, T), t) -> log-probs
    (N, V) at position t; `token_logp(prompt, tokens, mask, temperature)` -> logp (N, T), entropy (N, T), cache;
    `backward(cache, dlogp (N, T))` -> a dict like params; `copy()`. task: `T`, `pad`, `eos`; `examples`, dicts with an
    expected_answer; `batch_prompts(n, rng)` and `refill_prompts(n, rng)` -> (n,) indices of examples;
    `prompt_ids(example (N,))` -> (N, P); `environment(example, rng)` -> None, or an object with `step(tokens, t)` ->
    (N,) forced tokens, -1 for none, and `examples`, one per row; `answers(tokens, response_mask, finished (N,))` -> N
    texts; `exact(policy)` -> {metric: (prompts,)}, empty if none. Optional: `pay(batch)` -> (N,) rewards that replace
    the accuracy; `exact_kl(p, q)` -> (prompts,) nats. optimizer: `step(params, grads)` -> the gradient's norm.
    critic: `values(prompt, tokens, mask)` -> (N, T); `fit(prompt, tokens, mask, returns (N, T))`.
    """

    def __init__(
        self,
        algorithm,
        task,
        policy,
        optimizer,
        *,
        groups=8,
        K=8,
        critic=None,
        seed=0,
        minibatches=1,
        microbatches=1,
        temperature=1.0,
        trainer_temperature=None,
        sync=None,
        exact_every=1,
    ):
        refuse_the_impossible(algorithm, task, groups, K, minibatches, microbatches)
        self.algorithm, self.task, self.groups, self.K, self.critic = algorithm, task, groups, K, critic
        self.minibatches, self.microbatches = minibatches, microbatches
        self.temperature, self.exact_every = temperature, exact_every
        self.trainer_temperature = trainer_temperature or temperature  # a lesson sets a different one on purpose
        self.rng, self.completions = np.random.default_rng(seed), 0
        self.trainer, self.rollout, self.env = Trainer(policy, optimizer), RolloutEngine(policy), Verifier(task)
        self.reference = Reference(policy) if algorithm.hp["beta"] > 0 else None
        self.start, self.sync = policy.copy(), sync or WeightSync()

    def frames(self, n):
        """What a training widget streams: one Frame per iteration."""
        return (event.summary["frame"] for event in self.iterate(n) if event.stage == 7)

    def iterate(self, n, first=0):
        """Seven StageEvents per iteration; the summary of the last one holds the Frame. The generator pauses between
        stages, where a caller may change the batch. A run resumed from a checkpoint has `first` iterations behind it.
        """
        for i in range(first, n):

            def event(stage, i=i, **summary):
                return StageEvent(i, stage, ROLES[stage - 1], summary)

            batch, seen, rounds = self.collect()
            live = 0 if batch is None else int((batch.accuracy.reshape(-1, self.K).std(axis=1) > 0).sum())
            yield event(1, prompts=self.groups, rounds=rounds)
            yield event(2, batch=batch, version=self.rollout.version)
            yield event(3, batch=batch, drawn=seen, accuracy=seen.accuracy.mean(), live_groups=live)
            before, metrics = self.trainer.policy.copy(), {}
            if batch is None:  # every group was rejected in every round, but a Frame must still be yielded
                for stage in (4, 5, 6):
                    yield event(stage, skipped=True)
            else:
                if self.reference:
                    batch.ref_logp = self.reference.logp(batch, self.trainer_temperature)
                yield event(4, skipped=self.reference is None)
                if self.critic:
                    batch.value = self.critic.values(batch.prompt, batch.tokens, batch.response_mask)
                batch.advantage, batch.returns = self.algorithm.compute_advantages(batch)
                yield event(5, advantage=batch.advantage)
                metrics = self.trainer.step(
                    batch,
                    self.algorithm.compute_loss,
                    self.algorithm.hp["inner_epochs"],
                    self.minibatches,
                    self.rng,
                    self.trainer_temperature,
                    self.microbatches,
                )
                if self.critic and batch.returns is not None:
                    self.critic.fit(batch.prompt, batch.tokens, batch.response_mask, batch.returns)
                yield event(6, **metrics)
            lag = self.sync.push(self.trainer, self.rollout)
            exact = self.exact(before) if i % self.exact_every == 0 or i == n - 1 else {}
            yield event(7, frame=self.frame(i, batch, seen, live, metrics, lag, exact))

    def collect(self):
        """Stages 1 to 3, repeated for groups that keep_group rejects: (rows kept or None, all rows sampled, rounds)."""
        kept, seen, missing = [], [], self.groups
        while missing and len(seen) < ROUNDS:
            prompts = (self.task.refill_prompts if seen else self.task.batch_prompts)(missing, self.rng)
            batch = self.env.verify(*self.rollout.generate(self.task, prompts, self.K, self.rng, self.temperature))
            keep = self.algorithm.keep_group(batch.accuracy.reshape(-1, self.K), self.algorithm.hp, batch)
            seen.append(batch)
            missing -= int(keep.sum())
            if keep.any():
                kept.append(batch if keep.all() else batch.rows(np.flatnonzero(np.repeat(keep, self.K))))
        self.completions += sum(len(batch.tokens) for batch in seen)
        return join(kept) if kept else None, join(seen), len(seen)

    def exact(self, before):
        quantities = dict(self.task.exact(self.trainer.policy))
        if hasattr(self.task, "exact_kl"):
            quantities["kl_step"] = self.task.exact_kl(before, self.trainer.policy)
            quantities["kl_reference"] = self.task.exact_kl(self.trainer.policy, self.start)
        return quantities

    def frame(self, step, batch, seen, live, metrics, lag, exact):
        log_ratio = np.clip(metrics.get("log_ratio", np.zeros(0)), LOG_RATIO_EDGES[0], LOG_RATIO_EDGES[-1])
        return Frame(
            step,
            self.completions,
            seen.accuracy.mean(),
            seen.reward.mean(),
            seen.response_mask.sum(axis=1).mean(),
            metrics.get("token_entropy", np.nan),
            metrics.get("logp_gap", np.nan),
            metrics.get("loss", 0.0),
            metrics.get("grad_norm", 0.0),
            metrics.get("clip_fraction", 0.0),
            metrics.get("ratio_min", 1.0),
            metrics.get("ratio_max", 1.0),
            np.histogram(log_ratio, LOG_RATIO_EDGES)[0],
            mean_k3(batch),
            live,
            lag,
            exact,
        )


def mean_k3(batch):
    """The KL that a training log shows: k3 of the weights that sampled, averaged over the sampled tokens."""
    if batch is None or batch.ref_logp is None:
        return np.nan
    return k3(batch.old_logp, batch.ref_logp)[batch.response_mask > 0].mean()


def refuse_the_impossible(algorithm, task, groups, K, minibatches, microbatches):
    """Raises ValueError, with one sentence, for a run that could not start or could not learn."""
    if not task.examples:
        raise ValueError("task.examples must not be empty: there is no prompt to complete")
    if groups < 1:
        raise ValueError(f"groups must be at least 1, not {groups}: an iteration needs a prompt")
    if K < 1:
        raise ValueError(f"K must be at least 1, not {K}")
    if algorithm.min_K > K:
        raise ValueError(
            f"K must be at least {algorithm.min_K}: this baseline is made of a prompt's other completions, and one "
            "completion has none"
        )
    if algorithm.hp["inner_epochs"] < 1:
        raise ValueError(f"inner_epochs must be at least 1, not {algorithm.hp['inner_epochs']}")
    if not 1 <= minibatches <= groups * K:
        raise ValueError(f"minibatches must be from 1 to groups * K = {groups * K}, not {minibatches}")
    most = groups * K // minibatches
    if not 1 <= microbatches <= most:
        raise ValueError(f"microbatches must be from 1 to the {most} completions of a mini-batch, not {microbatches}")
