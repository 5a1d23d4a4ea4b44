"""Cases that readers judge, from a page's module sorts.py, as a fence of Markdown shows them."""

from dataclasses import replace

from markupsafe import Markup

from widgets.frame.contract.sorting import attempts_with_a_hint
from widgets.frame.drawing import drawing
from widgets.frame.reader import pages

BUTTONS = 7  # more trays than this are a menu
ASK = 60  # words at most


def shown(place):
    """The values for site/parts/sort.html of `lab_m0.kata`."""
    page, _, name = place.partition(".")
    module = pages.module(page, "sorts")
    if module is None or name not in module.SORTS:
        raise ValueError(f"widgets/{page}/sorts.py has no {name or place}")
    sort = module.SORTS[name]
    if len(sort.ask.split()) > ASK:
        raise ValueError(f"{place} asks in {len(sort.ask.split())} words; {ASK} are the most")
    for i, answer in attempts_with_a_hint(sort):
        hints = sort.cases[i].hints
        if "" not in hints and answer not in hints:
            raise ValueError(f"{place}: case {i + 1} has no hint for {answer or 'a wrong number'}")
    return dict(
        name=place,
        widget=page,
        sort=sort,
        cases=[replace(case, shown=[(what, written(text)) for what, text in case.shown]) for case in sort.cases],
        labels=sort.labels,
        many=len(sort.labels) > BUTTONS,
        data=Markup(drawing.in_json([told(case) for case in sort.cases])),
    )


def told(case):
    """What the page's script knows of a case."""
    return dict(
        right=[case.answer, *case.also],
        why=case.why,
        hints=dict(case.hints),
        pointed=case.pointed,
        within=list(case.within),
    )


def written(text):
    """A text with its line ends as Python writes them; an empty one says that it is."""
    return text.replace("\r", r"\r").replace("\n", r"\n") or "(empty)"
