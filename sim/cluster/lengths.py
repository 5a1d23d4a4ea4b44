"""How long completions are: a distribution through three quantiles from a log and a limit, and what engines need from
it.

Closed form. The logarithm of a length is linear in the normal deviate z between the quantiles and beyond them. It is
lognormal if both segments have the same slope, as in Crow and Shimizu (1988), and has a heavier or lighter tail
otherwise.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, log
from statistics import NormalDist

import numpy as np

from sim.cluster import straggler
from sim.cluster.models import Numbers

NORMAL = NormalDist()
Z90, Z99 = NORMAL.inv_cdf(0.90), NORMAL.inv_cdf(0.99)  # 1.28155, 2.32635
GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Law:
    """Half of the completions have at most p50 tokens, 90 % at most p90, 99 % at most p99; all are cut off at
    `longest`.
    """

    p50: float
    p90: float
    p99: float
    longest: float = inf

    def __post_init__(self) -> None:
        if not 0 < self.p50 <= self.p90 <= self.p99:
            raise ValueError(f"quantiles rise: {self.p50:g}, {self.p90:g} and {self.p99:g} tokens do not")
        if not self.longest >= 1:
            raise ValueError(f"no completion is at most {self.longest:g} tokens long")

    @property
    def sigmas(self) -> tuple[float, float]:
        """The spread of log length implied by the 90 % quantile and by the 99 % quantile; equal for a lognormal."""
        return log(self.p90 / self.p50) / Z90, log(self.p99 / self.p50) / Z99

    @property
    def segments(self) -> list[tuple[float, float, float, float]]:
        """(from z, to z, log length at z = 0, slope), from left to right, without the part beyond the limit."""
        upper = (log(self.p99) - log(self.p90)) / (Z99 - Z90)
        lines = [(-inf, Z90, log(self.p50), self.sigmas[0]), (Z90, inf, log(self.p90) - upper * Z90, upper)]
        return [(left, min(right, self.cut), at, slope) for left, right, at, slope in lines if left < self.cut]

    @property
    def cut(self) -> float:
        """The z from which completions are cut off at `longest`."""
        for left, right, p, slope in ((-inf, Z90, self.p50, self.sigmas[0]), (Z90, inf, self.p90, None)):
            slope = (log(self.p99) - log(self.p90)) / (Z99 - Z90) if slope is None else slope
            start = 0.0 if left == -inf else Z90
            rise = log(self.longest) - log(p) if self.longest < inf else inf
            z = start + rise / slope if slope > 0 else (-inf if rise < 0 else inf)
            if z <= right:
                return z
        return inf

    def at(self, z: Numbers) -> np.ndarray:
        """The length at the normal deviate z, numbers or arrays."""
        (low, high) = log(self.p50), log(self.p90)
        upper = (log(self.p99) - high) / (Z99 - Z90)
        logs = np.where(np.asarray(z) < Z90, low + self.sigmas[0] * np.asarray(z), high + upper * (np.asarray(z) - Z90))
        return np.minimum(np.exp(logs), self.longest)

    def moment(self, k: int) -> float:
        """E[length^k]: on a segment with log length a + b z, it is exp(k a + k² b²/2) (Φ(z₂ − k b) − Φ(z₁ − k b))."""
        total = 0.0
        for left, right, a, b in self.segments:
            mass = NORMAL.cdf(right - k * b) - NORMAL.cdf(left - k * b)
            total += exp(k * a + (k * b) ** 2 / 2) * mass
        cut = 1 - NORMAL.cdf(self.cut)
        return total + (self.longest**k * cut if cut else 0.0)

    @property
    def mean(self) -> float:
        return self.moment(1)

    @property
    def second_moment(self) -> float:
        return self.moment(2)

    @property
    def truncated(self) -> float:
        """Fraction of completions that the limit cuts off."""
        return 1 - NORMAL.cdf(self.cut)

    def context(self, prompt: float) -> float:
        """Mean tokens held by a sequence in flight, prompt + E[l²] / 2E[l], because long sequences live longer and are
        half done on average.
        """
        return prompt + self.second_moment / (2 * self.mean)

    def expected_max(self, n: int) -> float:
        """Mean length of the longest of n completions."""
        return straggler.integral(self.at(straggler.Z) * straggler.kth_density(n, n))

    def quantiles(self, n: int) -> np.ndarray:
        """n representative lengths, in an order without a trend: golden-ratio steps through the quantiles."""
        return self.at(deviates(n))


@lru_cache(maxsize=16)  # a planner asks for the same ones dozens of times
def deviates(n: int) -> np.ndarray:
    """n normal deviates at the midpoints of n equal shares, in golden-ratio steps."""
    z = np.array([NORMAL.inv_cdf((i + 0.5) / n) for i in range(n)])
    return z[np.argsort(np.arange(n) * GOLDEN % 1.0, kind="stable")]


def lognormal(median: float, sigma: float, longest: float = inf) -> Law:
    """The Law with this median and spread of log length."""
    return Law(median, median * exp(sigma * Z90), median * exp(sigma * Z99), longest)
