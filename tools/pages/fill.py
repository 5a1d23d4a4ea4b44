"""Run every widget at every preset before the pages are made, on all cores: what is kept already is not run again.

What fails here is left to the page that asks for it, whose error names the lesson.
"""

import contextlib
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tools.pages import inputs, pictures, quoting, results
from tools.runtime import files
from tools.runtime.say import say
from widgets.frame import host


def fill():
    for kept in (results.KEPT, quoting.KEPT, pictures.KEPT, inputs.ROOT / "_cache" / "passed"):
        files.forget(kept)
    missing = [
        (name, knobs) for name in results.WIDGETS for knobs in presets(name) if not results.place(name, knobs).exists()
    ]
    if missing:
        cores = min(os.cpu_count() or 1, len(missing))
        say(f"Running the widgets at {len(missing)} settings, {cores} at a time")
        with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
            list(pool.map(attempt, *zip(*missing)))


def presets(name):
    with contextlib.suppress(Exception):
        return list(host.widget(name).PRESETS.values())
    return []


def attempt(name, knobs):
    with contextlib.suppress(Exception):
        results.last(name, knobs)


if __name__ == "__main__":
    fill()
