"""Logs as texts, read in pieces."""

import pytest

from rlpt import logs
from rlpt.logs import Unreadable


def read(text, name="log", size=1 << 16, **options):
    """The Log of one text, or of {name: text}, in pieces of so many bytes."""
    files = text if isinstance(text, dict) else {name: text}
    raw = {name: each if isinstance(each, bytes) else each.encode() for name, each in files.items()}
    return logs.read([(n, [b[i : i + size] for i in range(0, len(b), size)]) for n, b in raw.items()], **options)


def column(log, name):
    return list(log.columns[name].steps), list(log.columns[name].values)


def said(text, **options):
    with pytest.raises(Unreadable) as fault:
        read(text, **options)
    sentence = str(fault.value)
    assert "\n" not in sentence and sentence.endswith(".") and len(sentence) < 400
    return sentence
