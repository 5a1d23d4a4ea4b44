"""Four ways to turn per-token losses into one loss for the batch, as weights for the own tokens, under verl's names.

The loss is the sum of weight times token loss, so dL/dlogp has the same weights. The token mean is from DAPO, Yu et al.
(2025), arXiv:2503.14476; the mean of means is from GRPO, arXiv:2402.03300; the constant divisor is from Dr.GRPO, Liu et
al. (2025), arXiv:2503.20783. Each function takes response_mask (N, T) and returns weights (N, T), 0 outside the mask.
"""


def token_mean(mask):
    """Every token of the batch counts the same."""
    return mask / mask.sum()


def seq_mean_token_mean(mask):
    """Every completion counts the same, and so does every token within a completion."""
    return mask / mask.sum(axis=1, keepdims=True) / len(mask)


def seq_mean_token_sum(mask):
    """A sum over tokens and a mean over completions, which gives the policy gradient of the mean reward."""
    return mask / len(mask)


def seq_mean_token_sum_norm(mask):
    """The same, divided by the maximum length T, which is constant, unlike a completion's length."""
    return mask / len(mask) / mask.shape[1]


MODES = {
    "token-mean": token_mean,
    "seq-mean-token-mean": seq_mean_token_mean,
    "seq-mean-token-sum": seq_mean_token_sum,
    "seq-mean-token-sum-norm": seq_mean_token_sum_norm,
}
