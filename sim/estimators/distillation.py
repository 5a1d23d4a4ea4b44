"""How far a student's next-token distribution is from a teacher's, and the push on each of the student's logits: from
all logits, from the teacher's most likely tokens, or from the one sampled token.

Everything is for one position in a text, with (positions, V) log-probs of student and teacher; a token's effect on
later positions is left out. Generalized knowledge distillation: Agarwal et al. (2023), arXiv:2306.13649; reverse KL on
the student's own text: Gu et al. (2023), arXiv:2306.08543.
"""

import numpy as np


def reverse(logp, teacher_logp):
    """KL(π‖τ) (positions,) and its slope in the student's logits, π (log π/τ − KL): no push where the
    student's π is 0.
    """
    pi, gap = np.exp(logp), logp - teacher_logp
    value = (pi * gap).sum(axis=-1)
    return value, pi * (gap - value[..., None])


def forward(logp, teacher_logp):
    """KL(τ‖π) (positions,) and its slope in the student's logits, π − τ, as in imitation of the teacher's tokens."""
    tau = np.exp(teacher_logp)
    return (tau * (teacher_logp - logp)).sum(axis=-1), np.exp(logp) - tau


def jsd(logp, teacher_logp, beta):
    """β KL(τ‖m) + (1 − β) KL(π‖m) (positions,) with m = (1 − β) π + β τ, and its slope in the student's logits."""
    pi, tau = np.exp(logp), np.exp(teacher_logp)
    mixed_logp = np.logaddexp(logp + np.log(1 - beta), teacher_logp + np.log(beta))
    own = (pi * (logp - mixed_logp)).sum(axis=-1)
    value = beta * (tau * (teacher_logp - mixed_logp)).sum(axis=-1) + (1 - beta) * own
    return value, (1 - beta) * pi * (logp - mixed_logp - own[..., None])


def likeliest(logp, teacher_logp, k):
    """Forward KL on the teacher's k most likely tokens, whose probabilities are not renormalized: (positions,), and its
    slope π Σ τ − τ over these k tokens. It matches verl 0.9.1's `forward_kl_topk` except for its clamp: there a
    negative value, which occurs if the student gives these tokens more probability than the teacher, becomes 0 and
    pushes nothing.
    """
    order = np.argsort(-teacher_logp, axis=-1, kind="stable")[..., :k]
    kept = np.zeros(teacher_logp.shape)
    np.put_along_axis(kept, order, 1.0, axis=-1)
    tau = np.exp(teacher_logp) * kept
    return (tau * (teacher_logp - logp)).sum(axis=-1), np.exp(logp) * tau.sum(axis=-1, keepdims=True) - tau


def drawn(logp, teacher_logp):
    """log τ − log π of the tokens that the student sampled, used as their advantages; the mean over samples is
    −KL(π‖τ).
    """
    return teacher_logp - logp


def bytes_per_token(k, vocabulary, width):
    """Bytes that a teacher sends per token, by signal: one log-prob of 4 bytes; k log-probs with their 4-byte token
    ids; all logits, or the last hidden state, in BF16. The receiver must multiply a hidden state by the head again.
    Closed form.
    """
    return {"drawn token": 4, "likeliest k": 8 * k, "all logits": 2 * vocabulary, "hidden state": 2 * width}
