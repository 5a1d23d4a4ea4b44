"""A memory snapshot of Python with numpy and our modules imported, so that pages need not start from nothing: made by
Node, whose WebAssembly begins as a browser's does.

WebAssembly memory is mostly zeros and things the reader's own instance has anyway; the rest is one gzip file, which
holds numpy's compiled libraries too. snapshot.json says what goes where; where it is empty the pages load Python the
plain way.

It holds no files, and none come after it: sim/ and widgets/ are in it as imported modules, and a change there makes it
anew, which takes some seconds. Nor does it hold what their runs have left in caches, which was more than all the rest.
"""

import gzip
import hashlib
import json
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

from tools.runtime import fetch, files
from tools.runtime.messages import Stop, say

ROOT = fetch.ROOT
SITE, MAKER = ROOT / "site", ROOT / "tools" / "runtime" / "snapshot.mjs"
PAGE = 4096  # bytes compared and stored together
SECONDS = 300  # making one takes about ten, and several times that on a busy machine
# Every widget gives its first frame and its table, so that all is there that comes at a first use: modules, and the
# policies that are read from files. What was computed for that is forgotten again.
IMPORTS = """
import gc, random, sys, traceback
from widgets.frame import doctor, host, pages, reader_code, reader_patch, reader_worker

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
first("widgets/frame/doctor.py", doctor.warmed)
try:
    [][5]
except IndexError:
    traceback.format_exc()                  # what errors are written with
reader_patch.forget([module for name, module in sys.modules.items() if name.startswith(("sim.", "widgets."))])
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
    record, pack = fetch.CACHE / f"snapshot-{key}.json", fetch.CACHE / f"snapshot-{key}.bin"
    if not (record.exists() and pack.exists()):
        content, what = packed(*make(wheel, node), wheel)
        for old in fetch.CACHE.glob("snapshot-*"):
            old.unlink()
        files.write(pack, content)
        files.write(record, json.dumps(what, separators=(",", ":")).encode())
    what, content = json.loads(record.read_text(encoding="utf-8")), pack.read_bytes()
    what["pack"] = f"snapshot-{hashlib.sha256(content).hexdigest()[:12]}.bin"
    what["total"] = len(content)
    return {"snapshot.json": json.dumps(what, separators=(",", ":")).encode(), what["pack"]: content}


def made_from(paths):
    total = hashlib.sha256()
    for path in paths:
        total.update(f"{path.name} {files.sha256(path)}\n".encode())
    return total.hexdigest()[:16]


def make(wheel, node):
    """(record, memory, fresh memory) as the maker writes them; Stop, with the last line of its error, if it fails."""
    say("Making the snapshot of Python with numpy")
    with tempfile.TemporaryDirectory() as folder:
        words = [shutil.which("node", path=node["PATH"]), str(MAKER), str(wheel), folder]
        try:
            done = subprocess.run(words, input=IMPORTS.encode(), env=node, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise Stop(f"The snapshot of Python was not made: it took more than {SECONDS} s.") from None
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            reason = lines[-1].removeprefix("RuntimeError: ") if lines else f"Node ended with {done.returncode}"
            raise Stop(f"The snapshot of Python was not made: {reason}")
        record, memory, fresh = (Path(folder, name).read_bytes() for name in ("record.json", "memory", "fresh"))
    return json.loads(record), memory, fresh


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
