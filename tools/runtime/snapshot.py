"""A memory snapshot of Python with numpy and our modules imported, so that pages need not start from nothing: made in a
headless Chromium.

WebAssembly memory is mostly zeros and things the reader's own instance has anyway; the rest is one gzip file, which
holds numpy's compiled libraries too. snapshot.json says what goes where; where it is empty the pages load Python the
plain way.

It holds no files, and none come after it: sim/ and widgets/ are in it as imported modules, and a change there makes it
anew, which takes some seconds.
"""

import contextlib
import gzip
import hashlib
import http.server
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import zipfile
from pathlib import Path

from tools.runtime import environment, fetch, files
from tools.runtime.messages import say

ROOT = fetch.ROOT
SITE, MAKER = ROOT / "site", ROOT / "tools" / "runtime" / "snapshot.mjs"
PAGE = 4096  # bytes compared and stored together
SECONDS = 120  # making one takes about ten
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Every widget gives its first frame and its table, so that all is there that comes at a first use: modules, and the
# policies that are read from files.
IMPORTS = """
import gc, random, traceback
from widgets.frame import doctor, host, pages, reader_code, reader_patch, reader_worker
for page in pages.having("widget"):
    host.table(page, next(host.stream(page)))
for name, offer in reader_worker.OFFERS.items():
    reader_code.ours(offer)
    next(reader_worker.stream(name, "raise ValueError"))
doctor.warmed()
try:
    [][5]
except IndexError:
    traceback.format_exc()                  # what errors are written with
gc.collect()
"""


def possible():
    """Whether there is a browser to try with; whether it starts is seen then."""
    return bool(os.environ.get("CHROMIUM") or any(map(shutil.which, environment.CHROMIUMS)))


def pieces(pyodide, wheel):
    """The files for site/vendor/ by name, from the cache if nothing they are made of has changed."""
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
        made = possible() and make(wheel)
        if not made:
            say(
                "The pages will start Python the plain way, which takes about three times as long"
                + (
                    ""
                    if possible()
                    else ": the snapshot for the quick way is made in a Chromium, and there is none on this machine"
                )
            )
            return {"snapshot.json": b"{}"}
        content, what = packed(*made, wheel)
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


def make(wheel):
    """(record, memory, fresh memory) as the maker posts them, or None and a sentence."""
    posted, ended = {}, threading.Event()
    pages = {
        "/": ("text/html", b'<script type="module">new Worker("/maker.mjs", { type: "module" })</script>'),
        "/maker.mjs": ("text/javascript", MAKER.read_bytes()),
        "/imports.py": ("text/x-python", IMPORTS.encode()),
        "/numpy.whl": ("application/zip", wheel.read_bytes()),
    }

    class Handler(http.server.SimpleHTTPRequestHandler):
        extensions_map = {
            ".js": "text/javascript",
            ".mjs": "text/javascript",
            ".wasm": "application/wasm",
            "": "application/octet-stream",
        }

        def __init__(self, *request):
            super().__init__(*request, directory=str(SITE))

        def do_GET(self):
            if self.path not in pages:
                return super().do_GET()
            kind, content = pages[self.path]
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self):
            posted[self.path.removeprefix("/made/")] = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(204)
            self.end_headers()
            if self.path == "/made/end":
                ended.set()

        def log_message(self, *words):
            pass

    say("Making the snapshot of Python with numpy")
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server,
    ):
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, environment.CHROMIUMS)))
        try:
            with started([browser, *FLAGS, f"--user-data-dir={profile}", f"http://127.0.0.1:{server.server_port}/"]):
                ended.wait(SECONDS)
        except OSError as error:
            posted["end"] = str(error).encode()
        finally:
            server.shutdown()
    if posted.get("end", b"it did not answer"):
        return say(
            f"{browser} could not make it: {posted.get('end', b'it did not answer').decode().partition(chr(10))[0]}"
        )
    return json.loads(posted["record"]), posted["memory"], posted["fresh"]


@contextlib.contextmanager
def started(command):
    """A program that ends with the block, and with it all that it has started: Debian's chromium is a script, which
    leaves its browser behind.
    """
    quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with subprocess.Popen(command, **quiet, start_new_session=True) as process:
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):  # it has ended by itself
                if os.name == "nt":
                    process.terminate()
                else:
                    os.killpg(process.pid, signal.SIGTERM)


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
