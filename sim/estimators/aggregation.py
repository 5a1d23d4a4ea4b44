"""How a loss a token becomes one loss a batch: the weight of every own token, in four ways, under verl's names for
them.

Loss = sum(weight * loss of the token), so that dL/dlogp is weighted alike. The token mean is from DAPO, Yu et al.
(2025), arXiv:2503.14476; the mean of means from GRPO, arXiv:2402.03300; the constant divisor from Dr.GRPO, Liu et al.
(2025), arXiv:2503.20783. Each takes response_mask (N, T) and returns weights (N, T), 0 off the mask.
"""


def token_mean(mask):
    """Every token of the batch counts the same."""
    return mask / mask.sum()


def seq_mean_token_mean(mask):
    """Every completion counts the same, and within it every token."""
    return mask / mask.sum(axis=1, keepdims=True) / len(mask)


def seq_mean_token_sum(mask):
    """A sum over the tokens, a mean over the completions: the policy gradient of the mean reward."""
    return mask / len(mask)


def seq_mean_token_sum_norm(mask):
    """The same, divided by the longest length T: a constant, unlike the length of a completion."""
    return mask / len(mask) / mask.shape[1]


MODES = {
    "token-mean": token_mean,
    "seq-mean-token-mean": seq_mean_token_mean,
    "seq-mean-token-sum": seq_mean_token_sum,
    "seq-mean-token-sum-norm": seq_mean_token_sum_norm,
}
