"""What lessons state over seeds: each quantity of a random run at twenty seeds, kept as data.

    python build.py spreads          measures what is new, and all of a lesson whose code in sim/ has changed
    python build.py spreads 05 13    measures all of these

The test file of a lesson names its quantities, `MEASURED = {words: a function of the seed that returns a number}`. This
command writes what they return to `tests/lessons/data/`; a page's numbers and tests read it by `kept(words)`. No text,
figure or opening uses these seeds otherwise, so that nothing was chosen by them. tests/lessons/test_spreads.py measures
some again.
"""

import hashlib
import importlib
import json
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np

from tools.pages import inputs
from tools.runtime import files

SEEDS = range(200, 220)
HERE = Path(__file__).parent
DIGITS = 6  # significant ones that are kept


def pages():
    """Names of the test files with quantities, without `test_` and `.py`: "05_trainer"."""
    return [
        file.stem.removeprefix("test_")
        for file in sorted(HERE.glob("test_*.py"))
        if "\nMEASURED = {" in file.read_text(encoding="utf-8")
    ]


def module(page):
    return f"tests.lessons.test_{page}"


def quantities(page):
    """{words: function of the seed} of a page."""
    return importlib.import_module(module(page)).MEASURED


def place(page):
    return HERE / "data" / f"{page}.json"


@cache
def data(page):
    """{"code": a sum over what computed the values, "values": {words: twenty values}}; of none before the first."""
    file = place(page)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"code": "", "values": {}}


def values(page, words):
    """(20,), a value a seed of `SEEDS`."""
    return np.array(data(page)["values"][words])


def code(page):
    """A sum over all of sim/ that a page's test file imports, directly or not. What a widget says and draws changes
    often, and what it runs seldom: where that moves a value, two seeds of tests/lessons/test_spreads.py show it.
    """
    total = hashlib.sha256()
    for file in inputs.closure(module(page)):
        name = file.relative_to(inputs.ROOT).as_posix()
        if name.startswith("sim/"):
            total.update(f"{name}\0".encode() + inputs.content(file))
    return total.hexdigest()[:16]


def measure(page, found):
    """Write the values of a page after each quantity that is not `found` yet, and say mean, deviation and range."""
    for words, quantity in quantities(page).items():
        if words in found:
            continue
        started = time.process_time()
        found = {**found, words: [float(f"{quantity(seed):.{DIGITS}g}") for seed in SEEDS]}
        mean, deviation = summary(found[words])
        spent = f"{time.process_time() - started:.0f} s"
        low, high = min(found[words]), max(found[words])
        print(f"{page}  {words}: {mean:.4g} ± {deviation:.2g}, {low:.4g} to {high:.4g}  ({spent})", flush=True)
        write(page, found)
    write(page, found)


def write(page, found):
    """The values in the order of the quantities, a line each; what is no quantity any more goes."""
    kept = [words for words in quantities(page) if words in found]
    rows = ",\n".join(f"    {json.dumps(words, ensure_ascii=False)}: {found[words]}" for words in kept)
    seeds = f"{SEEDS[0]} to {SEEDS[-1]}"
    files.write(
        place(page), f'{{\n  "seeds": "{seeds}",\n  "code": "{code(page)}",\n  "values": {{\n{rows}\n  }}\n}}\n'
    )


def summary(of):
    """(mean, standard deviation) of values."""
    return float(np.mean(of)), float(np.std(of, ddof=1))


def kept(page):
    """{words: values} that are of the code as it is."""
    return data(page)["values"] if data(page)["code"] == code(page) else {}


def main(*numbers):
    wrong = [number for number in numbers if not any(page.split("_")[0] == number for page in pages())]
    if wrong:
        return f"no test file measures anything for {', '.join(wrong)}: {', '.join(p.split('_')[0] for p in pages())}"
    for page in pages():
        if numbers and page.split("_")[0] in numbers:
            measure(page, {})
        elif not numbers and list(kept(page)) != [*quantities(page)]:
            measure(page, kept(page))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
