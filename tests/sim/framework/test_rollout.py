from dataclasses import replace

import numpy as np
import pytest

from sim.framework.rollout import RolloutEngine, join, nucleus
from sim.worlds import modsum


def rollout(prompts=(0, 1, 2, 3), K=4, seed=0, **settings):
    return RolloutEngine(modsum.Policy()).generate(
        modsum.Task(), np.array(prompts), K, np.random.default_rng(seed), **settings
    )[0]


class Forcing:
    """An environment that writes token 1 at the second position of every row."""

    def step(self, tokens, t):
        return np.full(len(tokens), 1 if t == 1 else -1)


class ForcingTask(modsum.Task):
    def environment(self, example, rng):
        return Forcing()


def test_the_completions_of_a_prompt_are_adjacent():
    np.testing.assert_array_equal(rollout(prompts=(2, 0), K=3).example, [2, 2, 2, 0, 0, 0])


def test_old_log_probs_are_those_of_the_policy_that_sampled():
    batch = rollout(K=50)
    logp, _, _ = modsum.Policy().token_logp(batch.prompt, batch.tokens, batch.response_mask)
    np.testing.assert_allclose(batch.old_logp, logp, atol=1e-15)


def test_a_completion_ends_with_its_first_end_token_and_is_padding_after_it():
    batch = rollout(K=50)
    ended = (batch.tokens == modsum.EOS) & (batch.response_mask > 0)
    np.testing.assert_array_equal(ended.sum(axis=1), batch.finished)
    np.testing.assert_array_equal(batch.response_mask, (np.cumsum(ended, axis=1) - ended) == 0)
    assert (batch.tokens[batch.valid_mask == 0] == modsum.EOS).all()


def test_tokens_of_the_environment_are_valid_but_not_the_policys():
    batch, environment = RolloutEngine(modsum.Policy()).generate(
        ForcingTask(), np.arange(4), 50, np.random.default_rng(0)
    )
    longer = batch.response_mask[:, 0] * (batch.tokens[:, 0] != modsum.EOS) > 0
    assert isinstance(environment, Forcing) and longer.any()
    assert (batch.tokens[longer, 1] == 1).all() and (batch.valid_mask[longer, 1] == 1).all()
    assert (batch.response_mask[:, 1] == 0).all() and (batch.old_logp[:, 1] == 0).all()


def test_a_low_temperature_takes_the_likeliest_token():
    batch = rollout(K=20, temperature=1e-3)
    assert (
        batch.tokens[batch.example == 3] == modsum.EOS
    ).all()  # c = -1.5: ending on a wrong sum has logit +0.75, a digit 0
    running = (batch.tokens[batch.example == 0] + 1).cumsum(axis=1) % 7
    assert (
        running[:, :-1][batch.tokens[batch.example == 0][:, 1:] == modsum.EOS][:1] == modsum.TARGETS[0]
    ).all()  # c = 2: ends on the target


def test_a_nucleus_keeps_the_smallest_set_that_holds_top_p():
    logp = np.log(np.array([[0.5, 0.3, 0.15, 0.05]]))
    np.testing.assert_allclose(np.exp(nucleus(logp, 0.7)), [[0.625, 0.375, 0, 0]], atol=1e-15)
    np.testing.assert_allclose(np.exp(nucleus(logp, 0.5)), [[1, 0, 0, 0]], atol=1e-15)
    assert nucleus(logp, 1.0) is logp
    assert set(rollout(prompts=(0,), K=200, top_p=0.01).tokens[:, 0]) == {0}  # four level tokens: ties go to the first


def test_rows_and_join_undo_each_other():
    batch = rollout()
    whole = join([batch.rows(np.arange(4)), batch.rows(np.arange(4, 16))])
    np.testing.assert_array_equal(whole.tokens, batch.tokens)
    assert whole.K == batch.K and whole.reward is None


def test_the_rollout_keeps_sampling_from_the_weights_it_was_given():
    policy = modsum.Policy()
    engine = RolloutEngine(policy)
    policy.params["theta"][:] = 0
    assert engine.policy.params["theta"].max() == 2
    engine.load(policy.params, version=7)
    policy.params["theta"][:] = 1
    assert engine.policy.params["theta"].max() == 0 and engine.version == 7


def test_an_empty_prompt_set_is_refused():
    with pytest.raises(ValueError, match="prompts must not be empty"):
        rollout(prompts=())


def test_masks_that_do_not_match_are_refused():
    batch = rollout()
    with pytest.raises(ValueError, match="old_logp must have the shape of tokens"):
        replace(batch, old_logp=batch.old_logp[:, :-1])
    with pytest.raises(ValueError, match="response_mask must lie within valid_mask"):
        replace(batch, response_mask=np.ones(batch.tokens.shape), valid_mask=np.zeros(batch.tokens.shape))
