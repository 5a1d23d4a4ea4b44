"""Why a test is left out inside Pyodide, where tests/pyodide runs the others a second time."""
import sys

import pytest

PYODIDE = sys.platform == "emscripten"
processes = pytest.mark.skipif(PYODIDE, reason="a page starts no processes")
bands = pytest.mark.skipif(PYODIDE, reason="bands over whole trainings take minutes here; the trainings of the pages are compared preset by preset")
