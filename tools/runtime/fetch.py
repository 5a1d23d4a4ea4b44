"""The files of the runtime that are not ours, each held against a sum that is committed or published with it.

npm packages come by `npm ci`: package-lock.json holds their sums. numpy for wasm is in no npm package;
pyodide-lock.json names its wheel and the wheel's sum, and whichever source answers first is held to that.
"""

import hashlib
import json
import os
import shutil
import subprocess
import urllib.request
from pathlib import Path

from tools.runtime import files
from tools.runtime.messages import Progress, Stop, say

ROOT = Path(__file__).parents[2]
CACHE = ROOT / "_cache"
HOME = os.path.expanduser("~")  # stays "~" for a user who has none
SHARED = Path(os.environ.get("XDG_CACHE_HOME") or (f"{HOME}/.cache" if HOME != "~" else CACHE), "rl-post-training")
CDN = "https://cdn.jsdelivr.net/pyodide/v{version}/full/{name}"  # Pyodide's own distribution
CARRIER = ("open-webui", "0.12.4", "open_webui/frontend/pyodide/{name}")  # a package on PyPI that carries the same file


def npm_packages(wanted, node, *options):
    """node_modules/ as package-lock.json says; the files of `wanted` are summed after npm has checked them, so that
    later damage shows.

    `options` are those of npm ci: the pages need no devDependencies, the browser tests do.
    """
    lock, record = files.sha256(ROOT / "package-lock.json"), ROOT / "node_modules" / ".sums.json"
    try:
        recorded = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        recorded = {}
    if recorded.get("lock") == lock and all(
        recorded["sums"].get(name) == files.sha256(ROOT / "node_modules" / name) for name in wanted
    ):
        return recorded["sums"]
    say(
        "Installing npm packages: "
        + ", ".join(json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["dependencies"])
    )
    done = npm_ci(node, *options)
    if done.returncode and any(code in done.stderr for code in ("EACCES", "EPERM", "EROFS")):
        done = npm_ci(node, *options, f"--cache={CACHE / 'npm'}")  # its own is in a home that cannot be written to
    if done.returncode:
        reasons = [line.removeprefix("npm error ") for line in done.stderr.splitlines() if line.startswith("npm error")]
        raise Stop(
            "npm could not install the packages of package-lock.json "
            f"({'; '.join(reasons[:2]) or done.stderr.strip()[-200:]}); "
            "the first build needs a network that reaches the npm registry."
        )
    sums = {name: files.sha256(ROOT / "node_modules" / name) for name in wanted}
    if missing := [name for name, total in sums.items() if not total]:
        raise Stop(
            f"The installed npm packages lack {missing[0]}: package.json and tools/runtime/vendor.py name "
            "different versions."
        )
    files.write(record, json.dumps(dict(lock=lock, sums=sums), indent=1))
    return sums


def npm_ci(node, *options):
    words = ["ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", *options]
    return subprocess.run(
        [shutil.which("npm", path=node["PATH"]), *words],  # by its whole name, which on Windows is npm.cmd
        cwd=ROOT,
        env=node,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
    )


def numpy_wheel(python):
    """numpy for Pyodide as (path in the cache, its sum); `python()` is the environment's interpreter, needed for the
    last source only.
    """
    pyodide = ROOT / "node_modules" / "pyodide"
    numpy = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]["numpy"]
    name, sum_ = numpy["file_name"], numpy["sha256"]
    cdn = CDN.format(version=json.loads((pyodide / "package.json").read_text(encoding="utf-8"))["version"], name=name)
    package, release, member = CARRIER
    sources = [
        (f"{SHARED}", lambda new: shutil.copyfile(SHARED / name, new)),
        ("the Pyodide CDN", lambda new: downloaded(cdn, new)),
        (
            f"the wheel of {package} {release}",
            lambda new: carried(python(), package, release, member.format(name=name), new),
        ),
    ]
    return wheel(name, sum_, sources), sum_


def wheel(name, sum_, sources):
    """`name` in the cache with the sum it must have, from the first source that delivers that; what was tried is told
    if none does.
    """
    path, tried = CACHE / name, []
    if files.sha256(path) != sum_:
        if path.exists():
            say(f"_cache/{name} is damaged; fetching it again")
        for source, deliver in sources:
            try:
                with files.replacing(path) as new:
                    deliver(new)
                    if (got := files.sha256(new)) != sum_:
                        raise Stop(f"its sha256 is {got[:12]}…, not {sum_[:12]}…")
                break
            except (OSError, Stop) as error:
                if getattr(error, "errno", None) == 28:  # a full disk is not the source's fault
                    raise
                tried.append(f"{source} ({reason(error)})")
        else:
            raise Stop(
                f"{name} could not be fetched; tried {', '.join(tried)}: "
                f"put the file by hand at {path} (sha256 {sum_}) and start again."
            )
    keep(path, SHARED / name, sum_)
    return path


def reason(error):
    """The first line of what went wrong, without an address that may hold more than the reader wants."""
    error = getattr(error, "reason", error)
    return (
        "not there"
        if isinstance(error, FileNotFoundError)
        else (getattr(error, "strerror", None) or str(error)).strip().partition("\n")[0].partition(";")[0]
    )


def keep(path, shared, sum_):
    """A copy for the next clone; a home that cannot be written to is no obstacle."""
    try:
        if files.sha256(shared) != sum_:
            files.copy(path, shared)
    except OSError:
        pass


def downloaded(url, path):
    with urllib.request.urlopen(url, timeout=20) as answer, open(path, "wb") as file:
        progress = Progress(path.name, int(answer.headers.get("Content-Length") or 0))
        while block := answer.read(1 << 16):
            file.write(block)
            progress.add(len(block))
    progress.close()


def carried(python, package, release, member, path):
    """One member of a wheel on the package index, read by ranges where the index allows that."""
    say(f"Reading {member.rpartition('/')[2]} out of the wheel of {package} {release}")
    done = subprocess.run(
        [python, "-m", "tools.runtime.wheel_member", package, release, member, path],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    if done.returncode:
        raise Stop(done.stderr.strip().rpartition("\n")[2] or "no answer")


def sum_of(content):
    return hashlib.sha256(content).hexdigest()
