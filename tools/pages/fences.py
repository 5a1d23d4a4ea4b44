"""The Markdown fences of the lessons: a widget, a quoted function, the difference between two files, the map, the
cards.

A fence formatter is a plain function (source, language, css_class, options, md, **kwargs) -> HTML, found by its name
from mkdocs.yml. Its links begin at the site's root, "/code/…": links.py makes them relative to their page.
"""

import functools
import json
import re
import traceback
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from textwrap import dedent

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pymdownx.superfences import SuperFencesException

from rlpt import metric_names
from rlpt.doctor.words import SIGNS
from rlpt.logs import LIMIT
from rlpt.rollouts import PAGE
from sim.rollouts import pushes
from tools.pages import (
    algorithm_pairs,
    drawing,
    failures,
    frames,
    hero,
    lab,
    lessons,
    lineage,
    notes,
    pipeline_map,
    quoting,
    results,
    routes,
    scenes,
    scripts,
    small_figures,
    sorts,
    words,
)
from widgets.frame.contract import machine_knobs
from widgets.frame.contract.values import is_pasted, query, spelled
from widgets.frame.contract.widget import extras, grouped, leading
from widgets.frame.drawing import scene
from widgets.frame.drawing.small_figures import Played
from widgets.frame.reader import data_table, host, job, panels, reader_patch, reader_worker
from widgets.frame.reader import doctor as own_doctor
from widgets.frame.reader import reader_code as own_code
from widgets.frame.reader import rollouts as own_rollouts

ROOT = Path(__file__).parents[2]
LESSONS, WIDGETS = ROOT / "lessons", ROOT / "widgets"
STILL = 586, 240  # pixels of a panel below a field for code
SEARCHED = 13  # from so many knobs on their column has a search field
FENCE = re.compile(r"^(?P<in> *)```(?P<language>\w+)\n(?P<source>.*?)\n(?P=in)```$", re.M | re.S)  # indented in a fold
LINE, FIELD = 31, 22  # most characters of a label with its options beside it, and with a field beside it
PARTS = Environment(
    loader=FileSystemLoader(ROOT / "site" / "parts"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
PARTS.filters["keyed"] = lambda note: Markup(panels.keyed(note))


def loud(fence):
    """SuperFences swallows a formatter's exception and prints the raw block; a broken lesson must break the build, with
    one sentence that says where and why. tools/book.py picks it out of the traceback.
    """

    @functools.wraps(fence)  # Zensical pickles a formatter by its name
    def formatter(source, language, css_class, options, md, **kwargs):
        try:
            return fence(source.strip())
        except Exception as error:
            raise SuperFencesException(f"{blamed(language, source, error)}: {reason(error)}") from error

    return formatter


def place(language, source):
    """Page and line of a fence, found by its text: a formatter is not told where it stands."""
    for path in sorted(LESSONS.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for fence in FENCE.finditer(text):
            if fence["language"] == language and dedent(fence["source"]).strip() == source.strip():
                return f"lessons/{path.name}, line {text.count(chr(10), 0, fence.start()) + 1}: the fence {language}"
    return f"the fence {language}, which stands in no lesson as it is"


def blamed(language, source, error):
    """The place that an error is blamed on: the fence itself, or, where it shows a failing widget of another page, as
    the cards of the front page do, the fence `widget` of that page.
    """
    name = failing_widget(error)
    shows_it = name and source.strip().partition(".")[0].split(" ")[0] == name
    if not name or shows_it or not (page := place("widget", name)).startswith("lessons/"):
        return place(language, source)
    return page


def failing_widget(error):
    """The NAME of widgets/NAME/ that an exception came through, or that is not there; "" of any other."""
    missing = (getattr(error, "name", None) or "").split(".")
    if isinstance(error, ModuleNotFoundError) and missing[0] == "widgets" and len(missing) > 1:
        return missing[1]
    names = [path.relative_to(WIDGETS).parts[0] for path, _ in ours(error) if path.is_relative_to(WIDGETS)]
    return next((name for name in reversed(names) if name != "frame"), "")


def ours(error):
    """[(file, line)] of sim/, rlpt/ and widgets/ that an exception came through, the last one last."""
    files = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:  # of a file that was to be imported
        files.append((Path(error.filename), error.lineno))
    rooms = WIDGETS, ROOT / "rlpt", ROOT / "sim"
    return [(path, line) for path, line in files if any(map(path.is_relative_to, rooms))]


def reason(error):
    """What an exception says, and the last line of widgets/NAME/ and of sim/ or widgets/ that it came through."""
    missing = (getattr(error, "name", None) or "").split(".")
    if isinstance(error, ModuleNotFoundError) and missing[0] == "widgets" and len(missing) > 1:
        return f"there is no {'/'.join(missing[:2])}/{missing[2] if missing[2:] else 'widget'}.py"
    message = " ".join((error.msg if isinstance(error, SyntaxError) else str(error)).split())
    passed = [(path.relative_to(ROOT).as_posix(), line) for path, line in ours(error)]
    of_page = [at for at in passed if at[0].startswith("widgets/") and not at[0].startswith("widgets/frame/")]
    lines = ", in ".join(f"{path}, line {line}" for path, line in dict.fromkeys([*of_page[-1:], *passed[-1:]]))
    name = "" if type(error) is ValueError else f"{type(error).__name__}: "
    return f"{name}{message}{f' ({lines})' if lines else ''}"


@loud
def pipeline(panels):
    """`arrays` shows the arrays of the recorded iteration in the panels, `sizes` their sizes alone, `rows` what becomes
    of the four rows of lesson 00.
    """
    if panels not in ("sizes", "arrays", "rows"):
        raise ValueError(f"{panels} is none of sizes, arrays and rows")
    return pipeline_map.four_rows() if panels == "rows" else pipeline_map.pipeline(rows=panels == "arrays")


@loud
def cards(_):
    return lessons.cards(after={"Part II": lineage.figure()}, emblems=hero.emblems())


@loud
def lab_cards(section):
    """`aims` or `pages` of the Measurement Lab."""
    return part("lab", **lab.shown(section))


@loud
def letters(where):
    return words.table(where)


@loud
def glossary(_):
    return words.glossary()


@loud
def lineage_of_algorithms(_):
    return lineage.figure()


@loud
def source(spec):
    """`sim/estimators/kl.py::k3`: a function quoted by name, so that a renamed one fails the build."""
    if spec.count("::") != 1:
        raise ValueError(f"{spec} is not of the form sim/estimators/kl.py::k3")
    path, name = spec.split("::")
    code, line = quoting.definition(path, name)
    spec, button = quoting.named(path, name)
    tested = quoting.test_of(path)
    by = (
        f'<span class="end">tested by {quoting.link(tested, 1, tested.rpartition("/")[2])}</span>'
        if tested
        else '<span class="end"></span>'
    )
    return (
        f'<figure class="src"><header>{quoting.link(path, line)}<span>as it runs</span>{by}{button}</header>'
        f'<div class="highlight"><pre id="{spec}" tabindex="0" aria-label="{path}, '
        f'{name}"><code>{quoting.colored(code)}</code></pre></div></figure>'
    )


@loud
def patch(body):
    """`old.py -> new.py`, then a clause for every changed function: `advantage: no division by the standard
    deviation`.
    """
    (old, new), clauses = parsed(body)
    return quoting.difference(old, new, clauses)


def parsed(body):
    """((old, new), {function: clause})."""
    first, *rest = body.splitlines()
    if first.count("->") != 1:
        raise ValueError(f"{first} is not of the form sim/algorithms/ppo.py -> sim/algorithms/grpo.py")
    if silent := [row for row in rest if row.strip() and ":" not in row]:
        raise ValueError(f"{silent[0]} is not of the form function: what changes in it")
    clauses = dict((part.strip() for part in row.split(":", 1)) for row in rest if row.strip())
    return tuple(side.strip() for side in first.split("->")), clauses


@loud
def patches(body):
    """Every two of the six algorithm files, an empty line between two patches; the first line is `GRPO and Dr.GRPO`,
    the two that run at first.
    """
    first, *blocks = body.split("\n\n")
    if first.count(" and ") != 1:
        raise ValueError(f"{first} is not of the form GRPO and Dr.GRPO")
    return algorithm_pairs.figures(dict(map(parsed, blocks)), first.split(" and "))


@loud
def widget(name):
    """Figure, form, readouts and sentence of the default configuration, computed here by the code that the page
    runs.
    """
    if name not in results.WIDGETS:
        raise ValueError(f"there is no widgets/{name}/widget.py")
    w, frame = host.widget(name), frames.settled(name)
    knobs = {f.name: dict(knob(name, f), idle=frame["idle"].get(f.name)) for f in fields(w.Knobs)}
    more, tabs = extras(w), {}
    for i, panel in enumerate(frame["panels"]):
        still = panel["svg"] or drawing.svg(panel)
        tabs.setdefault(panel["tab"], []).append(
            dict(panel, i=i, still=Markup(still), caption=Markup(panel["caption"]))
        )
    defaults = {f.name: spelled(f.default) for f in fields(w.Knobs) if not is_pasted(f)}
    settings = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in defaults.items())
    reveals = more.GUESS.reveals if more.GUESS else ""
    readouts = [
        dict(
            r,
            link=Markup(quoting.short_link(*r["source"].split("#L"))) if r["source"] else "",
            reveals=r["label"] == reveals,
        )
        for r in frame["readouts"]
    ]
    presets = [
        dict(
            label=label,
            cause=frames.settled(name, k)["verdict"]["cause"],
            pressed=k == w.Knobs(),
            knobs=query(k),
            promise=promised(name, label),
        )
        for label, k in w.PRESETS.items()
    ]
    change = changing(name)
    return part(
        "tool" if more.FIELDS else "widget",
        name=name,
        title=w.TITLE,
        cost=more.COST,
        dare=more.DARE,
        seconds=more.seconds(w.Knobs()) if more.seconds else "",
        settings=settings,
        defaults=query(w.Knobs()),
        frame=frame,
        data=json.dumps(frame),
        guess=guessed(w, name),
        presets=[preset for preset in presets if not preset["cause"]],
        causes=sorted(
            (
                dict(
                    cause=cause, here=cause in frames.in_reach(name), found=[p for p in presets if p["cause"] == cause]
                )
                for cause in frames.causes(name)
            ),
            key=lambda each: not each["here"],
        ),
        exports=bool(more.export or more.methods),
        config=Markup(frame["config"]),
        scripts=scripts.of(name),
        lead=[knobs[one] for one in leading(w)],
        fields={field: [knobs[one] for one in names] for field, names in more.FIELDS.items()},
        groups={heading: [knobs[one] for one in names] for heading, names in grouped(w).items()},
        many=len(knobs),
        searched=len(knobs) >= SEARCHED,
        job=" ".join(machine_knobs.JOB) if job.shared(w.Knobs) else "",
        seeded="seed" in w.Knobs.__dataclass_fields__,
        tabs=tabs,
        readouts=readouts,
        code=Markup(quoting.link(f"widgets/{name}/widget.py", 1, "Show the code")),
        table=Markup(data_table.table(frame["panels"], first=True)),
        challenges=host.challenges(w),
        change=change,
    ).replace("COLORED", change["colored"] if change else "")  # here, for its line breaks are part of the page


def changing(name):
    """What stands in the fold below a widget whose function readers change; nothing where none is offered."""
    change = getattr(host.exercises(name), "CHANGE", None)
    if not change:
        return None
    module = change.functions[0].__module__
    path, code = f"{module.replace('.', '/')}.py", reader_patch.text_of(change).rstrip()
    for exercise in change.exercises:
        if code.count(exercise.answer[0]) != 1:
            raise ValueError(f"widgets/{name}/exercises.py: the lines that an answer replaces do not stand in {path}")
    return dict(
        named=change.named,
        names=", ".join(function.__name__ for function in change.functions),
        code=code,
        colored=quoting.colored(code),
        link=Markup(quoting.link(path, quoting.definition(path, change.functions[0].__name__)[1])),
        exercises=[
            dict(ask=exercise.ask, hints=exercise.hints, solution=exercise.answer[1].strip("\n"))
            for exercise in change.exercises
        ],
    )


def guessed(w, name):
    """The question before the first run with what it turns out to be; nothing where the widget asks none."""
    if not extras(w).GUESS:
        return None
    g = w.GUESS
    outcome = g.told(g.knobs, results.last(name, g.knobs))
    longest = max(g.answers, key=len)
    return dict(question=g.question, answers=g.answers, longest=longest, knobs=query(g.knobs), told=outcome)


def promised(name, preset):
    """What the foot says before the figure's fingerprint: tests/machines hold that it is true. Of a setting that is no
    preset nothing is known, and nothing is said.
    """
    moves = host.amplified(name, preset)
    by = ", ".join(f"{spelled(far)} in “{label}”" for label, far in moves.items())
    return f"this run amplifies the last bit: other machines differ by up to {by}; here" if by else "reproducible"


@loud
def figure(spec):
    """`ppo.clip`: a small figure of widgets/ppo/figures.py, in the text; `ppo.clip margin` beside it."""
    module, _, name = spec.partition(".")
    panels_at_first = results.positions(module, name)[0][0] if name in results.figures(module) else [{}]
    if scene.is_scene(panels_at_first[0]):
        return part("scene", **scenes.figure(module, name), opening=False)
    return part("figure", **small_figures.figure(spec))


@loud
def sort(place):
    """`lab_m0.kata`: cases of widgets/lab_m0/sorts.py that readers judge."""
    return part("sort", **sorts.shown(place))


@loud
def note(body):
    """A note that readers keep: its name and title, what is asked, the list of what it contains, a model."""
    return part("note", **notes.read(body))


@loud
def failure_rows(title):
    """A group of lessons/data/failures.yml, by its title."""
    return part("failures", rows=failures.shown(title))


@loud
def ways_through(section):
    """A section of lessons/data/routes.yml: whole, questions or jobs."""
    return part("routes", routes=routes.shown(section))


@loud
def rows(body):
    """`rlpt.planning.validation::table`, a function that returns the lines of a Markdown table; below it the table's
    head: computed here, so that no page has numbers of its own.
    """
    function, head = body.split("\n")
    module, name = function.split("::")
    table = getattr(import_module(module), name)()
    return part("rows", head=cells(head), rows=[cells(line) for line in table.split("\n")])


def cells(line):
    """The cells of a line of a Markdown table."""
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


@loud
def own(name):
    """A function for readers to edit, with what comes of it as it stands there, computed here."""
    if name not in reader_worker.OFFERS:
        raise ValueError(f"no editable.py in widgets/ has the ID {name}")
    offer = reader_worker.OFFERS[name]
    edited = offer.EDITED
    path = f"{edited.__module__.replace('.', '/')}.py"
    code, line = quoting.definition(path, edited.__name__)
    result = own_code.ours(offer)
    stills = [Markup(drawing.svg(panel, *STILL)) for panel in result["panels"]]
    return part(
        "own",
        name=name,
        named=offer.NAMED,
        kept=getattr(offer, "KEPT", ""),
        widget=offer.__name__.split(".")[1],
        goals=[goal.words for goal in getattr(offer, "GOALS", ())],
        hints=getattr(offer, "HINTS", ()),
        code=code,
        link=Markup(quoting.link(path, line)),
        shown=result,
        stills=stills,
    ).replace("COLORED", quoting.colored(code))  # here, for its line breaks are part of the page


@loud
def doctor(_):
    """The field for a log of a run, with what is said of a real one; the page's half is site/assets/doctor.js."""
    return part(
        "doctor",
        shown=own_doctor.opening(),
        signs=[dict(name=name, **explained(sign)) for name, sign in SIGNS.items()],
        samples=own_doctor.buttons(),
        quantities={name: row.words for name, row in metric_names.QUANTITIES.items()},
        limit=LIMIT // 1_000_000,
    )


@loud
def rollouts(_):
    """The field for the completions of a run, with what is seen of a real one (site/assets/rollouts.js)."""
    return part(
        "rollouts",
        shown=own_rollouts.opening(),
        samples=own_rollouts.buttons(),
        rules=pushes.RULES,
        units=own_rollouts.UNITS,
        roles=own_rollouts.ROLES,
        limit=PAGE.size // 1_000_000,
    )


def explained(sign):
    """Where a sign is explained: {lesson, url, setting}, the last a setting of a widget that looks the same."""
    page = next(each for each in lessons.finished() if each.number == sign.lesson)
    _, address = failures.homes()[sign.widget]
    turned = sign.turned or failures.changed(host.widget(sign.widget).PRESETS[sign.preset])
    setting = f"/{address}{'?' if turned else ''}{turned}#{sign.widget}"
    return dict(lesson=page.number, url=f"/{page.url}", setting=setting)


@loud
def two_tables(_):
    """The figure at the head of the front page."""
    return part("hero", **hero.figure(), opening=False)


@loud
def one_batch(_):
    """The five ways to look at a batch, a Part each."""
    return part("batch", **hero.batch())


@loud
def opening(name):
    """The two settings of a widget's OPENING on the first screen, two recorded runs or a scene that plays; or the scene
    `lab_m0.gates` of a page without a simulator.
    """
    module, dot, scene_name = name.partition(".")
    if dot:  # a page without a simulator
        return part("scene", **scenes.figure(module, scene_name, "code"), opening=True, run_names=())
    offered = small_figures.opening_of(name)
    if not isinstance(offered, Played):
        return part("opening", **small_figures.opening(name))
    figure = scenes.figure(name, offered.figure, "code")
    return part("scene", **figure, opening=True, run_names=offered.names or figure["names"])


def knob(widget_name, f):
    """What one control shows: a select where the options are many, radio buttons where they are few, else a slider with
    its exact value.
    """
    m, default = f.metadata, spelled(f.default)
    words = m["label"] + f", {m['symbol']}" * bool(m["symbol"]) + f", {m['unit']}" * bool(m["unit"])
    common = dict(
        m,
        long=len(words) > FIELD,
        name=f.name,
        id=f"{widget_name}-{f.name}",
        default=default,
        symbol=subscripted(m["symbol"]),
        terms=terms(widget_name, m["label"], *m.get("options", ())),
    )
    if m["kind"] == "pasted":
        return dict(common, control="pasted", most=m["most"] + 1)  # one too many is refused, not cut off
    if m["kind"] in ("choice", "toggle"):
        options = [str(option) for option in m["options"]]
        few = len(options) <= 4 and sum(map(len, options)) <= 30
        beside = few and len(m["label"]) + sum(len(option) + 3 for option in options) <= LINE
        return dict(common, control="radio" if few else "select", options=options, wide=not beside)
    if m["kind"] == "ladder":  # its slider counts the rungs
        rungs = [spelled(rung) for rung in m["rungs"]]
        ticks = rungs if len(rungs) <= 7 and sum(map(len, rungs)) < 26 else [rungs[0], rungs[-1]]
        return dict(
            common,
            control="slider",
            rungs=rungs,
            exact="" if not m["exact"] else "whole" if isinstance(f.default, int) else "any",
            ticks=ticks,
            low=0,
            high=len(rungs) - 1,
            step=1,
            stops=marked(len(rungs)),
            at=rungs.index(default),
            share=rungs.index(default) / (len(rungs) - 1),
        )
    low, high, step = (spelled(m[key]) for key in ("low", "high", "step"))
    return dict(
        common,
        control="slider",
        rungs=[],
        exact="",
        ticks=[],
        low=low,
        high=high,
        stops=marked(round((m["high"] - m["low"]) / m["step"]) + 1),
        step=step,
        at=default,
        share=(f.default - m["low"]) / (m["high"] - m["low"]),
    )


def marked(positions):
    """The number of a slider's positions where they are few enough to be marked on it, else 0."""
    return positions if positions <= small_figures.STOPS else 0


def terms(widget_name, *texts):
    """The words of the book in a knob's name and options, each once: the name opens them."""
    stem = next((page.stem for page in lessons.finished() if page.widget == widget_name), "")
    return [word for word in words.of_knob(*texts) if word.knows(stem)]


def subscripted(text):
    return Markup(panels.subscripted(text))


def part(template, /, **values):
    """A template of site/parts/, filled in; line breaks between its tags are not part of the page."""
    return re.sub(r">\s*\n\s*<", "><", PARTS.get_template(f"{template}.html").render(values)).strip()
