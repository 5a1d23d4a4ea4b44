"""A transformer in numpy: causal self-attention and a two-layer perceptron in pre-norm blocks, each layer with its
backward beneath it.

It takes the place of the window in sim/worlds/tinylm.py behind the same five names, with the same twenty tokens: every
position sees all tokens before it, and the order comes from learned position embeddings. 11,040 parameters. Attention:
Vaswani et al. (2017), arXiv:1706.03762; the norm before each layer and learned positions: Radford et al. (2019), GPT-2;
layer norm: Ba et al. (2016), arXiv:1607.06450; GELU: Hendrycks and Gimpel (2016), arXiv:1606.08415; one table for the
tokens that are read and those that are predicted: Press and Wolf (2016), arXiv:1608.05859. No dropout, and nothing of a
real model but the shape.

Shapes: N rows, L columns that are read now, S >= L columns that are seen (those kept from before and those read now),
D numbers a position, H heads of D/H numbers each.
"""

import numpy as np

from sim.worlds.tinylm import PAD, V, log_softmax

D, H, LAYERS, WIDE, LONGEST = 24, 4, 2, 48, 32  # WIDE: of the perceptron (GPT-2 has 4 D); LONGEST: tokens a row
EPS = 1e-5  # added to a variance, as in PyTorch


class Policy:
    """log pi(token | all tokens before it) by temperature: the five names that the framework asks of a policy."""

    def __init__(self, seed=0):
        self.params = initial(np.random.default_rng(seed))

    def prefill(self, prompt, temperature=1.0):
        """decode(tokens, t) -> (N, V), the log-probs of the token at position t. The prompt is read at once, in
        parallel; decode reads only what was written since.
        """
        return Decoder(self.params, prompt, temperature)

    def token_logp(self, prompt, tokens, mask, temperature=1.0):
        """log pi of every token and the entropy of its distribution, both (N, T) and 0 off the mask; and what backward
        needs.

        One pass over prompt and completion scores all tokens at once: column i of the output predicts column i + 1.
        """
        width, (row, _, of) = prompt.shape[1], distinct(np.concatenate([prompt, tokens], axis=1))
        # the last token is predicted and never read
        hidden, _, kept = forward(self.params, row[:, :-1], *nothing(len(row)))
        hidden = hidden[:, width - 1 :]  # (U, T, D): from the prompt's last column on
        log_pi = log_softmax(head(self.params, hidden) / temperature)  # (U, T, V)
        pi = np.exp(log_pi)
        logp = np.take_along_axis(log_pi, row[:, width:, None], axis=2)[..., 0]
        entropy = -(pi * log_pi).sum(axis=2)
        return logp[of] * mask, entropy[of] * mask, (kept, hidden, pi, row[:, width:], of, mask, temperature)

    def backward(self, cache, dlogp):
        """Gradient of sum(dlogp * logp), with the keys of params. d logp / d logits = one-hot of the token - pi, over
        the temperature.
        """
        kept, hidden, pi, tokens, of, mask, temperature = cache
        pushed = np.zeros(tokens.shape)
        np.add.at(pushed, of, dlogp * mask / temperature)  # (U, T): what all rows that are alike ask for
        dhidden, predicted = head_backward(self.params, hidden, (one_hot(tokens, V) - pi) * pushed[..., None])
        # the prompt's columns but the last predict nothing
        silent = np.zeros((len(tokens), kept["new"].shape[1] - tokens.shape[1], D))
        grads = backward(self.params, kept, np.concatenate([silent, dhidden], axis=1))
        return grads | {"token": grads["token"] + predicted}  # the table is used twice: its gradient has two parts

    def copy(self):
        twin = object.__new__(Policy)
        twin.params = {name: array.copy() for name, array in self.params.items()}
        return twin


class Decoder:
    """The completions of one batch of prompts as they grow. It keeps the keys and values of the columns that were read
    (the KV cache), so a token costs one column and not all of them once more; and rows that are alike so far, such as
    the completions of one prompt before they part, are read and kept once (prefix caching).

    Nothing before a column depends on that column, which is why what was kept stays right.
    """

    def __init__(self, params, prompt, temperature):
        self.params, self.temperature, self.width = params, temperature, prompt.shape[1]
        self.row, self.past = nothing(len(prompt))
        self.of = np.arange(len(prompt))  # the place in `past` of each row
        self.logp = self.extended(prompt)

    def __call__(self, tokens, t):
        """(N, V), the log-probs at position t; the tokens that were read in an earlier call are not looked at again."""
        read = self.row.shape[1] - self.width
        if t < read:
            raise ValueError(f"t must not go back: {read} tokens were read, and t is {t}")
        if t > read:
            self.logp = self.extended(tokens[:, read:t])
        return self.logp

    def extended(self, new):
        """The log-probs after these columns, (N, L) -> (N, V); what was computed of them is kept."""
        self.row = np.concatenate([self.row, new], axis=1)
        row, first, of = distinct(self.row)
        past = [tuple(kept[self.of[first]] for kept in block) for block in self.past]
        before, new = np.split(row, [-new.shape[1]], axis=1)
        hidden, self.past, _ = forward(self.params, new, before, past)
        self.of = of
        return log_softmax(head(self.params, hidden[:, -1]) / self.temperature)[of]


def distinct(row):
    """The rows (N, S) that differ, each once, (U, S); where each of them is met first, (U,); and which of them each row
    is, (N,). Completions of one prompt are often alike, and what is computed of one holds for all.
    """
    unique, first, of = np.unique(row, axis=0, return_index=True, return_inverse=True)
    return unique, first, of.ravel()


def nothing(N):
    """What is kept before the first column: no tokens, (N, 0), and no keys and values, each (N, H, 0, D/H), in any
    block.
    """
    empty = np.zeros((N, H, 0, D // H))
    return np.zeros((N, 0), np.int64), [(empty, empty)] * LAYERS


def initial(rng):
    """Weights that keep the size of what passes through them. What a layer adds is scaled by 1/sqrt(2 LAYERS): there
    are 2 LAYERS such layers, and their sum would grow with depth (GPT-2).
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
    """Tokens (N, L) -> hidden (N, L, D), the keys and values of every block, and what backward needs.

    `before` (N, S - L) are the columns before them, `past` the keys and values of those.
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
    """Gradient of the parameters from that of hidden, (N, L, D). A sum hands its gradient to both terms, so what a
    block gets from above goes around each layer as it is, and through it besides.
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
    """The logits, (..., D) -> (..., V): how well what was computed fits each token's own row of the table. Divided by
    sqrt(D), since a product of two vectors of ones' size is of that size.
    """
    return hidden @ params["token"].T / D**0.5


def head_backward(params, hidden, dlogits):
    """The gradients of hidden and of the table."""
    return dlogits @ params["token"] / D**0.5, summed(dlogits, hidden) / D**0.5


def layout(row, L):
    """Of the last L columns of tokens (N, S): their positions (N, L), and which columns each of them sees, (N, L, S).

    Padding is counted in no position and seen by no token, so a row means the same with padding at either side.
    """
    if row.shape[1] > LONGEST:
        raise ValueError(f"a row must have at most {LONGEST} tokens, not {row.shape[1]}: there is no position for more")
    real, column = row != PAD, np.arange(row.shape[1])
    position = np.maximum(np.cumsum(real, axis=1, dtype=np.int64) - 1, 0)
    before = column[-L:, None] > column
    # each column sees itself, padding too: a softmax over nothing is 0/0, and nobody reads what padding computes
    return position[:, -L:], (before & real[:, None]) | (column[-L:, None] == column)


def attention(params, x, visible, past):
    """What attention adds to x, (N, L, D) -> (N, L, D); its keys and values, with the past ones, each (N, H, S, D/H).

    A column asks with its query, is found by its key and hands on its value: a mean of values, weighted by the softmax
    of query times key. Divided by sqrt(D/H), or the products of longer vectors would be larger and the softmax harder.
    """
    normed, norm = layer_norm(part(params, "norm"), x)
    q, k, v = (split(y) for y in np.split(linear(part(params, "in"), normed), 3, axis=2))
    k, v = np.concatenate([past[0], k], axis=2), np.concatenate([past[1], v], axis=2)
    scores = q @ k.swapaxes(2, 3) / (D // H) ** 0.5  # (N, H, L, S)
    weight = np.exp(log_softmax(np.where(visible[:, None], scores, -1e30)))  # exp(-1e30) is 0: what is not seen
    mixed = joined(weight @ v)
    return linear(part(params, "out"), mixed), (k, v), (norm, normed, q, k, v, weight, mixed)


def attention_backward(params, kept, dy):
    """The gradients of x and of the parameters, from that of what was added. No columns are kept in training: all are
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
    """What the perceptron adds to x, (N, L, D) -> (N, L, D): each column by itself."""
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
    """To shift or to stretch a column changes nothing in its norm, so the gradient has no part along either: its mean
    and its projection on the column are taken out.
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
    """x times about the probability that a standard normal number is below x, the form with tanh: it needs no erf."""
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
    """The gradient of a matrix that takes x to y, (N, L, in), (N, L, out) -> (in, out): all columns of all rows share
    it, so theirs are added up.
    """
    return (x.swapaxes(1, 2) @ dy).sum(axis=0)  # small products: one large one is slower where cores are busy


def part(params, name):
    """The parameters whose names begin so, without that beginning."""
    return {key[len(name) + 1 :]: array for key, array in params.items() if key.startswith(f"{name}.")}


def named(name, grads):
    """The inverse of part."""
    return {f"{name}.{key}": array for key, array in grads.items()}
