"""A memory snapshot of Python with numpy and what every page runs its widget by, so that pages need not start from
nothing: made by Node, whose WebAssembly begins as a browser's does.

WebAssembly memory is mostly zeros and things the reader's own instance has anyway; the rest is one gzip file, which
holds numpy's compiled libraries too. snapshot.json says what goes where; where it is empty the pages load Python the
plain way.

It holds no files: of Python's own modules it has imported those that any page uses. What one page alone needs of ours
comes beside it (page_parts.py), so the snapshot does not grow with the book.
"""

import gzip
import hashlib
import json
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

from tools.runtime import fetch, files, page_parts
from tools.runtime.messages import Stop, say

ROOT = fetch.ROOT
SITE, MAKER = ROOT / "site", ROOT / "tools" / "runtime" / "snapshot.mjs"
PAGE = 4096  # bytes compared and stored together
SECONDS = 300  # making one takes about ten, and several times that on a busy machine
# What comes at a first use is loaded beforehand, for a snapshot has no files to load it from later: every widget gives
# its first frame and its table, in a process of its own, and what that has imported of Python and numpy is the result.
SURVEY = """
import compileall, json, pathlib, py_compile, sys, traceback, zipfile
known = set(sys.modules)
from widgets.frame.reader import doctor, host, pages, reader_code, reader_worker, rollouts

def first(file, use):
    try:
        use()
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error} ({at.filename}, line {at.lineno})"
        raise RuntimeError(f"{file} raised in Pyodide: {said}") from None

for page in pages.having("widget"):
    first(f"widgets/{page}/widget.py", lambda: host.table(page, next(host.stream(page))))
for name, offer in reader_worker.OFFERS.items():
    first(offer.__name__, lambda: (reader_code.ours(offer), next(reader_worker.stream(name, "raise ValueError"))))
first("widgets/frame/reader/doctor.py", doctor.warmed)
first("widgets/frame/reader/rollouts.py", rollouts.warmed)
try:
    [][5]
except IndexError:
    traceback.format_exc()                  # what errors are written with
"""
# as a page has our modules: compiled, without their sources
COMPILED = """
as_named = py_compile.PycInvalidationMode.UNCHECKED_HASH  # no times in the files
with zipfile.ZipFile("compiled", "w") as archive:
    for top in ("sim", "rlpt", "widgets"):
        compileall.compile_dir(top, quiet=1, legacy=True, invalidation_mode=as_named)
        for file in sorted(pathlib.Path(top).rglob("*.pyc")):
            archive.write(file)
others = [name for name in sys.modules if name not in known and not name.startswith(("sim", "rlpt", "widgets"))]
json.dumps(sorted(name for name in others if sys.modules[name].__spec__))  # Cython's own have no file
"""
BASE = """
import gc, importlib, sys
for name in {names}:
    importlib.import_module(name)
from widgets.frame.reader import host
gc.collect()
"""


def pieces(pyodide, wheel, node):
    """The files for site/vendor/ by name, from the cache if nothing they are made of has changed; `node` is an
    environment whose PATH has Node. Stop where the snapshot cannot be made.
    """
    key = made_from(
        [
            *sorted(pyodide.glob("pyodide*")),
            pyodide / "python_stdlib.zip",
            wheel,
            SITE / "vendor" / "python.zip",
            SITE / "assets" / "snapshot.js",
            MAKER,
            Path(__file__),
        ]
    )
    record, pack, parts = (fetch.CACHE / f"snapshot-{key}.{kind}" for kind in ("json", "bin", "zip"))
    if not (record.exists() and pack.exists() and parts.exists()):
        names, compiled = survey(wheel, node)
        content, what = packed(*make(wheel, node, names), wheel)
        for old in fetch.CACHE.glob("snapshot-*"):
            old.unlink()
        files.write(pack, content)
        files.write(parts, compiled)
        files.write(record, json.dumps(what, separators=(",", ":")).encode())
    what, content = json.loads(record.read_text(encoding="utf-8")), pack.read_bytes()
    what["pack"] = f"snapshot-{hashlib.sha256(content).hexdigest()[:12]}.bin"
    what["total"] = len(content)
    return {
        "snapshot.json": json.dumps(what, separators=(",", ":")).encode(),
        what["pack"]: content,
        **page_parts.packed(parts.read_bytes()),
    }


def made_from(paths):
    total = hashlib.sha256()
    for path in paths:
        total.update(f"{path.name} {files.sha256(path)}\n".encode())
    return total.hexdigest()[:16]


def survey(wheel, node):
    """(names of the modules of Python and numpy that the pages use, an archive of all our modules, compiled)."""
    say("Running every widget in Pyodide")
    return taken(wheel, node, SURVEY + COMPILED, "survey", lambda of: (json.loads(of("modules.json")), of("compiled")))


def make(wheel, node, names):
    """(record, memory, fresh memory) as the maker writes them."""
    say("Making the snapshot of Python with numpy")
    code = BASE.format(names=names)
    return taken(wheel, node, code, "snapshot", lambda of: (json.loads(of("record.json")), of("memory"), of("fresh")))


def taken(wheel, node, code, what, take):
    """What `take` makes of the files that the maker writes; Stop, with the last line of its error, if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        words = [shutil.which("node", path=node["PATH"]), str(MAKER), str(wheel), folder, what]
        try:
            done = subprocess.run(words, input=code.encode(), env=node, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise Stop(f"The snapshot of Python was not made: it took more than {SECONDS} s.") from None
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            reason = lines[-1].removeprefix("RuntimeError: ") if lines else f"Node ended with {done.returncode}"
            raise Stop(f"The snapshot of Python was not made: {reason}")
        return take(lambda name: Path(folder, name).read_bytes())


def packed(record, memory, fresh, wheel):
    """(gzip file, record): the pages that a fresh instance's memory has not, and the libraries; the record holds the
    snapshot's head.
    """
    head, body, stored = len(memory) - record["heap"], bytearray(), []
    for at in range(0, record["heap"], PAGE):
        page = memory[head + at : head + at + PAGE]
        if page != fresh[at : at + PAGE]:
            extend(stored, at)
            body += page
    with zipfile.ZipFile(wheel) as archive:
        for library in record["libraries"]:
            content = archive.read(library["path"].partition("/site-packages/")[2])
            at = body.find(content)  # the interpreter keeps the file of a library that it has loaded
            if at < 0:
                at = len(body)
                body += content
            library.update(at=at, size=len(content))
    lock = json.loads((SITE / "vendor" / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    pack = gzip.compress(bytes(body), 6, mtime=0)  # level 9 takes four times as long for one percent
    return pack, {
        **record,
        "head": list(memory[:head]),
        "stored": stored,
        "lock": {"info": lock["info"], "packages": {}},
    }


def extend(ranges, at):
    """One more page, in the range it continues or in a new one."""
    if ranges and sum(ranges[-1]) == at:
        ranges[-1][1] += PAGE
    else:
        ranges.append([at, PAGE])
