"""What happens before the reader arrives.

    python build.py serve   build the pages, show them at http://127.0.0.1:8000/, and build again when a source changes
    python build.py build   build the pages into _site/, ready to be put on any static host;
                            --zip also packs them into rl-post-training.zip, to be handed on and read without a network;
                            --with zensical makes them with Zensical in place of MkDocs
    python build.py test    run the linters and every test, the browser's included; further words go to pytest
                            (tests/sim -k kl); --browsers all also looks at the book in Firefox and WebKitGTK,
                            --native leaves out what needs a browser or Pyodide
    python build.py new     lesson 09a-entropy-bonus: the files of a lesson, to be filled in, and its line in the
                            navigation; --sim estimators/entropy_bonus adds a module of sim/ with its test
    python build.py mutate  change one thing at a time in the modules that differ from main, or in those named, and say
                            what their own tests do not notice; --minutes 5 bounds it

Needs Python 3.11 or newer and, for the first start, a network; everything it fetches stays inside this directory, apart
from one cached file in ~/.cache/rl-post-training. SITE_URL names the address the pages of `build` will have.
"""

import contextlib
import errno
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
NEEDED = (3, 11)
BUILDS = ("", "--zip", "--with zensical", "--with zensical --zip", "--zip --with zensical")
# of node_modules/: what the browser tests run, and the pages never see
CHECKERS = ["axe-core/axe.min.js", "html-validate/bin/html-validate.mjs"]


def serve():
    from tools import book
    from tools.runtime import environment
    from tools.runtime.say import say
    from tools.runtime.serve import Server

    environment.install("requirements.txt")
    seen, server = state(), Server(ROOT / "_site", live=True)
    book.build(ROOT / "_site", server.address)
    with server:
        say(
            ("" if server.port == 8000 else f"Port 8000 is taken, so this is {server.port}. ")
            + f"The book is at {server.address} (Ctrl-C stops)"
        )
        rebuild_on_change(server, seen)


def state():
    """When each source file was last written, and its size."""
    from tools import book

    found = {}
    for path in book.sources():
        with contextlib.suppress(OSError):  # it went away between listing and looking
            found[path.relative_to(ROOT).as_posix()] = path.stat().st_mtime_ns, path.stat().st_size
    return found


def rebuild_on_change(server, seen):
    """In a fresh process each time, which imports what was changed."""
    while True:
        time.sleep(0.5)
        now = state()
        if now != seen:
            changed = sorted(path for path in {*now, *seen} if now.get(path) != seen.get(path))
            print(f"Changed: {', '.join(changed[:3])}{' …' if len(changed) > 3 else ''}", flush=True)
            seen = now
            if (
                subprocess.run(
                    [sys.executable, str(ROOT / "build.py"), "build"], env={**os.environ, "SITE_URL": server.address}
                ).returncode
                == 0
            ):
                server.announce()


def build(*options):
    from tools import book
    from tools.runtime import offline

    book.build(ROOT / "_site", generator="zensical" if "--with" in options else "mkdocs")
    if "--zip" in options:
        offline.archive(ROOT / "_site", ROOT / "rl-post-training.zip")


def test(*arguments):
    """The browser tests find the pages at $BOOK_URL, their files in $BOOK_SITE, and the browsers in $CHROMIUM, $FIREFOX
    and $WEBKIT (on $SCREEN).
    """
    from tools import book
    from tools.runtime import environment, fetch, vendor
    from tools.runtime.say import Stop, say
    from tools.runtime.serve import Server

    others = arguments[:2] == ("--browsers", "all")
    arguments = arguments[2 * others :]
    if "--browsers" in arguments:
        raise Stop("It is --browsers all, before the words for pytest; without it the tests use Chromium alone.")
    python = environment.install(*(f"requirements{name}.txt" for name in ("", "-pictures", "-test", "-zensical")))
    checks = (("ruff", "check", "--quiet", "."), ("mypy", "--no-error-summary"))
    lint = max([subprocess.run([python, "-m", *words], cwd=ROOT).returncode for words in checks])
    if lint:
        say("ruff or mypy has found the above; the tests run all the same")
    variables = {**os.environ, "PYTHONUTF8": "1"}
    native, left_out = arguments[:1] == ("--native",), ()
    if native:
        arguments, left_out = arguments[1:], ("--ignore=tests/browser", "--ignore=tests/pyodide")
    parallel = ("-n", str(min(4, os.cpu_count() or 1)), "--dist", "worksteal")
    pytest = [python, "-m", "pytest", *left_out, *(arguments or parallel)]
    if native or not browser_asked_for(arguments):
        return subprocess.run(pytest, cwd=ROOT, env=variables).returncode or lint
    site = ROOT / "_cache" / "tested-site"
    with Server(site, port=8500, base="/rl-post-training/") as server:  # below a path, as on GitHub Pages
        variables.update(
            CHROMIUM=environment.chromium(),
            BOOK_URL=server.address,
            BOOK_SITE=str(site),
            **(environment.other_browsers() if others else {}),
        )
        fetch.npm_packages([*vendor.TAKEN, *CHECKERS], environment.with_node())
        book.build(site, server.address)
        return subprocess.run(pytest, cwd=ROOT, env=variables).returncode or lint


def browser_asked_for(arguments):
    """Not if every path given to pytest leaves tests/browser out."""
    paths = [
        (ROOT / word.partition("::")[0]).resolve()
        for word in arguments
        if not word.startswith("-") and (ROOT / word.partition("::")[0]).exists()
    ]
    browser = ROOT / "tests" / "browser"
    return not paths or any(path == browser or browser in path.parents or path in browser.parents for path in paths)


def new(*words):
    from tools import new
    from tools.runtime.say import Stop

    if words[:1] != ("lesson",) or len(words) not in (2, 4) or (len(words) == 4 and words[2] != "--sim"):
        raise Stop(new.FORM)
    new.lesson(words[1], *words[3:])


def mutate(*words):
    from tools.runtime import environment

    python = environment.install("requirements.txt", "requirements-test.txt")
    variables = {**os.environ, "PYTHONUTF8": "1"}
    return subprocess.run([python, "-m", "tools.mutate", *words], cwd=ROOT, env=variables).returncode


def main(verb="", *words):
    if sys.version_info < NEEDED:
        return (
            f"This needs Python {NEEDED[0]}.{NEEDED[1]} or newer; this is Python "
            f"{sys.version_info[0]}.{sys.version_info[1]} ({sys.executable})."
        )
    verbs = {"serve": serve, "build": build, "test": test, "new": new, "mutate": mutate}
    if verb not in verbs or (verb == "serve" and words) or (verb == "build" and " ".join(words) not in BUILDS):
        print(__doc__.strip())
        return 0 if verb in ("", "help", "-h", "--help") else 2
    from tools.runtime.say import Stop

    try:
        return verbs[verb](*words)
    except KeyboardInterrupt:
        print("\nStopped. Nothing is half done: the next start goes on from here.")
        return 130
    except (Stop, OSError) as error:
        if getattr(error, "errno", None) == errno.ENOSPC or "No space left" in str(error) or "ENOSPC" in str(error):
            return "The disk is full: nothing was left half written; free some space and start again."
        return (
            str(error) if isinstance(error, Stop) else f"{error.strerror or error}: {error.filename or 'no file named'}"
        )


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT)]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a terminal without a letter shows a question mark, and nothing stops
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # numpy's small matrices gain nothing from more, and builds and tests run side by side
    sys.exit(main(*sys.argv[1:]))
