"""What a page says of a setting, and what of it is not so or badly written. To draw settings of a widget by hand:

python -m tests.widgets.claims ppo 200          two hundred settings, and each false claim with its knobs
python -m tests.widgets.claims ppo 200 7        others
"""

import re
import sys
from dataclasses import fields, is_dataclass

from tests.widgets.catalogue import after
from tests.widgets.grid import near_and_far
from widgets.frame.contract.readouts import Gauge
from widgets.frame.contract.sentences import Said, end, false_claims
from widgets.frame.contract.widget import extras
from widgets.frame.drawing import scene
from widgets.frame.reader import host
from widgets.frame.reader.panels import placed

LONGEST = 150  # characters of a verdict
ONE = r"(?<![\w.,–−-])1"
# what ends in s after a 1 that is counted or is the name of a thing ("run 1 ends"), and is no plural
SINGULAR = (
    "across always as axis basis bias class does focus gains guess has is its less loss minus pass plus process s"
)
SINGULAR += " this thus times unless versus was works writes"
SINGULAR += " asks begins breaks comes earns ends fails falls gets gives goes grows has holds keeps learns leaves"
SINGULAR += " loses makes means moves needs reaches rises runs says sets starts stays stops takes waits wins"
BETWEEN = "closed different held-out live more open optimizer other right such trainer training wrong"
NO_SUBJECT = "all and both it or that the they these those what which who"
BADLY_WRITTEN = {
    "a power of ten as code": r"\d[eE][+-]?\d",
    "a zero with a sign": r"[-−]0(?:\.0+)?(?![\d.])",
    "one of them in the plural": (
        rf"{ONE} (?:(?:{BETWEEN.replace(' ', '|')}) )?(?!(?:{SINGULAR.replace(' ', '|')})\b)[A-Za-z-]+s\b"
    ),
    "one with the verb of several": (
        rf"{ONE}(?: of (?:a hundred|[\d,]+))?(?: (?!(?:{NO_SUBJECT.replace(' ', '|')})\b)[a-z-]+){{0,2}}"
        r" (?:are|have|were)\b"
    ),
    "a share beyond 100": (
        r"(?<![\d.,−+-])(?!100(?:\.0+)? )(?:[1-9]\d\d|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)? "
        r"(?:%|of 100(?!\d|[.,]\d)(?! [A-Z]))"
    ),
    "thousands that are not grouped": r"(?<!RTX )(?<![\d.,A-Za-z#-])(?!20[12]\d\b)[1-9]\d{3,}",
    "no value": r"\b(?:nan|NaN|None|inf)\b",
    "a word twice": r"\b([A-Za-z]+) \1\b",
}
# pictures also have what policies write, in which words come twice and digits have no groups
IN_PICTURES = ("a power of ten as code", "one of them in the plural", "one with the verb of several")
IN_PICTURES += ("a share beyond 100",)


def faults(name, k, r):
    """What is wrong with what a widget says of a result, as lines: claims that are not so, a verdict that claims
    nothing, a way back that does not mend.
    """
    w = host.widget(name)
    break_ = w.broken(k, r)
    verdict = break_.why if break_ else extras(w).worse(k, r) or w.holds(k, r)
    sentences = [verdict, *([break_.cause] if break_ else [])]
    wrong = badly_written(sentences) + faults_beside(w, k, r)
    sentences += beside(w, k, r)
    wrong += [f"not so: {claim} (“{sentence}”)" for sentence in sentences for claim in false_claims(sentence)]
    if not (isinstance(verdict, Said) and verdict.claims):
        wrong.append(f"claims nothing that can be asked: “{verdict}”")
    if not break_ and beyond(w.watched(k, r)):
        wrong.append(f"the meter says {host.gauged(w.watched(k, r))['text']}, and nothing is broken: “{verdict}”")
    if len(verdict) > LONGEST:
        wrong.append(f"{len(verdict)} characters: “{verdict}”")
    if break_:
        wrong += turned_already(k, break_) + ring_around_nothing(w, k, r, break_)
    if break_ and break_.fix and (still_broken := broken_still(w, k, break_)):
        wrong.append(f"the way back {dict(break_.fix)} does not mend “{verdict}”, it leads to “{still_broken.why}”")
    return [f"{name} {turned(k)}: {line}" for line in wrong]


def beyond(watched):
    """Whether a meter stands beyond its threshold."""
    if not isinstance(watched, Gauge):
        return False
    return watched.value < watched.threshold if watched.below else watched.value > watched.threshold


def badly_written(texts, faults=tuple(BADLY_WRITTEN)):
    """A line for each of these faults in how numbers and nouns are written."""
    return [
        f"{fault}: “{text}”"
        for text in dict.fromkeys(map(str, texts))
        for fault in faults
        if re.search(BADLY_WRITTEN[fault], re.sub("“.*?”", "", text))  # what a policy wrote is quoted as it is
    ]


def faults_beside(w, k, r):
    """A line for each fault in how the texts beside a verdict are written."""
    return badly_written(beside(w, k, r)) + badly_written(words_in(list(w.figure(k, r))), IN_PICTURES)


def beside(w, k, r):
    """The words of readouts, of what is watched, of idle knobs and of panels."""
    for readout in w.readouts(k, r):
        row = host.row(readout)
        yield readout.label
        if isinstance(readout.value, str):  # a word, which may claim something
            yield readout.value
        yield f"{row['text']} {row['unit']}"
    watched = host.gauged(w.watched(k, r))
    yield from (watched["label"], watched["text"].replace(" %", ""))  # of a meter, which may go beyond 100
    yield from extras(w).idle(k).values()
    for panel in w.figure(k, r):
        yield from (panel.get("title", ""), panel.get("note", ""))
        yield from (words["text"] for words in panel.get("layout", {}).get("annotations", ()))


def words_in(drawing):
    """Every text in a drawing, but for single words and roles."""
    if isinstance(drawing, str):
        yield from [drawing] if isinstance(drawing, Said) or " " in drawing else []
    elif is_dataclass(drawing):
        yield from words_in([getattr(drawing, f.name) for f in fields(drawing)])
    elif isinstance(drawing, dict | list | tuple):
        for part in drawing.values() if isinstance(drawing, dict) else drawing:
            yield from words_in(part)


def turned_already(k, break_):
    """The knobs that a way back sets to where they are."""
    already = [name for name, value in (break_.fix or {}).items() if value == getattr(k, name)]
    return [f"the way back sets {name} to what it is, {getattr(k, name)!r}: “{break_.why}”" for name in already]


def ring_around_nothing(w, k, r, break_):
    """A line if the ring of a break lies around nothing: outside the axes, at no curve, or hidden in its scene."""
    panels, at = list(w.figure(k, r)), w.seen_at(k, r, break_.cause)
    place = placed(at, panels)
    ring_lies_inside = place and place["inside"]
    if place and scene.is_scene(panels[place["panel"]]):
        views = [view for column in panels[place["panel"]]["columns"] for view in column]
        ring_lies_inside = any(mark["kind"] == "ring" and mark["seen"] for view in views for mark in view["marks"])
    return [] if ring_lies_inside else [f"the ring is around nothing, {at}: “{break_.why}”"]


def broken_still(w, k, break_):
    """The break that is left on the way back, or None."""
    mended = after(k, host.steps(k, break_.fix))
    return w.broken(mended, end(w.run, mended))


def turned(k):
    """The knobs that differ from the default, as a call would have them."""
    return ", ".join(f"{f.name}={getattr(k, f.name)!r}" for f in fields(k) if getattr(k, f.name) != f.default)


def drawn(name, n, seed):
    """All faults of `n` settings."""
    w = host.widget(name)
    return [fault for k in near_and_far(name, n, seed) for fault in faults(name, k, end(w.run, k))]


if __name__ == "__main__":
    print("\n".join(drawn(sys.argv[1], int(sys.argv[2]), (sys.argv[3:] or ["0"])[0])) or "All of it is so.")
