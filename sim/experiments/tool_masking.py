"""Whose tokens are they? The mask of a trajectory that a tool helped to write, and the effect of the tool's tokens on
the gradient.

A tool's tokens belong to the transition of the environment, not to the policy; masking them is Jin et al. (2025),
Search-R1, arXiv:2503.09516, section 3.1. `tool_run` trains on the table behind a tool with the mask or without it.
"""

from dataclasses import dataclass

import numpy as np

from sim.algorithms import grpo
from sim.experiments.standard_runs import lookup_run
from sim.worlds.optimizer import norm
from sim.worlds.tinylm import FINAL, V

KEY = 2  # the position in a prompt of the requested entry


def built_mask(segments):
    """(response_mask, valid_mask) of one trajectory from its segments, [("policy", 12), ("tool", 30), ...], with
    lengths in tokens.
    """
    author = np.repeat([who == "policy" for who, _ in segments], [length for _, length in segments])
    return author.astype(float), np.ones(len(author))


def dilution(response_mask, valid_mask):
    """The factor on the gradient if a mean over the policy's tokens is divided by the number of all tokens."""
    return response_mask.sum() / valid_mask.sum()


def shifted(own, valid, shift):
    """The mask moved `shift` tokens to the right, (N, T), as if it had been built with an index that is off by that
    many. A row that would become empty keeps its own mask, because a mean over no tokens is undefined.
    """
    place = np.arange(own.shape[1]) - shift
    inside = (place >= 0) & (place < own.shape[1])
    moved = np.where(inside, own[:, np.where(inside, place, 0)], 0.0) * valid
    return np.where(moved.any(axis=1, keepdims=True), moved, own)


def in_loss(own, valid, masked, shift):
    """The mask that the loss gets, (N, T): the policy's tokens and, unless `masked`, the tool's tokens too."""
    return shifted(own, valid, shift) if masked else valid


def squared_push(pi, token):
    """|d log pi(token) / d logits|^2 = 1 - 2 pi(token) + sum pi^2, at most 2, for rows of probabilities (M, V) and
    tokens (M,).
    """
    return 1 - 2 * pi[np.arange(len(pi)), token] + (pi * pi).sum(axis=-1)


def expected_squared_push(pi):
    """Its mean over the policy's own samples, 1 - sum pi^2."""
    return 1 - (pi * pi).sum(axis=-1)


@dataclass(frozen=True)
class Step:
    """One iteration: what was sampled in it, and the gradient before the step."""

    accuracy: float
    call_rate: float  # fraction of completions with a tool call
    tool_share: float  # share of the squared gradient norm, |g_tool|^2 / (|g_tool|^2 + |g_own|^2)
    tool_nll: float  # nats per token, for the tool's tokens under the policy
    dilution: float
    mean_ratio: float  # over the tokens in the loss
    asked: float  # fraction of calls that ask for the prompt's entry
    answered: float  # fraction of calls after whose reply the policy begins its answer
    tokens: np.ndarray  # (T,) of the first completion that called
    own: np.ndarray  # (T,) 1: the policy's
    valid: np.ndarray  # (T,)
    logp: np.ndarray  # (T,)
    push: np.ndarray  # (T,) length of the push on the logits at weight 1


def tool_run(length, *, masked=True, shift=0, diluted=False, recomputed=True, file=grpo, seed=0, steps=60):
    """Steps on 8 x 8 completions with tool outputs of `length` tokens.

    `masked` False: the tool's tokens are in the loss. `shift`: the mask is that many tokens too far to the right.
    `diluted`: the mean is over all tokens. `recomputed` False: the engine has no log-probs for the tool's tokens, and
    the 0 stays in old_logp.
    """

    def over_all_tokens(mask, hp, batch):
        return mask / batch.valid_mask.sum(axis=1, keepdims=True) / len(mask)

    run = lookup_run(
        file,
        seed=seed,
        groups=8,
        K=8,
        length=length,
        hyper=dict(inner_epochs=1, beta=0.0),
        hooks=dict(weights=over_all_tokens) if diluted else None,
    )
    for event in run.iterate(steps):
        if event.stage == 2:
            batch = event.summary["batch"]
            own, valid = batch.response_mask, batch.valid_mask
            batch.response_mask = in_loss(own, valid, masked, shift)
        if event.stage == 5:
            logp, _, cache = run.trainer.policy.token_logp(batch.prompt, batch.tokens, valid)
            if recomputed:
                batch.old_logp = np.where(own > 0, batch.old_logp, logp)
            step = looked_at(batch, own, valid, logp, cache, run, diluted)
        if event.stage == 7:
            yield step


def looked_at(batch, own, valid, logp, cache, run, diluted):
    """The Step of a batch just before the optimizer step."""
    tool, in_loss, policy = valid - own, batch.response_mask > 0, run.trainer.policy
    dlogp, push = run.algorithm.compute_loss(logp, batch).dlogp, pushes(cache, valid)
    from_tool, from_own = 0.0, 1.0
    if (dlogp * tool).any():
        from_tool, from_own = (norm(policy.backward(cache, dlogp * part)) ** 2 for part in (tool, own))
    called = tool.any(axis=1)
    row = int(np.argmax(called))
    calls, (asks, ends) = np.flatnonzero(called), edges(tool[called])
    return Step(
        batch.accuracy.mean(),
        called.mean(),
        from_tool / (from_tool + from_own),
        -logp[tool > 0].mean() if called.any() else np.nan,
        dilution(own, valid if diluted else own),
        np.exp(logp - batch.old_logp)[in_loss].mean(),
        (batch.tokens[calls, asks] == batch.prompt[calls, KEY]).mean() if called.any() else np.nan,
        (batch.tokens[calls, ends] == FINAL).mean() if called.any() else np.nan,
        batch.tokens[row],
        own[row],
        valid[row],
        logp[row],
        push[row],
    )


def edges(tool):
    """In each row, the positions of the token before the tool's turn and of the one after it, (calls,) each."""
    T = tool.shape[1]
    return tool.argmax(axis=1) - 1, np.minimum(T - tool[:, ::-1].argmax(axis=1), T - 1)


def pushes(cache, valid):
    """The length of each token's push on the logits at weight 1, (N, T)."""
    _, _, pi, live, picked, _ = cache
    push = np.zeros(valid.shape)
    push[live] = np.sqrt(squared_push(pi[picked // V], picked % V))
    return push


@dataclass(frozen=True)
class Read:
    """One trajectory as a policy reads it, (T,) each."""

    own: np.ndarray
    logp: np.ndarray
    push: np.ndarray


def reread(steps, *, length=8, seed=0):
    """steps + 1 Reads of the first trajectory with a call, by the policy of a masked run: before its first update, and
    after each.
    """
    run, text = lookup_run(grpo, seed=seed, groups=8, K=8, length=length, hyper=dict(inner_epochs=1, beta=0.0)), None
    for event in run.iterate(steps):
        if text is None and event.stage == 2:
            batch = event.summary["batch"]
            row = [int(np.argmax((batch.valid_mask > batch.response_mask).any(axis=1)))]
            text = [array[row] for array in (batch.prompt, batch.tokens, batch.valid_mask)]
            own = batch.response_mask[row[0]]
            yield read(run.trainer.policy, text, own)
        if event.stage == 7:
            yield read(run.trainer.policy, text, own)


def read(policy, text, own):
    logp, _, cache = policy.token_logp(*text)
    n = int(text[2].sum())
    return Read(own[:n], logp[0, :n], pushes(cache, text[2])[0, :n])
