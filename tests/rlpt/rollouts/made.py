"""Files of completions as texts, read in pieces."""

import json

import pytest

from rlpt import rollouts
from rlpt.rollouts import Unreadable


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def read(text, name="rollouts.jsonl", size=1 << 16, **options):
    """The Read of one text, of rows, or of {name: either}, in pieces of so many bytes."""
    files = text if isinstance(text, dict) else {name: text}
    texts = {name: lines(each) if isinstance(each, list) else each for name, each in files.items()}
    raw = {name: each if isinstance(each, bytes) else each.encode() for name, each in texts.items()}
    pieces = [(name, [b[i : i + size] for i in range(0, len(b), size)]) for name, b in raw.items()]
    return rollouts.read(pieces, **options)


def said(text, **options):
    with pytest.raises(Unreadable) as fault:
        read(text, **options)
    sentence = str(fault.value)
    assert "\n" not in sentence and sentence.endswith(".") and len(sentence) < 500
    return sentence


def trl(step=1, prompt="2+2=", completion="4", advantage=0.0, **columns):
    """A row as TRL's GRPOTrainer writes it."""
    return {"step": step, "prompt": prompt, "completion": completion, **columns, "advantage": advantage}


def batch(step, prompts, K=2, **columns):
    """A step of TRL: K completions of each prompt, each text different."""
    return [
        trl(step, p, f"{step} {p} {n} {k}", exact=k % 2, **columns) for n, p in enumerate(prompts) for k in range(K)
    ]
