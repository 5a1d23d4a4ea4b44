"""Files that people might give to the commands of the Lab."""

import json

from rlpt.lab import evaluate

EXAMPLES = [
    {"id": "a", "split": "dev", "prompt": "Compute 1+1.", "expected_answer": "2"},
    {"id": "b", "split": "dev", "prompt": "Compute 2+2.", "expected_answer": "4"},
    {"id": "c", "split": "holdout", "prompt": "Compute 3+3.", "expected_answer": "6"},
]
COMPLETIONS = [
    {"example_id": "a", "sample_id": 0, "completion": "Final: 2"},
    {"example_id": "b", "sample_id": 0, "completion": "Final: 5"},
    {"example_id": "c", "sample_id": 0, "completion": "Final: 6"},
]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def files(folder, examples=None, completions=None):
    """The options of eval for two files, each given as its bytes, its text or its records."""
    words = ["--out", str(folder / "runs")]
    for name, option, content, default in (
        ("examples.jsonl", "--examples", examples, EXAMPLES),
        ("rollouts.jsonl", "--rollouts", completions, COMPLETIONS),
    ):
        content = default if content is None else content
        content = lines(content) if isinstance(content, list) else content
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        words += [option, str(folder / name)]
    return words


def python(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def ran(command, words, capsys):
    """(status, what was printed, what was said on the error stream) of a command's `main`."""
    try:
        status = command([str(word) for word in words], "lab")
    except SystemExit as end:
        status = end.code
    return status, *capsys.readouterr()


def scored(words, capsys):
    return ran(evaluate.main, words, capsys)


def summary(folder, number=1):
    return json.loads((folder / "runs" / f"run_{number:03}" / "summary.json").read_text())
