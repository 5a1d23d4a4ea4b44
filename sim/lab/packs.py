"""The Lab's packs: prompts with their expected answers, frozen completions, suites for a scorer, and words that are
often confused.

These are data, not a model. The completions were written by a seeded program that imitates a policy in the middle of
its training. No language model was run. A pack never changes without a new version.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from sim.verifiers.checkers import Case, written_out
from sim.worlds.scorer import score

SAMPLES = 8  # completions of each prompt
CULPRITS = {"model_failure": "model", "verifier_bug": "verifier", "ambiguous_prompt": "prompt", "reward_hack": "hack"}


@dataclass(frozen=True)
class Example:
    """A prompt with the answer that is expected."""

    id: str
    split: str  # "dev", which may be looked at, or "holdout", which nobody tunes on
    prompt: str
    expected_answer: str  # a canonical integer as text


@dataclass(frozen=True)
class Rollout:
    """One completion of one prompt."""

    example_id: str
    sample_id: int  # 0 to 7; of equal completions the smallest comes first
    completion: str  # exactly as sampled


@cache
def examples(split=""):
    """The Examples of a split in their order, as a tuple: 30 in "dev", 10 in "holdout", all 40 by default."""
    rows = pack("examples")["examples"]
    kept = (Example(row["id"], row["split"], row["prompt"], row["expected_answer"]) for row in rows)
    return tuple(example for example in kept if split in ("", example.split))


@cache
def rollouts(split=""):
    """The Rollouts of a split, eight for each prompt in its order, as a tuple of tuples."""
    of = {}
    for row in pack("frozen_rollouts")["rollouts"]:
        of.setdefault(row["example_id"], []).append(Rollout(row["example_id"], row["sample_id"], row["completion"]))
    return tuple(tuple(sorted(of[e.id], key=lambda rollout: rollout.sample_id)) for e in examples(split))


@cache
def reasons(split=""):
    """Why the strict scorer pays each completion of a split or does not, one row of eight for each prompt."""
    return tuple(
        tuple(score({"expected_answer": e.expected_answer}, r.completion)["details"]["reason"] for r in row)
        for e, row in zip(examples(split), rollouts(split), strict=True)
    )


@cache
def passed(split=""):
    """Whether the strict scorer pays each completion of a split, (prompts, 8) booleans."""
    return np.array([[reason == "ok" for reason in row] for row in reasons(split)])


@cache
def wrong_set():
    """Sixty Cases that deserve nothing, as a tuple: 52 completions that are wrong or not in the form, and 8 examples
    that no completion can be compared with. Each one's kind is the reason that the strict scorer gives.
    """
    return tuple(
        Case(
            row["id"],
            row.get("example_json") or {"id": row["id"], "expected_answer": row["expected_answer"]},
            row["completion_json"] if "completion_json" in row else written_out(row["completion"]),
            row["expect"]["reason"],
            {},
        )
        for row in pack("golden_wrong")["items"]
    )


@cache
def kata_2():
    """Ten completions that version 0.9.5 of the scorer judged, each with a teacher's label, reason and fix: the pack's
    dicts.
    """
    return tuple(pack("kata_2")["items"])


@cache
def pack(name):
    """A file of this folder's data as it was written, with its version."""
    return json.loads((files("sim.lab") / "data" / f"{name}.json").read_text(encoding="utf-8"))
