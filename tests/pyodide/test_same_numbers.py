"""What numpy does in the reader's browser: the tests of the simulations and of the widgets once more, inside the
runtime that the pages bring along.
"""

import json
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.widgets.catalogue import NAMES, frame_of
from tools.runtime import environment
from widgets.frame import host

ROOT = Path(__file__).parents[2]
CONTRACT = "tests/widgets/frame/test_contract.py"


def inside(*words):
    if not (ROOT / "site" / "vendor" / "pyodide").exists():
        pytest.skip("no runtime in site/vendor/ yet: `python build.py build` brings it in")
    done = subprocess.run(
        ["node", Path(__file__).with_name("run.mjs"), ROOT, sysconfig.get_path("purelib"), *words],
        env=environment.with_node(),
        capture_output=True,
        text=True,
    )
    print(done.stdout[-6000:])
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]


def test_the_simulations_hold_in_the_page_s_python_too():
    inside("tests/sim")


def test_each_widget_s_own_tests_hold_there_too():
    inside(
        *sorted({str(file.relative_to(ROOT)) for file in (ROOT / "tests" / "widgets").glob("test_*.py")} - {CONTRACT})
    )


def test_the_contract_holds_there_too_and_every_preset_reads_as_it_does_natively():
    native = {
        name: {
            preset: [[r["text"] for r in frame["readouts"]], bool(frame["broken"])]
            for preset, knobs in host.widget(name).PRESETS.items()
            for frame in [frame_of(name, knobs)]
        }
        for name in NAMES
    }
    (ROOT / "_cache" / "readouts.json").write_text(json.dumps(native), encoding="utf-8")
    inside(CONTRACT, "tests/pyodide/presets.py")
