"""The last result of each widget's run and the panels of its small figures, kept on disk for build and tests.

A result is computed again only if something that it depends on has changed: after a change of text none, after a change
of code those that import it. The files are pickles that only this module reads and writes; they are not published.
"""

import contextlib
import hashlib
import os
import pickle
import time
from collections import deque
from functools import cache

from tools.pages import inputs, sums
from tools.runtime import files
from widgets.frame.contract import values
from widgets.frame.drawing import written
from widgets.frame.reader import host, pages

KEPT = inputs.ROOT / "_cache" / "results"
WIDGETS, DRAWN = pages.having("widget"), pages.having("figures")
SUM = hashlib.sha256().digest_size

in_memory, variant = {}, ""
seconds = 0.0  # processor seconds spent on what was not kept yet, by this process


def last(name, knobs=None, **constants):
    """The last result of a widget's run, at the default knobs or at those given; `constants` stand in for the module's
    own, such as SEEDS.
    """
    module = host.widget(name)
    knobs = knobs or module.Knobs()
    constants = {constant: value for constant, value in constants.items() if value != getattr(module, constant)}
    file = place(name, knobs, constants)
    if file not in in_memory:
        in_memory[file] = kept(file, lambda: ended(module, knobs, constants))
    return in_memory[file]


def ended(module, knobs, constants):
    own = {constant: getattr(module, constant) for constant in constants}
    try:
        vars(module).update(constants)
        return deque(module.run(knobs), maxlen=1)[0]
    finally:
        vars(module).update(own)


@contextlib.contextmanager
def apart(words):
    """Within it results are kept under these words, apart from all others: for whoever changes what runs compute and no
    file, as by another start of the policy.
    """
    global variant
    variant, before = words, variant
    try:
        yield
    finally:
        variant = before


def place(name, knobs, constants=()):
    """The file of a result, named by a sum over all that the result depends on."""
    return file_of(name, code(f"{name}.widget"), knobs, sorted(dict(constants).items()), variant)


def figures(module):
    """{name: Figure} of a page's module figures.py."""
    if module not in DRAWN:
        raise ValueError(f"there is no widgets/{module}/figures.py")
    return pages.module(module, "figures").FIGURES


def positions(module, name):
    """[(panels, sentence, word)] of a small figure in every position of its handle and time, as plain values."""
    file = place_of_figure(module, name)
    if file not in in_memory:
        in_memory[file] = kept(file, lambda: drawn(figures(module)[name]))
    return in_memory[file]


def drawn(figure):
    return [
        (
            written.plain(list(figure.panels(*figure.at(*place)))),
            figure.sentence(*figure.at(*place)) if figure.sentence else "",
            figure.spoken(*place),
        )
        for place in figure.places()
    ]


def place_of_figure(module, name):
    spelled = inputs.content(inputs.file_of(values.__name__))  # by written.plain, which draws on nothing of ours
    return file_of(f"{module}.{name}", code(f"{module}.figures"), spelled, variant)


def file_of(name, *depends):
    return KEPT / f"{name}-{hashlib.sha256(repr(depends).encode()).hexdigest()[:24]}.pickle"


@cache
def code(name):
    return sums.digest(f"widgets.{name}")


def kept(file, compute):
    """What the file holds, or else what `compute` returns, which it holds from then on; a file in part is none."""
    with contextlib.suppress(OSError):
        content = file.read_bytes()
        if hashlib.sha256(content[SUM:]).digest() == content[:SUM]:
            os.utime(file)
            return pickle.loads(content[SUM:])
    global seconds
    started = time.process_time()
    result = compute()
    seconds += time.process_time() - started
    content = pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
    with contextlib.suppress(PermissionError):  # Windows: another process is reading the same result there
        files.write(file, hashlib.sha256(content).digest() + content)
    return result
