"""Which completions a reward model's head prefers if it scores the last token, the mean over all tokens, or their sum.
The model was made for this book; that the noise of a mean falls with the square root of the length is closed form.

assumed: lengths are uniform from 4 to 64 tokens, a completion's quality m is normal with standard deviation 0.5, and
each token's score is m plus standard normal noise. Length has no value, and no head rewards it on average over
qualities.
"""

import numpy as np

SHORTEST, LONGEST, SPREAD = 4, 64, 0.5
HEADS = ("last", "mean", "sum")


def scores(head, length, quality, noise):
    """Scores (...) of completions; `noise` is standard normal, and a mean over L tokens has 1 / sqrt(L) of it."""
    mean = quality + noise / np.sqrt(length)
    return dict(last=lambda: quality + noise, mean=lambda: mean, sum=lambda: length * mean)[head]()


def picked(head, N, rng, trials):
    """Mean quality and mean length in tokens of the best of N completions by score, over `trials` trials."""
    length = rng.integers(SHORTEST, LONGEST + 1, (trials, N))
    quality = SPREAD * rng.standard_normal((trials, N))
    best = scores(head, length, quality, rng.standard_normal((trials, N))).argmax(axis=1)
    rows = np.arange(trials)
    return float(quality[rows, best].mean()), float(length[rows, best].mean())
