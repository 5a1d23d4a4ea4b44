"""The files that a module needs: what it imports, directly or not, and the data that is read there.

Exact, because sim/, rlpt/ and widgets/ import by name alone, which a test holds.
"""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = ("sim", "rlpt", "widgets", "tools", "tests")


def closure(*modules):
    """The files of the modules, of what they import, directly or not, and the data that these read, sorted."""
    files, waiting = set(), set(modules)
    while waiting:
        module = waiting.pop()
        file = file_of(module)
        if file is None or file in files:
            continue
        files.add(file)
        names, data = read(file)
        files.update(data)
        waiting |= {*names, module.rpartition(".")[0]}  # to import a.b.c is to import a and a.b
    return sorted(files)


@cache
def file_of(module):
    """`sim.worlds.tasks` -> its file; None for what is not ours, and for names that are no modules."""
    if module.partition(".")[0] not in OURS:
        return None
    place = ROOT.joinpath(*module.split("."))
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


@cache
def read(file):
    """(names that a file imports, files of data that it reads).

    `from a.b import c` names a.b and a.b.c, for c may be a module. A module comes to its data by `files("a.b")` of
    importlib.resources: every file of a/b/data/ counts.
    """
    names, data = set(), set()
    tree = ast.parse(content(file))
    for node in ast.walk(tree) if b"files(" in content(file) else statements(tree):
        match node:
            case ast.Import():
                names.update(alias.name for alias in node.names)
            case ast.ImportFrom():
                names.update([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
            case ast.Call(func=ast.Name("files"), args=[ast.Constant(package)]):
                folder = ROOT.joinpath(*package.split("."), "data")
                data.update(path for path in folder.rglob("*") if path.is_file())
    return names, data


def statements(node):
    """The statements of a tree, without the expressions in them, which are nine tenths of its nodes."""
    yield node
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, part, ()) if not isinstance(node, ast.expr) else ():
            yield from statements(child)


@cache
def content(file):
    return file.read_bytes()
