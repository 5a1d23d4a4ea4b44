"""Numbers of the lessons that are bound to no expression, though code may compute them: those that are bound elsewhere
on the page, and those with a decimal point or a percent sign that no link of the page sets. What others report is
among them. `python build.py numbers` lists those of all pages, `numbers 22b` those of one.
"""

import re
import sys

from sim.words import counted
from tools.pages import bound, inputs

LESSONS = inputs.ROOT / "lessons"
FOREIGN = re.compile(  # code, formulas, what links lead to and turn, front matter, sources, and numbers in names
    r"\A---\n.*?\n---\n|## Sources\n.*\Z|```.*?```|\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]+`|\]\([^)\n]*\)|\{[^}\n]*\}"
    r"|^\d\. |\w*[A-Za-z_-]\d[\w.-]*|\b(?:19|20)\d\d\b",
    re.S | re.M,
)
KNOBS = re.compile(r'data-knobs="([^"]*)"')
COMPUTED = re.compile(rf"(?P<n>{bound.NUMBER.pattern})(?P<percent> ?%)?")


def unbound(text):
    """[(line, number, the words around it)] of the numbers that a reader sees and nothing computes."""
    prose = FOREIGN.sub(blank, bound.BOUND.sub(blank, text))
    elsewhere = {number for _, words, _ in bound.bound(text) for number in bound.NUMBER.findall(words)}
    knob_values = {value.partition("=")[2] for knobs in KNOBS.findall(text) for value in knobs.split("&")}
    lines = text.splitlines()
    return [
        (n, number["n"], lines[n - 1][max(number.start() - 30, 0) : number.end() + 40].strip())
        for n, line in enumerate(prose.splitlines(), 1)
        for number in COMPUTED.finditer(line)
        if number["n"] in elsewhere or (("." in number["n"] or number["percent"]) and number["n"] not in knob_values)
    ]


def blank(match):
    """Spaces in place of a match, so that lines and columns stay."""
    return re.sub(r"[^\n]", " ", match[0])


def main(*numbers):
    pages = [page for page in sorted(LESSONS.glob("*.md")) if not numbers or page.stem.partition("-")[0] in numbers]
    if not pages:
        return f"There is no lesson {', '.join(numbers)}."
    total = 0
    for page in pages:
        for line, number, words in unbound(page.read_text(encoding="utf-8")):
            print(f"lessons/{page.name}:{line}: {number:>8}   {words}")
            total += 1
    print(f"{counted(total, 'number')} without an expression on {counted(len(pages), 'page')}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
