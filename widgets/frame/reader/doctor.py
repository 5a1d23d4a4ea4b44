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
from importlib.resources import files
from typing import Any

from rlpt import doctor, logs, metric_names
from rlpt.doctor import words
from sim.words import capital
from widgets.frame.drawing.written import plain
from widgets.frame.reader import doctor_chart

Asked = Mapping[str, Any]  # what the form of the page holds
NAMES = 300  # of columns on offer
OPENING = "hack-plus"  # the log that the page opens on
SAMPLES = {  # what the page calls each real log, and which it is: the page does not say what is true of it
    "GRPO, sums, 240 steps": OPENING,
    "GRPO, sums, 200 steps": "late-collapse",
    "GRPO, twelve prompts, 240 steps": "memorize",
    "RLOO, sums, 100 steps": "rloo-sparse",
    "DPO, sums, 100 steps": "dpo-lr-2e-2",
    "GRPO, the defaults, 300 steps": "healthy-defaults",
}
# read with the module: a snapshot of Python has no files
TEXTS = {name: (files("rlpt.doctor") / "data" / f"{name}.csv").read_text(encoding="utf-8") for name in SAMPLES.values()}


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


def sample(name: str) -> dict[str, str]:
    """{name of a file: its text} of a real log; without a name, the one that the page opens on."""
    of = SAMPLES.get(name, OPENING)
    return {f"{of}.csv": TEXTS[of]}


# ── what is answered ──
def reported(log: Any, asked: Asked) -> Any:
    """The Report of a log under what the form holds; without `scored` no score beside the reward is looked at."""
    held_out = asked.get("held_out", "") if asked.get("scored") else None
    count = lambda name, usual: int(number(asked.get(name), usual))
    return doctor.report(log, held_out, mapped(asked), count("k", 0), count("updates", 1))


def answer(log: Any, asked: Asked) -> dict[str, Any]:
    """What is said of a log: {said, first, found, written}; `written` is HTML by the place where it goes."""
    report = reported(log, asked)
    return dict(
        said=with_minus_signs(words.summary(report)),
        first=report.first.name if report.first else "",
        found=bool(report.status),
        written=offered(log, asked, report.found) | written(report),
    )


def written(report: Any) -> dict[str, str]:
    read = [
        (words.words_of(quantity), " and ".join(curve.columns), curve.note)
        for quantity, curve in report.found.curves.items()
    ]
    return {
        ".whose": html.escape(f"{capital(words.kind(report.found))}: {words.counted(report)}."),
        ".chart": doctor_chart.drawing(report),
        ".facts": "".join(
            looked_at(f"f{n}", words.steps_of(f.rows), f.says, f.alarm) for n, f in enumerate(report.facts)
        ),
        ".events": "".join(
            looked_at(f"e{n}", words.steps_of([event.step]), words.event_line(event))
            for n, event in enumerate(report.events)
        )
        or "<li>No event was found.</li>",
        ".later": tagged("li", map(capital, words.later(report))),
        ".notes": tagged("li", words.notes(report)),
        ".read tbody": "".join(f"<tr>{tagged('td', cells)}</tr>" for cells in read),
    }


def looked_at(key: str, steps: str, says: str, alarm: bool = False) -> str:
    """A fact or an event as a line whose steps can be pressed, which shades its rows in the drawing."""
    mark = '<b class="alarm">!</b> ' if alarm else ""
    said = html.escape(with_minus_signs(says))
    return f'<li data-look="{key}">{mark}{said} <button type="button" data-look="{key}">{steps}</button></li>'


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
        "[name=held_out]": options("those that the log tells", held_out, asked.get("held_out")),
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


def with_minus_signs(text: str) -> str:
    """Numbers below zero with a sign as wide as a digit."""
    return re.sub(r"(?<![\w.])-(?=[\d.])", "−", text)


# ── what the page shows before a log is there ──
def opening() -> dict[str, Any]:
    """What is said of the first sample, no score beside its reward being looked at."""
    return answer(read(sample("")), {})


def read(texts: Mapping[str, str]) -> Any:
    return logs.read([(name, [text.encode()]) for name, text in texts.items()])


def warmed() -> None:
    """Everything once, for a snapshot of Python: what comes at a first use is then there."""
    for encoding in ("utf-8-sig", "utf-16"):
        codecs.getincrementaldecoder(encoding)(errors="replace").decode(b"")
    for name in SAMPLES:
        answer(read(sample(name)), dict(scored="on"))
    list(stream("begin", "{}"))
    for what, data in (("file", "x"), ("piece", b"dear diary"), ("end", "")):
        list(stream(what, data))
    metric_names.nearest("rewards", ["reward"])
    SESSION.begin({})
