"""One page for every Python module, with links back to the lessons.

Which lessons use a module, and which readouts its functions compute there, is read from the built pages.
"""

import ast
import html
import json
import re
from dataclasses import dataclass, field
from itertools import groupby

from tools.pages import inputs, lessons, quoting

SITE_NAME = "RL Post-Training"
SHOWN = ("sim", "rlpt", "widgets", "tests")

# what the page of a module may load: its style, the light of the page; and where its search leads
POLICY = (
    "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; script-src 'self'; base-uri 'none'; "
    "form-action 'self'"
)
LINKED = re.compile(r'href="[./]*code/([\w./]+\.py)\.html')
FRAME = re.compile(r'<rl-widget name="(\w+)"[^>]* data-frame="([^"]*)"')


@dataclass
class Uses:
    """Where the built pages link to one module."""

    pages: dict[str, str] = field(default_factory=dict)  # label of a page -> its address from the root
    runs: dict[str, str] = field(default_factory=dict)  # the same of the pages whose widgets import the module
    lines: dict[int, dict[tuple[str, str], list[str]]] = field(default_factory=dict)  # -> (label, address) -> readouts


def write(site):
    """code/sim/estimators/kl.py.html and its like for every module."""
    used = uses(site)
    paths = [
        file.relative_to(quoting.ROOT).as_posix()
        for folder in SHOWN
        for file in sorted((quoting.ROOT / folder).rglob("*.py"))
    ]
    for _, modules in groupby(sorted(paths, key=folder_of), key=folder_of):
        neighbors = list(modules)
        for path in neighbors:
            file = site / "code" / f"{path}.html"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(page(path, neighbors, used.get(path, Uses())), encoding="utf-8")


def folder_of(path):
    return path.rpartition("/")[0]


def uses(site):
    """{path of a module: Uses}, the pages in the order of the navigation."""
    uses_of = {}
    for label, address in lessons.pages():
        text = (site / address / "index.html").read_text(encoding="utf-8")
        for path in LINKED.findall(text):
            uses_of.setdefault(path, Uses()).pages[label] = address
        for widget, frame in FRAME.findall(text):
            for file in inputs.closure(f"widgets.{widget}.widget"):
                uses_of.setdefault(file.relative_to(quoting.ROOT).as_posix(), Uses()).runs[label] = address
            for readout in json.loads(html.unescape(frame))["readouts"]:
                path, _, line = readout["source"].partition("#L")
                if line:
                    labels_of = uses_of.setdefault(path, Uses()).lines.setdefault(int(line), {})
                    labels_of.setdefault((label, address), []).append(readout["label"])
    return uses_of


def page(path, neighbors, used):
    """The page of one module among its `neighbors`, the modules of its folder."""
    text = (quoting.ROOT / path).read_text(encoding="utf-8")
    tree = ast.parse(text)
    up = "../" * (path.count("/") + 1)
    return (
        '<!doctype html><html lang="en" class="code"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width,initial-scale=1"><title>{path} – {SITE_NAME}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<link rel="icon" href="{up}assets/favicon.svg"><link rel="stylesheet" href="{up}assets/style.css"></head>'
        f'<body class="md-typeset"><header class="codebar"><a href="{up}">{SITE_NAME}</a>'
        f'<form role="search" action="{up}"><input type="search" name="q" placeholder="Search" aria-label="Search '
        f'the lessons"><button type="submit" class="unseen">Search</button></form></header>'
        f'<script src="{up}assets/scheme.js"></script>'
        f'<div class="codepage"><main><div class="codehead">{back(used, up)}<h1>{breakable(path)}</h1>{about(tree)}'
        f'{beside(path, up)}</div><div class="highlight"><pre tabindex="0" aria-label="{path}"><code>'
        f"{body(text, tree, used.lines, up)}</code></pre></div></main>{files(path, neighbors)}</div></body></html>"
    )


def back(used, up):
    """The ways back: to the pages that link here, or else to those whose widgets import the module."""
    pages = used.pages or used.runs
    links = ", ".join(f'<a href="{up}{address}">{spaced(label)}</a>' for label, address in pages.items())
    return f'<p class="back"><span aria-hidden="true">← </span>{links}</p>' if pages else ""


def breakable(path):
    return path.replace("/", "/<wbr>")


def spaced(label):
    """The name of a lesson stays on one line."""
    return html.escape(label).replace(" ", "\u00a0")


def about(tree):
    """The first paragraph of the module's docstring."""
    first = " ".join((ast.get_docstring(tree) or "").partition("\n\n")[0].split())
    return first and "<p>" + re.sub(r"`(.+?)`", r"<code>\1</code>", html.escape(first)) + "</p>"


def beside(path, up):
    """The module that tests this one, or the one that this tests."""
    words, twin = ("Tested by", quoting.test_of(path)) if not path.startswith("tests/") else ("Tests", tested_by(path))
    return f'<p>{words} <a href="{up}code/{twin}.html">{twin}</a></p>' if twin else ""


def tested_by(path):
    """The module of sim/ or widgets/ that a test module mirrors."""
    twin = path.removeprefix("tests/").replace("/test_", "/")
    return twin if twin != path and twin.startswith(SHOWN[:3]) and (quoting.ROOT / twin).exists() else ""


def body(text, tree, computed, up):
    """Every line with its number, a link to itself; every definition in one element, which a link to its first line
    lights up as a whole, under the readouts that it computes.
    """
    begun, ended = {}, {}
    for first, last in definitions(tree.body):
        if first not in begun:
            begun[first] = last
            ended[last] = ended.get(last, 0) + 1
    out = []
    for n, line in enumerate(quoting.colored_once(text).split("\n"), 1):
        own = "" if n in begun else f' id="L{n}"'
        out += [f'<span class="def" id="L{n}">'] * (n in begun) + [computes(computed.get(n, {}), up)]
        out += [f'<a class="ln"{own} href="#L{n}" tabindex="-1">{n}</a>{line}\n', "</span>" * ended.get(n, 0)]
    return "".join(out)


def definitions(nodes):
    """(first line, last line) of every function, class, method and constant, decorators included."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign):
            yield min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]), node.end_lineno
        if isinstance(node, ast.ClassDef):
            yield from definitions(n for n in node.body if isinstance(n, ast.FunctionDef))


def computes(readouts, up):
    """One line for each lesson whose numbers come from the line below."""
    return "".join(
        f'<span class="computes">{html.escape(", ".join(dict.fromkeys(labels)))} · <a href="{up}{address}">'
        f"{spaced(label)}</a></span>"
        for (label, address), labels in readouts.items()
    )


def files(path, neighbors):
    """The modules of the folder, at the left where there is room and below where there is none."""
    folder = folder_of(path)
    rows = "".join(
        f'<li><a href="{name}.html"{" aria-current=page" * (neighbor == path)}>{name}</a></li>'
        for neighbor in neighbors
        for name in [neighbor.rpartition("/")[2]]
        if name != "__init__.py" or neighbor == path
    )
    return f'<nav aria-label="Files of {folder}"><h2>{breakable(folder)}/</h2><ul>{rows}</ul></nav>'
