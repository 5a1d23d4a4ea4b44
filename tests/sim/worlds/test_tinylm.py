"""The tiny language model: what it sees, that its log-probs are exact, and that its gradients are right."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.worlds import tinylm
from sim.worlds.tinylm import EOS, FINAL, HMM, PAD, V


def rows(n=16, T=8, seed=0):
    """Random prompts, completions and a mask with holes."""
    rng = np.random.default_rng(seed)
    return rng.integers(V, size=(n, 4)), rng.integers(V, size=(n, T)), (rng.random((n, T)) < 0.7).astype(float)


def busy(policy, seed=1):
    """The same net with weights of order one, so that no gradient is near zero."""
    rng = np.random.default_rng(seed)
    policy.params = {name: array + rng.normal(0, 0.3, array.shape) for name, array in policy.params.items()}
    return policy


def relative_error(value, params, grads, seed=2):
    """The largest of 40 random entries per tensor, central differences against the gradient."""
    rng, worst = np.random.default_rng(seed), 0.0
    for name, array in params.items():
        for _ in range(40):
            at = tuple(rng.integers(size) for size in array.shape)
            kept = array[at]
            array[at] = kept + 1e-5
            above = value()
            array[at] = kept - 1e-5
            below = value()
            array[at] = kept
            worst = max(worst, abs((above - below) / 2e-5 - grads[name][at]) / max(1e-3, abs(grads[name][at])))
    return worst


def test_it_has_8708_parameters_and_its_critic_7777():
    # 160 * 48 + 48 + 48 * 20 + 20 and 160 * 48 + 48 + 48 + 1
    assert sum(array.size for array in tinylm.Policy().params.values()) == 8708
    assert sum(array.size for array in tinylm.Critic().params.values()) == 7777


def test_text_and_tokens_are_exact_inverses():
    for tokens in itertools.product(range(V), repeat=2):
        assert tinylm.encode(tinylm.decode(tokens)) == list(tokens)
    assert tinylm.encode("hmm Final: 12<eos>") == [HMM, FINAL, 1, 2, EOS]
    assert not [
        (a, b) for a in tinylm.TEXT for b in tinylm.TEXT if a != b and b.startswith(a)
    ]  # so any text is read one way


@given(st.lists(st.integers(0, V - 1)))
def test_retokenizing_never_drifts(tokens):
    assert tinylm.encode(tinylm.decode(tokens)) == tokens


def test_a_position_sees_the_prompt_and_the_four_tokens_before_it():
    seen = tinylm.contexts(np.array([[1, 2, 3, 4]]), np.array([[5, 6, 7, 8, 9, 0]]))
    assert seen[0].tolist() == [
        [1, 2, 3, 4, PAD, PAD, PAD, PAD],
        [1, 2, 3, 4, PAD, PAD, PAD, 5],
        [1, 2, 3, 4, PAD, PAD, 5, 6],
        [1, 2, 3, 4, PAD, 5, 6, 7],
        [1, 2, 3, 4, 5, 6, 7, 8],
        [1, 2, 3, 4, 6, 7, 8, 9],
    ]


def test_nothing_at_or_after_a_position_leaks_into_it():
    prompt, tokens, _ = rows()
    policy, everywhere = busy(tinylm.Policy()), np.ones(tokens.shape)
    logp, entropy, _ = policy.token_logp(prompt, tokens, everywhere)
    decode = policy.prefill(prompt)
    for t in range(tokens.shape[1]):
        later = tokens.copy()
        later[:, t:] = (later[:, t:] + 7) % V
        changed_logp, changed_entropy, _ = policy.token_logp(prompt, later, everywhere)
        assert np.array_equal(changed_logp[:, :t], logp[:, :t]) and np.array_equal(
            changed_entropy[:, : t + 1], entropy[:, : t + 1]
        )
        assert np.array_equal(decode(later, t), decode(tokens, t))


def test_a_fresh_net_is_near_uniform():
    prompt, tokens, mask = rows(200)
    _, entropy, _ = tinylm.Policy(seed=3).token_logp(prompt, tokens, mask)
    assert abs(entropy[mask > 0].mean() - np.log(20)) < 0.01


@pytest.mark.parametrize("temperature", [1.0, 0.7, 1.5])
def test_its_log_probs_are_those_of_the_net_written_out_with_one_hot_vectors(temperature):
    prompt, tokens, mask = rows()
    policy = busy(tinylm.Policy())
    x = np.eye(V)[tinylm.contexts(prompt, tokens)].reshape(*tokens.shape, 8 * V)
    logits = (
        np.tanh(x @ policy.params["W1"] + policy.params["b1"]) @ policy.params["W2"] + policy.params["b2"]
    ) / temperature
    log_pi = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
    logp, entropy, _ = policy.token_logp(prompt, tokens, mask, temperature)
    assert np.allclose(logp, np.take_along_axis(log_pi, tokens[:, :, None], 2)[:, :, 0] * mask, rtol=0, atol=1e-12)
    assert np.allclose(entropy, -(np.exp(log_pi) * log_pi).sum(axis=2) * mask, rtol=0, atol=1e-12)
    decode = policy.prefill(prompt, temperature)
    assert all(np.allclose(decode(tokens, t), log_pi[:, t], rtol=0, atol=1e-12) for t in range(tokens.shape[1]))


def test_the_log_probs_of_all_completions_of_three_tokens_sum_to_one():
    every = np.array(list(itertools.product(range(V), repeat=3)))
    prompt = np.tile([3, tinylm.PLUS, 4, tinylm.EQUALS], (len(every), 1))
    logp, _, _ = busy(tinylm.Policy()).token_logp(prompt, every, np.ones(every.shape))
    assert abs(np.exp(logp.sum(axis=1)).sum() - 1) < 1e-10


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_the_gradient_agrees_with_central_differences(temperature):
    prompt, tokens, mask = rows()
    policy, dlogp = busy(tinylm.Policy()), np.random.default_rng(4).normal(size=mask.shape) * mask
    _, _, cache = policy.token_logp(prompt, tokens, mask, temperature)
    grads = policy.backward(cache, dlogp)
    assert {name: array.shape for name, array in grads.items()} == {
        name: array.shape for name, array in policy.params.items()
    }
    assert (
        relative_error(
            lambda: (policy.token_logp(prompt, tokens, mask, temperature)[0] * dlogp).sum(), policy.params, grads
        )
        < 1e-5
    )


def test_tokens_off_the_mask_have_no_gradient():
    prompt, tokens, mask = rows()
    policy = busy(tinylm.Policy())
    _, _, cache = policy.token_logp(prompt, tokens, mask)
    everywhere = np.random.default_rng(4).normal(size=mask.shape)
    some, all_ = policy.backward(cache, everywhere * mask), policy.backward(cache, everywhere)
    assert all(np.array_equal(some[name], all_[name]) for name in some)


def test_logits_of_a_thousand_stay_finite():
    prompt, tokens, mask = rows()
    policy = tinylm.Policy()
    policy.params["b2"] = np.linspace(-1000, 1000, V)
    logp, entropy, cache = policy.token_logp(prompt, tokens, mask)
    grads = policy.backward(cache, mask)
    assert np.isfinite(logp).all() and np.isfinite(entropy).all() and all(np.isfinite(g).all() for g in grads.values())


def test_a_copy_does_not_follow_the_original():
    prompt, tokens, mask = rows()
    policy = busy(tinylm.Policy())
    twin, before = policy.copy(), policy.token_logp(prompt, tokens, mask)[0]
    for array in policy.params.values():
        array += 1.0
    assert np.array_equal(twin.token_logp(prompt, tokens, mask)[0], before)


def test_contexts_are_told_apart_in_64_bits():
    # two contexts that differ in the last slot alone are 20^7 * 19 apart: more than 2^31
    last = np.full((2, 8), PAD)
    last[0, 7] = 0
    assert tinylm.PLACE.dtype == np.int64
    assert (last @ tinylm.PLACE)[1] - (last @ tinylm.PLACE)[0] == 19 * 20**7


def test_the_critic_starts_at_zero_and_steps_down_the_squared_error():
    prompt, tokens, mask = rows()
    returns = np.random.default_rng(5).normal(size=mask.shape) * mask
    critic = tinylm.Critic()
    assert not critic.values(prompt, tokens, mask).any()
    errors = []
    for _ in range(30):
        errors.append((((critic.values(prompt, tokens, mask) - returns) * mask) ** 2).sum() / mask.sum())
        critic.fit(prompt, tokens, mask, returns)
    assert all(after < before for before, after in itertools.pairwise(errors)) and errors[-1] < 0.5 * errors[0]


def test_the_gradient_of_the_critic_agrees_with_central_differences():
    prompt, tokens, mask = rows()
    returns = np.random.default_rng(5).normal(size=mask.shape) * mask
    critic, seen = busy(tinylm.Critic()), {}
    critic.optimizer = type("Recorder", (), {"step": staticmethod(lambda params, grads: seen.update(grads))})
    critic.fit(prompt, tokens, mask, returns)
    assert (
        relative_error(
            lambda: (((critic.values(prompt, tokens, mask) - returns) * mask) ** 2).sum() / mask.sum(),
            critic.params,
            seen,
        )
        < 1e-5
    )


def test_a_critic_with_the_state_of_another_goes_on_as_it():
    prompt, tokens, mask = np.zeros((1, 4), int), np.array([[FINAL, 3, EOS]]), np.ones((1, 3))
    one, other = tinylm.Critic(), tinylm.Critic()
    one.fit(prompt, tokens, mask, np.full((1, 3), 0.7))
    other.load_state_dict(one.state_dict())
    for critic in (one, other):
        critic.fit(prompt, tokens, mask, np.full((1, 3), 0.2))
    assert (one.values(prompt, tokens, mask) == other.values(prompt, tokens, mask)).all()
    assert one.optimizer.steps == other.optimizer.steps == 2


def test_every_token_has_a_name_of_its_own_in_figures_in_a_cell_of_a_phone_too():
    named, brief = ([name(token) for token in range(tinylm.V)] for name in (tinylm.word, tinylm.brief))
    assert named == [*"0123456789", "+", "=", "Final", "hmm", "call", "result", "?", "err", "end", "pad"]
    assert len(set(brief)) == tinylm.V and max(map(len, brief)) == 4
