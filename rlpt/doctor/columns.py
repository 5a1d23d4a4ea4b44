"""From the columns of a log to quantities: each under the name that its framework has for it, or that its reader gives.

A table's reader and not a model; what the names are is rlpt/metric_names.py.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from rlpt import logs, metric_names
from rlpt.metric_names import BOUND, GROUP_SD, K3, LEAST, MOST, PERCENT, PLAIN, REST, SIGNED, TOKEN
from sim.words import counted

UNREAD_GROUPS = (
    "The share of groups in which all rewards are equal cannot be read off this log. It is 0 or 1 throughout, as with "
    "a deviation over the batch, or below 1 although all rewards are equal, as in RLOO with the KL in its reward."
)
GUESSED = (
    "“{}” is read as the {}, judging by its name alone. If that is wrong, name the right column, under “Which column "
    "is which” or by --map {}=NAME."
)


@dataclass(frozen=True)
class Curve:
    """A quantity as the log has it: steps and values, finite and in order."""

    steps: np.ndarray
    values: np.ndarray
    columns: tuple  # the names in the log
    note: str = ""


@dataclass(frozen=True)
class Found:
    """What a log says of the quantities: the curves, the steps of its rows, and what is missing and why."""

    framework: str
    format: str
    curves: dict  # {quantity: Curve}
    steps: np.ndarray  # of the rows that were trained on
    every: float  # updates a row
    names: dict  # {column of the log: logs.Column}
    unknown: tuple  # columns that no quantity has
    notes: tuple
    gone: tuple = ()  # (quantity, column, the step from which on it has no number)
    unit: str = "step"  # “row” where rows were counted
    own_steps: bool = True  # whether a step of the log is one of the run

    @property
    def of_preferences(self):
        """Whether this is the log of a DPO run."""
        return "accuracy" in self.curves and "reward" not in self.curves


def arrays(column):
    return np.frombuffer(column.steps, dtype=np.float64).copy(), np.frombuffer(column.values, dtype=np.float64).copy()


def gap_of(divergence):
    """The mean |log ratio| of a normal log-ratio with this KL: √(2/π) √(2 KL)."""
    return sqrt(2 / np.pi) * np.sqrt(2 * np.maximum(divergence, 0))


def resolved(wanted, names):
    """The column that a reader means: its name, or the one of a file that TensorBoard exported."""
    if wanted in names:
        return wanted
    same = [name for name in names if metric_names.key(name) == metric_names.key(wanted)]
    if len(same) != 1:
        near = metric_names.nearest(wanted, names)
        others = f"Similar names: {logs.listed(near)}." if near else f"There are {logs.listed(list(names))}."
        raise logs.Unreadable(f"No column is called “{wanted}”. {others}")
    return same[0]


def quantities(log, mapped=None, k=0):
    """Found, of a log: each quantity under the name that its framework has for it, or that `mapped` gives."""
    framework, names = log.framework, log.columns
    if "perf/weight_sync_s" in names and "ratio" in names:
        raise logs.Unreadable("TRL's asynchronous trainer logs other quantities under the same names, and is not read.")
    chosen = chosen_columns(framework, names)
    guesses = (
        {} if {"reward", "margin"} & chosen.keys() or "reward" in (mapped or {}) else guessed_columns(chosen, names)
    )
    chosen = guesses | chosen | mapped_columns(mapped or {}, names)
    gone = gone_columns(framework, names)
    if not chosen and not gone:
        raise logs.Unreadable(
            f"None of its {counted(len(names), 'column')}, {logs.listed(sorted(names))}, has a name that "
            "says what it is: say which is the reward, under “Which column is which” or by --map reward=NAME."
        )
    read = all_made(chosen, names, k)
    curves = refused(read, framework)
    rows = [curve.steps for curve in curves.values()] + [np.array([since]) for *_, since in gone]
    if not rows:
        alone = ", ".join(f"{quantity} ({', '.join(columns.values())})" for quantity, columns in chosen.items())
        raise logs.Unreadable(" ".join([f"What the log has, {alone}, cannot be read by itself.", *log.notes[:2]]))
    steps = np.unique(np.concatenate(rows))
    used = {name for curve in curves.values() for name in curve.columns}
    return Found(
        *(framework, log.format, curves, steps, apart(steps), names),
        unknown=tuple(sorted(n for n in names if n not in used)),
        notes=(
            *log.notes,
            *noted(log, steps),
            *(UNREAD_GROUPS for _ in read.keys() - curves.keys()),
            *(
                GUESSED.format(name[:40], metric_names.ALL[quantity].words, quantity)
                for quantity, columns in guesses.items()
                for name in columns.values()
                if chosen[quantity] is columns
            ),
        ),
        gone=gone,
        unit=log.unit,
        own_steps=log.unit == "step" and counts_updates(log),
    )


def gone_columns(framework, names):
    """(quantity, column, step) of those whose last values are no numbers, that the framework names."""
    return tuple(
        (known[0], name, column.since)
        for name, column in names.items()
        if column.trailing and (known := metric_names.known(name).get(framework))
    )


def mapped_columns(mapped, names):
    for quantity in mapped:
        if quantity not in metric_names.QUANTITIES:
            known_quantities = ", ".join(metric_names.QUANTITIES)
            raise logs.Unreadable(f"No quantity is called “{quantity}”; there are {known_quantities}.")
    return {quantity: {read_by_hand(quantity, name): resolved(name, names)} for quantity, name in mapped.items()}


def read_by_hand(quantity, name):
    """How a column is read that was named by hand: as a framework that calls it so does; else as it stands."""
    known = [
        how for found, how, _ in metric_names.known(name).values() if found == quantity and how not in (MOST, LEAST)
    ]
    return known[0] if known else TOKEN if quantity == "kl" else PLAIN


def all_made(chosen, names, k):
    """{quantity: Curve} of those that have values."""
    curves = {quantity: made(columns, names, k) for quantity, columns in chosen.items()}
    if MOST in chosen.get("reward_sd", {}):
        curves["reward_sd"] = from_range(chosen["reward_sd"], curves.get("reward"), names)
    return {
        quantity: curves[quantity]
        for quantity in metric_names.ALL
        if curves.get(quantity) and len(curves[quantity].steps)
    }


def chosen_columns(framework, names):
    """{quantity: {how: column}}: of several names for one quantity, the first of the table."""
    places = {}
    for name in names:
        if (known := metric_names.known(name).get(framework)) and names[name].steps:
            quantity, how, place = known
            if how in (MOST, LEAST):
                places.setdefault(quantity, {})[how] = (0, name)
            elif quantity not in places or place < min(p for p, _ in places[quantity].values()):
                places[quantity] = {how: (place, name)}
    return {quantity: {how: name for how, (_, name) in at.items()} for quantity, at in places.items()}


def guessed_columns(chosen, names):
    """The same for quantities that no framework's name gives, by the words in a name that nobody has."""
    found = {}
    for name in names:
        if names[name].steps and not metric_names.known(name) and (quantity := metric_names.guessed(name)):
            found.setdefault(quantity, []).append(name)
    return {
        quantity: {read_by_hand(quantity, fits[0]): fits[0]}
        for quantity, fits in found.items()
        if quantity not in chosen and len(fits) == 1
    }


def made(columns, names, k):
    """The Curve of a quantity from its columns; None where one that it needs is missing."""
    how, name = next(iter(columns.items()))
    steps, values = arrays(names[name])
    if how in (MOST, LEAST):
        return None  # a range, which is made into a deviation once the reward is known
    if how in (K3, SIGNED):
        return Curve(steps, gap_of(values), (name,), "from a KL, as of a Gaussian log-ratio: 0.8 √(2 KL)")
    if how == BOUND:
        return Curve(steps, values, (name,), "a difference of probabilities, less than that of their logarithms")
    if how in (REST, PERCENT):
        return Curve(
            steps,
            1 - values / (1 if how == REST else 100),
            (name,),
            f"{1 if how == REST else '100%'} minus {name[:40]}",
        )
    if how == GROUP_SD:
        if k < 2:
            return None
        share = np.maximum(0, 1 - sqrt(k) * values)
        return Curve(steps, share, (name,), f"a bound, for rewards of 0 and 1 in groups of {k}")
    return Curve(steps, values, (name,))


def from_range(columns, reward, names):
    """The most that a deviation can be, given largest, smallest and mean: √((most − mean) (mean − least)), which it is
    where rewards have two values. Bhatia and Davis (2000), doi:10.1080/00029890.2000.12005203.
    """
    if len(columns) < 2 or reward is None:
        return None
    most, least = (dict(zip(*arrays(names[columns[end]]))) for end in (MOST, LEAST))
    steps = np.array([step for step in reward.steps if step in most and step in least])
    mean = reward.values[np.isin(reward.steps, steps)]
    above, below = (np.array([most[step] for step in steps]) - mean, mean - np.array([least[step] for step in steps]))
    deviation = np.sqrt(np.maximum(above, 0) * np.maximum(below, 0))
    return Curve(steps, deviation, tuple(columns.values()), "from the range, as if rewards had two values")


def refused(curves, framework):
    """The curves without TRL's share of uniform groups where it says nothing: where it is 0 or 1 throughout, as with a
    deviation over the batch, or below 1 in a batch whose rewards are all alike, as in RLOO, whose KL is in the reward.
    """
    share, deviation = curves.get("zero_variance"), curves.get("reward_sd")
    if framework != "TRL" or share is None:
        return curves
    without = {quantity: curve for quantity, curve in curves.items() if quantity != "zero_variance"}
    if set(np.unique(share.values)) == {0.0, 1.0}:
        return without
    if deviation is not None:
        _, i, j = np.intersect1d(share.steps, deviation.steps, return_indices=True)
        if np.any(share.values[i][deviation.values[j] <= 1e-6] < 1):
            return without
    return curves


def apart(steps):
    """Updates a row: the usual distance of two steps; 1 where there is one."""
    return float(np.median(np.diff(steps))) if len(steps) > 1 else 1.0


def counts_updates(log):
    """Whether the steps of a log are the run's: verl and NeMo RL set those of Weights & Biases themselves."""
    return log.counted or log.framework in ("verl", "NeMo RL")


def noted(log, steps):
    notes = []
    if not counts_updates(log):
        notes.append("Its steps count calls to Weights & Biases, so each row is read as one update.")
    if len(steps) > 1 and np.diff(steps).max() > 3 * apart(steps):
        at = int(np.diff(steps).argmax())
        notes.append(f"No row between the steps {steps[at]:g} and {steps[at + 1]:g}.")
    return tuple(notes)
