"""How far apart two engines' log-probs for one token are if one of them rounds: a random residual network, computed
once with 64 bits and once with every result rounded to a format.

It emulates rounding only and does not measure vLLM or a trainer. Sums are exact except for the last of 53 bits, so
errors from the order of an fp32 sum are left out, and the weights are random. The block is that of a pre-norm
transformer without attention, h ← h + B gelu(A norm(h)), with GELU in Hendrycks and Gimpel's sigmoid form
(arXiv:1606.08415).
"""

from functools import cache
from importlib.resources import files

import numpy as np

from sim.estimators.precision import rounded, scaled_e4m3

WIDTH, VOCABULARY, HIDDEN = 64, 512, 256
MODES = ("fp16", "bf16, fp32 head", "bf16", "fp8")
DEPTHS = (2, 4, 8, 16, 24)  # blocks
NETWORKS, TOKENS = 4, 256  # for each depth and mode, as shipped
STORED = {"fp16": "fp16", "bf16, fp32 head": "bf16", "bf16": "bf16", "fp8": "bf16"}  # what results are kept in


def network(seed, layers=8):
    """(blocks, head, the generator that drew them): A (d, 4 d) and B (4 d, d) per block, and the head U (d, V)."""
    rng = np.random.default_rng(seed)
    blocks = [
        (rng.normal(0, WIDTH**-0.5, (WIDTH, HIDDEN)), rng.normal(0, HIDDEN**-0.5, (HIDDEN, WIDTH)))
        for _ in range(layers)
    ]
    return blocks, rng.normal(0, 3 * WIDTH**-0.5, (WIDTH, VOCABULARY)), rng


def norm(h):
    return h / np.sqrt((h * h).mean(1, keepdims=True) + 1e-6)


def gelu(z):
    return z / (1 + np.exp(-1.702 * z))


def logits(blocks, head, x, mode=None):
    """(n, V) from inputs (n, d) under a mode, or without rounding. In fp8, the operands of the blocks' products are
    rounded to e4m3, with one scale per array, and everything is kept in bf16. `fp32 head` rounds the inputs of the last
    product but not its result.
    """
    keep = (lambda a: a) if mode is None else (lambda a: rounded(a, STORED[mode]))
    operand = scaled_e4m3 if mode == "fp8" else keep
    h = keep(x)
    for A, B in blocks:
        z = keep(operand(norm(h)) @ operand(A))
        h = keep(h + keep(operand(gelu(z)) @ operand(B)))
    product = keep(norm(h)) @ keep(head)
    return product if mode == "bf16, fp32 head" else keep(product)


def log_softmax(z):
    z = z - z.max(1, keepdims=True)
    return z - np.log(np.exp(z).sum(1, keepdims=True))


def logp_gap(seed, mode, layers=8, n=512):
    """Δ (n,): the unrounded log-prob of a token minus its log-prob under the mode, for tokens sampled under
    the mode.
    """
    blocks, head, rng = network(seed, layers)
    x = rng.normal(size=(n, WIDTH))
    exact, low = (log_softmax(logits(blocks, head, x, m)) for m in (None, mode))
    token = (np.exp(low).cumsum(1) < rng.random(n)[:, None]).sum(1).clip(0, VOCABULARY - 1)
    return (exact - low)[np.arange(n), token]


def pooled(mode, layers, networks=NETWORKS, tokens=TOKENS):
    """Δ from several networks, concatenated."""
    return np.concatenate([logp_gap(seed, mode, layers, tokens) for seed in range(networks)])


@cache
def gaps():
    """The results of `python -m sim.experiments.rounding_net`: {(mode, layers): Δ (1,024,)}, stored in 16 bits, because
    a browser would take seconds to compute them.
    """
    with np.load(files("sim.experiments") / "data" / "rounding.npz") as stored:
        return {
            (mode, layers): stored["gaps"][i, j].astype(float)
            for i, mode in enumerate(MODES)
            for j, layers in enumerate(DEPTHS)
        }


def kept_a_token(gap):
    """The fraction of the samples that one more token leaves if a sequence is weighted by the product of its ratios and
    tokens are independent: E[ρ]² / E[ρ²], the effective sample size (Kong, 1992) to the power of a length.
    """
    ratio = np.exp(gap)
    return ratio.mean() ** 2 / (ratio**2).mean()


WEIGHINGS = ("the whole sequence", "each token, at most 2", "nothing")


def effective_share(gap, length, weighing=WEIGHINGS[0]):
    """Effective sample size as a fraction: of sequences weighted by the product of their ratios, in closed form for
    independent tokens; of tokens weighted one by one with a ratio capped at 2; or of unweighted samples, 1.
    """
    if weighing == WEIGHINGS[0]:
        return kept_a_token(gap) ** np.asarray(length, float)
    cut = np.minimum(np.exp(gap), 2.0)
    share = cut.mean() ** 2 / (cut**2).mean() if weighing == WEIGHINGS[1] else 1.0
    return np.full(np.shape(length), share)


def uncorrected(gap, length, weighing=WEIGHINGS[0]):
    """The KL (sampler ‖ trainer) of a sequence that the weights leave uncorrected, in nats; a token's own ratio says
    nothing about the tokens before it. It is σ² / 2 per token, for small and normal log-ratios.
    """
    return 0.0 if weighing == WEIGHINGS[0] else float(length) * gap.var() / 2


def half_life(gap):
    """The number of tokens after which half of the samples count."""
    return np.log(0.5) / np.log(kept_a_token(gap))


def drift(gap, lengths, sequences, rng):
    """Σ Δ of sequences whose tokens are drawn from `gap` with replacement, after each of `lengths`: (sequences,
    len(lengths)).
    """
    drawn = gap[rng.integers(len(gap), size=(sequences, int(max(lengths))))]
    return drawn.cumsum(1)[:, np.asarray(lengths, int) - 1]


if __name__ == "__main__":
    path = files("sim.experiments") / "data" / "rounding.npz"
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(path, gaps=np.array([[pooled(m, L) for L in DEPTHS] for m in MODES]).astype(np.float16))
    print(path)
