"""The weight of a sequence to be changed, and workloads to be found in which formats and kernels repay themselves."""

import numpy as np

from sim.experiments import rounding_net
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.kernels.widget import Knobs

DOUBLED = np.log([1.0, 2.0])  # of two tokens one is twice as likely in the trainer
NOISE = np.array([-0.3, -0.1, 0.0, 0.05, 0.2, 0.4])
WHOLE, EACH = rounding_net.WEIGHINGS[:2]
SHARE = "        return kept_a_token(gap) ** np.asarray(length, float)"
RATIO = "    ratio = np.exp(gap)"


def geometric(gap, length, weighing=WHOLE):
    """E[w]² / E[w²] of w = exp(mean Δ), whose two means factor over the tokens."""
    if weighing == EACH:
        return rounding_net.effective_share(gap, length, weighing)

    def share(t):
        return np.mean([np.exp(d / t) for d in gap]) ** (2 * t) / np.mean([np.exp(2 * d / t) for d in gap]) ** t

    return np.vectorize(share, otypes=[float])(length)


CHANGE = Change(
    (rounding_net.kept_a_token, rounding_net.effective_share),
    "the weight of a sequence",
    (
        Exercise(
            "Turn it into GSPO’s weight: the ratio of the whole sequence to the power of 1/length, so that the mean of "
            "its log-ratios decides.",
            ((DOUBLED, 2.0), (NOISE, np.array([1.0, 8.0, 64.0])), (NOISE, 5.0, EACH)),
            geometric,
            (
                "Each token’s log-ratio is divided by the length before the sum. The share is still a product over "
                "tokens.",
                "For one length t, it is kept_a_token(gap / t) ** t. np.vectorize applies that to an array.",
            ),
            (
                SHARE,
                "        kept = lambda t: kept_a_token(gap / t) ** t\n"
                "        return np.vectorize(kept, otypes=[float])(length)",
            ),
            rounding_net.effective_share,
        ),
        Exercise(
            "Temper the weights: raise each token’s ratio to the power of 1/2. You gain samples and pay with bias.",
            ((DOUBLED,), (NOISE,)),
            lambda gap: sum(np.exp(d / 2) for d in gap) ** 2 / (len(gap) * sum(np.exp(d) for d in gap)),
            (
                "The square root of a ratio is the exponential of half the gap.",
                "One line changes: ratio = np.exp(gap / 2).",
            ),
            (RATIO, "    ratio = np.exp(gap / 2)"),
            rounding_net.kept_a_token,
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "Make 60 of 100 sequences of at least 2,048 tokens count, without fp16 and with whole-sequence ratios.",
        lambda k, r: bool(k.mode != "fp16" and k.weighing == WHOLE and k.completion >= 2048 and r.share >= 0.6),
        Knobs(mode="bf16, fp32 head", layers=2, completion=2048),
    ),
    Challenge(
        "Make prefix attention save 40 % of the step, at a rollout share of at most 0.70. Weights and cache must fit.",
        lambda k, r: bool(k.rollout < 0.701 and r.surfaces[0].gain >= 0.4 and r.needs <= r.room),
        Knobs(prompt=65536, completion=16384, groups=4, cached="once"),
    ),
)
