"""A function that a reader has edited: compiled from its text, called, and refused in one sentence with its line.

Nothing is forbidden here: a reader's code may import and call whatever there is. What keeps it from the network, from
storage and from the page is the worker that it runs in (site/assets/sandbox.js): that may send no request, has no
storage and an interpreter of its own, and ends after two seconds. Here faults are told in the reader's own lines.

A page's module editable.py offers a function for editing (CONTRIBUTING.md, "A function for editing"):

    ID                the name of the field on its page, and of what is kept of the reader's text
    EDITED            the function that the reader begins with; its text stands in the field, and what the reader
                      makes of it is compiled among the names of its module
    RETURNS           optional: f(value) is what a call gives back, or a ValueError that says what it should be
    called(function)  whatever comes of calling a reader's function, or EDITED itself; all calls are made in here
    shown(called)     Shown: the sentence, the tables and the panels that are made of it
    NAMED             what the reader writes, for those who do not see the field
"""

import ast  # some of these for readers alone: a snapshot of Python holds what was imported, and no files
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
FILE = "<yours>"  # where a traceback says that a reader's line stands
PRINTED, PRINTED_LINES = 1000, 12  # characters and lines of what a reader's code prints
LINES = 500  # of a reader's code
OFFERED = (ast, collections, copy, functools, itertools, json, math, numpy, operator, random, re, string, unicodedata)


class Refused(ValueError):
    """A reader's code that does not work: one sentence, and the line that it is about, if it is about one."""

    def __init__(self, sentence: str, line: int | None = None) -> None:
        super().__init__(f"Line {line}: {sentence}" if line else sentence)
        self.line = line


def stream(offer: ModuleType, source: str) -> Iterator[str]:
    """What came of the function that a reader has made from the one that an offer holds, as JSON that the page takes:
    false once the reader's code has ended, for its two seconds are not for what follows, and then {sentence, tables,
    panels, beside}, or {refused, line}.
    """
    try:
        called, beside = calls(offer, source)
        yield "false"
        yield json.dumps(plain(dict(drawn(offer.shown(called)), beside=beside)))
    except Refused as refused:
        yield json.dumps(dict(refused=str(refused), line=refused.line))


def calls(offer: ModuleType, source: str) -> tuple[Any, str]:
    """(what the offer makes of calling a reader's function, what is to be said besides)."""
    printed = Printed()
    with contextlib.redirect_stdout(printed):
        yours = Yours(compiled(source, offer.EDITED), getattr(offer, "RETURNS", None))
        called = offer.called(yours)
    return called, beside(yours.faults, printed.getvalue())


def ours(offer: ModuleType) -> dict[str, Any]:
    """What the page shows before anybody has edited."""
    return drawn(offer.shown(offer.called(offer.EDITED)))


def beside(faults: Sequence[Refused], printed: str) -> str:
    """What is to be said besides: the first fault among the calls, and what was printed."""
    failed = [f"{len(faults)} of the calls failed. The first: {faults[0]}"] if faults else []
    lines = printed.splitlines()
    more = ["…"] if len(lines) > PRINTED_LINES or len(printed) >= PRINTED else []
    return "\n".join([*failed, "Printed:", *lines[:PRINTED_LINES], *more] if printed else failed)


def drawn(result: Shown) -> dict[str, Any]:
    """A Shown as the page takes it."""
    return dict(asdict(result), panels=[dict(panel, alt=described(panel)) for panel in plain(result.panels)])


def compiled(source: str, edited: Function) -> Function:
    """The function of the same name in a reader's text, which takes the same arguments as `edited` and sees the names
    of its module; Refused where there is none.
    """
    return all_compiled(source, [edited])[0]


def all_compiled(source: str, edited: Sequence[Function]) -> list[Function]:
    """The functions of the same names as those `edited`, of one module, in a reader's text; they see one another."""
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
    except BaseException as error:  # SystemExit too
        raise blamed(error) from None
    return [fitting(space.get(function.__name__), function) for function in edited]


def fitting(yours: Any, edited: Function) -> Function:
    """A reader's function, if it takes what the one that was edited takes."""
    name = edited.__name__
    if not callable(yours):
        raise Refused(f"There is no function {name} here any more; the page calls it by that name.")
    takes = list(inspect.signature(edited).parameters)
    try:
        inspect.signature(yours).bind(*takes)
    except TypeError:
        line = getattr(getattr(yours, "__code__", None), "co_firstlineno", None)
        raise Refused(f"{name} is called with {len(takes)} arguments, {listed(takes)}.", line) from None
    except ValueError:  # a builtin that does not say what it takes
        pass
    return yours


def listed(words: list[str]) -> str:
    """a, b and c"""
    return " and ".join([", ".join(words[:-1]), *words[-1:]] if len(words) > 1 else words)


class Yours:
    """A reader's function with its faults told in the reader's lines: calling it raises nothing but Refused."""

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
    """Refused of what a reader's code has raised, with the innermost line of the reader's."""
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
    """What was printed, up to a length: a loop that prints would else fill the memory."""

    def write(self, text: str) -> int:
        return super().write(text[: max(PRINTED - self.tell(), 0)])
