"""The run of a widget as one Python file to be taken away: run/NAME.py, which needs numpy and prints the readouts.

It holds the files of sim/ and widgets/ that the run imports, as they are, and unpacks them into a folder that goes with
the run. The page puts a reader's setting, and what a reader has changed, into its first lines (site/assets/export.js).
"""

import base64
import inspect

from tools.pages import inputs, results
from widgets.frame.drawing import written
from widgets.frame.reader import host

PLACE = "run"
FILE = '''"""{title}: one run, as "RL Post-Training, From First Principles" draws it.

    python {name}.py        needs Python 3.11 or newer, and numpy

The lines of SETTING are knobs of the page that differ from its defaults, and their values as the page spells them.
Below stand the files of the book that the run draws on, under their names and as they are (MIT license); what you
change in them runs.
"""

SETTING = {{}}
{changed}
import base64
import importlib
import re
import sys
import tempfile
from dataclasses import fields
from math import isfinite
from pathlib import Path

FILES, DATA = {{}}, {{}}


{figures}

def read(knob, text):
    kind = type(knob.default)
    return {{"on": True, "off": False}}[text] if kind is bool else int(float(text)) if kind is int else kind(text)


def main():
    widget = importlib.import_module("widgets.{name}.widget")
    wrong = set(SETTING) - {{knob.name for knob in fields(widget.Knobs)}}
    if wrong:
        raise SystemExit(f"SETTING has {{', '.join(sorted(wrong))}}, and this run has no such knob.")
    knobs = widget.Knobs(**{{k.name: read(k, SETTING[k.name]) for k in fields(widget.Knobs) if k.name in SETTING}})
    for result in widget.run(knobs):
        pass
    for readout in widget.readouts(knobs, result):
        print(f"{{readout.label}}: {{with_unit(figures(readout.value), readout.unit)}}")
    damage = widget.broken(knobs, result)
    print("Broken. " + damage.why if damage else "Not broken.")


{contents}
if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:
        for path, content in DATA.items():
            FILES[path] = base64.b64decode(content)
        for path, content in FILES.items():
            file = Path(place, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        sys.path.insert(0, place)
        main()
'''
SPOKEN = (written.figures, written.raised, written.with_unit, written.unit_after)
CHANGED = 'CHANGED = ""  # your lines, put below those of {path}\n'


def write(site):
    """A file for every widget."""
    (site / PLACE).mkdir(exist_ok=True)
    for name in results.WIDGETS:
        (site / PLACE / f"{name}.py").write_text(text(name), encoding="utf-8")


def text(name):
    """The whole file, at the default knobs."""
    change = getattr(host.exercises(name), "CHANGE", None)
    path = changed_file(change) if change else ""
    files = inputs.closure(f"widgets.{name}.widget")
    return FILE.format(
        title=host.widget(name).TITLE,
        name=name,
        changed=CHANGED.format(path=path) if change else "",
        figures="\n\n".join(map(inspect.getsource, SPOKEN)),
        contents="".join(map(embedded, files)) + (f'FILES["{path}"] += CHANGED\n\n' if change else ""),
    )


def changed_file(change):
    return f"{change.functions[0].__module__.replace('.', '/')}.py"


def embedded(file):
    """A file of the book as a text of Python, or what it holds in base64."""
    path = file.relative_to(inputs.ROOT).as_posix()
    if file.suffix == ".npz":
        return f'DATA["{path}"] = """{base64.b64encode(file.read_bytes()).decode()}"""\n\n'
    content = file.read_text(encoding="utf-8")
    if "'''" in content:
        raise ValueError(f"{path} holds three single quotes, which end its text in a run that is taken away")
    return f"FILES[\"{path}\"] = r'''{content}'''\n\n"
