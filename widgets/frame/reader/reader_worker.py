"""What the worker for readers' code runs: a function for editing (reader_code.py), or a widget with functions of sim/
that a reader has changed (reader_patch.py).
"""

import json
from collections.abc import Iterator

from widgets.frame.reader import pages, reader_code, reader_patch

# all imported at once: a reader's two seconds are not for importing
OFFERS = {offer.ID: offer for offer in pages.modules("editable")}


def alive() -> None:
    """Tells the page that a reader's code has not hung; the page replaces it with its own function."""


def stream(name: str, source: str) -> Iterator[str]:
    """The frames of the offer `name` with a reader's text; for any other name, those of that widget, with {form,
    source} as JSON in `source`.
    """
    if name in OFFERS:
        yield from reader_code.stream(OFFERS[name], source)
    else:
        yield from reader_patch.stream(name, **json.loads(source), alive=alive)
