"""A widget run with functions of sim/ that a reader has changed: the same widget and knobs, with other lines.

A module widgets/NAME/exercises.py says which functions (`CHANGE`, a Change of contract.py). Every caller gets the
reader's function, wherever it imported ours, because our function's code is replaced by a call to the reader's.
"""

import contextlib
import copy
import inspect
import json
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

import numpy as np

from widgets.frame.contract.exercises import Change, Exercise
from widgets.frame.reader import host, reader_code

Function = Any  # a plain function whose code is replaced
SHOWN = 120  # the most characters of an array in a sentence
SIGN = 0.5  # seconds between signs of life


def stream(name: str, form: dict[str, Any], source: str, alive: Callable[[], None]) -> Iterator[str]:
    """{exercises}, then the frames of the widget's run, then {beside}; or {refused, line} as soon as something fails.
    `form` is what host.stream takes, `source` the reader's text. A widget may train for seconds between two frames to
    find out what undoes a break; as long as the reader's functions are called, `alive` is called every SIGN seconds.
    """
    change, printed = cast(Any, host.exercises(name)).CHANGE, reader_code.Printed()
    try:
        with contextlib.redirect_stdout(printed):
            yours = changed(change, source, alive)
            yield json.dumps(
                dict(exercises=[held(e, yours[e.function or change.functions[0]]) for e in change.exercises])
            )
            with in_force(yours):
                yield from host.stream(name, json.dumps(form))
        yield json.dumps(dict(beside=reader_code.beside([], printed.getvalue())))
    except reader_code.Refused as refused:
        yield json.dumps(dict(refused=str(refused), line=refused.line))
    except Exception as error:  # raised when the rest of the run uses the reader's numbers
        message = " ".join(str(error).split())[:200].rstrip(".")
        kind = type(error).__name__
        yield json.dumps(dict(refused=f"The run could not go on with what it returned: {kind}: {message}.", line=None))


def changed(change: Change, source: str, alive: Callable[[], None]) -> "dict[Function, Changed]":
    """{our function: the reader's replacement} for every function of a Change."""
    mine = reader_code.all_compiled(source, change.functions)
    return {ours: Changed(yours, ours, alive) for ours, yours in zip(change.functions, mine)}


class Changed(reader_code.Yours):
    """A reader's function in place of ours: its results must have the kind and the shape of ours."""

    def __init__(self, function: Function, ours: Any, alive: Callable[[], None]) -> None:
        super().__init__(function)
        self.alive, self.last_sign = alive, time.monotonic()
        self.twin = types.FunctionType(ours.__code__, ours.__globals__, ours.__name__, ours.__defaults__)
        self.twin.__kwdefaults__ = ours.__kwdefaults__
        self.checked: set[tuple[str, ...]] = set()  # kinds of arguments whose results were compared

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if time.monotonic() - self.last_sign > SIGN:
            self.alive()
            self.last_sign = time.monotonic()
        kind = tuple(map(shape, (*arguments, *named.values())))
        if kind in self.checked:
            return super().__call__(*arguments, **named)
        self.checked.add(kind)
        read_only = {id(a): a for a in (*arguments, *named.values()) if isinstance(a, types.MappingProxyType)}
        # copies, because the reader's function may write to its arguments or use an rng; read-only ones are shared
        theirs = copy.deepcopy((arguments, named), read_only)
        value = super().__call__(*arguments, **named)
        wanted = shape(self.twin(*theirs[0], **theirs[1]))
        if shape(value) != wanted:
            raise reader_code.Refused(f"{self.twin.__name__} returned {shape(value)}; what calls it takes {wanted}.")
        return value


def shape(value: object) -> str:
    """The kind and shape of a value, in words."""
    if isinstance(value, tuple):
        return f"({', '.join(map(shape, value))})"
    if isinstance(value, bool | int | float | np.generic):
        return "a number"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}" if value.ndim else "a number"
    return "nothing" if value is None else f"a {type(value).__name__}"


@contextlib.contextmanager
def in_force(yours: Mapping[Function, Function]) -> Iterator[None]:
    """A context in which any call of one of our functions calls the reader's."""
    codes = {ours: ours.__code__ for ours in yours}
    modules = dependents({ours.__module__ for ours in yours})
    try:
        for ours, function in yours.items():
            ours.__globals__[through(ours)] = function
            ours.__code__ = calling(ours)
        forget(modules)
        yield
    finally:
        for ours, code in codes.items():
            ours.__code__ = code
            ours.__globals__.pop(through(ours), None)
        forget(modules)


def through(ours: Function) -> str:
    return f"_yours_{ours.__name__}"


def calling(ours: Function) -> types.CodeType:
    """Code that passes all its arguments to the reader's function; its first line number stays ours, for the links."""

    def handed(*arguments: Any, **named: Any) -> Any:
        return YOURS(*arguments, **named)  # type: ignore[name-defined]  # noqa: F821, a name that is inserted below

    return handed.__code__.replace(co_names=(through(ours),), co_firstlineno=ours.__code__.co_firstlineno)


def dependents(names: Iterable[str]) -> list[types.ModuleType]:
    """The modules of sim/, rlpt/ and widgets/ that directly or indirectly import one of those named."""
    ours = {name: module for name, module in sys.modules.items() if name.startswith(("sim.", "rlpt.", "widgets."))}
    uses = {name: {origin(value) for value in vars(module).values()} for name, module in ours.items()}
    reached, more = set(), set(names)
    while more:
        reached |= more
        more = {name for name, used in uses.items() if used & more} - reached
    return [ours[name] for name in reached if name in ours]


def origin(value: object) -> str | None:
    return value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)


def forget(modules: Iterable[types.ModuleType]) -> None:
    """Empties the caches of functions in these modules, except of those that read files."""
    for module in modules:
        for value in list(vars(module).values()):
            if hasattr(value, "cache_clear") and "files" not in value.__wrapped__.__code__.co_names:
                value.cache_clear()


def held(exercise: Exercise, yours: Function) -> dict[str, Any]:
    """{met, said}: whether a function returns what an exercise wants, and the first call for which it does not."""
    for arguments in exercise.calls:
        got, wanted = yours(*copy.deepcopy(arguments)), exercise.wanted(*copy.deepcopy(arguments))
        if not same(got, wanted):
            return dict(
                met=False, said=f"For {written(arguments)} it returns {written(got)}; wanted is {written(wanted)}."
            )
    return dict(met=True, said="Done: every number is as it must be.")


def same(got: Any, wanted: Any) -> bool:
    if isinstance(wanted, tuple):
        return isinstance(got, tuple) and len(got) == len(wanted) and all(map(same, got, wanted))
    return np.shape(got) == np.shape(wanted) and np.allclose(got, wanted, rtol=1e-6, atol=1e-9, equal_nan=True)


def written(value: Any) -> str:
    """Numbers as written in a sentence."""
    if isinstance(value, float | int):
        return f"{value:.4g}"
    if isinstance(value, tuple):
        return " and ".join(written(part) for part in value if not isinstance(part, dict))
    text = np.array2string(np.asarray(value), precision=3, suppress_small=True, threshold=40, separator=", ")
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} …"


def text_of(change: Change) -> str:
    """The text that a reader starts with: the functions as they are in their file."""
    return "\n\n\n".join(inspect.getsource(function).rstrip() for function in change.functions) + "\n"
