"""Whether two samples of runs differ in their means: Welch's interval. Welch (1947), doi.org/10.1093/biomet/34.1-2.28.
Student's t is computed from its closed form, an integral of (1 + u^2 / df)^(-(df + 1) / 2).
"""

from math import sqrt

import numpy as np

STEPS = 20001  # points for the integral over an angle, in which the density is smooth up to the end


def interval(a, b, level=0.95):
    """(low, high) of mean(b) - mean(a) for samples (n,) and (m,) with at least two values, each with its own
    variance.
    """
    a, b = np.asarray(a, float), np.asarray(b, float)
    parts = np.array([a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)])
    apart = float(b.mean() - a.mean())
    if parts.sum() == 0:
        return apart, apart
    df = parts.sum() ** 2 / (parts**2 / (np.array([len(a), len(b)]) - 1)).sum()
    reach = quantile(0.5 + level / 2, df) * sqrt(parts.sum())
    return apart - reach, apart + reach


def quantile(p, df):
    """The t below which a fraction p of Student's distribution lies, for p from 0.5 to 1. With u = sqrt(df) tan(angle)
    its density is cos(angle)^(df - 1), which is integrated by Simpson's rule and inverted.
    """
    angle = np.linspace(0, np.pi / 2, STEPS)
    density = np.cos(angle) ** (df - 1)
    pairs = (density[:-2:2] + 4 * density[1:-1:2] + density[2::2]) / 3
    share = np.concatenate([[0], np.cumsum(pairs)]) / pairs.sum() / 2
    return float(sqrt(df) * np.tan(np.interp(p - 0.5, share, angle[::2])))
