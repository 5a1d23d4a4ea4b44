"""A function that a reader has edited: compiled from its text, called, and refused in one sentence with its line.

Nothing is forbidden here: a reader's code may import and call anything there is. What keeps it from the network,
storage and the page is the worker that runs it (site/assets/sandbox.js): it can send no request, has no storage and an
interpreter of its own, and ends after two seconds. This module reports faults in terms of the reader's own lines.

A page's module editable.py offers a function for editing (CONTRIBUTING.md, "A function for editing"):

    ID                the name of the field on its page, and of the stored copy of the reader's text
    EDITED            the function that the reader starts with; its text is in the field, and the reader's version is
                      compiled with the names of its module
    RETURNS           optional: f(value) returns what a call gives back, or raises a ValueError that says what it
                      should be
    called(function)  the results of calling a reader's function, or EDITED itself; all calls are made in here
    shown(called)     Shown: the sentence, the tables and the panels made from it
    NAMED             what the reader writes, for people who cannot see the field
    GOALS             optional: what the function should achieve, as a tuple of Goals
    HINTS             optional: (a hint, another hint, one solution)
"""

import ast  # some of these only for readers: a snapshot of Python has what was imported, but no files
import collections
import contextlib
import copy
import functools
import inspect
import io
import itertools
import json
import math
import operator
import random
import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from types import ModuleType
from typing import Any

import numpy

from widgets.frame.contract.exercises import Shown
from widgets.frame.drawing.written import plain
from widgets.frame.reader.panels import described

Function = Callable[..., Any]
FILE = "<yours>"  # the file that a traceback names for a reader's line
PRINTED, PRINTED_LINES = 1000, 12  # the most characters and lines that a reader's code may print
LINES = 500  # the most lines of a reader's code
OFFERED = (ast, collections, copy, functools, itertools, json, math, numpy, operator, random, re, string, unicodedata)


class Refused(ValueError):
    """Reader's code that does not work: one sentence, and the line that it is about, if any."""

    def __init__(self, sentence: str, line: int | None = None) -> None:
        super().__init__(f"Line {line}: {sentence}" if line else sentence)
        self.line = line


def stream(offer: ModuleType, source: str) -> Iterator[str]:
    """The results of a reader's version of an offer's function, as JSON for the page: first false, once the reader's
    code has ended, because its two seconds don't include what follows; then {sentence, tables, panels, beside, goals},
    or {refused, line}.
    """
    try:
        called, beside = calls(offer, source)
        yield "false"
        yield json.dumps(plain(dict(drawn(offer.shown(called)), beside=beside, goals=reached(offer, called))))
    except Refused as refused:
        yield json.dumps(dict(refused=str(refused), line=refused.line))


def calls(offer: ModuleType, source: str) -> tuple[Any, str]:
    """(what the offer makes of calling a reader's function, additional remarks)."""
    printed = Printed()
    with contextlib.redirect_stdout(printed):
        yours = Yours(compiled(source, offer.EDITED), getattr(offer, "RETURNS", None))
        called = offer.called(yours)
    return called, beside(yours.faults, printed.getvalue())


def reached(offer: ModuleType, called: Any) -> list[bool]:
    """Which goals of an offer these results reach."""
    return [bool(goal.met(called)) for goal in getattr(offer, "GOALS", ())]


def ours(offer: ModuleType) -> dict[str, Any]:
    """What the page shows before anyone has edited."""
    return drawn(offer.shown(offer.called(offer.EDITED)))


def beside(faults: Sequence[Refused], printed: str) -> str:
    """Additional remarks: the first fault among the calls, and what was printed."""
    failed = [f"{len(faults)} of the calls failed. The first: {faults[0]}"] if faults else []
    lines = printed.splitlines()
    more = ["…"] if len(lines) > PRINTED_LINES or len(printed) >= PRINTED else []
    return "\n".join([*failed, "Printed:", *lines[:PRINTED_LINES], *more] if printed else failed)


def drawn(result: Shown) -> dict[str, Any]:
    """A Shown in the page's form."""
    return dict(asdict(result), panels=[dict(panel, alt=described(panel)) for panel in plain(result.panels)])


def compiled(source: str, edited: Function) -> Function:
    """The function in a reader's text with the same name and arguments as `edited`; it sees the names of that
    function's module. Raises Refused if there is none.
    """
    return all_compiled(source, [edited])[0]


def all_compiled(source: str, edited: Sequence[Function]) -> list[Function]:
    """The functions in a reader's text with the same names as those in `edited`, which are from one module; they see
    one another.
    """
    if source.count("\n") >= LINES:
        raise Refused(f"This has more than {LINES} lines.")
    module = {key: value for key, value in edited[0].__globals__.items() if not key.startswith("__")}
    space = {**module, "__name__": "yours"}
    for function in edited:
        space.pop(function.__name__, None)
    try:
        exec(compile(source, FILE, "exec", dont_inherit=True), space)
    except SyntaxError as error:
        raise Refused(f"{error.msg}.", error.lineno) from None
    except BaseException as error:  # including SystemExit
        raise blamed(error) from None
    return [fitting(space.get(function.__name__), function) for function in edited]


def fitting(yours: Any, edited: Function) -> Function:
    """A reader's function, if it takes the same arguments as the original."""
    name = edited.__name__
    if not callable(yours):
        raise Refused(f"There is no function {name} here any more; the page calls it by that name.")
    takes = list(inspect.signature(edited).parameters)
    try:
        inspect.signature(yours).bind(*takes)
    except TypeError:
        line = getattr(getattr(yours, "__code__", None), "co_firstlineno", None)
        raise Refused(f"{name} is called with {len(takes)} arguments, {listed(takes)}.", line) from None
    except ValueError:  # a builtin without a signature
        pass
    return yours


def listed(words: list[str]) -> str:
    """a, b and c"""
    return " and ".join([", ".join(words[:-1]), *words[-1:]] if len(words) > 1 else words)


class Yours:
    """A reader's function whose faults are reported with the reader's lines: a call raises nothing but Refused."""

    def __init__(self, function: Function, returns: Function | None = None) -> None:
        self.function, self.returns = function, returns
        self.faults: list[Refused] = []

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        try:
            value = self.function(*arguments, **named)
            return self.returns(value) if self.returns else value
        except BaseException as error:
            self.faults.append(refused := blamed(error))
            raise refused from None


def blamed(error: BaseException) -> Refused:
    """A Refused for what a reader's code has raised, with the reader's innermost line."""
    line, trace = None, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    message = " ".join(str(error).split())[:200].rstrip(".")
    if line is None and isinstance(error, ValueError):
        return Refused(f"{message}.")
    return Refused(f"{type(error).__name__}{': ' * bool(message)}{message}.", line)


class Printed(io.StringIO):
    """Printed text up to a maximum length; otherwise a loop that prints would fill the memory."""

    def write(self, text: str) -> int:
        return super().write(text[: max(PRINTED - self.tell(), 0)])
