"""Rows of the page "When a run goes wrong": what is seen and what to look at first stand in lessons/data/failures.yml;
cause, way back and setting are those of a widget's preset that breaks, so a row cannot say what the widget does not.
"""

from dataclasses import asdict, dataclass
from functools import cache
from urllib.parse import urlencode

from markupsafe import Markup, escape

from tools.pages import frames, lesson_data, lessons, results
from widgets.frame import host, recovery, values

DATA = "failures.yml"


@dataclass(frozen=True)
class Row:
    at: str  # "widget: preset"
    seen: str
    check: str


@cache
def groups():
    """{title: [Row]} in the order of the file."""
    return {group["title"]: [Row(**row) for row in group["rows"]] for group in lesson_data.read(DATA)["groups"]}


def without():
    """The presets that break and that no log of a run shows."""
    return lesson_data.read(DATA)["without"]


def setting(row):
    """(widget, knobs) of a row."""
    name, _, preset = row.at.partition(": ")
    presets = host.widget(name).PRESETS
    if preset not in presets:
        raise ValueError(f"lessons/data/{DATA}: {name} has no preset {preset}; it has {', '.join(presets)}")
    return name, presets[preset]


@cache
def homes():
    """{widget: (name of its page, its address)}."""
    numbered = {f"{lesson.stem}/": lesson.widget for lesson in lessons.finished()}
    return {numbered.get(address) or address.strip("/"): (name, address) for name, address in lessons.pages()}


def changed(knobs):
    """The query of those knobs that differ from their defaults."""
    usual = asdict(type(knobs)())
    return urlencode({name: values.spelled(value) for name, value in asdict(knobs).items() if value != usual[name]})


def shown(title):
    """What the template shows of a group."""
    if title not in groups():
        raise ValueError(f"{title} is none of {', '.join(groups())}")
    return [described(row) for row in groups()[title]]


def described(row):
    name, knobs = setting(row)
    broken = host.widget(name).broken(knobs, results.last(name, knobs))
    if broken is None:
        raise ValueError(f"lessons/data/{DATA}: {row.at} does not break")
    page, address = homes()[name]
    return dict(
        seen=row.seen,
        check=marked(row.check),
        why=frames.settled(name, knobs)["verdict"]["sentence"],
        fix=recovery.in_words(knobs, broken.fix) if broken.fix else None,
        page=page,
        lesson=f"/{address}",
        link=f"/{address}?{changed(knobs)}#{name}",
    )


def marked(text):
    """Words between backticks as code."""
    parts = [escape(part) for part in text.split("`")]
    return Markup("").join(Markup("<code>{}</code>").format(p) if n % 2 else p for n, p in enumerate(parts))
