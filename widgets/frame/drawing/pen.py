"""The pen of a scene: it writes HTML and remembers what can change, attribute by attribute, in elements with a key."""

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Cell = tuple[str, ...]  # class and, if it has one, text


@dataclass
class Pen:
    out: list[str] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)  # {"key.attribute": value} for everything with a key

    def put(self, tag: str, key: str = "", text: str | None = None, inner: str = "", **attributes: Any) -> None:
        """Writes an element; `css` is its class, and x_y is the attribute x-y."""
        named = {
            {"css": "class"}.get(name, name.replace("_", "-")): number(value)
            for name, value in attributes.items()
            if value not in (None, "")
        }
        if key:
            self.remember(key, named, text)
        written = "".join(f' {name}="{html.escape(value)}"' for name, value in named.items())
        marked = f' data-k="{key}"' if key else ""
        body = inner if text is None else html.escape(text)
        self.out.append(
            f"<{tag}{marked}{written}>{body}</{tag}>"
            if body or text is not None or tag == "g"
            else f"<{tag}{marked}{written}/>"
        )

    def begin(self, key: str, css: str, alt: str, style: str = "") -> None:
        """Opens a view in HTML, which people who cannot see it hear as `alt`; the view closes it."""
        self.remember(key, {"class": css, "aria-label": alt}, None)
        styled = f' style="{style}"' if style else ""
        self.out.append(f'<div data-k="{key}" class="{css}" role="img" aria-label="{html.escape(alt)}"{styled}>')

    def remember(self, key: str, named: Mapping[str, str], text: str | None) -> None:
        new = {f"{key}.{name}": value for name, value in named.items()}
        new |= {} if text is None else {f"{key}.text": text}
        if twice := self.state.keys() & new.keys():
            raise ValueError(f"two parts of a scene have the key {sorted(twice)[0].partition('.')[0]}")
        self.state |= new

    def cells(
        self,
        prefix: str,
        kinds: Sequence[Cell],
        draw: Callable[[int, Cell], str],
        places: Sequence[tuple[float, float]] = (),
    ) -> None:
        """Draws many similar cells, each in a group with a key; in the page's data each is a single letter."""
        for i, cell in enumerate(kinds):
            place = f' transform="translate({places[i][0]:g},{places[i][1]:g})"' if places else ""
            self.out.append(f'<g data-k="{prefix}{i}" class="{cell[0]}"{place}>{draw(i, cell)}</g>')
        self.state[f"{prefix}.*"] = tuple(kinds)


def number(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")  # + 0.0: no minus before zero
