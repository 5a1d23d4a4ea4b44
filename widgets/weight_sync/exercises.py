"""What a delivery takes to be changed, and runs on old completions that learn all the same."""

import numpy as np

from sim.framework import weight_sync
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.weight_sync.widget import NEVER, Knobs

ONE = (8e9, 2, 50.0)  # 8 billion parameters in bf16 over 50 GB/s: 0.32 s
SIZES = (np.array([5e8, 7e10, 1e12]), 1, 400.0)
PLAIN = "    return parameters * bytes_per_parameter / (gigabytes_per_second * 1e9)"

CHANGE = Change(
    (weight_sync.transfer_seconds,),
    "how long a delivery takes",
    (
        Exercise(
            "Send only the weights that have changed: 2 % of all weights, each with an index of 4 additional bytes.",
            (ONE, SIZES),
            lambda n, width, link: (0.02 * n * width + 0.02 * n * 4) / link / 1e9,
            ("Fewer weights are sent, but each takes more bytes.", "0.02 * parameters, times bytes_per_parameter + 4."),
            (PLAIN, "    return 0.02 * parameters * (bytes_per_parameter + 4) / (gigabytes_per_second * 1e9)"),
        ),
        Exercise(
            "Pass the weights on from engine to engine. The same bytes cross the link 4 times in a row, and each "
            "crossing starts after a delay of 0.1 s.",
            (ONE, SIZES),
            lambda n, width, link: sum(0.1 + n * width / link / 1e9 for _ in range(4)),
            (
                "One crossing takes a tenth of a second longer than now, and there are four crossings.",
                "4 * (0.1 + …), where the dots stand for the present return value.",
            ),
            (PLAIN, "    return 4 * (0.1 + parameters * bytes_per_parameter / (gigabytes_per_second * 1e9))"),
        ),
    ),
)

CHALLENGES = (
    Challenge(
        "With a lag of 16 updates or more, end at a pass rate of 0.81 or more.",
        lambda k, r: bool(k.lag >= 16 and r.pass_rate[-1] >= 0.81),
        Knobs(lag=16, learning_rate=0.01),
    ),
    Challenge(
        f"Deliver only after every {NEVER} updates, which is never within the run. End at a pass rate of 0.85 or more.",
        lambda k, r: bool(k.every == NEVER and r.pass_rate[-1] >= 0.85),
        Knobs(every=NEVER, correction="ratio"),
    ),
)
