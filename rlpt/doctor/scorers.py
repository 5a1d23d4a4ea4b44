"""Which scores of a log were not trained on: read off, not asked.

Least squares of the reward on all reward functions of TRL's: where the fit is exact its factors are the reward weights,
and a function of weight 0 was not trained on. The same score on evaluation prompts is another matter: other prompts,
under the reward that was trained on. It is not a model; least squares are closed form.
"""

import re
from dataclasses import dataclass

import numpy as np

from rlpt import metric_names
from rlpt.doctor.columns import Curve, arrays, resolved

EXACT = 1e-4  # of the reward's size: TRL logs seven digits
TRAINED = re.compile(r"(?:train_)?rewards_(.+?)(?:_mean)?(?<!_std)")  # of keys of columns; without _mean in 2025
COUNTER = re.compile(r"(^|_)(len|length|tokens?)(_|$)")  # counts tokens, and scores nothing
EVALUATED = re.compile(r"(?:eval_)?eval_rewards_(.+)_mean")
VALIDATED = re.compile(r"val_core_(.+?)_(acc|reward)_mean_\d+")
PASSED = re.compile(r"(?:eval_)?eval_(.+)_pass1")


@dataclass(frozen=True)
class Scorer:
    name: str  # the column
    curve: Curve
    trained: bool  # whether it is the reward that was trained on, on other prompts


@dataclass(frozen=True)
class Scores:
    weights: dict  # {reward function: its weight in the reward}, where the fit is exact
    scorers: tuple  # of Scorer
    columns: dict  # {reward function: its column}


def curve(name, names):
    return Curve(*arrays(names[name]), (name,))


def matched(pattern, names):
    """{what the pattern takes out of a name: the column}."""
    matches = ((pattern.fullmatch(metric_names.key(name)), name) for name in names if names[name].steps)
    return {match[1]: name for match, name in matches if match}


def scores(found, held_out=""):
    """The Scores of a log: of the column `held_out` alone where it names one, without scorers where it is None."""
    names = found.names
    functions = matched(TRAINED, names) if found.framework == "TRL" else {}
    weights = reward_weights(found.curves.get("reward"), functions, names)
    every = tuple(all_scorers(found, functions, weights, names))
    if held_out is None:
        return Scores(weights, (), functions)
    if held_out:
        name = resolved(held_out, names)
        same = [each for each in every if each.name == name]
        of = EVALUATED.fullmatch(metric_names.key(name)) if found.framework == "TRL" else None
        every = tuple(same) or (Scorer(name, curve(name, names), bool(of and weights.get(of[1]))),)
    return Scores(weights, every, functions)


def all_scorers(found, functions, weights, names):
    if found.framework == "TRL":
        trained = [arrays(names[functions[each]])[1] for each, weight in weights.items() if weight]
        for each, weight in weights.items():
            values = arrays(names[functions[each]])[1]
            same = any(len(values) == len(one) and np.allclose(values, one) for one in trained)
            if not weight and not same and not COUNTER.search(each):
                yield Scorer(functions[each], curve(functions[each], names), False)
        for each, name in matched(EVALUATED, names).items():
            yield Scorer(name, curve(name, names), bool(weights.get(each)))
    elif found.framework == "verl":
        for name in names:
            match = VALIDATED.fullmatch(metric_names.key(name))
            if match and names[name].steps:
                yield Scorer(name, curve(name, names), match[2] == "reward")
    elif found.framework == "OpenRLHF":
        for name in matched(PASSED, names).values():
            yield Scorer(name, curve(name, names), False)


def reward_weights(reward, functions, names):
    """{reward function: weight} where the reward is their weighted sum, and only one such sum; else {}."""
    if reward is None or not functions:
        return {}
    columns = {each: dict(zip(*arrays(names[name]))) for each, name in functions.items()}
    steps = [step for step in reward.steps if all(step in values for values in columns.values())]
    target = reward.values[np.isin(reward.steps, steps)]
    distinct = {}  # of columns that are equal, the first: which of them was trained on, nobody can tell
    for each, values in columns.items():
        one = np.array([values[step] for step in steps])
        if not any(np.array_equal(one, other) for other in distinct.values()):
            distinct[each] = one
    same = [each for each, one in distinct.items() if len(one) and np.allclose(one, target, atol=EXACT * 1e-2)]
    if len(same) == 1 and len(steps) > len(distinct):
        return {each: float(each == same[0]) for each in columns if each in distinct}
    table = np.array(list(distinct.values())).T
    if len(steps) < len(distinct) + 3 or np.linalg.matrix_rank(table) < len(distinct):
        return {}
    factors = np.linalg.lstsq(table, target, rcond=None)[0]
    if not np.abs(factors).max() < 1e6 or np.abs(table @ factors - target).max() > EXACT * max(
        1.0, np.abs(target).max()
    ):
        return {}
    return {each: float(np.round(factor, 3)) for each, factor in zip(distinct, factors)}
