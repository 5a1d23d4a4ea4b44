"""Why a test is left out inside Pyodide, where tests/pyodide runs the others a second time."""

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
