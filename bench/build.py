"""What building and testing the book costs on this machine: python bench/build.py [--native] [--browsers]

It builds a copy of the tree: afresh (with all downloads there), again with nothing changed, and after a line more in
the prose and in modules of sim/. --native and --browsers add the tests, the second time with nothing changed since.
Processor seconds count every process that was started, and hold on a busy machine where seconds do not.
"""

import argparse
import contextlib
import ctypes
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MADE = (".git", ".venv", ".pytest_cache", ".ruff_cache", "__pycache__", "_cache", "_site", "node_modules", "vendor")
LINKED = (".venv", "node_modules")  # downloads, which a build only reads
CHANGED = {
    "lessons/10-ppo.md": "\nOne line more.\n",
    "sim/cluster/straggler.py": "\nONE_LINE = 1\n",
    "sim/framework/weight_sync.py": "\nONE_LINE = 1\n",
    "sim/worlds/modsum.py": "\nONE_LINE = 1\n",
}
BECOME_SUBREAPER = 36  # prctl's: processes whose parent has ended become ours, so that their time counts


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--native", action="store_true", help="the tests without a browser too, twice")
    asked.add_argument("--browsers", action="store_true", help="the whole test command with all browsers too, twice")
    wanted = asked.parse_args()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(BECOME_SUBREAPER, 1, 0, 0, 0)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print(f"{'':44}{'processor s':>12}{'s':>8}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        tree = copy(Path(place) / "book")
        build = [sys.executable, "build.py", "build"]
        measured("fresh, with all downloads there", build, tree)
        measured("nothing changed", build, tree)
        for file, line in CHANGED.items():
            with open(tree / file, "a", encoding="utf-8") as changed:
                changed.write(line)
            measured(f"a line more in {file}", build, tree)
        test = [sys.executable, "build.py", "test"]
        if wanted.native:
            measured("test --native", [*test, "--native"], tree)
            measured("the same, nothing changed", [*test, "--native"], tree)
        if wanted.browsers:
            measured("test --browsers all", [*test, "--browsers", "all"], tree)
            measured("the same, nothing changed", [*test, "--browsers", "all"], tree)


def copy(tree):
    """The sources of this tree, its downloads, and nothing that was made from them."""
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*MADE))
    for name in LINKED:
        (tree / name).symlink_to(ROOT / name, target_is_directory=True)
    for wheel in (ROOT / "_cache").glob("*.whl"):
        (tree / "_cache").mkdir(exist_ok=True)
        shutil.copy(wheel, tree / "_cache")
    return tree


def measured(words, command, tree):
    before, started = used(), time.monotonic()
    with open(tree.parent / "said.txt", "w", encoding="utf-8") as said:
        status = subprocess.run(command, cwd=tree, stdout=said, stderr=subprocess.STDOUT).returncode
    collect()
    seconds = time.monotonic() - started
    print(f"{words:44}{used() - before:12.1f}{seconds:8.1f}{f'  ended with {status}' if status else ''}", flush=True)
    if status:
        print("".join(Path(said.name).read_text(encoding="utf-8").splitlines(keepends=True)[-12:]))


def used():
    """Processor seconds of the processes that were started and have ended; 0 on Windows, which does not tell."""
    return os.times().children_user + os.times().children_system


def collect():
    """Wait for those whose parents have ended, such as a browser's, for ten seconds at the most."""
    until = time.monotonic() + 10
    with contextlib.suppress(ChildProcessError, AttributeError):  # none is left; Windows has no WNOHANG
        while time.monotonic() < until:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.1)


if __name__ == "__main__":
    main()
