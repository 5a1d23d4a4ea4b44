"""Reference: a frozen copy of the starting policy, toward which a KL penalty pulls. Stiennon et al. (2020),
arXiv:2009.01325.
"""


class Reference:
    def __init__(self, policy):
        self.policy = policy.copy()
        for array in self.policy.params.values():
            array.setflags(write=False)  # writing now raises: a reference that moves would be a bug without symptoms

    def logp(self, batch, temperature=1.0):
        """(N, T), 0 outside response_mask. The temperature must be the trainer's; otherwise the penalty compares
        distributions that neither model uses.
        """
        return self.policy.token_logp(batch.prompt, batch.tokens, batch.response_mask, temperature)[0]
