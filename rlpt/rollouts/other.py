"""Rows of any other program: which column is what, by its name or as the reader of the page chose. Not a model."""

from rlpt.logs.table import Unreadable, listed
from rlpt.rollouts import cells
from rlpt.rollouts.table import Row

FORMAT, PROGRAM = "a table of completions", ""
NAMES = {  # role: what programs call it, the likeliest first
    "step": ("step", "global_step", "train_step", "training_step", "gen_step", "iteration", "update", "rollout_id"),
    "prompt": ("prompt", "input", "question", "query", "problem", "instruction", "prompt_text", "prompts"),
    "completion": (
        *("completion", "response", "output", "generation", "generated_text", "model_output"),
        *("completions", "responses", "outputs", "generations"),
    ),
    "reward": ("reward", "score", "total_reward", "reward_score", "rewards", "scores"),
    "advantage": ("advantage", "advantages", "adv"),
    "group": ("group", "group_id", "prompt_id", "prompt_idx"),
}
NEEDED = ("prompt", "completion")


class Unnamed(Unreadable):
    """No name says which column has a role; `columns` are those from which the reader of the page may choose."""

    def __init__(self, sentence, columns):
        super().__init__(sentence)
        self.columns = columns


def roles(columns, named):
    """{role: column}; an Unnamed that says what is missing, and which columns there are."""
    for role, column in named.items():
        if column not in columns:
            raise Unnamed(f"No column “{column[:40]}” for the {role}: the columns are {listed(columns)}.", columns)
    free = {column.lower(): column for column in reversed(columns) if column not in named.values()}
    guessed = {role: next((free[name] for name in names if name in free), None) for role, names in NAMES.items()}
    found = {role: column for role, column in guessed.items() if column} | named
    if missing := [role for role in NEEDED if role not in found]:
        names = " or ".join(missing)
        raise Unnamed(f"No column is called {names}: say which one it is among {listed(columns, 12)}.", columns)
    return found


def rows(record, name, found, spelled_out=False):
    """One Row, or one for each of several completions; `found` are the roles, and in a CSV numbers are spelled out."""
    several = record.get(found["completion"])
    if isinstance(several, list) and several and all(isinstance(each, str) for each in several):
        apart = {column for column, value in record.items() if one_each(value, len(several), column == found["prompt"])}
        for n in range(len(several)):
            yield from rows({k: v[n] if k in apart else v for k, v in record.items()}, name, found)
        return
    yield Row(
        step=cells.step(record.get(found["step"])) if "step" in found else cells.step_in(name),
        prompt=cells.text(record.get(found["prompt"])),
        completion=cells.policy_text(record.get(found["completion"])),
        numbers=cells.numbers(record, set(found.values()), spelled_out),
        reward=cells.paid(record, found["reward"], spelled_out) if "reward" in found else None,
        advantage=cells.number(record.get(found["advantage"]), spelled_out) if "advantage" in found else None,
        group=group(record.get(found["group"])) if "group" in found else None,
    )


def group(value):
    """A group's name or number; None for NaN, and for whole numbers of JSON too large to be told apart as floats."""
    exact = abs(value) < 2**53 if isinstance(value, float) else isinstance(value, str | int)
    return value if exact else None


def one_each(value, count, prompt):
    """Whether a list has one entry for each completion, and is neither the messages nor the token ids of one prompt."""
    if not isinstance(value, list) or len(value) != count:
        return False
    return not isinstance(value[0], dict | int | float if prompt else dict)
