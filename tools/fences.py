"""The Markdown fences of the lessons: a widget, a quoted function, the difference between two files, the map, the cards.

A fence formatter is a plain function (source, language, css_class, options, md, **kwargs) -> HTML, found by its name from mkdocs.yml.
"""
import functools
import html
import json
from dataclasses import fields

from pymdownx.superfences import SuperFencesException

from tools import drawing, frames, lessons, lineage, maps, quoting
from widgets import host

KNOBS_IN_VIEW = 5


def loud(fence):
    """SuperFences swallows a formatter's exception and prints the raw block; a broken lesson must break the build."""
    @functools.wraps(fence)             # Zensical pickles a formatter by its name
    def formatter(source, language, css_class, options, md, **kwargs):
        try:
            return fence(source.strip())
        except Exception as error:
            raise SuperFencesException(f"```{language}\n{source}\n```\n{type(error).__name__}: {error}") from error
    return formatter


@loud
def pipeline(body):
    """The way to the site's root; `arrays` behind it shows the arrays of the recorded iteration in the panels."""
    base, *more = body.split()
    return maps.pipeline(base, rows=more == ["arrays"])


@loud
def cards(_):
    return lessons.cards(after={"Part II": lineage.figure("./")})


@loud
def lineage_of_algorithms(base):
    """The way to the site's root."""
    return lineage.figure(base)


@loud
def source(where):
    """`sim/kl.py::k3`: a function quoted by name, so that a renamed one fails the build."""
    path, name = where.split("::")
    code, line = quoting.definition(path, name)
    tested = quoting.test_of(path)
    by = f'<span class="end">tested by {quoting.link(tested, 1, tested.rpartition("/")[2])}</span>' if tested else '<span class="end"></span>'
    return (f'<figure class="src"><header>{quoting.link(path, line)}<span>what the widget runs</span>{by}{COPY}</header>'
            f'<div class="highlight"><pre tabindex="0" aria-label="{path}, {name}"><code>{quoting.coloured(code)}</code></pre></div></figure>')


@loud
def patch(body):
    """`old.py -> new.py`, then a clause for every changed function: `advantage: no division by the standard deviation`."""
    first, *rest = body.splitlines()
    old, new = (side.strip() for side in first.split("->"))
    clauses = dict((part.strip() for part in row.split(":", 1)) for row in rest if row.strip())
    return quoting.difference(old, new, clauses, COPY)


@loud
def widget(name):
    """Figure, form, readouts and sentence of the default configuration, computed here by the code that the page runs."""
    w = host.widget(name)
    frame = frames.settled(name)
    knobs = [knob(name, f) for f in fields(w.Knobs)]
    more = f'<details class="more"><summary>More knobs ({len(knobs) - KNOBS_IN_VIEW})</summary>{"".join(knobs[KNOBS_IN_VIEW:])}</details>' if len(knobs) > KNOBS_IN_VIEW else ""
    seed = '<button type="button" class="seed">New seed</button>' if "seed" in w.Knobs.__dataclass_fields__ else ""
    run = f'<div class="run"><button type="button" class="go">Run</button>{seed}<output></output></div>' if frame["progress"] else f'<div class="run">{seed}</div>' if seed else ""
    settings = host.query(w.Knobs()).replace("&", ", ").replace("=", " ").replace("_", " ").replace("+", " ")
    return (f'<figure class="rl-widget" id="{name}" data-state="static" data-settings="{html.escape(settings)}"><rl-widget name="{name}" data-frame="{html.escape(json.dumps(frame))}">'
            f'<div class="head"><h3>{html.escape(w.TITLE)}</h3></div>'
            f'<div class="presets" role="group" aria-label="Presets"><span>Try</span>{"".join(preset(name, n, k) for n, k in w.PRESETS.items())}</div>'
            f'<div class="body"><form aria-label="Knobs" autocomplete="off"><p class="note" hidden></p>{"".join(knobs[:KNOBS_IN_VIEW])}{more}{run}</form>'
            f'<div class="stage"><div class="stick"><div class="bar" role="progressbar" aria-label="Run" aria-valuemin="0" aria-valuemax="100"><i></i></div>{tabs(name, frame["panels"])}</div>'
            f'<div class="after"><div class="brk"><p role="status"><span class="unseen"></span><b></b><span>{HOLDING}</span></p><small>Watched: <code>{html.escape(frame["watched"]["label"])}</code>; now <output>{words(frame["watched"])}</output></small></div>'
            f'<dl class="readouts">{"".join(readout(r) for r in frame["readouts"])}</dl></div></div></div>'
            f'<div class="foot"><button type="button" class="reset" data-knobs="{html.escape(host.query(w.Knobs()))}">Reset</button><button type="button" class="link">Copy link</button>'
            f'<button type="button" class="table" aria-expanded="false">Data table</button><button type="button" class="csv">CSV</button>'
            f'{quoting.link(f"widgets/{name}.py", 1, "Show the code", "button")}<span class="end">{html.escape(getattr(w, "COST", ""))} <span class="hash">reproducible: {frame["hash"]}</span></span></div>'
            f'<div class="data" hidden tabindex="0" role="region" aria-label="Data of the figure"><table class="dt"><caption>The first curves of every panel; the CSV file holds every point.</caption><thead></thead><tbody></tbody></table></div>'
            f'<noscript>{drawing.table(frame["panels"])}</noscript></rl-widget></figure>')


COPY = '<button type="button" class="copy">Copy</button>'
HOLDING = "Holding. Some setting here breaks the run. Find it."


def words(row):
    return f'{row["text"]} {row["unit"]}'.strip()


def preset(widget_name, name, knobs):
    breaks = frames.settled(widget_name, knobs)["broken"]
    mark, said = (' class="breaks"', '<span class="unseen"> (breaks)</span>') if breaks else ("", "")
    return f'<button type="button"{mark} aria-pressed="{str(knobs == host.widget(widget_name).Knobs()).lower()}" data-knobs="{html.escape(host.query(knobs))}">{html.escape(name)}{said}</button>'


def readout(r):
    return (f'<div class="{r["state"]}"><dt>{html.escape(r["label"])}</dt><dd><b>{r["text"]}</b><span class="u">{html.escape(r["unit"])}</span><span class="was"></span>'
            f'{quoting.link(*r["source"].split("#L")) if r["source"] else ""}</dd></div>')


def tabs(name, panels):
    """The panels grouped by tab, the tab list (none when there is but one tab) and the word for the state."""
    groups = {}
    for i, panel in enumerate(panels):
        groups.setdefault(panel["tab"], []).append((i, panel))
    list_ = "".join(f'<button type="button" role="tab" id="{name}-tab-{n}" aria-controls="{name}-view-{n}" aria-selected="{str(n == 0).lower()}" tabindex="{-(n > 0)}">{html.escape(title)}</button>'
                    for n, title in enumerate(groups))
    views = "".join(view(name, n, title, group, len(groups) > 1) for n, (title, group) in enumerate(groups.items()))
    tablist = f'<div role="tablist" aria-label="Views">{list_}</div>' if len(groups) > 1 else "<span></span>"
    return f'<div class="tabs">{tablist}<span class="state">recorded figure</span></div>{views}'


def view(name, n, title, group, tabbed):
    role = f'role="tabpanel" aria-labelledby="{name}-tab-{n}"' if tabbed else 'role="group" aria-label="Figure"'
    plots = "".join(f'<div class="panel{" front" if p["front"] else ""}"><p class="cap">{marked(p["title"])} <span>{marked(p["note"])}</span></p>'
                    f'<div class="plot" data-panel="{i}" role="img" aria-label="{html.escape(p["alt"])}">{drawing.svg(p)}</div></div>' for i, p in group)
    return f'<div class="panels{" two" if len(group) > 1 else ""}" id="{name}-view-{n}" {role} tabindex="0"{" hidden" if n else ""}>{plots}</div>'


def marked(text):
    """Escaped text in which π_old becomes a subscript."""
    return " ".join(subscripted(html.escape(word)) for word in text.split(" "))


def subscripted(word):
    head, mark, tail = word.partition("_")
    return f"{head}<sub>{tail}</sub>" if mark and head else word


def knob(widget_name, f):
    """One control: the input named after the knob, its words, its exact value and the way back to the default."""
    m, id_, default = f.metadata, f"{widget_name}-{f.name}", host.spelled(f.default)
    symbol = f', <i>{subscripted(html.escape(m["symbol"]))}</i>' if m["symbol"] else ""
    name = html.escape(m["label"]) + symbol
    if m["kind"] in ("choice", "toggle"):
        options = m["options"]
        if len(options) > 4 or sum(len(str(o)) for o in options) > 22:
            inner = "".join(f'<option{" selected" if str(o) == default else ""}>{html.escape(str(o))}</option>' for o in options)
            return f'<div class="knob" data-knob="{f.name}" data-default="{html.escape(default)}"><label for="{id_}">{name}</label><select id="{id_}" name="{f.name}">{inner}</select></div>'
        inner = "".join(f'<label><input type="radio" name="{f.name}" value="{html.escape(str(o))}"{" checked" if str(o) == default else ""}>{html.escape(str(o))}</label>' for o in options)
        return f'<fieldset class="knob" data-knob="{f.name}" data-default="{html.escape(default)}"><legend>{name}</legend><span class="seg">{inner}</span></fieldset>'
    if m["kind"] == "ladder":
        rungs = [host.spelled(r) for r in m["rungs"]]
        low, high, step, at, values = 0, len(rungs) - 1, 1, rungs.index(default), f' data-values="{" ".join(rungs)}"'
        shown = rungs if len(rungs) <= 7 and sum(map(len, rungs)) < 26 else [rungs[0], rungs[-1]]
        ticks = f'<div class="ticks" aria-hidden="true">{"".join(f"<span>{r}</span>" for r in shown)}</div>'
    else:
        low, high, step, at, values, ticks = *(host.spelled(m[k]) for k in ("low", "high", "step")), default, "", ""
    at_share = (float(at) - float(low)) / (float(high) - float(low))
    return (f'<div class="knob" data-knob="{f.name}" data-default="{default}"{values}><label for="{id_}">{name}</label>'
            f'<span class="val"><button type="button" class="def" aria-label="{html.escape(m["label"])}: back to {default}" data-knobs="{f.name}={default}">↺ {default}</button>'
            f'<input type="text" inputmode="decimal" value="{default}" aria-label="{html.escape(m["label"])}, exact value"><span>{html.escape(m["unit"])}</span></span>'
            f'<div class="track"><input id="{id_}" name="{f.name}" type="range" min="{low}" max="{high}" step="{step}" value="{at}" aria-valuetext="{default} {html.escape(m["unit"])}" style="--p:{100 * at_share:.1f}%">'
            f'<span class="notch" style="--d:{at_share:.3f}" aria-hidden="true"></span>{ticks}</div><small class="hint" hidden></small></div>')
