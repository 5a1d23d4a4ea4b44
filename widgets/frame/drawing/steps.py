"""A training step as lanes: its roles over seconds, batch by batch, and what it waits for."""

from collections.abc import Mapping

from sim.cluster import paths, step, topology
from sim.cluster.step import Roles
from sim.words import counted, plural
from widgets.frame.drawing import lanes, vocabulary
from widgets.frame.drawing.scene import Mark, View
from widgets.frame.drawing.written import figures

NAMES = {"rollout": "rollout", "verify": "verifier", "log_probs": "log-probs", "train": "train", "sync": "sync"}
UNTIMED = "not timed"  # seconds of a published step that no timer covers
WAYS = dict(zip(vocabulary.OVERLAPS, step.OVERLAPS))  # {name on pages: name in sim/cluster/step.py}
POOLS = ("rollout", "train")  # rows of roles with GPUs of their own
FOLLOWED = 7  # the batch in navy: the second one generated
NARROW = 0.045  # share of the board: a narrower span has no number


def spans(roles: Roles, overlap: str, until: float, steps: int) -> dict[tuple[str, int], step.Span]:
    """{(role, batch): span}, with batches counted so that the second one generated is the one followed."""
    laid = step.laid(roles, overlap, until)
    return {(span.role, span.batch + FOLLOWED - 1): span for span in laid if span.batch < steps}


def board(
    key: str, roles: Roles, overlap: str, until: float, *, was: Roles | None = None, split: bool = True, steps: int = 6,
    ticks: tuple[float, ...] = (), broken: str = "",
) -> View:  # fmt: skip
    """The five roles. `was`: the step before one of them was made faster; `split`: whether one pool of GPUs generates
    and another trains; `steps`: the most that can be visible; `broken`: the role that all GPUs wait for.
    """
    each, placed = step.step_time(roles, overlap), spans(roles, overlap, until, steps)
    names = NAMES | ({"other": UNTIMED} if roles.other else {})
    marks: list[Mark] = []
    for row, role in enumerate(names):
        if split and role in POOLS:
            marks += waiting(f"{key}w{row}", row, roles, role, overlap, each, until, steps)
        faster = was is not None and getattr(was, role) > getattr(roles, role)
        for batch in range(FOLLOWED - 4, FOLLOWED - 1 + steps):
            marks += one(
                f"{key}{row}{batch}", row, placed.get((role, batch)), batch, until, tail_of(roles, role, overlap)
            )
        if role == "rollout" or faster:
            marks.append(ghost(f"{key}g{row}", row, placed.get((role, FOLLOWED)), was, role, overlap, until))
    marks.append(lanes.measure(f"{key}m", 0, each, f"a step: {each:,.0f} s"))
    marks.append(saves_nothing(f"{key}r", placed, roles, was, overlap, each))
    marks.append(stand_still(f"{key}b", roles, overlap, each, broken))
    rows = [(name, f"{figures(step.seconds(roles, role, overlap))} s") for role, name in names.items()]
    alt = f"A step takes {each:,.0f} s and waits for {chain(roles, overlap)}."
    return lanes.board(key, alt, until, rows, *marks, tall=22, gap=9, top=54, ticks=ticks, unit=" s")


def chain(roles: Roles, overlap: str) -> str:
    """What the step waits for, in words."""
    path = [NAMES[role] for role in step.exposed(roles, overlap) if role in NAMES]
    return "all five, one after the other" if len(path) == len(NAMES) else " and ".join(path)


def tail_of(roles: Roles, role: str, overlap: str) -> float:
    return roles.tail if role == "rollout" and overlap not in step.NO_TAIL else 0.0


def one(key: str, row: int, span: step.Span | None, batch: int, until: float, tail: float) -> list[Mark]:
    """A batch in a role: its work, for a rollout also the wait for its last completions, underlined if critical."""
    start, seconds, critical = (span.start, span.seconds, span.critical) if span else (2 * until, 0.0, False)
    end = start + seconds
    text = str(batch) if seconds - tail > NARROW * until and start < until else ""
    role = "work" if batch == FOLLOWED else "other"
    marks = [lanes.span(key, row, start, end - tail, role, text)]
    if row == 0:
        marks.append(lanes.span(f"{key}w", row, end - tail, end, "waits"))
    return [*marks, lanes.path(f"{key}u", row, start, end if critical else start)]


def waiting(
    key: str, row: int, roles: Roles, role: str, overlap: str, each: float, until: float, steps: int
) -> list[Mark]:
    """When a pool of GPUs waits: in each step, the time that its lane leaves free."""
    at = step.timeline(roles, overlap)
    first = "rollout" if role == "rollout" else "log_probs"
    begin, end = at[first][0], sum(at[role])
    gaps = [(end, each)] if begin == 0 else [(0.0, begin), (end, each)]
    return [
        lanes.span(f"{key}{s}{i}", row, s * each + gaps[i][0], s * each + gaps[i][1], "waits")
        if i < len(gaps) and s * each < until
        else lanes.span(f"{key}{s}{i}", row, 2 * until, 2 * until, "waits")
        for s in range(steps)
        for i in range(2)
    ]


def ghost(key: str, row: int, span: step.Span | None, was: Roles | None, role: str, overlap: str, until: float) -> Mark:
    """A role as it was before it became faster."""
    if span is None or was is None or (before := step.seconds(was, role, overlap)) <= span.seconds:
        return lanes.span(key, row, 2 * until, 2 * until, "ghost")
    return lanes.span(key, row, span.start, span.start + before, "ghost")


def saves_nothing(
    key: str, placed: Mapping[tuple[str, int], step.Span], roles: Roles, was: Roles | None, overlap: str, each: float
) -> Mark:
    """A ring around the seconds that a faster role saved, if the step is as long as before."""
    if was is not None and step.step_time(was, overlap) <= each * (1 + 1e-9):
        for row, role in enumerate(NAMES):
            before, now = step.seconds(was, role, overlap), step.seconds(roles, role, overlap)
            if before > now and (span := placed.get((role, FOLLOWED))):
                words = NOTHING[role]
                start = span.start
                return lanes.spot(key, (row, row), start + now, start + before, words, role="look")
    return lanes.spot(key, (0, 0), 0, 0, "", False, role="look")


NOTHING = {
    "rollout": "a faster engine saves nothing",
    "verify": "a faster verifier saves nothing",
    "log_probs": "faster log-probs save nothing",
    "train": "faster training saves nothing",
    "sync": "a faster sync saves nothing",
}


def stand_still(key: str, roles: Roles, overlap: str, each: float, role: str) -> Mark:
    """A ring where all GPUs wait for a role: at its own seconds or, if all lanes start together, in the second step at
    the seconds when both pools are idle.
    """
    if not role:
        return lanes.spot(key, (0, 3), each, 2 * each, "", False)
    awaited = {"verify": "tests", "sync": "weights"}[role]
    trained = roles.log_probs + roles.train
    if overlap == "async":
        busy = max(step.seconds(roles, "rollout", overlap), trained)
        return lanes.spot(key, (0, 3), each + busy, 2 * each, f"both pools wait for {awaited}")
    row, (start, seconds) = list(NAMES).index(role), step.timeline(roles, overlap)[role]
    since = max(start, trained) if role == "verify" and overlap == "one-off" else start
    return lanes.spot(key, (row, row), since, start + seconds, f"all GPUs wait for {awaited}")


# ── a step and what travels in it ──

TRAVELS = {
    paths.GENERATE: "generate",
    paths.ENVIRONMENT: "texts travel",
    paths.EXPERIENCE: "tokens travel",
    paths.TRAIN: "train",
    paths.TRAINER: "gathering",
    paths.WEIGHTS: "weights travel",
}
Pairs = tuple[tuple[float, float], ...]
FEW = (paths.GENERATE, paths.EXPERIENCE, paths.TRAIN, paths.WEIGHTS)


def travelling(
    key: str, setting: paths.Setting, report: paths.Report, until: float, *, rows: tuple[str, ...] = tuple(TRAVELS),
    broken: tuple[str, str] = ("", ""), ticks: tuple[float, ...] = (), now: float | None = None, steps: int = 6,
    alt: str = "", gap: float = 12,
) -> View:  # fmt: skip
    """The work and the transfers of consecutive steps, the first in navy; hatched: GPUs that wait. `broken` is a
    transfer and the words about it; a `gap` of 30 pixels between rows has room for these words.
    """
    spans, each = paths.laid(setting, report), report.seconds
    marks: list[Mark] = []
    for row, name in enumerate(rows):
        start, seconds = spans[name]
        for n in range(steps):
            begin = n * each if n * each < until else 2 * until
            role = "work" if n == 0 else "other"
            marks.append(lanes.span(f"{key}{row}{n}", row, begin + start, begin + start + seconds, role))
            for i, (stop, go) in enumerate(idle(spans, name, setting, each)):
                marks.append(lanes.span(f"{key}w{row}{n}{i}", row, begin + stop, begin + go, "waits"))
    marks.append(lanes.measure(f"{key}m", 0, each, f"a step: {each:,.0f} s"))
    at, words = broken
    row = rows.index(at) if words else 0
    first, last = (costs(spans, at, report), sum(spans[at])) if words else (0.0, 0.0)
    ring_seen = bool(words) and (now is None or now >= last)
    marks.append(
        lanes.spot(
            f"{key}r",
            (row, row),
            first,
            last,
            words if ring_seen else "",
            ring_seen,
            side=("below", "above")[row == len(rows) - 1],
        )
    )
    names = [(named(name, setting), in_seconds(spans[name][1])) for name in rows]
    share = 100 * report.waiting
    waits = f"{share:.0f}" if share >= 10 else f"{share:.2g}" if share >= 0.01 else "less than 0.01"
    alt = alt or f"A step takes {each:,.0f} s, {waits} % of it waiting for what travels."
    return lanes.board(key, alt, until, names, *marks, tall=20, gap=gap, top=44, ticks=ticks, unit=" s", now=now)


def named(name: str, setting: paths.Setting) -> str:
    gpus = {paths.GENERATE: setting.rollout_gpus, paths.TRAIN: setting.train_gpus}
    if name not in gpus:
        return TRAVELS[name]
    return f"{counted(gpus[name], 'GPU')} {plural(gpus[name], f'{TRAVELS[name]}s', TRAVELS[name])}"


def in_seconds(seconds: float) -> str:
    return "< 0.01 s" if 0 < seconds < 0.01 else f"{seconds:,.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


def costs(spans: Mapping[str, tuple[float, float]], name: str, report: paths.Report) -> float:
    """The time at which the step starts to wait for a transfer: for gathering, when the arithmetic is done."""
    return spans[name][0] + (report.roles.train if name == paths.TRAINER else 0.0)


def idle(spans: Mapping[str, tuple[float, float]], name: str, setting: paths.Setting, each: float) -> Pairs:
    """When a pool of GPUs waits; a single pool that takes turns waits between its two kinds of work."""
    start, end = spans[name][0], sum(spans[name])
    if setting.way != topology.COLOCATED:
        return {paths.GENERATE: ((end, each), (each, each)), paths.TRAIN: ((0.0, start), (end, each))}.get(name, ())
    between = ((sum(spans[paths.GENERATE]), spans[paths.TRAIN][0]), (sum(spans[paths.TRAIN]), each))
    return {paths.GENERATE: between, paths.TRAIN: ((each, each), (each, each))}.get(name, ())
