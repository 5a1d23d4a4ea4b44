"""`python -m sim.doctor FILE…`: asks seven questions of a run's log in their order, and says which it cannot ask.

The order is that of sim/estimators/diagnosis.py, and not a model: quantities and comparisons. Thresholds were
chosen on the trace lab, seeds 0 to 29 of eight kinds of run. None transfers to another run by itself, so all but those
of a gap and of a share are relative to the run's own beginning, and all can be set.
"""

import sys
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from sim import logs, metric_names
from sim.arguments import Parser, guarded, whole
from sim.metric_names import BOUND, GROUP_SD, HELD_OUT, K3, LEAST, MOST, PLAIN, QUANTITIES, SIGNED, TOKEN

ROWS = 20  # a log with fewer says nothing
LATE, FIRST = 10, 5  # rows of the end and of the beginning that are averaged


@dataclass(frozen=True)
class Threshold:
    words: str
    value: float
    unit: str = ""


THRESHOLDS = {
    "gap_first": Threshold("1: gap in the first row, above", 0.04, "nats"),
    "gap_late": Threshold("2: mean gap from row 6, above", 0.1, "nats"),
    "gap_growth": Threshold("2: and above, times the first row", 3.0),
    "zero_variance": Threshold("3: groups with one reward for all, rows 1 to 10, above", 0.6),
    "held_out_drop": Threshold("4: held-out score, fallen by more than", 0.1),
    "rise": Threshold("4: while the reward rose by more than, deviations", 0.2),
    "entropy_jump": Threshold("5: entropy in row 3, below, times row 1", 0.4),
    "kl_jump": Threshold("5: KL gained by row 3, above, times its maximum", 0.5),
    "length": Threshold("6: length of the last ten rows, above, times row 1", 3.0),
    "entropy_left": Threshold("7: entropy of the last ten rows, below, times row 1", 0.5),
    "held_out_flat": Threshold("7: and the held-out score rose by less than", 0.2),
    "reward_flat": Threshold("7: or, without it, the reward by less than, deviations", 0.35),
}


@dataclass(frozen=True)
class Curve:
    """A quantity as the log has it: steps and values, finite and in order."""

    steps: np.ndarray
    values: np.ndarray
    columns: tuple  # the names in the log
    note: str = ""
    bound: bool = False  # no more than a lower bound

    def at(self, step):
        """The value at a step; None where it has none."""
        place = int(np.searchsorted(self.steps, step))
        there = place < len(self.steps) and self.steps[place] == step
        return float(self.values[place]) if there else None


@dataclass(frozen=True)
class Found:
    """What a log says of the quantities: the curves, the steps of its rows, and what is missing and why."""

    framework: str
    format: str
    curves: dict  # {quantity: Curve}
    steps: np.ndarray  # of the rows that were trained on
    every: float  # updates a row
    missing: dict  # {quantity: what would log it}
    candidates: tuple  # columns that could be a held-out score
    unknown: tuple  # columns that no quantity has
    notes: tuple
    gone: tuple = ()  # (column, the step from which on it has no number), of those that a framework names


# ── from columns to quantities ──
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
        others = f"Near it: {logs.listed(near)}." if near else f"There are {logs.listed(list(names))}."
        raise logs.Unreadable(f"No column is called “{wanted}”. {others}")
    return same[0]


def quantities(log, held_out="", mapped=None, k=0):
    """Found, of a log: each quantity under the name that its framework has for it, or that `mapped` gives."""
    framework, names = log.framework, log.columns
    if "perf/weight_sync_s" in names and "ratio" in names:
        raise logs.Unreadable("TRL's asynchronous trainer logs other quantities under the same names, and is not read.")
    chosen = chosen_columns(framework, names) | mapped_columns(mapped or {}, names)
    if not chosen:
        raise logs.Unreadable(
            f"None of its {len(names):,} columns, {logs.listed(sorted(names))}, has a name that TRL, verl or OpenRLHF "
            "gives to what the tests look at: say which is, under “Which column is which” or by --map reward=NAME."
        )
    curves = refused(all_made(chosen, names, k), framework)
    steps = np.unique(np.concatenate([curve.steps for curve in curves.values()] or [[]]))
    if len(steps) < ROWS:
        sparse = framework == "TRL" and len(steps) > 1 and apart(steps) > 1
        more = ": TRL writes a row for each update with logging_steps=1" if sparse else ""
        raise logs.Unreadable(
            " ".join([f"Rows of training in the log: {len(steps)}. The tests need {ROWS}{more}.", *log.notes[:2]])
        )
    if held_out:
        name = resolved(held_out, names)
        curves["held_out"] = Curve(*arrays(names[name]), (name,))
    used = {name for curve in curves.values() for name in curve.columns}
    return Found(
        *(framework, log.format, curves, steps, apart(steps)),
        missing={name: row.logged_by.get(framework, "") for name, row in ASKED_FOR.items() if name not in curves},
        candidates=tuple(n for n in names if framework and n not in used and metric_names.looks_held_out(n, framework)),
        unknown=tuple(sorted(n for n in names if n not in used)),
        notes=tuple(log.notes) + noted(log, steps),
        gone=tuple(
            (name, column.since)
            for name, column in names.items()
            if column.trailing > 2 and metric_names.known(name).get(framework)
        ),
    )


ASKED_FOR = QUANTITIES | {"held_out": HELD_OUT}


def mapped_columns(mapped, names):
    for quantity in mapped:
        if quantity not in QUANTITIES:
            raise logs.Unreadable(f"No quantity is called “{quantity}”; there are {', '.join(QUANTITIES)}.")
    return {quantity: {read_by_hand(quantity, name): resolved(name, names)} for quantity, name in mapped.items()}


def read_by_hand(quantity, name):
    """How a column is read that was named by hand: as a framework that calls it so does; else a KL is one a token."""
    known = [
        how for found, how, _ in metric_names.known(name).values() if found == quantity and how not in (MOST, LEAST)
    ]
    return known[0] if known else TOKEN if quantity == "kl" else PLAIN


def all_made(chosen, names, k):
    """{quantity: Curve} of those that have values; KL a token needs the length, which comes first."""
    curves = {}
    for quantity in sorted(chosen, key=lambda name: (name == "kl", list(QUANTITIES).index(name))):
        curve = made(quantity, chosen[quantity], names, curves.get("length"), k)
        if curve is not None and len(curve.steps):
            curves[quantity] = curve
    return {quantity: curves[quantity] for quantity in QUANTITIES if quantity in curves}


def chosen_columns(framework, names):
    """{quantity: {how: column}}: of several names for one quantity, the first of the table."""
    places = {}
    for name in names:
        if (found := metric_names.known(name).get(framework)) and names[name].steps:
            quantity, how, place = found
            if how in (MOST, LEAST):
                places.setdefault(quantity, {})[how] = (0, name)
            elif quantity not in places or place < min(p for p, _ in places[quantity].values()):
                places[quantity] = {how: (place, name)}
    return {quantity: {how: name for how, (_, name) in at.items()} for quantity, at in places.items()}


def made(quantity, columns, names, length, k):
    """The Curve of a quantity from its columns; None where one that it needs is missing."""
    how, name = next(iter(columns.items()))
    steps, values = arrays(names[name])
    if how in (MOST, LEAST):
        if len(columns) < 2:
            return None
        steps, (most, least) = common(names[columns[MOST]], names[columns[LEAST]])
        return Curve(steps, (most - least) / 2, tuple(columns.values()), "half of the range")
    if how in (K3, SIGNED):
        return Curve(steps, gap_of(values), (name,), "from a KL, as of a Gaussian log-ratio: 0.8 √(2 KL)")
    if how == BOUND:
        return Curve(steps, values, (name,), "a difference of probabilities, less than that of their logarithms", True)
    if how == TOKEN:
        if length is None:
            return Curve(steps, values, (name,), "a token: the log has no length")
        place = np.clip(np.searchsorted(length.steps, steps), 0, len(length.steps) - 1)
        return Curve(steps, values * length.values[place], (name,), "a token, times the length")
    if how == GROUP_SD:
        if k < 2:
            return None
        share = np.maximum(0, 1 - sqrt(k) * values)
        return Curve(steps, share, (name,), f"a bound, for rewards of 0 and 1 in groups of {k}", True)
    return Curve(steps, values, (name,))


def common(first, second):
    """Steps that two columns share, and the values of each there."""
    (a, x), (b, y) = arrays(first), arrays(second)
    steps, i, j = np.intersect1d(a, b, return_indices=True)
    return steps, (x[i], y[j])


def refused(curves, framework):
    """The curves without one that says nothing: TRL's share of groups where it is 0 or 1 throughout."""
    share = curves.get("zero_variance")
    if framework == "TRL" and share is not None and set(np.unique(share.values)) == {0.0, 1.0}:
        return {quantity: curve for quantity, curve in curves.items() if quantity != "zero_variance"}
    return curves


def apart(steps):
    """Updates a row: the usual distance of two steps."""
    return float(np.median(np.diff(steps)))


def noted(log, steps):
    said = []
    if not log.counted and log.framework != "verl":  # which sets them itself
        said.append("Its steps are calls of Weights & Biases; a row is taken for an update.")
    if np.diff(steps).max() > 3 * apart(steps):
        at = int(np.diff(steps).argmax())
        said.append(f"No row between the steps {steps[at]:g} and {steps[at + 1]:g}.")
    return tuple(said)


# ── the tests ──
FIRED, QUIET, NOT_RUN = "fired", "quiet", "did not run"


@dataclass(frozen=True)
class Part:
    """One comparison of a test: fires where value is above the threshold, or below it."""

    words: str
    value: float
    threshold: float
    below: bool = False
    unit: str = ""

    @property
    def holds(self):
        return bool(self.value < self.threshold if self.below else self.value > self.threshold)

    def __str__(self):
        value = f"{shown(self.value)} {self.unit}".strip()
        return f"{self.words}: {value} (fires {'below' if self.below else 'above'} {shown(self.threshold)})"


@dataclass(frozen=True)
class Verdict:
    number: int  # 1 to 7; 0 of an alarm
    name: str
    state: str
    parts: tuple = ()
    says: str = ""  # what may be said where it fired
    lesson: str = ""
    kind: str = ""  # of the run of the trace lab that looks the same
    quantity: str = ""  # the curve whose rows it looked at
    rows: tuple = ()  # the steps of these: the first and the last of each stretch
    why: str = ""  # why it did not run


def shown(value):
    """A number in few digits."""
    if abs(value) == inf:
        return "∞" if value > 0 else "-∞"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"


SPEC = {  # number: name, lesson, kind of run in the trace lab, what may be said
    1: ("gap before any update", "02", "logprob_mismatch", "Sampler and trainer disagree before any update."),
    2: ("gap later on", "22c", "stale_rollouts", "The samples are older or other than the weights."),
    3: ("groups without a difference", "13", "zero_variance", "Most groups hold one reward for all, and no advantage."),
    4: (
        *("held-out score against reward", "03", "reward_hacking"),
        "The reward rises and the held-out score falls: it is paid for what your scorer does not count. Either of the "
        "two may be wrong.",
    ),
    5: ("distance after two updates", "10", "kl_explosion", "Most of the way was gone in two updates."),
    6: ("length, end over start", "14", "length_inflation", "Completions are several times as long."),
    7: ("entropy, and no progress", "12", "entropy_collapse", "Narrower, and no better."),
}


class Run:
    """A log's quantities and thresholds, for tests to ask."""

    def __init__(self, found, thresholds=None):
        self.found = found
        self.limits = {name: t.value for name, t in THRESHOLDS.items()} | (thresholds or {})

    def has(self, *names):
        return all(name in self.found.curves for name in names)

    def step(self, row):
        return self.found.steps[row - 1]

    def row(self, name, number):
        return self.found.curves[name].at(self.step(number))

    def between(self, name, first, last):
        """Values in the rows from first to last, counted from 1, or from the end where negative."""
        steps = self.found.steps
        first, last = (n if n > 0 else len(steps) + 1 + n for n in (first, last))
        curve = self.found.curves[name]
        inside = (curve.steps >= steps[first - 1]) & (curve.steps <= steps[last - 1])
        return curve.values[inside]

    def mean(self, name, first, last):
        values = self.between(name, first, last)
        return float(values.mean()) if len(values) else None

    def late(self, name):
        return self.mean(name, -LATE, -1)

    @property
    def gain(self):
        """What the reward rose by, in its own deviations at the beginning; None where the log does not tell."""
        if not self.has("reward", "reward_sd"):
            return None
        early, late = self.mean("reward", 1, FIRST), self.late("reward")
        deviation = self.mean("reward_sd", 1, FIRST)
        if None in (early, late, deviation):
            return None
        rise = late - early
        return rise / deviation if deviation > 0 else (inf if rise > 1e-12 else 0.0)

    @property
    def held_out(self):
        """(first, mean of the last two)."""
        values = self.found.curves["held_out"].values
        return float(values[0]), float(values[-2:].mean())

    @property
    def untouched(self):
        """Why row 1 is not the first update, or ""."""
        first, every = self.step(1), self.found.every
        if every != 1:
            return f"a row stands for {every:g} updates" if every > 1 else f"steps are {every:g} apart"
        return "" if first <= 1 else f"the log begins at step {first:g}"


def missing(found, *names):
    """Why a test did not run: the columns that are not there, and what logs them."""
    told = []
    for name in names:
        if name in found.curves:
            continue
        row = ASKED_FOR[name]
        if name == "held_out" and found.candidates:
            told.append(
                f"no held-out score was named; {logs.listed(list(found.candidates), 3)} could be one, if nothing was "
                "trained on what scores it"
            )
            continue
        if empty := [each for each in found.unknown if read_by(each, found.framework) == name]:
            told.append(f"“{empty[0]}” holds no number that can be used")
            continue
        if name == "zero_variance" and (sd := [each for each in found.unknown if read_as(each, GROUP_SD)]):
            told.append(f"“{sd[0]}” bounds the share once the completions a prompt are given (--k)")
            continue
        logs_it = found.missing.get(name, "")
        near = [] if name == "held_out" else near_to(name, found)
        told.append(
            f"the log has no {row.words}"
            + (f" ({found.framework} logs it: {logs_it})" if logs_it else "")
            + (f", and near its name are {logs.listed(near)}" if near else "")
        )
    return "; ".join(told)


def read_by(name, framework):
    """The quantity that a framework logs under a name, one that stands alone; "" for none."""
    quantity, how, _ = metric_names.known(name).get(framework, ("", "", 0))
    return quantity if how not in (MOST, LEAST, GROUP_SD) else ""


def read_as(name, how):
    return how in (each for _, each, _ in metric_names.known(name).values())


def near_to(quantity, found):
    """Columns that nobody reads and whose names resemble those of a quantity."""
    frameworks = [found.framework] if found.framework else metric_names.FRAMEWORKS
    names = [name for each in frameworks for name, _ in QUANTITIES[quantity].columns[each]]
    return list(dict.fromkeys(near for name in names for near in metric_names.nearest(name, found.unknown)))


def ask_gap_first(run):
    if not run.has("gap"):
        return None, missing(run.found, "gap")
    if run.untouched:
        return None, f"row 1 has to be the first update: {run.untouched}"
    if (value := run.row("gap", 1)) is None:
        return None, "row 1 has no gap"
    return [Part("gap", value, run.limits["gap_first"], unit="nats")], "gap", (1, 1)


def ask_gap_late(run):
    if not run.has("gap"):
        return None, missing(run.found, "gap")
    first, late = run.row("gap", 1), run.mean("gap", 6, -1)
    if first is None or late is None:
        return None, "row 1 has no gap" if first is None else "no row from the sixth on has a gap"
    times = late / first if first > 1e-9 else (inf if late > 1e-9 else 0.0)
    parts = [
        Part("gap", late, run.limits["gap_late"], unit="nats"),
        Part("over the first row, times", times, run.limits["gap_growth"]),
    ]
    return parts, "gap", (6, -1)


def ask_zero_variance(run):
    if not run.has("zero_variance"):
        return None, missing(run.found, "zero_variance")
    value = run.mean("zero_variance", 1, 10)
    if value is None:
        return None, "rows 1 to 10 have no share of such groups"
    return [Part("share", value, run.limits["zero_variance"])], "zero_variance", (1, 10)


def ask_held_out(run):
    if not run.has("held_out"):
        return None, missing(run.found, "held_out")
    if len(run.found.curves["held_out"].values) < 3:
        return None, "the held-out score has fewer than three values"
    if run.gain is None:
        return None, missing(run.found, "reward", "reward_sd") or "the reward has no value at one of its ends"
    first, last = run.held_out
    parts = [
        Part("held-out score, end less start", last - first, -run.limits["held_out_drop"], below=True),
        Part("reward, deviations up", run.gain, run.limits["rise"]),
    ]
    return parts, "held_out", (1, -1)


def ask_jump(run):
    if not run.has("entropy") and not run.has("kl"):
        return None, missing(run.found, "entropy", "kl")
    if run.untouched:
        return None, f"row 1 has to be the first update: {run.untouched}"
    parts = []
    if run.has("entropy") and None not in (ends := (run.row("entropy", 1), run.row("entropy", 3))) and ends[0] > 0:
        parts.append(Part("entropy over row 1", ends[1] / ends[0], run.limits["entropy_jump"], below=True))
    if run.has("kl") and (early := run.row("kl", 3)) is not None and (most := run.found.curves["kl"].values.max()) > 0:
        gained = early - (run.row("kl", 1) or 0.0)  # a KL that was there before the first update was not gone in two
        parts.append(Part("KL gained, over its maximum", gained / float(most), run.limits["kl_jump"]))
    if not parts:
        return None, "row 3 has neither entropy nor KL"
    return parts, "entropy" if parts[0].below else "kl", (1, 3)


def ask_length(run):
    if not run.has("length"):
        return None, missing(run.found, "length")
    first, late = run.row("length", 1), run.late("length")
    if not first or late is None:
        return None, "row 1 has no length" if not first else "the last ten rows have no length"
    return [Part("length over row 1", late / first, run.limits["length"])], "length", (-LATE, -1)


def ask_entropy(run):
    if not run.has("entropy"):
        return None, missing(run.found, "entropy")
    first, late = run.row("entropy", 1), run.late("entropy")
    if first is None or first <= 0 or late is None:
        return None, "row 1 has no entropy" if late is not None else "the last ten rows have no entropy"
    parts = [Part("entropy over row 1", late / first, run.limits["entropy_left"], below=True)]
    if run.has("held_out") and len(run.found.curves["held_out"].values) > 1:
        begin, end = run.held_out
        parts.append(Part("held-out score, up by", end - begin, run.limits["held_out_flat"], below=True))
    elif run.gain is not None:
        parts.append(Part("reward, deviations up", run.gain, run.limits["reward_flat"], below=True))
    else:
        return None, missing(run.found, "reward", "reward_sd")
    return parts, "entropy", (-LATE, -1)


ASKED = {
    1: (ask_gap_first, all),
    2: (ask_gap_late, all),
    3: (ask_zero_variance, all),
    4: (ask_held_out, all),
    5: (ask_jump, any),
    6: (ask_length, all),
    7: (ask_entropy, all),
}


def tested(run, number):
    """The Verdict of one test."""
    name, lesson, kind, says = SPEC[number]
    ask, how = ASKED[number]
    parts, *rest = ask(run)
    if parts is None:
        return Verdict(number, name, NOT_RUN, lesson=lesson, kind=kind, why=rest[0])
    quantity, (first, last) = rest
    fires = how(part.holds for part in parts)
    rows = tuple(float(run.found.steps[n - 1 if n > 0 else n]) for n in (first, last))
    if run.found.curves[quantity].bound and not fires:
        why = f"it is at least {shown(parts[0].value)}, and no more is known: {run.found.curves[quantity].note}"
        return Verdict(number, name, NOT_RUN, tuple(parts), says, lesson, kind, quantity, rows, why)
    return Verdict(number, name, FIRED if fires else QUIET, tuple(parts), says, lesson, kind, quantity, rows)


def alarms(run, updates=1):
    """What looks wrong and is none of the seven."""
    asked = (numbers_gone(run), same_reference(run), same_log_probs(run, updates), no_rise(run))
    return [alarm for alarm in asked if alarm]


def alarm(run, name, says, lesson, quantity, first, last, parts=()):
    rows = tuple(float(run.found.steps[n - 1 if n > 0 else n]) for n in (first, last))
    return Verdict(0, name, FIRED, parts, says, lesson, "", quantity, rows)


def numbers_gone(run):
    if gone := run.found.gone:
        told = ", ".join(f"“{name[:40]}” from step {since:,.0f} on" for name, since in gone[:3])
        more = f" and {len(gone) - 3} more columns" if len(gone) > 3 else ""
        since = min(step for _, step in gone)
        end = max(since, float(run.found.steps[-1]))
        says = f"{told}{more}. The run may have diverged there; no test looks at what is no number."
        return Verdict(0, "numbers are NaN, null or infinite to the end", FIRED, (), says, "10", rows=(since, end))


def same_reference(run):
    if run.has("kl", "gradient_norm"):
        kl, norm = run.between("kl", 2, 10), run.between("gradient_norm", 2, 10)
        if len(kl) and not kl.any() and len(norm) and norm.max() > 0:
            says = "The reference moves along with the policy, or is the policy."
            return alarm(run, "KL is exactly 0 while gradients are not", says, "03", "kl", 2, 10)


def same_log_probs(run, updates):
    if updates > 1 and run.has("clip_fraction") and not run.found.curves["clip_fraction"].values.any():
        says = "The old log-probs may be those of the policy that is being trained."
        return alarm(run, f"nothing is clipped in {updates} updates a batch", says, "02", "clip_fraction", 1, -1)


def no_rise(run):
    if run.gain is not None and run.gain < run.limits["rise"]:
        part = Part("reward, deviations up", run.gain, run.limits["rise"], below=True)
        says = "Nothing was learned that the reward shows."
        return alarm(run, "the reward did not rise", says, "23", "reward", 1, -1, (part,))


@dataclass(frozen=True)
class Report:
    found: Found
    tests: tuple  # of Verdict, in order
    alarms: tuple

    @property
    def fired(self):
        return tuple(test for test in self.tests if test.state == FIRED)

    @property
    def first(self):
        """The first test that fired: the most likely failure, since an earlier fault imitates the later ones."""
        return self.fired[0] if self.fired else None

    @property
    def kind(self):
        return self.first.kind if self.first else ""


def report(log, held_out="", mapped=None, k=0, updates=1, thresholds=None):
    run = Run(quantities(log, held_out, mapped, k), thresholds)
    return Report(run.found, tuple(tested(run, number) for number in SPEC), tuple(alarms(run, updates)))


# ── in words ──
UNSAID = "A training log cannot show that nothing is wrong."


def summary(report):
    """What may be said, in two or three sentences."""
    ran = sum(test.state != NOT_RUN for test in report.tests)
    of = f"{ran} of {len(report.tests)} tests ran."
    if report.first is None:
        if report.alarms:
            names = "; ".join(alarm.name for alarm in report.alarms)
            return f"No test fired, and something looks wrong: {names}. {of} {UNSAID}"
        if not ran:
            return f"No test could run on this log: what each of them needs is said beside it. {UNSAID}"
        return f"Nothing that this log can show; {of} {UNSAID}"
    rest = ", ".join(str(test.number) for test in report.fired[1:])
    later = f" Test {rest} fired as well, which may follow from it." if len(report.fired) == 2 else ""
    later = f" Tests {rest} fired as well, which may follow from it." if len(report.fired) > 2 else later
    return f"Test {report.first.number} fired first. {report.first.says}{later} {of}"


def sentence(test):
    """A test in one line."""
    parts = "; ".join(map(str, test.parts))
    head = f"{test.number or '!'} {test.name}: "
    if test.state == NOT_RUN:
        return f"{head}did not run: {test.why}."
    return f"{head}{test.state if test.number else 'alarm'}{parts and '. ' + parts[0].upper() + parts[1:]}."


def rows_of(test):
    return steps_of(test.rows)


def steps_of(steps):
    first, last = (f"{step:,.0f}" if step == int(step) else f"{step:g}" for step in (steps[0], steps[-1]))
    return f"step {first}" if first == last else f"steps {first} to {last}"


def lines(report):
    """The report as a terminal shows it."""
    found = report.found
    whose = found.framework or "no framework that is known"
    yield f"{found.format}, {whose}: {len(found.steps):,} rows, {steps_of(found.steps)}"
    for quantity, curve in found.curves.items():
        note = f" ({curve.note})" if curve.note else ""
        yield f"  {words_of(quantity):34} {' and '.join(curve.columns)}{note}"
    yield ""
    for test in (*report.tests, *report.alarms):
        yield sentence(test)
        if test.state == FIRED:
            yield f"    {rows_of(test)}; lesson {test.lesson}. {test.says}"
    yield ""
    yield summary(report)
    for note in found.notes:
        yield f"Note: {note}"


def words_of(quantity):
    return ASKED_FOR[quantity].words


# ── the command ──
PROGRAM = "python -m sim.doctor"


def arguments(program):
    parser = Parser(
        prog=program,
        description="Ask seven questions of the log of a run. Status 0: nothing found; 1: a test fired; 2: unreadable.",
        epilog="Thresholds: " + ", ".join(f"{name}={t.value:g}" for name, t in THRESHOLDS.items()),
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help=f"- for standard input. {logs.READABLE}")
    parser.add_argument("--run", default="", metavar="NAME", help="which run, where a file holds several")
    parser.add_argument("--heldout", default="", metavar="NAME", help="the column of a scorer that was not trained on")
    parser.add_argument("--k", type=whole(0, 10**6), default=0, help="completions a prompt")
    parser.add_argument("--updates", type=whole(1, 10**6), default=1, metavar="U", help="updates on each batch")
    parser.add_argument(
        "--map", action="append", default=[], metavar="Q=NAME", help=f"Q is one of {', '.join(QUANTITIES)}"
    )
    parser.add_argument("--threshold", action="append", default=[], metavar="NAME=VALUE", help="another threshold")
    return parser


def settings(words=None, program=PROGRAM):
    parser = arguments(program)
    chosen = parser.parse_args(words)
    try:
        chosen.map = dict(pair(text) for text in chosen.map)
        chosen.threshold = {name: limit(name, value) for name, value in map(pair, chosen.threshold)}
        unknown = [name for name in chosen.threshold if name not in THRESHOLDS]
        if unknown:
            raise ValueError(f"no threshold is called {unknown[0]}; there are {', '.join(THRESHOLDS)}")
    except ValueError as fault:
        parser.error(str(fault))
    return chosen


def pair(text):
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"NAME=VALUE is expected, not {text}")
    return name, value


def limit(name, value):
    try:
        if (number := float(value)) == number:
            return number
    except ValueError:
        pass
    raise ValueError(f"the threshold {name} has to be a number, not {value}")


def command(words, opened, program=PROGRAM):
    """(lines to print, lines for those who wait, status); `opened` yields the pieces of a file."""
    chosen = settings(words, program)
    try:
        files = [(name, opened(name)) for name in chosen.files]
        log = logs.read(files, chosen.run, [*chosen.map.values(), chosen.heldout])
        done = report(log, chosen.heldout, chosen.map, chosen.k, chosen.updates, chosen.threshold)
    except logs.Unreadable as fault:
        return [], [str(fault)], 2
    except OSError as fault:
        return [], [f"{fault.filename} cannot be read: {fault.strerror}."], 2
    return list(lines(done)), [], 1 if done.fired else 0


def main(words=None, program=PROGRAM):
    def opened(name):
        with sys.stdin.buffer if name == "-" else open(name, "rb") as file:
            while piece := file.read(1 << 16):
                yield piece

    with guarded(arguments(program)):
        told, faults, status = command(words, opened, program)
        print("\n".join(told), end="\n" if told else "")
        print("\n".join(faults), end="\n" if faults else "", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
