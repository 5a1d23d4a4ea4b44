"""The step to a GPU: two scripts that a reader takes away, run/trl-add.py and run/verl-add.py. Each is whole: a
template of tools/templates with the book's scorer, its prompts and the setting of the GRPO page written into it.
"""

import inspect
import re
from textwrap import indent

from sim.algorithms import options
from sim.worlds import scorer, tasks
from tools.pages.quoting import ROOT
from widgets.frame.contract import extras
from widgets.grpo import widget as grpo

SCRIPTS = {"TRL": "run/trl-add.py", "verl": "run/verl-add.py"}


def beside(w):
    """{program: file} of the scripts that stand under a widget's setting: none where it trains on pairs, or nothing."""
    methods = extras(w).methods
    trained = methods(w.Knobs(), None).values() if methods else ()
    return SCRIPTS if any("estimator" in method for method in trained) else {}


def write(site):
    for program, path in SCRIPTS.items():
        (site / path).parent.mkdir(exist_ok=True)
        (site / path).write_text(script(program), encoding="utf-8", newline="\n")


def script(program):
    """The text of a script: every name in capitals that begins with THE_, or ends with _VERSION, is filled in."""
    given = dict(
        TRL_VERSION=options.VERSIONS["TRL"],
        VERL_VERSION=options.VERSIONS["verl"],
        THE_SCORER=quoted_scorer(),
        THE_PROMPTS=prompts(),
        THE_CONFIG=dict(TRL=in_python, verl=in_hydra)[program](setting()),
    )
    template = (ROOT / "tools" / "templates" / f"{program.lower()}_add.py").read_text(encoding="utf-8")
    return re.sub("|".join(given), lambda found: given[found[0]], template)


def setting():
    (method,) = grpo.methods(grpo.Knobs(), None).values()
    return method


def in_python(method):
    """The options between the brackets of GRPOConfig(…)."""
    return "\n" + "\n".join(options.text("TRL", method).partition("(\n")[2].splitlines()[:-1]) + "\n"


def in_hydra(method):
    said = options.text("verl", method).partition(options.START["verl"])[2]
    return indent("\n".join(line.strip() for line in said.replace("\\", "").splitlines() if line.strip()), "    ")


def quoted_scorer():
    """The text of sim/worlds/scorer.py as a block of another module: its docstring becomes a comment."""
    text = inspect.getsource(scorer)
    said, body = scorer.__doc__.strip(), text.partition('"""\n')[2]
    where = "sim/worlds/scorer.py of the book, word for word"
    return "\n".join([f"# {where}", *(f"# {line}".rstrip() for line in said.splitlines()), body.strip("\n")])


def prompts():
    """The hundred examples of `Add` as a list of pairs, five a line."""
    pairs = [(example["id"], example["expected_answer"]) for example in tasks.Add.examples]
    lines = [", ".join(map(repr, pairs[i : i + 5])) for i in range(0, len(pairs), 5)]
    return "[\n" + "".join(f"    {line},\n" for line in lines) + "]"
