"""Numbers, steps and JSON as programs write them.

A parser and not a model.
"""

import json
import re

LAST = 1e15  # larger steps are ignored

NUMBER = re.compile(  # np.float64(0.5), tensor(0.5, device='cuda:0')
    r"(?:(?:np|numpy|torch)\.\w+\(|tensor\()\s*([-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?:,[^)]*)?\)?$"
)
NOT_A_NUMBER = re.compile(r"(?:np\.\w+\()?[-+]?(?:nan|inf|infinity|null|none)\)?$", re.IGNORECASE)


THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+,\d*$")  # 1.234,5 with a decimal comma


def number(text, comma=False):
    """The number that a text spells; NaN for a text such as "nan" or "null", None for a word or nothing."""
    if comma and text.count(",") == 1:
        text = (text.replace(".", "") if THOUSANDS.match(text.strip()) else text).replace(",", ".")
    try:
        return float(text)
    except ValueError:
        text = text.strip().strip('"')
        if found := NUMBER.match(text):
            return float(found[1])
        return float("nan") if NOT_A_NUMBER.match(text) else None


def value(found):
    """The same for a value from JSON."""
    if found is None:
        return float("nan")
    if isinstance(found, bool):
        return None
    if isinstance(found, (int, float)):
        return float(found)
    return number(found) if isinstance(found, str) and len(found) < 40 else None


def numbers(pairs):
    return [(name, got) for name, each in pairs if (got := value(each)) is not None]


def step_of(found):
    """The step of a row, or None if it is not a number that could be one."""
    step = value(found)
    return step if step is not None and abs(step) < LAST else None


DECODER = json.JSONDecoder(parse_int=float)  # for any number of digits
DEEPEST = 100  # nested brackets: thousands of them kill a page's Python before it can raise
STRING, BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL), re.compile(r"[\[{\]}]")


def too_deep(text):
    """Whether brackets are nested more than DEEPEST deep; those in strings, which a policy may write, don't count."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    opened = 0
    for bracket in BRACKET.findall(STRING.sub("", text)):
        opened += 1 if bracket in "[{" else -1
        if opened > DEEPEST:
            return True
    return False


def decoded(text):
    """The content of a JSON text; raises a ValueError if it is not JSON."""
    if too_deep(text):
        raise ValueError("nested too deep")
    try:
        return DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
