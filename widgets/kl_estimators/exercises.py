"""Two estimators of the KL to be changed, and runs to be brought to the place that another penalty goes to."""

import numpy as np

from sim.estimators import kl
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.kl_estimators.widget import Knobs, ended, left

POLICY, REF = np.log([0.1, 0.1, 0.8]), np.log([0.5, 0.3, 0.2])
FAR = np.array([-30.0, -5.0, -1.0, -0.1]), np.array([-1.0, -1.0, -1.0, -25.0])

CHANGE = Change(
    (kl.k1, kl.k3),
    "two estimators of the KL",
    (
        Exercise(
            "Make k1 in the reward pull like −∇KL(π_ref‖π), the forward KL. It must be 0 where the two models agree on "
            "a token.",
            ((POLICY, REF), (np.log([0.5, 0.25]), np.log([0.5, 0.75]))),
            kl.k3_slope,
            (
                "In the reward, the charge itself is the weight of ∇log π. Which loss descends the forward KL, and "
                "with what weight?",
                "It is the slope of k3 as a loss: 1 minus the reference's probability divided by the policy's.",
            ),
            ("    return logp - ref_logp", "    return 1 - np.exp(ref_logp - logp)"),
        ),
        Exercise(
            "Cap k3 as verl does: the log-ratio r stays within ±20 before the exponential, and the estimate is at "
            "most 10.",
            ((POLICY, np.log([0.5, 0.3, 0.000001])), FAR),
            lambda logp, ref_logp: kl.clamped_k3(logp, ref_logp)[0],
            (
                "You need two clips, one before the exponential and one after it. The estimate needs no lower limit.",
                "Use np.clip(r, -20, 20) where r is computed and np.minimum(…, 10) around the returned value.",
            ),
            (
                "    r = logp - ref_logp\n    return np.expm1(-r) + r",
                "    r = np.clip(logp - ref_logp, -20, 20)\n    return np.minimum(np.expm1(-r) + r, 10)",
            ),
            kl.k3,
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "With k1 in the reward and samples of age 0.5 or more, end between 1.00 and 1.12 nats from the reference.",
        lambda k, r: bool(
            (k.estimator, k.placement) == ("k1", "reward") and k.gap >= 0.5 and 1.0 <= ended(r)[0] <= 1.12
        ),
        Knobs(gap=0.5, beta=0.6),
    ),
    Challenge(
        "With k3 as a loss, at least 64 samples per batch and age 0, leave 11 to 13 % to the unrewarded tokens.",
        lambda k, r: bool(
            (k.estimator, k.placement) == ("k3", "loss") and k.samples >= 64 and k.gap == 0 and 0.11 <= left(r) <= 0.13
        ),
        Knobs(estimator="k3", placement="loss", beta=0.15),
    ),
)
