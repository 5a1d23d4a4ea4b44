"""The confidence interval for a probability from a count. Wilson (1927), doi.org/10.1080/01621459.1927.10502953; closed
form.

For completions of a fixed set of prompts it is conservative, because prompts with unequal pass rates vary less than one
coin. It says nothing about other prompts; for those, the prompts themselves must be counted as the sample.
"""

from math import sqrt
from statistics import NormalDist


def interval(right, n, level=0.95):
    """(low, high) for the probability behind `right` out of `n`; it stays within 0 and 1 and is not empty at 0 or n."""
    if not 0 <= right <= n or n < 1:
        raise ValueError(f"right must be from 0 to n and n at least 1, not {right} of {n}")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = right / n
    middle, reach = share + z * z / (2 * n), z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, (middle - reach) / (1 + z * z / n)), min(1.0, (middle + reach) / (1 + z * z / n))
