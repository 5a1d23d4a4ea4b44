"""The five shipped runs as Rollouts, and what is true of them, measured by the script that recorded them."""

import json
from functools import cache
from importlib.resources import files

import numpy as np

from sim.rollouts.rows import Rollouts

FOLDER = files("rlpt") / "rollouts" / "data"
NAMES = ("sound", "verifier", "length", "one-text", "cut-off")


@cache
def rollouts(name):
    rows = [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    column = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    pairs = list(dict.fromkeys((row["step"], row["prompt"]) for row in rows))
    number = {pair: g for g, pair in enumerate(pairs)}
    scores = [key for key in column if key not in ("step", "prompt", "completion", "ended", "n_tokens", "advantage")]
    return Rollouts(
        step=column["step"],
        group=np.array([number[row["step"], row["prompt"]] for row in rows]),
        prompts=[prompt for _, prompt in pairs],
        completions=[row["completion"] for row in rows],
        scores={key: column[key].astype(float) for key in scores},
        advantage=column["advantage"].astype(float),
        tokens=column["n_tokens"],
        cut=column["ended"] == 0,
    )


def small(rewards, completions=None, step=None, **columns):
    """Rollouts with one score, `paid`, from lists of rewards, one list a group."""
    group = np.repeat(np.arange(len(rewards)), [len(one) for one in rewards])
    paid = np.concatenate([np.asarray(one, float) for one in rewards])
    return Rollouts(
        step=np.zeros(len(group), np.int64) if step is None else np.asarray(step)[group],
        group=group,
        prompts=[f"prompt {g}" for g in range(len(rewards))],
        completions=[f"text {row}" for row in range(len(group))] if completions is None else completions,
        scores={"paid": paid},
        **columns,
    )
