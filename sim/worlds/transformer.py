"""A transformer in numpy: causal self-attention and a two-layer perceptron in pre-norm blocks, with each layer's
backward pass below it.

It replaces the window of sim/worlds/tinylm.py behind the same five names and uses the same twenty tokens. Every
position sees all tokens before it, and learned position embeddings encode the order. It has 11,040 parameters.
Attention: Vaswani et al. (2017), arXiv:1706.03762; the norm before each layer and learned positions: Radford et al.
(2019), GPT-2; layer norm: Ba et al. (2016), arXiv:1607.06450; GELU: Hendrycks and Gimpel (2016), arXiv:1606.08415; one
table for input and output tokens: Press and Wolf (2016), arXiv:1608.05859. There is no dropout, and it shares only its
architecture with real models.

Shapes: N rows, L columns read now, S >= L columns seen (those kept from before and those read now), D numbers per
position, H heads of D/H numbers each.
"""

import numpy as np

from sim.worlds.tinylm import PAD, V, log_softmax

D, H, LAYERS, WIDE, LONGEST = 24, 4, 2, 48, 32  # WIDE: the perceptron's width (4 D in GPT-2); LONGEST: tokens per row
EPS = 1e-5  # added to the variance, as in PyTorch


class Policy:
    """log pi(token | all tokens before it) at a temperature, with the five names that the framework expects of a
    policy.
    """

    def __init__(self, seed=0):
        self.params = initial(np.random.default_rng(seed))

    def prefill(self, prompt, temperature=1.0):
        """decode(tokens, t) -> (N, V), the log-probs of the token at position t. The prompt is read at once, in
        parallel; decode reads only what was written since.
        """
        return Decoder(self.params, prompt, temperature)

    def token_logp(self, prompt, tokens, mask, temperature=1.0):
        """log pi of every token and the entropy of its distribution, both (N, T) and 0 outside the mask, and the cache
        for backward.

        One pass over prompt and completion scores all tokens at once: column i of the output predicts column i + 1.
        """
        width, (row, _, of) = prompt.shape[1], distinct(np.concatenate([prompt, tokens], axis=1))
        # the last token is predicted but never read
        hidden, _, kept = forward(self.params, row[:, :-1], *nothing(len(row)))
        hidden = hidden[:, width - 1 :]  # (U, T, D): from the prompt's last column on
        log_pi = log_softmax(head(self.params, hidden) / temperature)  # (U, T, V)
        pi = np.exp(log_pi)
        logp = np.take_along_axis(log_pi, row[:, width:, None], axis=2)[..., 0]
        entropy = -(pi * log_pi).sum(axis=2)
        return logp[of] * mask, entropy[of] * mask, (kept, hidden, pi, row[:, width:], of, mask, temperature)

    def backward(self, cache, dlogp):
        """The gradient of sum(dlogp * logp), with the keys of params. d logp / d logits = (one-hot of the token - pi) /
        temperature.
        """
        kept, hidden, pi, tokens, of, mask, temperature = cache
        pushed = np.zeros(tokens.shape)
        np.add.at(pushed, of, dlogp * mask / temperature)  # (U, T): summed over identical rows
        dhidden, predicted = head_backward(self.params, hidden, (one_hot(tokens, V) - pi) * pushed[..., None])
        # only the last column of the prompt predicts something
        silent = np.zeros((len(tokens), kept["new"].shape[1] - tokens.shape[1], D))
        grads = backward(self.params, kept, np.concatenate([silent, dhidden], axis=1))
        return grads | {"token": grads["token"] + predicted}  # the table is used twice, so its gradient has two parts

    def copy(self):
        twin = object.__new__(Policy)
        twin.params = {name: array.copy() for name, array in self.params.items()}
        return twin


class Decoder:
    """The completions of one batch of prompts as they grow. It keeps the keys and values of the columns already read
    (the KV cache), so a token costs one column instead of all of them again. Rows that are identical so far, such as
    the completions of one prompt before they diverge, are read and kept once (prefix caching).

    Nothing before a column depends on that column, so what was kept stays valid.
    """

    def __init__(self, params, prompt, temperature):
        self.params, self.temperature, self.width = params, temperature, prompt.shape[1]
        self.row, self.past = nothing(len(prompt))
        self.of = np.arange(len(prompt))  # each row's index in `past`
        self.logp = self.extended(prompt)

    def __call__(self, tokens, t):
        """(N, V), the log-probs at position t; tokens read in an earlier call are not processed again."""
        read = self.row.shape[1] - self.width
        if t < read:
            raise ValueError(f"t must not go back: {read} tokens were read, and t is {t}")
        if t > read:
            self.logp = self.extended(tokens[:, read:t])
        return self.logp

    def extended(self, new):
        """The log-probs after these columns, (N, L) -> (N, V); what was computed for them is kept."""
        self.row = np.concatenate([self.row, new], axis=1)
        row, first, of = distinct(self.row)
        past = [tuple(kept[self.of[first]] for kept in block) for block in self.past]
        before, new = np.split(row, [-new.shape[1]], axis=1)
        hidden, self.past, _ = forward(self.params, new, before, past)
        self.of = of
        return log_softmax(head(self.params, hidden[:, -1]) / self.temperature)[of]


def distinct(row):
    """The distinct rows of (N, S), each once, (U, S); the first index of each, (U,); and which of them each row is,
    (N,). Completions of one prompt are often identical so far, and what is computed for one holds for all.
    """
    unique, first, of = np.unique(row, axis=0, return_index=True, return_inverse=True)
    return unique, first, of.ravel()


def nothing(N):
    """What is kept before the first column: no tokens, (N, 0), and no keys and values, (N, H, 0, D/H) each, in every
    block.
    """
    empty = np.zeros((N, H, 0, D // H))
    return np.zeros((N, 0), np.int64), [(empty, empty)] * LAYERS


def initial(rng):
    """Weights that preserve the size of what passes through them. A layer's contribution is scaled by 1/sqrt(2 LAYERS),
    because there are 2 LAYERS of them and their sum would grow with depth (GPT-2).
    """
    params = {"token": rng.normal(0, 1, (V, D)), "position": rng.normal(0, 0.3, (LONGEST, D))}
    shapes = {"attention.in": (D, 3 * D), "attention.out": (D, D), "mlp.in": (D, WIDE), "mlp.out": (WIDE, D)}
    for block in range(LAYERS):
        for layer, (rows, columns) in shapes.items():
            scale = (2 * LAYERS) ** -0.5 if layer.endswith("out") else 1.0
            params[f"{block}.{layer}.weight"] = rng.normal(0, scale * rows**-0.5, (rows, columns))
            params[f"{block}.{layer}.bias"] = np.zeros(columns)
    for norm in [f"{block}.{layer}.norm" for block in range(LAYERS) for layer in ("attention", "mlp")] + ["norm"]:
        params[f"{norm}.gain"], params[f"{norm}.bias"] = np.ones(D), np.zeros(D)
    return params


def forward(params, new, before, past):
    """Tokens (N, L) -> hidden (N, L, D), the keys and values of every block, and the cache for backward.

    `before` (N, S - L) are the columns before them, and `past` the keys and values of those.
    """
    position, visible = layout(np.concatenate([before, new], axis=1), new.shape[1])
    x = params["token"][new] + params["position"][position]  # (N, L, D)
    present, kept = [], {"new": new, "position": position}
    for block in range(LAYERS):
        layer = f"{block}.attention"
        added, keys_values, kept[layer] = attention(part(params, layer), x, visible, past[block])
        x = x + added
        layer = f"{block}.mlp"
        added, kept[layer] = mlp(part(params, layer), x)
        x = x + added
        present.append(keys_values)
    hidden, kept["norm"] = layer_norm(part(params, "norm"), x)
    return hidden, present, kept


def backward(params, kept, dhidden):
    """The parameters' gradient from that of hidden, (N, L, D). A sum passes its gradient to both terms, so a block's
    incoming gradient bypasses each layer unchanged and also flows through it.
    """
    dx, grads = layer_norm_backward(part(params, "norm"), kept["norm"], dhidden)
    grads = named("norm", grads)
    for block in reversed(range(LAYERS)):
        for layer, layer_backward in ((f"{block}.mlp", mlp_backward), (f"{block}.attention", attention_backward)):
            through, gradients = layer_backward(part(params, layer), kept[layer], dx)
            dx, grads = dx + through, grads | named(layer, gradients)
    return grads | {
        "token": summed(one_hot(kept["new"], V), dx),  # a row of the table collects the columns that read it
        "position": summed(one_hot(kept["position"], LONGEST), dx),
    }


def head(params, hidden):
    """The logits, (..., D) -> (..., V): how well a hidden vector matches each token's row of the table. They are
    divided by sqrt(D), the size of a product of two vectors with unit entries.
    """
    return hidden @ params["token"].T / D**0.5


def head_backward(params, hidden, dlogits):
    """The gradients of hidden and of the table."""
    return dlogits @ params["token"] / D**0.5, summed(dlogits, hidden) / D**0.5


def layout(row, L):
    """For the last L columns of tokens (N, S): their positions (N, L), and the columns that each of them sees, (N, L,
    S).

    Padding is not counted in positions and not seen by any token, so a row means the same with padding on either side.
    """
    if row.shape[1] > LONGEST:
        raise ValueError(f"a row must have at most {LONGEST} tokens, not {row.shape[1]}: there is no position for more")
    real, column = row != PAD, np.arange(row.shape[1])
    position = np.maximum(np.cumsum(real, axis=1, dtype=np.int64) - 1, 0)
    before = column[-L:, None] > column
    # each column sees itself, padding too: a softmax over nothing is 0/0, and nobody reads what padding computes
    return position[:, -L:], (before & real[:, None]) | (column[-L:, None] == column)


def attention(params, x, visible, past):
    """What attention adds to x, (N, L, D) -> (N, L, D), and its keys and values including the past ones, (N, H, S, D/H)
    each.

    A column's query is compared with every key, and the result is a mean of the values, weighted by the softmax of
    query times key. The products are divided by sqrt(D/H), since longer vectors would give larger products and a harder
    softmax.
    """
    normed, norm = layer_norm(part(params, "norm"), x)
    q, k, v = (split(y) for y in np.split(linear(part(params, "in"), normed), 3, axis=2))
    k, v = np.concatenate([past[0], k], axis=2), np.concatenate([past[1], v], axis=2)
    scores = q @ k.swapaxes(2, 3) / (D // H) ** 0.5  # (N, H, L, S)
    weight = np.exp(log_softmax(np.where(visible[:, None], scores, -1e30)))  # exp(-1e30) is 0: what is not seen
    mixed = joined(weight @ v)
    return linear(part(params, "out"), mixed), (k, v), (norm, normed, q, k, v, weight, mixed)


def attention_backward(params, kept, dy):
    """The gradients of x and of the parameters, from that of what was added. In training no columns are kept; all are
    read at once, so L = S.
    """
    norm, normed, q, k, v, weight, mixed = kept
    dmixed, out = linear_backward(part(params, "out"), mixed, dy)
    dmixed = split(dmixed)
    dweight = dmixed @ v.swapaxes(2, 3)  # (N, H, L, S)
    dscores = weight * (dweight - (dweight * weight).sum(axis=3, keepdims=True)) / (D // H) ** 0.5  # of a softmax
    dqkv = [dscores @ k, dscores.swapaxes(2, 3) @ q, weight.swapaxes(2, 3) @ dmixed]
    dnormed, into = linear_backward(part(params, "in"), normed, np.concatenate([joined(d) for d in dqkv], axis=2))
    dx, norm = layer_norm_backward(part(params, "norm"), norm, dnormed)
    return dx, named("norm", norm) | named("in", into) | named("out", out)


def mlp(params, x):
    """What the perceptron adds to x, (N, L, D) -> (N, L, D), each column by itself."""
    normed, norm = layer_norm(part(params, "norm"), x)
    before = linear(part(params, "in"), normed)  # (N, L, WIDE)
    after, tanh = gelu(before)
    return linear(part(params, "out"), after), (norm, normed, before, tanh, after)


def mlp_backward(params, kept, dy):
    norm, normed, before, tanh, after = kept
    dafter, out = linear_backward(part(params, "out"), after, dy)
    dnormed, into = linear_backward(part(params, "in"), normed, gelu_backward(before, tanh, dafter))
    dx, norm = layer_norm_backward(part(params, "norm"), norm, dnormed)
    return dx, named("norm", norm) | named("in", into) | named("out", out)


def layer_norm(params, x):
    """Each column with mean 0 and variance 1 over its D numbers, times a gain, plus a bias."""
    centered = x - x.mean(axis=-1, keepdims=True)
    scale = 1 / np.sqrt((centered * centered).mean(axis=-1, keepdims=True) + EPS)
    return centered * scale * params["gain"] + params["bias"], (centered * scale, scale)


def layer_norm_backward(params, kept, dy):
    """Shifting or stretching a column does not change its norm's output, so the gradient has no component along either:
    its mean and its projection on the column are removed.
    """
    unit, scale = kept
    dunit = dy * params["gain"]
    along = (dunit * unit).mean(axis=-1, keepdims=True)
    dx = scale * (dunit - dunit.mean(axis=-1, keepdims=True) - unit * along)
    return dx, {"gain": (dy * unit).sum(axis=(0, 1)), "bias": dy.sum(axis=(0, 1))}


def linear(params, x):
    """x W + b, (N, L, in) -> (N, L, out)."""
    return x @ params["weight"] + params["bias"]


def linear_backward(params, x, dy):
    return dy @ params["weight"].T, {"weight": summed(x, dy), "bias": dy.sum(axis=(0, 1))}


ROOT, CUBIC = (2 / np.pi) ** 0.5, 0.044715  # the fit of Hendrycks and Gimpel


def gelu(x):
    """x times approximately the probability that a standard normal number is below x; the tanh form, which needs no
    erf.
    """
    tanh = np.tanh(ROOT * (x + CUBIC * x * x * x))
    return 0.5 * x * (1 + tanh), tanh


def gelu_backward(x, tanh, dy):
    return dy * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * ROOT * (1 + 3 * CUBIC * x * x))


def split(x):
    """(N, L, D) -> (N, H, L, D/H)."""
    return x.reshape(*x.shape[:2], H, D // H).swapaxes(1, 2)


def joined(x):
    """(N, H, L, D/H) -> (N, L, D), the inverse of split, and so its backward."""
    return x.swapaxes(1, 2).reshape(len(x), -1, D)


def one_hot(index, size):
    return (index[..., None] == np.arange(size)).astype(float)


def summed(x, dy):
    """The gradient of a matrix that maps x to y, (N, L, in), (N, L, out) -> (in, out). All columns of all rows share
    the matrix, so their gradients are added up.
    """
    return (x.swapaxes(1, 2) @ dy).sum(axis=0)  # many small products, because one large one is slower on busy cores


def part(params, name):
    """The parameters whose names start with `name`, without that prefix."""
    return {key[len(name) + 1 :]: array for key, array in params.items() if key.startswith(f"{name}.")}


def named(name, grads):
    """The inverse of part."""
    return {f"{name}.{key}": array for key, array in grads.items()}
