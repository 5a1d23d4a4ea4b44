"""The numbers of the prose on another machine: the tests of every lesson that trains, and what it measures over twenty
seeds, once more, from a start moved by its last bits and without the vector instructions that numpy and its BLAS choose
by the processor.
"""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.machines import last_bit
from widgets.frame.contract.widget import extras
from widgets.frame.reader import host

ROOT = Path(__file__).parents[2]
WIDGET = {
    page.stem: found[1]
    for page in sorted((ROOT / "lessons").glob("*.md"))
    if (found := re.search(r"^```widget\n(\w+)", page.read_text(encoding="utf-8"), re.M))
}
TRAIN = [stem for stem, name in WIDGET.items() if extras(host.widget(name)).progress]  # a closed form is stable
PLAINEST = {"x86_64": "Nehalem", "AMD64": "Nehalem", "aarch64": "ARMV8"}  # OpenBLAS's oldest kernel for a processor


def elsewhere():
    """The environment of a process that computes as an older processor would."""
    vector = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    kernel = {"OPENBLAS_CORETYPE": PLAINEST[platform.machine()]} if platform.machine() in PLAINEST else {}
    return {**os.environ, **kernel, "NPY_DISABLE_CPU_FEATURES": " ".join(vector), "OTHER_LAST_BITS": "1"}


def where_changed(stem):
    module = f"tests.lessons.test_{stem.replace('-', '_')}"
    return pytest.mark.when_changed(module, files=[f"lessons/{stem}.md"], family="prose on another machine", most=2)


@pytest.mark.parametrize("stem", [pytest.param(stem, marks=where_changed(stem)) for stem in TRAIN])
def test_every_number_that_the_prose_states_holds_on_another_machine(stem):
    words, name = ["-p", last_bit.__name__, "-p", "no:cacheprovider", "--tb=short"], f"test_{stem.replace('-', '_')}"
    files = [f"tests/lessons/{file}.py" for file in (name, "test_numbers", "test_spreads")]
    command = [sys.executable, "-m", "pytest", *words, *files, "-k", f"{name} or {stem}"]
    done = subprocess.run(command, cwd=ROOT, env=elsewhere(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_the_process_elsewhere_has_none_of_the_vector_instructions_that_numpy_chooses():
    found = 'import numpy; print(numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", []))'
    done = subprocess.run([sys.executable, "-W", "error", "-c", found], env=elsewhere(), capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
