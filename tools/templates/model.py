"""TODO What is modeled, what is not, and where it comes from (Author (year), arXiv:0000.00000). Closed form."""


def informative(p, K):
    """TODO Chance that K completions are neither all correct nor all wrong: 1 - p^K - (1 - p)^K."""
    return 1 - p**K - (1 - p) ** K
