"""Before the pages are made, run every widget at every preset and draw every small figure, on all cores. Results that
are kept already are not computed again.

An error here is ignored: the page that uses the widget raises it again, with the name of the lesson.
"""

import contextlib
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tools.pages import inputs, link_previews, quoting, results
from tools.runtime import files
from tools.runtime.messages import say
from widgets.frame.reader import host


def fill():
    for folder in (results.KEPT, quoting.KEPT, link_previews.KEPT, inputs.ROOT / "_cache" / "passed"):
        files.forget(folder)
    runs = [(results.last, name, knobs) for name in results.WIDGETS for knobs in presets(name)]
    missing = [job for job in runs if not results.place(*job[1:]).exists()]
    missing += [(drawn, module) for module in results.DRAWN if not all(file.exists() for file in places(module))]
    if missing:
        cores = min(os.cpu_count() or 1, len(missing))
        say(f"Running the widgets and drawing their small figures, {len(missing)} things, {cores} at a time")
        with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
            list(pool.map(attempt, missing))


def presets(name):
    with contextlib.suppress(Exception):
        return list(host.widget(name).PRESETS.values())
    return []


def places(module):
    with contextlib.suppress(Exception):
        return [results.place_of_figure(module, name) for name in results.figures(module)]
    return []


def drawn(module):
    """All figures of a module in one process, for they share what they compute."""
    for name in results.figures(module):
        results.positions(module, name)


def attempt(job):
    work, *arguments = job
    with contextlib.suppress(Exception):
        work(*arguments)


if __name__ == "__main__":
    fill()
