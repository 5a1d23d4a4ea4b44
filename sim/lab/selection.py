"""The best of N samples, picked by a judge: what the judge reports, and how many of the picks are right.

Picking changes no policy. Closed form: a maximum with ties broken by the smallest id, and counts over the frozen
completions of sim/lab/packs.py. Best of N under a verifier: Cobbe et al. (2021), arXiv:2110.14168.

A sample is a dict {"sample_id": int, "reward": float, "completion": text}.
"""

import math
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice, permutations

from sim.lab import packs
from sim.verifiers.checkers import reward_of
from sim.worlds.scorer import score


def first_best(samples):
    """The sample with the highest reward, and of several the one with the smallest id. A NaN ranks below all numbers.

    Raises ValueError if there are no samples.
    """
    if not samples:
        raise ValueError("samples is empty, and the best of no samples does not exist")
    return max(samples, key=_rank)


def _rank(sample):
    reward = sample["reward"]
    known = not math.isnan(reward)  # NaN compares as false with everything, so that a plain max keeps it if it is first
    return known, reward if known else 0.0, -sample["sample_id"]


# ── what picking reports ──
@dataclass(frozen=True)
class Picked:
    """The picks among the first N samples of every prompt."""

    N: int
    ids: tuple  # the id of the picked sample of each prompt
    reported: float  # the sum of the judge's rewards of the picks; of a judge that pays 0 or 1, a number of prompts
    right: int  # prompts whose pick the strict scorer pays


def table(pick, judge, sizes, split=""):
    """A Picked for each N in `sizes` over the prompts of a split, all 40 by default.

    `pick(samples)` returns one of the samples that it is given. `judge(example, completion)` returns a reward, or a
    dict with "reward". Raises ValueError if the pick is none of the samples.
    """
    answers = [{"expected_answer": example.expected_answer} for example in packs.examples(split)]
    rows = list(zip(answers, packs.rollouts(split), strict=True))
    judged = [
        [_sample(r.sample_id, reward_of(judge, e, r.completion)[0], r.completion) for r in row] for e, row in rows
    ]
    paid = [{r.sample_id: int(score(e, r.completion)["reward"]) for r in row} for e, row in rows]
    return tuple(_picked(pick, N, [samples[:N] for samples in judged], paid) for N in sizes)


def _picked(pick, N, judged, paid):
    ids = tuple(_picked_id(pick, samples) for samples in judged)
    rewards = [
        next(s["reward"] for s in samples if s["sample_id"] == i) for i, samples in zip(ids, judged, strict=True)
    ]
    return Picked(N, ids, sum(rewards), sum(of[i] for i, of in zip(ids, paid, strict=True)))


def _picked_id(pick, samples):
    picked = pick(deepcopy(samples))  # a copy, because a pick may write into its samples
    found = _id(picked)
    if found not in [sample["sample_id"] for sample in samples]:
        raise ValueError(f"the pick is {repr(picked)[:60]}, and a pick is one of the samples that were given")
    return found


# ── nine checks of a pick ──
@dataclass(frozen=True)
class Check:
    """What a pick did with one input."""

    name: str
    passed: bool
    given: str  # the samples as a Python literal
    wanted: int | str  # the id of the right sample, or "ValueError"


def nine_checks(pick):
    """Nine Checks of `pick(samples)`. Every check also requires the right id, and an exception fails all but the one
    that asks for it.
    """
    very, tied, negative = _samples(0, 1, 0), _samples(1, 1, 1), _samples(-2, -1, -3)
    tied, unsorted = ([samples[2], samples[0], samples[1]] for samples in (tied, very))
    shuffles = [list(order) for order in islice(permutations(_samples(0, 1, 0, 1, 1)), 0, 100, 2)]
    single = [_sample(4, 0.0, "Final: 7")]
    # the smallest id is neither first nor last, nor does it have the smallest text, nor is "3" below "12"
    gaps = [_sample(12, 1.0, "Final: 7"), _sample(3, 1.0, "Final: 9"), _sample(40, 1.0, "Final: 8")]
    unknown = _samples(math.nan, -3, math.nan, -0.5, math.nan)  # a NaN that is taken for 0 would win
    missed = next((order for order in shuffles if not _finds(pick, order, 1)), shuffles[0])
    return (
        Check("returns the very object", _is_very(pick, very, 1), written(very), 1),
        Check("finds it in 50 orders", _finds(pick, missed, 1), written(missed), 1),
        Check("all are tied", _finds(pick, tied, 0), written(tied), 0),
        Check("all rewards are negative", _finds(pick, negative, 1), written(negative), 1),
        Check("there is one sample", _finds(pick, single, 4), written(single), 4),
        Check("the ids have gaps", _finds(pick, gaps, 3), written(gaps), 3),
        Check("leaves the input as it was", _leaves(pick, unsorted, 1), written(unsorted), 1),
        Check("there is no sample", _refuses(pick), "[]", "ValueError"),
        Check("a NaN never beats a number", _finds(pick, unknown, 3), written(unknown), 3),
    )


def written(samples):
    """A list of samples as a Python literal, in which a NaN is float('nan')."""
    texts = [
        f"{{'sample_id': {s['sample_id']}, 'reward': {_number(s['reward'])}, 'completion': {s['completion']!r}}}"
        for s in samples
    ]
    return f"[{', '.join(texts)}]"


def _number(reward):
    return repr(float(reward)) if math.isfinite(reward) else f"float('{reward}')"


def _samples(*rewards):
    """Samples with the ids 0, 1, 2 … and texts in the same order."""
    return [_sample(i, float(reward), f"Final: {i}") for i, reward in enumerate(rewards)]


def _sample(sample_id, reward, completion):
    return {"sample_id": sample_id, "reward": reward, "completion": completion}


def _id(picked):
    return picked.get("sample_id") if isinstance(picked, dict) else None


def _finds(pick, samples, wanted):
    try:
        return _id(pick(deepcopy(samples))) == wanted
    except Exception:
        return False


def _is_very(pick, samples, wanted):
    given = deepcopy(samples)
    very = given[wanted]  # before the call, because a pick may sort its samples
    try:
        return pick(given) is very
    except Exception:
        return False


def _leaves(pick, samples, wanted):
    given = deepcopy(samples)
    found = _finds(lambda _: pick(given), samples, wanted)
    try:
        return found and repr(given) == repr(samples)  # what was written into it may be anything, such as an array
    except Exception:
        return False


def _refuses(pick):
    try:
        pick([])
    except ValueError:
        return True
    except Exception:
        return False
    return False
