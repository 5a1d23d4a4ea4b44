"""What numpy does in the reader's browser: the tests of the simulations and of the widgets once more, inside the runtime that the pages bring along."""
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tools import environment

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("folder", ["tests/sim", "tests/widgets"])
def test_hold_in_the_page_s_python_too(folder):
    if not (ROOT / "site" / "vendor" / "pyodide").exists():
        pytest.skip("no runtime in site/vendor/ yet: `python build.py build` brings it in")
    done = subprocess.run(["node", Path(__file__).with_name("run.mjs"), ROOT, sysconfig.get_path("purelib"), folder],
                          env=environment.with_node(), capture_output=True, text=True)
    print(done.stdout[-6000:])
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
