"""Make built pages fit for life without a network: name what they run on by its content, list every file with its sum,
pack one archive.

assets/ and vendor/ move into one folder, build-1f3a5c7e90/, named by what is in them: an address below it never comes
to mean another file. So a browser keeps such a file for good, a page of an older build that is still open goes on with
its own files, and no page mixes two builds.
"""

import hashlib
import json
import re
import shutil
import zipfile

from tools.runtime import files
from tools.runtime.messages import say

RUNTIME = ("assets", "vendor")
UNASKED = (
    "*.map",
    "assets/javascripts/lunr/**/*.js",
    "sitemap.xml.gz",
)  # what no page asks for: source maps, stemmers of other languages
UNREAD = (".", "sw.js", "offline.json", "pictures/")  # what the service worker or another site asks for, and no reader
NAMED = re.compile(r'((?:href|src)="|"search": ?")((?:\.\.?/)*|/(?!/)(?:[^"\s>]*/)?)(?=(?:assets|vendor)/)')

README = """RL post-training, from first principles

Unpack this archive, open a terminal in the folder rl-post-training and start

    python -m http.server 8000 --bind 127.0.0.1

(python3 on macOS and Linux; any Python 3.8 or newer). Then open http://127.0.0.1:8000/ in a browser.
No network is needed.
A double click on index.html is not enough: browsers run no Python in pages that are opened as files.
"""


def seal(site):
    """Name the runtime of the pages by its content, in build-…/files.json and every page, and write the list of all
    files, offline.json.
    """
    for pattern in UNASKED:
        for path in site.rglob(pattern) if pattern.startswith("*") else site.glob(pattern):
            path.unlink()
    sums = {path: files.sha256(site / path) for path, _ in listed(site) if path.split("/")[0] in RUNTIME}
    record = json.dumps(sums, indent=0)
    build = f"build-{hashlib.sha256(record.encode()).hexdigest()[:10]}"
    for folder in RUNTIME:
        if (site / folder).exists():
            (site / build).mkdir(exist_ok=True)
            shutil.move(site / folder, site / build / folder)
    if sums:
        files.write(site / build / "files.json", record)
        for page in site.rglob("*.html"):
            page.write_text(NAMED.sub(rf"\g<1>\g<2>{build}/", page.read_text(encoding="utf-8")), encoding="utf-8")
    megabytes = sum(size for _, size in listed(site)) / 1e6
    index = site / "index.html"
    index.write_text(
        index.read_text(encoding="utf-8").replace('<span class="megabytes">?</span>', f"{megabytes:.0f}"),
        encoding="utf-8",
    )
    everything = [
        [path.removesuffix("index.html"), files.sha256(site / path), size]
        for path, size in listed(site)
        if path not in ("404.html", f"{build}/files.json")
    ]
    files.write(site / "offline.json", json.dumps({"build": build, "files": everything}, indent=0))


def listed(site):
    """Path and size of every file that a reader may ask for, sorted; what the service worker itself needs and the
    pictures for other sites are not among them.
    """
    for path in sorted(site.rglob("*"), key=lambda path: path.parts):  # the same order on Windows
        name = path.relative_to(site).as_posix()
        if path.is_file() and not name.startswith(UNREAD):
            yield name, path.stat().st_size


def archive(site, path):
    """The built pages and README.txt in one zip archive, below a folder of its name."""
    with files.replacing(path) as new, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(f"{path.stem}/README.txt", README)
        for name in ["sw.js", "offline.json", *(name for name, _ in listed(site))]:
            packed.write(site / name, f"{path.stem}/{name}")
    say(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB; README.txt inside says how it is started")
