"""What a module widgets/NAME/widget.py offers. `k` is its Knobs and `r` a result of its run, both of its own types.

A test checks every widget against it (tests/widgets/frame/test_contract.py). CONTRIBUTING.md explains each part.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, runtime_checkable

from widgets.frame.contract.exercises import Guess
from widgets.frame.contract.readouts import At, Break, Gauge, Readout
from widgets.frame.drawing.marks import Panel
from widgets.frame.drawing.small_figures import Opening, Played


@runtime_checkable
class Widget(Protocol):
    __name__: str  # of the module
    TITLE: str  # what is drawn, as a statement of fact
    Knobs: type[Any]  # a frozen dataclass whose fields are made by knobs.py
    PRESETS: Mapping[str, Any]  # {name: Knobs}, two to six, the default first and not broken

    def run(self, k: Any, /) -> Iterator[Any]: ...  # results: one for a closed form, many for a training run
    def figure(self, k: Any, r: Any, /) -> Sequence[Panel]: ...  # panels of marks.py
    def readouts(self, k: Any, r: Any, /) -> Sequence[Readout]: ...  # three to five
    def watched(self, k: Any, r: Any, /) -> Gauge | Readout: ...  # the quantity by which the break is watched
    def broken(self, k: Any, r: Any, /) -> Break | None: ...
    def holds(self, k: Any, r: Any, /) -> str: ...  # one sentence: what "holds" means here


@dataclass(frozen=True)
class Extras:
    """What it may offer besides, under these names, and what stands for each where it does not."""

    worse: Callable[[Any, Any], str | None] = lambda k, r: None  # a sentence if it is damaged but not broken
    seen_at: Callable[[Any, Any, str], At] | None = None  # (k, r, cause): where the break is visible in the picture
    idle: Callable[[Any], Mapping[str, str]] = lambda k: {}  # {knob: why} for those that change nothing here
    progress: Callable[[Any, Any], list[Any]] | None = None  # ["update", done, total] for a run that takes a while
    export: Callable[[Any, Any], Mapping[str, Any] | None] | None = None  # quantities of rlpt/planning/options.py
    methods: Callable[[Any, Any], Mapping[str, Any]] | None = None  # {name: quantities of rlpt/options.py}
    GUESS: Guess | None = None
    OPENING: Opening | Played | None = None
    # for a tool, whose panels without a tab are the picture that is always in view:
    answer: Callable[[Any, Any], tuple[str, str]] | None = (
        None  # its headline: the answer, and what else there is to say
    )
    FIELDS: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # {name of a field beside the picture: its knobs}
    LEAD: tuple[str, ...] = ()  # the two knobs below the picture; by default the first two
    KNOB_GROUPS: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # {heading: knobs} of the column of others
    DARE: str = "Can you make it break?"  # shown until the first break is found
    seconds: Callable[[Any], float] | None = None  # for a run in the build's Python, if a page waits more than 3 s
    COST: str = ""  # words for the foot: "960 completions a run"
    # {preset: {label of a readout: how far machines differ}} for runs that amplify the last bit of their start
    AMPLIFIES: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


LEADING = 2  # knobs below the picture
FEW = 5  # fields beside the picture of a tool
MORE, OWN = "More", "Bring your own"  # headings for knobs in no group, and for texts that a reader pastes


def extras(widget: Widget) -> Extras:
    return Extras(**{f.name: getattr(widget, f.name) for f in fields(Extras) if hasattr(widget, f.name)})


def leading(widget: Widget) -> list[str]:
    """The names of the knobs below the picture, those the guess and the opening are about; of a tool, those in its
    fields.
    """
    if fields_of_tool := extras(widget).FIELDS:
        return [name for names in fields_of_tool.values() for name in names]
    return list(extras(widget).LEAD or [f.name for f in fields(widget.Knobs)][:LEADING])


def grouped(widget: Widget) -> dict[str, list[str]]:
    """{heading: names} of all other knobs, in the order of the column; what is named in no group comes last."""
    groups = {heading: list(names) for heading, names in extras(widget).KNOB_GROUPS.items()}
    named = {*leading(widget), *(name for names in groups.values() for name in names)}
    for f in fields(widget.Knobs):
        if f.name not in named:
            groups.setdefault(OWN if f.metadata["kind"] == "pasted" else MORE, []).append(f.name)
    return groups
