"""Code on the page: a definition by its name, and the difference between two files."""

import ast
import contextlib
import difflib
import hashlib
import html
import os
import re
from pathlib import Path

import pygments
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from tools.runtime import files

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "_cache" / "colored"
PLAIN = HtmlFormatter(nowrap=True)


def colored(code):
    return highlight(code, PythonLexer(stripnl=False), PLAIN).rstrip("\n")


def colored_once(code):
    """The same, kept on disk for as long as code and coloring stay as they are: all modules take some seconds."""
    made_from = (pygments.__version__, Path(__file__).read_text(encoding="utf-8"), code)
    file = KEPT / f"{hashlib.sha256(repr(made_from).encode()).hexdigest()[:24]}.html"
    with contextlib.suppress(OSError):
        os.utime(file)
        return file.read_text(encoding="utf-8")
    files.write(file, text := colored(code))
    return text


def link(path, line, text=None, css=""):
    """A link to the page that shows a module, at a line; from the site's root, as links.py expects it of fences."""
    css = f' class="{css}"' if css else ""
    return f'<a{css} href="/code/{path}.html#L{line}">{text or f"{path}:{line}"}</a>'


def short_link(path, line):
    """The same where there is little room: file and line, whole; the path is its title."""
    return f'<a href="/code/{path}.html#L{line}" title="{path}:{line}">{path.rpartition("/")[2]}:{line}</a>'


def definition(path, name):
    """(text, first line) of a function, a class or a class's method (`Trainer.step`) in a file."""
    text = (ROOT / path).read_text(encoding="utf-8")
    node = ast.parse(text)
    for part in name.split("."):
        node = next(
            (
                n
                for n in node.body
                if part
                in (getattr(n, "name", None), *(t.id for t in getattr(n, "targets", []) if isinstance(t, ast.Name)))
            ),
            None,
        )
        if node is None:
            raise ValueError(f"{path} defines no {name}")
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    lines = text.splitlines()[first - 1 : node.end_lineno]
    return "\n".join(line[node.col_offset :] for line in lines), first


def test_of(path):
    """The test module that mirrors a module of sim/ or widgets/."""
    p = Path(path)
    twin = Path("tests") / p.parent / f"test_{p.name}"
    return twin.as_posix() if (ROOT / twin).exists() else ""


def without_docstring(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    first = ast.parse(text).body[0]
    return text.splitlines()[first.end_lineno if isinstance(first, ast.Expr) else 0 :]


def changes(old, new):
    """{function: [(i1, i2, j1, j2), …]} of the lines that differ, docstrings of the modules apart; and both files'
    lines.
    """
    a, b = without_docstring(old), without_docstring(new)
    hunks = {}
    for tag, *at in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            hunks.setdefault(home(a, at[0]) or home(b, at[2]), []).append(at)
    return hunks, a, b


def home(lines, i):
    """The function or constant to which line i belongs."""
    names = (re.match(r"def (\w+)|([A-Z]\w*) =", line) for line in reversed(lines[: i + 1]))
    return next((m[1] or m[2] for m in names if m), "")


def named(*words):
    """An id for a block of code, and the theme's button that copies what can be seen of it while it copies."""
    block_id = "-".join(re.findall(r"\w+", " ".join(words)))
    return block_id, f'<button type="button" class="copy" data-clipboard-target="#{block_id}">Copy</button>'


def difference(old, new, clauses):
    """One section a changed function, headed by its name and the clause that says what the change does."""
    hunks, a, b = changes(old, new)
    if missing := [name for name in hunks if name not in clauses]:
        raise ValueError(f"no clause says what changes in {', '.join(missing)} ({old} -> {new})")
    if unused := [name for name in clauses if name not in hunks]:
        raise ValueError(f"{', '.join(unused)} does not change ({old} -> {new})")
    removed, added = (
        sum(at[end] - at[start] for ops in hunks.values() for at in ops) for start, end in ((0, 1), (2, 3))
    )
    rows = []
    for name, ops in hunks.items():
        rows.append(f'<span class="hunk"><code>{name}</code><span>{html.escape(clauses[name])}</span></span>')
        at = start_of(a, ops[0][0])
        for i1, i2, j1, j2 in ops:
            rows += (
                [row("same", x) for x in a[at:i1]]
                + [row("rem", x) for x in a[i1:i2]]
                + [row("add", x) for x in b[j1:j2]]
            )
            at = i2
        while at < len(a) and a[at].strip():
            rows.append(row("same", a[at]))
            at += 1
    total = sum(1 for line in b if line.strip())
    block_id, button = named(old, new)
    return (
        f'<figure class="src diff"><header><span>{link(old, 1, old)} → {link(new, 1, new.rpartition("/")[2])}</span>'
        f'<span class="count"><del><b>−{removed}</b></del> <ins><b>+{added}</b></ins> lines of '
        f'{total}</span><span class="end"></span>{button}</header>'
        f'<div class="highlight"><pre id="{block_id}" tabindex="0" aria-label="Difference between {old} and '
        f'{new}">{"".join(rows)}</pre></div></figure>'
    )


def start_of(lines, i):
    while i > 0 and lines[i - 1].strip() and not lines[i].startswith("def "):
        i -= 1
    return i


def row(kind, line):
    return f'<span class="l {kind}">{colored(line)}</span>'
