"""Project commands: serve, build, test, new, numbers, mutate, spreads.

    python build.py serve   build the pages, show them at http://127.0.0.1:8000/, and build again when a source changes
    python build.py build   build the pages into _site/, ready to be put on any static host;
                            --zip also packs them into rl-post-training.zip, to be handed on and read without a network;
                            --with zensical makes them with Zensical in place of MkDocs
    python build.py test    run the linter and the tests, the browser's included; further words go to pytest
                            (tests/sim -k kl); --browsers all also looks at the book in Firefox and WebKitGTK,
                            --native leaves out what needs a browser or Pyodide;
                            --nightly also runs what is left to the night, all of it or one part: native, pyodide,
                            browser-1, browser-2, others (Firefox and WebKitGTK), zensical
    python build.py new     lesson 09a-entropy-bonus: write the files of a lesson, to be filled in, and its line in the
                            navigation; --sim estimators/entropy_bonus adds a module of sim/ with its test;
                            exercise, essay and reference are the other kinds of pages
    python build.py numbers list the numbers of the lessons, or of those named (05 13), that are bound to no expression
    python build.py mutate  change one thing at a time in the modules that differ from main, or in those named, and
                            print each change that their tests do not notice; --minutes 5 limits it
    python build.py spreads measure what lessons state over twenty seeds, where its code has changed, or in the lessons
                            named (05 13), and keep the values in tests/lessons/data/

Needs Python 3.11 or newer and, for the first start, a network; everything it fetches stays inside this directory, apart
from one cached file in ~/.cache/rl-post-training. SITE_URL names the address the pages of `build` will have; BASE the
commit from which `test` counts what has changed (tests/skip_unchanged.py).
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
OTHERS = "tests/browser/test_other_browsers.py"
ZENSICAL = "tests/build/test_zensical.py"
NATIVE = ["--ignore=tests/browser", "--ignore=tests/pyodide"]
# of node_modules/: what the browser tests run, and the pages never see
CHECKERS = ["axe-core/axe.min.js", "html-validate/bin/html-validate.mjs"]


def serve():
    from tools import book
    from tools.runtime import environment
    from tools.runtime.messages import say
    from tools.runtime.serve import Server

    environment.install("requirements.txt")
    before, server = state(), Server(ROOT / "_site", live=True)
    book.build(ROOT / "_site", server.address)
    with server:
        say(
            ("" if server.port == 8000 else f"Port 8000 is taken, so this is {server.port}. ")
            + f"The book is at {server.address} (Ctrl-C stops)"
        )
        rebuild_on_change(server, before)


def state():
    """When each source file was last written, and its size."""
    from tools import book

    files = {}
    for path in book.sources():
        with contextlib.suppress(OSError):  # it went away between listing and looking
            files[path.relative_to(ROOT).as_posix()] = path.stat().st_mtime_ns, path.stat().st_size
    return files


def rebuild_on_change(server, before):
    """Builds again whenever a source differs from `before`, in a fresh process, which imports what was changed."""
    while True:
        time.sleep(0.5)
        current = state()
        if current != before:
            changed = sorted(path for path in {*current, *before} if current.get(path) != before.get(path))
            print(f"Changed: {', '.join(changed[:3])}{' …' if len(changed) > 3 else ''}", flush=True)
            before = current
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

    generator = "zensical" if "--with" in options else "mkdocs"
    book.build(ROOT / "_site", generator=generator, strict="--zip" in options)
    if "--zip" in options:
        offline.archive(ROOT / "_site", ROOT / "rl-post-training.zip")


def parts_of_the_night():
    """{name: words for pytest}: the jobs of the nightly workflow, which together run every test."""
    browser = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "tests" / "browser").glob("test_*.py"))]
    browser.remove(OTHERS)
    return {
        "native": [*NATIVE, f"--ignore={ZENSICAL}"],
        "pyodide": ["tests/pyodide"],
        "browser-1": browser[::2],
        "browser-2": browser[1::2],
        "others": [OTHERS],
        "zensical": [ZENSICAL],
    }


def test(*arguments):
    """Runs the linter, mypy and pytest. For the browser tests the book is built and served: its address is $BOOK_URL,
    its files are in $BOOK_SITE, the browsers $CHROMIUM, $FIREFOX and $WEBKIT (on the screen $SCREEN).
    """
    from tools import book
    from tools.runtime import environment, fetch, vendor
    from tools.runtime.messages import say
    from tools.runtime.serve import Server

    nightly, other_browsers, selected, words = test_options(arguments)
    python = environment.install(*(f"requirements{name}.txt" for name in ("", "-pictures", "-test", "-zensical")))
    lint = 0
    for checker in (["ruff", "check", "--quiet", "."], ["mypy", "--no-error-summary"]):
        if subprocess.run([python, "-m", *checker], cwd=ROOT).returncode:
            say(f"{checker[0]} has found the above; the tests run all the same")
            lint = 1
    variables = {**os.environ, "PYTHONUTF8": "1", **({"NIGHTLY": "1"} if nightly else {})}
    parallel = ("-n", str(min(4, os.cpu_count() or 1)), "--dist", "worksteal")
    pytest = [python, "-m", "pytest", *selected, *(words or parallel)]
    if not browser_asked_for([*selected, *words]):
        return subprocess.run(pytest, cwd=ROOT, env=variables).returncode or lint
    site = ROOT / "_cache" / "tested-site"
    with Server(site, port=8500, base="/rl-post-training/") as server:  # below a path, as on GitHub Pages
        variables.update(
            CHROMIUM=environment.chromium(),
            BOOK_URL=server.address,
            BOOK_SITE=str(site),
            **(environment.other_browsers() if other_browsers else {}),
        )
        fetch.npm_packages([*vendor.TAKEN, *CHECKERS], environment.with_node())
        book.build(site, server.address, strict=True)
        return subprocess.run(pytest, cwd=ROOT, env=variables).returncode or lint


def test_options(arguments):
    """(at night, other browsers too, the words for pytest that our options stand for, those that were given)."""
    from tools.runtime.messages import Stop

    parts, words, options = parts_of_the_night(), list(arguments), {}
    values = {"--nightly": parts, "--browsers": ["all"], "--native": []}
    while words and words[0] in values:
        option = words.pop(0)
        options[option] = words.pop(0) if words and words[0] in values[option] else ""
    if options.get("--browsers") == "" or values.keys() & set(words):
        raise Stop(
            "The options stand before the words for pytest: --nightly, perhaps with a part "
            f"({', '.join(parts)}), --browsers all, --native."
        )
    part = options.get("--nightly")
    selected = parts[part] if part else NATIVE if "--native" in options else []
    return "--nightly" in options, "--browsers" in options or part == "others", selected, words


def browser_asked_for(arguments):
    """Whether pytest with these words comes to tests/browser: it is not ignored, and no path leads elsewhere only."""
    paths = [
        (ROOT / word.partition("::")[0]).resolve()
        for word in arguments
        if not word.startswith("-") and (ROOT / word.partition("::")[0]).exists()
    ]
    browser = ROOT / "tests" / "browser"
    if "--ignore=tests/browser" in arguments:
        return False
    return not paths or any(path == browser or browser in path.parents or path in browser.parents for path in paths)


def new(*words):
    from tools import new
    from tools.runtime.messages import Stop

    with_model = words[:1] == ("lesson",) and len(words) == 4 and words[2] == "--sim"
    if words[:1] not in [(kind,) for kind in new.KINDS] or not (len(words) == 2 or with_model):
        raise Stop(new.FORM)
    new.page(*words[:2], *words[3:])


def numbers(*lessons):
    return with_tests_installed("tools.unbound", *lessons)


def mutate(*words):
    return with_tests_installed("tools.mutate", *words)


def spreads(*numbers):
    return with_tests_installed("tests.lessons.spreads", *numbers)


def with_tests_installed(module, *words):
    from tools.runtime import environment

    python = environment.install("requirements.txt", "requirements-test.txt")
    variables = {**os.environ, "PYTHONUTF8": "1"}
    return subprocess.run([python, "-m", module, *words], cwd=ROOT, env=variables).returncode


def main(verb="", *words):
    if sys.version_info < NEEDED:
        return (
            f"This needs Python {NEEDED[0]}.{NEEDED[1]} or newer; this is Python "
            f"{sys.version_info[0]}.{sys.version_info[1]} ({sys.executable})."
        )
    verbs = {
        "serve": serve,
        "build": build,
        "test": test,
        "new": new,
        "numbers": numbers,
        "mutate": mutate,
        "spreads": spreads,
    }
    if verb not in verbs or (verb == "serve" and words) or (verb == "build" and " ".join(words) not in BUILDS):
        print(__doc__.strip())
        return 0 if verb in ("", "help", "-h", "--help") else 2
    from tools.runtime.messages import Stop

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
