"""What numpy does in the reader's browser: the tests of the simulations and of the widgets once more, inside the
runtime that the pages bring along.

What has passed is left out until something that it depends on changes.
"""

import json
import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests import passed
from tests.widgets.catalogue import NAMES, frame_of
from tools.runtime import environment, files
from widgets.frame import host

ROOT = Path(__file__).parents[2]
GRID = "tests/widgets/frame/test_grid.py"  # hundreds of settings a page: natively alone
CONTRACT, PRESETS = "tests/widgets/frame/test_contract.py", "tests/pyodide/presets.py"
THERE = "ends or again or on_offer"  # of the contract: all else in it follows from what the presets read
ROOMS = sorted(folder.name for folder in (ROOT / "tests" / "sim").iterdir() if any(folder.glob("test_*.py")))
OWN = sorted(file.parent.name for file in (ROOT / "tests" / "widgets").glob("*/test_widget.py"))
# what every item depends on besides the modules it imports: the runtime, what starts it, pytest
GIVEN = ["site/vendor/pyodide/pyodide-lock.json", "tests/pyodide/run.mjs", "requirements-test.txt"]


class Runtime:
    """Python as the page has it. It takes some seconds to start, so that one serves all that a process tests."""

    process = None

    def run(self, words):
        """(exit status of pytest, what it printed)."""
        if self.process is None:
            self.process = subprocess.Popen(
                ["node", Path(__file__).with_name("run.mjs"), ROOT, sysconfig.get_path("purelib")],
                env=environment.with_node(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
            )
        print(json.dumps(words), file=self.process.stdin, flush=True)
        said = []
        for line in self.process.stdout:
            if line.startswith("\0"):
                return int(line[1:]), "".join(said)
            said.append(line)
        self.process = None  # it died of it; the next one gets another
        return None, "".join(said)

    def end(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


@pytest.fixture(scope="session")
def runtime():
    started = Runtime()
    yield started
    started.end()


def hold(runtime, words, modules=()):
    """What pytest finds by these words passes inside; `modules` are those that its tests come to by their names."""
    if not (ROOT / GIVEN[0]).exists():
        pytest.skip("no runtime in site/vendor/ yet: `python build.py build` brings it in")
    paths = [ROOT / word for word in words if word.startswith("tests/")]
    found = sorted(file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file())
    tests = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in found if file.suffix == ".py"]
    data = [ROOT / name for name in GIVEN] + [file for file in found if file.suffix not in (".py", ".pyc")]
    with passed.once(words, ["tests.conftest", *tests, *modules], data):
        status, said = runtime.run(words)
        print(said)
        assert status == 0, f"pytest inside Pyodide ended with {status}; what it printed stands above"


@pytest.mark.parametrize("room", ROOMS)
def test_the_simulations_hold_in_the_page_s_python_too(room, runtime):
    hold(runtime, [f"tests/sim/{room}"])


@pytest.mark.parametrize("name", OWN)
def test_a_widget_s_own_tests_hold_there_too(name, runtime):
    if not os.environ.get("THOROUGH"):
        pytest.skip("seconds for each widget, minutes where it trains; the contract and the presets look at it")
    hold(runtime, [f"tests/widgets/{name}"])


def test_what_every_widget_is_run_by_holds_there_too(runtime):
    hold(runtime, ["tests/widgets/frame", f"--deselect={CONTRACT}", f"--deselect={GRID}"])


@pytest.mark.parametrize("name", NAMES)
def test_every_knob_can_be_taken_to_its_ends_there_too_and_every_preset_reads_as_it_does_natively(name, runtime):
    native = {
        preset: dict(readouts=frame["readouts"], state=frame["verdict"]["state"], hash=frame["hash"])
        for preset, knobs in host.widget(name).PRESETS.items()
        for frame in [frame_of(name, knobs)]
    }
    files.write(ROOT / "_cache" / "readouts" / f"{name}.json", json.dumps(native))
    every = os.environ.get("THOROUGH")
    which = f"[{name}]" if every else f"[{name}] and (natively or {THERE})"
    hold(runtime, [CONTRACT, PRESETS, "-k", which], [f"widgets.{name}.widget"])
