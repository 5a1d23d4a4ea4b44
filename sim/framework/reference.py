"""Reference: the policy as it was at the start, frozen, for a KL penalty to pull toward. Stiennon et al. (2020),
arXiv:2009.01325.
"""


class Reference:
    def __init__(self, policy):
        self.policy = policy.copy()
        for array in self.policy.params.values():
            array.setflags(write=False)  # a write raises: a reference that moves is a bug without symptoms

    def logp(self, batch, temperature=1.0):
        """(N, T), 0 off response_mask; at the trainer's temperature, or the penalty compares two distributions that
        nobody holds.
        """
        return self.policy.token_logp(batch.prompt, batch.tokens, batch.response_mask, temperature)[0]
