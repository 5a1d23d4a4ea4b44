"""SGD and AdamW on dicts of arrays, after clipping the gradient's norm. AdamW: Loshchilov and Hutter (2017),
arXiv:1711.05101.

A step puts new arrays into `params` and never writes into the old ones, so a shallow copy of the dict keeps the old
weights.
"""

import numpy as np


class SGD:
    def __init__(self, learning_rate, clip=None):
        self.learning_rate, self.clip = positive(learning_rate), clip

    def step(self, params, grads):
        """Takes one descent step and returns the gradient's norm before clipping."""
        grads, norm = clipped_by_norm(grads, self.clip)
        for name, grad in grads.items():
            params[name] = params[name] - self.learning_rate * grad
        return norm

    def state_dict(self):
        """What one step must remember for the next: nothing."""
        return {}

    def load_state_dict(self, state):
        """Continues from a state_dict."""


class AdamW:
    def __init__(self, learning_rate, clip=1.0, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        self.learning_rate, self.clip, self.betas, self.eps, self.weight_decay = (
            positive(learning_rate),
            clip,
            betas,
            eps,
            weight_decay,
        )
        self.steps, self.first, self.second = 0, {}, {}

    def step(self, params, grads):
        """Takes one descent step and returns the gradient's norm before clipping."""
        grads, norm = clipped_by_norm(grads, self.clip)
        self.steps += 1
        b1, b2 = self.betas
        for name, grad in grads.items():
            self.first[name] = b1 * self.first.get(name, 0) + (1 - b1) * grad
            self.second[name] = b2 * self.second.get(name, 0) + (1 - b2) * grad * grad
            mean = self.first[name] / (1 - b1**self.steps)  # both start at 0; this corrects that bias
            square = self.second[name] / (1 - b2**self.steps)
            decayed = params[name] * (1 - self.learning_rate * self.weight_decay)
            params[name] = decayed - self.learning_rate * mean / (np.sqrt(square) + self.eps)
        return norm

    def state_dict(self):
        """What one step must remember for the next: the number of steps, and both moments as dicts like params."""
        return dict(steps=self.steps, first=dict(self.first), second=dict(self.second))

    def load_state_dict(self, state):
        """Continues from a state_dict."""
        self.steps, self.first, self.second = state["steps"], dict(state["first"]), dict(state["second"])


def clipped_by_norm(grads, clip):
    """The gradient, scaled down to norm `clip` if it is longer (None: never), and its norm before scaling."""
    length = norm(grads)
    if clip is not None and length > clip:
        grads = {name: grad * (clip / length) for name, grad in grads.items()}
    return grads, length


def norm(grads):
    return np.sqrt(sum((grad * grad).sum() for grad in grads.values()))


def positive(learning_rate):
    if not learning_rate > 0:
        raise ValueError(f"learning_rate must be above 0, not {learning_rate}")
    return learning_rate
