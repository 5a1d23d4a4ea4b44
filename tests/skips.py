"""What is left out where tests run a second time: inside Pyodide by tests/pyodide, with other last bits by
tests/machines.
"""

import os
import sys

import pytest

PYODIDE = sys.platform == "emscripten"
processes = pytest.mark.skipif(PYODIDE, reason="a page starts no processes")
TRAINS = "bands over whole trainings take minutes here; the trainings of the pages are compared preset by preset"
bands = pytest.mark.skipif(PYODIDE, reason=TRAINS)


def not_in_a_page():
    """Called by what trains for a whole module's tests, so that the others run."""
    if PYODIDE:
        pytest.skip(TRAINS)


def some(seeds):
    """The seeds that a claim over many is held to: all of them, and two with other last bits, where what these do to a
    run shows in any.
    """
    return seeds[:2] if "OTHER_LAST_BITS" in os.environ else seeds
