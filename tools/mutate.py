"""Would a module's own unit test notice if the module were wrong? Change one thing at a time and run the test.

    python build.py mutate                          what has changed since the branch left main
    python build.py mutate sim/estimators/kl.py     these modules; --minutes 5 bounds all of it (10 unless told)

A change that the test does not notice is printed as `file:line old → new`. Some change nothing that can be seen, so a
survivor is a question and not a fault. Nothing is written: a process reads the changed module in place of the file.

Not mutmut (3.8 was tried, and runs on this layout): it calls a mutant killed when the wall clock says so, so that on a
busy machine many are, and others are not looked at; it changes the words of error messages and not the tables of a
module; and it brings twenty packages to be pinned.
"""

import ast
import importlib.machinery
import importlib.util
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OPERATORS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Pow: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
NAMES = dict(min="max", minimum="maximum", argmin="argmax", mean="sum", any="all", ceil="floor", zeros_like="ones_like")
NAMES |= {new: old for old, new in NAMES.items()}


def mutants(source):
    """[(line, old, new)] of every change of one thing in a module."""
    mutations = []
    for node, name, old, new in places(ast.parse(source)):
        before = ast.unparse(node)
        setattr(node, name, new)
        mutations.append((node.lineno, before, ast.unparse(node)))
        setattr(node, name, old)
    return mutations


def mutant(source, number):
    """The tree of a module with one of its changes made."""
    tree = ast.parse(source)
    node, name, _, new = list(places(tree))[number]
    setattr(node, name, new)
    return ast.fix_missing_locations(tree)


def places(tree):
    return ((node, *change) for node in list(within(tree)) for change in changes(node))


def within(node):
    """All nodes below, except in error messages, f-strings, annotations and decorators."""
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            silent = isinstance(child, ast.Raise | ast.JoinedStr) or name in ("annotation", "returns", "decorator_list")
            if isinstance(child, ast.AST) and not silent:
                if hasattr(child, "lineno"):
                    yield child
                yield from within(child)


def changes(node):
    """(field, what it holds, what it would hold) for each way to change this one node."""
    match node:
        case ast.Compare(ops=[operator, *others]) if type(operator) in OPERATORS:
            yield "ops", node.ops, [OPERATORS[type(operator)](), *others]
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator) if type(operator) in OPERATORS:
            yield "op", operator, OPERATORS[type(operator)]()
        case ast.UnaryOp(op=ast.Not() as operator):
            yield from [("operand", node.operand, ast.UnaryOp(operator, node.operand))]  # not not
        case ast.UnaryOp(op=ast.USub() as operator):
            yield "op", operator, ast.UAdd()
        case ast.keyword(arg="axis", value=ast.Constant(value=int(axis))):
            yield "value", node.value, ast.Constant(1 if axis == 0 else 0)
        case ast.Constant(value=bool(value)):
            yield "value", value, not value
        case ast.Constant(value=int(value) | float(value)):
            yield "value", value, value + 1
            yield "value", value, value - 1
        case ast.Attribute(attr=name) if name in NAMES:
            yield "attr", name, NAMES[name]
        case ast.Name(id=name) if name in NAMES:
            yield "id", name, NAMES[name]


def test_of(path):
    """sim/estimators/kl.py -> tests/sim/estimators/test_kl.py."""
    return (Path("tests") / path).with_name(f"test_{Path(path).name}").as_posix()


class Changed(importlib.machinery.SourceFileLoader):
    """Loader and finder of one module: it makes the module from a tree in place of its file."""

    def __init__(self, path, tree):
        super().__init__(path.removesuffix(".py").replace("/", "."), str(ROOT / path))
        self.tree = tree

    def get_code(self, fullname):
        return compile(self.tree, self.path, "exec")

    def find_spec(self, fullname, path=None, target=None):
        return (
            importlib.util.spec_from_file_location(fullname, self.path, loader=self) if fullname == self.name else None
        )


def tested(path, number=None):
    """pytest's status of a module's own test, in this process; `number` says which mutant it sees."""
    import pytest

    if number is not None:
        sys.meta_path.insert(0, Changed(path, mutant((ROOT / path).read_text(encoding="utf-8"), number)))
    words = ["-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", str(ROOT / test_of(path))]
    return pytest.main(words, plugins=[Quick()])


class Quick:
    """A plugin of pytest: where a property fails, hypothesis neither shrinks the example nor keeps it."""

    def pytest_configure(self):
        from hypothesis import Phase, settings

        options = dict(phases=[Phase.explicit, Phase.generate], database=None, derandomize=True, deadline=None)
        settings.register_profile("mutants", **options)
        settings.load_profile("mutants")


def survives(path, number=None, seconds=None):
    """Whether the test passes in a process of its own; a test that runs out of time has failed."""
    words = [path] if number is None else [path, str(number)]
    quiet = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    try:
        command = [sys.executable, "-m", "tools.mutate", "--one", *words]
        return subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, timeout=seconds).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def looked_at(path, until):
    """How many of a module's mutants survive, tried in random order until the time is over."""
    started = time.monotonic()
    if not survives(path):
        print(f"{path}: {test_of(path)} fails as it is", flush=True)
        return 1
    patience = 20 + 10 * (time.monotonic() - started)
    mutations = mutants((ROOT / path).read_text(encoding="utf-8"))
    order = random.Random(path).sample(range(len(mutations)), len(mutations))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = dict(zip(order, pool.map(lambda number: in_time(path, number, patience, until), order)))
    alive = sorted(number for number, survived in answers.items() if survived)
    for line, old, new in (mutations[number] for number in alive):
        print(f"{path}:{line}  {old}  →  {new}", flush=True)
    done = sum(survived is not None for survived in answers.values())
    print(
        f"{path}: {len(alive)} of {done} survive" + (f"; {len(mutations)} there are" * (done < len(mutations))),
        flush=True,
    )
    return len(alive)


def in_time(path, number, patience, until):
    """Whether a mutant survives; None after the time `until`."""
    return None if time.monotonic() > until else survives(path, number, patience)


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def changed(base):
    """What differs in sim/, rlpt/ and widgets/ from where the branch left `base`, and has a test of its own."""
    paths = git("diff", "--name-only", "--diff-filter=d", git("merge-base", base, "HEAD").strip()).splitlines()
    ours = [path for path in paths if path.startswith(("sim/", "rlpt/", "widgets/")) and path.endswith(".py")]
    return [path for path in ours if (ROOT / test_of(path)).exists()]


def main(*words):
    words = list(words)
    minutes = float(words.pop(words.index("--minutes") + 1)) if "--minutes" in words else 10.0
    base = words.pop(words.index("--base") + 1) if "--base" in words else "main"
    try:
        paths = [word for word in words if word not in ("--minutes", "--base")] or changed(base)
    except subprocess.CalledProcessError as error:
        return f"git cannot say what has changed since {base}: {error.stderr.strip()}"
    if not paths:
        print(f"No module of sim/ or widgets/ has changed since {base}.")
    if unknown := [path for path in paths if not ((ROOT / path).is_file() and (ROOT / test_of(path)).is_file())]:
        return f"{unknown[0]} has no test of its own, or is no module of this repository."
    until = time.monotonic() + 60 * minutes
    return int(sum([looked_at(path, until) for path in paths]) > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        sys.exit(tested(sys.argv[2], *map(int, sys.argv[3:])))
    sys.exit(main(*sys.argv[1:]))
