"""A test takes at most one processor second, or says by a marker that it takes longer.

Counted is the call of a test, in this process and in those it started and waited for; not what fixtures prepare, and
not results that are kept and shared (tools/pages/results.py), which whoever asks first has to compute.

Honest tests must not fail on a slow machine, or on one whose cores are shared. So a test that took longer fails only
beyond LIMIT × HEADROOM × slowness, where the slowness is measured at that moment, by a fixed piece of work.
"""

import os
import sys
import time

import numpy as np

from tools.pages import results

LIMIT, HEADROOM = 1.0, 2.0  # processor seconds; a test of 1.1 alone was seen to take 2.0 beside others, on shared cores
REFERENCE = 0.095  # processor seconds of `work` on the reference machine: two virtual cores, nothing else running
EXEMPT = "slow", "nightly", "when_changed"
BROWSER = "tests/browser"  # the time is that of a browser, which is neither this process nor ends with the test


def enforced(item):
    elsewhere = sys.platform == "emscripten" or "OTHER_LAST_BITS" in os.environ  # slower by nature
    marked = any(item.get_closest_marker(name) for name in EXEMPT)
    return not (elsewhere or marked or os.environ.get("NIGHTLY") or BROWSER in item.path.as_posix())


def charged():
    """Processor seconds so far, of this process and of those that have ended, without shared results."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system - results.seconds


def complaint(seconds, slowness=None):
    """Why a test that took so many processor seconds fails; None if it does not."""
    if seconds <= LIMIT * HEADROOM:
        return None
    slowness = max(1.0, measured() / REFERENCE) if slowness is None else slowness
    if seconds <= LIMIT * HEADROOM * slowness:
        return None
    return (
        f"This test took {seconds:.1f} processor seconds, and without a marker {LIMIT:g} is the most: make it cheaper, "
        "or mark it slow (every push runs it), when_changed (a push that changes what it depends on) or nightly "
        "(tests/skip_unchanged.py, tests/processor_time.py)."
    )


def measured():
    """Processor seconds of the fixed work here and now, the slowest of three."""
    return max(work() for _ in range(3))


def work():
    """Half Python, half numpy on small arrays, as in most tests; returns its processor seconds."""
    started, x, total = time.process_time(), np.linspace(0.0, 1.0, 64).reshape(8, 8), 0.0
    for i in range(18_000):
        x = np.tanh(x @ x.T / 8 + 0.1)
        total += sum(j * 0.5 for j in range(40)) + i
    assert np.isfinite(total + x.sum())
    return time.process_time() - started
