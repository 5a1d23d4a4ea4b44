"""The Python half of the doctor: a log arrives in pieces, and its reader asks a new question with every change of the
form.

The page "Diagnose a run" runs it in a worker of its own without network or storage (site/assets/sandbox.js). The build
uses the same functions to draw what the page shows before anything is dropped.
"""

import codecs
import encodings.utf_8_sig
import encodings.utf_16  # noqa: F401, a snapshot of Python has what was imported, but no files
import html
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from rlpt import doctor, logs, metric_names, rollouts
from rlpt.doctor import completions, words
from rlpt.doctor.files import Brought, Files
from sim.words import capital
from widgets.frame.reader import brought, doctor_chart, doctor_lead
from widgets.frame.reader.brought import Form

NAMES = 300  # the most columns offered
OPENING = "hack-plus"  # the log shown when the page opens
THERE = ' (<a href="../rollouts/">read the rollouts</a>)'  # beside an event of the completions
NONE = "\t"  # in place of a held-out score: a column's name has no tab
SAMPLES = {  # {the page's name for a real log: the log}; the page does not tell what happened in it
    "sums, 240 steps": OPENING,
    "sums, 200 steps": "late-collapse",
    "twelve prompts": "memorize",
    "sums, 300 steps": "healthy-defaults",
}
# read when imported: a snapshot of Python has no files
TEXTS = {name: (files("rlpt.doctor") / "data" / f"{name}.csv").read_text(encoding="utf-8") for name in SAMPLES.values()}


def mapped(form: Form) -> dict[str, str]:
    """{quantity: column} for the columns that the reader has named."""
    return {name: form[f"map_{name}"] for name in metric_names.QUANTITIES if form.get(f"map_{name}")}


class Session(brought.Session):
    def begin(self, form: Form) -> None:
        super().begin(form)
        wanted = [*mapped(form).values(), form.get("held_out", "")]
        self.files = Files(form.get("run", ""), wanted, rollouts.PAGE)

    def opened(self, name: str) -> Any:
        return self.files.opened(name)

    def together(self, closed: list[Any]) -> Any:
        return self.files.together(closed)


SESSION = Session()


def stream(step: str, data: Any) -> Iterator[str]:
    """The answer to one step of the page's conversation, as JSON (brought.py)."""
    return brought.stream(SESSION, step, data, answer, sample, offered)


def sample(name: str) -> dict[str, str]:
    """{file name: text} for a real log; by default the one shown when the page opens."""
    log_name = SAMPLES.get(name, OPENING)
    return {f"{log_name}.csv": TEXTS[log_name]}


# ── answers ──
def reported(run: Brought, form: Form) -> Any:
    """The Report for the files of a run and a form."""
    held_out = None if form.get("held_out") == NONE else form.get("held_out", "")
    k, updates = (int(number(form.get(name), usual)) for name, usual in (("k", 0), ("updates", 1)))
    return completions.added(doctor.report(run.log, held_out, mapped(form), k, updates), run)


def answer(run: Brought, form: Form) -> dict[str, Any]:
    """What the page says about a run: {said, first, found, written}; `written` is {selector of its place: HTML}."""
    report = reported(run, form)
    return dict(
        said=with_minus_signs(words.headline(report)),
        first=report.first.name if report.first else "",
        found=bool(report.status),
        written=offered(run, form, report.found) | written(report),
    )


def written(report: Any) -> dict[str, str]:
    unit = report.found.unit
    read = [
        (words.words_of(quantity), " and ".join(curve.columns), curve.note)
        for quantity, curve in report.found.curves.items()
    ]
    return {
        ".lead": html.escape(with_minus_signs(words.lead(report))),
        ".picture": doctor_lead.drawing(report),
        ".change": changed(report),
        ".whose": html.escape(
            " ".join([f"{capital(words.kind(report.found))}: {words.counted(report)}.", *report.beside[:1]])
        ),
        ".chart": doctor_chart.drawing(report),
        ".facts": "".join(
            looked_at(f"f{n}", words.steps_of(f.rows, unit), f.says, f.alarm) for n, f in enumerate(report.facts)
        ),
        ".events": "".join(happened(f"e{n}", event, unit) for n, event in enumerate(report.events))
        or "<li>No event was found.</li>",
        ".later": tagged("li", map(capital, words.later(report))),
        ".notes": tagged("li", words.notes(report)),
        ".read tbody": "".join(f"<tr>{tagged('td', cells)}</tr>" for cells in read),
    }


def changed(report: Any) -> str:
    """What to change, what the log rules out, and what to expect, as HTML."""
    advice = words.advised(report)
    if not advice:
        return ""
    head = "Change one thing at a time" if len(advice.changes) > 1 else "Change"
    items = "".join(
        f"<li>{tagged('code', filter(None, [c.option]))}{html.escape(words.sentence(c.says))}</li>"
        for c in advice.changes
    )
    rest = tagged("p", filter(None, (words.expected(advice), advice.excluded)))
    return with_minus_signs(f"<h3>{head}</h3><ul>{items}</ul>{rest}")


def happened(key: str, event: Any, unit: str) -> str:
    there = "" if event.quantity else THERE
    return looked_at(key, words.steps_of([event.step], unit), words.event_line(event), there=there)


def looked_at(key: str, steps: str, says: str, alarm: bool = False, there: str = "") -> str:
    """A fact or an event as a line with a button for its steps, which shades their rows in the drawing."""
    mark = '<b class="alarm">!</b> ' if alarm else ""
    line = f"{mark}{html.escape(with_minus_signs(says))}{there}"
    return f'<li data-look="{key}">{line} <button type="button" data-look="{key}">{steps}</button></li>'


def tagged(tag: str, texts: Iterable[str]) -> str:
    return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)


def offered(run: Brought | None, form: Form, found: Any = None) -> dict[str, str]:
    """The options of the fields that name a column, with likely held-out scores first."""
    if run is None:
        return {}
    log = run.log
    columns, used = sorted(log.columns), found.curves if found else {}
    likely = [name for name in columns if log.framework and metric_names.looks_held_out(name, log.framework)]
    held_out = list(dict.fromkeys([*likely, *columns]))
    as_read = {name: " and ".join(curve.columns) for name, curve in used.items()}
    return {
        "[name=held_out]": options("those that the log shows", held_out, form.get("held_out"), {NONE: "none"}),
        **{
            f"[name=map_{name}]": options(as_read.get(name, "not in the log"), columns, form.get(f"map_{name}"))
            for name in metric_names.QUANTITIES
        },
    }


def options(usual: str, names: Sequence[str], chosen: str | None, others: Mapping[str, str] | None = None) -> str:
    """The options of a select: first `usual`, in words, for no column, then `others`, {value: words}, then names."""

    def option(value: str, shown: str) -> str:
        picked = " selected" * (value == (chosen or ""))
        return f'<option value="{html.escape(value)}"{picked}>{html.escape(shown)}</option>'

    first = {"": usual} | dict(others or {})
    return "".join(option(*each) for each in [*first.items(), *((name, name) for name in names[:NAMES])])


def number(value: Any, usual: float) -> float:
    """The number in a field, or `usual` if it is not a number."""
    try:
        return float(value) if math.isfinite(float(value)) else float(usual)
    except (TypeError, ValueError):
        return float(usual)


def with_minus_signs(text: str) -> str:
    """The text with true minus signs, which are as wide as a digit, before negative numbers."""
    return re.sub(r"(?<![\w.])-(?=[\d.])", "−", text)


# ── what the page shows before it has a log ──
def opening() -> dict[str, Any]:
    """What the page says about the first sample."""
    return answer(read(sample("")), {})


def buttons() -> dict[str, str]:
    """{the page's name for a sample: its curves, drawn small}."""
    return {name: doctor_lead.small(reported(read(sample(name)), {})) for name in SAMPLES}


def read(texts: Mapping[str, str]) -> Brought:
    return Brought(logs.read([(name, [text.encode()]) for name, text in texts.items()]))


def warmed() -> None:
    """Runs everything once before Python is saved as a snapshot, so that the snapshot has everything that is loaded on
    first use.
    """
    for encoding in ("utf-8-sig", "utf-16"):
        codecs.getincrementaldecoder(encoding)(errors="replace").decode(b"")
    for name in SAMPLES:
        answer(read(sample(name)), {})
    list(stream("begin", "{}"))
    for step, data in (("file", "x"), ("piece", b"dear diary"), ("end", "")):
        list(stream(step, data))
    metric_names.nearest("rewards", ["reward"])
    SESSION.begin({})
