"""The doctor's half in Python: a log arrives in pieces, and questions about it as often as its reader turns something.

The page "Diagnose a run" runs it in a worker of its own without network or storage (site/assets/sandbox.js). The build
draws by the same functions what the page shows before anything is dropped.
"""

import codecs
import encodings.utf_8_sig
import encodings.utf_16  # noqa: F401, a snapshot of Python holds what was imported, and no files
import html
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlencode

import numpy as np

from sim import doctor, framework_logs, logs, metric_names
from sim.experiments import tracelab
from widgets.frame.marks import Panel, dots, line, panel, region
from widgets.frame.panels import captioned, described
from widgets.frame.values import plain, spelled

Asked = Mapping[str, Any]  # what the form of the page holds
SHOWN = ("reward", "held_out", "gap", "zero_variance", "kl", "length", "entropy", "clip_fraction", "gradient_norm")
KINDS = cast(Mapping[str, Mapping[str, Any]], tracelab.KINDS)
POINTS = 300  # of a curve: more are drawn as the lowest and highest of a stretch
NAMES = 300  # of columns on offer
SERIES = dict(reward=8, held_out=1, gap=2, zero_variance=2, kl=1, length=3, entropy=1, clip_fraction=4, gradient_norm=5)
SAMPLES = {  # which kind of run each sample is; the page does not say so
    "TRL, trainer_state.json": "reward_hacking",
    "TRL, history of Weights & Biases": "zero_variance",
    "verl, charts of Weights & Biases": "kl_explosion",
    "OpenRLHF, TensorBoard": "length_inflation",
    "verl, console": "stale_rollouts",
    "verl, JSONL": "healthy",
    "OpenRLHF, console": "logprob_mismatch",
}


def mapped(asked: Asked) -> dict[str, str]:
    """{quantity: column} of the columns that the reader has named."""
    return {name: asked[f"map_{name}"] for name in metric_names.QUANTITIES if asked.get(f"map_{name}")}


class Session:
    """What was read of the files so far."""

    def __init__(self) -> None:
        self.begin({})

    def begin(self, asked: Asked) -> None:
        self.run, self.wanted = asked.get("run", ""), [*mapped(asked).values(), asked.get("held_out", "")]
        self.logs: list[Any] = []
        self.reader: Any = None
        self.log: Any = None

    def file(self, name: str) -> None:
        self.finish()
        self.reader = logs.Reader(name, self.run, self.wanted)

    def piece(self, data: Any) -> None:
        self.reader.feed(bytes(data.to_py() if hasattr(data, "to_py") else data))

    def finish(self) -> None:
        if self.reader:
            self.logs.append(self.reader.close())
            self.reader = None

    def end(self) -> None:
        self.finish()
        self.log = logs.together(self.logs)


SESSION = Session()


def stream(what: str, data: Any) -> Iterator[str]:
    """One step of a conversation as JSON that the page takes: `begin` and `ask` have options, `file` a name, `piece`
    bytes, `sample` a format; the answers to `ask` and to `sample` are dicts, or {refused} with a sentence.
    """
    try:
        yield json.dumps(plain(took(what, data)))
    except logs.Unreadable as fault:
        yield json.dumps(
            dict(refused=str(fault), written=offered(SESSION.log, json.loads(data)) if what == "ask" else {})
        )


def took(what: str, data: Any) -> dict[str, Any]:
    if what == "begin":
        SESSION.begin(json.loads(data))
    elif what == "file":
        SESSION.file(data)
    elif what == "piece":
        SESSION.piece(data)
    elif what == "end":
        SESSION.end()
    elif what == "sample":
        return dict(files=sample(data))
    elif what == "ask":
        return answer(SESSION.log, json.loads(data))
    return {}


def sample(format: str) -> dict[str, str]:
    """{name of a file: its text} of a run of the trace lab; without a format, the one that the page shows recorded."""
    if not format:
        return opening(hack=1.01)
    kind = KINDS[SAMPLES[format]]
    return framework_logs.export(tracelab.trace(tracelab.Setting(**kind), seed=0), format)


# ── what is answered ──
def reported(log: Any, asked: Asked) -> Any:
    """The Report of a log under what the form holds."""
    return doctor.report(
        log,
        asked.get("held_out", ""),
        mapped(asked),
        int(number(asked.get("k"), 0)),
        int(number(asked.get("updates"), 1)),
        {name: number(asked.get(name), threshold.value) for name, threshold in doctor.THRESHOLDS.items()},
    )


def answer(log: Any, asked: Asked) -> dict[str, Any]:
    """What is said of a log: {said, first, tests, panels, written}; `written` is HTML by the place where it goes."""
    found = reported(log, asked)
    return dict(
        said=doctor.summary(found),
        first=found.first.number if found.first else 0,
        tests=[row(test) for test in found.tests],
        panels={name: drawn(found, name) for name in SHOWN if name in found.found.curves},
        written=offered(log, asked, found.found) | written(found),
    )


def written(report: Any) -> dict[str, str]:
    alarms = [f"{capital(alarm.name)}. {alarm.says}" for alarm in report.alarms]
    read = [
        (doctor.words_of(quantity), " and ".join(curve.columns), curve.note)
        for quantity, curve in report.found.curves.items()
    ]
    return {
        ".whose": html.escape(whose(report.found)),
        ".alarms": tagged("li", alarms),
        ".notes": tagged("li", [*report.found.notes, *unread(report.found)]),
        ".read tbody": "".join(f"<tr>{tagged('td', cells)}</tr>" for cells in read),
    }


def tagged(tag: str, texts: Iterable[str]) -> str:
    return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)


def offered(log: Any, asked: Asked, found: Any = None) -> dict[str, str]:
    """The options of the fields that name a column: those that could be a held-out score first."""
    if log is None:
        return {}
    columns, used = sorted(log.columns), found.curves if found else {}
    likely = [name for name in columns if log.framework and metric_names.looks_held_out(name, log.framework)]
    held_out = list(dict.fromkeys([*likely, *columns]))
    as_read = lambda name: " and ".join(used[name].columns) if name in used else "not in the log"
    return {
        "[name=held_out]": options("none is named", held_out, asked.get("held_out")),
        **{
            f"[name=map_{name}]": options(as_read(name), columns, asked.get(f"map_{name}"))
            for name in metric_names.QUANTITIES
        },
    }


def options(none: str, names: Sequence[str], chosen: str | None) -> str:
    """The options of a select: none of the names, then they."""
    one = lambda name: f"<option{' selected' * (name == chosen)}>{html.escape(name)}</option>"
    return f'<option value="">{html.escape(none)}</option>' + "".join(map(one, names[:NAMES]))


def number(value: Any, usual: float) -> float:
    """What a field holds; the usual where that is no number."""
    try:
        return float(value) if math.isfinite(float(value)) else float(usual)
    except (TypeError, ValueError):
        return float(usual)


def whose(found: Any) -> str:
    framework = f"{found.framework}'s" if found.framework else "no framework's"
    rows = f"{len(found.steps):,} rows, {doctor.steps_of(found.steps)}"
    return f"{capital(found.format)}: {rows}; the names are {framework}."


def unread(found: Any) -> list[str]:
    many = len(found.unknown)
    return [f"Columns that no test looks at, {many:,}: {logs.listed(list(found.unknown), 12)}."] if many else []


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def with_minus_signs(text: str) -> str:
    """Numbers below zero with a sign as wide as a digit."""
    return re.sub(r"(?<![\w.])-(?=[\d.])", "−", text)


def row(test: Any) -> tuple[str, str, Any]:
    """(state, what was found, the rows that it looked at) of a test."""
    if test.state == doctor.NOT_RUN:
        return test.state, with_minus_signs(capital(f"{test.why}.")), ""
    return test.state, with_minus_signs(capital("; ".join(map(str, test.parts)))), doctor.rows_of(test)


# ── curves ──
def thinned(steps: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most POINTS points: the lowest and the highest of each stretch where there are more, in their order."""
    if len(steps) <= POINTS:
        return steps, values
    kept = []
    for part in np.array_split(np.arange(len(steps)), POINTS // 2):
        kept += sorted({int(part[values[part].argmin()]), int(part[values[part].argmax()])})
    return steps[kept], values[kept]


def spread(values: np.ndarray) -> tuple[float, float]:
    """The ends of an axis that shows these values, zero among them where they are positive."""
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    room = (high - low) or 1.0
    return (low - 0.06 * room if low < 0 else low), high + 0.12 * room


def drawn(report: Any, quantity: str) -> Panel:
    """The panel of a quantity, with the rows that a test which fired has looked at."""
    curve = report.found.curves[quantity]
    asked = doctor.ASKED_FOR[quantity]
    steps, values = thinned(curve.steps, curve.values)
    marks = [line(steps, values, asked.words, SERIES[quantity])]
    for test in (*report.fired, *report.alarms):
        if test.quantity == quantity:
            first, last = test.rows
            if first < last:
                marks.append(region(first, last, f"test {test.number}" if test.number else ""))
            elif (value := curve.at(first)) is not None:
                marks.append(dots([first], [value], f"test {test.number}", 2, "here"))
    begin, end = float(report.found.steps[0]), float(report.found.steps[-1])
    one = panel(
        capital(asked.words),
        asked.unit or "as the log has it",
        *marks,
        x="step",
        x_range=(min(begin, float(steps[0])), max(end, begin + 1)),
        y_range=spread(curve.values),
    )
    return dict(plain(one), alt=described(plain(one)), caption=captioned(one))


# ── what the page shows before a log is there ──
def setting(kind: str) -> str:
    """The query that makes the widget of lesson 23 look like a kind of run."""
    return urlencode({name: spelled(value) for name, value in KINDS[kind].items()})


HELD_OUT = framework_logs.HELD_OUT["TRL"]
FIRST = "TRL, trainer_state.json"


def opening(hack: float) -> dict[str, str]:
    return framework_logs.export(tracelab.trace(tracelab.Setting(hack=hack), seed=0), FIRST)


def pair() -> list[tuple[str, dict[str, Any]]]:
    """The two runs of lesson 23's opening, as TRL logs them, and what is said: [(words, answer)]."""
    logged = {hack: read(opening(hack)) for hack in (0.0, 1.01)}
    return [
        ("A right answer is paid 1, and nothing else.", answer(logged[0.0], {})),
        ("A trick that is never right is paid 1.01.", answer(logged[1.01], {})),
        ("The same log, and the held-out score is named.", answer(logged[1.01], dict(held_out=HELD_OUT))),
    ]


def read(files: Mapping[str, str]) -> Any:
    return logs.read([(name, [text.encode()]) for name, text in files.items()])


def warmed() -> None:
    """Everything once, for a snapshot of Python: what comes at a first use is then there."""
    for encoding in ("utf-8-sig", "utf-16"):
        codecs.getincrementaldecoder(encoding)(errors="replace").decode(b"")
    for format in SAMPLES:
        read(sample(format))
    pair()
    list(stream("begin", "{}"))
    for what, data in (("file", "x"), ("piece", b"dear diary"), ("end", "")):
        list(stream(what, data))
    metric_names.nearest("rewards", ["reward"])
    SESSION.begin({})
