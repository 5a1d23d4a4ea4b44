"""Rows of the page "When a run goes wrong". What is seen and what to look at first stand in the file of the page whose
widget breaks (lessons/10-ppo.yml); cause, way back and setting are those of the widget's preset, so a row cannot say
what the widget does not. The groups and their order are those of lessons/failures.md.
"""

import re
from dataclasses import asdict, dataclass
from functools import cache
from urllib.parse import urlencode

from markupsafe import Markup, escape

from tools.pages import frames, lesson_data, lessons, results
from widgets.frame.contract import recovery, values
from widgets.frame.reader import host

GROUP = re.compile(r"^```failures\n(.+)\n```$", re.M)
WIDGET = re.compile(r"^```widget\n(\w+)$", re.M)


@dataclass(frozen=True)
class Row:
    preset: str  # of the page's widget; it breaks
    group: str
    seen: str
    check: str
    after: str = ""  # the row of the group that this one follows, "widget: preset"; "" for its place in reading order
    stem: str = ""  # of the page
    widget: str = ""

    @property
    def at(self):
        return f"{self.widget}: {self.preset}"

    @property
    def file(self):
        return f"lessons/{self.stem}.yml"


@cache
def groups():
    """{title: [Row]} in the order of the page."""
    titles = GROUP.findall((lessons.ROOT / "lessons" / "failures.md").read_text(encoding="utf-8"))
    rows = every_row()
    for row in rows:
        if row.group not in titles:
            raise ValueError(f"{row.file}, {row.preset}: {row.group} is no group of failures.md; {', '.join(titles)}")
    return {title: in_order([row for row in rows if row.group == title]) for title in titles}


def every_row():
    """All rows in reading order."""
    files = lesson_data.of_pages("failures")
    if strange := files.keys() - widgets().keys():
        raise ValueError(f"lessons/{min(strange)}.yml, failures: the page has no widget that could break")
    return [
        lesson_data.made(Row, dict(entry, stem=stem, widget=widget), f"lessons/{stem}.yml, failures")
        for stem, widget in widgets().items()
        for entry in files.get(stem, ())
    ]


@cache
def widgets():
    """{stem of a page: its widget} in reading order, of the pages that have one."""
    texts = {
        path[:-3]: (lessons.ROOT / "lessons" / path).read_text(encoding="utf-8") for _, _, path in lessons.navigation()
    }
    return {stem: match[1] for stem, text in texts.items() if (match := WIDGET.search(text))}


def in_order(rows):
    """Rows of a group in reading order, but those with `after`, each of which follows the row that it names."""
    for row in rows:
        if row.after and row.after not in [other.at for other in rows if other is not row]:
            raise ValueError(f"{row.file}, {row.preset}: no row of this group is called {row.after}")
    ordered = followers(rows, "")
    if circle := [row for row in rows if row not in ordered]:
        raise ValueError(f"{circle[0].file}, {circle[0].preset}: it follows a row that follows it")
    return ordered


def followers(rows, at):
    """The rows that follow the one called `at`, each before its own followers."""
    return [each for row in rows if row.after == at for each in (row, *followers(rows, row.at))]


def without():
    """The presets that break and that no log of a run shows, as "widget: preset"."""
    files = lesson_data.of_pages("without")
    return [f"{widget}: {preset}" for stem, widget in widgets().items() for preset in files.get(stem, ())]


def setting(row):
    """(widget, knobs) of a row."""
    presets = host.widget(row.widget).PRESETS
    if row.preset not in presets:
        raise ValueError(f"{row.file}: {row.widget} has no preset {row.preset}; it has {', '.join(presets)}")
    return row.widget, presets[row.preset]


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
        raise ValueError(f"{row.file}: {row.preset} does not break")
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
