"""The snapshot and the parts of pages: what they are made from, what they hold, and what is said when they cannot be
made. That browsers start from them is tested in tests/browser/test_snapshot.py.
"""

import ast
import gzip
import io
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
from tools.runtime import environment, fetch, page_parts, snapshot, vendor
from tools.runtime.messages import Stop

PAGE, PARTS = snapshot.PAGE, page_parts.modules()
RUN = """
import builtins, io, os
from dataclasses import fields
from itertools import islice
from urllib.parse import parse_qsl
from tools.runtime import page_parts
from widgets.frame.contract.values import query, spelled
name, base = sys.argv[1], {str(file) for file in page_parts.inputs.closure(page_parts.BASE)}
part = {str(file) for file in page_parts.contents(name)}
ours = [module for module in sys.modules if module.partition(".")[0] in ("sim", "rlpt", "widgets")]
for module in ours:
    if sys.modules[module].__file__ not in base:
        del sys.modules[module]
known, plain = set(sys.modules), io.open
def of_the_part(path, *how, **more):
    if str(path) not in part:
        raise FileNotFoundError(path)
    return plain(path, *how, **more)
builtins.open = io.open = of_the_part
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
files = {module: sys.modules[module].__file__ for module in {*sys.modules} - known}  # a page's folder has none
print(*(module for module, file in files.items() if file and file not in part))
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
    monkeypatch.setattr(snapshot, "survey", lambda *arguments: (["html"], b"compiled"))
    monkeypatch.setattr(page_parts, "packed", lambda compiled: {"parts/a.part": compiled})
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
    for start, length in record["stored"]:  # as site/assets/snapshot.js puts them into a fresh instance
        fresh[start : start + length] = body[at : at + length]
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
    assert list(pieces) == [record["pack"], "parts/a.part"]
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
    head = snapshot.SURVEY[snapshot.SURVEY.index("def first") : snapshot.SURVEY.index("for page in")]
    with pytest.raises(RuntimeError, match=r"^widgets/x\.py raised in Pyodide: KeyError: 'a' \(<string>, line \d+\)$"):
        exec(f"import traceback\n{head}first('widgets/x.py', lambda: {{}}['a'])", {})


@each_where_changed()
def test_no_widget_imports_or_opens_anything_that_neither_the_snapshot_nor_its_part_has(name):
    """What is imported or read while a widget runs would not be found in the browser, and numpy puts off some of its
    imports.
    """
    done = subprocess.run(
        [sys.executable, "-c", snapshot.SURVEY + RUN, name],
        cwd=snapshot.ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": "."},
    )
    assert (done.returncode, done.stdout.split()) == (0, []), done.stderr


@pytest.mark.slow
def test_a_part_has_its_widget_and_nothing_of_another_page_but_what_that_imports():
    parts = {part: {file.relative_to(snapshot.ROOT).as_posix() for file in page_parts.contents(part)} for part in PARTS}
    assert "widgets/ppo/widget.py" in parts["ppo"] and "rlpt/doctor/events.py" in parts["doctor"]
    assert not [name for name in parts["kv_cache"] if name.startswith(("rlpt/doctor/", "sim/worlds/", "widgets/ppo/"))]


@pytest.mark.slow
def test_parts_are_the_same_bytes_from_the_same_modules(tmp_path):
    names = {f"{file.relative_to(snapshot.ROOT).as_posix()}c" for part in PARTS for file in page_parts.contents(part)}
    compiled = io.BytesIO()
    with zipfile.ZipFile(compiled, "w") as archive:
        for name in sorted(name for name in names if name.endswith(".pyc")):
            archive.writestr(name, name)
    once, again = (page_parts.packed(compiled.getvalue()) for _ in range(2))
    assert once == again and set(once) == {f"parts/{part}.part" for part in PARTS}
    with zipfile.ZipFile(io.BytesIO(once["parts/kl_estimators.part"])) as part:
        assert part.read("widgets/kl_estimators/widget.pyc") == b"widgets/kl_estimators/widget.pyc"


@pytest.mark.slow
def test_simulation_modules_import_at_the_top_and_never_inside_a_function():
    for file in inputs_of_runs.closure(*(f"widgets.{name}.widget" for name in results.WIDGETS)):
        tree = ast.parse(file.read_text(encoding="utf-8")) if file.suffix == ".py" else ast.Module([])
        inside = [node for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for node in ast.walk(f)]
        assert not [node.lineno for node in inside if isinstance(node, ast.Import | ast.ImportFrom)], file


def test_the_patched_line_that_places_libraries_is_in_the_vendored_pyodide():
    linker = (vendor.VENDOR / vendor.LINKER).read_text(encoding="utf-8")
    assert linker.count(vendor.PATCH[1]) == 1 and vendor.PATCH[0] not in linker
