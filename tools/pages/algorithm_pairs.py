"""The compare page: the differences of every two algorithm files, and what each recipe replaces in its file.

All of them are in the page; site/assets/pairs.js shows the one of the two algorithms that run.
"""

import html
import inspect
import json
from itertools import combinations

from sim.algorithms.names import FILES
from sim.algorithms.recipes import NAMED
from tools.pages import quoting


def path(module):
    return module.__name__.replace(".", "/") + ".py"


def figures(patches, running):
    """`patches` is {(old, new): {function: clause}} of paths; `running` are the two names that run at first."""
    wanted = [tuple(map(path, pair)) for pair in combinations(FILES.values(), 2)]
    if missing := [pair for pair in wanted if pair not in patches]:
        raise ValueError(f"no patch {' -> '.join(missing[0])}; every two of the six files have one")
    if unknown := [pair for pair in patches if pair not in wanted]:
        raise ValueError(f"{' -> '.join(unknown[0])} is none of the pairs; the older file stands first")
    blocks = [
        block([runs_of(old), runs_of(new)], running, quoting.difference(old, new, patches[old, new]))
        for old, new in wanted
    ]
    notes = [block([[name]], running, note(name, recipe)) for name, recipe in NAMED.items()]
    return f'<div class="pairs">{"".join(notes + blocks)}</div>'


def block(sides, running, content):
    """A part of the page, shown if in each of the lists `sides` there is a name that runs."""
    runs = all(set(names) & set(running) for names in sides)
    return f'<div{" class=now" * runs} data-of="{html.escape(json.dumps(sides))}">{content}</div>'


def runs_of(file):
    """The names of the file and of the recipes that start from it."""
    own = [name for name, module in FILES.items() if path(module) == file]
    return own + [name for name, recipe in NAMED.items() if path(recipe.file) == file]


def note(name, recipe):
    """What a recipe is: "TRL 1.16.0 is grpo.py with weights from dapo.py, and with inner_epochs = 1, beta = 0.\""""
    hooks = [f"{hook} {whence(function)}" for hook, function in recipe.hooks.items()]
    hyper = [f"{key} = {value:g}" for key, value in recipe.hyper.items()]
    parts = ", and with ".join(", ".join(words) for words in (hooks, hyper) if words)
    file = quoting.link(path(recipe.file), 1, path(recipe.file).rpartition("/")[2])
    return f"<p><b>{html.escape(name)}</b> is {file} with {parts}.</p>"


def whence(function):
    """Where a function in place of the file's stands: that of another file, or one with a name of its own."""
    module = inspect.getmodule(function)
    line = inspect.getsourcelines(function)[1]
    own = module not in FILES.values()
    name = function.__name__ if own else path(module).rpartition("/")[2]
    return f"{'as' if own else 'from'} {quoting.link(path(module), line, name)}"
