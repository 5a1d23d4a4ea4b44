"""How far a student's next token is from a teacher's, and the push on each logit of the student: by all logits, by the
teacher's likeliest tokens, by the one that was drawn.

Everything is for one place in a text, (places, V) log-probs of student and teacher; what a token changes in the places
after it is not here. Generalized knowledge distillation: Agarwal et al. (2023), arXiv:2306.13649; reverse KL on the
student's own text: Gu et al. (2023), arXiv:2306.08543.
"""

import numpy as np


def reverse(logp, teacher_logp):
    """KL(π‖τ) (places,) and its slope by the student's logits, π (log π/τ − KL): no push where the student has no π."""
    pi, gap = np.exp(logp), logp - teacher_logp
    value = (pi * gap).sum(axis=-1)
    return value, pi * (gap - value[..., None])


def forward(logp, teacher_logp):
    """KL(τ‖π) (places,) and its slope by the student's logits, π − τ: what imitation of the teacher's tokens has."""
    tau = np.exp(teacher_logp)
    return (tau * (teacher_logp - logp)).sum(axis=-1), np.exp(logp) - tau


def jsd(logp, teacher_logp, beta):
    """β KL(τ‖m) + (1 − β) KL(π‖m) (places,) with m = (1 − β) π + β τ, and its slope by the student's logits."""
    pi, tau = np.exp(logp), np.exp(teacher_logp)
    mixed_logp = np.logaddexp(logp + np.log(1 - beta), teacher_logp + np.log(beta))
    own = (pi * (logp - mixed_logp)).sum(axis=-1)
    value = beta * (tau * (teacher_logp - mixed_logp)).sum(axis=-1) + (1 - beta) * own
    return value, (1 - beta) * pi * (logp - mixed_logp - own[..., None])


def likeliest(logp, teacher_logp, k):
    """Forward KL on the teacher's k likeliest tokens, whose probabilities are not made to sum to 1: (places,), and its
    slope π Σ τ − τ over these k. As verl 0.9.1's `forward_kl_topk`, without its clamp: there a value below 0, where the
    student has more of these tokens than the teacher, ends at 0 and pushes nothing.
    """
    order = np.argsort(-teacher_logp, axis=-1, kind="stable")[..., :k]
    kept = np.zeros(teacher_logp.shape)
    np.put_along_axis(kept, order, 1.0, axis=-1)
    tau = np.exp(teacher_logp) * kept
    return (tau * (teacher_logp - logp)).sum(axis=-1), np.exp(logp) * tau.sum(axis=-1, keepdims=True) - tau


def drawn(logp, teacher_logp):
    """log τ − log π of tokens that the student drew, the advantage of each: its mean over draws is −KL(π‖τ)."""
    return teacher_logp - logp


def bytes_per_token(k, vocabulary, width):
    """What a teacher sends for one token, by signal: a log-prob in 4 bytes; k of them with their 4-byte names; all
    logits or the last hidden state in BF16, where the head is multiplied again by who receives it. Closed form.
    """
    return {"drawn token": 4, "likeliest k": 8 * k, "all logits": 2 * vocabulary, "hidden state": 2 * width}
