"""The transformer: its gradients, the numbers of another library, what is kept in decoding, and padding."""

import itertools

import numpy as np
import pytest

from sim.framework.rollout import RolloutEngine
from sim.worlds import tasks, tinylm, transformer
from sim.worlds.tinylm import ASK, CALL, EOS, EQUALS, FINAL, HMM, PAD, PLUS, RESULT, V

# A prompt of four tokens and one of three behind padding; a completion that is padded after its end, and one in which
# <call>3 was answered with <result>7, two tokens that are read and not scored.
PROMPT = np.array([[4, PLUS, 5, EQUALS], [PAD, ASK, 3, EQUALS]])
TOKENS = np.array([[FINAL, 9, EOS, PAD, PAD, PAD], [CALL, 3, RESULT, 7, FINAL, 7]])
MASK = np.array([[1.0, 1, 1, 0, 0, 0], [1, 1, 0, 0, 1, 1]])
DLOGP = np.cos(np.arange(2)[:, None] + 2 * np.arange(6))  # any numbers
TEMPERATURE = 0.7


def waves():
    """Weights that need no generator: the k-th tensor in the order of the names has 0.5 sin(1 + k + 0.3 i^2), a gain
    one more; squares, or a matrix would have rank two.
    """
    policy = transformer.Policy()
    for k, (name, array) in enumerate(sorted(policy.params.items())):
        i = np.arange(array.size, dtype=float)
        policy.params[name] = 0.5 * np.sin(1 + k + 0.3 * i * i).reshape(array.shape) + name.endswith("gain")
    return policy


def rows(n=16, T=8, seed=0):
    """Random prompts, completions and a mask with holes; padding is among the tokens."""
    rng = np.random.default_rng(seed)
    return rng.integers(V, size=(n, 4)), rng.integers(V, size=(n, T)), (rng.random((n, T)) < 0.7).astype(float)


def test_it_has_11040_parameters():
    # tables of 20 and 32 rows of 24; two blocks with two norms, 24 x 72, 24 x 24, 24 x 48 and 48 x 24, each with its
    # bias; the last norm
    block = 4 * 24 + 24 * 72 + 72 + 24 * 24 + 24 + 24 * 48 + 48 + 48 * 24 + 24
    assert sum(array.size for array in transformer.Policy().params.values()) == 52 * 24 + 2 * block + 48 == 11_040


# PyTorch 2.13.0 on a CPU, float64, P the weights of `waves`; every gradient of ours was within 1e-12 of its own.
#
#   row = torch.cat([prompt, tokens[:, :-1]], 1)                              # L = 9
#   real = row != 19
#   position = (real.cumsum(1) - 1).clamp(min=0)
#   visible = torch.ones(L, L).tril().bool() & real[:, None, :] | torch.eye(L).bool()
#   norm = lambda x, n: F.layer_norm(x, (24,), P[n + ".gain"], P[n + ".bias"], 1e-5)
#   line = lambda x, n: F.linear(x, P[n + ".weight"].T, P[n + ".bias"])
#   x = F.embedding(row, P["token"]) + F.embedding(position, P["position"])
#   for b in "01":
#       q, k, v = line(norm(x, b + ".attention.norm"), b + ".attention.in").view(2, L, 3, 4, 6).permute(2, 0, 3, 1, 4)
#       y = F.scaled_dot_product_attention(q, k, v, attn_mask=visible[:, None])
#       x = x + line(y.transpose(1, 2).reshape(2, L, 24), b + ".attention.out")
#       x = x + line(F.gelu(line(norm(x, b + ".mlp.norm"), b + ".mlp.in"), approximate="tanh"), b + ".mlp.out")
#   log_pi = F.log_softmax(norm(x, "norm")[:, 3:] @ P["token"].T / 24**0.5 / 0.7, -1)
#   logp = log_pi.gather(2, tokens[..., None])[..., 0] * mask
#   (dlogp * logp).sum().backward()
LOGP = np.array(
    [
        [-3.3734711751, -2.6335207231, -2.8213799160, 0, 0, 0],
        [-2.7488632382, -2.7673351515, 0, 0, -3.4362207761, -3.4910628868],
    ]
)
GRADIENTS = [  # tensor, where its largest entry is, that entry, the norm of all
    ("0.attention.in.bias", 20, 0.189536775, 0.493158385),
    ("0.attention.in.weight", 1111, -0.579669646, 4.03279004),
    ("0.attention.norm.bias", 20, -0.426665849, 0.907836136),
    ("0.attention.norm.gain", 10, 0.74734449, 1.53371572),
    ("0.attention.out.weight", 491, 0.336334269, 1.84551619),
    ("0.mlp.in.weight", 843, -0.355597579, 1.52358096),
    ("0.mlp.out.weight", 185, 0.195441278, 1.31384558),
    ("1.attention.in.weight", 1131, -0.298545813, 1.29163028),
    ("1.mlp.in.bias", 3, 0.0898829423, 0.203103309),
    ("1.mlp.norm.gain", 12, -0.217914271, 0.435728041),
    ("norm.gain", 18, -0.376117383, 0.75491906),
    ("position", 82, 1.23044476, 3.04281705),
    ("token", 268, 0.916540847, 4.08609588),
]


def test_its_log_probs_are_those_of_pytorch():
    logp, _, _ = waves().token_logp(PROMPT, TOKENS, MASK, TEMPERATURE)
    np.testing.assert_allclose(logp, LOGP, rtol=0, atol=1e-9)


def test_its_gradients_are_those_of_pytorch():
    policy = waves()
    _, _, cache = policy.token_logp(PROMPT, TOKENS, MASK, TEMPERATURE)
    grads = policy.backward(cache, DLOGP)
    for name, at, entry, norm in GRADIENTS:
        assert grads[name].flat[at] == pytest.approx(entry, rel=1e-8), name
        assert np.sqrt((grads[name] ** 2).sum()) == pytest.approx(norm, rel=1e-8), name


@pytest.mark.parametrize("name", transformer.Policy().params)
def test_the_gradient_of_every_tensor_agrees_with_central_differences(name):
    policy, rng, step = waves(), np.random.default_rng(2), 1e-4
    _, _, cache = policy.token_logp(PROMPT, TOKENS, MASK, TEMPERATURE)
    grad = policy.backward(cache, DLOGP)[name]

    def value(array, i, moved):
        policy.params[name] = array.copy()
        policy.params[name].flat[i] += moved
        return (policy.token_logp(PROMPT, TOKENS, MASK, TEMPERATURE)[0] * DLOGP).sum()

    array, largest = policy.params[name], np.abs(grad).max()
    # a token or a position that no row has gets no gradient, so half of the entries are the largest ones
    for i in [*np.argsort(-np.abs(grad).ravel())[:10], *rng.integers(grad.size, size=10)]:
        near, far = (value(array, i, h) - value(array, i, -h) for h in (step, 2 * step))
        slope = (8 * near - far) / (12 * step)  # of fourth order: the error of the plain difference is too near
        assert abs(slope - grad.flat[i]) < 1e-6 * max(abs(grad.flat[i]), 1e-2 * largest), (i, slope, grad.flat[i])


def test_a_bias_of_the_keys_changes_nothing():
    """It adds the same number to all scores of a query, which a softmax does not see."""
    policy = waves()
    logp, _, cache = policy.token_logp(PROMPT, TOKENS, MASK)
    keys = np.abs(policy.backward(cache, DLOGP)["0.attention.in.bias"][24:48])
    assert keys.max() < 1e-12
    policy.params["0.attention.in.bias"] += np.where(np.arange(72) // 24 == 1, 5.0, 0.0)
    np.testing.assert_allclose(policy.token_logp(PROMPT, TOKENS, MASK)[0], logp, rtol=0, atol=1e-11)


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_decoding_with_what_was_kept_is_the_full_pass(temperature):
    prompt, tokens, _ = rows()
    policy, every = waves(), np.ones(tokens.shape)
    logp, entropy, _ = policy.token_logp(prompt, tokens, every, temperature)
    decode = policy.prefill(prompt, temperature)
    for t in range(tokens.shape[1]):
        log_pi = decode(tokens, t)
        np.testing.assert_allclose(np.exp(log_pi).sum(axis=1), 1, rtol=0, atol=1e-12)
        np.testing.assert_allclose(log_pi[np.arange(16), tokens[:, t]], logp[:, t], rtol=0, atol=1e-12)
        np.testing.assert_allclose(-(np.exp(log_pi) * log_pi).sum(axis=1), entropy[:, t], rtol=0, atol=1e-12)


def test_decoding_may_read_several_tokens_at_once_but_never_go_back():
    prompt, tokens, _ = rows()
    logp, _, _ = waves().token_logp(prompt, tokens, np.ones(tokens.shape))
    decode = waves().prefill(prompt)
    for t in (0, 3, 3, 7):
        np.testing.assert_allclose(decode(tokens, t)[np.arange(16), tokens[:, t]], logp[:, t], rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="7 tokens were read, and t is 6"):
        decode(tokens, 6)


def test_a_temperature_divides_the_logits():
    prompt, tokens, _ = rows()
    plain, cold = (waves().prefill(prompt, temperature)(tokens, 0) for temperature in (1.0, 0.5))
    assert np.allclose(cold, tinylm.log_softmax(plain / 0.5), rtol=0, atol=1e-12) and not np.allclose(cold, plain)


def test_padding_at_either_side_changes_no_log_prob():
    pad = np.full((2, 5), PAD)
    alone, entropy, cache = waves().token_logp(PROMPT, TOKENS, MASK)
    grads = waves().backward(cache, DLOGP)
    left = np.concatenate([pad, PROMPT], axis=1)
    right, mask, dlogp = (
        np.concatenate([array, filler], axis=1)
        for array, filler in ((TOKENS, pad), (MASK, 0.0 * pad), (DLOGP, 1.0 * pad))
    )
    logp, spread, cache = waves().token_logp(left, right, mask)
    np.testing.assert_allclose(logp[:, :6], alone, rtol=0, atol=1e-12)
    np.testing.assert_allclose(spread[:, :6], entropy, rtol=0, atol=1e-12)
    assert not logp[:, 6:].any()
    padded = waves().backward(cache, dlogp)
    assert all(np.allclose(padded[name], grad, rtol=0, atol=1e-10) for name, grad in grads.items())
    decode = waves().prefill(left)
    assert decode(TOKENS, 0)[0, FINAL] == pytest.approx(alone[0, 0], abs=1e-12)


def test_a_row_does_not_depend_on_the_rows_beside_it():
    prompt, tokens, mask = rows()
    together, _, _ = waves().token_logp(prompt, tokens, mask)
    for i in range(4):
        alone, _, _ = waves().token_logp(prompt[i : i + 1], tokens[i : i + 1], mask[i : i + 1])
        np.testing.assert_allclose(alone[0], together[i], rtol=0, atol=1e-12)


def test_rows_that_are_alike_are_computed_once_and_each_gets_its_own_answer_and_its_own_push():
    prompt, tokens, _ = rows()
    mask, again = rows(n=48, seed=3)[2], np.tile(np.arange(16), 3)  # the same rows, each time with another mask
    policy, dlogp = waves(), np.cos(np.arange(48 * 8.0)).reshape(48, 8)
    logp, entropy, cache = policy.token_logp(prompt[again], tokens[again], mask)
    grads, alone = policy.backward(cache, dlogp), {}
    for i, row in enumerate(again):
        one = prompt[row : row + 1], tokens[row : row + 1], mask[i : i + 1]
        own_logp, own_entropy, own_cache = policy.token_logp(*one)
        np.testing.assert_allclose(logp[i], own_logp[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(entropy[i], own_entropy[0], rtol=0, atol=1e-12)
        for name, grad in policy.backward(own_cache, dlogp[i : i + 1]).items():
            alone[name] = alone.get(name, 0) + grad
    assert all(np.allclose(grads[name], grad, rtol=0, atol=1e-9) for name, grad in alone.items())
    assert len(cache[0]["new"]) == 16  # what went through the layers


def test_completions_of_one_prompt_share_what_is_kept_until_they_part():
    prompt, tokens = np.tile(PROMPT[:1], (4, 1)), np.array([[HMM, 1, 2], [HMM, 1, 3], [HMM, 1, 3], [FINAL, 1, 3]])
    decode, kept = waves().prefill(prompt), []
    for t in range(4):
        decode(tokens, t)
        kept.append(len(decode.past[0][0]))
    assert kept == [1, 2, 2, 3]


def test_nothing_at_or_after_a_position_leaks_into_it_and_all_before_it_counts():
    prompt, tokens, _ = rows(seed=1)
    prompt, tokens = prompt % PAD, tokens % PAD  # no padding
    policy, everywhere = waves(), np.ones(tokens.shape)
    logp, entropy, _ = policy.token_logp(prompt, tokens, everywhere)
    for t in range(8):
        later = tokens.copy()
        later[:, t] = (later[:, t] + 7) % PAD
        changed_logp, changed_entropy, _ = policy.token_logp(prompt, later, everywhere)
        np.testing.assert_allclose(changed_logp[:, :t], logp[:, :t], rtol=0, atol=1e-12)
        np.testing.assert_allclose(changed_entropy[:, : t + 1], entropy[:, : t + 1], rtol=0, atol=1e-12)
        # the window of tinylm forgets a token after four; this does not
        assert (changed_entropy[:, t + 1 :] != entropy[:, t + 1 :]).all()


def test_the_order_of_the_tokens_counts():
    one, other = (waves().prefill(np.array([[a, PLUS, b, EQUALS]]))(TOKENS[:1], 0) for a, b in ((3, 8), (8, 3)))
    assert np.abs(one - other).max() > 0.1


def test_tokens_off_the_mask_are_read_but_have_no_log_prob_and_no_gradient():
    policy = waves()
    logp, entropy, cache = policy.token_logp(PROMPT, TOKENS, MASK)
    assert not logp[MASK == 0].any() and not entropy[MASK == 0].any() and (logp[MASK > 0] < 0).all()
    some, other = (policy.backward(cache, np.where(MASK > 0, DLOGP, off)) for off in (0.0, 9.0))
    assert all(np.array_equal(some[name], other[name]) for name in some)
    told = TOKENS.copy()
    told[1, 3] = 2  # the tool's reply is another one
    assert abs(policy.token_logp(PROMPT, told, MASK)[0][1, 4:] - logp[1, 4:]).min() > 1e-3


@pytest.mark.when_changed()
def test_the_log_probs_of_all_completions_of_three_tokens_sum_to_one():
    every = np.array(list(itertools.product(range(V), repeat=3)))
    prompt = np.tile([3, PLUS, 4, EQUALS], (len(every), 1))
    logp, _, _ = waves().token_logp(prompt, every, np.ones(every.shape))
    assert abs(np.exp(logp.sum(axis=1)).sum() - 1) < 1e-10


@pytest.mark.parametrize("task", [tasks.Add(), tasks.Lookup(6)])
def test_the_rollout_writes_down_the_log_probs_that_the_trainer_computes(task):
    policy = transformer.Policy(seed=1)
    batch, _ = RolloutEngine(policy).generate(task, np.arange(8), 8, np.random.default_rng(0))
    logp, _, _ = policy.token_logp(batch.prompt, batch.tokens, batch.response_mask)
    np.testing.assert_allclose(batch.old_logp, logp, rtol=0, atol=1e-12)


def test_a_copy_is_another_policy():
    policy = waves()
    twin = policy.copy()
    before, _, _ = twin.token_logp(PROMPT, TOKENS, MASK)
    for array in policy.params.values():
        array += 1
    assert np.array_equal(twin.token_logp(PROMPT, TOKENS, MASK)[0], before)


def test_a_row_needs_a_position_for_every_token_that_is_read():
    fits, longer = np.full((1, 29), HMM), np.full((1, 30), HMM)
    transformer.Policy().token_logp(PROMPT[:1], fits, np.ones(fits.shape))  # 4 + 28: the last token is not read
    with pytest.raises(ValueError, match="at most 32 tokens, not 33"):
        transformer.Policy().token_logp(PROMPT[:1], longer, np.ones(longer.shape))
