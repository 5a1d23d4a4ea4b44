"""A test without a marker fails above one processor second, on this machine or on a slower one alike."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import processor_time


@pytest.mark.parametrize(
    ("seconds", "slowness", "fails"),
    [(0.9, 1.0, False), (1.9, 1.0, False), (2.1, 1.0, True), (2.1, 1.2, False), (5.0, 2.0, True), (5.0, 3.0, False)],
)
def test_a_test_slower_than_the_machine_explains_is_told_what_to_do(seconds, slowness, fails):
    complaint = processor_time.complaint(seconds, slowness)
    assert bool(complaint) == fails
    assert not fails or (
        f"{seconds:.1f} processor seconds" in complaint and "slow" in complaint and "nightly" in complaint
    )


def test_a_fast_machine_has_no_tighter_limit(monkeypatch):
    monkeypatch.setattr(processor_time, "measured", lambda: processor_time.REFERENCE / 5)
    assert processor_time.complaint(1.9) is None and processor_time.complaint(2.1)


def test_results_that_are_kept_and_shared_are_not_charged(monkeypatch):
    before = processor_time.charged()
    monkeypatch.setattr(processor_time.results, "seconds", processor_time.results.seconds + 100)
    assert processor_time.charged() < before - 90


TESTS = """
import subprocess, sys, time
import pytest

BUSY = "import time\\nwhile time.process_time() < 0.5: pass"

def test_alone():
    started = time.process_time()
    while time.process_time() < started + 0.5: pass

def test_in_another_process():
    subprocess.run([sys.executable, "-c", BUSY])

@pytest.mark.slow
def test_marked():
    test_alone()

def test_waits():
    time.sleep(0.5)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not say what processes took that have ended")
def test_an_expensive_test_without_a_marker_fails(tmp_path, monkeypatch):
    monkeypatch.delenv("NIGHTLY", raising=False)
    monkeypatch.delenv("OTHER_LAST_BITS", raising=False)
    root = Path(__file__).parents[1]
    (tmp_path / "test_busy.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "conftest.py").write_text(
        "from tests import processor_time\n"
        "processor_time.measured = lambda: processor_time.REFERENCE\n"
        "processor_time.LIMIT = 0.2\n"
        "from tests.conftest import pytest_runtest_call\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-rf", "--strict-markers", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-c", str(root / "pyproject.toml"), f"--rootdir={tmp_path}", str(tmp_path)],
        cwd=root,
        capture_output=True,
        text=True,
    )
    failed = {line.split("::")[1].split(" ")[0] for line in done.stdout.splitlines() if line.startswith("FAILED")}
    assert failed == {"test_alone", "test_in_another_process"}, done.stdout
    assert "processor seconds, and without a marker" in done.stdout
