"""What numpy does in the reader's browser: the tests of the simulations and of the widgets once more, inside the
runtime that the pages bring along.

All of it runs at night; a push runs files of tests/sim/ and widgets that it changes, a few of each.
"""

import json
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests import skip_unchanged
from tests.widgets.catalogue import each_where_changed, frame_of
from tools.runtime import environment, files
from widgets.frame.reader import host

ROOT = Path(__file__).parents[2]
FRAME = "tests/widgets/frame"
GRID = f"{FRAME}/test_grid.py"  # hundreds of settings a page: natively alone
# these go through all pages: inside at night, natively on every push
BY_PAGE = ["breaks", "exercises", "expected", "figures", "leads", "methods", "sentences", "verdicts"]
ALL_PAGES = [f"{FRAME}/drawing", *(f"{FRAME}/test_{what}.py" for what in BY_PAGE)]
CONTRACT, PRESETS = f"{FRAME}/test_contract.py", "tests/pyodide/presets.py"
THERE = "ends or again or on_offer"  # of the contract: all else in it follows from what the presets read
ROOMS = [ROOT / "tests" / "sim", ROOT / "tests" / "rlpt"]
SIM = sorted(file.relative_to(ROOT).as_posix() for room in ROOMS for file in room.rglob("test_*.py"))
OWN = sorted(file.parent.name for file in (ROOT / "tests" / "widgets").glob("*/test_widget.py"))
# what every item depends on besides the modules it imports: the runtime, what starts it, pytest
GIVEN = ["site/vendor/pyodide/pyodide-lock.json", "tests/pyodide/run.mjs", "requirements-test.txt"]
pytestmark = pytest.mark.when_changed(files=GIVEN)
NO_TESTS = 5  # pytest's status where all of a file is left to the night


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


def hold(runtime, words):
    """What pytest finds by these words passes inside."""
    if not (ROOT / GIVEN[0]).exists():
        absent = "no runtime in site/vendor/ yet: `python build.py build` brings it in"
        (pytest.fail if skip_unchanged.nightly() else pytest.skip)(absent)
    status, said = runtime.run(words)
    print(said)
    assert status in (0, NO_TESTS), f"pytest inside Pyodide ended with {status}; what it printed stands above"


def where_changed(file):
    module = file.removesuffix(".py").replace("/", ".")
    beside = [path for path in (ROOT / file).parent.rglob("*") if path.is_file() and "py" not in path.suffix]
    return pytest.mark.when_changed(module, files=beside, family="simulations in Pyodide")


@pytest.mark.parametrize("file", [pytest.param(file, marks=where_changed(file)) for file in SIM])
def test_the_tests_of_the_simulations_pass_in_pyodide(file, runtime):
    hold(runtime, [file])


@pytest.mark.nightly
@pytest.mark.parametrize("name", OWN)
def test_every_widget_s_own_tests_pass_in_pyodide(name, runtime):
    hold(runtime, [f"tests/widgets/{name}/test_widget.py"])


@pytest.mark.when_changed(family="what runs widgets, in Pyodide")
def test_the_tests_of_the_widget_frame_pass_in_pyodide(runtime):
    left_out = [CONTRACT, GRID] if skip_unchanged.nightly() else [CONTRACT, GRID, *ALL_PAGES]
    hold(runtime, [FRAME, *(f"--deselect={file}" for file in left_out)])


@each_where_changed(family="widgets in Pyodide")
def test_knobs_work_at_their_ends_and_presets_read_as_natively_in_pyodide(name, runtime):
    native = {
        preset: dict(readouts=frame["readouts"], state=frame["verdict"]["state"], hash=frame["hash"])
        for preset, knobs in host.widget(name).PRESETS.items()
        for frame in [frame_of(name, knobs)]
    }
    files.write(ROOT / "_cache" / "readouts" / f"{name}.json", json.dumps(native))
    which = f"[{name}]" if skip_unchanged.nightly() else f"[{name}] and (natively or {THERE})"
    hold(runtime, [CONTRACT, PRESETS, "-k", which])
