"""How numbers are written: digits, units, powers and signs; also arrays as plain lists."""

import re
from math import isfinite
from typing import Any

import numpy as np


def figures(value: float | str) -> str:
    """Three significant digits, thousands grouped: 0.0312, 1,240, 3.10 × 10⁻⁷; words are left unchanged."""
    if isinstance(value, str):
        return value
    value = float(value)
    if not isfinite(value):
        return "–" if value != value else "∞" if value > 0 else "−∞"
    if abs(value) >= 999.5:
        text = f"{value:,.0f}" if abs(value) < 1e7 else f"{value:.3g}"
    else:
        text = f"{value:#.3g}" if value != int(value) else str(int(value))
    digits, _, power = text.rstrip(".").partition("e")
    return f"{digits} × 10{raised(int(power))}".replace("-", "−") if power else digits.replace("-", "−")


def with_unit(text: str, unit: str) -> str:
    """A number with its unit: 0.5 nats, 1 nat, 3 tokens/s, 1 token/s, 50 %."""
    return f"{text} {unit_after(text, unit)}".strip()


def unit_after(text: str, unit: str) -> str:
    """A unit as read after a number; none after the dash for a missing value."""
    if text == "–":
        return ""
    return re.sub(r"^([A-Za-z-]{2,})s\b", r"\1", unit) if text.split()[-1:] == ["1"] else unit


def raised(power: int) -> str:
    """A power in superscript: ⁻⁷."""
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def decimal(value: float, digits: int = 2) -> str:
    """0.25, −0.25; anything that rounds to zero has no sign."""
    return f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 2) -> str:
    """+0.25, −0.25; anything that rounds to zero is +0.00."""
    return f"{round(float(value), digits) + 0.0:+.{digits}f}".replace("-", "−")


def plain(x: Any) -> Any:
    """Arrays as lists. NaN and infinity are not JSON; plotly draws a gap for null."""
    if isinstance(x, float):
        return x if isfinite(x) else None
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, list | tuple):
        return [plain(v) for v in x]
    if isinstance(x, np.ndarray | np.generic):
        return x.tolist() if x.dtype.kind != "f" or np.isfinite(x).all() else plain(x.tolist())
    return x
