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

Form = Mapping[str, Any]  # what the form of the page holds: {name of a field: its value}
NAMES = 300  # of columns on offer
OPENING = "hack-plus"  # the log that the page opens on
SAMPLES = {  # what the page calls each real log, and which it is: the page does not say what is true of it
    "GRPO, sums, 240 steps": OPENING,
    "GRPO, sums, 200 steps": "late-collapse",
    "GRPO, twelve prompts, 240 steps": "memorize",
    "RLOO, sums, 100 steps": "rloo-sparse",
    "DPO, sums, 100 steps": "dpo-lr-2e-2",
    "GRPO, TRL's defaults, 300 steps": "healthy-defaults",
}
# read with the module: a snapshot of Python has no files
TEXTS = {name: (files("rlpt.doctor") / "data" / f"{name}.csv").read_text(encoding="utf-8") for name in SAMPLES.values()}


def mapped(form: Form) -> dict[str, str]:
    """{quantity: column} of the columns that the reader has named."""
    return {name: form[f"map_{name}"] for name in metric_names.QUANTITIES if form.get(f"map_{name}")}


class Session:
    """What was read of the files so far."""

    def __init__(self) -> None:
        self.begin({})

    def begin(self, form: Form) -> None:
        self.run, self.wanted = form.get("run", ""), [*mapped(form).values(), form.get("held_out", "")]
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


def stream(step: str, data: Any) -> Iterator[str]:
    """The answer to one step of the page's conversation, as JSON.

    `begin` and `ask` come with the form, `file` and `sample` with a name, `piece` with bytes. `ask` and `sample` are
    answered by a dict, the others by {}; what cannot be read by {refused, written}: a sentence, and the fields.
    """
    try:
        yield json.dumps(plain(took(step, data)))
    except logs.Unreadable as fault:
        yield json.dumps(
            dict(refused=str(fault), written=offered(SESSION.log, json.loads(data)) if step == "ask" else {})
        )


def took(step: str, data: Any) -> dict[str, Any]:
    if step == "begin":
        SESSION.begin(json.loads(data))
    elif step == "file":
        SESSION.file(data)
    elif step == "piece":
        SESSION.piece(data)
    elif step == "end":
        SESSION.end()
    elif step == "sample":
        return dict(files=sample(data))
    elif step == "ask":
        return answer(SESSION.log, json.loads(data))
    return {}


def sample(name: str) -> dict[str, str]:
    """{name of a file: its text} of a real log; without a name, the one that the page opens on."""
    log_name = SAMPLES.get(name, OPENING)
    return {f"{log_name}.csv": TEXTS[log_name]}


# ── what is answered ──
def reported(log: Any, form: Form) -> Any:
    """The Report of a log under what the form holds; without `scored` no score beside the reward is looked at."""
    held_out = form.get("held_out", "") if form.get("scored") else None
    completions, updates = (int(number(form.get(name), usual)) for name, usual in (("k", 0), ("updates", 1)))
    return doctor.report(log, held_out, mapped(form), completions, updates)


def answer(log: Any, form: Form) -> dict[str, Any]:
    """What is said of a log: {said, first, found, written}; `written` is HTML by the place where it goes."""
    report = reported(log, form)
    return dict(
        said=with_minus_signs(words.summary(report)),
        first=report.first.name if report.first else "",
        found=bool(report.status),
        written=offered(log, form, report.found) | written(report),
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
    sentence = html.escape(with_minus_signs(says))
    return f'<li data-look="{key}">{mark}{sentence} <button type="button" data-look="{key}">{steps}</button></li>'


def tagged(tag: str, texts: Iterable[str]) -> str:
    return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)


def offered(log: Any, form: Form, found: Any = None) -> dict[str, str]:
    """The options of the fields that name a column: those that could be a held-out score first."""
    if log is None:
        return {}
    columns, used = sorted(log.columns), found.curves if found else {}
    likely = [name for name in columns if log.framework and metric_names.looks_held_out(name, log.framework)]
    held_out = list(dict.fromkeys([*likely, *columns]))
    as_read = {name: " and ".join(curve.columns) for name, curve in used.items()}
    return {
        "[name=held_out]": options("those that the log shows", held_out, form.get("held_out")),
        **{
            f"[name=map_{name}]": options(as_read.get(name, "not in the log"), columns, form.get(f"map_{name}"))
            for name in metric_names.QUANTITIES
        },
    }


def options(none: str, names: Sequence[str], chosen: str | None) -> str:
    """The options of a select: first that none of the names is chosen, in the words `none`, then the names."""
    listed = [f"<option{' selected' * (name == chosen)}>{html.escape(name)}</option>" for name in names[:NAMES]]
    return f'<option value="">{html.escape(none)}</option>' + "".join(listed)


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
    """Runs everything once before Python is saved as a snapshot, so that what is loaded at a first use is in it."""
    for encoding in ("utf-8-sig", "utf-16"):
        codecs.getincrementaldecoder(encoding)(errors="replace").decode(b"")
    for name in SAMPLES:
        answer(read(sample(name)), dict(scored="on"))
    list(stream("begin", "{}"))
    for step, data in (("file", "x"), ("piece", b"dear diary"), ("end", "")):
        list(stream(step, data))
    metric_names.nearest("rewards", ["reward"])
    SESSION.begin({})
