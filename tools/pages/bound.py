"""Numbers of a page that say what computes them: `[0.609](= read(drop))` shows 0.609, and links to that line.

In brackets stand one number or several, numerals or words up to twenty, with their units; or a statement, of which the
expression says whether it holds; a number in a statement is repeated in its expression. An expression has the names of
the page's tests/lessons/test_NN_name.py, if it has one, the module of its front matter's `code` and the names of
Python's `math`. tests/lessons/test_numbers.py computes it, `python build.py numbers` lists the numbers that have none.
"""

import ast
import builtins
import html
import math
import re
from functools import cache, partial

from markdown import Extension
from markdown.preprocessors import Preprocessor

from tools.pages import inputs

DEEP = r"(?:[^()\n]|\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\))*"  # brackets up to three deep
BOUND = re.compile(rf"\[([^\]\n]+)\]\(= ({DEEP})\)")
# where stands the number alone: code, formulas, titles of folds, which are buttons, and headings
PLAIN = re.compile(r"```.*?```|\$\$.*?\$\$|(?<!\[)\$[^$\n]+\$|`[^`\n]+`|^ *(?:\?\?\?|!!!|#)[^\n]*$", re.S | re.M)
MARKED = re.compile(r"<a class=n title='([^']*)'>(.*?)</a>", re.S)
CODE = re.compile(r"^code: (\S+\.py)", re.M)
NUMBER = re.compile(r"(?<![\d.,])[−-]?\d[\d,]*(?:\.\d+)?")
WITHOUT = {*vars(math), *vars(builtins), "np"}  # names that lead to no line of ours


def bound(text):
    """[(line, words as they are shown, expression)] in the order of the page."""
    return [(text.count("\n", 0, match.start()) + 1, match[1], match[2]) for match in BOUND.finditer(text)]


def shown(text):
    """The Markdown as a reader sees it."""
    return BOUND.sub(r"\1", text)


def page(stem):
    """A page of lessons/ as a reader sees it."""
    return shown((inputs.ROOT / "lessons" / f"{stem}.md").read_text(encoding="utf-8"))


def module(stem):
    """Where the names of a page are defined: tests/lessons/test_22b_long_tail.py of 22b-long-tail."""
    return inputs.ROOT / "tests" / "lessons" / f"test_{stem.replace('-', '_')}.py"


def marked(text):
    """The same with each number in an element that names its expression, where that may be a link."""
    if (left := shown(text)).count("](= "):
        raise ValueError(f"no expression, or brackets deeper than three, after {left[: left.index('](= ')][-40:]!r}")
    plain = [match.span() for match in PLAIN.finditer(text)]

    def mark(match):
        if any(start <= match.start() < end for start, end in plain):
            return match[1]
        title = re.sub(r"[`$\\[|]", lambda sign: f"&#{ord(sign[0])};", html.escape(f"= {match[2]}"))  # no Markdown
        if "|" in match[1]:  # cells of a table: each number on its own
            return NUMBER.sub(lambda number: element(number[0], title), match[1])
        return element(match[1], title)

    return BOUND.sub(mark, text)


def element(words, title):
    return f"<a class=n title='{title}'>{words}</a>"


def link_all(site):
    """Each such element of the built pages leads to the line that computes it."""
    for page in sorted(site.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        if "<a class=n title=" in text:
            page.write_text(MARKED.sub(partial(linked, page.parent.name), text), encoding="utf-8")


def linked(stem, match):
    expression = html.unescape(match[1])
    path, line = computed_at(stem, expression.removeprefix("= "))
    title = f"title='{html.escape(expression)}'"
    if not path:
        return f"<span {title}>{match[2]}</span>"
    return f'<a class=n href="/code/{path}.html#L{line}" {title}>{match[2]}</a>'


def computed_at(stem, expression):
    """(path, line) of the first name in an expression that this project defines; ("", 0) without one."""
    tree = ast.parse(expression, mode="eval")
    loaded = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    local = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    nodes = [node for node in loaded if node.id not in WITHOUT | local]
    if not nodes:
        return "", 0
    first = min(nodes, key=lambda node: node.col_offset)
    file = module(stem)
    own, imported = defined(file) if file.exists() else ({}, {})
    own = {"kept": own["MEASURED"]} | own if "MEASURED" in own else own
    imported = {path.stem: (path, "") for path in subject(stem)} | imported
    if first.id in own:
        return file.relative_to(inputs.ROOT).as_posix(), own[first.id]
    if first.id not in imported:
        raise ValueError(f"{file.name} has no {first.id}, by which `{expression}` is computed")
    path, name = imported[first.id]
    if path is None:  # of another library
        return "", 0
    name = name or next((n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.value is first), "")
    return path.relative_to(inputs.ROOT).as_posix(), defined(path)[0].get(name, 1)


def subject(stem):
    """[the module that a page is about], by its front matter."""
    page = inputs.ROOT / "lessons" / f"{stem}.md"
    return [inputs.ROOT / name for name in CODE.findall(page.read_text(encoding="utf-8"))[:1]]


@cache
def defined(path):
    """({name: line} of what a module defines, {name: (file or None, name in it or "")} of what it imports)."""
    own, imported = {}, {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            own[node.name] = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            for name in ast.walk(target) if target else ():
                if isinstance(name, ast.Name):
                    own[name.id] = node.lineno
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            package = getattr(node, "module", "")
            whole, part = inputs.file_of(f"{package}.{alias.name}"), inputs.file_of(package)
            imported[alias.asname or alias.name] = (whole, "") if whole else (part, alias.name)
    return own, imported


class Linked(Preprocessor):
    def run(self, lines):
        text = "\n".join(lines)
        return marked(text).split("\n") if "](= " in text else lines


class Bound(Extension):
    def extendMarkdown(self, md):
        md.preprocessors.register(Linked(md), "bound", 29)  # before fences are read, at 25


def makeExtension(**kwargs):
    return Bound(**kwargs)
