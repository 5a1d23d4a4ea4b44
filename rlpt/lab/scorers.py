"""The scorer of a run: one of the book's two versions, or a function of somebody's file, and what it says when called.

The contract is that of sim/worlds/scorer.py: the same answer each time, for any completion, without changing the
example. Not a model.
"""

import copy
import hashlib
import json
import math
import runpy
from dataclasses import dataclass
from pathlib import Path

from rlpt.lab.records import Bad
from sim.lab import instruments
from sim.worlds.scorer import score

SPECS = {"1.0.0": score, "1.1.0": instruments.score_1_1_0}  # the versions of the rules
BROKEN = "scorer_error"


@dataclass(frozen=True)
class Scorer:
    name: str  # "strict", or FILE:NAME without the folder
    sha256: str  # of the file, "" of the book's own
    judge: object  # (example, completion) -> {"reward", "details"}


def scorer(named="", spec="1.0.0"):
    """The book's scorer of this version, or the function `file.py:name`. The file is executed. Raises Bad, OSError."""
    if not named:
        return Scorer("strict", "", SPECS[spec])
    path, function = function_of(named, "a scorer")
    sha256 = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return Scorer(f"{Path(path).name}:{function.__name__}", sha256, function)


def function_of(named, what, default=""):
    """(file, function) of `file.py:name`."""
    path, colon, name = named.rpartition(":")
    if not (colon and name.isidentifier()):
        path, name = named, default
    if not name:
        raise Bad(f"{named} names no function; {what} is given as file.py:name")
    Path(path).read_bytes()  # what cannot be read is an OSError, and no fault of the code in it
    try:
        there = runpy.run_path(path)
    except (Exception, SystemExit) as fault:
        raise Bad(f"{path} cannot be run: {type(fault).__name__}: {str(fault)[:200]}".rstrip(": ")) from None
    if not callable(there.get(name)):
        raise Bad(f"{path} has no function {name}; {what} is given as file.py:name")
    return path, there[name]


def judged(judge, expected, completion, id=""):
    """(reward, reason, details) of one completion; (None, "scorer_error", {"error": why}) if the scorer breaks its
    contract.
    """
    example = {"id": id, "expected_answer": expected}
    try:
        first, second = (result(judge, copy.deepcopy(example), example, completion) for _ in range(2))
        if first != second:
            raise ValueError("two calls gave two answers")
    except (Exception, SystemExit) as fault:
        said = " ".join(f"{type(fault).__name__}: {fault}".split()).removeprefix("ValueError: ")
        return None, BROKEN, {"error": said[:200]}
    scored = json.loads(first)
    return scored["reward"], str(scored["details"].get("reason", "no reason given")), scored["details"]


def result(judge, given, example, completion):
    """What one call returned, as JSON."""
    scored = judge(given, completion)
    if given != example:
        raise ValueError("it changed the example")
    if not isinstance(scored, dict) or not isinstance(scored.get("details"), dict) or "reward" not in scored:
        raise ValueError(f'it returned {repr(scored)[:60]} instead of {{"reward": …, "details": {{…}}}}')
    reward = scored["reward"]
    if isinstance(reward, bool) or not isinstance(reward, int | float) or not math.isfinite(reward):
        raise ValueError(f"the reward is {repr(reward)[:40]}, and it should be a number from 0 to 1")
    if not 0 <= reward <= 1:
        raise ValueError(f"the reward is {reward:g}, and it should be a number from 0 to 1")
    return json.dumps({"reward": float(reward), "details": scored["details"]}, sort_keys=True, allow_nan=False)
