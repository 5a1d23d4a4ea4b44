"""What several passes over a batch need: PPO on sums of two digits with the clip, without it, and with a ratio that is
recomputed in every pass and is therefore 1.

The loss of Schulman et al. (2017), arXiv:1707.06347, on the tiny language model, with AdamW.
"""

import numpy as np

from sim.algorithms import ppo
from sim.estimators import surrogate
from sim.experiments import after_sft
from sim.experiments.standard_runs import add_run

CLIP, FREE, FORGOTTEN = WAYS = ("clip", "no clip", "ratio forgotten")


def free(logp, old_logp, A, hp, batch):
    return surrogate.clipped(logp, old_logp, A, np.inf, np.inf)


def forgotten(logp, old_logp, A, hp, batch):
    """`old_logp` is recomputed in every pass instead of being recorded once."""
    return ppo.surrogate(logp, logp, A, hp, batch)


LOSSES = dict(zip(WAYS, (ppo.surrogate, free, forgotten)))


def pass_rates(way, seed, updates=60, passes=4, every=6):
    """[(update, exact pass rate over the 100 prompts)] every `every` updates from the start to the end, for one of
    WAYS.
    """
    run = add_run(ppo, seed=seed, hyper=dict(inner_epochs=passes), hooks=dict(surrogate=LOSSES[way]), exact_every=every)
    seen = [(frame.step + 1, float(np.mean(frame.exact["pass_rate"]))) for frame in run.frames(updates) if frame.exact]
    return [(0, float(after_sft.start())), *seen]
