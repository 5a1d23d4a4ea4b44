"""The snapshot's two files: what they are made from, what they hold, and what is said when they cannot be made. That
browsers start from them is tested in tests/browser/test_snapshot.py.
"""

import ast
import gzip
import json
import os
import random
import subprocess
import sys
import zipfile

import pytest

from tests.widgets.catalogue import each_where_changed
from tools.pages import inputs as inputs_of_runs
from tools.pages import results
from tools.runtime import environment, fetch, snapshot, vendor
from tools.runtime.messages import Stop

PAGE = snapshot.PAGE
RUN = """
import builtins, io, json, os, sys
from dataclasses import fields
from itertools import islice
from urllib.parse import parse_qsl
from widgets.frame.values import query, spelled
name, known = sys.argv[1], set(sys.modules)
def refused(path, *how, **more):
    raise FileNotFoundError(path)
builtins.open = io.open = refused
w = host.widget(name)
for i, preset in enumerate(w.PRESETS.values()):
    whole = os.environ.get("NIGHTLY") or i < 1
    for frame in islice(host.stream(name, json.dumps(dict(parse_qsl(query(preset))))), None if whole else 3):
        pass
    host.table(name, frame)
for knob in fields(w.Knobs):
    m = knob.metadata
    brought = m["kind"] == "pasted"
    for value in m.get("options") or m.get("rungs") or ([m["example"]] if brought else [m["low"], m["high"]]):
        for _ in islice(host.stream(name, json.dumps({knob.name: spelled(value)})), 1 + brought):
            pass
print(*(set(sys.modules) - known))
"""


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    """A runtime of three small files, a wheel, and an empty cache."""
    pyodide, wheel = tmp_path / "pyodide", tmp_path / "numpy.whl"
    pyodide.mkdir()
    for name in ["pyodide.mjs", "pyodide.asm.wasm", "python_stdlib.zip"]:
        (pyodide / name).write_text(name)
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("numpy/a.so", b"\0asm of a")
    monkeypatch.setattr(fetch, "CACHE", tmp_path / "cache")
    (tmp_path / "site" / "vendor" / "pyodide").mkdir(parents=True)
    (tmp_path / "site" / "vendor" / "pyodide" / "pyodide-lock.json").write_text(
        '{"info": {"version": "0"}, "packages": {"numpy": {}}}'
    )
    (tmp_path / "site" / "vendor" / "python.zip").write_text("our modules")
    (tmp_path / "site" / "assets").mkdir()
    (tmp_path / "site" / "assets" / "snapshot.js").write_text("loader")
    monkeypatch.setattr(snapshot, "SITE", tmp_path / "site")
    return pyodide, wheel


def test_the_packed_pages_restore_the_snapshot_memory_in_a_fresh_instance(inputs):
    chance = random.Random(0)
    pages = [chance.choice([bytes(PAGE), b"s" * PAGE, chance.randbytes(PAGE)]) for _ in range(64)]
    fresh = bytearray(b"".join(page if chance.random() < 0.5 else chance.randbytes(PAGE) for page in pages))
    memory, library = b"".join(pages), {"path": "/lib/python3/site-packages/numpy/a.so"}
    content, record = snapshot.packed(
        {"heap": 64 * PAGE, "libraries": [library]}, b"head" * 36 + memory, bytes(fresh), inputs[1]
    )
    body, at = gzip.decompress(content), 0
    for where, length in record["stored"]:  # as site/assets/snapshot.js puts them into a fresh instance
        fresh[where : where + length] = body[at : at + length]
        at += length
    assert bytes(fresh) == memory and bytes(record["head"]) == b"head" * 36
    assert body[library["at"] : library["at"] + library["size"]] == b"\0asm of a"
    assert len(body) < len(memory)


def test_a_library_that_lies_in_the_memory_is_not_packed_again(inputs):
    library, memory = {"path": "/lib/python3/site-packages/numpy/a.so"}, b"\0asm of a".rjust(PAGE, b"-")
    content, _ = snapshot.packed({"heap": PAGE, "libraries": [library]}, b"head" * 36 + memory, bytes(PAGE), inputs[1])
    assert gzip.decompress(content) == memory and (library["at"], library["size"]) == (PAGE - 9, 9)


def made(*arguments):
    return {"heap": PAGE, "libraries": []}, b"h" * 16 + b"m" * PAGE, b"f" * PAGE


def test_one_snapshot_is_reused_until_one_of_its_inputs_changes(inputs, monkeypatch):
    calls = []
    monkeypatch.setattr(snapshot, "make", lambda *arguments: calls.append(1) or made())
    first = snapshot.pieces(*inputs, os.environ)
    assert snapshot.pieces(*inputs, os.environ) == first and len(calls) == 1
    (inputs[0] / "pyodide.asm.wasm").write_text("another build")
    snapshot.pieces(*inputs, os.environ)
    assert len(calls) == 2
    (snapshot.SITE / "vendor" / "python.zip").write_text("our modules, one of them changed")
    snapshot.pieces(*inputs, os.environ)
    assert len(calls) == 3


def test_the_snapshot_record_names_the_pack_by_its_contents(inputs, monkeypatch):
    monkeypatch.setattr(snapshot, "make", made)
    pieces = snapshot.pieces(*inputs, os.environ)
    record = json.loads(pieces.pop("snapshot.json"))
    assert list(pieces) == [record["pack"]]
    assert fetch.sum_of(pieces[record["pack"]])[:12] in record["pack"]


def test_a_failed_snapshot_process_is_reported_by_the_last_line_of_its_error(inputs, monkeypatch, tmp_path):
    """Node itself, with a maker that fails as Pyodide does when Python raises."""
    traceback = (
        "Traceback (most recent call last):\\n  File x\\nRuntimeError: widgets/x.py raised in Pyodide: KeyError: 3"
    )
    maker = tmp_path / "maker.mjs"
    maker.write_text(f'console.error("{traceback}"); process.exitCode = 1;')
    monkeypatch.setattr(snapshot, "MAKER", maker)
    with pytest.raises(Stop, match=r"was not made: widgets/x.py raised in Pyodide: KeyError: 3$"):
        snapshot.pieces(*inputs, environment.with_node())


def test_a_snapshot_process_that_hangs_is_stopped(inputs, monkeypatch, tmp_path):
    maker = tmp_path / "maker.mjs"
    maker.write_text("setInterval(() => {}, 1000);")
    monkeypatch.setattr(snapshot, "MAKER", maker)
    monkeypatch.setattr(snapshot, "SECONDS", 0.5)
    with pytest.raises(Stop, match=r"more than 0\.5 s"):
        snapshot.pieces(*inputs, environment.with_node())


def test_error_of_a_widget_names_its_file_the_error_and_the_line():
    """The function that every widget is called through, without the widgets."""
    head = snapshot.IMPORTS[snapshot.IMPORTS.index("def first") : snapshot.IMPORTS.index("for page in")]
    with pytest.raises(RuntimeError, match=r"^widgets/x\.py raised in Pyodide: KeyError: 'a' \(<string>, line \d+\)$"):
        exec(f"import traceback\n{head}first('widgets/x.py', lambda: {{}}['a'])", {})


@each_where_changed()
def test_no_widget_imports_or_opens_anything_that_the_snapshot_has_not(name):
    """What is imported or read while a widget runs would not be found: a snapshot has no files, and numpy puts off some
    of its imports.
    """
    done = subprocess.run(
        [sys.executable, "-c", snapshot.IMPORTS + RUN, name],
        cwd=snapshot.ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": "."},
    )
    assert (done.returncode, done.stdout.split()) == (0, []), done.stderr


@pytest.mark.slow
def test_simulation_modules_import_at_the_top_and_never_inside_a_function():
    for file in inputs_of_runs.closure(*(f"widgets.{name}.widget" for name in results.WIDGETS)):
        tree = ast.parse(file.read_text(encoding="utf-8")) if file.suffix == ".py" else ast.Module([])
        inside = [node for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for node in ast.walk(f)]
        assert not [node.lineno for node in inside if isinstance(node, ast.Import | ast.ImportFrom)], file


def test_the_patched_line_that_places_libraries_is_in_the_vendored_pyodide():
    linker = (vendor.VENDOR / vendor.LINKER).read_text(encoding="utf-8")
    assert linker.count(vendor.PATCH[1]) == 1 and vendor.PATCH[0] not in linker
