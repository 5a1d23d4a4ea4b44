"""The function that readers write on M0.5: it picks one of several samples. Nine checks look at what it does, and it
then picks for forty prompts.
"""

from sim.lab import selection
from sim.verifiers import checkers
from sim.worlds import scorer
from widgets.frame.contract.exercises import Goal, Shown, Table

ID, NAMED = "pick", "A function that picks one of several samples"
SIZES = (1, 2, 4, 8)
PICKERS = {"the answer occurs": checkers.substring, "one exact line": scorer.score}
LONGEST = 90  # characters of what came back
BESIDES = {  # what is wrong about a check with the right id
    "returns the very object": "it returned a copy and not the sample itself",
    "leaves the input as it was": "it changed the list or a sample that it was given",
}


def pick_best(samples):
    """The sample with the highest reward."""
    return max(samples, key=lambda sample: sample["reward"])


EDITED = pick_best


def RETURNS(value):
    """One of the samples: a dict with a whole number as its sample_id."""
    if not isinstance(value, dict) or type(value.get("sample_id")) is not int:
        raise ValueError(f"it returned {repr(value)[:60]}, and a pick is one of the samples")
    return value


def called(function):
    """(name, passed, given, wanted, returned) of each check, and (reported, correct) for each picker and size, or
    nothing if a pick for the forty prompts failed.
    """
    returned = {}

    def pick(samples):
        given = selection.written(samples)
        try:
            # whatever a call raises becomes a ValueError, so only the function itself can say that it raised another
            found = function(samples) if samples else getattr(function, "function", function)(samples)
        except (Exception, SystemExit) as error:
            returned[given] = str(error)[:LONGEST] if samples else type(error).__name__
            raise (RuntimeError() if isinstance(error, SystemExit) else error) from None
        returned[given] = f"id {found['sample_id']}" if samples else "no error"
        return found

    checks = selection.nine_checks(pick)
    return (
        tuple((c.name, bool(c.passed), c.given, str(c.wanted), returned.get(c.given, "")) for c in checks),
        tuple(counted(function, judge) for judge in PICKERS.values()),
    )


def counted(function, judge):
    """(reported, correct) for each size, or nothing if a pick failed."""
    try:
        return tuple((round(row.reported), row.right) for row in selection.table(function, judge, SIZES))
    except Exception:
        return ()


def shown(called):
    checks, pickers = called
    return Shown(
        said(checks),
        (
            Table(
                "Nine checks",
                ("check", "passed", "returned", "wanted"),
                tuple(
                    (name, "yes" if passed else "no", returned, expected(wanted))
                    for name, passed, _, wanted, returned in checks
                ),
            ),
            Table(
                f"The samples on which it misses: {sum(not check[1] for check in checks)}",
                ("samples", "check"),
                tuple((given, name) for name, passed, given, *_ in checks if not passed),
            ),
            Table(
                "What your function picks for the forty prompts, by the number of samples",
                ("picker", "number", *map(str, SIZES)),
                tuple(line for name, found in zip(PICKERS, pickers, strict=True) for line in lines(name, found)),
            ),
        ),
    )


def said(checks):
    """How many checks it passes, and where it misses first."""
    missed = [check for check in checks if not check[1]]
    if not missed:
        return "Your function passes all nine checks, so the same samples lead to the same pick in any order."
    name, _, _, wanted, returned = missed[0]
    return (
        f"Your function passes {len(checks) - len(missed)} of {len(checks)} checks. "
        f"The first miss is “{name}”: {came(name, returned, expected(wanted))}."
    )


def came(name, returned, wanted):
    """What a call led to and what was wanted, in words."""
    if returned == wanted:  # the right id, and still a miss
        return BESIDES.get(name, "it did not return the same sample each time")
    if returned.startswith("id ") or returned == "no error":
        return f"it returned {returned.replace('no error', 'without an error')}. The check wants {wanted}"
    if returned.startswith("it returned "):
        return f"{returned.rstrip('.')}. The check wants {wanted}"
    return f"the call ended with “{returned.rstrip('.')}”. The check wants {wanted}"


def expected(wanted):
    return f"id {wanted}" if wanted.isdigit() else f"a {wanted}"


def lines(name, found):
    """Two rows: what the picker reports, and what is correct."""
    numbers = list(zip(*found, strict=True)) if found else [["–"] * len(SIZES)] * 2
    return [(name, word, *map(str, row)) for word, row in zip(("reported", "correct"), numbers, strict=True)]


GOALS = (Goal("Pass all nine checks with pick_best", lambda called: all(check[1] for check in called[0])),)
HINTS = (
    "Among equal rewards, max keeps the sample that comes first in the list. Compare a pair instead of the reward: the "
    "reward, and something that is larger for a smaller id.",
    "No comparison with NaN is true, so a NaN that comes first is never replaced. Put a third value in front of the "
    "pair, which says whether the reward is a number: reward == reward is false for NaN alone.",
    '''def pick_best(samples):
    """The highest reward, then the smallest id. A NaN ranks below all numbers."""
    def rank(sample):
        reward = sample["reward"]
        known = reward == reward
        return known, reward if known else 0.0, -sample["sample_id"]

    return max(samples, key=rank)
''',
)
