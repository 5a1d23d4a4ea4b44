"""How often all completions of a group are correct or all are wrong, if the tiny language model is sampled at a
temperature before any training. Closed form, top-p 1.

Dividing the last layer by the temperature is equivalent to sampling at it, so the exact pass rates are those of a copy
with that division.
"""

from functools import cache

from sim.estimators import attempts
from sim.worlds import tasks


@cache
def pass_rates(temperature):
    """Exact pass rate on every prompt at this temperature, (100,)."""
    policy = tasks.checkpoint("add").copy()
    policy.params |= {name: policy.params[name] / temperature for name in ("W2", "b2")}
    return tasks.exact_pass(policy)


def share(temperature, K):
    """Fraction of groups of K whose completions are all correct or all wrong, mean over the 100 prompts."""
    return 1 - attempts.informative(pass_rates(temperature), K).mean()
