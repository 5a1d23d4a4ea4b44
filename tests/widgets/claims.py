"""What a page says of a setting, and what of it is not so or badly written. To draw settings of a widget by hand:

python -m tests.widgets.claims ppo 200          two hundred settings, and each false claim with its knobs
python -m tests.widgets.claims ppo 200 7        others
"""

import re
import sys
from dataclasses import fields

from tests.widgets.catalogue import after
from tests.widgets.grid import near_and_far
from widgets.frame import host
from widgets.frame.contract import extras
from widgets.frame.sentences import Said, end, false_claims
from widgets.frame.values import figures

LONGEST = 150  # characters of a verdict
COUNTED = "answers batches chains completions copies engines groups GPUs heads layers lessons pairs passes prompts runs"
COUNTED += " samples seconds seeds sequences steps sums tests tokens updates weeks workers"
BADLY_WRITTEN = {
    "a power of ten as code": r"\d[eE][+-]?\d",
    "a zero with a sign": r"[-−]0(?:\.0+)?(?![\d.])",
    "one of them in the plural": rf"(?<![\d.,–-])1 (?:{COUNTED.replace(' ', '|')})\b",
    "thousands that are not grouped": r"(?<![\d.,A-Za-z#-])(?!20[12]\d\b)[1-9]\d{3,}",
    "no value": r"\b(?:nan|NaN|None|inf)\b",
    "a word twice": r"\b([A-Za-z]+) \1\b",
}


def faults(name, k, r):
    """What is wrong with what a widget says of a result, as lines: claims that are not so, a verdict that claims
    nothing, a way back that does not mend.
    """
    w = host.widget(name)
    found = w.broken(k, r)
    verdict = found.why if found else extras(w).worse(k, r) or w.holds(k, r)
    said = [verdict, *([found.cause] if found else []), *beside(w, k, r)]
    wrong = [f"not so: {claim} (“{sentence}”)" for sentence in said for claim in false_claims(sentence)]
    if not (isinstance(verdict, Said) and verdict.claims):
        wrong.append(f"claims nothing that can be asked: “{verdict}”")
    for text in (str(text) for text in said):
        plain = re.sub("“.*?”", "", text)  # what a policy wrote is quoted as it is
        wrong += [f"{fault}: “{text}”" for fault, pattern in BADLY_WRITTEN.items() if re.search(pattern, plain)]
    if len(verdict) > LONGEST:
        wrong.append(f"{len(verdict)} characters: “{verdict}”")
    if found and found.fix and (left := broken_still(w, k, found)):
        wrong.append(f"the way back {dict(found.fix)} does not mend “{verdict}”, it leads to “{left.why}”")
    return [f"{name} {turned(k)}: {line}" for line in wrong]


def beside(w, k, r):
    """The words of readouts, of what is watched and of panels."""
    for readout in w.readouts(k, r):
        value = readout.value
        yield from (readout.label, value if isinstance(value, str) else figures(value))
    watched = w.watched(k, r)
    yield watched.label
    for panel in w.figure(k, r):
        yield from (panel.get("title", ""), panel.get("note", ""))
        yield from (words["text"] for words in panel.get("layout", {}).get("annotations", ()))


def broken_still(w, k, found):
    """The break that is left on the way back, or None."""
    there = after(k, host.steps(k, found.fix))
    return w.broken(there, end(w.run, there))


def turned(k):
    """The knobs that differ from the default, as a call would have them."""
    return ", ".join(f"{f.name}={getattr(k, f.name)!r}" for f in fields(k) if getattr(k, f.name) != f.default)


def drawn(name, n, seed):
    """All faults of `n` settings."""
    w = host.widget(name)
    return [fault for k in near_and_far(name, n, seed) for fault in faults(name, k, end(w.run, k))]


if __name__ == "__main__":
    print("\n".join(drawn(sys.argv[1], int(sys.argv[2]), (sys.argv[3:] or ["0"])[0])) or "All of it is so.")
