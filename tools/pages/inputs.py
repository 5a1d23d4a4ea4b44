"""What a module's results depend on: what it imports, directly or not, the data that is read there, and the machine.

Exact, because sim/ and widgets/ import by name alone, which a test holds.
"""

import ast
import hashlib
import os
import platform
import sys
from functools import cache
from pathlib import Path

import numpy as np
from numpy._core._multiarray_umath import __cpu_features__ as FEATURES

ROOT = Path(__file__).parents[2]
OURS = ("sim", "widgets", "tools", "tests")
SETTINGS = ("NPY_", "OPENBLAS_", "OMP_")  # beginnings of the variables that choose among numpy's and its BLAS's loops


def digest(*modules):
    """A sum over all that the results of these modules depend on, in hexadecimal."""
    total = hashlib.sha256(machine().encode())
    for file in closure(*modules):
        total.update(f"{file.relative_to(ROOT).as_posix()}\0".encode() + content(file))
    return total.hexdigest()


def closure(*modules):
    """The files of the modules, of what they import, directly or not, and the data that these read, sorted."""
    found, waiting = set(), set(modules)
    while waiting:
        module = waiting.pop()
        file = file_of(module)
        if file is None or file in found:
            continue
        found.add(file)
        names, data = read(file)
        found.update(data)
        waiting |= {*names, module.rpartition(".")[0]}  # to import a.b.c is to import a and a.b
    return sorted(found)


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


@cache
def machine():
    """What the last bits depend on besides the code: Python, numpy, the vector instructions that numpy uses, and the
    kernel that its BLAS has chosen, which shows in the bits of a product.
    """
    settings = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(SETTINGS))
    features = sorted(name for name, there in FEATURES.items() if there)
    factor = np.sin(np.arange(160.0 * 96)).reshape(160, 96)
    product = hashlib.sha256((factor.T @ factor).tobytes()).hexdigest()
    return repr((sys.version, platform.machine(), np.__version__, features, settings, product))
