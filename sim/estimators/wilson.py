"""The interval of a share that was counted: which chances make the count no surprise. Wilson (1927),
doi.org/10.1080/01621459.1927.10502953; closed form.

For completions of prompts that stay the same it is on the safe side: prompts of unequal pass rates vary less than one
coin. Of other prompts than these it says nothing; for those the prompts are what is to be counted.
"""

from math import sqrt
from statistics import NormalDist


def interval(right, n, level=0.95):
    """(low, high) of the chance behind `right` out of `n`; within 0 and 1, and not empty where none or all were."""
    if not 0 <= right <= n or n < 1:
        raise ValueError(f"right must be from 0 to n and n at least 1, not {right} of {n}")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = right / n
    middle, reach = share + z * z / (2 * n), z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, (middle - reach) / (1 + z * z / n)), min(1.0, (middle + reach) / (1 + z * z / n))
