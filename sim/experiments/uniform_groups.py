"""How often all completions of a group are alike, right or wrong, when the tiny language model is sampled at a
temperature before any training. Closed form, top-p 1.

Dividing the last layer by the temperature is sampling at it, so the exact pass rates are those of a divided copy.
"""

from functools import cache

from sim.estimators import attempts
from sim.worlds import tasks


@cache
def pass_rates(temperature):
    """Exact pass rate of every prompt at the temperature, (100,)."""
    policy = tasks.checkpoint("add").copy()
    policy.params |= {name: policy.params[name] / temperature for name in ("W2", "b2")}
    return tasks.exact_pass(policy)


def share(temperature, K):
    """Share of the groups of K whose completions are all right or all wrong, mean over the 100 prompts."""
    return 1 - attempts.informative(pass_rates(temperature), K).mean()
