"""A tiny autoregressive language model: a window of eight tokens, one tanh layer, exact log-probs and a backward pass
of five lines.

It has the interface of a transformer policy without the attention: it sees the four prompt tokens and the last four
tokens of the completion. It has 8,708 parameters as a policy and 7,777 as a critic. The architecture, with one-hot
inputs, is that of A Neural Probabilistic Language Model, Bengio et al. (2003). It learns the tasks of
sim/worlds/tasks.py in a hundred updates and does not generalize beyond the prompts it has seen.
"""

import numpy as np

from sim.worlds.optimizer import AdamW

TEXT = [*"0123456789", "+", "=", "Final: ", "hmm ", "<call>", "<result>", "?", "<err>", "<eos>", "<pad>"]
V = len(TEXT)
PLUS, EQUALS, FINAL, HMM, CALL, RESULT, ASK, ERR, EOS, PAD = range(10, V)
P, W, HIDDEN = 4, 4, 48  # prompt slots, completion slots, hidden units
SLOTS = P + W
PLACE = np.int64(V) ** np.arange(SLOTS)  # a context as one number; 20^8 overflows the browser's 32-bit integers


def decode(tokens):
    """The text for a list of token ids."""
    return "".join(TEXT[t] for t in tokens)


def word(token):
    """A token as figures show it: `Final: ` is Final, `<eos>` is end."""
    return "end" if token == EOS else TEXT[token].strip(" :<>")


def brief(token):
    """The same in at most four letters, for a cell on a phone: Fin., res., call."""
    name = word(token)
    return name if len(name) <= 4 else f"{name[:3]}."


def encode(text):
    """The token ids of a text, the inverse of decode. No token's text begins with another's, so there is only one way
    to read it.
    """
    ids = []
    while text:
        ids.append(next(i for i, piece in enumerate(TEXT) if text.startswith(piece)))
        text = text[len(TEXT[ids[-1]]) :]
    return ids


def contexts(prompt, tokens):
    """What each position sees, (N, P) and (N, T) -> (N, T, 8): the prompt, then the four tokens before the position,
    padded on the left.
    """
    N, T = tokens.shape
    padded = np.concatenate([np.full((N, W), PAD), tokens], axis=1)
    window = np.lib.stride_tricks.sliding_window_view(padded, W, axis=1)[:, :T]
    return np.concatenate([np.broadcast_to(prompt[:, None], (N, T, P)), window], axis=2)


def distinct(prompt, tokens, mask):
    """The distinct contexts of the tokens inside the mask, (U, 8), and the index of each token's context, (tokens in
    the mask,).

    Completions of one prompt share most of their contexts, so the network evaluates each only once.
    """
    context = contexts(prompt, tokens)[mask > 0]
    _, first, where = np.unique(context @ PLACE, return_index=True, return_inverse=True)
    return context[first], where


def log_softmax(logits):
    shifted = logits - logits.max(axis=-1, keepdims=True)  # the maximum is subtracted first, because exp(800) is inf
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


class Policy:
    """The network's log pi(token | context) at a temperature, with the five names that the framework expects of a
    policy.
    """

    def __init__(self, seed=0):
        self.params = initial(np.random.default_rng(seed), outputs=V, scale=0.1)

    def prefill(self, prompt, temperature=1.0):
        """decode(tokens, t) -> (N, V), the log-probs of the token at position t; the prompt's contribution is computed
        only once.
        """
        seen = self.params["b1"] + share(self.params, prompt, first_slot=0)

        def decode(tokens, t):
            before = np.full((len(tokens), W), PAD)
            before[:, max(W - t, 0) :] = tokens[:, max(t - W, 0) : t]
            return log_softmax(
                output(self.params, np.tanh(seen + share(self.params, before, first_slot=P))) / temperature
            )

        return decode

    def token_logp(self, prompt, tokens, mask, temperature=1.0):
        """log pi of every token and the entropy of its distribution, both (N, T) and 0 outside the mask, and the cache
        for backward.
        """
        live = mask > 0
        context, where = distinct(prompt, tokens, mask)
        hidden = forward(self.params, context)
        log_pi = log_softmax(output(self.params, hidden) / temperature)  # (U, V)
        pi = np.exp(log_pi)
        logp, entropy = np.zeros(mask.shape), np.zeros(mask.shape)
        logp[live] = log_pi[where, tokens[live]]
        entropy[live] = -(pi * log_pi).sum(axis=1)[where]
        return logp, entropy, (context, hidden, pi, live, where * V + tokens[live], temperature)

    def backward(self, cache, dlogp):
        """The gradient of sum(dlogp * logp), with the keys of params. d logp / d logits = (one-hot of the token - pi) /
        temperature.
        """
        context, hidden, pi, live, picked, temperature = cache
        # (U, V): summed over all tokens with the same context
        pushed = np.bincount(picked, dlogp[live], pi.size).reshape(pi.shape)
        dlogits = (pushed - pi * pushed.sum(axis=1, keepdims=True)) / temperature
        return gradient(self.params, context, hidden, dlogits)

    def copy(self):
        twin = object.__new__(Policy)
        twin.params = {name: array.copy() for name, array in self.params.items()}
        return twin


class Critic:
    """A second network of the same kind with one output, the value of a context; it starts at zero everywhere."""

    def __init__(self, rate=0.02):
        self.params = initial(np.random.default_rng(0), outputs=1, scale=0.0)
        self.optimizer = AdamW(rate, clip=1.0)

    def values(self, prompt, tokens, mask):
        """The value before each token, (N, T), 0 outside the mask."""
        context, where = distinct(prompt, tokens, mask)
        value = np.zeros(mask.shape)
        value[mask > 0] = output(self.params, forward(self.params, context))[where, 0]
        return value

    def fit(self, prompt, tokens, mask, returns):
        """One descent step on the mean squared error over the tokens inside the mask."""
        context, where = distinct(prompt, tokens, mask)
        hidden = forward(self.params, context)
        error = output(self.params, hidden)[where, 0] - returns[mask > 0]
        dvalue = np.bincount(where, 2 * error / len(error))[:, None]
        self.optimizer.step(self.params, gradient(self.params, context, hidden, dvalue))

    def state_dict(self):
        """Everything it has learned: its weights and its optimizer's state."""
        return dict(params=dict(self.params), optimizer=self.optimizer.state_dict())

    def load_state_dict(self, state):
        """Continues from a state_dict."""
        self.params = dict(state["params"])
        self.optimizer.load_state_dict(state["optimizer"])


def initial(rng, outputs, scale):
    """Weights of a network with this many outputs: unit variance before the tanh and outputs near zero, so the first
    policy is nearly uniform.
    """
    return {
        "W1": rng.normal(0, SLOTS**-0.5, (SLOTS * V, HIDDEN)),
        "b1": np.zeros(HIDDEN),
        "W2": rng.normal(0, 1, (HIDDEN, outputs)) * scale / HIDDEN**0.5,
        "b2": np.zeros(outputs),
    }


def share(params, tokens, first_slot):
    """The tokens' contribution to the hidden layer, (M, slots) -> (M, 48). A one-hot vector times W1 is a sum of rows;
    the matrix product would cost 10x more in a browser.
    """
    return sum(params["W1"].take(tokens[:, i] + (first_slot + i) * V, axis=0) for i in range(tokens.shape[1]))


def forward(params, context):
    """The hidden layer tanh(x W1 + b1) for contexts, (M, 8) -> (M, 48)."""
    return np.tanh(share(params, context, first_slot=0) + params["b1"])


def output(params, hidden):
    return hidden @ params["W2"] + params["b2"]


def gradient(params, context, hidden, doutput):
    """The parameters' gradient from the outputs' gradient, (M, outputs). A row of W1 collects the contexts with its
    token in its slot.
    """
    dbefore = (doutput @ params["W2"].T) * (1 - hidden * hidden)  # before the tanh, (M, 48)
    flat, unit = dbefore.ravel(), np.arange(HIDDEN)
    slots = [np.bincount((context[:, i, None] * HIDDEN + unit).ravel(), flat, V * HIDDEN) for i in range(SLOTS)]
    return {
        "W1": np.concatenate(slots).reshape(SLOTS * V, HIDDEN),
        "b1": dbefore.sum(axis=0),
        "W2": hidden.T @ doutput,
        "b2": doutput.sum(axis=0),
    }
