"""Build the pages into a directory that is complete at every moment."""

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
import time
from pathlib import Path

from tools.pages import links
from tools.runtime import environment, files, offline, vendor
from tools.runtime.fetch import CACHE, ROOT
from tools.runtime.messages import Stop, say

SOURCES = [
    "lessons",
    "widgets",
    "rlpt",
    "sim",
    "site",
    "tests",
    "tools",
    "mkdocs.yml",
    "build.py",
    "requirements.txt",
    "requirements-pictures.txt",
    "requirements-zensical.txt",
    "package-lock.json",
]
GENERATORS = {  # name: what is installed for it, how it is started; both read mkdocs.yml
    "mkdocs": (
        ["requirements.txt", "requirements-pictures.txt"],
        ["mkdocs", "build", "--strict"],
    ),  # --quiet would make --strict deaf to warnings
    "zensical": (
        ["requirements.txt", "requirements-pictures.txt", "requirements-zensical.txt"],
        ["zensical", "build", "--strict", "--clean"],  # its cache sees changes of the Markdown alone
    ),
}
STAMP = ".built-from"
UNSAID = re.compile(
    r"INFO |Build (started|finished)|(No|\d+) issues? found|\s*(\d+ )?[│─]"
)  # Zensical draws its warnings
A_LESSON = re.compile(
    r"lessons/(\S+, line \d+: the fence|[^\s{]+\.md (needs|stands)|[^\s{]+\.yml\b).+"
)  # as tools/pages/ says it
FAILED = "The pages were not built: the messages above say where. The pages built before are as they were."


def build(out, address=None, generator="mkdocs", strict=False):
    """The pages at `out`, to be served under `address` (as mkdocs.yml says if None); nothing happens if they are there
    already. Without a snapshot of Python they are built all the same, and again by the next build; with `strict`, and
    where CI is set, they are not.
    """
    made_from = stamp(address, generator)
    lists, command = GENERATORS[generator]
    with contextlib.suppress(OSError):
        if (out / STAMP).read_text(encoding="utf-8") == made_from:
            return
    python, node = environment.install(*lists), environment.with_node()
    started = time.monotonic()
    strict = strict or bool(os.environ.get("CI"))
    whole = vendor.fill(node, lambda: environment.install("requirements-fetch.txt"), strict)
    with workplace() as place:
        new = place / "site"
        say(f"Building the pages; lessons: {len(list((ROOT / 'lessons').glob('[0-9]*.md')))}")
        variables = {
            **node,
            "SITE_DIR": str(new),
            "NO_MKDOCS_2_WARNING": "1",
            "PYTHONUTF8": "1",
            **({"SITE_URL": address} if address else {}),
        }
        step([python, "-m", "tools.pages.precompute"], variables)
        step([python, "-m", *command], variables)
        step([python, "-m", "tools.pages.postprocess", new], variables)
        offline.seal(new)
        if nowhere := list(links.broken(new)):
            say("\n".join(f"  {sentence}" for sentence in nowhere))
            raise Stop(FAILED)
        if whole:
            (new / STAMP).write_text(made_from, encoding="utf-8")
        files.exchange(new, out, place / "old")
    pages = [path for path in out.rglob("*") if path.is_file()]
    say(
        f"{out.relative_to(ROOT).as_posix()}/: {sum(path.suffix == '.html' for path in pages)} pages, "
        f"{sum(path.stat().st_size for path in pages) / 1e6:.1f} MB, built in {time.monotonic() - started:.1f} s"
    )


def step(command, variables):
    """Runs one step of the build. Warnings and what they list are shown as they come. From the first error on all lines
    are held back until the step has ended: a lesson's error is one sentence, shown without the traceback around it.
    """
    held_back, listing = [], False

    def is_shown(line):
        nonlocal listing
        if held_back or line.startswith(("ERROR", "Traceback")):
            held_back.append(line.rstrip())
            return False
        if line.startswith("  - "):
            return listing
        listing = line.startswith("WARNING")
        return line.strip() and not UNSAID.match(line)

    status, lines = environment.run(command, env=variables, shown=is_shown)
    if status:
        sentences = [match[0] for line in held_back if (match := A_LESSON.search(line))]
        if held_back and not held_back[-1].endswith("--strict flag is set"):  # Zensical's last word after its warnings
            say("\n".join(f"  {line}" for line in sentences[:1] or held_back))
        if any("No space left on device" in line for line in lines):
            raise Stop("No space left on device")
        raise Stop(FAILED)


@contextlib.contextmanager
def workplace():
    """A directory of this build alone, on the pages' file system; what killed builds left is removed after an hour."""
    CACHE.mkdir(exist_ok=True)
    for abandoned in CACHE.glob("build-*"):
        if time.time() - abandoned.stat().st_mtime > 3600:
            shutil.rmtree(abandoned, ignore_errors=True)
    place = Path(tempfile.mkdtemp(prefix="build-", dir=CACHE))
    place.chmod(0o755)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def stamp(address, generator):
    """One sum over every source file's name and content, the address and the generator."""
    total = hashlib.sha256(repr((address or os.environ.get("SITE_URL"), generator)).encode())
    for path in sources():
        total.update(f"{path.relative_to(ROOT).as_posix()}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def sources():
    """The files the pages are made from, sorted."""
    for name in SOURCES:
        top = ROOT / name
        paths = [top] if top.is_file() else sorted(path for path in top.rglob("*") if path.is_file())
        yield from (path for path in paths if not ignored(path.relative_to(ROOT)))


def ignored(path):
    return (
        path.parts[:2] == ("site", "vendor")
        or "__pycache__" in path.parts
        or any(p.startswith((".", "#")) or p.endswith("~") for p in path.parts)
    )
