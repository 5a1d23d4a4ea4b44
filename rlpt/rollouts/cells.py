"""The values of one row as programs write them: texts, messages, numbers, lists of one. A parser and not a model."""

import json
import math
import re

import numpy as np

from rlpt.logs import spelled
from rlpt.logs.table import HUGE, Unreadable

SURROGATES = re.compile("[\ud800-\udfff]")  # halves of a character, which no terminal and no page can show
FINISH = ("finish_reason", "stop_reason")  # their “length” means cut off
NO_SCORES = {  # numbers that nobody can be paid for
    *(
        "gts",
        "ground_truth",
        "answer",
        "solution",
        "target",
        "label",
        "idx",
        "index",
        "id",
        "request_id",
        "uid",
        "seed",
    ),
    *("sample_idx", "prompt_idx", "prompt_id", "group", "group_id", "epoch", "rank", "timestamp", "global_step"),
}


def text(value):
    """A prompt or a completion as one text: a text, messages ({"role", "content"}), or a list of token ids."""
    if isinstance(value, str):
        return SURROGATES.sub("\ufffd", value) if not value.isascii() else value
    if value is None:
        return ""
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        said = [message(each) for each in value]
        return said[0][1] if len(said) == 1 else "\n".join(f"{role}: {content}" for role, content in said)
    if isinstance(value, list) and all(isinstance(each, int | float) for each in value):
        return " ".join(f"{each:.0f}" for each in value)
    return text(json.dumps(value, ensure_ascii=False, default=str))


def policy_text(value):
    """A completion as one text: of several messages those of the policy, and a mark where a tool or a user answers."""
    if not (isinstance(value, list) and len(value) > 1 and all(isinstance(each, dict) for each in value)):
        return text(value)
    said = [message(each) for each in value]
    return "\n".join(content if role in ("assistant", "") else f"[{role}]" for role, content in said)


def message(one):
    """(role, content) of a message, whose content may be a list of parts, or missing where tools are called."""
    content = one.get("content", one.get("text"))
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        content = "".join(part.get("text") or f"[{part.get('type')}]" for part in content)
    if calls := one.get("tool_calls"):
        content = f"{content or ''}{json.dumps(calls, ensure_ascii=False, default=str)}"
    return text(one.get("role") or ""), text(content)


def number(value, spelled_out=False):
    """The number that a value is, a bool included; nan for one that is missing or infinite, None for anything else. A
    text is a number only where every cell is one (`spelled_out`), as in a CSV.
    """
    if value is None or (spelled_out and value == ""):
        return math.nan
    if spelled_out and isinstance(value, str):
        low = value.strip().lower()
        value = low == "true" if low in ("true", "false") else spelled.number(value) if len(value) < 40 else None
    if not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < HUGE else math.nan


def paid(record, column, spelled_out=False):
    """The reward in a column; a text there is no reward."""
    found = number(record.get(column), spelled_out)
    if found is None:
        raise Unreadable(f"The reward in “{column[:40]}” is no number: “{text(record[column])[:40]}”.")
    return found


def numbers(record, taken, spelled_out=False):
    """{column: its number, or None for a text} for the columns that are not taken."""
    found = {}
    for name, value in record.items():
        if name in taken:
            continue
        if name in FINISH and isinstance(value, str):
            found[name] = float(value in ("length", "max_tokens"))
        else:
            found[name] = None if name in NO_SCORES else number(value, spelled_out)
    return found


def step(value):
    """A step, or None for a value that cannot be one."""
    found = spelled.step_of(value)
    return None if found is None or math.isnan(found) else int(found)


def step_in(name):
    """The step in the name of a file: train_data_step7.jsonl, 120.jsonl, completions_00010 (2).parquet; else None."""
    stem = re.split(r"[/\\]", name)[-1].split(".")[0]
    stem = re.sub(r" \(\d+\)$", "", stem)  # a second file of this name
    found = re.search(r"step[_-]?(\d+)", stem) or re.search(r"(\d+)$", stem)
    return int(found[1]) if found and len(found[1]) < 12 else None


def only(value):
    """What stands in a list of one, or the value itself."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def array(value):
    """A flat list of numbers as float32, for log-probs; None for anything else."""
    try:
        found = np.asarray(value, dtype=np.float32)
    except (TypeError, ValueError):
        return None
    return found if found.ndim == 1 else None
